"""Weights of several groups of rows, fitted together and drawn to common weights.

Each group g of the rows of a `Problem` has a weight vector w_g of its own; rows of no group keep the
common weights w.  What is minimised is the problem's error over all rows, with the ranking term across
the groups (plays of one decision are compared whatever groups they fall into), and

    (c / n) sum over g of (w_g - w)^T G (w_g - w)  +  ridge * sum over g of |w_g - w|^2

where G is half the curvature of the error at the common weights over all n rows (or over a part of them,
where they are many): a group is drawn to the common weights as by c further rows of all kinds that the
common weights fit perfectly.  What counts is how differently the two value positions, not how the numbers
differ.  The bias is not in the ridge.

Gauss-Newton with conjugate gradients, as in `gauss_newton`; the preconditioner is one block a group.
"""

import math
import time
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve

from motif.fitting.curvature import curvature
from motif.fitting.design import CHUNK_ROWS, in_threads, raw_predictions, term_sums
from motif.fitting.gauss_newton import conjugate_gradients, descend
from motif.fitting.objective import (
    CONVERGED,
    PASS_LIMIT,
    Objective,
    PassRecord,
    Point,
    check_stopping,
    has_converged,
    sum_of_squares,
)
from motif.fitting.problem import Problem, checked_weights
from motif.fitting.terms import FloatArray, IntArray
from motif.runtime.errors import FitError
from motif.runtime.parallel import one_thread

METHOD = "joint"
MOST_PASSES = 10
"""Unless another limit is given."""
_ROWS_PER_WEIGHT = 20
"""Rows that a matrix of curvature is made of at most, for each weight."""
_LEAST_GAIN = 0.02
"""Conjugate gradients stop when a step gains less than this share of what they have gained."""
_MOST_INNER = 40


@dataclass(frozen=True, eq=False)
class JointResult:
    """Fitted weights, and how they came about."""

    weights: FloatArray
    """(groups, count)"""
    history: tuple[PassRecord, ...]
    """The start and each pass: what is minimised, and the RMSE over all training rows."""
    stopped: str

    @property
    def errors(self) -> tuple[float, ...]:
        """What is minimised, at the start and after each pass."""
        return tuple(record.error for record in self.history)

    @property
    def seconds(self) -> float:
        """From the start to the end of the last pass."""
        return self.history[-1].seconds

    @property
    def passes(self) -> int:
        """Number of passes done."""
        return len(self.history) - 1


class _Groups:
    """The rows by group, and products with the matrices of their terms."""

    def __init__(self, problem: Problem, groups: IntArray, common: FloatArray, shrinkage: float) -> None:
        self.problem, self.common = problem, common
        self.objective = Objective(problem)
        self.operator = self.objective.operator
        self.rows = [np.flatnonzero(groups == g) for g in range(int(groups.max(initial=-1)) + 1)]
        train = problem.train
        self.raw = raw_predictions(problem.terms, train.features, common, boards=train.boards)
        most_rows = _ROWS_PER_WEIGHT * problem.terms.count
        slopes = self.objective.at(common).slopes
        of_all = curvature(problem, np.arange(len(train)), slopes, self.operator, most_rows)
        self.pull = of_all.matrix() * (shrinkage / len(train)) + np.diag(self.objective.penalty)
        # The Cholesky factors of the groups' own parts of the curvature; half the memory will do for them.
        self.blocks: list[npt.NDArray[np.float32]] = [
            curvature(problem, rows, slopes, self.operator, most_rows).factor(self.pull).astype(np.float32)
            for rows in self.rows
        ]

    def _chunks(self) -> list[tuple[int, IntArray]]:
        return [
            (g, rows[begin : begin + CHUNK_ROWS])
            for g, rows in enumerate(self.rows)
            for begin in range(0, len(rows), CHUNK_ROWS)
        ]

    def products(self, weights: FloatArray, out: FloatArray) -> FloatArray:
        """Write to the groups' rows of `out` (n,) what `weights` (groups, count) predict; return it."""
        train, terms = self.problem.train, self.problem.terms

        def work(chunk: tuple[int, IntArray]) -> None:
            group, rows = chunk
            boards = train.boards_of(rows)
            out[rows] = raw_predictions(terms, train.features[rows], weights[group], boards=boards)

        for _ in in_threads(work, self._chunks()):
            pass
        return out

    def sums(self, row_values: FloatArray) -> FloatArray:
        """For each group and term, the sum over the group's rows of its value times `row_values` (n,)."""
        train, terms = self.problem.train, self.problem.terms
        total = np.zeros((len(self.rows), terms.count))

        def work(chunk: tuple[int, IntArray]) -> tuple[int, FloatArray]:
            group, rows = chunk
            boards = train.boards_of(rows)
            return group, term_sums(terms, train.features[rows], row_values[rows], boards=boards)

        for group, part in in_threads(work, self._chunks()):
            total[group] += part
        return total

    def at(self, weights: FloatArray) -> Point:
        problem, link = self.problem, self.problem.link
        raw = self.products(weights, self.raw.copy())
        residuals = self.operator.roots * (link.predict(raw) - problem.train.labels)
        away = weights - self.common
        error = sum_of_squares(self.operator.apply(residuals)) + float(np.sum(away * self.pulled(away)))
        return Point(error, residuals, self.operator.roots * link.slope(raw))

    def pulled(self, away: FloatArray) -> FloatArray:
        """Half the derivative of what draws to the common weights, at a distance `away` from them."""
        # One row at a time: a product of matrices may round otherwise for other numbers of rows.
        return np.array([self.pull @ row for row in away]).reshape(away.shape)

    def half_gradient(self, weights: FloatArray, point: Point) -> FloatArray:
        rows = point.slopes * self.operator.apply_twice(point.residuals)
        return self.sums(rows) + self.pulled(weights - self.common)

    def half_curvature(self, point: Point, direction: FloatArray) -> FloatArray:
        raw = point.slopes * self.products(direction, np.zeros(len(point.slopes)))
        return self.sums(point.slopes * self.operator.apply_twice(raw)) + self.pulled(direction)

    def precondition(self, vectors: FloatArray) -> FloatArray:
        directions = [
            cho_solve((block, False), vector.astype(np.float32), check_finite=False)
            for block, vector in zip(self.blocks, vectors, strict=True)
        ]
        return np.array(directions, np.float64).reshape(vectors.shape)


