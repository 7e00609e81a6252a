"""Fourth moments of features: the curvature of a form with all pairs, from less than half of the products.

A term is a product of two of the variables g_0 = 1, g_1, ... g_size, and an entry of the curvature the
sum over rows of a product of four.  Which two of the four belong to one term does not matter, so only
sums with a <= b <= c <= d are needed: about size^4 / 24, where the triangle of a Gram matrix has size^4 / 8.

They are taken as products of matrices: for each group of neighbouring b, the columns g_a g_b with a <= b
times the columns g_c g_d with c not below the group's first b.  So some sums are taken more than once.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.fitting.curvature import CHUNK_ROWS, Curvature, centring
from motif.fitting.design import in_threads
from motif.fitting.problem import Rows
from motif.fitting.terms import FloatArray, IntArray, Terms
from motif.runtime.jit import fast_kernel, inline_kernel, kernel

_LEAST_COLUMNS = 160
"""Columns of a group: fewer would not fill the vector registers of a product of matrices."""


class _Groups(NamedTuple):
    """Variables b in groups, and where the sums of each group stand in one array (total,)."""

    firsts: IntArray
    """(groups + 1,): the first b of each group, and size + 1 last."""
    places: IntArray
    """(groups + 1,): where the sums of each group begin, and the total last."""


def sums_needed(size: int) -> int:
    """How many sums of products of four `moment_curvature` takes for `size` features."""
    return int(_groups(size).places[-1])


def moment_curvature(
    terms: Terms, train: Rows, rows: IntArray, factors: FloatArray, means: npt.NDArray[np.float32]
) -> Curvature:
    """J^T J, where J's rows are the terms of `rows` of `train`, times `factors`; without point terms.

    `means` (size,) are those to centre by.  What `motif.fitting.curvature.curvature_over` gives without a
    ranking term, but for rounding.
    """
    size, groups = terms.size, _groups(terms.size)
    columns = (size + 1) * (size + 2) // 2

    def chunk_sums(begin: int) -> npt.NDArray[np.float32]:
        part = slice(begin, begin + CHUNK_ROWS)
        centred = train.features[rows[part]] - means
        by_first, by_second = np.empty((2, len(centred), columns), np.float32)
        _products(centred, factors[part].astype(np.float32), by_first, by_second)
        out = np.empty(groups.places[-1], np.float32)
        for group, (low, high) in enumerate(zip(groups.firsts[:-1], groups.firsts[1:], strict=True)):
            left = by_second[:, _by_second(0, low) : _by_second(0, high)]
            right = by_first[:, _by_first(low, low, size) :]
            here = out[groups.places[group] : groups.places[group + 1]]
            np.matmul(left.T, right, out=here.reshape(left.shape[1], right.shape[1]))
        return out

    total = np.zeros(groups.places[-1])
    for sums in in_threads(chunk_sums, range(0, len(rows), CHUNK_ROWS)):
        total += sums
    # The variables of each term: 0 is the constant.
    linear = np.arange(1 + size)
    first, second = np.concatenate([0 * linear, terms.first + 1]), np.concatenate([linear, terms.second + 1])
    group_of = np.searchsorted(groups.firsts, linear, side="right") - 1
    gram = np.empty((len(first), len(first)))
    _gather(total, first, second, group_of, groups.firsts, groups.places, size, gram)
    return Curvature(gram, centring(terms, means))


def _groups(size: int) -> _Groups:
    firsts, places = [0], [0]
    for last in range(size + 1):
        low = firsts[-1]
        width = _by_second(0, last + 1) - _by_second(0, low)
        if width >= _LEAST_COLUMNS or last == size:
            firsts.append(last + 1)
            places.append(places[-1] + width * (_by_first(size, size, size) + 1 - _by_first(low, low, size)))
    return _Groups(np.array(firsts), np.array(places))


def _by_first(a: int, b: int, size: int) -> int:
    """Place of a <= b among all pairs of 0 ... size, in order of a, then of b."""
    return int(_place_by_first(a, b, size))


def _by_second(a: int, b: int) -> int:
    """Place of a <= b among all pairs, in order of b, then of a."""
    return int(b * (b + 1) // 2 + a)


@inline_kernel
def _place_by_first(a, b, size):
    return a * (size + 1) - a * (a - 1) // 2 + b - a


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
    last = (size + 1) * (size + 2) // 2
    for p in range(len(first)):
        for q in range(p + 1):
            # Four variables in order, from two terms that each have theirs in order.
            low, a = _sorted_pair(first[p], first[q])
            b, high = _sorted_pair(second[p], second[q])
            a, b = _sorted_pair(a, b)
            group = group_of[a]
            start = firsts[group]
            skipped = _place_by_first(start, start, size)
            row = a * (a + 1) // 2 + low - start * (start + 1) // 2
            column = _place_by_first(b, high, size) - skipped
            gram[p, q] = gram[q, p] = sums[places[group] + row * (last - skipped) + column]
