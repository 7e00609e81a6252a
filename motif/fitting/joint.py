"""Weights of several groups of rows, fitted together and drawn to common weights.

Each group g of the rows of a `Problem` has a weight vector w_g of its own; rows of no group keep the
common weights w.  What is minimised is the problem's error over all rows, with the ranking term across
the groups (plays of one decision are compared whatever groups they fall into), and

    (c / n) sum over g of (w_g - w)^T G (w_g - w)  +  ridge * sum over g of |w_g - w|^2

where G is the curvature of the error at the common weights over all n rows: a group is drawn to the
common weights as by c further rows of all kinds that the common weights fit perfectly.  What counts is
how differently the two value positions, not how the numbers differ.

Gauss-Newton with conjugate gradients, as in `gauss_newton`; the preconditioner is one block a group.
"""

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from motif.fitting.curvature import curvature
from motif.fitting.design import CHUNK_ROWS, in_threads, raw_predictions, term_sums
from motif.fitting.objective import Objective, sum_of_squares
from motif.fitting.problem import Problem
from motif.fitting.result import CONVERGED, EXACT_ERROR, PASS_LIMIT
from motif.fitting.terms import FloatArray, IntArray
from motif.runtime.errors import FitError
from motif.runtime.parallel import one_thread

METHOD = "joint"
_ROWS_PER_WEIGHT = 20
"""Rows that a matrix of curvature is made of at most, for each weight."""
_LEAST_GAIN = 0.02
"""Conjugate gradients stop when a step gains less than this share of what they have gained."""
_MOST_INNER = 40
_MOST_HALVINGS = 20
_FIRST_JITTER, _LAST_JITTER = 1e-5, 1.0
"""Of the diagonal: blocks are factorised in float32."""


@dataclass(frozen=True, eq=False)
class JointResult:
    """Fitted weights, and how they came about."""

    weights: FloatArray
    """(groups, count)"""
    errors: tuple[float, ...]
    """What is minimised, at the start and after each pass."""
    stopped: str
    seconds: float

    @property
    def passes(self) -> int:
        """Number of passes done."""
        return len(self.errors) - 1


@dataclass(frozen=True, eq=False)
class _Point:
    """The rows seen from the weights of all groups."""

    error: float
    residuals: FloatArray
    slopes: FloatArray


