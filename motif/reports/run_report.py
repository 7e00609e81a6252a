"""The report of a bootstrap run: plots of each version, and plots and a page of the whole run."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path, PurePath

from motif.analysis.evaluator_analysis import MIN_BOARDS, dataset_positions, self_play_positions
from motif.analysis.term_report import (
    MAX_BOARDS,
    EffectSummary,
    TermSummary,
    board_terms,
    chosen_head,
    effect_summaries,
    fitted_terms,
    observed_positions,
    table_terms,
    term_summaries,
)
from motif.analysis.unit_report import UnitSummary, unit_summaries
from motif.benchmarks import BenchmarkFile, ErrorRate, ErrorRates
from motif.benchmarks.choices import WorstDecision, player_choices, summary, worst_decisions
from motif.board.marks import MILLIPOINTS
from motif.board.packed import Board
from motif.evaluators import WeightFile, read_weight_file
from motif.evaluators.probabilities import RANKING_HEAD
from motif.evaluators.static import from_weights
from motif.evaluators.weight_file import HeadKey
from motif.fitting.significance import HeadTerms
from motif.learning.bootstrap_config import CONFIG, BootstrapConfig, VersionStep, load_config
from motif.learning.bootstrap_run import TERMS, WEIGHTS, OnVersion
from motif.learning.cross_check import CrossCheck
from motif.learning.heads import has_hidden_units
from motif.learning.label_noise import NOT_KNOWN, label_source
from motif.learning.rows import held_out
from motif.learning.version_summary import STEPS, VersionSummary
from motif.players import static_player
from motif.reports.analysis_plots import effects_picture
from motif.reports.calibration_plots import plot_calibration
from motif.reports.convergence import plot_convergence, plot_run_convergence
from motif.reports.document import Groups, Picture, rendered, with_error
from motif.reports.next_version import advice, next_commands
from motif.reports.run_files import RunFiles, fitted_pools, read_history, read_run
from motif.reports.strength_plots import plot_strength
from motif.reports.term_pages import effects_and_terms, reading_of_terms
from motif.reports.worst_page import shown_decision
from motif.runtime.files import write_text
from motif.runtime.frames import Row, Tabular
from motif.runtime.layout import counted
from motif.sampling.dataset_files import read_manifest

CONVERGENCE, CALIBRATION, STRENGTH = "convergence.png", "calibration.png", "strength.png"
_REPORT = "report.html"
_TERMS, _WORST = 20, 10
"""Default numbers of terms and worst decisions on a page."""
_CLASS = "contact"
"""The class whose terms a report shows, because most decisions belong to it."""
_POSITIONS = 2000
_READING = {
    STRENGTH: (
        "Strength",
        "Points per game of each version against PubEval and the previous version.",
    ),
    CONVERGENCE: (
        "Convergence",
        "Training and validation error by pass of each version's fits. If only the validation error "
        "rises, the fit overfits. Errors include the noise of the labels (dotted line), which even perfect "
        "predictions would show, so errors of versions with different numbers of trials are comparable only "
        "without label noise.",
    ),
    CALIBRATION: (
        "Calibration",
        "Mean label, such as the frequency of a result in rollouts, against its predicted probability, on "
        "held-out positions. Points on the diagonal are well calibrated; above it, the prediction is too "
        "low, below it, too high.",
    ),
}
_NOISE_NOTE = (
    "Without label noise: the square root of the mean squared validation error minus the labels' mean "
    "squared standard error. It estimates the evaluator's own error, on held-out games of its own sample."
)
_STEP_NAMES = dict(zip(STEPS, ("sampling", "fitting", "measuring"), strict=True))
_UNKNOWN = "\N{EN DASH}"


@dataclass(frozen=True)
class RunBenchmark:
    """Results of a run's versions on benchmark files."""

    rates: Sequence[ErrorRates]
    """Error rates of each version."""
    worst: Sequence[WorstDecision]
    """Decisions of the last version, largest loss first."""

    def rows(self) -> dict[str, list[ErrorRate]]:
        """Return the versions' error rates by file, and on all files if there are several."""
        paths = list(self.rates[0].files)
        names = dict(zip(paths, _short_names(paths), strict=True))
        rows = {name: [rates.files[path] for rates in self.rates] for path, name in names.items()}
        return rows if len(rows) == 1 else {**rows, "all": [rates.overall for rates in self.rates]}


