"""Sums over rows of the products of their terms' slopes: Gauss-Newton's curvature as a matrix.

They are taken over the terms of CENTRED features, because float32 sums over features with a large
common part lose the small differences that matter, and of centred point terms; `centring` turns the
result into that of the terms themselves.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor

from motif.fitting.design import in_threads, term_sums
from motif.fitting.problem import Problem, RankingOperator, Rows
from motif.fitting.terms import FloatArray, IntArray, Terms
from motif.runtime.errors import FitError

CHUNK_ROWS = 4096
"""Rows that a thread expands to all their terms at a time: 25 MB at 1,540 weights."""
_FIRST_JITTER, _LAST_JITTER = 1e-6, 1.0
"""Shares of the diagonal: float32 sums over collinear terms are not quite positive definite."""
_LEAST_DIAGONAL = 1e-9
"""Share of the mean diagonal that jitter counts a term's diagonal as at least."""


@dataclass(frozen=True, eq=False)
class Curvature:
    """G = T^T G_centred T, (count, count)."""

    centred: FloatArray
    transform: sparse.csr_array
    """T"""

    def matrix(self) -> FloatArray:
        """G itself."""
        return np.asarray(self.transform.T @ (self.transform.T @ self.centred).T)

    def factor(self, penalty: FloatArray) -> FloatArray:
        """The upper Cholesky factor of G + `penalty` (count, count), with as little jitter as it takes."""
        jittered = self.centred.copy()
        places = np.diag_indices_from(jittered)
        diagonal = self.centred.diagonal()
        # A term that never occurs has no diagonal; its gradient is zero whatever stands here.
        floor = np.maximum(diagonal, _LEAST_DIAGONAL * diagonal.mean() or 1.0)
        jitter = _FIRST_JITTER
        while jitter <= _LAST_JITTER:
            jittered[places] = diagonal + jitter * floor
            matrix = Curvature(jittered, self.transform).matrix() + penalty
            try:
                return np.asarray(cho_factor(matrix, overwrite_a=True, check_finite=False)[0])
            except LinAlgError:
                jitter *= 10
        raise FitError("the normal equations of these features cannot be factorised")


def curvature_over(
    terms: Terms,
    train: Rows,
    rows: IntArray,
    factors: FloatArray,
    operator: RankingOperator,
    means: npt.NDArray[np.float32],
) -> Curvature:
    """(M J)^T (M J), where J's rows are the terms of `rows` of `train`, times `factors`.

    `operator` is M for those rows; `means` are those to centre by: of the features, then the point terms.
    """
    of_features, of_points = means[: terms.size], means[terms.size :]

    def chunk_gram(chunk: tuple[int, int]) -> npt.NDArray[np.float32]:
        part = slice(operator.starts[chunk[0]], operator.starts[chunk[1]])
        jacobian = terms.expand(train.features[rows[part]] - of_features, train.boards_of(rows[part]))
        jacobian[:, terms.first_point :] -= of_points
        jacobian *= factors[part].astype(np.float32)[:, None]
        operator.of_decisions(*chunk).apply_to_rows(jacobian)
        return jacobian.T @ jacobian  # NumPy lets other threads run meanwhile

    gram = np.zeros((terms.count, terms.count))
    for part in in_threads(chunk_gram, list(decision_chunks(operator.starts, CHUNK_ROWS))):
        gram += part
    return Curvature(gram, centring(terms, means))


def curvature(
    problem: Problem, rows: IntArray, slopes: FloatArray, operator: RankingOperator, most_rows: int
) -> Curvature:
    """Half the curvature of the error that the training rows `rows` bring, ascending numbers.

    `slopes` and `operator` are those of all training rows; plays of a decision that are not among `rows`
    are left out.  Of more than `most_rows` rows, about so many are taken, whole decisions spread evenly,
    and the result is scaled up.
    """
    train, terms = problem.train, problem.terms
    decision = np.searchsorted(operator.starts, rows, side="right")
    first = np.flatnonzero(np.diff(decision, prepend=-1))
    step = max(1, -(-len(rows) // most_rows))
    lengths = np.diff(first, append=len(rows))
    mask = np.repeat(np.arange(len(first)) % step == 0, lengths)
    sample, starts = rows[mask], np.concatenate([[0], np.cumsum(lengths[::step])])
    part = RankingOperator(operator.strength, operator.roots[sample], starts)
    factors = slopes[sample] * np.sqrt(len(rows) / max(1, len(sample)))
    means = centres(terms, train.some(sample), factors**2)
    return curvature_over(terms, train, sample, factors, part, means)


def centres(terms: Terms, rows: Rows, shares: FloatArray) -> npt.NDArray[np.float32]:
    """Means of the features, then of the point terms, of `rows` that count by `shares` (n,)."""
    alone = Terms.linear(terms.size, terms.points)
    sums = term_sums(alone, rows.features, shares, boards=rows.boards)
    return (sums[1:] / sums[0] if sums[0] > 0 else sums[1:]).astype(np.float32)


def centring(terms: Terms, means: npt.ArrayLike) -> sparse.csr_array:
    """T (count, count): term values of features = term values of (features - means), times T.

    f_i f_j = g_i g_j + m_j g_i + m_i g_j + m_i m_j for f = g + m.  `means` are those of the features,
    then those of the point terms, if any, whose values have them taken off too.
    """
    m, of_points = np.split(np.asarray(means, np.float64), [terms.size])
    first, second = terms.first, terms.second
    linear = 1 + np.arange(terms.size)
    pairs = 1 + terms.size + np.arange(len(first))
    every = np.arange(terms.count)
    points = np.arange(terms.first_point, terms.count)
    columns = np.concatenate([every, linear, pairs, pairs, pairs, points])
    rows = np.concatenate([every, 0 * linear, 1 + first, 1 + second, 0 * pairs, 0 * points])
    ones = np.ones(terms.count)
    values = np.concatenate([ones, m, m[second], m[first], m[first] * m[second], of_points])
    return sparse.csr_array((values, (rows, columns)), shape=(terms.count, terms.count))


def decision_chunks(starts: IntArray, rows: int) -> Iterator[tuple[int, int]]:
    """Ranges (begin, end) of decisions that together hold at most `rows` rows, or one decision."""
    begin, last = 0, len(starts) - 1
    while begin < last:
        end = int(np.searchsorted(starts, starts[begin] + rows, side="right")) - 1
        end = max(end, begin + 1)
        yield begin, end
        begin = end
