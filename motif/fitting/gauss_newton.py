"""The Gauss-Newton method for thousands of weights and a million positions.

Each pass linearises the squash and solves the normal equations for the step by preconditioned
conjugate gradients.  A step is halved until the error falls.  Sources: Nocedal and Wright,
"Numerical Optimization" (2006), sections 7.1 (inexact Newton), 5.1 (preconditioned conjugate
gradients, algorithm 5.3) and 10.3 (Gauss-Newton).

Products with the curvature are cheap (`Objective.curvature_product`) and in float64. The expensive part is
the preconditioner, an approximate inverse of the curvature: the full matrix J^T M^T M J costs rows * count^2.
A few rows per weight already give a matrix whose inverse turns the true curvature into nearly the identity,
and conjugate gradients correct the rest; so the preconditioner is computed from a sample of the rows and kept
while it is good enough. Rows with rare terms are more likely to be sampled and have a lower weight in return;
otherwise a rare term could seem to have no curvature at all.

BLAS uses one thread. The Gram matrix is computed by motif's own threads, in chunks whose sums are added in
order, so the result is bit-identical for any number of threads.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.linalg.lapack import dpotri

from motif.fitting.curvature import centres, centring, curvature_over, factorised
from motif.fitting.design import raw_predictions, term_sums
from motif.fitting.objective import Ending, Linearization, Objective, Recorder, Solver, starting_weights
from motif.fitting.problem import RankingOperator
from motif.fitting.terms import Terms
from motif.runtime.arrays import FloatArray, IntArray

METHOD = "gauss-newton"
_ROWS_PER_WEIGHT = 24
"""Rows per weight in the sample."""
_MIN_ROWS = 16384
"""Minimum number of rows in the sample, for problems with few weights."""
_EVEN_SHARE = 0.5
"""Share of the sample that is spread evenly; the rest favours rows with rare terms."""
_INNER_TOLERANCE = 0.1
"""Conjugate gradients stop when the last step's gain is below this share of the gain per step so far."""
_LAST_SHARE = 0.1
"""Conjugate gradients also stop when the same number of steps again would gain less than this share of the
tolerance.
"""
_MIN_LAST_STEPS = 10
_MAX_INNER = 100
_SLOW_INNER = 12
"""Number of steps above which a new preconditioner is worth its cost."""
_FRESH_PASSES = 2
"""Number of first passes that each use a new preconditioner, because the slopes change much."""
MAX_HALVINGS = 20
"""Maximum halvings of a step that does not lower the error."""


@partial(Solver, METHOD, 50)
def solve_gauss_newton(objective: Objective, start: FloatArray | None, recorder: Recorder) -> Ending:
    """Fit by Gauss-Newton passes; a ranking term and a ridge are supported.

    Without `start`, the fit begins at the bias that predicts the mean label.
    """
    weights = starting_weights(objective.problem, start)
    point = objective.at(weights)
    preconditioner, inner, failure = None, 0, None
    while (stopped := recorder.record(weights, point, failure)) is None:
        if preconditioner is None or len(recorder.history) <= _FRESH_PASSES or inner > _SLOW_INNER:
            preconditioner = Preconditioner(objective, point)
        gradient = objective.gradient(weights, point)
        direction, inner = _direction(objective, gradient, point, preconditioner, recorder.tolerance)
        weights, point, failure = line_search(objective.at, weights, point, direction, gradient)
    return stopped


def conjugate_gradients(
    gradient: FloatArray,
    product: Callable[[FloatArray], FloatArray],
    precondition: Callable[[FloatArray], FloatArray],
) -> Iterator[tuple[FloatArray, float]]:
    """Yield improving solutions of curvature * direction = -`gradient`, each with the step's expected gain.

    `product` multiplies by the curvature, `precondition` approximately by its inverse; all arrays have the
    same shape. The expected gain is twice the decrease of the quadratic model with these first and second
    derivatives. The iteration ends when only rounding is left. The direction is an array that later steps
    modify.
    """
    residual = -gradient
    direction = np.zeros_like(residual)
    search = precondition(residual)
    size = float(np.vdot(residual, search))
    while True:
        applied = product(search)
        curvature = float(np.vdot(search, applied))
        if size <= 0 or curvature <= 0:
            return
        alpha = size / curvature
        direction += alpha * search
        residual -= alpha * applied
        yield direction, alpha * size
        preconditioned = precondition(residual)
        new_size = float(np.vdot(residual, preconditioned))
        search = preconditioned + new_size / size * search
        size = new_size


def line_search(
    at: Callable[[FloatArray], Linearization],
    weights: FloatArray,
    point: Linearization,
    direction: FloatArray,
    gradient: FloatArray,
) -> tuple[FloatArray, Linearization, Ending | None]:
    """Take the first of the whole, half, quarter, ... step that lowers the error.

    `at` returns the predictions on the rows for given weights; `point` is `at(weights)`, and `gradient` the
    derivative of the error there, or a positive multiple of it. Returns the weights, their predictions and,
    if no step was taken, one of `objective.FAILURES`.
    """
    if (failure := faulty(direction, gradient)) is not None:
        return weights, point, failure
    length = 1.0
    for _ in range(MAX_HALVINGS):
        candidate = weights + length * direction
        lower = at(candidate)
        if lower.error < point.error:
            return candidate, lower, None
        length /= 2
    return weights, point, Ending.LINE_SEARCH_FAILED


