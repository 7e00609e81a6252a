"""JIT options in one place, and the bit operations that numba lacks.

Kernels are compiled on first use and kept in a cache folder whose name holds a hash of the source
of every module that they may call: numba alone does not notice when a function that a cached kernel
calls has changed in another file.

Says on a terminal that kernels are being compiled, when that takes more than a second.
"""

import hashlib
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Timer
from typing import Any, TypeVar, cast

import numba
from numba.core import event, types
from numba.extending import intrinsic

from motif.runtime.files import cache_root

_QUIET_SECONDS = 1.0
_MESSAGE = "motif: compiling kernels, once for this machine and version ..."


class _Announcer(event.Listener):
    """Hears numba begin and end each compilation; those of callees lie within their callers'."""

    def __init__(self) -> None:
        self._depth = 0
        self._timer: Timer | None = None
        self._said = False

    def on_start(self, event: Any) -> None:
        self._depth += 1
        if self._depth == 1 and not self._said and sys.stderr.isatty():
            self._timer = Timer(_QUIET_SECONDS, self._say)
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0 and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _say(self) -> None:
        self._said = True
        print(_MESSAGE, file=sys.stderr, flush=True)


def announce_compilation() -> None:
    """Listen to numba from now on."""
    event.register("numba:compile", _Announcer())


announce_compilation()
_F = TypeVar("_F", bound=Callable[..., Any])
_PACKAGE = Path(__file__).resolve().parent.parent
_IMPORTED = re.compile(r"^from (motif[\w.]*) import", re.MULTILINE)
_LEAN: dict[str, Any] = {"_nrt": False}
_SUM_IN_ANY_ORDER = {"reassoc", "contract", "nsz"}


@cache
def _imports(module_file: Path) -> frozenset[Path]:
    """Files of motif's modules that `module_file` imports by name."""
    found = set()
    for name in _IMPORTED.findall(module_file.read_text(encoding="utf-8")):
        path = _PACKAGE.parent.joinpath(*name.split("."))
        found.add(path / "__init__.py" if path.is_dir() else path.with_suffix(".py"))
    return frozenset(found)


@cache
def _cache_folder(module_file: Path) -> str:
    """Where kernels of a module are kept: named after the source of all that they may call."""
    reached: set[Path] = set()
    waiting = {module_file, Path(__file__).resolve()}
    while waiting:
        reached |= waiting
        waiting = {path for known in waiting for path in _imports(known)} - reached
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(reached):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return str(cache_root() / f"{module_file.stem}-{digest.hexdigest()[:16]}")


def _compiled(function: _F, **options: Any) -> _F:
    config: Any = numba.config
    previous = config.CACHE_DIR
    # Read only while decorating, so nobody else's kernels move.
    config.CACHE_DIR = _cache_folder(Path(function.__code__.co_filename).resolve())
    try:
        compiled = numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    finally:
        config.CACHE_DIR = previous
    return cast(_F, compiled)


def kernel(function: _F) -> _F:
    """Compile `function` on first use: no Python objects, no GIL, kept on disk."""
    return _compiled(function)


def fast_kernel(function: _F) -> _F:
    """Like `kernel`, for sums of floats whose order does not matter: lets LLVM vectorise them."""
    return _compiled(function, fastmath=_SUM_IN_ANY_ORDER)


def lean_kernel(function: _F) -> _F:
    """Like `kernel`, for functions that make no array and return none.

    They do without reference counts, which otherwise cost more than the work: a tuple of arrays that
    is passed on has every one of them counted up and down.
    """
    return _compiled(function, **_LEAN)


def checked_kernel(function: _F) -> _F:
    """Like `kernel`, with every index checked: for functions that motif did not write."""
    return _compiled(function, boundscheck=True)


def inline_kernel(function: _F) -> _F:
    """A small building block of kernels, always compiled into its callers; as lean as `lean_kernel`."""
    return cast(_F, numba.njit(nogil=True, error_model="numpy", forceinline=True, **_LEAN)(function))


def compilation_target() -> tuple[str, str]:
    """Name and features of the processor that kernels are compiled for."""
    from numba.core.registry import cpu_target

    _, name, features = cpu_target.target_context.codegen().magic_tuple()
    return name, features


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
"""Number of one bits of a uint64."""
trailing_zeros = _bit_intrinsic(lambda builder, value: builder.cttz(value, _zero_is_defined(builder)))
"""Index of the lowest one bit of a uint64; 64 for zero."""
leading_zeros = _bit_intrinsic(lambda builder, value: builder.ctlz(value, _zero_is_defined(builder)))
"""64 minus one, minus the index of the highest one bit of a uint64; 64 for zero."""
reversed_bits = _bit_intrinsic(lambda builder, value: builder.bitreverse(value))
"""The bits of a uint64 in the opposite order."""
