"""The report of a bootstrap run: plots of each version, plots and a page of the whole run."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from motif.analysis.pattern_report import ToldPattern, told_patterns
from motif.analysis.term_report import (
    ToldEffect,
    ToldTerm,
    board_terms,
    chosen_head,
    dataset_boards,
    game_boards,
    observed_positions,
    table_terms,
    told_effects,
    told_terms,
)
from motif.benchmark import BenchmarkFile
from motif.benchmark.losses import MILLIPOINTS
from motif.evaluators import WeightFile, read_weight_file
from motif.evaluators.static import from_weights
from motif.evaluators.weight_file import class_of_plan
from motif.learning import BootstrapConfig, VersionStep, load_config
from motif.learning.bootstrap_run import CONFIG, TERMS, WEIGHTS
from motif.learning.heads import settings_of, term_errors
from motif.learning.rows import class_rows, held_out
from motif.players import static_player
from motif.reports.calibration_plots import plot_calibration
from motif.reports.convergence import plot_convergence, plot_run_convergence
from motif.reports.document import Groups, Picture, html_page
from motif.reports.effect_plots import effects_picture
from motif.reports.next_version import advice, next_commands
from motif.reports.run_files import (
    FIGURES,
    STEPS,
    RunBenchmark,
    RunFiles,
    fitted_pools,
    read_history,
    read_run,
    run_benchmark,
)
from motif.reports.strength_plots import plot_strength
from motif.reports.term_pages import (
    effect_rows,
    effects_reading,
    pattern_rows,
    patterns_reading,
    reading,
    term_rows,
)
from motif.reports.worst_page import shown_decision
from motif.runtime.files import write_text

CONVERGENCE, CALIBRATION, STRENGTH = "convergence.png", "calibration.png", "strength.png"
REPORT = "report.html"
_TERMS, _WORST = 20, 10
"""How many terms and worst decisions a page shows unless it is said."""
CLASS = "contact"
"""The class whose terms the report of a run tells: most decisions are made there."""
_POSITIONS = 2000
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
_CHOICES = (
    "The choice error is what the version's own choices cost in decisions of games that the fit never saw, "
    "by the labels of the plays. Labels have noise, and even perfect choices would have an error: compare it "
    "only between versions whose trials are alike."
)
_LINES = (
    "On benchmark lines the plays are judged by an engine of others. They are for measuring only, never for "
    "fitting, and what is to be tried next does not depend on them."
)
_STEP_NAMES = dict(zip(STEPS, ("sampling", "fitting", "measuring"), strict=True))
_UNKNOWN = "\N{EN DASH}"


@dataclass(frozen=True)
class RunTerms:
    """Terms of the head that chooses plays in contact."""

    head: str
    count: int
    """How many terms it has but for the bias."""
    source: str
    """Over which positions they are compared: "the positions that it was fitted to", say."""
    told: tuple[ToldTerm, ...]
    """Terms that move its value most, most first."""
    parameters: tuple[ToldEffect, ...]
    """Parameters that do, and what more of each is worth."""
    patterns: tuple[ToldPattern, ...] = ()
    """Patterns that do."""


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
        versions = [{key: one[key] for key in FIGURES if key in one} for one in self.run.summaries]
        figures: dict[str, Any] = {
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
            figures["worst"] = [decision.as_dict() for decision in self.benchmark.worst]
        return figures


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
    # Whatever cannot be read shows itself before anything is drawn.
    histories = {home.name: read_history(home) for home in run.homes}
    measured = run_benchmark(run.weights, benchmarks, worst)
    terms, effects = _run_terms(run, top, seed, jobs, tell)
    plot_run_convergence(histories, folder / CONVERGENCE)
    plot_strength(run.summaries, folder / STRENGTH, start=run.config.start)
    drawn = [STRENGTH, CONVERGENCE]
    if _draw_calibration(folder, run.config, run.weights[run.last], run.last, folder / CALIBRATION):
        drawn.append(CALIBRATION)
    pictures = {name.partition(".")[0]: _picture(folder / name) for name in drawn}
    path = folder / REPORT if page is None else page
    write_text(path, _page(run, terms, measured, pictures | {"effects": effects}))
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


def _run_terms(
    run: RunFiles, top: int, seed: int, jobs: int | None, tell: Callable[[str], None]
) -> tuple[RunTerms, Picture]:
    """The `top` terms and parameters of the last version that matter most, and a picture of the parameters.

    Terms from its table of terms, or else from the samples that it was fitted to, both with standard errors;
    where these are gone, from its own games, drawn by `seed`, without.  What more of a parameter is worth is
    seen along its last samples, or its own games.  Raises a `MotifError` for files that cannot be read.
    """
    weights, source = run.weights[run.last], "the positions that it was fitted to"
    head = chosen_head(weights, CLASS, None, None)
    table, place = run.homes[run.last] / TERMS, (CLASS, "", head)
    if run.pools is None:
        player = static_player(from_weights(weights))
        boards = game_boards(player, _POSITIONS, CLASS, "", seed=seed, jobs=jobs)
    else:
        boards = dataset_boards(run.pools[-1], CLASS, "")
    if table.exists():
        terms = table_terms(table, weights, *place)
    elif run.pools is not None:
        tell(f"{weights.name}: standard errors of the terms")
        settings = settings_of(weights)
        with class_rows(run.pools, weights.parameters, settings.validation, settings.seed) as rows:
            terms = term_errors(rows, weights, settings, *place)
    else:
        terms, count = board_terms(boards, weights, *place)
        source = f"{count:,} positions of its own games"
    seen = observed_positions(weights, boards, *place)
    told, effects = told_terms(weights, terms, seen, top), told_effects(seen, top)
    patterns = told_patterns(weights, CLASS, head, seen.boards)[:top]
    picture = effects_picture(seen, effects, f"{weights.name}: what more of it is worth")
    return RunTerms(head, len(terms.names) - 1, source, told, effects, patterns), picture


def _page(
    run: RunFiles, terms: RunTerms, benchmark: RunBenchmark | None, pictures: Mapping[str, Picture]
) -> str:
    """The page; the `pictures` are called strength, convergence, effects and, where known, calibration."""
    last, weights = run.summaries[run.last], run.weights[run.last]
    headings = {
        "run": "How the run went",
        "strength": "Strength by version",
        **{name: pictures[name].heading for name in ("convergence", "calibration") if name in pictures},
        "terms": "The terms that matter",
        **({} if benchmark is None else {"worst": "The worst decisions"}),
        "next": "What to try next",
        "files": "The files of the run",
        "configuration": "Configuration",
    }
    return html_page(
        "run_page.html",
        f"{run.config.name}: bootstrap report",
        run=run,
        name=weights.name,
        made=_made(run),
        last=last,
        last_points=_points(last, "ppg_vs_pubeval", "ppg_se"),
        headings=headings,
        versions=[f"v{version}" for version in range(len(run.summaries))],
        course=list(_course(run)),
        steps=_steps(run),
        pictures=pictures,
        strengths=_strengths(run, benchmark),
        strength_notes=list(_strength_notes(run, benchmark)),
        effects=effect_rows(terms.parameters, terms.head),
        effects_note=effects_reading(terms.head),
        effects_picture=pictures["effects"],
        terms=term_rows(terms.told, terms.head),
        patterns=pattern_rows(terms.patterns),
        patterns_note=patterns_reading(),
        term_notes=[_terms_opening(terms, weights), *reading(terms.told, terms.head)],
        benchmark=benchmark,
        worst=[] if benchmark is None else list(map(shown_decision, benchmark.worst)),
        advice=advice(run.summaries),
        commands="\n\n".join(next_commands(run.config, run.last)),
    )


def _made(run: RunFiles) -> str:
    count, planned = len(run.summaries), len(run.config.versions)
    made = "One version" if count == 1 else f"{count} versions"
    return made if count == planned else f"{made} of {planned}"


def _course(run: RunFiles) -> Iterator[str]:
    """Sentences on time, and on fits that did not converge."""
    spent = [sum(summary["seconds_by_step"][step] for summary in run.summaries) for step in STEPS]
    sample, fit, measure = map(duration, spent)
    yield (
        f"The run took {duration(sum(spent))}: {sample} of sampling, {fit} of fitting, {measure} of "
        "matches that measure strength. Of a version that was interrupted the last go alone is counted."
    )
    if missing := len(run.config.versions) - len(run.summaries):
        ahead = "One version is" if missing == 1 else f"{missing} versions are"
        yield f"{ahead} not made yet: the command that began the run goes on with it."


def _strength_notes(run: RunFiles, benchmark: RunBenchmark | None) -> Iterator[str]:
    yield "Version zero is compared with the player that the run began with."
    if any(summary.get("choice_error") for summary in run.summaries):
        yield _CHOICES
    if benchmark is not None:
        yield _LINES


def _terms_opening(terms: RunTerms, weights: WeightFile) -> str:
    opening = (
        f"How {weights.name} judges {CLASS} positions: of the {terms.count:,} terms of the {terms.head} head "
        f"those {len(terms.told)} that move its value most, over {terms.source}."
    )
    plans = sum(class_of_plan(plan) == CLASS for plan in weights.plans)
    if plans:
        opening += f" Not shown: weights of {plans} game plan{'s' if plans > 1 else ''}."
    return opening


def duration(seconds: float) -> str:
    """A time in the unit that suits it, such as "34 minutes"."""
    for unit, size in (("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.{0 if seconds >= 10 * size else 1}f} {unit}"
    return f"{seconds:.0f} seconds"


def _steps(run: RunFiles) -> Groups:
    """How the versions came about, from left to right so that each row compares them."""
    summaries, steps = run.summaries, run.config.versions[: len(run.summaries)]
    seconds = [summary["seconds_by_step"] for summary in summaries]
    parents = [run.config.start, *(f"v{summary['version']}" for summary in summaries)]
    earlier = [step.pooled_versions(version)[:-1] for version, step in enumerate(steps)]
    samples = {
        "rolled out by": parents[: len(summaries)],
        "games": [f"{step.games:,}" for step in steps],
        "trials a position": [f"{summary['trials']:,}" for summary in summaries],
        "trials end with": [_ending(step) for step in steps],
    }
    if any(earlier):
        samples["earlier samples added"] = [", ".join(f"v{k}" for k in pool) or "none" for pool in earlier]
    samples["positions fitted"] = [f"{summary['positions']:,}" for summary in summaries]
    groups: dict[str, Mapping[str, Sequence[str]]] = {
        "Samples": samples,
        "Seconds": {
            **{name: [f"{of[step]:,.0f}" for of in seconds] for step, name in _STEP_NAMES.items()},
            "all steps": [f"{sum(of[step] for step in STEPS):,.0f}" for of in seconds],
        },
        "Fit: error of the win chance (RMSE)": {
            "training": [_rmse(summary["rmse_train"]) for summary in summaries],
            "validation": [_rmse(summary["rmse_validation"]) for summary in summaries],
            "passes at most": [f"{summary['sweeps']}" for summary in summaries],
            "ended": [summary["stopped"] for summary in summaries],
        },
    }
    return groups


def _strengths(run: RunFiles, benchmark: RunBenchmark | None) -> Groups:
    """How strong the versions play, by all measures that there are."""
    summaries = run.summaries
    groups: dict[str, Mapping[str, Sequence[str]]] = {
        "Points a game": {
            "against PubEval": [_points(one, "ppg_vs_pubeval", "ppg_se") for one in summaries],
            "against the one before": [
                _points(one, "ppg_vs_previous", "ppg_vs_previous_se") for one in summaries
            ],
        },
    }
    if choices := _choice_rows(summaries):
        groups["Choice error: millipoints a decision"] = choices
    if benchmark is not None:
        groups["Benchmark lines: millipoints a decision"] = {
            name: [_with_error(rate.er, rate.se) for rate in rates]
            for name, rates in benchmark.rows().items()
        }
    return groups


def _points(summary: Mapping[str, Any], value: str, error: str) -> str:
    """Points a game of a summary with their standard error, by the names of both."""
    # A line may break before the sign, not behind it.
    text = f"{summary[value]:+.3f} ±\N{NO-BREAK SPACE}{summary[error]:.3f}"
    return text.replace("-", "\N{MINUS SIGN}")


def _choice_rows(summaries: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """What validation decisions cost, by class."""
    names = dict.fromkeys(name for summary in summaries for name in summary.get("choice_error", ()))
    return {name: [_choice(summary, name) for summary in summaries] for name in names}


def _choice(summary: Mapping[str, Any], name: str) -> str:
    error = summary.get("choice_error", {}).get(name)
    if error is None:
        return _UNKNOWN
    se = summary.get("choice_error_se", {}).get(name)
    return _with_error(MILLIPOINTS * error, math.nan if se is None else MILLIPOINTS * se)


def _with_error(value: float, se: float) -> str:
    return f"{value:.1f}" if math.isnan(se) else f"{value:.1f} ±\N{NO-BREAK SPACE}{se:.1f}"


def _rmse(error: float | None) -> str:
    return "none held out" if error is None else f"{error:.4f}"


def _ending(step: VersionStep) -> str:
    ends = [f"ply {step.cut}"] if step.cut else []
    ends += ["contact"] if step.stop_at_race else []
    ends += ["bearoff"] if step.stop_at_bearoff else []
    return " or ".join(ends) or "the game"
