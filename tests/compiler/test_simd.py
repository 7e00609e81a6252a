"""Weighted sums in vector instructions, compared with sums in float64 or in the documented order."""

from fractions import Fraction

import numpy as np
import pytest
from numba import njit

from motif.compiler import simd
from motif.compiler.jit import kernel
from motif.compiler.simd import (
    COLUMNS_AT_ONCE,
    FORM_ROWS,
    GROUP,
    LANES,
    OUTPUT_COUNT,
    TOGETHER,
    WIDTH,
    add_at_points,
    add_rows,
    add_run,
    add_weighted_rows,
    aligned,
    column_sums,
    grouped_dot,
    nonzero_bits,
    squash_at_points,
    sums_of_squashed,
    transpose_tile,
)
from motif.evaluators.hidden_layer import squash_units


@kernel
def dot_of_groups(features, sums, first, stride, blocks):
    return grouped_dot(features, sums, first, stride, blocks)


@kernel
def weighted_rows_added(factors, rows, picked, before, begins, starts, sums, count):
    add_weighted_rows(factors, rows, picked, before, begins, starts, sums, count)


@kernel
def bits_of_nonzero(numbers, first):
    return nonzero_bits(numbers, first)


@kernel
def rows_added(picked, table, start, sums):
    add_rows(picked, table, start, sums)


@kernel
def added_at_points(packed, side, points, table, first, start, sums):
    add_at_points(packed, side, points, table, first, start, sums)


@kernel
def squashed_at_points(packed, side, points, table, first, start, amounts):
    return squash_at_points(packed, side, points, table, first, start, amounts)


@kernel
def squashed_sums(amounts, sums, count, results):
    sums_of_squashed(amounts, sums, count, results)


@kernel
def tile_transposed(rows, first, column, block, place):
    transpose_tile(rows, first, column, block, place)


@kernel
def run_added(block, places, weights, begin, end, own, sums):
    add_run(block, places, weights, begin, end, own, sums)


@kernel
def columns_summed(factors, own, block, columns, strip, length, sums):
    column_sums(factors, own, block, columns, strip, length, sums)


def in_groups(rows: np.ndarray) -> np.ndarray:
    """Return rows float32 (n, w) in groups of columns (w / GROUP, n, GROUP)."""
    return np.ascontiguousarray(rows.astype(np.float32).reshape(len(rows), -1, GROUP).swapaxes(0, 1))


