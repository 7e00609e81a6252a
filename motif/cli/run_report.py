"""What the command report does for the folder of a run."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from motif.cli.common import json_line, print_table, tell

if TYPE_CHECKING:
    from motif.reports.run_report import RunReport


def report_on_run(
    folder: Path,
    *,
    html: Path | None,
    benchmarks: Sequence[Path] | None,
    worst: int,
    top: int,
    json: bool,
    seed: int,
    jobs: int | None,
) -> None:
    """Draw the page of the run in `folder` and print its key figures; see `motif report`."""
    from motif.benchmark.benchmark_files import read_benchmark, shipped_lines
    from motif.reports.run_report import draw_run

    lines = [read_benchmark(path) for path in dict.fromkeys(benchmarks)] if benchmarks else shipped_lines()
    drawn = draw_run(folder, html, benchmarks=lines, worst=worst, top=top, seed=seed, jobs=jobs, tell=tell)
    if json:
        print(json_line(drawn.as_dict()))
        return
    _print_versions(drawn)
    print(drawn.page)


def _print_versions(drawn: "RunReport") -> None:
    from motif.benchmark.losses import MILLIPOINTS

    titles = ["version", "positions", "v PubEval", "v previous", "choices"]
    errors = {} if drawn.benchmark is None else drawn.benchmark.rows()
    rows = []
    for version, one in enumerate(drawn.run.summaries):
        choice = one.get("choice_error", {}).get("all")
        rows.append(
            (
                one["name"],
                f"{one['positions']:,}",
                f"{one['ppg_vs_pubeval']:+.3f} ± {one['ppg_se']:.3f}",
                f"{one['ppg_vs_previous']:+.3f} ± {one['ppg_vs_previous_se']:.3f}",
                "" if choice is None else f"{MILLIPOINTS * choice:.1f}",
                *(f"{of[version].er:.1f} ± {of[version].se:.1f}" for of in errors.values()),
            )
        )
    print_table([*titles, *errors], rows)
    print("v: points a game; choices by the labels, and on benchmark lines: millipoints a decision")
    print("± is one standard error")