def run_benchmark(
    versions: Sequence[WeightFile], files: Sequence[BenchmarkFile], worst: int
) -> RunBenchmark | None:
    """Measure all `versions` on `files`, and find the last one's `worst` decisions; None without files."""
    if not files:
        return None
    # Static evaluators are too fast for worker processes to pay off.
    players = [static_player(from_weights(weights)) for weights in versions]
    choices = [[player_choices(player, file, jobs=1) for file in files] for player in players]
    return RunBenchmark(list(map(summary, choices)), worst_decisions(choices[-1], worst))


def _short_names(paths: Sequence[str]) -> list[str]:
    """Return file names without folders and suffixes, if these are distinct."""
    names = [PurePath(path).name.partition(".")[0] for path in paths]
    return names if all(names) and len(set(names)) == len(names) else list(paths)


@dataclass(frozen=True)
class RunTerms:
    """Terms of the head that ranks plays in contact positions."""

    head: str
    count: int
    """Number of terms without the bias."""
    source: str
    """The positions on which effects are measured, in words."""
    told: tuple[TermSummary, ...]
    """The most important terms, largest effect first."""
    parameters: tuple[EffectSummary, ...]
    """The most important parameters with their effects."""
    units: tuple[UnitSummary, ...] = ()
    """The most important hidden units."""


@dataclass(frozen=True, repr=False, eq=False)
class RunReport(Tabular):
    """The page, pictures and figures of a run."""

    run: RunFiles
    page: Path
    pictures: Sequence[Path]
    terms: RunTerms
    benchmark: RunBenchmark | None

    def records(self) -> list[Row]:
        """Return a row for each version, with its figures."""
        plain = (str, int, float)
        rows = [summary.figures() for summary in self.run.summaries]
        return [{key: value for key, value in row.items() if isinstance(value, plain)} for row in rows]

    def to_dict(self) -> Row:
        """Return paths and key figures for JSON."""
        versions = [summary.figures() for summary in self.run.summaries]
        figures: dict[str, object] = {
            "run": str(self.run.folder),
            "html": str(self.page),
            "pictures": list(map(str, self.pictures)),
            "planned_versions": len(self.run.config.versions),
            "versions": versions,
            "terms": {"class": _CLASS, **asdict(self.terms)},
            "next": advice(self.run.config, self.run.summaries),
        }
        if self.benchmark is not None:
            for version, rates in zip(versions, self.benchmark.rates, strict=True):
                version["benchmark"] = {path: rate.to_dict() for path, rate in rates.files.items()}
                version["benchmark_all"] = rates.overall.to_dict()
            figures["worst"] = [decision.to_dict() for decision in self.benchmark.worst]
        return figures


def draw_version(home: Path, summary: VersionSummary) -> None:
    """Draw convergence.png and calibration.png of one version into its folder, `home`.

    Usable as `on_version` of `run_bootstrap`.  Calibration is left out if the samples are missing.  Raises a
    `MotifError` for files that cannot be read or written.
    """
    config = load_config(home.parent / CONFIG, find_parameters=False)
    plot_convergence(read_history(home), home / CONVERGENCE, title=f"{summary.name}: error by pass")
    weights, version = read_weight_file(home / WEIGHTS), summary.version
    _draw_calibration(home.parent, config, weights, version, home / CALIBRATION)


@contextmanager
def drawn_beside() -> Iterator[OnVersion]:
    """Provide an `on_version` for `run_bootstrap` that draws versions in a background thread.

    Errors are raised at the next version or at the end of the block.
    """
    with ThreadPoolExecutor(1) as pool:
        latest: Future[None] | None = None

        def draw(home: Path, summary: VersionSummary) -> None:
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
    """Draw the plots and the self-contained page of the finished versions of the run in `folder`.

    The page, by default report.html in `folder`, shows `top` terms and, with `benchmarks`, error rates and
    the `worst` decisions of the last version.  `seed` determines the games played if its samples are missing
    or too few.  Raises a `MotifError` if files cannot be read or written, or no version is finished.
    """
    run = read_run(folder)
    # Read everything before drawing anything.
    histories = {home.name: read_history(home) for home in run.homes}
    weights, table = run.weights[run.last], run.homes[run.last] / TERMS
    key = HeadKey(_CLASS, chosen_head(weights, _CLASS, None))
    known = table_terms(table, weights, *key) if table.exists() else None
    boards, sampled = _boards(run, seed, jobs)

    def measure_and_draw() -> tuple[RunBenchmark | None, list[str]]:
        measured = run_benchmark(run.weights, benchmarks, worst)
        plot_run_convergence(histories, folder / CONVERGENCE)
        plot_strength(run.summaries, folder / STRENGTH, start=run.config.start)
        is_calibrated = _draw_calibration(folder, run.config, weights, run.last, folder / CALIBRATION)
        return measured, [STRENGTH, CONVERGENCE, *[CALIBRATION] * is_calibrated]

    with ThreadPoolExecutor(1) as pool:
        beside = pool.submit(measure_and_draw)
        terms, effects = _run_terms(run, known, boards, sampled, key, top, tell)
        measured, drawn = beside.result()
    pictures = {name.partition(".")[0]: _picture(folder / name) for name in drawn}
    path = folder / _REPORT if page is None else page
    write_text(path, _page(run, terms, measured, pictures | {"effects": effects}))
    return RunReport(run, path, [folder / name for name in drawn], terms, measured)