class _Groups:
    """The rows by group, and products with the matrices of their terms."""

    def __init__(self, problem: Problem, groups: IntArray, common: FloatArray, shrinkage: float) -> None:
        self.problem, self.common = problem, common
        self.objective = Objective(problem)
        self.operator = self.objective.operator
        self.ridge = self.objective.penalty
        self.rows = [np.flatnonzero(groups == g) for g in range(int(groups.max(initial=-1)) + 1)]
        train = problem.train
        self.raw = raw_predictions(problem.terms, train.features, common, boards=train.boards)
        start = self.objective.at(common)
        self.most_rows = _ROWS_PER_WEIGHT * problem.terms.count
        of_all = curvature(problem, np.arange(len(train)), start.slopes, self.operator, self.most_rows)
        self.pull = of_all * (shrinkage / len(train))
        self.blocks = [self._block(rows, start.slopes) for rows in self.rows]

    def _block(self, rows: IntArray, slopes: FloatArray) -> npt.NDArray[np.float32]:
        """The Cholesky factor of the group's own part of the curvature."""
        matrix = curvature(self.problem, rows, slopes, self.operator, self.most_rows) + self.pull
        places = np.diag_indices_from(matrix)
        matrix[places] += self.ridge
        diagonal = matrix.diagonal().copy()
        # A term that never occurs has no diagonal; its gradient is zero whatever stands here.
        diagonal[diagonal == 0] = 1.0
        jitter = _FIRST_JITTER
        while jitter <= _LAST_JITTER:
            matrix[places] = diagonal * (1 + jitter)
            try:
                return np.asarray(cho_factor(matrix.astype(np.float32), check_finite=False)[0])
            except LinAlgError:
                jitter *= 10
        raise FitError("the normal equations of these features cannot be factorised")

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
            boards = None if train.boards is None else train.boards[rows]
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
            boards = None if train.boards is None else train.boards[rows]
            return group, term_sums(terms, train.features[rows], row_values[rows], boards=boards)

        for group, part in in_threads(work, self._chunks()):
            total[group] += part
        return total

    def at(self, weights: FloatArray) -> _Point:
        problem, link = self.problem, self.problem.link
        raw = self.products(weights, self.raw.copy())
        residuals = self.operator.roots * (link.predict(raw) - problem.train.labels)
        away = weights - self.common
        error = sum_of_squares(self.operator.apply(residuals)) + float(np.sum(away * self.pulled(away)))
        return _Point(error, residuals, self.operator.roots * link.slope(raw))

    def pulled(self, away: FloatArray) -> FloatArray:
        """Half the derivative of what draws to the common weights, at a distance `away` from them."""
        # One row at a time: a product of matrices may round otherwise for other numbers of rows.
        return np.stack([self.pull @ row for row in away]) + self.ridge * away

    def half_gradient(self, weights: FloatArray, point: _Point) -> FloatArray:
        rows = point.slopes * self.operator.apply_twice(point.residuals)
        return self.sums(rows) + self.pulled(weights - self.common)

    def half_curvature(self, point: _Point, direction: FloatArray) -> FloatArray:
        moved = point.slopes * self.products(direction, np.zeros(len(point.slopes)))
        return self.sums(point.slopes * self.operator.apply_twice(moved)) + self.pulled(direction)

    def precondition(self, vectors: FloatArray) -> FloatArray:
        solved = (
            cho_solve((block, False), vector.astype(np.float32), check_finite=False)
            for block, vector in zip(self.blocks, vectors, strict=True)
        )
        return np.stack(list(solved)).astype(np.float64)


@one_thread()
def solve_jointly(
    problem: Problem,
    groups: IntArray,
    common: FloatArray,
    shrinkage: float,
    *,
    max_passes: int = 10,
    tolerance: float = 1e-5,
) -> JointResult:
    """Fit the weights of each group, from the common ones on.

    `groups` (training rows,): number of each row's group, counted from 0, or -1.  `common` (count,):
    usually what fits all rows best.  `shrinkage`: c above, in rows.  Stops when a pass reduces the error
    by less than `tolerance` of it, or after `max_passes`.  The same bytes for any number of threads.
    """
    began = time.perf_counter()
    held = _Groups(problem, groups, common, shrinkage)
    weights = np.tile(common, (len(held.rows), 1))
    point = held.at(weights)
    errors, stopped = [point.error], PASS_LIMIT
    for _ in range(max_passes):
        direction = _direction(held, weights, point)
        length = 1.0
        for _ in range(_MOST_HALVINGS):
            reached = held.at(weights + length * direction)
            if reached.error < point.error:
                weights, point = weights + length * direction, reached
                break
            length /= 2
        errors.append(point.error)
        if point.error <= EXACT_ERROR or errors[-2] - errors[-1] <= tolerance * errors[-2]:
            stopped = CONVERGED
            break
    return JointResult(weights, tuple(errors), stopped, time.perf_counter() - began)


def _direction(held: _Groups, weights: FloatArray, point: _Point) -> FloatArray:
    """Preconditioned conjugate gradients for curvature * direction = -gradient."""
    residual = -held.half_gradient(weights, point)
    direction, search = np.zeros_like(residual), held.precondition(residual)
    size, gained = float(np.sum(residual * search)), 0.0
    for _ in range(_MOST_INNER):
        product = held.half_curvature(point, search)
        bend = float(np.sum(search * product))
        if size <= 0 or bend <= 0:
            break
        length = size / bend
        direction += length * search
        residual -= length * product
        gained += length * size
        if length * size <= _LEAST_GAIN * gained:
            break
        preconditioned = held.precondition(residual)
        new_size = float(np.sum(residual * preconditioned))
        search = preconditioned + new_size / size * search
        size = new_size
    return direction
