"""The fit of a weight file to datasets: of each position class and head, then of game plans.

`fit_dataset` gives the weight file with how its heads were fitted, and what the weights cost in play: how
much worse, by the labels, the plays are that they would choose.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from motif.benchmark.choices import recorded_decisions
from motif.benchmark.losses import Rows, rows_of_classes
from motif.board.packed import Board, pack_many
from motif.board.position import Position
from motif.evaluators.kernels import score_packed
from motif.evaluators.named import load_static
from motif.evaluators.pattern_words import pattern_names, typical_boards
from motif.evaluators.probabilities import bounds, turned_equities
from motif.evaluators.static import StaticEvaluator, prepared, simple, weights_model
from motif.evaluators.weight_file import HeadWeights, PreFilter, WeightFile, class_of_plan
from motif.fitting.curvature import decision_chunks
from motif.fitting.design import raw_predictions
from motif.fitting.objective import CONVERGED, FAILURES, TOLERANCE, FitResult
from motif.fitting.pattern_fit import FittedPatterns, PatternRows, PatternSettings, fit_patterns
from motif.fitting.problem import Link, decision_starts
from motif.fitting.significance import term_names, weight_vector, write_terms
from motif.fitting.solve import solver
from motif.fitting.terms import POINT_COLUMNS, POINT_SHAPE, FloatArray, step_columns
from motif.learning.cross_check import CrossCheck, check_fit, compared, head_to_check
from motif.learning.fit_settings import FitSettings
from motif.learning.heads import (
    HEAD,
    HeadFit,
    added,
    fit_head,
    fit_plans,
    head_terms,
    head_weights,
    heads_in,
    heads_to_fit,
    rows_of_head,
    term_errors,
)
from motif.learning.hidden import METHOD, fit_hidden_classes
from motif.learning.label_noise import NoiseFreeError, root_mean
from motif.learning.rows import LABELS, ClassRows, class_rows
from motif.parameters import ParameterSet, parameter_set
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES, NO_PLAN, PLANS, plans_many
from motif.rollout.tally import error_over_groups
from motif.runtime.errors import FailedFitError, FitError
from motif.runtime.frames import Tabular
from motif.runtime.package import VERSION
from motif.runtime.parallel import one_thread, run_ordered, working_on
from motif.runtime.progress import Stopwatch, progress
from motif.runtime.streams import derive_states
from motif.sampling import dataset_fingerprint

ALL = "all"
"""Stands for the decisions of every class."""
HISTORY_COLUMNS = (
    "class", "head", "pass", "error", "rmse_train", "rmse_validation", "seconds", "label_noise",
)  # fmt: skip
NO_TERM_TABLE = "term_table: terms that are fitted together with hidden units have no standard errors"
_ROWS_AT_ONCE = 1 << 16
_REHEARSED = 8
_FILTER_KEEPS = 8
_FILTER_RIDGE = 1e-4
_FILTER_ROWS_AT_ONCE = 1 << 14
_FACTS_OF_CORRECTION = ("ranking", "ridge", "equity_ridge", "backgammons", "plan_shrinkage", "plan_rows")
"""Facts of a fit that a correction tells beside those of the weights that it corrects."""
_Fits = dict[tuple[str, str], FitResult]
"""By class, and head or plan."""
_Place = TypeVar("_Place")
_Result = TypeVar("_Result")


class ChoiceError(NamedTuple):
    """What a decision costs, in points."""

    mean: float
    se: float
    """Standard error of `mean`, games taken as wholes; NaN where all decisions come from one game."""


@dataclass(frozen=True, repr=False)
class FittedWeights(Tabular):
    """A weight file and how its heads were fitted."""

    weights: WeightFile
    results: dict[tuple[str, str], FitResult]
    """By class and head: the fits of what the weight file holds."""
    plans: dict[tuple[str, str], FitResult]
    """The equity heads of game plans, by class and plan."""
    samples: int
    seconds: float
    rmse_train: float
    """Root mean square error of the win chance in training, over all classes."""
    rmse_validation: float | None
    choices: dict[str, ChoiceError]
    """By class, and for all of them: see `choice_errors`."""
    unpruned: dict[tuple[str, str], FitResult]
    """The fits with every term of the heads that were pruned, by class and head."""
    unpruned_choices: dict[str, ChoiceError]
    """What choices cost before the pruning; empty without."""
    warnings: tuple[str, ...] = ()
    """What one should know about the fits, a line each: those that failed, and weights without end."""
    noise: dict[tuple[str, str], float | None] = field(default_factory=dict)
    """By class and head: the noise of the labels that its errors hold, see `NoiseFreeError`."""
    overall: dict[str, NoiseFreeError] = field(default_factory=dict)
    """The win chance over all classes, and where there are such heads the equity by which plays are chosen,
    game plans and patterns included: their errors in validation with and without noise of the labels."""
    check: CrossCheck | None = None
    """A head that SciPy fitted too, if wanted."""

    @property
    def choice_error(self) -> dict[str, float]:
        """The means of `choices`."""
        return {name: error.mean for name, error in self.choices.items()}

    @property
    def unpruned_choice_error(self) -> dict[str, float]:
        """The means of `unpruned_choices`."""
        return {name: error.mean for name, error in self.unpruned_choices.items()}

    @property
    def _every_result(self) -> list[FitResult]:
        return [*self.results.values(), *self.plans.values()]

    @property
    def sweeps(self) -> int:
        """Most passes that a head took."""
        return max(result.passes for result in self._every_result)

    @property
    def stopped(self) -> str:
        """Why the fits stopped: "converged", else how the first one failed (`objective.FAILURES`), else what
        stopped the first one that did not converge."""
        reasons = [result.stopped for result in self._every_result if result.stopped != CONVERGED]
        return next((reason for reason in reasons if reason in FAILURES), (*reasons, CONVERGED)[0])

    def to_dict(self) -> dict[str, Any]:
        """Numbers for a report.

        Of a head that was pruned, `before_pruning` holds those of the fit with every term, the rest those
        of its last fit.  `terms` are how many weights there are but for the bias.
        """
        before = {place: _facts_of_fit(result) for place, result in self.unpruned.items()}
        heads = {
            ".".join(place): {
                **_facts_of_fit(result),
                **NoiseFreeError(result.rmse_validation, self.noise.get(place)).to_dict(),
                "before_pruning": before.get(place),
            }
            for place, result in self.results.items()
        }
        return {
            "rmse_train": self.rmse_train,
            "rmse_validation": self.rmse_validation,
            "validation_errors": {name: error.to_dict() for name, error in self.overall.items()},
            "sweeps": self.sweeps,
            "stopped": self.stopped,
            "seconds": self.seconds,
            "samples": self.samples,
            "choice_error": self.choice_error,
            "choice_error_se": {
                # JSON has no NaN.
                name: error.se if math.isfinite(error.se) else None
                for name, error in self.choices.items()
            },
            "choice_error_before_pruning": self.unpruned_choice_error,
            "warnings": list(self.warnings),
            "heads": heads,
            "plans": {plan: _facts_of_fit(of) for (_, plan), of in self.plans.items()},
            "cross_check": None if self.check is None else self.check.to_dict(),
        }

    def history_rows(self) -> list[dict[str, Any]]:
        """One row a pass of each fit, with the columns `HISTORY_COLUMNS`.

        The last one, the noise of the labels, is that of all passes.  Fits of game plans are left out: there
        can be dozens.
        """
        return [
            dict(zip(HISTORY_COLUMNS, (*place, *vars(record).values(), self.noise.get(place)), strict=True))
            for place, result in self.results.items()
            for record in result.history
        ]


def fit_dataset(
    folders: Sequence[Path],
    settings: FitSettings,
    *,
    name: str,
    version: int = 0,
    parent: str | None = None,
    term_table: Path | None = None,
    cross_check: bool = False,
    checkpoints: Path | None = None,
    jobs: int | None = None,
) -> FittedWeights:
    """Fit a weight file to the datasets in `folders`, pooled.

    `term_table` is a file for the table of terms with their standard errors (`motif.fitting.significance`).
    `checkpoints` is a folder in which the fit of hidden layers keeps its state after every pass: the same
    call goes on from there.  With `cross_check` SciPy fits one of the heads too, beside the others
    (`motif.learning.cross_check`).  The same data and settings give the same weights for any number of
    `jobs`.  Raises `DatasetError` for data that cannot be read, `FitError` for data that cannot be fitted,
    its subclass `FailedFitError` where a head has no usable fit, `FileError` when a file cannot be written.
    """
    settings.check()
    if settings.hidden and term_table is not None:
        raise FitError(NO_TERM_TABLE, "term_table", "hidden")
    stopwatch = Stopwatch()
    parameters = parameter_set(settings.parameters)
    start = _known(settings, parameters, "pattern_start")
    known = _known(settings, parameters, "correct")
    if known is not None:
        settings = replace(settings, bearoff=known.bearoff)
    with class_rows(folders, parameters, settings.validation, settings.seed) as rows:
        if settings.hidden:
            made = _with_hidden(rows, parameters, settings, name, checkpoints, jobs)
        else:
            made = _by_heads(rows, parameters, settings, name, (start, known), cross_check, jobs)
        weights = replace(made.weights, name=name, version=version, parent=parent)
        samples = sum(map(len, rows.values()))
        noise = {place: _noise(rows, [place[0]], place[1], settings) for place in made.results}
        overall = _overall_errors(rows, weights, made.rmse_validation, settings)
        choices = choice_errors(rows, weights)
        unpruned = {fit: head.unpruned for fit, head in made.heads.items() if head.unpruned}
        whole = replace(weights, classes=_heads_by_class({**made.heads, **unpruned}))
        unpruned_choices = choice_errors(rows, whole) if unpruned else {}
        if term_table is not None:
            places = {place: (rows, weights, settings, *place) for place in heads_in(weights)}
            tables = _each(term_errors, places, f"standard errors of {name}", jobs)
            write_terms(term_table, list(tables.values()))
    fitted = FittedWeights(
        weights,
        made.results,
        made.plans,
        samples,
        stopwatch.seconds,
        made.rmse_train,
        made.rmse_validation,
        choices,
        {fit: head.result for fit, head in unpruned.items()},
        unpruned_choices,
        tuple(_warnings(made.heads, made.plans, parameters)),
        noise,
        overall,
        made.check,
    )
    return replace(fitted, weights=replace(weights, fit=_facts(fitted, folders, settings, start, known)))


class _Made(NamedTuple):
    """Weights without a name, and how they came about."""

    weights: WeightFile
    results: _Fits
    rmse_train: float
    rmse_validation: float | None
    heads: Mapping[tuple[str, str], HeadFit]
    plans: _Fits
    check: CrossCheck | None


def _with_hidden(
    rows: Mapping[str, ClassRows],
    parameters: ParameterSet,
    settings: FitSettings,
    name: str,
    checkpoints: Path | None,
    jobs: int | None,
) -> _Made:
    """Weights with a hidden layer in each class."""
    trained = {of: (part,) for of, part in rows.items() if part.training}
    steps = _each(_filter_steps, trained, f"fitting the filter of {name}", jobs)
    learned = fit_hidden_classes(rows, parameters, settings, name=name, jobs=jobs, checkpoints=checkpoints)
    weights = WeightFile(
        "",
        0,
        None,
        parameters,
        learned.classes,
        PreFilter(_FILTER_KEEPS, steps),
        bearoff=settings.bearoff,
        patterns=learned.patterns,
    )
    return _Made(weights, learned.results, *_shown_win_errors(rows, weights), {}, {}, None)


def _by_heads(
    rows: Mapping[str, ClassRows],
    parameters: ParameterSet,
    settings: FitSettings,
    name: str,
    others: tuple[WeightFile | None, WeightFile | None],
    cross_check: bool,
    jobs: int | None,
) -> _Made:
    """Weights whose heads are fitted one by one; the `others` are those that patterns go on from, and those
    that are corrected."""
    start, known = others
    offsets = {} if known is None else _known_sums(rows, known, settings)
    heads, filter_steps, check = _head_fits(rows, name, settings, offsets, cross_check, jobs)
    results = {fit: head.result for fit, head in heads.items()}
    _check_usable(results)
    plans = _plan_fits(rows, results, name, settings, offsets)
    of_plans = {
        plan: head_weights(head_terms(class_name, HEAD, len(parameters), settings), result.weights)
        for (class_name, plan), result in plans.items()
    }
    if known is None:
        weights = WeightFile(
            "",
            0,
            None,
            parameters,
            _heads_by_class(heads),
            PreFilter(_FILTER_KEEPS, filter_steps),
            plans={plan: {HEAD: head} for plan, head in of_plans.items()},
            bearoff=settings.bearoff,
        )
        rmse_train, rmse_validation = _win_errors(rows, results, settings)
    else:
        weights = _corrected(known, _heads_by_class(heads), of_plans)
        rmse_train, rmse_validation = _shown_win_errors(rows, weights)
    if settings.patterns:
        weights = _with_patterns(rows, weights, results, settings, start, name, jobs)
    return _Made(weights, results, rmse_train, rmse_validation, heads, plans, check)


def _with_patterns(
    rows: Mapping[str, ClassRows],
    weights: WeightFile,
    results: _Fits,
    settings: FitSettings,
    start: WeightFile | None,
    name: str,
    jobs: int | None,
) -> WeightFile:
    """`weights` with patterns that add to their equity heads."""
    ranked = [class_name for class_name, head in results if head == HEAD]
    of_class = {of: (rows[of], weights, settings, start) for of in ranked}
    fitted = _each(class_patterns, of_class, f"patterns of {name}", jobs)
    return replace(
        weights.rounded(),
        patterns={of: learned.patterns for of, learned in fitted.items()},
        plan_amounts={
            PLANS[plan]: amounts
            for learned in fitted.values()
            for plan, amounts in learned.plan_amounts.items()
        },
    )


def _check_usable(results: _Fits) -> None:
    """Raise `FailedFitError` where a fit failed before it was better than no fit."""
    for (class_name, head), result in results.items():
        if not result.is_usable:
            raise FailedFitError(
                f"no usable fit of {class_name} {head}: {result.stopped}: {FAILURES[result.stopped]}"
            )


def _warnings(
    heads: Mapping[tuple[str, str], HeadFit], plans: _Fits, parameters: ParameterSet
) -> Iterator[str]:
    """What one should know about the fits, a line each."""
    for (class_name, head), result in {**{of: fit.result for of, fit in heads.items()}, **plans}.items():
        if result.stopped in FAILURES:
            how = f"{result.stopped}: {FAILURES[result.stopped]}; the weights are those of the pass before"
            yield f"{class_name} {head}: {how}"
    for (class_name, head), fit in heads.items():
        if (number := fit.result.diverging) is not None:
            name, weight = term_names(fit.terms, parameters)[number], fit.result.weights[number]
            yield (
                f"{class_name} {head}: the weight of {name} grows without end (it stopped at {weight:.4g}): "
                "its term separates labels that lie on the bounds; a larger ridge holds it"
            )


def rehearse() -> None:
    """Compile what a fit to rolled out samples needs, for a process beside one that makes these first."""
    derive_states(0, 0, 1, 1)
    boards = np.repeat(Position.start().board[None], _REHEARSED, axis=0)
    features(parameter_set(FitSettings().parameters), boards)
    plans = plans_many(pack_many(boards))
    # What the rows hold does not matter.
    columns = np.linspace(0, 1, _REHEARSED * len(LABELS)).astype(np.float32).reshape(_REHEARSED, -1)
    numbers = np.arange(_REHEARSED) // 2
    games = numbers.astype(np.int32)
    rows = ClassRows("contact", columns, columns, numbers, boards, games, plans, _REHEARSED - 2)
    fit_head(rows, HEAD, FitSettings())
    _filter_steps(rows)
    model, space = prepared(simple().model)
    score_packed(model, pack_many(boards), space, np.empty(len(boards)))


def _known_sums(
    rows: Mapping[str, ClassRows], known: WeightFile, settings: FitSettings
) -> dict[tuple[str, str], FloatArray]:
    """The raw sums by `known` of the rows of each class that it ranks by equity, for each head that can be
    fitted to them."""
    sums = {}
    for name, part in rows.items():
        heads = known.classes.get(name, {})
        for head in heads if HEAD in heads else ():
            if not rows_of_head(part.boards[: part.training], head, settings).any():
                continue
            if head == HEAD:
                sums[name, head] = _raw_sums(part.boards, known)
            else:
                terms, vector = weight_vector(heads[head])
                sums[name, head] = raw_predictions(terms, part.features, vector, boards=part.boards)
    if not sums:
        raise FitError(
            f"correct: the dataset holds no positions that {known.name} ranks by equity", "correct"
        )
    return sums


def _corrected(
    known: WeightFile, heads: Mapping[str, Mapping[str, HeadWeights]], of_plans: Mapping[str, HeadWeights]
) -> WeightFile:
    """`known` with what was fitted added to its heads; a plan without a fit of its own gets its class's.

    A calibration of chances that are others now goes.
    """
    classes = {of: dict(parts) for of, parts in known.classes.items()}
    for of, parts in heads.items():
        classes[of].update({name: added(known.classes[of][name], part) for name, part in parts.items()})
    plans = {plan: dict(parts) for plan, parts in known.plans.items()}
    for plan in sorted({*known.plans, *of_plans}, key=PLANS.index):
        of = class_of_plan(plan)
        if of in heads:
            own = known.plans.get(plan, known.classes[of])[HEAD]
            plans[plan] = {HEAD: added(own, of_plans.get(plan, heads[of][HEAD]))}
    calibration = {of: knots for of, knots in known.calibration.items() if of not in heads}
    return replace(known, classes=classes, plans=plans, calibration=calibration)


def _shown_win_errors(rows: Mapping[str, ClassRows], weights: WeightFile) -> tuple[float, float | None]:
    """RMSE of the win chance that `weights` show over all classes, in training and validation."""
    shown, win = StaticEvaluator(weights.name, weights_model(weights)), LABELS.index("win")
    squares = [(shown.evaluate_many(part.boards)[:, 0] - part.labels[:, win]) ** 2 for part in rows.values()]
    train = np.concatenate([of[: part.training] for of, part in zip(squares, rows.values(), strict=True)])
    rest = np.concatenate([of[part.training :] for of, part in zip(squares, rows.values(), strict=True)])
    return float(np.sqrt(train.mean())), float(np.sqrt(rest.mean())) if len(rest) else None


def choice_errors(rows: Mapping[str, ClassRows], weights: WeightFile) -> dict[str, ChoiceError]:
    """By class, and for `ALL`: the mean loss in points of the choices of `weights` in validation decisions.

    In each decision that has two recorded plays or more, the loss is the label of the best play less that
    of the play that `weights` as a whole, every class and plan in force, value highest, both for the
    mover.  A decision belongs to the class that its best play leads to; without decisions there is no
    entry.  Labels have noise, and the best of several is best partly by luck: so even perfect choices
    have an error, and only differences between fits on the same data mean something.
    """
    columns = zip(*_validation(rows, weights), strict=True)
    decision, equity, code, game, score = (np.concatenate(column) for column in columns)
    recorded = recorded_decisions("validation", decision, equity, code)
    if not len(recorded):
        return {}
    losses = recorded.losses(score[recorded.rows])
    game = game[recorded.rows[recorded.starts]]
    rows_of: dict[str, Rows] = {ALL: slice(None), **rows_of_classes(losses.classes)}
    return {
        name: ChoiceError(
            float(losses.losses[rows].mean()), error_over_groups(losses.losses[rows], game[rows])
        )
        for name, rows in rows_of.items()
    }


def _each(
    function: Callable[..., _Result], calls: Mapping[_Place, tuple[Any, ...]], label: str, jobs: int | None
) -> dict[_Place, _Result]:
    """The results of `function` by the keys of `calls`."""
    results: dict[_Place, _Result] = {}
    # The rows are files of this machine: fits stay here, also where a cluster does the rest.
    with (
        working_on(None),
        progress(label, len(calls)) as advance,
        closing(run_ordered(function, calls.values(), jobs)) as outcomes,
    ):
        for key, result in zip(calls, outcomes, strict=True):
            results[key] = result
            advance(1)
    return results


def _head_fits(
    rows: Mapping[str, ClassRows],
    name: str,
    settings: FitSettings,
    offsets: Mapping[tuple[str, str], FloatArray],
    cross_check: bool,
    jobs: int | None,
) -> tuple[dict[tuple[str, str], HeadFit], dict[str, npt.NDArray[np.float32]], CrossCheck | None]:
    """The fits of the heads by class and head, the pre-filter's steps by class, and the check of one head.

    With `offsets` known weights are corrected: the heads are those that have some, and the filter stays.
    """
    wanted = list(offsets or heads_to_fit(rows, settings))
    calls: dict[Any, tuple[Any, ...]] = {
        fit: (fit_head, rows[fit[0]], fit[1], settings, offsets.get(fit)) for fit in wanted
    }
    if not offsets:
        calls |= {of: (_filter_steps, part) for of, part in rows.items() if part.training}
    checked = head_to_check(rows, wanted, settings) if cross_check else None
    if checked is not None:
        calls[ALL] = (check_fit, rows[checked[0]], checked[1], settings, offsets.get(checked))
    results = _each(_called, calls, f"fitting {name}", jobs)
    other = results.pop(ALL, None)
    heads: dict[tuple[str, str], HeadFit] = {fit: results.pop(fit) for fit in wanted}
    check = None if checked is None else compared(checked, heads[checked], other)
    return heads, results, check


def _called(function: Callable[..., _Result], *arguments: Any) -> _Result:
    return function(*arguments)


def _plan_fits(
    rows: Mapping[str, ClassRows],
    results: _Fits,
    name: str,
    settings: FitSettings,
    offsets: Mapping[tuple[str, str], FloatArray],
) -> _Fits:
    """The results of the plans' heads, by class and plan: of every class that has an equity head."""
    parents = [class_name for class_name, head in results if head == HEAD] if settings.plans else []
    plans: _Fits = {}
    with progress(f"fitting the game plans of {name}", len(parents)) as advance:
        for class_name in parents:
            of_class = results[class_name, HEAD].weights
            fits = fit_plans(
                rows[class_name], class_name, of_class, settings, offsets.get((class_name, HEAD))
            )
            plans.update({(class_name, plan): result for plan, result in fits.items()})
            advance(1)
    return plans