def _draw_calibration(
    folder: Path, config: BootstrapConfig, weights: WeightFile, version: int, path: Path
) -> bool:
    """Draw the calibration of a version to `path`; return False if its samples are missing."""
    pools = fitted_pools(folder, config, version)
    if pools is None:
        return False
    settings = config.fit_settings(version)
    samples, variances = held_out(pools, settings.validation, settings.seed)
    plot_calibration(
        samples,
        from_weights(weights).evaluate_many(samples.boards),
        path,
        title=f"{weights.name}: calibration",
        outputs=weights.head_names(),
        variances=variances,
        sources=[label_source(read_manifest(pool)) for pool in pools],
    )
    return True


def _picture(path: Path) -> Picture:
    heading, caption = _READING[path.name]
    return Picture(heading, path.read_bytes(), caption)


def _boards(run: RunFiles, seed: int, jobs: int | None) -> tuple[Board, bool]:
    """Return positions (n, 26), and whether they are samples of the last version.

    Otherwise the samples are missing or fewer than `MIN_BOARDS`, and the positions come from its own games.
    """
    if run.pools is not None:
        boards = dataset_positions(run.pools[-1], MAX_BOARDS, _CLASS, least=0)
        if len(boards) >= MIN_BOARDS:
            return boards, True
    player = static_player(from_weights(run.weights[run.last]))
    return self_play_positions(player, _POSITIONS, _CLASS, seed=seed, jobs=jobs), False


def _run_terms(
    run: RunFiles,
    known: HeadTerms | None,
    boards: Board,
    sampled: bool,
    key: HeadKey,
    top: int,
    tell: Callable[[str], None],
) -> tuple[RunTerms, Picture]:
    """Return the last version's `top` terms and parameters of a class and head, and their picture.

    `boards` and `sampled` are those of `_boards`.  Terms have standard errors if they are `known` from the
    table of terms or come from the samples of the fit, and none with hidden units or if the boards are not
    sampled; then they come from `boards`.
    """
    weights, source = run.weights[run.last], "the positions it was fitted to"
    if known is not None:
        terms = known
    elif run.pools is not None and sampled and not has_hidden_units(weights, *key):
        tell(f"{weights.name}: standard errors of the terms")
        terms, _ = fitted_terms(run.pools, weights, *key)
    else:
        terms, count = board_terms(boards, weights, *key)
        source = f"{count:,} {'positions of its samples' if sampled else 'self-play positions'}"
    seen = observed_positions(weights, boards, *key)
    told, effects = term_summaries(weights, terms, seen, top), effect_summaries(seen, top)
    units = unit_summaries(weights, *key, seen.boards)[:top]
    picture = effects_picture(seen, effects, weights.name)
    return RunTerms(key.head, len(terms.names) - 1, source, told, effects, units), picture


