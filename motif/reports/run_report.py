"""The report of a bootstrap run: its files, plots of each version, plots and a page of the whole run.

How the version after the last could be made is told with what the numbers say would help.
"""

import csv
import math
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from io import StringIO
from itertools import takewhile
from pathlib import Path, PurePath
from typing import Any, TypeVar

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
from motif.analysis.unit_report import UnitSummary, unit_summaries
from motif.benchmark import BenchmarkFile, ErrorRate, ErrorRates
from motif.benchmark.choices import WorstDecision, player_choices, summary, worst_decisions
from motif.benchmark.losses import MILLIPOINTS
from motif.evaluators import WeightFile, read_weight_file
from motif.evaluators.static import from_weights
from motif.fitting.objective import PASS_LIMIT, VALIDATION_RISES
from motif.learning import BootstrapConfig, VersionStep, load_config
from motif.learning.bootstrap_run import CONFIG, HISTORY, SAMPLES, SUMMARY, TERMS, WEIGHTS, OnVersion
from motif.learning.cross_check import CrossCheck
from motif.learning.fit_settings import FitSettings
from motif.learning.heads import HEAD, settings_of, term_errors
from motif.learning.label_noise import NOT_KNOWN
from motif.learning.rows import class_rows, held_out
from motif.players import static_player
from motif.reports.analysis_plots import effects_picture
from motif.reports.calibration_plots import plot_calibration
from motif.reports.convergence import Rows, plot_convergence, plot_run_convergence
from motif.reports.document import Groups, Picture, html_page
from motif.reports.strength_plots import plot_strength
from motif.reports.term_pages import (
    effect_rows,
    effects_reading,
    reading,
    term_rows,
    unit_rows,
    units_reading,
)
from motif.reports.worst_page import shown_decision
from motif.runtime.documents import Entry
from motif.runtime.errors import SettingError
from motif.runtime.files import json_of, text_of, write_text
from motif.runtime.limits import HISTORY_COLUMNS, HISTORY_FILE, HISTORY_LINES, YAML_FILE
from motif.sampling import SampleSettings
from motif.sampling.dataset import is_dataset

_Begun = TypeVar("_Begun")

STEPS = ("sample", "fit", "measure")
"""What a version's seconds are spent on."""
_NUMBER, _MAYBE = (int, float), (int, float, type(None))
FIGURES: dict[str, tuple[type, ...]] = {
    "version": (int,), "name": (str,), "positions": (int,), "trials": (int,), "seconds_by_step": (dict,),
    "rmse_train": _NUMBER, "rmse_validation": _MAYBE, "validation_errors": (dict,), "sweeps": (int,),
    "stopped": (str,), "cross_check": (dict, type(None)),
    "choice_error": (dict,), "choice_error_se": (dict,),
    "ppg_vs_pubeval": _NUMBER, "ppg_se": _NUMBER, "ppg_vs_previous": _NUMBER, "ppg_vs_previous_se": _NUMBER,
}  # fmt: skip
"""What a report tells of a version, and its types."""
_MAY_LACK = ("choice_error", "choice_error_se", "heads", "warnings", "validation_errors", "cross_check")
"""Figures that summaries of earlier programs do not have."""

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
        "belongs to a fit that learns its samples by heart. Errors hold the noise of the labels, the dotted "
        "line: true values would be as far from the labels as that. So errors of versions with other numbers "
        "of trials do not compare, but those without label noise do.",
    ),
    CALIBRATION: (
        "Calibration",
        "On positions of games that the fit never saw: how often what is called likely happens in rollouts. "
        "A curve on the diagonal says what it means; above it the chance is underrated, below it overrated.",
    ),
}
_NOISE_NOTE = (
    "Without label noise: the root of the squared validation error less the mean square of the labels' "
    "standard errors. It is the evaluator's own error, as far as rollouts tell, and versions can be compared "
    "by it."
)
_CHOICES = (
    "The choice error is what the version's own choices cost in decisions of games that the fit never saw, "
    "by the labels of the plays. Labels have noise, and even perfect choices would have an error: compare it "
    "only between versions whose trials are alike."
)
_CHECKS = (
    "SciPy's least squares, a solver that others wrote, fitted one head of each version again, the one that "
    "costs least: it minimises the same error, and should end at the same place."
)
_LINES = (
    "On benchmark lines the plays are judged by an engine of others. They are for measuring only, never for "
    "fitting, and what is to be tried next does not depend on them."
)
_STEP_NAMES = dict(zip(STEPS, ("sampling", "fitting", "measuring"), strict=True))
_UNKNOWN = "\N{EN DASH}"