def class_patterns(
    rows: ClassRows, weights: WeightFile, settings: FitSettings, start: WeightFile | None = None
) -> FittedPatterns:
    """The patterns that bring the equity heads of a class nearest to the labels that it trains on, and what
    they add in its game plans, if these have amounts of their own."""
    use = np.flatnonzero(rows_of_head(rows.boards[: rows.training], HEAD, settings))
    labels = rows.labels[use, LABELS.index(HEAD)]
    raw = _raw_sums(rows.boards[use], weights).astype(np.float32)
    plans = None
    if settings.pattern_plans:
        with_head = [PLANS.index(plan) for plan in weights.plans]
        plans = np.where(np.isin(rows.plans[use], with_head), rows.plans[use], NO_PLAN).astype(np.int64)
    pattern_rows = PatternRows(rows.features, rows.boards, use, raw, labels, rows.decisions[use], plans)
    how = PatternSettings(
        settings.patterns,
        settings.pattern_passes,
        settings.pattern_ranking,
        settings.pattern_shrinkage / math.sqrt(len(use)),
        settings.pattern_rate,
        settings.seed,
        None if start is None else _patterns_in(start, rows.class_name),
    )
    fitted = fit_patterns(pattern_rows, how)
    names = pattern_names(fitted.patterns, weights.parameters, typical_boards(rows.class_name))
    return fitted._replace(patterns=replace(fitted.patterns, names=names))


