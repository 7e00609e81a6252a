"""The error of a `Problem` at given weights, with its gradient and curvature, and the record of a fit.

A `Solver` notes its passes with a `Recorder` and returns a `FitResult`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from motif.fitting.design import raw_predictions, term_sums
from motif.fitting.problem import Problem, RankingOperator, Rows
from motif.fitting.terms import FloatArray
from motif.runtime.errors import FitError
from motif.runtime.parallel import one_thread
from motif.runtime.progress import Stopwatch

CONVERGED = "converged"
PASS_LIMIT = "pass limit"
VALIDATION_RISES = "validation error rises"
STOPPED_BY_CALLER = "stopped by the caller"
EXACT_ERROR = 1e-14
"""An error that counts as none: an RMSE of 1e-7, which is what float32 features resolve."""


@dataclass(frozen=True, eq=False)
class Point:
    """The training rows seen from one weight vector."""

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
    """The error that `Problem` defines.  Residuals carry the root of each row's share of the weight."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        weights = problem.train.sample_weights
        self.roots = np.sqrt(weights / weights.sum())
        self.operator = RankingOperator(problem.ranking, self.roots, problem.train.starts)
        self.target = problem.target
        self.penalty = np.full(problem.terms.count, problem.ridge)
        self.penalty[0] = 0.0  # the bias is free

    def at(self, weights: FloatArray) -> Point:
        """Error, residuals and slopes at `weights` (count,)."""
        return self.at_raw(weights, self._raw(weights))

    def at_raw(self, weights: FloatArray, raw: FloatArray) -> Point:
        """The same where the raw predictions (n,) of `weights` alone are known."""
        penalty = float(np.sum(self.penalty * (weights - self.target) ** 2))
        return self._point(raw, penalty)

    def _point(self, raw: FloatArray, penalty: float) -> Point:
        link = self.problem.link
        raw = self.problem.train.shifted(raw)
        residuals = self.roots * (link.predict(raw) - self.problem.train.labels)
        error = sum_of_squares(self.operator.apply(residuals)) + penalty
        return Point(error, residuals, self.roots * link.slope(raw))

    def term_sums(self, row_values: FloatArray, power: int = 1) -> FloatArray:
        """`motif.fitting.design.term_sums` over the training rows; (count,)."""
        train = self.problem.train
        return term_sums(self.problem.terms, train.features, row_values, power, train.boards)

    def gradient(self, weights: FloatArray, point: Point) -> FloatArray:
        """Derivative of the error by every weight (count,); `point` is `at(weights)`."""
        rows = point.slopes * self.operator.apply_twice(point.residuals)
        return 2 * (self.term_sums(rows) + self._pulled(weights - self.target))

    def curvature_product(self, point: Point, direction: FloatArray) -> FloatArray:
        """Gauss-Newton's approximation of the second derivative times `direction`, both (count,)."""
        rows = point.slopes * self.operator.apply_twice(point.slopes * self._raw(direction))
        return 2 * (self.term_sums(rows) + self._pulled(direction))

    def _pulled(self, away: FloatArray) -> FloatArray:
        """Half the derivative of the ridge at a distance `away` from its target."""
        return self.penalty * away

    def _raw(self, weights: FloatArray) -> FloatArray:
        train = self.problem.train
        return raw_predictions(self.problem.terms, train.features, weights, boards=train.boards)


def rmse(problem: Problem, rows: Rows, weights: FloatArray) -> float | None:
    """Weighted root mean square of y - label over `rows`; None when they hold no weight."""
    total = rows.sample_weights.sum()
    if total == 0:
        return None
    raw = rows.shifted(raw_predictions(problem.terms, rows.features, weights, boards=rows.boards))
    squares = (problem.link.predict(raw) - rows.labels) ** 2
    return float(np.sqrt(np.sum(rows.sample_weights * squares) / total))


@dataclass(frozen=True)
class PassRecord:
    """State after one pass; number 0 is the start."""

    number: int
    error: float
    """What is minimised: see `Problem`."""
    rmse_train: float
    rmse_validation: float | None
    """None when there are no validation rows."""
    seconds: float
    """Since the fit began."""


OnPass = Callable[[PassRecord], object]
"""Called after each pass; a fit whose caller returns True stops there."""


@dataclass(frozen=True, eq=False)
class FitResult:
    """Fitted weights, and how they came about."""

    method: str
    weights: FloatArray
    """(count,) float64: bias, linear, quadratic; `Terms.split` takes them apart.
    Of a joint fit (groups, count)."""
    history: tuple[PassRecord, ...]
    """One record a pass, from the start on; errors never rise."""
    stopped: str
    """Why: "converged", "pass limit", "validation error rises" or "stopped by the caller"."""
    rmse_train: float
    rmse_validation: float | None
    seconds: float

    @property
    def passes(self) -> int:
        """Number of passes done."""
        return self.history[-1].number

    @property
    def errors(self) -> tuple[float, ...]:
        """What is minimised, at the start and after each pass."""
        return tuple(record.error for record in self.history)


