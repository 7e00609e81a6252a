"""An approximate inverse of Gauss-Newton's curvature, from a part of the rows.

The full matrix J^T M^T M J costs rows * count^2.  A few rows a weight already give one whose
inverse turns the true curvature into nearly the identity, and conjugate gradients on the exact,
cheap curvature products (`Objective.curvature_product`) put the rest right.  Rows with rare terms
are likelier to be among the few, and count for less in return; otherwise a rare term would look as
if any step along it were free.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from motif.fitting.design import in_threads, raw_predictions, term_sums
from motif.fitting.objective import Objective, Point
from motif.fitting.ranking import RankingOperator
from motif.fitting.terms import FloatArray, IntArray, Terms
from motif.runtime.errors import FitError

ROWS_PER_WEIGHT = 24
"""Rows in the sample, for each weight."""
LEAST_ROWS = 16384
"""Rows in the sample at least: with few weights they cost next to nothing."""
CHUNK_ROWS = 4096
"""Rows that a thread expands to all their terms at a time: 25 MB at 1,540 weights."""
_FIRST_JITTER, _LAST_JITTER = 1e-6, 1.0
"""Of the diagonal: float32 sums over collinear terms are not quite positive definite."""
_LEAST_DIAGONAL = 1e-9
"""Of the mean diagonal: what jitter counts a term's diagonal as at least."""
_EVEN_SHARE = 0.5
"""Of the sample that is spread evenly; the rest goes to rows with rare terms."""


class Preconditioner:
    """The curvature at one point, approximated and factorised.

    The Gram matrix is that of the terms of CENTRED features, because float32 sums over features
    with a large common part lose the small differences that matter; G = T^T G_centred T then.
    """

    def __init__(self, objective: Objective, point: Point) -> None:
        train, terms = objective.problem.train, objective.problem.terms
        rows, factors, operator = _sampled_rows(objective, point)
        sums = term_sums(Terms.linear(terms.size), train.features, point.slopes**2)
        means = (sums[1:] / sums[0] if sums[0] > 0 else sums[1:]).astype(np.float32)

        def chunk_gram(chunk: tuple[int, int]) -> npt.NDArray[np.float32]:
            part = slice(operator.starts[chunk[0]], operator.starts[chunk[1]])
            jacobian = terms.expand(train.features[rows[part]] - means)
            jacobian *= factors[part].astype(np.float32)[:, None]
            operator.of_decisions(*chunk).apply_to_rows(jacobian)
            return jacobian.T @ jacobian  # NumPy lets other threads run meanwhile

        gram = np.zeros((terms.count, terms.count))
        for part in in_threads(chunk_gram, list(decision_chunks(operator.starts, CHUNK_ROWS))):
            gram += part
        self._factor = _factorised(gram, centring(terms, means), objective.penalty)

    def solve(self, vector: FloatArray) -> FloatArray:
        """`vector` (count,) times the approximate inverse of half the curvature."""
        return cho_solve(self._factor, vector, check_finite=False)


def centring(terms: Terms, means: npt.ArrayLike) -> sparse.csr_array:
    """T (count, count): term values of features = term values of (features - means), times T.

    f_i f_j = g_i g_j + m_j g_i + m_i g_j + m_i m_j for f = g + m.
    """
    m = np.asarray(means, np.float64)
    first, second = terms.first, terms.second
    linear = 1 + np.arange(terms.size)
    pairs = 1 + terms.size + np.arange(len(first))
    every = np.arange(terms.count)
    columns = np.concatenate([every, linear, pairs, pairs, pairs])
    rows = np.concatenate([every, 0 * linear, 1 + first, 1 + second, 0 * pairs])
    values = np.concatenate([np.ones(terms.count), m, m[second], m[first], m[first] * m[second]])
    return sparse.csr_array((values, (rows, columns)), shape=(terms.count, terms.count))


def decision_chunks(starts: IntArray, rows: int) -> Iterator[tuple[int, int]]:
    """Ranges (begin, end) of decisions that together hold at most `rows` rows, or one decision."""
    begin, last = 0, len(starts) - 1
    while begin < last:
        end = int(np.searchsorted(starts, starts[begin] + rows, side="right")) - 1
        end = max(end, begin + 1)
        yield begin, end
        begin = end


def _sampled_rows(objective: Objective, point: Point) -> tuple[IntArray, FloatArray, RankingOperator]:
    """Whole decisions: their rows, the slope of each row over the root of its chance, the operator.

    Each decision has a chance to be in the sample, and those with rare terms have a higher one.
    """
    starts = objective.operator.starts
    wanted = max(LEAST_ROWS, ROWS_PER_WEIGHT * objective.problem.terms.count)
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
    terms, features = objective.problem.terms, objective.problem.train.features
    squares = term_sums(terms, features, point.slopes**2, power=2)
    inverse = np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0)
    columns = max(1, int(np.count_nonzero(squares)))
    return point.slopes**2 * raw_predictions(terms, features, inverse, power=2) / columns


def _factorised(
    centred_gram: FloatArray, transform: sparse.csr_array, penalty: FloatArray
) -> tuple[FloatArray, bool]:
    """The Cholesky factor of T^T G T + penalty, with as little jitter as it takes."""
    places = np.diag_indices_from(centred_gram)
    diagonal = centred_gram.diagonal().copy()
    # A term that never occurs has no diagonal; its gradient is zero whatever stands here.
    floor = np.maximum(diagonal, _LEAST_DIAGONAL * diagonal.mean() or 1.0)
    jitter = _FIRST_JITTER
    while jitter <= _LAST_JITTER:
        centred_gram[places] = diagonal + jitter * floor
        gram = transform.T @ (transform.T @ centred_gram).T
        gram[places] += penalty
        try:
            return cho_factor(gram, overwrite_a=True, check_finite=False)
        except LinAlgError:
            jitter *= 10
    raise FitError("the normal equations of these features cannot be factorised")