_WIDE_GAP = 1.1
"""Validation error over training error from which the samples count as too few."""
_CLEAR = 2.0
"""Standard errors that a difference must exceed to count."""
_RATES = {"crashed": "--crashed-rate", "race": "--race-rate"}
"""Options by which there are more samples of a class that games alone give few of."""
_NAMES = {"prune": "prune_z"}
"""Options that are not called as their fields are."""


@dataclass(frozen=True)
class RunFiles:
    """A run as far as its versions are finished."""

    folder: Path
    config: BootstrapConfig
    config_text: str
    """Its config.yaml."""
    summaries: Sequence[dict[str, Any]]
    """One a finished version, in order; see `motif.learning.bootstrap_run`."""
    weights: Sequence[WeightFile]
    """One a finished version, in order."""

    @property
    def homes(self) -> list[Path]:
        """The folders of the finished versions."""
        return [self.folder / f"v{version}" for version in range(len(self.summaries))]

    @property
    def last(self) -> int:
        """The number of the last finished version."""
        return len(self.summaries) - 1

    @property
    def pools(self) -> list[Path] | None:
        """The datasets that the last version was fitted to; None when one of them is not there any more."""
        return fitted_pools(self.folder, self.config, self.last)


def read_run(folder: Path) -> RunFiles:
    """Read the run in `folder`, but for its samples and histories.

    Raises `SettingError` when it is no run, has no finished version or holds what cannot be read, and
    `WeightFileError` for weights that cannot be.
    """
    path = folder / CONFIG
    if folder.is_dir() and not path.exists():
        raise SettingError(f"{path}: cannot be read: there is no such file, so this is no bootstrap run")
    config = load_config(path)
    summaries = _summaries(folder, config)
    weights = [read_weight_file(folder / f"v{version}" / WEIGHTS) for version in range(len(summaries))]
    return RunFiles(folder, config, text_of(path, SettingError, YAML_FILE), summaries, weights)


def read_history(home: Path) -> Rows:
    """Return the rows of a version's history.csv; raises `SettingError`."""
    path = home / HISTORY
    text = text_of(path, SettingError, HISTORY_FILE)
    HISTORY_LINES.check(text.count("\n"), str(path), SettingError)
    HISTORY_COLUMNS.check(text.partition("\n")[0].count(",") + 1, str(path), SettingError)
    try:
        return list(csv.DictReader(StringIO(text, newline="")))
    except csv.Error as error:
        raise SettingError(f"{path}: cannot be read: {error}") from None


def fitted_pools(folder: Path, config: BootstrapConfig, version: int) -> list[Path] | None:
    """Return the datasets that a version was fitted to; None when one of them is not there any more."""
    pools = [folder / f"v{k}" / SAMPLES for k in config.versions[version].pooled_versions(version)]
    return pools if all(map(is_dataset, pools)) else None


def _summaries(folder: Path, config: BootstrapConfig) -> list[dict[str, Any]]:
    summaries = []
    for version in range(len(config.versions)):
        path = folder / f"v{version}" / SUMMARY
        if not path.exists():
            break
        summary = json_of(path, SettingError)
        _check(Entry(summary, str(path), SettingError), version)
        summaries.append(summary)
    if not summaries:
        raise SettingError(f"{folder}: no version is finished yet")
    return summaries


