"""Measure error rate against time per decision: motif's players beside gnubg's and wildbg's.

``python -m tools.frontier docs/explanation/frontier.md`` lets the players take turns on the same benchmark
lines, a few decisions each, in this process on one core (gnubg in its own), so that other work on the machine
affects all players equally. It writes the table into the page, and the figures into the file that `motif
analyse` reads.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from matplotlib.ticker import FuncFormatter

from motif.benchmarks.benchmark_files import BenchmarkFile, read_benchmark
from motif.benchmarks.choices import player_choices
from motif.benchmarks.losses import mean_in_millipoints
from motif.evaluators.known_players import default_player
from motif.players import Player, load
from motif.reports.style import BLUE, GREEN, INK, VERMILION, picture
from motif.runtime.errors import PlayerError
from motif.runtime.files import write_text
from motif.runtime.parallel import one_thread
from motif.runtime.streams import derive_states
from tools.marked_page import reporting, write_region

FIGURES = Path(__file__).resolve().parent.parent / "motif" / "data" / "frontier.json"
"""The file of the figures; an analysis shows the figures of its judge."""
_TURN = 50
"""Number of decisions of one player before the next player's turn."""
_MILLI = 1000
"""Milliseconds in a second."""


def ways(own: str) -> list[str]:
    """Return the names of all players to measure; `own` is the static evaluator."""
    rollouts = f"rollout:{own},stratified,cut=8,candidates=5,trials="
    return [
        own,
        *(f"{own}@{plies}{depth}" for plies in (1, 2) for depth in (":narrow", "", ":wide")),
        *(f"{own}@3{depth}" for depth in (":narrow", "")),
        *(f"{own}@{plies}:rollout" for plies in (2, 3)),
        *(rollouts + trials for trials in ("324", "1296")),
        "wildbg",
        *("gnubg", "gnubg@1", "gnubg@2"),
    ]


def judging_ways(own: str) -> list[str]:
    """Return the players of `ways` that are measured on all lines: judges, whose average error is shown."""
    depths = ("@1:narrow", "@1", "@2:narrow", "@2", "@3", "@2:rollout")
    return [own, *(own + depth for depth in depths)]


@dataclass(frozen=True)
class Measured:
    """Time and error rate of a player."""

    name: str
    decisions: int
    error_rate: float
    """Millipoints lost per decision."""
    error_rate_se: float
    milliseconds: float
    """Milliseconds per decision, on the lines that all players decide."""


def measure(names: Sequence[str], benchmark: BenchmarkFile, decisions: int) -> list[Measured]:
    """Measure every player that is installed; raises a `MotifError` for an unknown name."""
    players: dict[str, Player] = {}
    for name in names:
        try:
            players[name] = load(name)
        except PlayerError as error:
            print(f"{name}: not measured: {error}", file=sys.stderr)
    states = derive_states(0, 0, decisions, 0)
    losses: dict[str, list[float]] = {name: [] for name in players}
    seconds = dict.fromkeys(players, 0.0)
    for player in players.values():  # compiles
        player.choose_many(benchmark.boards[:2], benchmark.rolls[:2], states[:2])
    for first in range(0, decisions, _TURN):
        turn = slice(first, min(first + _TURN, decisions))
        for name, player in players.items():
            # A program that was idle for too long has ended, and restarts.
            player.choose_many(benchmark.boards[:1], benchmark.rolls[:1], states[:1])
            start = time.perf_counter()
            boards = player.choose_many(benchmark.boards[turn], benchmark.rolls[turn], states[turn])
            seconds[name] += time.perf_counter() - start
            losses[name] += [_loss(benchmark, first + k, board) for k, board in enumerate(boards)]
        if sys.stderr.isatty():
            print(f"\r{min(first + _TURN, decisions)} of {decisions}", end="", file=sys.stderr)
    return [
        Measured(
            name,
            decisions,
            *mean_in_millipoints(np.array(losses[name])),
            _MILLI * seconds[name] / decisions,
        )
        for name in players
    ]


