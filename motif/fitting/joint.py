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
from itertools import islice

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve

from motif.fitting.curvature import curvature
from motif.fitting.design import CHUNK_ROWS, in_threads, raw_predictions, term_sums
from motif.fitting.gauss_newton import conjugate_gradients, descend
from motif.fitting.objective import FitResult, Objective, Point, Recorder
from motif.fitting.problem import Problem, checked_weights
from motif.fitting.terms import FloatArray, IntArray
from motif.runtime.errors import FitError
from motif.runtime.parallel import one_thread

METHOD = "joint"
MOST_PASSES, TOLERANCE = 10, 1e-5
"""Unless others are given."""
_ROWS_PER_WEIGHT = 20
"""Rows that a matrix of curvature is made of at most, for each weight."""
_LEAST_GAIN = 0.02
"""Conjugate gradients stop when a step gains less than this share of what they have gained."""
_MOST_INNER = 40


class _Groups(Objective):
    """What is minimised, as a function of the weights (groups, count)."""

    def __init__(self, problem: Problem, groups: IntArray, common: FloatArray, shrinkage: float) -> None:
        super().__init__(problem)
        self.target = common
        self.rows = [np.flatnonzero(groups == g) for g in range(int(groups.max(initial=-1)) + 1)]
        self._chunks = [
            (g, rows[begin : begin + CHUNK_ROWS])
            for g, rows in enumerate(self.rows)
            for begin in range(0, len(rows), CHUNK_ROWS)
        ]
        self._common_raw = super()._raw(common)
        most_rows = _ROWS_PER_WEIGHT * problem.terms.count
        slopes = self._point(self._common_raw, 0.0).slopes
        of_all = curvature(problem, np.arange(len(groups)), slopes, self.operator, most_rows)
        self._pull = of_all.matrix() * (shrinkage / len(groups)) + np.diag(self.penalty)
        # The Cholesky factors of the groups' own parts of the curvature; half the memory will do for them.
        self._blocks: list[npt.NDArray[np.float32]] = [
            curvature(problem, rows, slopes, self.operator, most_rows).factor(self._pull).astype(np.float32)
            for rows in self.rows
        ]

    def _raw(self, weights: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """`out` (n,), zeros when absent, with what `weights` predict written to the groups' rows."""
        train, terms = self.problem.train, self.problem.terms
        raw = np.zeros(len(train)) if out is None else out

        def work(chunk: tuple[int, IntArray]) -> None:
            group, rows = chunk
            boards = train.boards_of(rows)
            raw[rows] = raw_predictions(terms, train.features[rows], weights[group], boards=boards)

        for _ in in_threads(work, self._chunks):
            pass
        return raw

    def term_sums(self, row_values: FloatArray, power: int = 1) -> FloatArray:
        """For each group and term, the sum over the group's rows of its value times `row_values` (n,)."""
        train, terms = self.problem.train, self.problem.terms
        total = np.zeros((len(self.rows), terms.count))

        def work(chunk: tuple[int, IntArray]) -> tuple[int, FloatArray]:
            group, rows = chunk
            boards = train.boards_of(rows)
            return group, term_sums(terms, train.features[rows], row_values[rows], power, boards)

        for group, part in in_threads(work, self._chunks):
            total[group] += part
        return total

    def at(self, weights: FloatArray) -> Point:
        """Error, residuals and slopes at `weights` (groups, count)."""
        away = weights - self.target
        penalty = float(np.sum(away * self._pulled(away)))
        return self._point(self._raw(weights, self._common_raw.copy()), penalty)

    def _pulled(self, away: FloatArray) -> FloatArray:
        # One row at a time: a product of matrices may round otherwise for other numbers of rows.
        return np.array([self._pull @ row for row in away]).reshape(away.shape)

    def _pull_strengths(self) -> FloatArray:
        return self._pull.diagonal()

    def precondition(self, vectors: FloatArray) -> FloatArray:
        """`vectors` (groups, count) times about the inverse of half the curvature."""
        directions = [
            cho_solve((block, False), vector.astype(np.float32), check_finite=False)
            for block, vector in zip(self._blocks, vectors, strict=True)
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
    tolerance: float = TOLERANCE,
) -> FitResult:
    """Fit the weights of each group, from the common ones on.

    `groups` (training rows,): number of each row's group, counted from 0, or -1.  `common` (count,):
    usually what fits all rows best.  `shrinkage`: c above, in rows.  Stops when a pass reduces the error
    by less than `tolerance` of it, or after `max_passes`.  The same bytes for any number of threads.
    Raises `FitError` for what makes no sense.
    """
    # Whether the validation rows are better predicted is told of each group by itself.
    recorder = Recorder(METHOD, None, max_passes, tolerance)
    if not (math.isfinite(shrinkage) and shrinkage >= 0):
        raise FitError(f"the shrinkage must be finite and at least 0, not {shrinkage}")
    common = checked_weights(problem.terms, common, "common weights")
    design = _Groups(problem, _checked_groups(groups, len(problem.train)), common, shrinkage)
    weights, failure = np.tile(common, (len(design.rows), 1)), None
    point = design.at(weights)
    while (stopped := recorder.record(design, weights, point, failure)) is None:
        gradient = design.gradient(weights, point)
        direction = _direction(design, gradient, point)
        weights, point, failure = descend(design.at, weights, point, direction, gradient)
    return recorder.result(stopped)


def _checked_groups(groups: npt.ArrayLike, count: int) -> IntArray:
    numbers = np.asarray(groups)
    if numbers.shape != (count,) or numbers.dtype.kind not in "iu" or (numbers < -1).any():
        raise FitError(f"there must be one whole group number of -1 or more a training row ({count})")
    return numbers.astype(np.int64)


def _direction(design: _Groups, gradient: FloatArray, point: Point) -> FloatArray:
    """Preconditioned conjugate gradients for curvature * direction = -gradient."""
    direction, gained = np.zeros_like(gradient), 0.0
    steps = conjugate_gradients(
        gradient, lambda search: design.curvature_product(point, search), design.precondition
    )
    for solution, gain in islice(steps, _MOST_INNER):
        direction = solution
        gained += gain
        if gain <= _LEAST_GAIN * gained:
            break
    return direction
