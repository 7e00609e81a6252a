"""The command report: the page of a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from motif.cli.options import JobsOption, JsonOption, SeedOption, command, moved, option
from motif.cli.printing import json_line, print_table, say, tell
from motif.runtime.errors import SettingError

if TYPE_CHECKING:
    from motif.reports.run_report import RunReport

_ELSEWHERE = "`motif terms WEIGHTS` tells the terms of a weight file"


@command(
    "report runs/demo",
    "report runs/demo --html demo.html --benchmark data/bench/race.bm.gz --worst 5",
    cls=moved(("--terms", "--data", "--positions", "--head", "--class", "--plan"), _ELSEWHERE),
)
def report(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    benchmark: Annotated[
        list[Path] | None,
        option("Measure its versions on this file, too; may be given again.", show_default="data/bench"),
    ] = None,
    worst: Annotated[
        int, option("Draw the N decisions there that cost its last version most.", min=0, max=1000)
    ] = 10,
    top: Annotated[int, option("How many terms.", min=1)] = 20,
    html: Annotated[Path | None, option("The page to write.", show_default="RUN/report.html")] = None,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Write the page of a run.

    It tells how the run went, how strong each version plays, which terms matter, the worst decisions of
    the last version on benchmark lines, and what to try next.
    """
    if not folder.is_dir():
        raise SettingError(f"{str(folder)!r} is no folder of a run; {_ELSEWHERE}")
    from motif.benchmark.benchmark_files import read_benchmark, shipped_lines
    from motif.reports.run_report import draw_run

    lines = [read_benchmark(path) for path in dict.fromkeys(benchmark)] if benchmark else shipped_lines()
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
    say("v: points a game; choices by the labels, and on benchmark lines: millipoints a decision")
    say("± is one standard error")
