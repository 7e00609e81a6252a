"""Weighted sums with vector instructions, added in the same order on every machine.

Float32 is for play, for one or a few boards; float64 is for fits, for many rows.

LLVM vectorises a sum only if it may reorder it, and then the last bits depend on the machine.  Here the lanes
and their order are explicit, and every product is added by a fused multiply-add, which rounds once
everywhere: equal features and weights give equal bits on any processor.
"""

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from llvmlite import binding, ir
from numba.core import cgutils, types

from motif.compiler.jit import intrinsic

LANES = 8
"""Lanes of a vector of float32."""
GROUP = 2 * LANES
"""Number of columns that a head's sums are stored in together: see `grouped_dot`."""
ALIGNMENT = 64
"""Alignment in bytes at which arrays load fastest; it is not required."""
WIDTH = 8 * LANES
"""The lengths of sums of rows are multiples of this."""
TOGETHER = 4
"""Number of boards whose rows are weighted together."""
_HAS_LONG_VECTORS = binding.get_host_cpu_features().get("avx512f", False)
_LONG = 2 * LANES if _HAS_LONG_VECTORS else LANES
"""Lanes of a sum of rows; each lane is a separate sum, so their number does not change any bit."""
_COLUMNS = WIDTH if _HAS_LONG_VECTORS else WIDTH // TOGETHER
"""Number of sums per board that are kept in registers."""
SQUASH_LIMIT = 3.0
"""See `sums_of_squashed`."""
OUTPUT_COUNT = 5
"""Number of sums of `sums_of_squashed`."""
FORM_ROWS = 64 if _HAS_LONG_VECTORS else 32
"""Number of rows whose forms are summed together: see `add_run`."""
COLUMNS_AT_ONCE = 8 if _HAS_LONG_VECTORS else 2
"""Number of columns that are summed together: see `column_sums`."""
_FEW = LANES // 2

_FLOAT, _DOUBLE = ir.FloatType(), ir.DoubleType()
_INT, _LANE = ir.IntType(64), ir.IntType(32)
_BYTES = {_FLOAT: 4, _DOUBLE: 8}

_Array = TypeVar("_Array", bound=npt.NDArray[Any])


def aligned(array: _Array) -> _Array:
    """Return `array`, or a copy aligned for fast vector loads."""
    if array.ctypes.data % ALIGNMENT == 0:
        return array
    room = np.empty(array.nbytes + ALIGNMENT, np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    copy: Any = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def _vector(lanes: int, kind: Any = _FLOAT) -> Any:
    return ir.VectorType(kind, lanes)


def _load(builder: Any, pointer: Any, index: Any, lanes: int = LANES) -> Any:
    kind = pointer.type.pointee
    place = builder.bitcast(builder.gep(pointer, [index]), _vector(lanes, kind).as_pointer())
    return builder.load(place, align=_BYTES[kind])


def _pick(builder: Any, one: Any, other: Any, lanes: Iterable[int]) -> Any:
    """Return the given `lanes` of `one` followed by `other`."""
    numbers = list(lanes)
    return builder.shuffle_vector(one, other, ir.Constant(ir.VectorType(_LANE, len(numbers)), numbers))


def _spread(builder: Any, number: Any, lanes: int = LANES) -> Any:
    """Return a vector with `number` in every lane."""
    nothing = ir.Constant(_vector(lanes, number.type), ir.Undefined)
    alone = builder.insert_element(nothing, number, ir.Constant(_LANE, 0))
    return _pick(builder, alone, nothing, [0] * lanes)


def _multiply_add(builder: Any, lanes: int, kind: Any = _FLOAT) -> Any:
    vector = _vector(lanes, kind)
    bits = 8 * _BYTES[kind]
    return cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(vector, [vector] * 3), f"llvm.fma.v{lanes}f{bits}"
    )


def _folded(builder: Any, vectors: list[Any]) -> Any:
    """Return the sum of all lanes of one vector or of two, each folded to `_FEW` lanes first."""
    few = []
    for vector in vectors:
        lanes = vector.type.count
        if lanes > _FEW:
            low, high = (_pick(builder, vector, vector, range(k, k + _FEW)) for k in (0, _FEW))
            vector = builder.fadd(low, high)
        few.append(vector)
    return _lane_sum(builder, few[0] if len(few) == 1 else builder.fadd(*few))


