"""The error of a `Problem` at given weights, with its gradient and curvature, and the record of a fit.

A `Solver` records its passes with a `Recorder` and returns a `FitResult`.

A fit has converged when a pass gained no more than the tolerance and the gradient is small: see
`Objective.steepness` for its norm and `gradient_bound` for the limit. A pass that gains nothing because its
step failed is not convergence; `FAILURES` lists the ways to fail.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from motif.fitting.design import raw_predictions, term_sums
from motif.fitting.problem import FitRows, Problem, RankingOperator
from motif.runtime.arrays import FloatArray
from motif.runtime.errors import FitError
from motif.runtime.parallel import one_thread
from motif.runtime.progress import Stopwatch


class Ending(StrEnum):
    """Why a fit stopped."""

    CONVERGED = "converged"
    PASS_LIMIT = "pass limit"
    STOPPED_BY_CALLER = "stopped by the caller"
    LINE_SEARCH_FAILED = "line search failed"
    NOT_A_DESCENT_DIRECTION = "not a descent direction"
    NOT_FINITE = "not finite"
    SATURATED = "saturated"


FAILURES = {
    Ending.LINE_SEARCH_FAILED: (
        "no step, however short, lowered the error, although its gradient is not small"
    ),
    Ending.NOT_A_DESCENT_DIRECTION: "the computed step raises the error",
    Ending.NOT_FINITE: "the computed step is not finite",
    Ending.SATURATED: (
        "most of the error comes from positions where tanh is flat, so that no small step helps"
    ),
}
"""Ways in which a fit can fail, with their meanings."""
TOLERANCE = 1e-6
"""Default for the share of the error that a pass must gain."""
EXACT_ERROR = 1e-14
"""An error that counts as zero: an RMSE of 1e-7, the resolution of float32 features."""
_SLACK = 10.0
"""Maximum expected gain from a single weight in a converged fit, in tolerances."""
_MIN_PROMISE = 1e-9
"""Share of the error below which an expected gain is only rounding."""
_FLAT = 1e-4
"""Share of the link's steepest slope below which a position counts as saturated."""
_FLAT_SHARE = 0.5
"""Maximum share of the squared residuals for saturated positions."""
_MAX_SWING = 10.0
"""Maximum change of the raw prediction by a term; 10 moves a probability from 0.5 to within 2e-9 of 1."""
_CANDIDATES = 3
"""Number of weights that are checked for growth without bound."""


@dataclass(frozen=True, eq=False)
class Linearization:
    """Predictions on the training rows for one weight vector."""

    error: float
    residuals: FloatArray
    """(n,): root * (y - label), before the ranking operator."""
    slopes: FloatArray
    """(n,): root * dy/dx, so the Jacobian of `residuals` is diag(slopes) X."""

    @property
    def rmse(self) -> float:
        """Weighted root mean square of y - label, without ridge and ranking."""
        return float(np.sqrt(sum_of_squares(self.residuals)))


