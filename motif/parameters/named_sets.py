"""Parameter sets by name: those of motif, and files of one's own.

Files of parameters of one's own: read, run, and found again by the weights that were fitted to them.
"""

import ast
import hashlib
import importlib.util
import os
import re
import sys
import traceback
from functools import cache
from pathlib import Path
from types import ModuleType

from motif.parameters.own_set import Extension, OwnSet, own_fingerprint
from motif.parameters.registry import ParameterSet
from motif.parameters.sets import PARAMETER_SETS
from motif.runtime.errors import MotifError, ParameterError, plain_text, shown
from motif.runtime.files import cache_root, reason, write_text

FOLDERS_VARIABLE = "MOTIF_PARAMETERS"
"""Names folders in which weights find the file that they were fitted to."""
SUFFIX = ".py"
_FILE_NAME = re.compile(r"[A-Za-z_][\w-]*\.py", re.ASCII)


def extend(base: str | None = None) -> Extension:
    """Begin a set of one's own with all parameters of the set called `base`, or with none.

    Raises `ParameterError` when motif has no such set.
    """
    return Extension(_base(base))


def load_own_set(path: Path | str) -> OwnSet:
    """The set in the file at `path`; raises `ParameterError`."""
    return _own_set(Path(path).name, _text(Path(path)), str(path))


def find_own_set(name: str, fingerprint: object, folder: Path) -> OwnSet:
    """The set that weights in `folder` were fitted to, whose file is called `name`.

    It may lie in `folder` or one above it, in the current folder, or in one of MOTIF_PARAMETERS.  Nothing
    but a file of the very text that belongs to `fingerprint` is run.  Raises `ParameterError`.
    """
    if not _FILE_NAME.fullmatch(name):
        raise ParameterError(f"{shown(name)} is no name of a file of parameters, NAME{SUFFIX}")
    others = {}
    for path in _places(name, folder):
        text = _text(path)
        others[path] = own_fingerprint(text, _base(_base_in(text, str(path))))
        if others[path] == fingerprint:
            return _own_set(name, text, str(path))
    for path, found in others.items():
        raise ParameterError(
            f"fitted to another {name} than {path}: they say {shown(fingerprint)}, this is {found}"
        )
    raise ParameterError(
        f"no {name} in {folder} or a folder above it, here, or in a folder of {FOLDERS_VARIABLE}"
    )


def _places(name: str, folder: Path) -> list[Path]:
    """The files called `name` where weights in `folder` look for it, each once."""
    named = [Path(entry) for entry in os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep) if entry]
    folder = folder.absolute()
    folders = dict.fromkeys((folder, *folder.parents, Path.cwd(), *named))
    return [path for path in (place / name for place in folders) if path.is_file()]


def _text(path: Path) -> str:
    where = plain_text(str(path))
    if not _FILE_NAME.fullmatch(path.name):
        raise ParameterError(
            f"{where}: a file of parameters is called NAME{SUFFIX}, with letters, digits, _ and -"
        )
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ParameterError(f"{where}: no such file of parameters") from None
    except OSError as error:
        raise ParameterError(f"{where}: cannot be read: {reason(error)}") from None
    except ValueError as error:
        raise ParameterError(f"{where}: cannot be read: {error}") from None


def _base(name: str | None) -> ParameterSet | None:
    if name is None:
        return None
    if name not in PARAMETER_SETS:
        raise ParameterError(f"no set to extend is called {name!r}; there are {', '.join(PARAMETER_SETS)}")
    return PARAMETER_SETS[name]


def _base_in(text: str, where: str) -> str | None:
    """The base that a file's call of `extend` names, found without running the file."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) else ""
        raise ParameterError(f"{where}{line}: {getattr(error, 'msg', error)}") from None
    calls = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) == extend.__name__
    ]
    if len(calls) != 1:
        raise ParameterError(f"{where}: calls extend {len(calls)} times; a file of parameters does once")
    given = [*calls[0].args, *(keyword.value for keyword in calls[0].keywords)]
    if not given:
        return None
    if len(given) > 1 or not isinstance(given[0], ast.Constant) or not isinstance(given[0].value, str | None):
        raise ParameterError(f'{where}:{calls[0].lineno}: name the set itself, as in extend("motif")')
    return given[0].value


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


@cache
def _own_set(name: str, text: str, where: str) -> OwnSet:
    base = _base_in(text, where)
    # Run from a folder named after the text, where it stays as it is while the user edits his file.
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    kept = cache_root() / "parameters" / digest / name
    if not kept.is_file():
        write_text(kept, text)
    try:
        module = _run(kept, f"motif_parameters_{digest}")
        extensions = {id(value): value for value in vars(module).values() if isinstance(value, Extension)}
        if len(extensions) != 1:
            raise ParameterError("what extend gives must be kept under a name")
        (extension,) = extensions.values()
        if (extension.base.name if extension.base is not None else None) != base:
            raise ParameterError("extends another set than its call of extend names")
        return extension.finish(name, text)
    except MotifError as error:
        raise ParameterError(f"{where}: {error}") from None
    except (Exception, SystemExit) as error:
        lines = [
            frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(kept)
        ]
        line = f":{lines[-1]}" if lines else ""
        raise ParameterError(f"{where}{line}: {type(error).__name__}: {error}") from None


def _run(path: Path, module_name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[module_name] = importlib.util.module_from_spec(spec)
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = writes
    return module


def own_set_again(name: str, text: str) -> OwnSet:
    """The set of a file that another process has read."""
    return _own_set(name, text, name)


KNOWN_SETS = (*PARAMETER_SETS, f"FILE{SUFFIX}")
"""What may stand where a set is named."""


def parameter_set(name: str) -> ParameterSet:
    """The set called `name`, or in the file at the path `name`; raises `ParameterError`."""
    if name.endswith(SUFFIX):
        return load_own_set(name)
    try:
        return PARAMETER_SETS[name]
    except KeyError:
        known = ", ".join(KNOWN_SETS)
        raise ParameterError(f"no parameter set is called {name!r}; there are: {known}") from None


def fitted_set(name: object, fingerprint: object, folder: Path) -> ParameterSet | None:
    """The set called `name` that a file in `folder` was fitted to; None when there is none of the name.

    A set of motif's is given with whatever fingerprint it has.  Raises `ParameterError` for a file of
    one's own that cannot be found, or is not that of `fingerprint`.
    """
    if isinstance(name, str) and name.endswith(SUFFIX):
        return find_own_set(name, fingerprint, folder)
    return PARAMETER_SETS.get(name) if isinstance(name, str) else None