def _loss(benchmark: BenchmarkFile, decision: int, board: np.ndarray) -> float:
    rows = slice(benchmark.offsets[decision], benchmark.offsets[decision + 1])
    same = (benchmark.listed[rows] == board).all(axis=1)
    return float(benchmark.losses[rows][same][0] if same.any() else benchmark.losses[rows].max())


def on_all_lines(measured: Sequence[Measured], own: str, benchmark: BenchmarkFile) -> list[Measured]:
    """Add the errors of `judging_ways` on every line of `benchmark` to `measured`."""
    whole: list[Measured] = []
    for one in measured:
        if one.name in judging_ways(own) and one.decisions < len(benchmark):
            mean, error = mean_in_millipoints(player_choices(load(one.name), benchmark).losses)
            one = replace(one, decisions=len(benchmark), error_rate=mean, error_rate_se=error)
        whole.append(one)
    return whole


def whole_table(whole: Sequence[Measured], own: str) -> list[str]:
    """Return the page's table of `judging_ways`."""
    rows = {row.name: row for row in whole}
    lines = ["| player | error rate |", "|---|---:|"]
    lines += [
        f"| `{name}` | {rows[name].error_rate:.2f} ± {rows[name].error_rate_se:.2f} |"
        for name in judging_ways(own)
        if name in rows
    ]
    return lines


def table(measured: Sequence[Measured]) -> list[str]:
    """Return the page's table, the fastest player first."""
    lines = ["| player | error rate | ms per decision | decisions |", "|---|---:|---:|---:|"]
    lines += [
        f"| `{row.name}` | {row.error_rate:.2f} ± {row.error_rate_se:.2f} | {row.milliseconds:.3g} "
        f"| {row.decisions:,} |"
        for row in sorted(measured, key=lambda one: one.milliseconds)
    ]
    return lines


def draw(measured: Sequence[Measured], own: str, path: Path) -> None:
    """Draw error against time, both on logarithmic scales."""
    with picture(path, 4.2, "Error rate against time per decision, one core") as figure:
        axes = figure.subplots()
        families = (
            (f"{own}, static and looking ahead", lambda name: name.startswith(own), "o", "-", BLUE),
            ("rollouts", lambda name: name.startswith("rollout:"), "s", "--", VERMILION),
            ("gnubg", lambda name: name.startswith("gnubg"), "^", "-.", GREEN),
            ("wildbg", lambda name: name == "wildbg", "D", "none", INK),
        )
        for label, belongs, marker, line, colour in families:
            points = sorted((row for row in measured if belongs(row.name)), key=lambda one: one.milliseconds)
            if points:
                x, y = [point.milliseconds for point in points], [point.error_rate for point in points]
                error = [point.error_rate_se for point in points]
                axes.errorbar(
                    x, y, yerr=error, marker=marker, linestyle=line, color=colour, label=label, capsize=2
                )
        axes.set_xscale("log")
        axes.set_yscale("log")
        rates = [row.error_rate for row in measured]
        low, high = 0.8 * min(rates), 1.2 * max(rates)
        ticks = [tick for tick in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if low <= tick <= high]
        axes.set_yticks(ticks, labels=[f"{tick:g}" for tick in ticks])
        axes.set_yticks([], minor=True)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_xlabel("milliseconds per decision")
        axes.set_ylabel("error rate (millipoints)")
        axes.legend()
        figure.supxlabel("Bars: one standard error.")


@reporting
def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write table, picture and figures."""
    parser = argparse.ArgumentParser(prog="tools.frontier", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("page", type=Path, help="page with a generated region 'frontier'")
    parser.add_argument("--decisions", type=int, default=400)
    parser.add_argument("--lines", default="data/bench/contact.bm.gz")
    options = parser.parse_args(arguments)
    own = default_player()
    benchmark = read_benchmark(options.lines)
    with one_thread():
        measured = measure(ways(own), benchmark, options.decisions)
    draw(measured, own, options.page.parent.parent / "images" / "frontier.png")
    write_region(options.page, "frontier", table(measured))
    whole = on_all_lines(measured, own, benchmark)
    write_text(FIGURES, json.dumps([asdict(row) for row in whole], indent=1) + "\n")
    write_region(options.page, "all lines", whole_table(whole, own))


if __name__ == "__main__":
    sys.exit(main())
