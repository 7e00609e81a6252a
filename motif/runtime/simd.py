"""The quadratic form in vector instructions, with one order of its sums on every machine.

LLVM vectorises a sum only when it may reorder it, and then the last bits depend on the machine. Here
the lanes and their order are written out, and every product is added by a fused multiply-add, which
rounds once wherever it runs: the same features and weights give the same bits on any processor.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import binding, ir
from numba.core import cgutils, types
from numba.extending import intrinsic

IntArray = npt.NDArray[np.int64]

LANES = 8
"""Columns of a tile, and what features and weights are padded to."""
ALIGNMENT = 64
"""Arrays that begin at a multiple of so many bytes are loaded fastest; others are read all the same."""
WIDTH = 8 * LANES
"""Sums of rows come in multiples of it."""
TOGETHER = 4
"""Boards whose rows are weighted together."""
_HAS_LONG_VECTORS = binding.get_host_cpu_features().get("avx512f", False)
_LONG = 2 * LANES if _HAS_LONG_VECTORS else LANES
"""Lanes of a sum of rows; each lane is a sum of its own, so their number changes no bit."""
_COLUMNS = WIDTH if _HAS_LONG_VECTORS else WIDTH // TOGETHER
"""Sums of each of several boards that are kept in registers together."""
PATTERN_LIMIT = 3.0
"""See `sum_of_squashed`."""
_CHAINS = 4
"""Sums that run side by side, because one multiply-add takes as long as several started after it."""

_FLOAT = ir.FloatType()
_INT = ir.IntType(64)
_FLOAT_BYTES = 4


def tile_floats(size: int) -> int:
    """Length of the tiles of a triangle over `size` features: see `weighted_form`."""
    blocks = blocks_of(size)
    return LANES * LANES * blocks * (blocks + 1) // 2


def blocks_of(size: int) -> int:
    """Blocks of `LANES` that hold `size` features."""
    return -(-size // LANES)


def tile_places(rows: IntArray, columns: IntArray) -> IntArray:
    """Where `weighted_form` looks for the weights of feature pairs (row, column), columns <= rows."""
    block, column_block = rows // LANES, columns // LANES
    tile = block * (block + 1) // 2 + column_block
    return (tile * LANES + rows % LANES) * LANES + columns % LANES


def _data(context: Any, builder: Any, array_type: Any, value: Any) -> Any:
    return context.make_array(array_type)(context, builder, value).data


def _vector(lanes: int) -> Any:
    return ir.VectorType(_FLOAT, lanes)


def _load(builder: Any, pointer: Any, index: Any, lanes: int = LANES) -> Any:
    place = builder.bitcast(builder.gep(pointer, [index]), _vector(lanes).as_pointer())
    return builder.load(place, align=_FLOAT_BYTES)


def _spread(builder: Any, number: Any, lanes: int = LANES) -> Any:
    """A vector of `number` in every lane."""
    zero, nothing = ir.Constant(ir.IntType(32), 0), ir.Constant(_vector(lanes), ir.Undefined)
    alone = builder.insert_element(nothing, number, zero)
    return builder.shuffle_vector(
        alone, nothing, ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
    )


def _multiply_add(builder: Any, lanes: int) -> Any:
    kind = ir.FunctionType(_vector(lanes), [_vector(lanes)] * 3)
    return cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{lanes}f32")


def _lane_sum(builder: Any, vector: Any) -> Any:
    lanes = [builder.extract_element(vector, ir.Constant(ir.IntType(32), k)) for k in range(LANES)]
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [builder.fadd(lanes[k], lanes[k + half]) for k in range(half)]
    return lanes[0]


@intrinsic
def weighted_form(typing_context: Any, features: Any, linear: Any, tiles: Any, blocks: Any) -> Any:
    """sum_j linear_j f_j + sum_{j <= i} weight_ij f_i f_j, a float32.

    All arrays are float32 and contiguous.  `features` and `linear` hold `blocks` times `LANES`
    numbers.  `tiles` holds the lower triangle of weight_ij in square tiles of `LANES`, row of tiles
    by row of tiles (`tile_places`), with 0 above the diagonal; empty, it makes the form linear.
    """
    signature = types.float32(features, linear, tiles, blocks)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        f, w0, w = (
            _data(context, builder, kind, value)
            for kind, value in zip(signature.args[:3], arguments[:3], strict=True)
        )
        tile_array = context.make_array(signature.args[2])(context, builder, arguments[2])
        count = builder.sext(arguments[3], _INT) if arguments[3].type.width < 64 else arguments[3]
        fma = _multiply_add(builder, LANES)
        zero, width = ir.Constant(_INT, 0), ir.Constant(_INT, LANES)
        total = cgutils.alloca_once_value(builder, ir.Constant(_vector(LANES), [0.0] * LANES))
        with cgutils.for_range(builder, count) as column:
            first = builder.mul(column.index, width)
            pair = [_load(builder, w0, first), _load(builder, f, first)]
            builder.store(builder.call(fma, [*pair, builder.load(total)]), total)
        is_quadratic = builder.icmp_signed(">", tile_array.nitems, zero)
        place = cgutils.alloca_once_value(builder, zero)
        with cgutils.for_range(builder, builder.select(is_quadratic, count, zero)) as rows:
            first_row = builder.mul(rows.index, width)
            spread = [
                _spread(builder, builder.load(builder.gep(f, [builder.add(first_row, ir.Constant(_INT, k))])))
                for k in range(LANES)
            ]
            with cgutils.for_range(builder, builder.add(rows.index, ir.Constant(_INT, 1))) as column:
                tile = builder.load(place)
                sums = []
                for k in range(LANES):
                    weights = _load(builder, w, builder.add(tile, ir.Constant(_INT, LANES * k)))
                    if k < _CHAINS:
                        sums.append(builder.fmul(weights, spread[k]))
                    else:
                        sums[k % _CHAINS] = builder.call(fma, [weights, spread[k], sums[k % _CHAINS]])
                while len(sums) > 1:
                    half = len(sums) // 2
                    sums = [builder.fadd(sums[k], sums[k + half]) for k in range(half)]
                features_here = _load(builder, f, builder.mul(column.index, width))
                builder.store(builder.call(fma, [sums[0], features_here, builder.load(total)]), total)
                builder.store(builder.add(tile, ir.Constant(_INT, LANES * LANES)), place)
        return _lane_sum(builder, builder.load(total))

    return signature, codegen


def _arrays(context: Any, builder: Any, signature: Any, arguments: Any) -> list[Any]:
    return [
        context.make_array(kind)(context, builder, value)
        for kind, value in zip(signature.args, arguments, strict=True)
    ]


def _store(builder: Any, vector: Any, pointer: Any, index: Any) -> None:
    place = builder.bitcast(builder.gep(pointer, [index]), vector.type.as_pointer())
    builder.store(vector, place, align=_FLOAT_BYTES)


@intrinsic
def add_weighted_rows(typing_context: Any, factors: Any, rows: Any, sums: Any) -> Any:
    """Add to each of `sums` float32 (TOGETHER, s) the sum over i of factors_ki rows_ip, for p < w.

    `rows` float32 (n, w), w a multiple of `WIDTH` and at most s, is contiguous, and so is `factors`
    (TOGETHER, at least n).  Each row is read once for all the sums.
    """
    signature = types.void(factors, rows, sums)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        factor_array, row_array, sum_array = _arrays(context, builder, signature, arguments)
        fma = _multiply_add(builder, _LONG)
        apart, sums_apart = (
            cgutils.unpack_tuple(builder, array.shape)[1] for array in (factor_array, sum_array)
        )
        length, across = cgutils.unpack_tuple(builder, row_array.shape)
        offsets = [ir.Constant(_INT, first) for first in range(0, _COLUMNS, _LONG)]
        totals = [[cgutils.alloca_once(builder, _vector(_LONG)) for _ in offsets] for _ in range(TOGETHER)]
        step = ir.Constant(_INT, _COLUMNS)
        with cgutils.for_range(builder, builder.udiv(across, step)) as block:
            first = builder.mul(block.index, step)
            places = [
                builder.add(builder.mul(sums_apart, ir.Constant(_INT, k)), builder.add(first, offset))
                for k in range(TOGETHER)
                for offset in offsets
            ]
            flat = [total for own in totals for total in own]
            for total, place in zip(flat, places, strict=True):
                builder.store(_load(builder, sum_array.data, place, _LONG), total)
            with cgutils.for_range(builder, length) as row:
                start = builder.add(builder.mul(row.index, across), first)
                weights = [
                    _load(builder, row_array.data, builder.add(start, offset), _LONG) for offset in offsets
                ]
                for k, own in enumerate(totals):
                    place = builder.add(builder.mul(apart, ir.Constant(_INT, k)), row.index)
                    number = builder.load(builder.gep(factor_array.data, [place]))
                    factor = _spread(builder, number, _LONG)
                    for total, weight in zip(own, weights, strict=True):
                        builder.store(builder.call(fma, [weight, factor, builder.load(total)]), total)
            for total, place in zip(flat, places, strict=True):
                _store(builder, builder.load(total), sum_array.data, place)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def add_rows(typing_context: Any, picked: Any, table: Any, sums: Any) -> Any:
    """Add to `sums` float32 (at least w,) some rows of a table float32 (..., w), w a multiple of `WIDTH`.

    `picked`, int64, counts the rows of `table` through all its dimensions; everything is contiguous.
    """
    signature = types.void(picked, table, sums)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row_numbers, rows, sum_array = _arrays(context, builder, signature, arguments)
        across = cgutils.unpack_tuple(builder, rows.shape)[-1]
        offsets = [ir.Constant(_INT, first) for first in range(0, WIDTH, _LONG)]
        totals = [cgutils.alloca_once(builder, _vector(_LONG)) for _ in offsets]
        with cgutils.for_range(builder, builder.udiv(across, ir.Constant(_INT, WIDTH))) as block:
            first = builder.mul(block.index, ir.Constant(_INT, WIDTH))
            places = [builder.add(first, offset) for offset in offsets]
            for total, place in zip(totals, places, strict=True):
                builder.store(_load(builder, sum_array.data, place, _LONG), total)
            with cgutils.for_range(builder, row_numbers.nitems) as row:
                number = builder.load(builder.gep(row_numbers.data, [row.index]))
                start = builder.mul(number, across)
                for total, place in zip(totals, places, strict=True):
                    weights = _load(builder, rows.data, builder.add(start, place), _LONG)
                    builder.store(builder.fadd(builder.load(total), weights), total)
            for total, place in zip(totals, places, strict=True):
                _store(builder, builder.load(total), sum_array.data, place)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def sum_of_squashed(typing_context: Any, amounts: Any, sums: Any, count: Any) -> Any:
    """sum_k amounts_k s(sums_k) over k < `count`, a float32; `count` is a multiple of `LANES`.

    s(x) = x (27 + x^2) / (27 + 9 x^2) for x from -`PATTERN_LIMIT` to `PATTERN_LIMIT`, and -1 or 1 beyond.
    Arrays are float32 and contiguous.
    """
    signature = types.float32(amounts, sums, count)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        amount_data, sum_data = (
            _data(context, builder, kind, value)
            for kind, value in zip(signature.args[:2], arguments[:2], strict=True)
        )
        high, low, a, b = (
            ir.Constant(_vector(LANES), [number] * LANES) for number in (PATTERN_LIMIT, -PATTERN_LIMIT, 27, 9)
        )
        total = cgutils.alloca_once_value(builder, ir.Constant(_vector(LANES), [0.0] * LANES))
        step = ir.Constant(_INT, LANES)
        with cgutils.for_range(builder, builder.udiv(arguments[2], step)) as block:
            first = builder.mul(block.index, step)
            x = _load(builder, sum_data, first)
            x = builder.select(builder.fcmp_ordered(">", x, low), x, low)
            x = builder.select(builder.fcmp_ordered("<", x, high), x, high)
            square = builder.fmul(x, x)
            above = builder.fmul(x, builder.fadd(a, square))
            below = builder.fadd(a, builder.fmul(b, square))
            part = builder.fmul(_load(builder, amount_data, first), builder.fdiv(above, below))
            builder.store(builder.fadd(builder.load(total), part), total)
        lanes = builder.load(total)
        found = builder.extract_element(lanes, ir.Constant(ir.IntType(32), 0))
        for k in range(1, LANES):
            found = builder.fadd(found, builder.extract_element(lanes, ir.Constant(ir.IntType(32), k)))
        return found

    return signature, codegen