class Objective:
    """The error of a `Problem`; residuals include the root of each row's share of the sample weight."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        weights = problem.train.sample_weights
        self.roots = np.sqrt(weights / weights.sum())
        self.operator = RankingOperator(problem.ranking, self.roots, problem.train.starts)
        self.penalty = np.full(problem.terms.count, problem.ridge)
        self.penalty[0] = 0.0  # the bias is free

    def at(self, weights: FloatArray) -> Linearization:
        """Return error, residuals and slopes at `weights` (count,)."""
        return self.at_raw(weights, self._raw(weights))

    def at_raw(self, weights: FloatArray, raw: FloatArray) -> Linearization:
        """Return the same from the raw predictions (n,) of `weights`."""
        link = self.problem.link
        residuals = self.roots * (link.inverse_link(raw) - self.problem.train.labels)
        penalty = float(np.sum(self.penalty * weights**2))
        error = sum_of_squares(self.operator.apply(residuals)) + penalty
        return Linearization(error, residuals, self.roots * link.slope(raw))

    def steepness(self, weights: FloatArray, point: Linearization) -> float:
        """Return the norm of the gradient at `weights` that the test of convergence uses.

        The norm is the largest cosine, over the weights, of the angle between the residuals and the weight's
        column of the Jacobian, including the rows of the ridge. It is 0 at a minimum and at most about
        1, whatever the scales of features and labels. Its square is the share of the error that the best
        change of a single weight removes, to second order. Columns that are 0 are ignored, and the ranking
        term, which can only lengthen columns, is left out of their lengths. Source: Moré, "The
        Levenberg-Marquardt algorithm" (1978): MINPACK's `gtol`.
        """
        gradient = self.gradient(weights, point) / 2
        lengths = np.sqrt((self.term_sums(point.slopes**2, 2) + self.penalty) * point.error)
        cosines = np.divide(np.abs(gradient), lengths, out=np.zeros_like(gradient), where=lengths > 0)
        return float(cosines.max(initial=0.0))

    def is_saturated(self, point: Linearization) -> bool:
        """Return whether most of the squared residuals are from rows where the link is flat.

        The gradient vanishes there, however wrong the predictions are. If the predictions are roughly right,
        such rows contribute little to the error.
        """
        squares = point.residuals**2
        is_flat = point.slopes <= _FLAT * self.problem.link.half_range * self.roots
        return float(np.sum(squares[is_flat])) > _FLAT_SHARE * float(np.sum(squares))

    def diverging_weight(self, weights: FloatArray, point: Linearization) -> int | None:
        """Return the number of a weight that grows without bound, if there is one.

        Such a weight moves the raw prediction by more than `_MAX_SWING` at its term's largest value, and
        doubling it, or all weights, would not raise the error of the labels: the term separates labels on the
        bounds.
        """
        swings = np.abs(weights) * self._largest_values()
        largest = np.argsort(-swings, kind="stable")[:_CANDIDATES]
        candidates = [int(k) for k in largest if swings[k] > _MAX_SWING]
        error = self._error_of_labels(point)
        if candidates and self._error_of_labels(self.at(2 * weights)) <= error:
            return candidates[0]
        for k in candidates:
            longer = weights.copy()
            longer[k] *= 2
            if self._error_of_labels(self.at(longer)) <= error:
                return k
        return None

    def _error_of_labels(self, point: Linearization) -> float:
        """Return the error without the ridge."""
        return sum_of_squares(self.operator.apply(point.residuals))

    def _largest_values(self) -> FloatArray:
        """(count,): a bound on the absolute value of every term in the training rows."""
        terms, features = self.problem.terms, self.problem.train.features
        largest = np.append(1.0, np.maximum(features.max(axis=0), -features.min(axis=0)))
        first, second = terms.variables
        return np.asarray(largest[first] * largest[second])

    def term_sums(self, row_values: FloatArray, power: int = 1) -> FloatArray:
        """Return `motif.fitting.design.term_sums` over the training rows, (count,)."""
        train = self.problem.train
        return term_sums(self.problem.terms, train.features, row_values, power)

    def gradient(self, weights: FloatArray, point: Linearization) -> FloatArray:
        """Return the derivative of the error by every weight (count,); `point` is `at(weights)`."""
        return 2 * (self.term_sums(self.row_gradient(point)) + self.penalty * weights)

    def row_gradient(self, point: Linearization) -> FloatArray:
        """Return half the derivative of the error by every raw prediction (n,), without the ridge."""
        return point.slopes * self.operator.apply_twice(point.residuals)

    def curvature_product(self, point: Linearization, direction: FloatArray) -> FloatArray:
        """Return Gauss-Newton's approximate second derivative times `direction`, both (count,)."""
        rows = point.slopes * self.operator.apply_twice(point.slopes * self._raw(direction))
        return 2 * (self.term_sums(rows) + self.penalty * direction)

    def _raw(self, weights: FloatArray) -> FloatArray:
        train = self.problem.train
        return raw_predictions(self.problem.terms, train.features, weights)


def rmse(problem: Problem, rows: FitRows, weights: FloatArray) -> float | None:
    """Return the weighted root mean square of y - label over `rows`; None if their weights are 0."""
    total = rows.sample_weights.sum()
    if total == 0:
        return None
    raw = raw_predictions(problem.terms, rows.features, weights)
    squares = (problem.link.inverse_link(raw) - rows.labels) ** 2
    return float(np.sqrt(np.sum(rows.sample_weights * squares) / total))


@dataclass(frozen=True)
class PassRecord:
    """State after one pass; number 0 is the start."""

    number: int
    error: float
    """Error that the fit minimises: see `Problem`."""
    rmse_train: float
    rmse_validation: float | None
    """None if there are no validation rows."""
    seconds: float
    """Seconds since the fit began."""


OnPass = Callable[[PassRecord], object]
"""Function that is called after each pass; the fit stops if it returns True."""


@dataclass(frozen=True, eq=False)
class FitRecord:
    """The record of a fit, without its weights."""

    method: str
    terms: int
    """Number of weights without the bias."""
    history: tuple[PassRecord, ...]
    """One record per pass, including the start; errors never rise."""
    stopped: Ending
    rmse_train: float
    rmse_validation: float | None
    seconds: float
    kept_pass: int | None = field(default=None, kw_only=True)
    """The pass with the fitted weights, for fits that choose it by validation; None for the last."""

    @property
    def passes(self) -> int:
        """Number of passes."""
        return self.history[-1].number

    @property
    def errors(self) -> tuple[float, ...]:
        """Errors at the start and after each pass."""
        return tuple(record.error for record in self.history)


@dataclass(frozen=True, eq=False)
class FitResult(FitRecord):
    """Fitted weights, and the record of the fit."""

    weights: FloatArray
    """(count,) float64: bias, linear, quadratic; `Terms.split` takes them apart."""
    is_usable: bool = True
    """False if the fit failed and its weights are no better than a bias: see `Solver`."""
    diverging: int | None = None
    """The number of a weight that grows without bound: see `Objective.diverging_weight`."""