def _check(summary: Entry, version: int) -> None:
    """Raise `SettingError` for a summary that lacks what a report tells."""
    if not isinstance(summary.value, dict):
        summary.fail("is no summary of a version")
    for name, kind in {**FIGURES, "heads": (dict,), "warnings": (list,)}.items():
        if name in summary.value or name not in _MAY_LACK:
            summary[name].of(*kind)
    for step in STEPS:
        summary["seconds_by_step"][step].of(*_NUMBER)
    for head in summary.value.get("validation_errors", {}):
        errors = summary["validation_errors"][head]
        errors.of(dict)
        for name in ("rmse_validation", "label_noise", "rmse_without_noise"):
            errors[name].of(*_MAYBE)
    if summary.value.get("cross_check"):
        for one in fields(CrossCheck):
            summary["cross_check"][one.name].of(*((str,) if one.type is str else _NUMBER))
    if summary["version"].value != version:
        summary["version"].fail(f"must be {version}, not {summary['version'].value}")


@dataclass(frozen=True)
class RunBenchmark:
    """What measuring a run's versions on benchmark files gave."""

    rates: Sequence[ErrorRates]
    """Error rates of each version."""
    worst: Sequence[WorstDecision]
    """Decisions of the last version, the one that cost most first."""

    def rows(self) -> dict[str, list[ErrorRate]]:
        """Return the error rates of the versions by file, and on all files where there are several."""
        paths = list(self.rates[0].files)
        names = dict(zip(paths, _short_names(paths), strict=True))
        rows = {name: [rates.files[path] for rates in self.rates] for path, name in names.items()}
        return rows if len(rows) == 1 else {**rows, "all": [rates.overall for rates in self.rates]}


def run_benchmark(
    versions: Sequence[WeightFile], files: Sequence[BenchmarkFile], worst: int
) -> RunBenchmark | None:
    """Measure all `versions` on `files`, and find the `worst` decisions of the last; None for no file."""
    if not files:
        return None
    # Less work than it is to start processes: static evaluators play thousands of decisions a second.
    players = [static_player(from_weights(weights)) for weights in versions]
    choices = [[player_choices(player, file, jobs=1) for file in files] for player in players]
    return RunBenchmark(list(map(summary, choices)), worst_decisions(choices[-1], worst))


def _short_names(paths: Sequence[str]) -> list[str]:
    """Return the names of files without folders and endings, where these still differ."""
    names = [PurePath(path).name.partition(".")[0] for path in paths]
    return names if all(names) and len(set(names)) == len(names) else list(paths)


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
    units: tuple[UnitSummary, ...] = ()
    """Hidden units that do."""


@dataclass(frozen=True)
class RunReport:
    """What was drawn of a run, and the figures that it tells."""

    run: RunFiles
    page: Path
    pictures: Sequence[Path]
    terms: RunTerms
    benchmark: RunBenchmark | None

    def to_dict(self) -> dict[str, Any]:
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
                version["benchmark"] = {path: rate.to_dict() for path, rate in rates.files.items()}
                version["benchmark_all"] = rates.overall.to_dict()
            figures["worst"] = [decision.to_dict() for decision in self.benchmark.worst]
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


