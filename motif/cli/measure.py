"""Commands that measure: benchmark, speed."""

from pathlib import Path
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

_USUALLY_SHOWN, _MOST_SHOWN = 20, 1000
"""Decisions on a page of the worst ones."""


def register(app: typer.Typer) -> None:
    """Add this group's commands to `app`."""
    lines = (
        "motif benchmark data/bench/*.bm.gz --player pubeval",
        "motif benchmark data/bench/contact.bm.gz --worst 20 --html worst.html",
    )
    app.command(epilog=example(*lines))(benchmark)
    app.command(epilog=example("motif speed --seconds 2"))(speed)


def benchmark(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="GNUbg benchmark files; .gz too.")],
    player: PlayerOption = DEFAULT_PLAYER,
    worst: Annotated[
        int | None,
        typer.Option(
            "--worst", metavar="N", min=1, max=_MOST_SHOWN, help="Show the N decisions that cost most."
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", help=f"Draw them as boards on a page; {_USUALLY_SHOWN} without --worst."
        ),
    ] = None,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Measure the error rate of a player on files.

    That is how many millipoints a decision the player's choices lose: on each file, by class of
    position, and on all files together; and how the losses are spread.
    """
    from motif.benchmark.choices import player_choices
    from motif.benchmark.error_rate import summary
    from motif.benchmark.files import read_benchmark
    from motif.benchmark.worst_decisions import worst_decisions
    from motif.cli.losses import print_losses, print_worst
    from motif.players import load

    chosen = load(player)
    benchmarks = [read_benchmark(path) for path in dict.fromkeys(files)]
    choices = [player_choices(chosen, read, seed=seed, jobs=jobs) for read in benchmarks]
    rates = summary(choices)
    unused = sum(read.record.cube_decisions for read in benchmarks if read.record)
    shown = worst or (_USUALLY_SHOWN if html else 0)
    decisions = worst_decisions(choices, shown)
    if json:
        found = {"worst": [decision.as_dict() for decision in decisions]} if shown else {}
        print(json_line(rates.as_dict() | {"cube_decisions": unused, "player": player} | found))
    else:
        print_losses(player, rates, unused)
        if shown and html is None:
            print_worst(decisions)
    if html is not None:
        from motif.reports.worst_decisions import write_worst_page

        write_worst_page(player, rates, decisions, html)
        if not json:
            print(html)


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