def sum_of_squares(values: FloatArray) -> float:
    """Summed by NumPy: BLAS would give other last bits with other numbers of threads."""
    return float(np.sum(values * values))


class Recorder:
    """Keeps the history of one fit and says what ends it.

    Without a `problem` there are no validation rows.  Raises `FitError` for limits that make no sense.
    """

    def __init__(
        self, method: str, problem: Problem | None, max_passes: int, tolerance: float,
        on_pass: OnPass | None = None, patience: int | None = None,
    ) -> None:  # fmt: skip
        if max_passes < 1:
            raise FitError(f"the pass limit must be at least 1, not {max_passes}")
        if not (math.isfinite(tolerance) and tolerance >= 0):
            raise FitError(f"the tolerance must be finite and at least 0, not {tolerance}")
        if patience is not None and patience < 1:
            raise FitError(f"the patience must be at least 1 pass, not {patience}")
        if patience is not None and not (problem and problem.validation.sample_weights.any()):
            raise FitError("stopping by the validation error needs validation samples")
        self.max_passes, self.tolerance = max_passes, tolerance
        self.history: list[PassRecord] = []
        self._method, self._problem = method, problem
        self._on_pass, self._patience = on_pass, patience
        self._stopwatch = Stopwatch()
        self._weights = self._best_weights = np.empty(0)
        self._best = 0

    def record(self, weights: FloatArray, error: float, rmse_train: float) -> str | None:
        """Note the state after a pass (or the start); the reason to stop, or None."""
        if not math.isfinite(error):
            raise FitError(f"the error became {error} in pass {len(self.history)}")
        problem, self._weights = self._problem, weights
        validation = None if problem is None else rmse(problem, problem.validation, weights)
        seconds = self._stopwatch.seconds
        self.history.append(PassRecord(len(self.history), error, rmse_train, validation, seconds))
        is_stopped = self._on_pass is not None and self._on_pass(self.history[-1]) is True
        rises = self._patience is not None and self._validation_rises(weights, self._patience)
        if self._has_converged():
            return CONVERGED
        if rises:
            return VALIDATION_RISES
        if is_stopped:
            return STOPPED_BY_CALLER
        return PASS_LIMIT if len(self.history) > self.max_passes else None

    def _has_converged(self) -> bool:
        """Whether the last pass, if there was one, gained too little of the error or left none."""
        if len(self.history) == 1:
            return False
        before, after = self.history[-2].error, self.history[-1].error
        return after <= EXACT_ERROR or before - after <= self.tolerance * before

    def _validation_rises(self, weights: FloatArray, patience: int) -> bool:
        errors = [math.inf if r.rmse_validation is None else r.rmse_validation for r in self.history]
        if errors[-1] <= errors[self._best]:
            self._best, self._best_weights = len(errors) - 1, weights.copy()
        return len(errors) - 1 - self._best >= patience

    def result(self, stopped: str) -> FitResult:
        """The result at the last weights; at those of least validation error when that is why it stopped."""
        weights = self._weights
        last = self.history[-1]
        if stopped == VALIDATION_RISES:
            weights, last = self._best_weights, self.history[self._best]
        seconds = self._stopwatch.seconds
        return FitResult(
            self._method, weights, tuple(self.history), stopped,
            last.rmse_train, last.rmse_validation, seconds,
        )  # fmt: skip


@dataclass(frozen=True)
class Solver:
    """A method of minimising the error of a `Problem`."""

    method: str
    most_passes: int
    """Unless told otherwise."""
    loop: Callable[[Problem, FloatArray | None, Recorder], str]
    """Records pass after pass, from a start or its own one on, and returns why it stopped."""

    @one_thread()
    def __call__(
        self,
        problem: Problem,
        *,
        max_passes: int | None = None,
        tolerance: float = 1e-6,
        on_pass: OnPass | None = None,
        patience: int | None = None,
        start: FloatArray | None = None,
    ) -> FitResult:
        """Fit `problem`, from the weights `start` on if given; the same bytes for any number of cores.

        Stops when a pass reduces the error by less than `tolerance` of it, after `max_passes`, when the
        validation error has not reached a new low for `patience` passes (the weights are then those of that
        low), or when `on_pass` returns True.  Raises `FitError`.
        """
        limit = self.most_passes if max_passes is None else max_passes
        recorder = Recorder(self.method, problem, limit, tolerance, on_pass, patience)
        return recorder.result(self.loop(problem, start, recorder))
