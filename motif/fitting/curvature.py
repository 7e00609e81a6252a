"""Sums over rows of the products of their terms' slopes: Gauss-Newton's curvature as a matrix.

They are taken over the terms of CENTRED features, because float32 sums over features with a large
common part lose the small differences that matter, and of centred point terms; `centring` turns the
result into that of the terms themselves.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy import sparse

from motif.fitting.design import in_threads, term_sums
from motif.fitting.problem import Problem, Rows
from motif.fitting.ranking import RankingOperator
from motif.fitting.terms import FloatArray, IntArray, Terms

CHUNK_ROWS = 4096
"""Rows that a thread expands to all their terms at a time: 25 MB at 1,540 weights."""


def centred_gram(
    terms: Terms,
    train: Rows,
    rows: IntArray,
    factors: FloatArray,
    operator: RankingOperator,
    means: npt.NDArray[np.float32],
) -> FloatArray:
    """(M J)^T (M J), (count, count): J's rows are the centred terms of `rows` of `train`, times `factors`.

    `operator` is M for those rows; `means` are those of the features, then those of the point terms.
    """
    of_features, of_points = means[: terms.size], means[terms.size :]

    def chunk_gram(chunk: tuple[int, int]) -> npt.NDArray[np.float32]:
        part = slice(operator.starts[chunk[0]], operator.starts[chunk[1]])
        boards = None if train.boards is None else train.boards[rows[part]]
        jacobian = terms.expand(train.features[rows[part]] - of_features, boards)
        jacobian[:, terms.first_point :] -= of_points
        jacobian *= factors[part].astype(np.float32)[:, None]
        operator.of_decisions(*chunk).apply_to_rows(jacobian)
        return jacobian.T @ jacobian  # NumPy lets other threads run meanwhile

    gram = np.zeros((terms.count, terms.count))
    for part in in_threads(chunk_gram, list(decision_chunks(operator.starts, CHUNK_ROWS))):
        gram += part
    return gram


def curvature(
    problem: Problem, rows: IntArray, slopes: FloatArray, operator: RankingOperator, most_rows: int
) -> FloatArray:
    """Half the curvature of the error (count, count) that the training rows `rows` bring, ascending numbers.

    `slopes` and `operator` are those of all training rows; plays of a decision that are not among `rows`
    are left out.  Of more than `most_rows` rows, about so many are taken, whole decisions spread evenly,
    and the result is scaled up.
    """
    train, terms = problem.train, problem.terms
    decision = np.searchsorted(operator.starts, rows, side="right")
    first = np.flatnonzero(np.diff(decision, prepend=-1))
    step = -(-len(rows) // most_rows)
    lengths = np.diff(first, append=len(rows))
    taken = np.repeat(np.arange(len(first)) % step == 0, lengths)
    chosen, starts = rows[taken], np.concatenate([[0], np.cumsum(lengths[::step])])
    part = RankingOperator(operator.strength, operator.roots[chosen], starts)
    factors = slopes[chosen] * np.sqrt(len(rows) / max(1, len(chosen)))
    squares = factors**2
    boards = None if train.boards is None else train.boards[chosen]
    sums = term_sums(Terms.linear(terms.size, terms.points), train.features[chosen], squares, boards=boards)
    means = (sums[1:] / sums[0] if sums[0] > 0 else sums[1:]).astype(np.float32)
    transform = centring(terms, means)
    gram = centred_gram(terms, train, chosen, factors, part, means)
    return np.asarray(transform.T @ (transform.T @ gram).T)


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