def _page(
    run: RunFiles, terms: RunTerms, benchmark: RunBenchmark | None, pictures: Mapping[str, Picture]
) -> str:
    """Return the page; `pictures` are strength, convergence, effects and possibly calibration."""
    last, weights = run.summaries[run.last], run.weights[run.last]
    headings = {
        "run": "How the run went",
        "strength": "Strength by version",
        **{name: pictures[name].heading for name in ("convergence", "calibration") if name in pictures},
        "terms": "The terms that matter",
        **({} if benchmark is None else {"worst": "The worst decisions"}),
        "next": "What to try next",
        "files": "Files of the run",
        "configuration": "Configuration",
    }
    return rendered(
        "run_page.html",
        f"{run.config.name}: bootstrap report",
        run=run,
        name=weights.name,
        made=_versions(len(run.summaries)),
        planned=len(run.config.versions),
        last=last,
        last_points=_points(last.ppg_vs_pubeval, last.ppg_se),
        headings=headings,
        versions=[f"v{version}" for version in range(len(run.summaries))],
        course=list(_course(run)),
        steps=_steps(run),
        noise_notes=list(_noise_notes(run.summaries)),
        checks=_checks(run.summaries),
        pictures=pictures,
        strengths=_strengths(run, benchmark),
        has_choices=any(summary.choice_error for summary in run.summaries),
        **effects_and_terms(terms.parameters, terms.told, terms.units, terms.head),
        term_notes=[_terms_opening(terms, weights), *reading_of_terms(terms.told, terms.head)],
        benchmark=benchmark,
        worst=[] if benchmark is None else list(map(shown_decision, benchmark.worst)),
        advice=advice(run.config, run.summaries),
        commands="\n\n".join(next_commands(run.config, run.last, run.folder)),
    )


def _course(run: RunFiles) -> Iterator[str]:
    """Yield sentences on the time spent and on missing versions."""
    spent = [sum(summary.seconds_by_step[step] for summary in run.summaries) for step in STEPS]
    sample, fit, measure = map(duration, spent)
    yield (
        f"The run took {duration(sum(spent))}: {sample} of sampling, {fit} of fitting and {measure} of "
        "games that measure strength. For an interrupted version, only the last attempt is counted."
    )
    if missing := len(run.config.versions) - len(run.summaries):
        ahead = f"{_versions(missing)} {'is' if missing == 1 else 'are'} still missing"
        yield f"{ahead}: to continue the run, repeat the command that started it."


def _versions(count: int) -> str:
    return "One version" if count == 1 else f"{count} versions"


def _terms_opening(terms: RunTerms, weights: WeightFile) -> str:
    return (
        f"How {weights.name} evaluates {_CLASS} positions: the {len(terms.told)} most important of the "
        f"{terms.count:,} terms of the {terms.head} head, measured on {terms.source}."
    )


