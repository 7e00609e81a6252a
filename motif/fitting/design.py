"""Products with the (n, count) matrix X of term values, without ever forming it.

Compiled, in blocks of rows that stay in the cache, column by column so that loops run over rows.
The rows are cut into fixed chunks that threads share out; sums are added in the order of the
chunks, so the result is the same bytes for any number of threads.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from motif.board.packed import Board
from motif.fitting.terms import FloatArray, Terms, add_products, add_sums
from motif.runtime.jit import fast_kernel, inline_kernel
from motif.runtime.parallel import threads_here

_Chunk = TypeVar("_Chunk")
_Result = TypeVar("_Result")

CHUNK_ROWS = 8192
"""Rows that a thread takes at a time."""
_BLOCK_ROWS = 256
"""Rows worked on at once: 54 features of them in float64 are 110 kB."""
_AT_ONCE = 4
"""Pairs worked on at once: what they share is read and written once for all of them."""


def raw_predictions(
    terms: Terms,
    features: npt.NDArray[np.float32],
    weights: npt.ArrayLike,
    power: int = 1,
    boards: Board | None = None,
) -> FloatArray:
    """X w: raw predictions (n,) of `weights` (count,) on features float32 (n, size).

    With `power`, every term's value is raised to it first.  `boards` (n, 26) are needed for point terms.
    """
    parts = terms.split(weights)
    raw = np.empty(len(features))

    def work(rows: slice) -> None:
        values = _raised(features[rows], power)
        _raw_chunk(values, parts.bias, parts.linear, parts.quadratic, terms.first, terms.second, raw[rows])
        if terms.points:
            add_products(terms.needed_boards(boards, len(raw))[rows], parts.points, power, raw[rows])

    for _ in in_threads(work, _row_chunks(len(features))):
        pass
    return raw


def term_sums(
    terms: Terms,
    features: npt.NDArray[np.float32],
    row_values: FloatArray,
    power: int = 1,
    boards: Board | None = None,
) -> FloatArray:
    """X^T q: for every term, the sum over rows of its value times `row_values` (n,); (count,).

    With `power`, every term's value is raised to it first.  `boards` (n, 26) are needed for point terms.
    """

    def work(rows: slice) -> FloatArray:
        sums = np.zeros(terms.count)
        _sums_chunk(_raised(features[rows], power), row_values[rows], terms.first, terms.second, sums)
        if terms.points:
            here = terms.needed_boards(boards, len(features))[rows]
            add_sums(here, row_values[rows], power, sums[terms.first_point :])
        return sums

    return sum(in_threads(work, _row_chunks(len(features))), np.zeros(terms.count))


def in_threads(work: Callable[[_Chunk], _Result], chunks: Sequence[_Chunk]) -> Iterator[_Result]:
    """Yield `work` of each chunk in their order; all cores, or a worker's part, share them."""
    workers = min(threads_here(), len(chunks))
    if workers <= 1:
        yield from map(work, chunks)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(work, chunks)


@fast_kernel
def _load_block(features, begin, end, block):
    for i in range(features.shape[1]):
        for k in range(end - begin):
            block[i, k] = features[begin + k, i]


@inline_kernel
def _run_end(first, begin):
    """Where the run of pairs with the same first feature that begins at `begin` ends."""
    end = begin
    while end < len(first) and first[end] == first[begin]:
        end += 1
    return end


@fast_kernel
def _raw_chunk(features, bias, linear, quadratic, first, second, raw):
    block = np.empty((features.shape[1], _BLOCK_ROWS))
    factor = np.empty(_BLOCK_ROWS)
    for begin in range(0, len(raw), _BLOCK_ROWS):
        end = min(begin + _BLOCK_ROWS, len(raw))
        _load_block(features, begin, end, block)
        out = raw[begin:end]
        out[:] = bias
        for i in range(features.shape[1]):
            for k in range(len(out)):
                out[k] += linear[i] * block[i, k]
        p = 0
        while p < len(first):  # a run of pairs with the same first feature shares one product
            i, last = first[p], _run_end(first, p)
            factor[:] = 0.0
            while p + _AT_ONCE <= last:
                w0, w1, w2, w3 = quadratic[p], quadratic[p + 1], quadratic[p + 2], quadratic[p + 3]
                c0, c1 = block[second[p]], block[second[p + 1]]
                c2, c3 = block[second[p + 2]], block[second[p + 3]]
                for k in range(len(out)):
                    factor[k] = (((factor[k] + w0 * c0[k]) + w1 * c1[k]) + w2 * c2[k]) + w3 * c3[k]
                p += _AT_ONCE
            while p < last:
                weight, column = quadratic[p], block[second[p]]
                for k in range(len(out)):
                    factor[k] += weight * column[k]
                p += 1
            for k in range(len(out)):
                out[k] += factor[k] * block[i, k]


@fast_kernel
def _sums_chunk(features, row_values, first, second, sums):
    size = features.shape[1]
    block = np.empty((size, _BLOCK_ROWS))
    scaled = np.empty(_BLOCK_ROWS)
    for begin in range(0, len(row_values), _BLOCK_ROWS):
        end = min(begin + _BLOCK_ROWS, len(row_values))
        _load_block(features, begin, end, block)
        values = row_values[begin:end]
        sums[0] += values.sum()
        for i in range(size):
            total = 0.0
            for k in range(len(values)):
                total += values[k] * block[i, k]
            sums[1 + i] += total
        p, sums_of_pairs = 0, sums[1 + size :]
        while p < len(first):
            i, last = first[p], _run_end(first, p)
            for k in range(len(values)):
                scaled[k] = values[k] * block[i, k]
            while p + _AT_ONCE <= last:
                c0, c1 = block[second[p]], block[second[p + 1]]
                c2, c3 = block[second[p + 2]], block[second[p + 3]]
                t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
                for k in range(len(values)):
                    value = scaled[k]
                    t0 += value * c0[k]
                    t1 += value * c1[k]
                    t2 += value * c2[k]
                    t3 += value * c3[k]
                sums_of_pairs[p] += t0
                sums_of_pairs[p + 1] += t1
                sums_of_pairs[p + 2] += t2
                sums_of_pairs[p + 3] += t3
                p += _AT_ONCE
            while p < last:
                total, column = 0.0, block[second[p]]
                for k in range(len(values)):
                    total += scaled[k] * column[k]
                sums_of_pairs[p] += total
                p += 1


def _row_chunks(rows: int) -> list[slice]:
    return [slice(begin, begin + CHUNK_ROWS) for begin in range(0, rows, CHUNK_ROWS)]


def _raised(features: npt.NDArray[np.float32], power: int) -> npt.NDArray[np.float32]:
    return features if power == 1 else features**power  # a product's power is its factors' powers
