"""Gauss-Newton's curvature as a matrix: sums over rows of products of the terms' slopes.

Sums are taken over terms of centred features, because float32 sums over features with a large common part
lose the small differences that matter; `centring` transforms the result to the original terms.

With all pairs, the curvature consists of fourth moments of features, which are fewer than its entries. A term
is a product of two of the variables g_0 = 1, g_1, ... g_size, so an entry of the curvature is the sum over
rows of a product of four. Which two of the four form a term does not matter, so only sums with a <= b <= c <=
d are needed: about size^4 / 24, while the triangle of a Gram matrix has size^4 / 8.

The sums are computed as matrix products: for each group of neighbouring b, the columns g_a g_b with a <= b
times the columns g_c g_d with c not below the group's first b. Some sums are therefore computed more than
once.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor

from motif.compiler.jit import fast_kernel, inline_kernel, kernel
from motif.fitting.design import in_threads, term_sums
from motif.fitting.problem import FitRows, RankingOperator
from motif.fitting.terms import Terms
from motif.runtime.arrays import Float32Array, FloatArray, IntArray
from motif.runtime.errors import FitError

_CHUNK_ROWS = 4096
"""Rows that a thread expands to all their terms together: 25 MB at 1,540 weights."""
_FIRST_JITTER, _LAST_JITTER = 1e-6, 1.0
"""Shares of the diagonal that are added, because float32 sums over collinear terms may not be positive
definite.
"""
_MIN_DIAGONAL = 1e-9
"""Minimum of a term's diagonal for jitter, as a share of the mean diagonal."""

_MIN_COLUMNS = 160
"""Number of columns in a group; fewer would not fill the vector registers of a matrix product."""


def factorised(centred: FloatArray, transform: sparse.csr_array, penalty: FloatArray) -> FloatArray:
    """Return the upper Cholesky factor of T^T `centred` T + diag(`penalty`), with little jitter.

    `transform` is T (count, count), and `penalty` is (count,).
    """
    turned = transform.T.tocsr()
    turned.sort_indices()  # the order of sums
    places, diagonal = np.diag_indices_from(centred), centred.diagonal()
    # A term that never occurs has no diagonal; its gradient is zero for any value here.
    floor = np.maximum(diagonal, _MIN_DIAGONAL * diagonal.mean() or 1.0)
    jittered, jitter = centred.copy(), _FIRST_JITTER
    while jitter <= _LAST_JITTER:
        jittered[places] = diagonal + jitter * floor
        transformed = turned @ (turned @ jittered).T
        transformed[places] += penalty
        try:
            return np.asarray(cho_factor(transformed, check_finite=False)[0])
        except LinAlgError:
            jitter *= 10
    raise FitError("the normal equations of these features cannot be factorised")


def curvature_over(
    terms: Terms,
    train: FitRows,
    rows: IntArray,
    factors: FloatArray,
    operator: RankingOperator,
    means: Float32Array,
) -> FloatArray:
    """Return (M J)^T (M J), where J's rows are the centred terms of `rows` of `train`, times `factors`.

    `operator` is M for those rows; `means` are the features' means, for centring. Terms of features that are
    0 in all rows, which are common in races, cost nothing.
    """
    features = train.features[rows] - means
    # Keep at least one feature, even if there are no rows.
    kept = np.flatnonzero(features.any(axis=0)) if features.any() else np.arange(1)
    some, places = terms.among(kept)
    features = features[:, kept]

    def chunk_gram(chunk: tuple[int, int]) -> Float32Array:
        part = slice(operator.starts[chunk[0]], operator.starts[chunk[1]])
        jacobian = some.expand(features[part], factors[part])
        operator.of_decisions(*chunk).apply_to_rows(jacobian)
        return jacobian.T @ jacobian  # NumPy lets other threads run meanwhile

    gram = np.zeros((some.count, some.count))
    for part in in_threads(chunk_gram, list(decision_chunks(operator.starts, _CHUNK_ROWS))):
        gram += part
    if len(places) == terms.count:
        return gram
    out = np.zeros((terms.count, terms.count))
    out[np.ix_(places, places)] = gram
    return out


def centres(terms: Terms, rows: FitRows, shares: FloatArray) -> Float32Array:
    """Return the means of the features of `rows`, weighted by `shares` (n,)."""
    sums = term_sums(Terms.linear(terms.size), rows.features, shares)
    return (sums[1:] / sums[0] if sums[0] > 0 else sums[1:]).astype(np.float32)


def centring(terms: Terms, means: npt.ArrayLike) -> sparse.csr_array:
    """Return T (count, count): term values of features = term values of (features - means), times T.

    f_i f_j = g_i g_j + m_j g_i + m_i g_j + m_i m_j for f = g + m. `means` are those of the features.
    """
    m = np.asarray(means, np.float64)
    first, second = terms.pairs.T
    linear = 1 + np.arange(terms.size)
    pairs = 1 + terms.size + np.arange(len(first))
    every = np.arange(terms.count)
    columns = np.concatenate([every, linear, pairs, pairs, pairs])
    rows = np.concatenate([every, 0 * linear, 1 + first, 1 + second, 0 * pairs])
    ones = np.ones(terms.count)
    values = np.concatenate([ones, m, m[second], m[first], m[first] * m[second]])
    return sparse.csr_array((values, (rows, columns)), shape=(terms.count, terms.count))