def sum_of_squares(values: FloatArray) -> float:
    """Return the sum of squares by NumPy, because BLAS's last bits depend on the number of threads."""
    return float(np.sum(values * values))


class Recorder:
    """The history of one fit, and the decision when it ends."""

    def __init__(
        self, method: str, objective: Objective, max_passes: int, tolerance: float, on_pass: OnPass | None
    ) -> None:
        self.max_passes, self.tolerance = max_passes, tolerance
        self.history: list[PassRecord] = []
        self._method, self._objective = method, objective
        self._on_pass = on_pass
        self._stopwatch = Stopwatch()
        self._weights = np.empty(0)

    def record(
        self, weights: FloatArray, point: Linearization, failure: Ending | None = None
    ) -> Ending | None:
        """Record the state after a pass (or the start); return the stop reason, or None.

        `point` is that of `weights`; `failure`, one of `FAILURES`, is why the pass left them unchanged.
        """
        if not math.isfinite(point.error):
            raise FitError(f"the error became {point.error} in pass {len(self.history)}")
        self._weights = weights
        problem = self._objective.problem
        validation = rmse(problem, problem.validation, weights)
        seconds = self._stopwatch.seconds
        self.history.append(PassRecord(len(self.history), point.error, point.rmse, validation, seconds))
        is_stopped = self._on_pass is not None and self._on_pass(self.history[-1]) is True
        if self._gains_little() and (end := self._end_of_gains(weights, point, failure)):
            return end
        if is_stopped:
            return Ending.STOPPED_BY_CALLER
        return Ending.PASS_LIMIT if len(self.history) > self.max_passes else None

    def _gains_little(self) -> bool:
        """Return whether the last pass, if any, gained too little or left no error."""
        if len(self.history) == 1:
            return False
        before, after = self.history[-2].error, self.history[-1].error
        return after <= EXACT_ERROR or before - after <= self.tolerance * before

    def _end_of_gains(
        self, weights: FloatArray, point: Linearization, failure: Ending | None
    ) -> Ending | None:
        """Return the stop reason after a pass with little gain; None to continue."""
        if point.error <= EXACT_ERROR:
            return Ending.CONVERGED
        if self._objective.is_saturated(point):
            return Ending.SATURATED
        if self._objective.steepness(weights, point) <= gradient_bound(self.tolerance):
            return Ending.CONVERGED
        return failure

    def result(self, stopped: Ending) -> FitResult:
        """Return the result at the last weights."""
        last, seconds = self.history[-1], self._stopwatch.seconds
        return FitResult(
            self._method, len(self._weights) - 1, tuple(self.history), stopped,
            last.rmse_train, last.rmse_validation, seconds, self._weights,
        )  # fmt: skip


def gradient_bound(tolerance: float) -> float:
    """Return the maximum `Objective.steepness` of a converged fit.

    At this limit, the expected gain from any single weight is at most ten times `tolerance` of the error.
    """
    return math.sqrt(max(_SLACK * tolerance, _MIN_PROMISE))


def starting_weights(problem: Problem, start: FloatArray | None) -> FloatArray:
    """Return `start` (count,); by default, the bias that predicts the mean label."""
    if start is not None:
        return start.copy()
    weights = np.zeros(problem.terms.count)
    mean = np.average(problem.train.labels, weights=problem.train.sample_weights)
    weights[0] = problem.link.link(mean)
    return weights


@dataclass(frozen=True)
class Solver:
    """A method for minimising the error of a `Problem`."""

    method: str
    most_passes: int
    """Default maximum number of passes."""
    loop: Callable[[Objective, FloatArray | None, Recorder], Ending]
    """Function that records all passes, from a given start or its own, and returns why it stopped."""

    @one_thread()
    def __call__(
        self,
        problem: Problem,
        *,
        max_passes: int | None = None,
        tolerance: float | None = None,
        on_pass: OnPass | None = None,
        start: FloatArray | None = None,
    ) -> FitResult:
        """Fit `problem`, from the weights `start` if given; bit-identical for any number of cores.

        The fit stops when a pass reduces the error by a smaller share than `tolerance` (`TOLERANCE` by
        default) and its gradient is small, after `max_passes`, or when `on_pass` returns True. A failed fit
        (`FAILURES`) keeps its last weights; it is usable if its error is below that of the bias that predicts
        the mean label. Raises `FitError`.
        """
        limit = self.most_passes if max_passes is None else max_passes
        share = TOLERANCE if tolerance is None else tolerance
        objective = Objective(problem)
        recorder = Recorder(self.method, objective, limit, share, on_pass)
        result = recorder.result(self.loop(objective, start, recorder))
        point = objective.at(result.weights)
        is_usable = (
            result.stopped not in FAILURES
            or point.error < objective.at(starting_weights(problem, None)).error
        )
        return replace(
            result, is_usable=is_usable, diverging=objective.diverging_weight(result.weights, point)
        )