def _known(settings: FitSettings, parameters: ParameterSet, key: str) -> WeightFile | None:
    """The weights that the setting `key` names, if any.

    Raises `PlayerError` or `WeightFileError` where there is no such file, `FitError` where it is of other
    `parameters`.
    """
    if (name := getattr(settings, key)) is None:
        return None
    known = load_static(name).weights
    if known is None or known.parameters.fingerprint != parameters.fingerprint:
        raise FitError(f"{key}: {name} does not have the parameters {parameters.name}", key)
    return known


def _patterns_in(weights: WeightFile, class_name: str) -> FittedPatterns | None:
    """The patterns of a class, if it has any, as a fit leaves them."""
    if (patterns := weights.patterns.get(class_name)) is None:
        return None
    amounts = {
        PLANS.index(plan): of
        for plan, of in weights.plan_amounts.items()
        if class_of_plan(plan) == class_name
    }
    return FittedPatterns(patterns, amounts)


def _heads_by_class(heads: Mapping[tuple[str, str], HeadFit]) -> dict[str, dict[str, HeadWeights]]:
    classes: dict[str, dict[str, HeadWeights]] = {}
    for (class_name, head), fit in heads.items():
        classes.setdefault(class_name, {})[head] = head_weights(fit.terms, fit.result.weights)
    return classes


