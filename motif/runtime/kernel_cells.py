"""Cells: through which a kernel calls another one that need not be there yet.

A cell is two words of memory with a name: the address of a kernel's machine code, 0 at first, and a number
by which `_resolve` finds the kernel, has it loaded or compiled, and fills the cell.  Machine code knows cells
by their names, so it can be kept in a file.
"""

import ctypes
import traceback
from collections.abc import Callable
from typing import Any, Protocol

from llvmlite import binding, ir
from numba.core import cgutils, types

CELL = "motif.cell."
"""How the names of cells begin."""
_CALL, _RESOLVE = "motif.call.", "motif.resolve"
_WORD = ir.IntType(64)
_DONE, _FAILED, _INTERRUPTED = 1, 0, -1

Arguments = tuple[types.Type, ...]


class Callee(Protocol):
    """What stands behind a cell."""

    def address(self, arguments: Arguments) -> int:
        """Address of the machine code for arguments of these types."""

    def cell_name(self, arguments: Arguments) -> str:
        """Name of the cell for arguments of these types."""


_cells: dict[str, tuple[Callee, Arguments, Any]] = {}
"""By name: whose cell it is, for which arguments, and the cell."""
_names: list[str] = []
"""Names of the cells by their numbers."""


def cell_of(kernel: Callee, arguments: Arguments) -> str:
    """Name of a kernel's cell, which machine code may refer to from now on."""
    name = kernel.cell_name(arguments)
    if name not in _cells:
        cell = (ctypes.c_int64 * 2)(0, len(_names))
        _names.append(name)
        _cells[name] = kernel, arguments, cell
        binding.add_symbol(name, ctypes.addressof(cell))
    return name


@ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
def _resolve(number: int) -> int:
    """Fill a cell; called by a kernel that runs."""
    try:
        kernel, arguments, cell = _cells[_names[number]]
        cell[0] = kernel.address(arguments)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BaseException:
        traceback.print_exc()
        return _FAILED
    return _DONE


binding.add_symbol(_RESOLVE, ctypes.cast(_resolve, ctypes.c_void_p).value)


def call_through(name: str) -> Callable[..., Any]:
    """What writes a call of the kernel behind the cell called `name`, as numba's `user_function` does."""

    def implementation(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        callee = _caller_of(context, builder.module, name, signature)
        status, result = context.call_conv.call_function(
            builder, callee, signature.return_type, signature.args, arguments
        )
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return result

    implementation.libs = ()  # type: ignore[attr-defined]
    return implementation


def _caller_of(context: Any, module: Any, name: str, signature: Any) -> Any:
    """The function of a module that calls through a cell."""
    kind = context.call_conv.get_function_type(signature.return_type, signature.args)
    function = cgutils.get_or_insert_function(module, kind, _CALL + name.removeprefix(CELL))
    if not function.is_declaration:
        return function
    function.linkage = "linkonce_odr"
    function.attributes.add("alwaysinline")
    builder = ir.IRBuilder(function.append_basic_block())
    cell = cgutils.add_global_variable(module, ir.ArrayType(_WORD, 2), name)
    zero, one = ir.Constant(ir.IntType(32), 0), ir.Constant(ir.IntType(32), 1)
    place = builder.gep(cell, [zero, zero])
    is_empty = builder.icmp_unsigned("==", builder.load(place), ir.Constant(_WORD, 0))
    with cgutils.if_unlikely(builder, is_empty):
        resolve = cgutils.get_or_insert_function(module, ir.FunctionType(_WORD, [_WORD]), _RESOLVE)
        outcome = builder.call(resolve, [builder.load(builder.gep(cell, [zero, one]))])
        for failure, error in ((_INTERRUPTED, KeyboardInterrupt), (_FAILED, RuntimeError)):
            has_failed = builder.icmp_signed("==", outcome, ir.Constant(_WORD, failure))
            with cgutils.if_unlikely(builder, has_failed):
                context.call_conv.return_user_exc(builder, error, ("while a kernel was compiled",))
    address = builder.inttoptr(builder.load(place), kind.as_pointer())
    builder.ret(builder.call(address, function.args))
    return function


def cells_in(library: Any) -> list[tuple[str, Any, Arguments]]:
    """The cells that machine code refers to: name, kernel and arguments."""
    names = [variable.name for variable in library._final_module.global_variables]
    return [(name, *_cells[name][:2]) for name in names if name in _cells]
