"""An approximate inverse of Gauss-Newton's curvature, from a part of the rows.

The full matrix J^T M^T M J costs rows * count^2.  A few rows a weight already give one whose
inverse turns the true curvature into nearly the identity, and conjugate gradients on the exact,
cheap curvature products (`Objective.curvature_product`) put the rest right.  Rows with rare terms
are likelier to be among the few, and count for less in return; otherwise a rare term would look as
if any step along it were free.
"""

import numpy as np
from scipy.linalg import cho_solve

from motif.fitting.curvature import centres, curvature_over
from motif.fitting.design import raw_predictions
from motif.fitting.objective import Objective, Point
from motif.fitting.ranking import RankingOperator
from motif.fitting.terms import FloatArray, IntArray

ROWS_PER_WEIGHT = 24
"""Rows in the sample, for each weight."""
LEAST_ROWS = 16384
"""Rows in the sample at least: with few weights they cost next to nothing."""
_EVEN_SHARE = 0.5
"""Of the sample that is spread evenly; the rest goes to rows with rare terms."""


class Preconditioner:
    """The curvature at one point, approximated and factorised."""

    def __init__(self, objective: Objective, point: Point, rows_per_weight: int = ROWS_PER_WEIGHT) -> None:
        train, terms = objective.problem.train, objective.problem.terms
        rows, factors, operator = _sampled_rows(objective, point, rows_per_weight)
        means = centres(terms, train, point.slopes**2)
        found = curvature_over(terms, train, rows, factors, operator, means)
        self._factor = found.factor(np.diag(objective.penalty))

    def solve(self, vector: FloatArray) -> FloatArray:
        """`vector` (count,) times the approximate inverse of half the curvature."""
        return cho_solve((self._factor, False), vector, check_finite=False)


def _sampled_rows(
    objective: Objective, point: Point, rows_per_weight: int
) -> tuple[IntArray, FloatArray, RankingOperator]:
    """Whole decisions: their rows, the slope of each row over the root of its chance, the operator.

    Each decision has a chance to be in the sample, and those with rare terms have a higher one.
    """
    starts = objective.operator.starts
    wanted = max(LEAST_ROWS, rows_per_weight * objective.problem.terms.count)
    lengths = np.diff(starts)
    shares = np.add.reduceat(_leverages(objective, point), starts[:-1]) / lengths
    chances = np.minimum(1.0, wanted * (1 - _EVEN_SHARE) * shares + wanted * _EVEN_SHARE / starts[-1])
    chosen = np.flatnonzero(np.diff(np.floor(np.cumsum(chances) + 0.5), prepend=0.0))
    lengths = lengths[chosen]
    ends = np.cumsum(lengths)
    rows = np.repeat(starts[chosen] - (ends - lengths), lengths) + np.arange(ends[-1])
    factors = point.slopes[rows] / np.sqrt(np.repeat(chances[chosen], lengths))
    sampled_starts = np.concatenate([[0], ends])
    operator = RankingOperator(objective.problem.ranking, objective.roots[rows], sampled_starts)
    return rows, factors, operator


def _leverages(objective: Objective, point: Point) -> FloatArray:
    """(n,): each row's part of the squares of all Jacobian columns, every column counted alike; sum 1."""
    terms, train = objective.problem.terms, objective.problem.train
    squares = objective.term_sums(point.slopes**2, power=2)
    inverse = np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0)
    columns = max(1, int(np.count_nonzero(squares)))
    squared = raw_predictions(terms, train.features, inverse, 2, train.boards)
    return point.slopes**2 * squared / columns
