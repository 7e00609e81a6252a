"""Products with the (n, count) matrix X of term values, without ever forming it.

The kernels work on blocks of rows that stay in the caches, column by column, so that SIMD vectors run along
rows. The rows are divided into fixed chunks for the threads; sums are added in the order of the chunks, so
the result is bit-identical for any number of threads.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from motif.compiler.jit import kernel
from motif.compiler.simd import (
    ALIGNMENT,
    COLUMNS_AT_ONCE,
    FORM_ROWS,
    LANES,
    add_run,
    column_sums,
    transpose_tile,
)
from motif.fitting.terms import Terms
from motif.runtime.arrays import Float32Array, FloatArray, IntArray, slices
from motif.runtime.parallel import threads_here

_Chunk = TypeVar("_Chunk")
_Result = TypeVar("_Result")

_CHUNK_ROWS = 8192
"""Rows per thread and call."""
_BLOCK_ROWS = 256
"""Rows per block, each of which is summed separately; the sums of blocks are added in order."""


def raw_predictions(
    terms: Terms, features: Float32Array, weights: npt.ArrayLike, power: int = 1
) -> FloatArray:
    """Return X w: raw predictions (n,) of `weights` (count,) on features float32 (n, size).

    With `power`, every term's value is first raised to it.
    """
    products = _products(terms)
    terms.split(weights)  # checks their shape
    vector = np.ascontiguousarray(weights, np.float64)
    raw = np.empty(len(features))

    def work(rows: slice) -> None:
        _raw_chunk(_raised(features[rows], power), vector, products, raw[rows])

    for _ in in_threads(work, slices(len(features), _CHUNK_ROWS)):
        pass
    return raw


def term_sums(terms: Terms, features: Float32Array, row_values: FloatArray, power: int = 1) -> FloatArray:
    """Return X^T q (count,): for every term, the sum over rows of its value times `row_values` (n,).

    With `power`, every term's value is first raised to it.
    """
    products = _products(terms)

    def work(rows: slice) -> FloatArray:
        sums = np.zeros(terms.count)
        _sums_chunk(_raised(features[rows], power), row_values[rows], products, sums)
        return sums

    return sum(in_threads(work, slices(len(features), _CHUNK_ROWS)), np.zeros(terms.count))


def in_threads(work: Callable[[_Chunk], _Result], chunks: Sequence[_Chunk]) -> Iterator[_Result]:
    """Yield the result of `work` for each chunk in order, using all cores, or a worker process's share."""
    workers = min(threads_here(), len(chunks))
    if workers <= 1:
        yield from map(work, chunks)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(work, chunks)


class _Products(NamedTuple):
    """Terms, each the product of two variables (`Terms.variables`).

    Consecutive terms with the same first variable form a run; strips are parts of runs with at most
    `COLUMNS_AT_ONCE` terms.
    """

    second: IntArray
    """(terms,): the second variable of each term."""
    runs: IntArray
    """(runs + 1,): the first term of each run, and the number of terms last."""
    first: IntArray
    """(runs,): the first variable of each run."""
    strips: IntArray
    """(strips, 2): the first term of each strip, and the end of its terms. Strips are ordered so that second
    variables are used again while they are still in the nearest cache.
    """
    first_of_strips: IntArray
    """(strips,): the first variable of each strip."""
    columns: IntArray
    """(strips, `COLUMNS_AT_ONCE`): the second variables, padded with the last one."""


@lru_cache(maxsize=4)
def _products(terms: Terms) -> _Products:
    first, second = terms.variables
    runs = np.append(np.flatnonzero(np.diff(first, prepend=-1)), len(first))
    strips = np.array(
        [
            (max(begin, end - COLUMNS_AT_ONCE), end)
            for begin, last in itertools.pairwise(runs.tolist())
            for end in range(last, begin, -COLUMNS_AT_ONCE)
        ]
    )
    strips = strips[np.argsort(-second[strips[:, 1] - 1], kind="stable")]
    columns = second[np.minimum(strips[:, :1] + np.arange(COLUMNS_AT_ONCE), strips[:, 1:] - 1)]
    return _Products(second, runs, first[runs[:-1]], strips, first[strips[:, 0]], columns)


@kernel
def _room(rows, columns):
    """Return memory for float64 (rows, columns), aligned for fast vector loads."""
    spare = ALIGNMENT // 8
    room = np.empty(rows * columns + spare)
    begin = -(room.ctypes.data // 8) % spare
    return room[begin : begin + rows * columns].reshape((rows, columns))


@kernel
def _load(features, begin, end, block):
    """Write the variables of the rows from `begin` to `end` to the first columns of `block`."""
    count, size = end - begin, features.shape[1]
    whole_rows, whole_columns = count - count % LANES, size - size % LANES
    of_features = block[1:]
    for k in range(count):
        block[0, k] = 1.0
    for row in range(0, whole_rows, LANES):
        for column in range(0, whole_columns, LANES):
            transpose_tile(features, begin + row, column, of_features, row)
    for column in range(size):
        for k in range(0 if column >= whole_columns else whole_rows, count):
            of_features[column, k] = features[begin + k, column]


@kernel
def _raw_chunk(features, weights, products, raw):
    block, sums = _room(1 + features.shape[1], FORM_ROWS), _room(1, FORM_ROWS)[0]
    for i in range(len(block)):
        for k in range(FORM_ROWS):
            block[i, k] = 0.0  # rows beyond the last one count as zero
    for begin in range(0, len(raw), FORM_ROWS):
        count = min(FORM_ROWS, len(raw) - begin)
        _load(features, begin, begin + count, block)
        for k in range(FORM_ROWS):
            sums[k] = 0.0
        for run in range(len(products.first)):
            first, start, end = products.first[run], products.runs[run], products.runs[run + 1]
            add_run(block, products.second, weights, start, end, first, sums)
        for k in range(count):
            raw[begin + k] = sums[k]


@kernel
def _sums_chunk(features, row_values, products, sums):
    size = 1 + features.shape[1]
    block, scaled, totals = _room(size, _BLOCK_ROWS), _room(size, _BLOCK_ROWS), np.empty(COLUMNS_AT_ONCE)
    for begin in range(0, len(row_values), _BLOCK_ROWS):
        count = min(_BLOCK_ROWS, len(row_values) - begin)
        _load(features, begin, begin + count, block)
        for i in range(size):
            for k in range(count):
                scaled[i, k] = row_values[begin + k] * block[i, k]
        for strip in range(len(products.strips)):
            first = products.first_of_strips[strip]
            column_sums(scaled, first, block, products.columns, strip, count, totals)
            start = products.strips[strip, 0]
            for k in range(products.strips[strip, 1] - start):
                sums[start + k] += totals[k]


def _raised(features: Float32Array, power: int) -> Float32Array:
    return np.ascontiguousarray(
        features if power == 1 else features**power
    )  # a product's power is its factors' powers