def decision_chunks(starts: IntArray, rows: int) -> Iterator[tuple[int, int]]:
    """Yield ranges (begin, end) of decisions with at most `rows` rows in all, or a single decision."""
    begin, last = 0, len(starts) - 1
    while begin < last:
        end = int(np.searchsorted(starts, starts[begin] + rows, side="right")) - 1
        end = max(end, begin + 1)
        yield begin, end
        begin = end


def sums_needed(size: int) -> int:
    """Return the number of sums of products of four that `moment_curvature` computes for `size` features."""
    return int(_groups(size)[1][-1])


def moment_curvature(
    terms: Terms, train: FitRows, rows: IntArray, factors: FloatArray, means: Float32Array
) -> FloatArray:
    """Return J^T J, where J's rows are the centred terms of `rows` of `train`, times `factors`.

    The result is that of `curvature_over` without a ranking term, apart from rounding.
    """
    size, (firsts, places) = terms.size, _groups(terms.size)
    columns = _triangle(size + 1)

    def chunk_sums(begin: int) -> Float32Array:
        part = slice(begin, begin + _CHUNK_ROWS)
        centred = train.features[rows[part]] - means
        by_first, by_second = np.empty((2, len(centred), columns), np.float32)
        _products(centred, factors[part].astype(np.float32), by_first, by_second)
        out = np.empty(places[-1], np.float32)
        for group, (low, high) in enumerate(pairwise(firsts)):
            left = by_second[:, _triangle(low) : _triangle(high)]
            right = by_first[:, _by_first(low, low, size) :]
            here = out[places[group] : places[group + 1]]
            np.matmul(left.T, right, out=here.reshape(left.shape[1], right.shape[1]))
        return out

    total = np.zeros(places[-1])
    for sums in in_threads(chunk_sums, range(0, len(rows), _CHUNK_ROWS)):
        total += sums
    first, second = terms.variables
    group_of = np.searchsorted(firsts, np.arange(1 + size), side="right") - 1
    gram = np.empty((terms.count, terms.count))
    _gather(total, first, second, group_of, firsts, places, size, gram)
    return gram


def _groups(size: int) -> tuple[IntArray, IntArray]:
    """Return the first b of each group and where its sums begin; size + 1 and the number of sums last."""
    firsts, places = [0], [0]
    for last in range(size + 1):
        low = firsts[-1]
        width = _triangle(last + 1) - _triangle(low)
        if width >= _MIN_COLUMNS or last == size:
            firsts.append(last + 1)
            places.append(places[-1] + width * (_triangle(size + 1) - _by_first(low, low, size)))
    return np.array(firsts), np.array(places)


@inline_kernel
def _by_first(a, b, size):
    """Return the place of a <= b among all pairs of 0 ... size, ordered by a, then by b."""
    return a * (size + 1) - a * (a - 1) // 2 + b - a


@inline_kernel
def _triangle(count):
    """Return the number of pairs a <= b of `count` variables: the place of (0, count) by b, then a."""
    return count * (count + 1) // 2


@fast_kernel
def _products(features, factors, by_first, by_second):
    """Fill both (n, pairs) with the products of all pairs of 1 and the features, times the row's factor."""
    size = features.shape[1]
    values = np.empty(size + 1, np.float32)
    values[0] = 1.0
    for k in range(len(features)):
        values[1:] = features[k]
        place = 0
        for a in range(size + 1):
            factor = factors[k] * values[a]
            for b in range(a, size + 1):
                by_first[k, place + b - a] = factor * values[b]
            place += size + 1 - a
        place = 0
        for b in range(size + 1):
            factor = factors[k] * values[b]
            for a in range(b + 1):
                by_second[k, place + a] = values[a] * factor
            place += b + 1


@inline_kernel
def _sorted_pair(a, b):
    return (a, b) if a <= b else (b, a)


@kernel
def _gather(sums, first, second, group_of, firsts, places, size, gram):
    """Fill `gram` (count, count) from the sums of products of four."""
    last = _triangle(size + 1)
    for p in range(len(first)):
        for q in range(p + 1):
            # Sort four variables, from two terms with sorted variables.
            low, a = _sorted_pair(first[p], first[q])
            b, high = _sorted_pair(second[p], second[q])
            a, b = _sorted_pair(a, b)
            group = group_of[a]
            start = firsts[group]
            skipped = _by_first(start, start, size)
            row = _triangle(a) + low - _triangle(start)
            column = _by_first(b, high, size) - skipped
            gram[p, q] = gram[q, p] = sums[places[group] + row * (last - skipped) + column]