@one_thread()
def solve_jointly(
    problem: Problem,
    groups: IntArray,
    common: FloatArray,
    shrinkage: float,
    *,
    max_passes: int = MOST_PASSES,
    tolerance: float = 1e-5,
) -> JointResult:
    """Fit the weights of each group, from the common ones on.

    `groups` (training rows,): number of each row's group, counted from 0, or -1.  `common` (count,):
    usually what fits all rows best.  `shrinkage`: c above, in rows.  Stops when a pass reduces the error
    by less than `tolerance` of it, or after `max_passes`.  The same bytes for any number of threads.
    Raises `FitError` for what makes no sense.
    """
    began = time.perf_counter()
    check_stopping(max_passes, tolerance)
    if not (math.isfinite(shrinkage) and shrinkage >= 0):
        raise FitError(f"the shrinkage must be finite and at least 0, not {shrinkage}")
    common = checked_weights(problem.terms, common, "common weights")
    design = _Groups(problem, _checked_groups(groups, len(problem.train)), common, shrinkage)
    weights = np.tile(common, (len(design.rows), 1))
    point = design.at(weights)
    history: list[PassRecord] = []

    def note() -> None:
        seconds = time.perf_counter() - began
        history.append(PassRecord(len(history), point.error, point.rmse, None, seconds))

    note()
    stopped = PASS_LIMIT
    for _ in range(max_passes):
        direction = _direction(design, weights, point)
        weights, point = descend(design.at, weights, point, direction)
        note()
        if has_converged(history, tolerance):
            stopped = CONVERGED
            break
    return JointResult(weights, tuple(history), stopped)


def _checked_groups(groups: npt.ArrayLike, count: int) -> IntArray:
    numbers = np.asarray(groups)
    if numbers.shape != (count,) or numbers.dtype.kind not in "iu" or (numbers < -1).any():
        raise FitError(f"there must be one whole group number of -1 or more a training row ({count})")
    return numbers.astype(np.int64)


def _direction(design: _Groups, weights: FloatArray, point: Point) -> FloatArray:
    """Preconditioned conjugate gradients for curvature * direction = -gradient."""
    gradient = design.half_gradient(weights, point)
    direction, gained = np.zeros_like(gradient), 0.0
    steps = conjugate_gradients(
        gradient, lambda search: design.half_curvature(point, search), design.precondition
    )
    for solution, gain in islice(steps, _MOST_INNER):
        direction = solution
        gained += gain
        if gain <= _LEAST_GAIN * gained:
            break
    return direction
