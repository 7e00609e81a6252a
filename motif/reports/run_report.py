"""Draws what a bootstrap run's folder holds: plots of each version, plots and a page of the run.

How strong each version plays, in points a game.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

from matplotlib.axes import Axes

from motif.benchmark import BenchmarkFile
from motif.evaluators import WeightFile, read_weight_file
from motif.evaluators.static import from_weights
from motif.learning import BootstrapConfig, load_config
from motif.learning.bootstrap_config import CONFIG
from motif.learning.bootstrap_run import WEIGHTS
from motif.learning.rows import held_out
from motif.reports.calibration_plots import plot_calibration
from motif.reports.convergence import plot_convergence, plot_run_convergence
from motif.reports.document import Picture
from motif.reports.next_version import advice
from motif.reports.run_files import (
    RunBenchmark,
    RunFiles,
    fitted_pools,
    read_history,
    read_run,
    run_benchmark,
)
from motif.reports.run_page import CLASS, RunTerms, report_page, run_terms
from motif.reports.style import BLUE, FAINT, SMALL, VERMILION, picture
from motif.runtime.files import write_text

_MAX_NUMBERED = 7
"""Versions up to which there is room for numbers below the points."""
_LETTERS, _FEWEST_LETTERS = 60, 6
"""What fits on a line below all points together, and what one point gets at least."""


def plot_strength(summaries: Sequence[Mapping[str, Any]], path: Path, *, start: str) -> None:
    """Draw the versions' points a game, against PubEval and against what came before, to `path`.

    `summaries` are those of `run_bootstrap`, in order; `start` names the player before version zero.
    Raises `FileError` when the picture cannot be written.
    """
    names = [f"v{summary['version']}" for summary in summaries]
    duels = [f"{name} against {other}" for name, other in zip(names, [start, *names], strict=False)]
    with picture(path, 5.6, "Strength by version") as figure:
        upper, lower = figure.subplots(2, 1)
        look: dict[str, Any] = {"color": BLUE, "marker": "o", "linestyle": "-"}
        _draw(upper, summaries, names, ("ppg_vs_pubeval", "ppg_se"), look)
        upper.set_title("against PubEval", fontweight="bold")
        # Each of these has an opponent of its own: no line joins them.
        look = {"color": VERMILION, "marker": "s", "linestyle": ""}
        _draw(lower, summaries, duels, ("ppg_vs_previous", "ppg_vs_previous_se"), look)
        lower.set_title("against the version before", fontweight="bold")
        figure.supxlabel("Bars and ±: one standard error.  0 is equal strength.", fontsize=SMALL)


def _draw(
    axes: Axes,
    summaries: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    keys: tuple[str, str],
    look: Mapping[str, Any],
) -> None:
    """One panel; `keys` are those of the points and of their standard errors."""
    points, errors = ([float(summary[key]) for summary in summaries] for key in keys)
    axes.axhline(0, color=FAINT, linewidth=1)
    axes.errorbar(range(len(points)), points, errors, capsize=7, markersize=3.5, **look)
    letters = max(_LETTERS // len(names), _FEWEST_LETTERS)
    labels = [fill(name, letters) for name in names]
    if len(labels) <= _MAX_NUMBERED:
        numbers = [f"{point:+.3f}\n± {se:.3f}" for point, se in zip(points, errors, strict=True)]
        labels = [f"{label}\n{number}" for label, number in zip(labels, numbers, strict=True)]
    axes.set_xticks(range(len(points)), labels)
    axes.set_xlim(-0.5, len(points) - 0.5)
    axes.margins(y=0.2)
    axes.set_ylabel("points a game")
    axes.grid(axis="x", visible=False)


CONVERGENCE, CALIBRATION, STRENGTH = "convergence.png", "calibration.png", "strength.png"
REPORT = "report.html"
_TERMS, _WORST = 20, 10
"""How many terms and worst decisions a page shows unless it is said."""
_READING = {
    STRENGTH: ("Strength", "Each version's points a game, against PubEval and against the one before."),
    CONVERGENCE: (
        "Convergence",
        "How the errors fell from pass to pass of each version's fits. A validation error that rises again "
        "belongs to a fit that learns its samples by heart. Errors hold the noise of the labels, so those of "
        "versions with other numbers of trials do not compare.",
    ),
    CALIBRATION: (
        "Calibration",
        "On positions of games that the fit never saw: how often what is called likely happens in rollouts. "
        "A curve on the diagonal says what it means; above it the chance is underrated, below it overrated.",
    ),
}
_KEY_FIGURES = (
    "version", "name", "positions", "trials", "seconds_by_step", "rmse_train", "rmse_validation", "sweeps",
    "stopped", "choice_error", "choice_error_se", "ppg_vs_pubeval", "ppg_se", "ppg_vs_previous",
    "ppg_vs_previous_se",
)  # fmt: skip


@dataclass(frozen=True)
class RunReport:
    """What was drawn of a run, and the figures that it tells."""

    run: RunFiles
    page: Path
    pictures: Sequence[Path]
    terms: RunTerms
    benchmark: RunBenchmark | None

    def as_dict(self) -> dict[str, Any]:
        """Paths and key figures, for JSON."""
        versions = [{key: one[key] for key in _KEY_FIGURES if key in one} for one in self.run.summaries]
        found: dict[str, Any] = {
            "run": str(self.run.folder),
            "html": str(self.page),
            "pictures": list(map(str, self.pictures)),
            "planned_versions": len(self.run.config.versions),
            "versions": versions,
            "terms": {"class": CLASS, **asdict(self.terms)},
            "next": advice(self.run.summaries),
        }
        if self.benchmark is not None:
            for version, rates in zip(versions, self.benchmark.rates, strict=True):
                version["benchmark"] = {path: rate.as_dict() for path, rate in rates.files.items()}
                version["benchmark_all"] = rates.overall.as_dict()
            found["worst"] = [decision.as_dict() for decision in self.benchmark.worst]
        return found


def draw_version(home: Path, summary: Mapping[str, Any]) -> None:
    """Draw convergence.png and calibration.png of one version into its folder, `home`.

    `summary` is that of `run_bootstrap`, whose `on_version` this can be.  Calibration needs the
    samples and is left out when they are gone.  Raises a `MotifError` for files that cannot be
    read or written.
    """
    config = load_config(home.parent / CONFIG)
    plot_convergence(read_history(home), home / CONVERGENCE, title=f"{summary['name']}: error by pass")
    weights, version = read_weight_file(home / WEIGHTS), int(summary["version"])
    _draw_calibration(home.parent, config, weights, version, home / CALIBRATION)


def draw_run(
    folder: Path,
    page: Path | None = None,
    *,
    benchmarks: Sequence[BenchmarkFile] = (),
    worst: int = _WORST,
    top: int = _TERMS,
    seed: int = 0,
    jobs: int | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> RunReport:
    """Draw the plots and the page of the run in `folder`, as far as its versions are finished.

    The page, by default the run's report.html, is one file that needs no other.  It tells `top` terms;
    with `benchmarks` also error rates on these, and the `worst` decisions of the last version.  `seed`
    draws the games that terms are compared over where the samples are gone.  Raises a `MotifError` for
    files that cannot be read or written, and when no version is finished.
    """
    run = read_run(folder)
    # Whatever cannot be read is found before anything is drawn.
    histories = {home.name: read_history(home) for home in run.homes}
    measured = run_benchmark(run.weights, benchmarks, worst)
    terms = run_terms(run, top, seed=seed, jobs=jobs, tell=tell)
    plot_run_convergence(histories, folder / CONVERGENCE)
    plot_strength(run.summaries, folder / STRENGTH, start=run.config.start)
    drawn = [STRENGTH, CONVERGENCE]
    if _draw_calibration(folder, run.config, run.weights[run.last], run.last, folder / CALIBRATION):
        drawn.append(CALIBRATION)
    pictures = {name.partition(".")[0]: _picture(folder / name) for name in drawn}
    path = folder / REPORT if page is None else page
    write_text(path, report_page(run, terms, measured, pictures))
    return RunReport(run, path, [folder / name for name in drawn], terms, measured)


def _draw_calibration(
    folder: Path, config: BootstrapConfig, weights: WeightFile, version: int, path: Path
) -> bool:
    """Draw the calibration of a version to `path`; False when its samples are not there any more."""
    pools = fitted_pools(folder, config, version)
    if pools is None:
        return False
    settings = config.fit_settings(version)
    samples = held_out(pools, settings.validation, settings.seed)
    fitted = from_weights(weights).evaluate_many(samples.boards)
    title = f"{weights.name}: calibration"
    plot_calibration(samples, fitted, path, title=title, outputs=weights.head_names())
    return True


def _picture(path: Path) -> Picture:
    heading, caption = _READING[path.name]
    return Picture(heading, path.read_bytes(), f"Plot: {caption}", caption)