def duration(seconds: float) -> str:
    """Return a time in a suitable unit, such as "34 minutes"."""
    for unit, size in (("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.{0 if seconds >= 10 * size else 1}f} {unit}"
    return counted(round(seconds), "second")


def _steps(run: RunFiles) -> Groups:
    """Return a table of how the versions were made, a column per version."""
    summaries, steps = run.summaries, run.config.versions[: len(run.summaries)]
    seconds = [summary.seconds_by_step for summary in summaries]
    parents = [run.config.start, *(f"v{summary.version}" for summary in summaries)]
    earlier = [step.pooled_versions(version)[:-1] for version, step in enumerate(steps)]
    samples = {
        "labelled by": [_labeller(step, parent) for step, parent in zip(steps, parents, strict=False)],
        "games": [f"{step.games:,}" for step in steps],
        "trials per position": [f"{step.trials:,}" if step.is_rolled_out else "" for step in steps],
        "trials end at": [_ending(step) if step.is_rolled_out else "" for step in steps],
    }
    if any(earlier):
        samples["earlier samples added"] = [", ".join(f"v{k}" for k in pool) or "none" for pool in earlier]
    samples["positions fitted"] = [f"{summary.positions:,}" for summary in summaries]
    groups: dict[str, Mapping[str, Sequence[str]]] = {
        "Dataset": samples,
        "Seconds": {
            **{name: [f"{of[step]:,.0f}" for of in seconds] for step, name in _STEP_NAMES.items()},
            "all steps": [f"{sum(of[step] for step in STEPS):,.0f}" for of in seconds],
        },
        "Fit: error of the win probability (RMSE)": {
            "training": [_rmse(summary.rmse_train) for summary in summaries],
            "validation": [_rmse(summary.rmse_validation) for summary in summaries],
            **_noise_rows(summaries, "win"),
            "most passes": [f"{summary.sweeps}" for summary in summaries],
            "stopped": [summary.stopped for summary in summaries],
        },
    }
    if rows := _noise_rows(summaries, RANKING_HEAD):
        validation = [_error_of(summary, RANKING_HEAD, "rmse_validation") for summary in summaries]
        title = "Fit: error of the equity that ranks plays (RMSE, points)"
        groups[title] = {"validation": validation, **rows}
    return groups


def _noise_rows(summaries: Sequence[VersionSummary], head: str) -> dict[str, list[str]]:
    """Return rows of a head's label noise and its error without noise; empty if unknown."""
    if not any(head in summary.validation_errors for summary in summaries):
        return {}
    return {
        "noise of the labels": [_error_of(summary, head, "label_noise") for summary in summaries],
        "without label noise": [_error_of(summary, head, "rmse_without_noise") for summary in summaries],
    }


def _error_of(summary: VersionSummary, head: str, name: str) -> str:
    errors = summary.validation_errors.get(head)
    error = None if errors is None else errors.to_dict()[name]
    return _UNKNOWN if error is None else f"{error:.4f}"


def _noise_notes(summaries: Sequence[VersionSummary]) -> Iterator[str]:
    """Yield notes on errors without label noise."""
    told = [errors for summary in summaries for errors in summary.validation_errors.values()]
    if told:
        yield _NOISE_NOTE
    if any(errors.noise is None for errors in told):
        yield f"{_UNKNOWN}: unknown. {NOT_KNOWN}"


def _checks(summaries: Sequence[VersionSummary]) -> Groups:
    """Return a table of the fits by SciPy; empty if there are none."""
    checks = [summary.cross_check for summary in summaries]
    if not any(checks):
        return {}

    def row(form: Callable[[CrossCheck], str]) -> list[str]:
        return [form(check) if check else _UNKNOWN for check in checks]

    return {
        "Fit": {
            "head": row(lambda check: check.place.replace(".", " ").replace("_", " ")),
            "weights": row(lambda check: f"{check.terms + 1:,}"),
            "positions": row(lambda check: f"{check.positions:,}"),
            "method of the run": row(lambda check: check.method),
        },
        "Error in training (RMSE)": {
            "the run's method": row(lambda check: f"{check.rmse_train:.6f}"),
            "SciPy's least squares": row(lambda check: f"{check.check_rmse_train:.6f}"),
        },
        "Seconds": {
            "the run's method": row(lambda check: f"{check.seconds:.2f}"),
            "SciPy's least squares": row(lambda check: f"{check.seconds_check:.2f}"),
        },
        "Largest relative difference": {
            "of the objective": row(lambda check: f"{check.error_difference:.1e}"),
            "of a weight, relative to the largest": row(lambda check: f"{check.weight_difference:.1e}"),
        },
    }


def _strengths(run: RunFiles, benchmark: RunBenchmark | None) -> Groups:
    """Return a table of the versions' strength by all measures."""
    summaries = run.summaries
    groups: dict[str, Mapping[str, Sequence[str]]] = {
        "Points per game": {
            "against PubEval": [_points(summary.ppg_vs_pubeval, summary.ppg_se) for summary in summaries],
            "against the previous version": [
                _points(summary.ppg_vs_previous, summary.ppg_vs_previous_se) for summary in summaries
            ],
        },
    }
    if names := dict.fromkeys(name for summary in summaries for name in summary.choice_error):
        groups["Choice error: millipoints per decision"] = {
            name: [_choice(summary, name) for summary in summaries] for name in names
        }
    if benchmark is not None:
        groups["Benchmark lines: millipoints per decision"] = {
            name: [with_error(rate.er, rate.se, 1) for rate in rates]
            for name, rates in benchmark.rows().items()
        }
    return groups


def _points(value: float, error: float) -> str:
    return with_error(value, error, 3, "+").replace("-", "\N{MINUS SIGN}")


def _choice(summary: VersionSummary, name: str) -> str:
    error = summary.choice_error.get(name)
    if error is None:
        return _UNKNOWN
    se = summary.choice_error_se.get(name)
    return with_error(MILLIPOINTS * error, math.nan if se is None else MILLIPOINTS * se, 1)


def _rmse(error: float | None) -> str:
    return "none held out" if error is None else f"{error:.4f}"


def _labeller(step: VersionStep, parent: str) -> str:
    return f"rollouts by {parent}" if step.is_rolled_out else f"{parent}{step.labels}"


def _ending(step: VersionStep) -> str:
    ends = {f"ply {step.cut}": step.cut, "a race": step.stop_at_race, "a bearoff": step.stop_at_bearoff}
    return " or ".join(end for end, is_set in ends.items() if is_set) or "the game's end"