@contextmanager
def drawn_beside() -> Iterator[OnVersion]:
    """`draw_version` while the run goes on: what `on_version` of `run_bootstrap` can be in the block.

    What goes wrong with one version is raised when the next one is there, or at the end of the block.
    """
    with ThreadPoolExecutor(1) as pool:
        latest: Future[None] | None = None

        def draw(home: Path, summary: Mapping[str, Any]) -> None:
            nonlocal latest
            if latest is not None:
                latest.result()
            latest = pool.submit(draw_version, home, summary)

        yield draw
        if latest is not None:
            latest.result()


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

    def measure_and_draw() -> tuple[RunBenchmark | None, list[str]]:
        measured = run_benchmark(run.weights, benchmarks, worst)
        plot_run_convergence(histories, folder / CONVERGENCE)
        plot_strength(run.summaries, folder / STRENGTH, start=run.config.start)
        weights, path = run.weights[run.last], folder / CALIBRATION
        is_calibrated = _draw_calibration(folder, run.config, weights, run.last, path)
        return measured, [STRENGTH, CONVERGENCE, *[CALIBRATION] * is_calibrated]

    with ThreadPoolExecutor(1) as pool:
        terms, effects, beside = _run_terms(run, top, seed, jobs, tell, lambda: pool.submit(measure_and_draw))
        measured, drawn = beside.result()
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
    run: RunFiles,
    top: int,
    seed: int,
    jobs: int | None,
    tell: Callable[[str], None],
    when_read: Callable[[], _Begun],
) -> tuple[RunTerms, Picture, _Begun]:
    """Return the `top` terms and parameters of the last version, a picture, and what `when_read` gives.

    `when_read` is called when nothing is left to read.

    Terms from its table of terms, or else from the samples that it was fitted to, both with standard errors;
    where these are gone, from its own games, drawn by `seed`, without.  What more of a parameter is worth is
    seen along its last samples, or its own games.  Raises a `MotifError` for files that cannot be read.
    """
    weights, source = run.weights[run.last], "the positions that it was fitted to"
    head = chosen_head(weights, CLASS, None)
    table, place = run.homes[run.last] / TERMS, (CLASS, head)
    if run.pools is None:
        player = static_player(from_weights(weights))
        boards = game_boards(player, _POSITIONS, CLASS, seed=seed, jobs=jobs)
    else:
        boards = dataset_boards(run.pools[-1], CLASS)
    if table.exists():
        terms = table_terms(table, weights, *place)
        begun = when_read()
    elif run.pools is not None:
        tell(f"{weights.name}: standard errors of the terms")
        settings = settings_of(weights)
        with class_rows(run.pools, weights.parameters, settings.validation, settings.seed) as rows:
            begun = when_read()
            terms = term_errors(rows, weights, settings, *place)
    else:
        begun = when_read()
        terms, count = board_terms(boards, weights, *place)
        source = f"{count:,} positions of its own games"
    seen = observed_positions(weights, boards, *place)
    told, effects = told_terms(weights, terms, seen, top), told_effects(seen, top)
    units = unit_summaries(weights, CLASS, head, seen.boards)[:top]
    picture = effects_picture(seen, effects, f"{weights.name}: what more of it is worth")
    return RunTerms(head, len(terms.names) - 1, source, told, effects, units), picture, begun