def _facts(
    result: FittedWeights,
    folders: Sequence[Path],
    settings: FitSettings,
    start: WeightFile | None,
    known: WeightFile | None,
) -> dict[str, Any]:
    """What the weight file tells of its fit, and a corrected one of what `known` told."""
    fingerprints = [dataset_fingerprint(Path(folder)) for folder in folders]
    validation = result.rmse_validation
    of_plans = {"plan_shrinkage": settings.plan_shrinkage, "plan_rows": settings.plan_rows}
    of_patterns = {
        "patterns": settings.patterns,
        "pattern_ranking": settings.pattern_ranking,
        "pattern_passes": settings.pattern_passes,
        "pattern_shrinkage": settings.pattern_shrinkage,
        **({"pattern_plans": True} if settings.pattern_plans else {}),
        **({"pattern_start": start.name} if start else {}),
        **(
            {}
            if settings.pattern_rate == FitSettings.pattern_rate
            else {"pattern_rate": settings.pattern_rate}
        ),
    }
    if settings.hidden:
        return _facts_of_hidden(result, fingerprints, settings)
    facts = {
        "method": settings.method,
        "passes": solver(settings.method).most_passes if settings.passes is None else settings.passes,
        "tolerance": TOLERANCE if settings.tolerance is None else settings.tolerance,
        "samples": result.samples,
        "dataset": fingerprints if len(folders) > 1 else fingerprints[0],
        "sweeps": result.sweeps,
        "stopped": result.stopped,
        "rmse_train": round(result.rmse_train, 6),
        "rmse_validation": None if validation is None else round(validation, 6),
        "choice_error": {name: round(error, 6) for name, error in result.choice_error.items()},
        "ranking": settings.equity_ranking if settings.heads == "all" else 0.0,
        "ridge": settings.ridge,
        "equity_ridge": settings.equity_ridge,
        **({} if settings.backgammons == "linear" else {"backgammons": settings.backgammons}),
        **({} if settings.prune is None else {"prune": settings.prune}),
        **(of_plans if settings.plans else {}),
        **(of_patterns if settings.patterns else {}),
        "validation": settings.validation,
        "seed": settings.seed,
        "motif": VERSION,
    }
    if known is None:
        return facts
    correction = {
        "terms": settings.terms,
        **{name: facts[name] for name in _FACTS_OF_CORRECTION if name in facts},
    }
    measured = {name: fact for name, fact in facts.items() if name not in (*_FACTS_OF_CORRECTION, "method")}
    return {**known.fit, **measured, "corrected": known.name, "correction": correction}


