"""An approximate inverse of Gauss-Newton's curvature, from a part of the rows.

The full matrix J^T M^T M J costs rows * count^2.  A few rows a weight already give one whose
inverse turns the true curvature into nearly the identity, and conjugate gradients on the exact,
cheap curvature products (`Objective.curvature_product`) put the rest right.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from motif.fitting.design import in_threads, term_sums
from motif.fitting.objective import Objective, Point, sum_of_squares
from motif.fitting.ranking import RankingOperator
from motif.fitting.terms import FloatArray, IntArray
from motif.runtime.errors import FitError

ROWS_PER_WEIGHT = 16
"""Rows in the sample, for each weight."""
LEAST_ROWS = 16384
"""Rows in the sample at least: with few weights they cost next to nothing."""
CHUNK_ROWS = 4096
"""Rows that a thread expands to all their terms at a time: 25 MB at 1,540 weights."""
_FIRST_JITTER, _LAST_JITTER = 1e-6, 1.0
"""Of the diagonal: float32 sums over collinear terms are not quite positive definite."""
_UNDER_SAMPLED = 0.5
"""A term with less than this share of its true diagonal in the sample gets the true one."""


class Preconditioner:
    """The curvature at one point, approximated and factorised."""

    def __init__(self, objective: Objective, point: Point) -> None:
        rows, operator = _sampled_rows(objective)
        train, terms = objective.problem.train, objective.problem.terms
        total = sum_of_squares(operator.roots)
        scale = 1 / np.sqrt(total) if total > 0 else 1.0

        def chunk_gram(chunk: tuple[int, int]) -> npt.NDArray[np.float32]:
            part = rows[operator.starts[chunk[0]] : operator.starts[chunk[1]]]
            jacobian = terms.expand(train.features[part])
            jacobian *= (scale * point.slopes[part]).astype(np.float32)[:, None]
            operator.of_decisions(*chunk).apply_to_rows(jacobian)
            return jacobian.T @ jacobian  # NumPy lets other threads run meanwhile

        gram = np.zeros((terms.count, terms.count))
        for part in in_threads(chunk_gram, list(decision_chunks(operator.starts, CHUNK_ROWS))):
            gram += part
        _lift_under_sampled(gram, objective, point)
        gram[np.diag_indices_from(gram)] += objective.penalty
        self._factor = _factorised(gram)

    def solve(self, vector: FloatArray) -> FloatArray:
        """`vector` (count,) times the approximate inverse of half the curvature."""
        return cho_solve(self._factor, vector, check_finite=False)


def decision_chunks(starts: IntArray, rows: int) -> Iterator[tuple[int, int]]:
    """Ranges (begin, end) of decisions that together hold at most `rows` rows, or one decision."""
    begin, last = 0, len(starts) - 1
    while begin < last:
        end = int(np.searchsorted(starts, starts[begin] + rows, side="right")) - 1
        end = max(end, begin + 1)
        yield begin, end
        begin = end


def _sampled_rows(objective: Objective) -> tuple[IntArray, RankingOperator]:
    """Every k-th decision whole: its rows in the training data, and the operator on them."""
    starts = objective.operator.starts
    wanted = max(LEAST_ROWS, ROWS_PER_WEIGHT * objective.problem.terms.count)
    chosen = np.arange(0, len(starts) - 1, max(1, int(starts[-1]) // wanted))
    lengths = np.diff(starts)[chosen]
    ends = np.cumsum(lengths)
    rows = np.repeat(starts[chosen] - (ends - lengths), lengths) + np.arange(ends[-1])
    sampled_starts = np.concatenate([[0], ends])
    return rows, RankingOperator(objective.problem.ranking, objective.roots[rows], sampled_starts)


def _lift_under_sampled(gram: FloatArray, objective: Objective, point: Point) -> None:
    """Terms that are rare in the sample would look as if any step along them were free."""
    problem = objective.problem
    true = term_sums(problem.terms, problem.train.features, point.slopes**2, power=2)
    diagonal = gram.diagonal().copy()
    lifted = np.where(diagonal < _UNDER_SAMPLED * true, (1 + problem.ranking) * true, diagonal)
    gram[np.diag_indices_from(gram)] = lifted


def _factorised(gram: FloatArray) -> tuple[FloatArray, bool]:
    """The Cholesky factor, with as little jitter as it takes."""
    diagonal = gram.diagonal().copy()
    diagonal[diagonal <= 0] = 1.0  # a term that never occurs: its gradient is zero anyway
    jitter = _FIRST_JITTER
    while jitter <= _LAST_JITTER:
        gram[np.diag_indices_from(gram)] = diagonal * (1 + jitter)
        try:
            return cho_factor(gram, check_finite=False)
        except LinAlgError:
            jitter *= 10
    raise FitError("the normal equations of these features cannot be factorised")