def fused_all(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a b + c in float32, rounded once: the product of two float32 is exact in long double."""
    return (np.asarray(a).astype(np.longdouble) * b + c).astype(np.float32)


def fused(a: float, b: float, c: float) -> float:
    """a b + c, rounded once."""
    return float(Fraction(a) * Fraction(b) + Fraction(c))


@pytest.mark.parametrize(
    ("first", "stride", "blocks"), [(0, 1, 1), (0, 1, 4), (1, 3, 3), (2, 2, 5), (4, 1, 0)]
)
def test_the_dot_product_of_groups_is_summed_in_sixteen_lanes(first, stride, blocks):
    rng = np.random.default_rng(6)
    features, sums = rng.normal(size=5 * GROUP), rng.normal(size=12 * GROUP)
    lanes = np.zeros(GROUP)
    for block in range(blocks):
        f, s = (array.astype(np.float32).reshape(-1, GROUP) for array in (features, sums))
        lanes = fused_all(f[block], s[first + block * stride], lanes)
    while len(lanes) > 1:
        lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
    found = dot_of_groups(features.astype(np.float32), sums.astype(np.float32), first, stride, blocks)
    assert found == lanes[0]


def test_where_arrays_begin_does_not_change_a_bit():
    rng = np.random.default_rng(5)
    features, sums = rng.normal(size=(2, 6 * GROUP)).astype(np.float32)
    expected = dot_of_groups(features, sums, 1, 2, 2)
    for shift in range(1, 9):
        arrays = []
        for array in (features, sums):
            room = np.zeros(len(array) + shift, np.float32)
            room[shift:] = array
            arrays.append(room[shift:])
        assert dot_of_groups(*arrays, 1, 2, 2) == expected


def test_aligned_copies_only_what_needs_it():
    room = np.zeros(100, np.float32)
    start = (-room.ctypes.data % 64) // 4
    good = room[start : start + 32]
    assert aligned(good) is good
    moved = aligned(room[start + 1 : start + 33].copy())
    assert moved.ctypes.data % 64 == 0


def test_rows_are_weighted_for_several_sums_together():
    rng = np.random.default_rng(3)
    size = 3 * GROUP - 5
    factors, rows = rng.normal(size=(TOGETHER, size + 2)), rng.normal(size=(size, 2 * WIDTH))
    begins = np.array([0, 0, 0, 1, 1, 2, 3, 3])
    for group, begin in enumerate(begins):
        rows[: begin * GROUP, group * GROUP : (group + 1) * GROUP] = 0
    picked = np.flatnonzero(rng.random(size) < 0.7)
    before = np.searchsorted(picked, np.minimum(np.arange(4) * GROUP, size))
    arrays = factors.astype(np.float32), in_groups(rows), picked, before, begins
    old = rng.normal(size=(TOGETHER, 2 * WIDTH + 5)).astype(np.float32)
    for starts in (old, old[1:2]):
        expected = starts[:, : 2 * WIDTH] + factors[:, picked] @ rows[picked]
        sums = old.copy()
        weighted_rows_added(*arrays, starts, sums, TOGETHER)
        assert sums[:, : 2 * WIDTH] == pytest.approx(expected, abs=1e-5)
        assert (sums[:, 2 * WIDTH :] == old[:, 2 * WIDTH :]).all()
        for count in range(TOGETHER):
            few = old.copy()
            weighted_rows_added(*arrays, starts, few, count)
            assert (few[:count] == sums[:count]).all()
            assert (few[count:] == old[count:]).all()
    sums = old.copy()
    weighted_rows_added(*arrays, old, sums, TOGETHER)
    weighted_rows_added(*arrays, old, old, TOGETHER)
    assert (old == sums).all()


def test_bits_tell_which_numbers_are_not_zero():
    numbers = np.zeros(3 * GROUP, np.float32)
    numbers[[3, GROUP, GROUP + 2, 2 * GROUP - 1, 2 * GROUP]] = 1, -1e-30, np.nan, np.inf, 5
    numbers[GROUP + 1] = -0.0
    assert bits_of_nonzero(numbers, GROUP) == 1 | 1 << 2 | 1 << GROUP - 1
    assert bits_of_nonzero(numbers, 0) == 1 << 3
    assert bits_of_nonzero(numbers, 1) == 1 << 2 | 1 << GROUP - 1


def test_picked_rows_of_a_table_are_added():
    rng = np.random.default_rng(4)
    table = rng.normal(size=(2, 3, 5, 2 * WIDTH)).astype(np.float32)
    picked = np.array([29, 0, 17, 17])
    sums = rng.normal(size=2 * WIDTH).astype(np.float32)
    start = rng.normal(size=2 * WIDTH).astype(np.float32)
    expected = start + table.reshape(30, -1)[picked].sum(axis=0)
    rows_added(picked, table, start, sums)
    assert sums == pytest.approx(expected, abs=1e-5)
    rows_added(picked, table, start, start)
    assert (start == sums).all()


def test_squashed_sums_are_added_lane_by_lane():
    rng = np.random.default_rng(7)
    amounts = rng.normal(size=(OUTPUT_COUNT, 3 * GROUP)).astype(np.float32)
    sums = rng.normal(size=3 * GROUP).astype(np.float32)
    sums[:4] = 1e9, -1e9, 3.0, np.inf
    x = np.clip(sums, -3, 3).astype(np.float32)
    above, below = x * (np.float32(27) + x * x), fused_all(np.float32(9), x * x, np.float32(27))
    squashed = above / below
    results = np.zeros(OUTPUT_COUNT)
    squashed_sums(amounts, sums, 3 * GROUP, results)
    for row, result in zip(amounts, results, strict=True):
        lanes = np.zeros(GROUP, np.float32)
        for first in range(0, 3 * GROUP, GROUP):
            lanes = fused_all(row[first : first + GROUP], squashed[first : first + GROUP], lanes)
        while len(lanes) > 1:
            lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
        assert result == lanes[0]
    assert squashed[:4].tolist() == [1, -1, 1, 1]


@pytest.mark.parametrize(("lanes", "columns"), [(LANES, 2 * LANES), (2 * LANES, WIDTH)])
def test_the_length_of_vectors_changes_no_bit(lanes, columns, monkeypatch):
    monkeypatch.setattr(simd, "_LONG", lanes)
    monkeypatch.setattr(simd, "_COLUMNS", columns)
    rng = np.random.default_rng(8)
    factors = rng.normal(size=(TOGETHER, 70)).astype(np.float32)
    rows = rng.normal(size=(70, 2 * WIDTH)).astype(np.float32)
    picked = rng.integers(0, 70, 29)
    sums = rng.normal(size=(TOGETHER, 2 * WIDTH)).astype(np.float32)
    expected = sums.copy()

    # Compiled here and not stored: the files on disk are for this machine's vector length.
    @njit
    def both(factors, grouped, rows, weighted, before, begins, picked, sums):
        add_weighted_rows(factors, grouped, weighted, before, begins, sums, sums, TOGETHER)
        add_rows(picked, rows, sums[0], sums[0])

    for row in range(70):
        expected = fused_all(factors[:, row, None], rows[row], expected)
    for row in picked:
        expected[0] += rows[row]
    nothing = np.zeros(2 * WIDTH // GROUP, np.int64)
    both(factors, in_groups(rows), rows, np.arange(70), nothing, nothing, picked, sums)
    assert (sums == expected).all()


@pytest.mark.parametrize("lanes", [LANES, 2 * LANES])
@pytest.mark.parametrize("points", [0, 1, 0b1000000000000000000000110])
def test_rows_for_the_checkers_at_points_are_added(points, lanes, monkeypatch):
    monkeypatch.setattr(simd, "_LONG", lanes)
    rng = np.random.default_rng(points)
    table = rng.normal(0, 2, (3, 25, 16, GROUP)).astype(np.float32)
    start, amounts = rng.normal(size=(2, GROUP)).astype(np.float32)
    packed = rng.integers(0, 16, 64).astype(np.int8)
    sums, expected = np.zeros(GROUP, np.float32), start.copy()
    for point in range(25):
        if points >> point & 1:
            expected += table[1, point, packed[32 + point]]
    if lanes == LANES:
        added_at_points(packed, 32, np.uint64(points), table, 25, start, sums)
        found = squashed_at_points(packed, 32, np.uint64(points), table, 25, start, amounts)
    else:  # compiled here and not stored, as above

        @njit
        def both(packed, points, table, start, sums, amounts):
            add_at_points(packed, 32, points, table, 25, start, sums)
            return squash_at_points(packed, 32, points, table, 25, start, amounts)

        found = both(packed, np.uint64(points), table, start, sums, amounts)
    assert sums.tobytes() == expected.tobytes()
    assert found == pytest.approx((amounts * squash_units(expected)).sum(), rel=1e-5, abs=1e-5)


def test_a_tile_is_transposed():
    rows = np.random.default_rng(9).normal(size=(LANES + 5, LANES + 3)).astype(np.float32)
    block = np.zeros((LANES + 3, LANES + 7))
    tile_transposed(rows, 4, 2, block, 5)
    expected = np.zeros_like(block)
    expected[2 : 2 + LANES, 5 : 5 + LANES] = rows[4 : 4 + LANES, 2 : 2 + LANES].T
    assert (block == expected).all()


def test_a_run_is_added_in_its_order():
    rng = np.random.default_rng(10)
    block, weights, sums = rng.normal(size=(6, FORM_ROWS)), rng.normal(size=9), rng.normal(size=FORM_ROWS)
    places = np.array([5, 0, 3, 3, 1, 4, 2, 0, 5])
    expected = []
    for k, total in enumerate(sums):
        inner = 0.0
        for p in range(2, 8):
            inner = fused(weights[p], block[places[p], k], inner)
        expected.append(fused(inner, block[4, k], total))
    run_added(block, places, weights, 2, 8, 4, sums)
    assert sums.tolist() == expected
    run_added(block, places, weights, 3, 3, 4, sums)
    assert sums.tolist() == expected


@pytest.mark.parametrize("length", [1, 3, 4, 15, 16, 18, 20, 31, 48, 63])
def test_columns_are_summed_in_sixteen_lanes_then_four_then_one_by_one(length):
    rng = np.random.default_rng(length)
    factors, block = rng.normal(size=(2, 5, 64))
    columns = rng.integers(0, 5, (3, COLUMNS_AT_ONCE))
    sums = np.full(COLUMNS_AT_ONCE, np.nan)
    columns_summed(factors, 3, block, columns, 1, length, sums)
    for column, found in zip(columns[1], sums, strict=True):
        products, total, begin = list(zip(factors[3], block[column], strict=True)), 0.0, 0
        for lanes in (16, 4, 1):
            own = [total, *[0.0] * (lanes - 1)]
            while begin + lanes <= length:
                own = [fused(*products[begin + k], own[k]) for k in range(lanes)]
                begin += lanes
            if lanes == 16:
                fours = [(own[k] + own[4 + k]) + (own[8 + k] + own[12 + k]) for k in range(4)]
            else:
                fours = (own + [0.0] * 3)[:4]
            total = (fours[0] + fours[2]) + (fours[1] + fours[3])
        assert found == total


def test_how_much_is_summed_together_changes_no_bit(monkeypatch):
    rng = np.random.default_rng(11)
    block, weights = rng.normal(size=(4, 64)), rng.normal(size=7)
    places, columns = rng.integers(0, 4, 7), rng.integers(0, 4, 8)

    def sums_of(rows, together):
        """The sums on a machine with registers of this size."""
        monkeypatch.setattr(simd, "FORM_ROWS", rows)
        monkeypatch.setattr(simd, "COLUMNS_AT_ONCE", together)

        @njit
        def forms(block, places, weights, sums):
            add_run(block, places, weights, 0, len(weights), 2, sums)

        @njit
        def of_columns(block, columns, strip, sums):
            column_sums(block, 1, block, columns, strip, 61, sums)

        raw, sums = [], []
        for first in range(0, 64, rows):
            part = np.zeros(rows)
            forms(np.ascontiguousarray(block[:, first : first + rows]), places, weights, part)
            raw += part.tolist()
        strips = columns.reshape(-1, together)
        for strip in range(len(strips)):
            part = np.zeros(together)
            of_columns(block, strips, strip, part)
            sums += part.tolist()
        return raw, sums

    assert sums_of(64, 8) == sums_of(32, 2)