def _facts_of_hidden(
    result: FittedWeights, fingerprints: Sequence[str], settings: FitSettings
) -> dict[str, Any]:
    """What a weight file with hidden layers tells of its fit."""
    validation = result.rmse_validation
    return {
        "method": METHOD,
        "hidden": settings.hidden,
        "passes": settings.hidden_passes,
        "rate": settings.hidden_rate,
        "ranking": settings.hidden_ranking,
        "samples": result.samples,
        "dataset": fingerprints if len(fingerprints) > 1 else fingerprints[0],
        "rmse_train": round(result.rmse_train, 6),
        "rmse_validation": None if validation is None else round(validation, 6),
        "choice_error": {name: round(error, 6) for name, error in result.choice_error.items()},
        "validation": settings.validation,
        "seed": settings.seed,
        "motif": VERSION,
    }


def _facts_of_fit(result: FitResult) -> dict[str, Any]:
    return {
        "terms": len(result.weights) - 1,
        "rmse_train": result.rmse_train,
        "rmse_validation": result.rmse_validation,
        "sweeps": result.passes,
        "stopped": result.stopped,
        "seconds": result.seconds,
    }


@one_thread()  # or the last bits would depend on the number of cores
def _filter_steps(rows: ClassRows) -> npt.NDArray[np.float32]:
    """The steps (2, places, steps) of a `PreFilter` for one class, from the rows that train.

    Its points rank the plays of a decision nearly as the labels do: ridge least squares on columns and
    labels centred within each decision, so only differences between the plays of a decision count.
    """
    train = slice(rows.training)
    boards, decision = rows.boards[train], rows.decisions[train]
    equity = rows.labels[train, LABELS.index("equity")]
    gram = np.zeros((POINT_COLUMNS, POINT_COLUMNS))
    moment = np.zeros(POINT_COLUMNS)
    gain = turned_equities(equity.astype(np.float64))
    starts = decision_starts(decision, len(decision))
    for first, last in decision_chunks(starts, _FILTER_ROWS_AT_ONCE):
        part = slice(int(starts[first]), int(starts[last]))
        # The scored side is the mover, who is the opponent of the player on roll.
        columns = step_columns(-boards[part, ::-1])
        here = starts[first : last + 1] - starts[first]
        columns, target = _centred(columns, here), _centred(gain[part, None], here)[:, 0]
        gram += columns.T @ columns
        moment += columns.T @ target
    gram[np.diag_indices(POINT_COLUMNS)] += _FILTER_RIDGE * len(boards)
    return np.linalg.solve(gram, moment).reshape(POINT_SHAPE).astype(np.float32)