def _lane_sum(builder: Any, vector: Any) -> Any:
    lanes = vector.type.count
    while lanes > 1:
        lanes //= 2
        low, high = (_pick(builder, vector, vector, range(k, k + lanes)) for k in (0, lanes))
        vector = builder.fadd(low, high)
    return builder.extract_element(vector, ir.Constant(_LANE, 0))


def _arrays(context: Any, builder: Any, signature: Any, arguments: Any, *places: int) -> list[Any]:
    """Return the arguments at `places`, by default all, which are arrays."""
    return [
        context.make_array(signature.args[k])(context, builder, arguments[k])
        for k in places or range(len(arguments))
    ]


def _store(builder: Any, vector: Any, pointer: Any, index: Any) -> None:
    place = builder.bitcast(builder.gep(pointer, [index]), vector.type.as_pointer())
    builder.store(vector, place, align=_BYTES[vector.type.element])


@intrinsic
def add_weighted_rows(
    typing_context: Any,
    factors: Any,
    rows: Any,
    picked: Any,
    before: Any,
    begins: Any,
    starts: Any,
    sums: Any,
    count: Any,
) -> Any:
    """Set the first `count` of `sums` to starts_kp + the sum over picked i of factors_ki rows_ip, for p < w.

    `rows` float32 (w / `GROUP`, n, `GROUP`) are rows of length w, a multiple of `WIDTH`, in groups of
    columns: within a group one row follows the other, so the processor reads ahead.  `factors` (`TOGETHER`,
    at least n), `sums` (`TOGETHER`, at least w) and `starts` (as many, or one for all; perhaps `sums`) are
    float32.  All arrays are contiguous.  `picked` int64 (m,) are the rows to add, in ascending order, and
    `before` int64 the number of picked rows before each group of `GROUP` rows, and at the end.  `begins`
    int64 (w / `GROUP`,) does not decrease: groups of rows before ``begins[g]`` are 0 in group g of the
    columns and in later groups.  Each row is read once for all sums, and `count` changes no bit.
    """
    signature = types.void(factors, rows, picked, before, begins, starts, sums, types.int64)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = _arrays(context, builder, signature, arguments, *range(len(arguments) - 1))
        for together in range(1, TOGETHER + 1):
            columns = min(WIDTH, _COLUMNS * (TOGETHER // together))
            is_count = builder.icmp_signed("==", arguments[-1], ir.Constant(_INT, together))
            with builder.if_then(is_count):
                _weight(builder, arrays, together, columns)
        return context.get_dummy_value()

    return signature, codegen


def _weight(builder: Any, arrays: list[Any], together: int, columns: int) -> None:
    """Weight rows for the first `together` sums, with `columns` of each in registers."""
    factors, rows, picked, before, begins, starts, sums = arrays
    fma = _multiply_add(builder, _LONG)
    factors_apart, sums_apart = (cgutils.unpack_tuple(builder, array.shape)[1] for array in (factors, sums))
    start_count, starts_apart = cgutils.unpack_tuple(builder, starts.shape)
    is_for_all = builder.icmp_signed("==", start_count, ir.Constant(_INT, 1))
    starts_apart = builder.select(is_for_all, ir.Constant(_INT, 0), starts_apart)
    groups, size, _ = cgutils.unpack_tuple(builder, rows.shape)
    numbers = range(0, columns, _LONG)
    totals = [[cgutils.alloca_once(builder, _vector(_LONG)) for _ in numbers] for _ in range(together)]
    flat = [total for own in totals for total in own]
    group_step, width = ir.Constant(_INT, columns // GROUP), ir.Constant(_INT, GROUP)
    with cgutils.for_range(builder, builder.udiv(groups, group_step)) as block:
        group = builder.mul(block.index, group_step)
        first = builder.mul(group, width)

        def places(apart: Any) -> list[Any]:
            return [
                builder.add(
                    builder.mul(apart, ir.Constant(_INT, k)), builder.add(first, ir.Constant(_INT, n))
                )
                for k in range(together)
                for n in numbers
            ]

        tops = []
        for n in numbers:
            of_group = builder.add(group, ir.Constant(_INT, n // GROUP))
            within = ir.Constant(_INT, n % GROUP)
            tops.append(builder.add(builder.mul(builder.mul(of_group, size), width), within))
        for total, place in zip(flat, places(starts_apart), strict=True):
            builder.store(_load(builder, starts.data, place, _LONG), total)
        begin = builder.load(builder.gep(begins.data, [group]))
        skipped = builder.load(builder.gep(before.data, [begin]))
        with cgutils.for_range(builder, builder.sub(picked.nitems, skipped)) as step:
            number = builder.add(skipped, step.index)
            row = builder.load(builder.gep(picked.data, [number]))
            down = builder.mul(row, width)
            weights = [_load(builder, rows.data, builder.add(top, down), _LONG) for top in tops]
            for k, own in enumerate(totals):
                place = builder.add(builder.mul(factors_apart, ir.Constant(_INT, k)), row)
                factor = _spread(builder, builder.load(builder.gep(factors.data, [place])), _LONG)
                for total, weight in zip(own, weights, strict=True):
                    builder.store(builder.call(fma, [weight, factor, builder.load(total)]), total)
        for total, place in zip(flat, places(sums_apart), strict=True):
            _store(builder, builder.load(total), sums.data, place)


@intrinsic
def nonzero_bits(typing_context: Any, numbers: Any, first: Any) -> Any:
    """Return an int64 whose bit k tells whether ``numbers[first + k]`` is not 0, for `GROUP` numbers.

    `numbers`, float32, is contiguous.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (array,) = _arrays(context, builder, signature, arguments, 0)
        zero = ir.Constant(_vector(GROUP), [0.0] * GROUP)
        flags = builder.fcmp_unordered("!=", _load(builder, array.data, arguments[1], GROUP), zero)
        return builder.zext(builder.bitcast(flags, ir.IntType(GROUP)), _INT)

    return types.int64(numbers, types.int64), codegen


@intrinsic
def grouped_dot(typing_context: Any, features: Any, sums: Any, first: Any, stride: Any, blocks: Any) -> Any:
    """Return the dot product of `features` and every `stride`-th group of `sums` from `first` on, a float32.

    Both arrays are float32 and contiguous; `features` has `blocks` groups of `GROUP` numbers.
    """
    signature = types.float32(features, sums, types.int64, types.int64, types.int64)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        f, s = (array.data for array in _arrays(context, builder, signature, arguments, 0, 1))
        first, stride, blocks = arguments[2:]
        fma = _multiply_add(builder, GROUP)
        width = ir.Constant(_INT, GROUP)
        total = cgutils.alloca_once_value(builder, ir.Constant(_vector(GROUP), [0.0] * GROUP))
        with cgutils.for_range(builder, blocks) as block:
            group = builder.add(first, builder.mul(block.index, stride))
            pair = [
                _load(builder, array, builder.mul(place, width), GROUP)
                for array, place in ((f, block.index), (s, group))
            ]
            builder.store(builder.call(fma, [*pair, builder.load(total)]), total)
        return _lane_sum(builder, builder.load(total))

    return signature, codegen


@intrinsic
def add_rows(typing_context: Any, picked: Any, table: Any, start: Any, sums: Any) -> Any:
    """Set `sums` to `start` + rows of a table float32 (..., w), w a multiple of `WIDTH`.

    `start` and `sums` are float32 (at least w,) and may be the same.  `picked`, int64, indexes the rows of
    `table` over all its dimensions; all arrays are contiguous.
    """
    signature = types.void(picked, table, start, sums)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row_numbers, rows, start_array, sum_array = _arrays(context, builder, signature, arguments)
        across = cgutils.unpack_tuple(builder, rows.shape)[-1]
        offsets = [ir.Constant(_INT, first) for first in range(0, WIDTH, _LONG)]
        totals = [cgutils.alloca_once(builder, _vector(_LONG)) for _ in offsets]
        with cgutils.for_range(builder, builder.udiv(across, ir.Constant(_INT, WIDTH))) as block:
            first = builder.mul(block.index, ir.Constant(_INT, WIDTH))
            places = [builder.add(first, offset) for offset in offsets]
            for total, place in zip(totals, places, strict=True):
                builder.store(_load(builder, start_array.data, place, _LONG), total)
            with cgutils.for_range(builder, row_numbers.nitems) as row:
                number = builder.load(builder.gep(row_numbers.data, [row.index]))
                row_start = builder.mul(number, across)
                for total, place in zip(totals, places, strict=True):
                    weights = _load(builder, rows.data, builder.add(row_start, place), _LONG)
                    builder.store(builder.fadd(builder.load(total), weights), total)
            for total, place in zip(totals, places, strict=True):
                _store(builder, builder.load(total), sum_array.data, place)
        return context.get_dummy_value()

    return signature, codegen


def _squashed(builder: Any, x: Any) -> Any:
    """Return the squash of `sums_of_squashed` of each of `GROUP` lanes."""
    high, low, a, b = (
        ir.Constant(_vector(GROUP), [number] * GROUP) for number in (SQUASH_LIMIT, -SQUASH_LIMIT, 27, 9)
    )
    x = builder.select(builder.fcmp_ordered(">", x, low), x, low)
    x = builder.select(builder.fcmp_ordered("<", x, high), x, high)
    square = builder.fmul(x, x)
    below = builder.call(_multiply_add(builder, GROUP), [b, square, a])
    return builder.fdiv(builder.fmul(x, builder.fadd(a, square)), below)


@intrinsic
def sums_of_squashed(typing_context: Any, amounts: Any, sums: Any, count: Any, results: Any) -> Any:
    """Write sum_k amounts_hk s(sums_k) over k < `count`, a multiple of `GROUP`, to results_h.

    s(x) = x (27 + x^2) / (27 + 9 x^2) for x from -`SQUASH_LIMIT` to `SQUASH_LIMIT`, and -1 or 1 beyond.
    `amounts` float32 (`OUTPUT_COUNT`, n), `sums` float32 and `results` float64 are contiguous.
    """
    signature = types.void(amounts, sums, count, results)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        amount_array, sum_array, result_array = _arrays(context, builder, signature, arguments, 0, 1, 3)
        fma = _multiply_add(builder, GROUP)
        across = cgutils.unpack_tuple(builder, amount_array.shape)[-1]
        zero = ir.Constant(_vector(GROUP), [0.0] * GROUP)
        totals = [cgutils.alloca_once_value(builder, zero) for _ in range(OUTPUT_COUNT)]
        step = ir.Constant(_INT, GROUP)
        with cgutils.for_range(builder, builder.udiv(arguments[2], step)) as block:
            first = builder.mul(block.index, step)
            squashed = _squashed(builder, _load(builder, sum_array.data, first, GROUP))
            for k, total in enumerate(totals):
                place = builder.add(builder.mul(across, ir.Constant(_INT, k)), first)
                amount = _load(builder, amount_array.data, place, GROUP)
                builder.store(builder.call(fma, [amount, squashed, builder.load(total)]), total)
        for k, total in enumerate(totals):
            found = builder.fpext(_lane_sum(builder, builder.load(total)), _DOUBLE)
            builder.store(found, builder.gep(result_array.data, [ir.Constant(_INT, k)]))
        return context.get_dummy_value()

    return signature, codegen


def _sum_at_points(builder: Any, arrays: list[Any], numbers: list[Any]) -> list[Any]:
    """Return the vectors of `add_at_points` before they are stored."""
    packed, table, start = (array.data for array in arrays)
    side, first, mask = numbers
    offsets = range(0, GROUP, _LONG)
    totals = [
        cgutils.alloca_once_value(builder, _load(builder, start, ir.Constant(_INT, offset), _LONG))
        for offset in offsets
    ]
    left = cgutils.alloca_once_value(builder, mask)
    one, false = ir.Constant(_INT, 1), ir.Constant(ir.IntType(1), 0)
    counts = cgutils.unpack_tuple(builder, arrays[1].shape)[-2]
    with cgutils.for_range(builder, builder.ctpop(mask)):
        points = builder.load(left)
        point = builder.cttz(points, false)
        builder.store(builder.and_(points, builder.sub(points, one)), left)
        checkers = builder.zext(builder.load(builder.gep(packed, [builder.add(side, point)])), _INT)
        row = builder.add(builder.mul(builder.add(first, point), counts), checkers)
        place = builder.mul(row, ir.Constant(_INT, GROUP))
        for total, offset in zip(totals, offsets, strict=True):
            weights = _load(builder, table, builder.add(place, ir.Constant(_INT, offset)), _LONG)
            builder.store(builder.fadd(builder.load(total), weights), total)
    return [builder.load(total) for total in totals]


@intrinsic
def add_at_points(
    typing_context: Any, packed: Any, side: Any, points: Any, table: Any, first: Any, start: Any, sums: Any
) -> Any:
    """Set `sums` (`GROUP`,) to `start` (`GROUP`,) + the rows of a table for the checkers at some points.

    `table` float32 (..., c, `GROUP`) has a row for 0 to c - 1 checkers at each place; `first` is the place of
    the first point.  `points`, uint64, is a bit mask, and `packed` int8 has the checkers from `side` on.  All
    arrays are contiguous.
    """
    signature = types.void(packed, types.int64, types.uint64, table, types.int64, start, sums)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        *arrays, out = _arrays(context, builder, signature, arguments, 0, 3, 5, 6)
        _, side, points, _, first = arguments[:5]
        for k, total in enumerate(_sum_at_points(builder, arrays, [side, first, points])):
            _store(builder, total, out.data, ir.Constant(_INT, _LONG * k))
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def squash_at_points(
    typing_context: Any, packed: Any, side: Any, points: Any, table: Any, first: Any, start: Any, amounts: Any
) -> Any:
    """Return sum_k amounts_k s(sums_k) for the sums of `add_at_points`; s is that of `sums_of_squashed`."""
    signature = types.float32(packed, types.int64, types.uint64, table, types.int64, start, amounts)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        *arrays, amount_array = _arrays(context, builder, signature, arguments, 0, 3, 5, 6)
        _, side, points, _, first = arguments[:5]
        totals = _sum_at_points(builder, arrays, [side, first, points])
        whole = totals[0] if len(totals) == 1 else _pick(builder, totals[0], totals[1], range(GROUP))
        amount = _load(builder, amount_array.data, ir.Constant(_INT, 0), GROUP)
        return _lane_sum(builder, builder.fmul(amount, _squashed(builder, whole)))

    return signature, codegen


@intrinsic
def transpose_tile(typing_context: Any, rows: Any, first: Any, column: Any, block: Any, place: Any) -> Any:
    """Write `LANES` columns of `LANES` rows, from `column` on, to as many rows of `block`, as float64.

    `rows` float32 (n, size), used from row `first` on, and `block` float64 are contiguous; block[column,
    place] is rows[first, column].
    """
    signature = types.void(rows, first, column, block, place)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row_array, block_array = _arrays(context, builder, signature, arguments, 0, 3)
        across, apart = (cgutils.unpack_tuple(builder, array.shape)[1] for array in (row_array, block_array))
        _, first, column, _, place = arguments
        vectors = []
        for k in range(LANES):
            row = builder.add(first, ir.Constant(_INT, k))
            vectors.append(_load(builder, row_array.data, builder.add(builder.mul(row, across), column)))
        half = LANES // 2
        while half:  # swap corners of squares of halving size
            mine = [n if not n & half else LANES + n - half for n in range(LANES)]
            for k in (k for k in range(LANES) if not k & half):
                one, other = vectors[k], vectors[k + half]
                vectors[k] = _pick(builder, one, other, mine)
                vectors[k + half] = _pick(builder, one, other, [n + half for n in mine])
            half //= 2
        for k, vector in enumerate(vectors):
            start = builder.mul(builder.add(column, ir.Constant(_INT, k)), apart)
            longer = builder.fpext(vector, _vector(LANES, _DOUBLE))
            _store(builder, longer, block_array.data, builder.add(start, place))
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def add_run(
    typing_context: Any, block: Any, places: Any, weights: Any, begin: Any, end: Any, own: Any, sums: Any
) -> Any:
    """Add block[own] times the sum of weights_p block[places_p] over `begin` <= p < `end` to `sums`.

    `block` (size, `FORM_ROWS`) and `sums` (`FORM_ROWS`,) are float64 and contiguous.  The inner sum is in
    order of p.
    """
    signature = types.void(block, places, weights, begin, end, own, sums)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = _arrays(context, builder, signature, arguments, 0, 1, 2, 6)
        columns, numbers, factors, out = (array.data for array in arrays)
        fma = _multiply_add(builder, LANES, _DOUBLE)
        begin, end, own = arguments[3:6]
        offsets = [ir.Constant(_INT, first) for first in range(0, FORM_ROWS, LANES)]
        nothing = ir.Constant(_vector(LANES, _DOUBLE), [0.0] * LANES)
        totals = [cgutils.alloca_once(builder, nothing.type) for _ in offsets]
        for total in totals:
            builder.store(nothing, total)
        across = ir.Constant(_INT, FORM_ROWS)
        with cgutils.for_range(builder, builder.sub(end, begin)) as step:
            term = builder.add(begin, step.index)
            weight = _spread(builder, builder.load(builder.gep(factors, [term])))
            start = builder.mul(builder.load(builder.gep(numbers, [term])), across)
            for total, offset in zip(totals, offsets, strict=True):
                column = _load(builder, columns, builder.add(start, offset))
                builder.store(builder.call(fma, [weight, column, builder.load(total)]), total)
        start = builder.mul(own, across)
        for total, offset in zip(totals, offsets, strict=True):
            column = _load(builder, columns, builder.add(start, offset))
            added = builder.call(fma, [builder.load(total), column, _load(builder, out, offset)])
            _store(builder, added, out, offset)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def column_sums(
    typing_context: Any, factors: Any, own: Any, block: Any, columns: Any, strip: Any, length: Any, sums: Any
) -> Any:
    """Set each of `sums` (`COLUMNS_AT_ONCE`,) to the sum of factors_k block[column, k] over k < `length`.

    The factors are row `own` of `factors` (size, n), the columns are row `strip` of `columns` (strips,
    `COLUMNS_AT_ONCE`); `block` is (size, n).  All arrays are contiguous and float64, except `columns`, which
    is int64.  Sums use 16 lanes, then four for the rest, then one.
    """
    signature = types.void(factors, own, block, columns, strip, length, sums)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = _arrays(context, builder, signature, arguments, 0, 2, 3, 6)
        factor_array, block_array, column_array, sum_array = arrays
        own, strip, length = arguments[1], arguments[4], arguments[5]
        factor_data, block_data = factor_array.data, block_array.data
        apart = cgutils.unpack_tuple(builder, block_array.shape)[1]
        own_start = builder.mul(own, apart)
        first_column = builder.mul(strip, ir.Constant(_INT, COLUMNS_AT_ONCE))
        starts = []
        for k in range(COLUMNS_AT_ONCE):
            place = builder.gep(column_array.data, [builder.add(first_column, ir.Constant(_INT, k))])
            starts.append(builder.mul(builder.load(place), apart))

        results = [cgutils.alloca_once_value(builder, ir.Constant(_DOUBLE, 0.0)) for _ in starts]

        def add_steps(lanes: int, sides: int, begin: Any) -> Any:
            """Add whole steps of `sides` times `lanes` rows from `begin` on; return where they end."""
            fma, nothing = _multiply_add(builder, lanes, _DOUBLE), ir.Constant(_vector(lanes, _DOUBLE), None)
            totals = []
            for result in results:
                first = builder.insert_element(nothing, builder.load(result), ir.Constant(_LANE, 0))
                totals.append(
                    [cgutils.alloca_once_value(builder, start) for start in (first, nothing)[:sides]]
                )
            width = ir.Constant(_INT, sides * lanes)
            steps = builder.udiv(builder.sub(length, begin), width)
            with cgutils.for_range(builder, steps) as step:
                at = builder.add(begin, builder.mul(step.index, width))
                places = [builder.add(at, ir.Constant(_INT, k * lanes)) for k in range(sides)]
                of_rows = [
                    _load(builder, factor_data, builder.add(own_start, place), lanes) for place in places
                ]
                for start, of_column in zip(starts, totals, strict=True):
                    for place, factor, total in zip(places, of_rows, of_column, strict=True):
                        column = _load(builder, block_data, builder.add(start, place), lanes)
                        builder.store(builder.call(fma, [factor, column, builder.load(total)]), total)
            for result, of_column in zip(results, totals, strict=True):
                builder.store(_folded(builder, [builder.load(total) for total in of_column]), result)
            return builder.add(begin, builder.mul(steps, width))

        done = add_steps(LANES, 2, ir.Constant(_INT, 0))
        with builder.if_then(builder.icmp_signed("<", done, length), likely=False):
            add_steps(1, 1, add_steps(_FEW, 1, done))
        for k, result in enumerate(results):
            builder.store(builder.load(result), builder.gep(sum_array.data, [ir.Constant(_INT, k)]))
        return context.get_dummy_value()

    return signature, codegen
