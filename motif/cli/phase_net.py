"""The command train-phase-net."""

from pathlib import Path
from typing import Annotated, Any

import typer

from motif.cli.common import JobsOption, JsonOption, SeedOption, example, json_line, print_table, tell
from motif.cli.interruption import resumable


def register(app: typer.Typer) -> None:
    """Add this group's commands to `app`."""
    app.command(epilog=example("motif train-phase-net --out runs/phase-net"))(train_phase_net)


def train_phase_net(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="An empty folder, or one to make.")],
    games: Annotated[
        int, typer.Option("--games", metavar="N", help="Games of random play that teach the heuristic.")
    ] = 5000,
    boards: Annotated[
        int, typer.Option("--boards", metavar="N", help="Boards of these games at most, taken evenly.")
    ] = 100_000,
    epochs: Annotated[
        int, typer.Option("--epochs", metavar="N", help="Passes over them at most; it stops when gains end.")
    ] = 200,
    rate: Annotated[
        float, typer.Option("--rate", metavar="R", help="Adam's learning rate with the heuristic.")
    ] = 0.001,
    rounds: Annotated[
        int, typer.Option("--rounds", metavar="N", help="Rounds on outcomes of best-of-four, at most.")
    ] = 20,
    round_games: Annotated[
        int, typer.Option("--round-games", metavar="N", help="Games of best-of-four in a round.")
    ] = 5000,
    boards_a_game: Annotated[
        int, typer.Option("--boards-a-game", metavar="N", help="Boards of each that are learnt from.")
    ] = 1,
    round_epochs: Annotated[
        int, typer.Option("--round-epochs", metavar="N", help="Passes over the buffer in a round.")
    ] = 10,
    round_rate: Annotated[
        float, typer.Option("--round-rate", metavar="R", help="Adam's learning rate with outcomes.")
    ] = 0.00003,
    buffer: Annotated[
        int, typer.Option("--buffer", metavar="N", help="Boards that are kept from round to round.")
    ] = 10_000,
    test_games: Annotated[
        int, typer.Option("--test-games", metavar="N", help="Games of each match after a round.")
    ] = 2000,
    final_games: Annotated[
        int, typer.Option("--final-games", metavar="N", help="Games of each match at the end.")
    ] = 10_000,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Train a neural net on the phase heuristic.

    First on its scores, then on who won games of best-of-four.  DIR/refined.onnx plays as
    onnx:DIR/refined.onnx; DIR/pretrained.onnx is the net after the first stage.
    """
    from motif.phase_net import PhaseNetSettings
    from motif.phase_net import train_phase_net as train
    from motif.reports.phase_net_plots import draw_training

    settings = PhaseNetSettings(
        seed=seed,
        games=games,
        boards=boards,
        epochs=epochs,
        rate=rate,
        rounds=rounds,
        round_games=round_games,
        boards_a_game=boards_a_game,
        buffer=buffer,
        round_epochs=round_epochs,
        round_rate=round_rate,
        test_games=test_games,
        final_games=final_games,
    )
    with resumable("the same command begins anew"):
        training = train(out, settings, jobs=jobs, tell=tell)
        draw_training(training.epochs, training.summary, out)
    facts = training.summary
    if json:
        print(json_line(facts))
        return
    print_table(
        ("player", "against", "games won", "points a game"), [_row(match) for match in facts["matches"]], 2
    )
    second = facts["stage_2"]
    print(
        f"± standard error; refined is round {second['chosen_round']} of {len(second['rounds'])} "
        f"({second['stopped']}), {facts['seconds']:.0f} s in all"
    )
    print(f"play it as onnx:{out / 'refined.onnx'}")


def _row(match: dict[str, Any]) -> tuple[str, ...]:
    share = f"{100 * match['win_share']:.1f} ± {100 * match['win_share_se']:.1f} %"
    return match["player"], match["opponent"], share, f"{match['ppg']:+.3f} ± {match['ppg_se']:.3f}"