def _centred(values: npt.NDArray[np.float64], starts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    sizes = np.diff(starts)
    means = np.add.reduceat(values, starts[:-1]) / sizes[:, None]
    return np.asarray(values - np.repeat(means, sizes, axis=0))


def _win_errors(
    rows: Mapping[str, ClassRows], results: _Fits, settings: FitSettings
) -> tuple[float, float | None]:
    """RMSE of the win chance over all classes, in training and validation."""
    squares, counts = np.zeros(2), np.zeros(2)
    for class_name, part in rows.items():
        if (result := results.get((class_name, "win"))) is None:
            continue
        errors = (result.rmse_train, result.rmse_validation)
        sides = np.split(rows_of_head(part.boards, "win", settings), [part.training])
        for k, (rmse, count) in enumerate(zip(errors, map(np.count_nonzero, sides), strict=True)):
            if rmse is not None:
                squares[k] += rmse**2 * count
                counts[k] += count
    train = float(np.sqrt(squares[0] / counts[0]))
    return train, float(np.sqrt(squares[1] / counts[1])) if counts[1] else None


def _noise(
    rows: Mapping[str, ClassRows], classes: Iterable[str], head: str, settings: FitSettings
) -> float | None:
    """Noise of the labels of a head in `classes`: over validation, or training where none is held out."""
    known = [rows[class_name] for class_name in classes]
    held = any(len(part) > part.training for part in known)
    variances = []
    for part in known:
        if part.variances is None:
            return None
        side = slice(part.training, None) if held else slice(part.training)
        use = rows_of_head(part.boards[side], head, settings)
        variances.append(part.variances[side][use, LABELS.index(head)])
    return root_mean(variances)


def _overall_errors(
    rows: Mapping[str, ClassRows], weights: WeightFile, win: float | None, settings: FitSettings
) -> dict[str, NoiseFreeError]:
    """See `FittedWeights.overall`; `win` is the error of the win chance."""
    errors = {"win": NoiseFreeError(win, _noise(rows, rows, "win", settings))}
    ranked = [name for name in rows if HEAD in weights.classes.get(name, {}) or settings.hidden]
    if ranked:
        link, squares = Link(*bounds(HEAD)), []
        for part in map(rows.__getitem__, ranked):
            boards = part.boards[part.training :]
            use = rows_of_head(boards, HEAD, settings)
            labels = part.labels[part.training :][use, LABELS.index(HEAD)]
            squares.append((link.predict(_raw_sums(boards[use], weights)) - labels) ** 2)
        errors[HEAD] = NoiseFreeError(root_mean(squares), _noise(rows, ranked, HEAD, settings))
    return errors


def _validation(rows: Mapping[str, ClassRows], weights: WeightFile) -> Iterator[tuple[npt.NDArray[Any], ...]]:
    """Decision, label, class, game, and score for the mover, of the validation rows of each class."""
    for class_name, part in rows.items():
        validation = slice(part.training, None)
        equity = part.labels[validation, LABELS.index("equity")]
        code = np.full(len(equity), CLASS_NAMES.index(class_name), np.int8)
        yield part.decisions[validation], equity, code, part.games[validation], _scores(part, weights)


def _scores(rows: ClassRows, weights: WeightFile) -> FloatArray:
    """How `weights` rank the validation rows, for the mover."""
    return turned_equities(_raw_sums(rows.boards[rows.training :], weights))


def _raw_sums(boards: Board, weights: WeightFile) -> FloatArray:
    """By what `weights` rank `boards` (n, 26), for the player on roll."""
    model, space = prepared(weights_model(weights))
    scores = np.empty(len(boards))
    for begin in range(0, len(scores), _ROWS_AT_ONCE):
        part = scores[begin : begin + _ROWS_AT_ONCE]
        score_packed(model, pack_many(boards[begin : begin + len(part)]), space, part)
    return scores