def _page(
    run: RunFiles, terms: RunTerms, benchmark: RunBenchmark | None, pictures: Mapping[str, Picture]
) -> str:
    """Return the page; `pictures` are called strength, convergence, effects and, if known, calibration."""
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
        noise_notes=list(_noise_notes(run.summaries)),
        checks=_checks(run.summaries),
        checks_note=_CHECKS,
        pictures=pictures,
        strengths=_strengths(run, benchmark),
        strength_notes=list(_strength_notes(run, benchmark)),
        effects=effect_rows(terms.parameters, terms.head),
        effects_note=effects_reading(terms.head),
        effects_picture=pictures["effects"],
        terms=term_rows(terms.told, terms.head),
        units=unit_rows(terms.units),
        units_note=units_reading(),
        term_notes=[_terms_opening(terms, weights), *reading(terms.told, terms.head)],
        benchmark=benchmark,
        worst=[] if benchmark is None else list(map(shown_decision, benchmark.worst)),
        advice=advice(run.summaries),
        commands="\n\n".join(next_commands(run.config, run.last, run.folder)),
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
    return (
        f"How {weights.name} judges {CLASS} positions: of the {terms.count:,} terms of the {terms.head} head "
        f"those {len(terms.told)} that move its value most, over {terms.source}."
    )


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it, such as "34 minutes"."""
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
        "Dataset": samples,
        "Seconds": {
            **{name: [f"{of[step]:,.0f}" for of in seconds] for step, name in _STEP_NAMES.items()},
            "all steps": [f"{sum(of[step] for step in STEPS):,.0f}" for of in seconds],
        },
        "Fit: error of the win chance (RMSE)": {
            "training": [_rmse(summary["rmse_train"]) for summary in summaries],
            "validation": [_rmse(summary["rmse_validation"]) for summary in summaries],
            **_noise_rows(summaries, "win"),
            "passes at most": [f"{summary['sweeps']}" for summary in summaries],
            "ended": [summary["stopped"] for summary in summaries],
        },
    }
    if rows := _noise_rows(summaries, HEAD):
        validation = [_error_of(summary, HEAD, "rmse_validation") for summary in summaries]
        groups["Fit: error of the equity that chooses plays (RMSE, points)"] = {
            "validation": validation,
            **rows,
        }
    return groups


def _noise_rows(summaries: Sequence[Mapping[str, Any]], head: str) -> dict[str, list[str]]:
    """Noise of the labels of a head, and its error without; nothing where no version tells of it."""
    if not any(head in summary.get("validation_errors", {}) for summary in summaries):
        return {}
    return {
        "noise of the labels": [_error_of(summary, head, "label_noise") for summary in summaries],
        "without label noise": [_error_of(summary, head, "rmse_without_noise") for summary in summaries],
    }


def _error_of(summary: Mapping[str, Any], head: str, name: str) -> str:
    error = summary.get("validation_errors", {}).get(head, {}).get(name)
    return _UNKNOWN if error is None else f"{error:.4f}"


def _noise_notes(summaries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """How errors without label noise are to be read, and why some are not known."""
    told = [errors for summary in summaries for errors in summary.get("validation_errors", {}).values()]
    if told:
        yield _NOISE_NOTE
    if any(errors.get("label_noise") is None for errors in told):
        yield f"{_UNKNOWN}: not known. {NOT_KNOWN}"


def _checks(summaries: Sequence[Mapping[str, Any]]) -> Groups:
    """Return the head of each version that SciPy fitted too; empty where there is none."""
    checks = [summary.get("cross_check") or {} for summary in summaries]
    if not any(checks):
        return {}

    def row(form: Callable[[Mapping[str, Any]], str]) -> list[str]:
        return [form(check) if check else _UNKNOWN for check in checks]

    return {
        "What was fitted": {
            "head": row(lambda check: check["place"].replace(".", " ").replace("_", " ")),
            "weights": row(lambda check: f"{check['terms'] + 1:,}"),
            "positions": row(lambda check: f"{check['positions']:,}"),
            "by the run's method": row(lambda check: check["method"]),
        },
        "Error in training (RMSE)": {
            "the run's method": row(lambda check: f"{check['rmse_train']:.6f}"),
            "SciPy's least squares": row(lambda check: f"{check['check_rmse_train']:.6f}"),
        },
        "Seconds": {
            "the run's method": row(lambda check: f"{check['seconds']:.2f}"),
            "SciPy's least squares": row(lambda check: f"{check['seconds_check']:.2f}"),
        },
        "Largest relative difference": {
            "of what is minimised": row(lambda check: f"{check['error_difference']:.1e}"),
            "of a weight, to the largest weight": row(lambda check: f"{check['weight_difference']:.1e}"),
        },
    }


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
    """Return what validation decisions cost, by class."""
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


def next_commands(config: BootstrapConfig, last: int, folder: Path = Path()) -> list[str]:
    """Commands, for the run's `folder`, that make the version after `last` as `last` itself was made."""
    step, version = config.versions[last], last + 1
    weights, previous = f"v{version}/{WEIGHTS}", f"v{last}/{WEIGHTS}"
    sampling = step.sample_settings(previous, config.step_seed(version))
    sample: list[object] = ["sample", "--out", f"v{version}/{SAMPLES}", *_options(sampling)]
    pools = [f"v{k}/{SAMPLES}" for k in step.pooled_versions(version)]
    fit: list[object] = ["fit", *pools, "--out", weights, "--name", f"{config.name}-v{version}"]
    fit += ["--version", version, "--parent", f"{config.name}-v{last}"]
    fit += _options(_seen_from(folder, config.fit_settings(last)))
    fit += ["--term-table", f"v{version}/{TERMS}"] if config.terms else []
    match = ["match", weights, previous, "--games", config.strength_games]
    match += ["--seed", config.strength_seed(version)]
    return [_command(words) for words in (sample, fit, match)]


