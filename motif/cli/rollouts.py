"""The command rollout."""

from typing import Annotated

import typer

from motif.cli.common import (
    DEFAULT_PLAYER,
    CutOption,
    JobsOption,
    JsonOption,
    SeedOption,
    StaticOption,
    StopAtRaceOption,
    example,
    json_line,
    print_table,
    static_evaluator,
)


def register(app: typer.Typer) -> None:
    """Add this group's commands to `app`."""
    app.command(epilog=example("motif rollout 4HPwATDgc/ABMA --player pubeval --trials 1296"))(rollout)


def rollout(
    identifier: Annotated[
        str, typer.Argument(metavar="ID", help="A GNUbg ID, PositionID:MatchID, an XGID or a 20-letter key.")
    ],
    player: StaticOption = DEFAULT_PLAYER,
    trials: Annotated[int, typer.Option("--trials", metavar="T", help="Games played out.")] = 1296,
    cut: CutOption = 0,
    stop_at_race: StopAtRaceOption = False,
    every_play: Annotated[
        bool,
        typer.Option("--every-play", help="Evaluate every legal play, without the weight file's filter."),
    ] = False,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Play a position to its end many times.

    That gives chances and equity with their standard errors.
    """
    from motif.board.diagram import text_diagram
    from motif.board.identifiers import gnubg_id
    from motif.board.parsing import parse_position
    from motif.rollout import RESULT_NAMES, RolloutSettings
    from motif.rollout import rollout as roll_out

    settings = RolloutSettings(trials, cut, stop_at_race, every_play, seed)
    settings.check()
    position, match = parse_position(identifier)
    result = roll_out(position, static_evaluator(player), settings, jobs=jobs)
    mean = dict(zip(RESULT_NAMES, result.mean[0].tolist(), strict=True))
    se = dict(zip(RESULT_NAMES, result.se[0].tolist(), strict=True))
    if json:
        facts = {"trials": result.trials, "seconds": result.seconds, "player": player, "seed": seed}
        print(json_line({"mean": mean, "se": se, **facts, "position": gnubg_id(position)}))
        return
    print(text_diagram(position, match))
    print()
    rows = [(name.replace("_", " "), f"{mean[name]:+.4f}", f"{se[name]:.4f}") for name in RESULT_NAMES]
    print_table(("player on roll", "mean", "standard error"), rows)
    print(f"{result.trials} trials by {player} in {result.seconds:.1f} s")
