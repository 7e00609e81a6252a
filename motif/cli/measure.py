"""Commands that measure: benchmark, speed."""

from typing import Annotated

import typer

from motif.cli.common import (
    DEFAULT_PLAYER,
    JobsOption,
    JsonOption,
    PlayerOption,
    SeedOption,
    StaticOption,
    example,
    json_line,
    print_table,
)


def register(app: typer.Typer) -> None:
    """Add this group's commands to `app`."""
    app.command(epilog=example("motif benchmark contact.bm race.bm --player pubeval"))(benchmark)
    app.command(epilog=example("motif speed --seconds 2"))(speed)


def benchmark(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="GNUbg-style benchmark files.")],
    player: PlayerOption = DEFAULT_PLAYER,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Measure the error rate of a player on files.

    That is how many millipoints a decision the player's choices lose.
    """
    from motif.benchmark import error_rate, read_benchmark
    from motif.players import load

    chosen = load(player)
    benchmarks = {path: read_benchmark(path) for path in files}
    rates = {path: error_rate(chosen, read, seed=seed, jobs=jobs) for path, read in benchmarks.items()}
    if json:
        print(json_line({"files": {path: rate.as_dict() for path, rate in rates.items()}, "player": player}))
        return
    rows = [
        (path, f"{rate.er:.2f}", f"{rate.se:.2f}", str(rate.decisions), str(rate.unlisted))
        for path, rate in rates.items()
    ]
    print_table(("file", "error rate", "standard error", "decisions", "unlisted"), rows)
    print(f"millipoints that {player} loses a decision; an unlisted choice costs the worst loss listed")


def speed(
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="S", min=0.01, help="How long each number is measured.")
    ] = 2.0,
    player: StaticOption = DEFAULT_PLAYER,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Measure games and evaluations a second.

    On one core, and on all; the motif figures are those of PLAYER, a weight file.
    """
    from motif.benchmark.speed import measure_speed

    rates = measure_speed(player, jobs, seconds)
    if json:
        print(json_line(rates))
        return
    print_table(("", "a second"), [(name.replace("_", " "), f"{rate:,.0f}") for name, rate in rates.items()])