def _seen_from(folder: Path, settings: FitSettings) -> FitSettings:
    """Return `settings` whose file of parameters, if they name one, is found from `folder`."""
    file = settings.parameters
    return replace(settings, parameters=os.path.relpath(file, folder)) if Path(file).is_file() else settings


def _options(settings: SampleSettings | FitSettings) -> list[object]:
    """Options of the command line for `settings`, but those whose values are the defaults."""
    words: list[object] = []
    for one in fields(settings):
        value = getattr(settings, one.name)
        if value != one.default:
            words += ["--" + _NAMES.get(one.name, one.name).replace("_", "-")]
            words += [] if value is True else [value]
    return words


def _command(words: Sequence[object]) -> str:
    """Return a line for the shell, broken before each option so that it fits a narrow page."""
    line = "motif"
    for word in map(str, words):
        line += (" \\\n  " if word.startswith("--") else " ") + shlex.quote(word)
    return line


def advice(summaries: Sequence[Mapping[str, Any]]) -> list[str]:
    """Sentences about what would help, from the numbers of a run's versions, of the last above all."""
    last = summaries[-1]
    return [*_on_samples(last), *_on_passes(last), _on_another_round(summaries)]


def _on_samples(last: Mapping[str, Any]) -> Iterator[str]:
    """On gaps between training and validation: together, and in a class of positions."""
    ratio = _ratio(last)
    if ratio is None:
        return
    side = "above" if ratio > 1 else "below"
    gap = f"The validation error of the win chance is {abs(ratio - 1):.0%} {side} the training error"
    if ratio > _WIDE_GAP:
        yield f"{gap}: more games, or a larger ridge, would help."
    else:
        yield (f"{gap}: more games would change little; more trials a position or other parameters might.")
    heads = last.get("heads", {})
    classes = {name: _ratio(heads.get(f"{name}.win", {})) or 0.0 for name in _RATES}
    widest = max(classes, key=lambda name: classes[name])
    if classes[widest] > _WIDE_GAP:
        yield (
            f"In {widest} positions it is {classes[widest] - 1:.0%} above: more of them among the samples "
            f"({_RATES[widest]}) would help there."
        )


def _on_passes(last: Mapping[str, Any]) -> Iterator[str]:
    """On fits that ended before they converged."""
    yield from (f"{last['name']}: {warning}." for warning in last.get("warnings", ()))
    if last["stopped"] == PASS_LIMIT:
        yield (
            f"A fit of {last['name']} ended at its limit of passes before it converged: more passes may "
            "lower its error."
        )
    elif last["stopped"] == VALIDATION_RISES:
        yield (
            f"A fit of {last['name']} ended because its validation error rose: more games, or a larger "
            "ridge, would let it go on."
        )


def _on_another_round(summaries: Sequence[Mapping[str, Any]]) -> str:
    last = summaries[-1]
    level = len(list(takewhile(lambda summary: not _clearly_gains(summary), reversed(summaries))))
    if not level:
        return f"{last['name']} clearly beats what it learned from, so learning from it may gain again."
    text = f"{last['name']} does not clearly beat what it learned from"
    if level > 1:
        text += f", and neither did the {_times(level - 1)} before it"
    return f"{text}: another round of the same kind will hardly gain."


def _clearly_gains(summary: Mapping[str, Any]) -> bool:
    return bool(summary["ppg_vs_previous"] > _CLEAR * summary["ppg_vs_previous_se"])


def _times(count: int) -> str:
    return "version" if count == 1 else f"{count} versions"


def _ratio(errors: Mapping[str, Any]) -> float | None:
    """Return the validation error over training error; None where one is not known."""
    train, validation = errors.get("rmse_train"), errors.get("rmse_validation")
    return validation / train if train and validation else None
