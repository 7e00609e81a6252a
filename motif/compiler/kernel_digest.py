"""A hash of everything that the machine code of a function depends on.

It covers the function's bytecode, which numba compiles, and the values of everything that the function refers
to, but not comments, docstrings, line numbers or the rest of its file.  For a reference that cannot be hashed
by value, it covers the text of its module and of all modules of the program that this module imports.
"""

import enum
import hashlib
import importlib.util
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.dispatcher import Dispatcher
from numba.core.typing import Signature

from motif.compiler.program import program

_VERSIONED = {"numba", "llvmlite", "numpy", *sys.stdlib_module_names}
"""Packages that are identified by their versions, which are in `VERSIONS`."""
VERSIONS = (sys.implementation.cache_tag, numba.__version__, llvmlite.__version__, np.__version__)
_HAS_DOCSTRING = 0x4000000
"""Flag of code with a docstring, from Python 3.14 on; before, any text that comes first may be one."""

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


class NoDigestError(Exception):
    """A value that can be identified only by its address."""


def digest_of(function: FunctionType, options: Mapping[str, object]) -> str | None:
    """Return a digest of everything that the machine code of `function` with some `options` depends on.

    None if there is no such digest; then the machine code must not be cached.
    """
    try:
        return _hash("kernel", _options(options), _Digester().function(function)).hex()
    except NoDigestError:
        return None


def type_text(kind: types.Type) -> str:
    """Return a numba type as text, including the class and fields of a named tuple, which `str` omits."""
    if isinstance(kind, types.NamedTuple | types.NamedUniTuple):
        of_class = kind.instance_class
        fields = ", ".join(
            f"{name}: {type_text(of)}" for name, of in zip(kind.fields, kind.types, strict=True)
        )
        return f"{of_class.__module__}.{of_class.__qualname__}({fields})"
    if isinstance(kind, types.Tuple | types.UniTuple):
        return f"({', '.join(map(type_text, kind))})"
    return str(kind)


@cache
def module_digest(name: str) -> str:
    """Return a digest of the bytecode of a module."""
    loader: Any = importlib.util.find_spec(name).loader  # type: ignore[union-attr]
    return _code(loader.get_code(name)).hex()


@cache
def _module_text(file: Path) -> bytes:
    """Return a hash of a module of the program and of all modules that it imports, even indirectly."""
    reached: set[Path] = set()
    waiting = {file}
    while waiting:
        reached |= waiting
        waiting = {path for known in waiting for path in _imports(known)} - reached
    return _hash(*(part for path in sorted(reached) for part in (path.name.encode(), path.read_bytes())))


@cache
def _imports(file: Path) -> frozenset[Path]:
    files = set()
    imports = rf"^\s*(?:from|import)\s+({program().name}[\w.]*)(?:\s+import\s+(.*))?"
    for name, imported in re.findall(imports, file.read_text(encoding="utf-8"), re.MULTILINE):
        for dotted in (name, *(f"{name}.{word}" for word in re.findall(r"\w+", imported))):
            path = program().package.parent.joinpath(*dotted.split("."))
            files |= {each for each in (path / "__init__.py", path.with_suffix(".py")) if each.is_file()}
    return frozenset(files)


def _hash(*parts: str | bytes) -> bytes:
    """Return a hash of `parts`, delimited by their lengths."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.digest()


def _options(options: Mapping[str, object]) -> str:
    return repr(sorted((name, sorted(v) if isinstance(v, set) else v) for name, v in options.items()))


def _is_versioned(name: str | None) -> bool:
    return (name or "").split(".")[0] in _VERSIONED


_known: dict[FunctionType, bytes] = {}


class _Digester:
    """The hashing of a function and, recursively, of everything that it refers to."""

    def __init__(self) -> None:
        self._under_way: list[FunctionType] = []

    def function(self, function: FunctionType) -> bytes:
        """Return the hash of a function and of what it refers to; raises `NoDigestError`."""
        if _is_versioned(function.__module__):
            return _hash("function", function.__module__, function.__qualname__)
        if function in _known:
            return _known[function]
        if function in self._under_way:
            raise NoDigestError  # recursion, perhaps indirect
        self._under_way.append(function)
        named = function.__globals__
        names = [name for name in sorted(set(names_of(function.__code__))) if name in named]
        of = partial(self._value, home=function)
        closure = [of(cell.cell_contents) for cell in function.__closure__ or ()]
        defaults: list[str | bytes] = [of(function.__defaults__ or ()), repr(function.__kwdefaults__)]
        _known[function] = _hash(
            *("function", function.__qualname__, _code(function.__code__)),
            *(_hash(name, of(named[name])) for name in names),
            *("closure", *closure, "defaults", *defaults),
        )
        self._under_way.pop()
        return _known[function]

    def _value(self, value: object, home: FunctionType) -> bytes:
        """Return the hash of a value that the function `home` refers to."""
        kind = type(value)
        of = partial(self._value, home=home)
        if kind in _PLAIN:
            return _hash(kind.__name__, repr(value))
        if isinstance(value, Dispatcher):
            return _hash("kernel", _options(value.targetoptions), self.function(value.py_func))
        if isinstance(value, FunctionType):
            return self.function(value)
        if isinstance(value, numba.core.extending._Intrinsic):
            return _hash("intrinsic", self.function(value._defn))
        if isinstance(value, enum.Enum):
            return _hash("enum", kind.__qualname__, value.name, of(value.value))
        if isinstance(value, np.generic | np.ndarray) and not value.dtype.hasobject:
            facts = repr((kind.__name__, value.dtype.descr, value.shape, value.flags.f_contiguous))
            return _hash("array", facts, value.tobytes())
        if isinstance(value, tuple):
            return _hash("tuple", of(kind) if kind is not tuple else b"", *(of(each) for each in value))
        if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
            return _hash("fields", value.__module__, value.__qualname__, repr(value._fields))
        if isinstance(value, ModuleType) and _is_versioned(value.__name__):
            return _hash("module", value.__name__)
        if isinstance(value, type | BuiltinFunctionType | np.ufunc) and _is_versioned(
            getattr(value, "__module__", "numpy")
        ):
            return _hash("name", getattr(value, "__module__", None) or "", value.__name__)
        if isinstance(value, ir.Type | types.Type | Signature):
            return _hash("type", str(value))
        return self._module_of(home)

    def _module_of(self, home: FunctionType) -> bytes:
        """Return the hash of all code that may have created a value; raises `NoDigestError`."""
        file = Path(home.__code__.co_filename).resolve()
        if program().package not in file.parents:
            raise NoDigestError
        return _module_text(file)


def names_of(code: CodeType) -> Iterator[str]:
    """Yield the global names in the code of a function and of the functions within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_of(constant)


def _code(code: CodeType) -> bytes:
    """Return the hash of a function's bytecode, without its docstring and line numbers."""
    constants = list(code.co_consts)
    documented = bool(code.co_flags & _HAS_DOCSTRING) or sys.version_info < (3, 14)
    if documented and constants and isinstance(constants[0], str) and code.co_name[0] != "<":
        constants[0] = None
    return _hash(
        *("code", code.co_code, code.co_exceptiontable, repr(code.co_flags & ~_HAS_DOCSTRING)),
        repr((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)),
        repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)),
        *map(_constant, constants),
    )


def _constant(value: object) -> bytes:
    if isinstance(value, CodeType):
        return _code(value)
    if isinstance(value, tuple):
        return _hash("tuple", *map(_constant, value))
    if isinstance(value, frozenset):
        return _hash("set", *sorted(map(_constant, value)))
    return _hash(type(value).__name__, repr(value))
