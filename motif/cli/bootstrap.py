"""The command that learns from nothing: sample, fit, and again."""

from pathlib import Path
from typing import Annotated

import typer

from motif.cli.common import (
    ClusterOption,
    JobsOption,
    JsonOption,
    checked_seed,
    error_text,
    json_line,
    print_table,
    tell,
)
from motif.cli.completion import complete_preset
from motif.cli.interruption import resumable
from motif.runtime.parallel import working_on


def bootstrap(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the run, runs/NAME.")],
    config_file: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="A config.yaml of one's own, instead of a preset."),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            "--preset", metavar="NAME", help="demo, classic or strong.", autocompletion=complete_preset
        ),
    ] = "demo",
    json: JsonOption = False,
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="N", callback=checked_seed, help="Another seed than the preset's."),
    ] = None,
    jobs: JobsOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Learn from nothing: sample, fit, and again.

    Each version plays and labels the next one's samples.  A run that was stopped goes on where it was.
    """
    from motif.benchmark.benchmark_files import shipped_lines
    from motif.learning import load_config, load_preset, run_bootstrap, with_seed
    from motif.reports.run_report import draw_run, draw_version

    config = with_seed(load_preset(preset) if config_file is None else load_config(config_file), seed)
    with resumable("the same command goes on"), working_on(cluster):
        versions = run_bootstrap(out, config, jobs=jobs, tell=tell, on_version=draw_version)
        draw_run(out, benchmarks=shipped_lines(), jobs=jobs, tell=tell)
    if json:
        print(json_line({"versions": versions}))
        return
    rows = [
        (
            summary["name"],
            str(summary["positions"]),
            f"{summary['seconds']:.0f}",
            error_text(summary["rmse_validation"]),
            error_text(summary.get("choice_error", {}).get("all")),
            f"{summary['ppg_vs_previous']:+.3f} ± {summary['ppg_vs_previous_se']:.3f}",
            f"{summary['ppg_vs_pubeval']:+.3f} ± {summary['ppg_se']:.3f}",
        )
        for summary in versions
    ]
    titles = (
        "version",
        "positions",
        "seconds",
        "RMSE validation",
        "choice error",
        "against the one before",
        "against pubeval",
    )
    print_table(titles, rows)
    print("choice error: the points that a validation decision costs by its labels")
    print("points a game ± standard error; version zero is compared with the start player")
    print(f"weights: {', '.join(str(out / f'v{k}' / 'weights.yaml') for k in range(len(versions)))}")
