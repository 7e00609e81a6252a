"""Commands that measure what cube decisions rest on: cube efficiencies, and BRAS's windows."""

from typing import Annotated

import typer

from motif.cli.common import (
    DEFAULT_PLAYER,
    JobsOption,
    JsonOption,
    PlayerOption,
    SeedOption,
    evaluator_of,
    example,
    json_line,
    print_table,
)


def _register_fits(app: typer.Typer) -> None:
    """Add this group's commands to `app`."""
    sizes = "--positions 5 --trials 40 --rounds 1 --jobs 1"
    app.command("cube-efficiency", epilog=example(f"motif cube-efficiency {sizes} --seed 1"))(cube_efficiency)
    app.command("cube-windows", epilog=example("motif cube-windows --games 200 --seed 1"))(cube_windows)


def cube_efficiency(
    player: PlayerOption = DEFAULT_PLAYER,
    positions: Annotated[
        int,
        typer.Option("--positions", metavar="N", help="Positions of each class, from the player's games."),
    ] = 60,
    trials: Annotated[int, typer.Option("--trials", metavar="N", help="Games rolled out a position.")] = 300,
    rounds: Annotated[
        int, typer.Option("--rounds", metavar="N", help="Times to roll out, each at the x fitted before.")
    ] = 2,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Fit the cube efficiency of each class.

    From cubeful money rollouts: the player plays both sides, and both decide the cube by the model; x is
    the share of the way from a dead to a live cube that the rollouts went.
    """
    from motif.cube.efficiency_fit import fit_efficiency

    fit = fit_efficiency(evaluator_of(player), positions, trials, rounds=rounds, seed=seed, jobs=jobs)
    if json:
        classes = [found.as_dict() for found in fit.classes]
        print(json_line({"classes": classes, "rounds": fit.rounds, "trials": trials, "player": player}))
        return
    rows = [
        (
            found.name,
            f"{found.x:.3f}",
            f"{found.se:.3f}",
            f"{found.default:.3f}",
            f"{found.positions:,}",
            f"{found.games:,}",
        )
        for found in fit.classes
    ]
    print_table(("class", "x", "standard error", "gnubg's x", "positions", "games"), rows)


def cube_windows(
    player: PlayerOption = DEFAULT_PLAYER,
    games: Annotated[
        int, typer.Option("--games", metavar="N", help="Games of the player to look at.")
    ] = 1000,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Measure at which BRAS score doubles begin.

    And passes, for money.  S is the score of the player on roll.  The decisions are those of the player in
    positions with contact of his games against himself, each up to its first double.
    """
    from motif.cube.bras_windows import DROP_FROM, LIVE_FROM, measured_window

    found = measured_window(evaluator_of(player), games, seed=seed)
    if json:
        print(json_line(found.as_dict()))
        return
    low, high = LIVE_FROM
    rows = [
        ("double from", f"{found.double_from:.1f}", f"{found.double_se:.1f}", f"{low:.0f} to {high:.0f}"),
        ("drop from", f"{found.drop_from:.1f}", f"{found.drop_se:.1f}", f"{DROP_FROM:.0f}"),
    ]
    print_table(("", "S", "standard error", "the article's S"), rows)
    print(f"{found.positions:,} positions of {found.games:,} games of {player}")
