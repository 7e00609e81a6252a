"""Decorators that compile kernels, with their numba options, and bit operations that numba lacks."""

from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar, cast

from numba import config, extending
from numba.core import cgutils, event, types
from numba.core.registry import cpu_target
from numba.np import arrayobj

from motif.compiler.choice import LINKED
from motif.compiler.choice import way as way
from motif.compiler.program import program


class _Listener(event.Listener):
    """A listener that reports each compilation; those of callees are nested in those of their callers."""

    def on_start(self, event: object) -> None:
        program().monitor.begin()

    def on_end(self, event: object) -> None:
        program().monitor.end()


event.register("numba:compile", _Listener())
_F = TypeVar("_F", bound=Callable[..., object])
_LEAN: dict[str, Any] = {"_nrt": False}
_SUM_IN_ANY_ORDER = {"reassoc", "contract", "nsz"}
NOTHING, FLAG, WHOLE = types.none, types.bool_, types.int64
FLOAT64 = types.float64
"""Return types of kernels: nothing, bool, int64, float64."""
WHOLES = types.UniTuple(types.int64, 2)
"""Two int64."""
DOUBLES = types.UniTuple(types.float64, 2)
"""Two float64."""


def _compiled(function: _F, block: bool = False, returns: types.Type | None = None, **options: object) -> _F:
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    options = {"nogil": True, "error_model": "numpy", "boundscheck": None, **options}
    if way() == LINKED:
        from motif.compiler.linker import Kernel

        return cast(_F, Kernel(function, options, block, returns))
    from motif.compiler.stock import stock_kernel

    return cast(_F, stock_kernel(cast(FunctionType, function), options))


def kernel(function: _F) -> _F:
    """Compile `function` on first use, without Python objects or the GIL, and cache it on disk."""
    return _compiled(function)


def fast_kernel(function: _F) -> _F:
    """Like `kernel`, but let LLVM reorder sums of floats to vectorise them."""
    return _compiled(function, fastmath=_SUM_IN_ANY_ORDER)


def lean_kernel(returns: types.Type) -> Callable[[_F], _F]:
    """Like `kernel`, for functions that create no array and return the type `returns`.

    They skip reference counting, which would take longer than their work: passing a tuple of arrays
    increments and decrements the count of each.  They are compiled when a running kernel first calls them.
    """
    return lambda function: _compiled(function, returns=returns, **_LEAN)


def checked_kernel(function: _F) -> _F:
    """Like `kernel`, but check every index: for functions written by users."""
    return _compiled(function, boundscheck=True)


def inline_kernel(function: _F) -> _F:
    """Like `lean_kernel`, but always compile the function into its callers."""
    return _compiled(function, block=True, forceinline=True, **_LEAN)


def compile_ahead(kernel: Callable[..., object], *examples: object) -> None:
    """Compile a kernel in advance for calls from other kernels, unless another process is compiling it.

    The arguments have the types of the `examples`; without any, those of the calls in kernels compiled so
    far.  Without linking this does nothing, because numba compiles callees with their caller.
    """
    if way() == LINKED:
        from motif.compiler.linker import Kernel, prepare_kernel

        prepare_kernel(cast(Kernel, kernel), examples)


def compilation_target() -> tuple[str, str]:
    """Return the name and the features of the processor that kernels are compiled for."""
    _, name, features = cpu_target.target_context.codegen().magic_tuple()
    return name, features


intrinsic: Callable[[Callable[..., Any]], Callable[..., Any]] = extending.intrinsic
"""Decorator of functions that generate code; kernels call them without the typing context."""


def _bit_intrinsic(build: Callable[[Any, Any], Any]) -> Any:
    def typing_function(typing_context: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return build(builder, arguments[0])

        return types.uint64(types.uint64), codegen

    return intrinsic(typing_function)


def _zero_is_defined(builder: Any) -> Any:
    from llvmlite import ir

    return ir.Constant(ir.IntType(1), 0)


popcount = _bit_intrinsic(lambda builder, value: builder.ctpop(value))
"""Number of set bits of a uint64."""
trailing_zeros = _bit_intrinsic(lambda builder, value: builder.cttz(value, _zero_is_defined(builder)))
"""Number of zero bits below the lowest set bit of a uint64; 64 for zero."""
leading_zeros = _bit_intrinsic(lambda builder, value: builder.ctlz(value, _zero_is_defined(builder)))
"""Number of zero bits above the highest set bit of a uint64; 64 for zero."""
reversed_bits = _bit_intrinsic(lambda builder, value: builder.bitreverse(value))
"""The bits of a uint64 in reverse order."""


def _reinterpreted(target: Any) -> Any:
    """Return an intrinsic that reads the bytes of a C-contiguous array as `target`.

    numba's method ``view`` does the same, but is slow to compile.
    """

    def typing_function(typing_context: Any, array: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kind = signature.return_type
            source = context.make_array(array)(context, builder, arguments[0])
            result = context.make_array(kind)(context, builder)
            itemsize = context.get_constant(types.intp, target.bitwidth // 8)
            *shape, last = cgutils.unpack_tuple(builder, source.shape)
            *strides, _ = cgutils.unpack_tuple(builder, source.strides)
            arrayobj.populate_array(
                result,
                data=builder.bitcast(source.data, result.data.type),
                shape=[*shape, builder.sdiv(builder.mul(last, source.itemsize), itemsize)],
                strides=[*strides, itemsize],
                itemsize=itemsize,
                meminfo=source.meminfo,
                parent=source.parent,
            )
            return arrayobj.impl_ret_borrowed(context, builder, kind, result._getvalue())

        return array.copy(dtype=target)(array), codegen

    return intrinsic(typing_function)


words_of = _reinterpreted(types.int64)
"""The bytes of an array int8 (..., 8 n), C-contiguous, as int64 (..., n)."""
bytes_of = _reinterpreted(types.int8)
"""The bytes of an array int64 (..., n), C-contiguous, as int8 (..., 8 n)."""