def faulty(direction: FloatArray, gradient: FloatArray) -> Ending | None:
    """Return why a step along `direction` cannot help, one of `objective.FAILURES`; None if it can."""
    slope = float(np.sum(gradient * direction))
    if not math.isfinite(slope):
        return Ending.NOT_FINITE
    return None if slope < 0 else Ending.NOT_A_DESCENT_DIRECTION


class Preconditioner:
    """Factorised approximation of the curvature at one point."""

    def __init__(
        self, objective: Objective, point: Linearization, rows_per_weight: int = _ROWS_PER_WEIGHT
    ) -> None:
        train, terms = objective.problem.train, objective.problem.terms
        shares = leverages(objective, terms, point)
        rows, factors, operator = sampled_rows(objective, point, shares, rows_per_weight * terms.count)
        means = centres(terms, train, point.slopes**2)
        centred = curvature_over(terms, train, rows, factors, operator, means)
        self._factor = factorised(centred, centring(terms, means), objective.penalty)

    def solve(self, vector: FloatArray) -> FloatArray:
        """Return `vector` (count,) times the approximate inverse of half the curvature."""
        return cho_solve((self._factor, False), vector, check_finite=False)

    def unscaled(self, vector: FloatArray) -> FloatArray:
        """Return R^-1 times `vector` (count,), where R^T R is about half the curvature."""
        return np.asarray(solve_triangular(self._factor, vector, check_finite=False))

    def scaled(self, vector: FloatArray) -> FloatArray:
        """Return R^-T times `vector` (count,)."""
        return np.asarray(solve_triangular(self._factor, vector, trans="T", check_finite=False))

    def inverse(self) -> FloatArray:
        """Return the approximate inverse (count, count), which is faster for many products."""
        upper, _ = dpotri(self._factor)
        return np.triu(upper) + np.triu(upper, 1).T


def _direction(
    objective: Objective,
    gradient: FloatArray,
    point: Linearization,
    preconditioner: Preconditioner,
    tolerance: float,
) -> tuple[FloatArray, int]:
    """Solve curvature * direction = -gradient by conjugate gradients; return also the number of steps.

    The iteration ends when the remaining gain seems small compared with the gain so far, by the rule of Nash
    and Sofer ("Assessing a search direction within a truncated-Newton method", 1990). A direction that gains
    too little for another pass is only accepted after `_MIN_LAST_STEPS` steps.
    """
    direction, gained, inner = np.zeros_like(gradient), 0.0, 0
    steps = conjugate_gradients(
        gradient, lambda search: objective.curvature_product(point, search), preconditioner.solve
    )
    for inner, (solution, promise) in enumerate(islice(steps, _MAX_INNER), 1):
        direction = solution
        gain = promise / 2
        gained += gain
        enough = gained > tolerance * point.error or inner >= _MIN_LAST_STEPS
        if enough and inner * gain <= max(_INNER_TOLERANCE * gained, _LAST_SHARE * tolerance * point.error):
            break
    return direction, inner


def sampled_rows(
    objective: Objective, point: Linearization, leverages_of_rows: FloatArray, size: int
) -> tuple[IntArray, FloatArray, RankingOperator]:
    """Sample whole decisions: their rows, slopes over the root of the probability, and the operator.

    About `size` rows are returned, but at least `_MIN_ROWS` if there are as many. Decisions with rare terms,
    which have high `leverages`, are more likely to be sampled.
    """
    starts, size = objective.operator.starts, max(_MIN_ROWS, size)
    lengths = np.diff(starts)
    shares = np.add.reduceat(leverages_of_rows, starts[:-1]) / lengths
    chances = np.minimum(1.0, size * (1 - _EVEN_SHARE) * shares + size * _EVEN_SHARE / starts[-1])
    decisions = np.flatnonzero(np.diff(np.floor(np.cumsum(chances) + 0.5), prepend=0.0))
    lengths = lengths[decisions]
    ends = np.cumsum(lengths)
    rows = np.repeat(starts[decisions] - (ends - lengths), lengths) + np.arange(ends[-1])
    factors = point.slopes[rows] / np.sqrt(np.repeat(chances[decisions], lengths))
    sampled_starts = np.concatenate([[0], ends])
    operator = RankingOperator(objective.problem.ranking, objective.roots[rows], sampled_starts)
    return rows, factors, operator


def leverages(objective: Objective, terms: Terms, point: Linearization) -> FloatArray:
    """Return each row's share (n,) of the squares of the Jacobian's columns, equally weighted; sum 1."""
    train = objective.problem.train
    squares = term_sums(terms, train.features, point.slopes**2, 2)
    inverse = np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0)
    columns = max(1, int(np.count_nonzero(squares)))
    sums = raw_predictions(terms, train.features, inverse, 2)
    return point.slopes**2 * sums / columns
