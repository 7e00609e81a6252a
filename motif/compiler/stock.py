"""Kernels compiled by `njit`, with numba's own cache.

numba checks only the file of the function itself for changes.  Therefore each state of the package has a
separate cache, and any change recompiles everything.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from types import FunctionType
from typing import Any

from filelock import FileLock
from numba import config, njit

from motif.compiler.garbage import without_collecting
from motif.compiler.kernel_cache import kernel_folder
from motif.compiler.program import program

_CACHED_FILES = {".py", ".npy", ".npz", ".json", ".yaml", ".txt", ".csv"}


def stock_kernel(function: FunctionType, options: dict[str, Any]) -> object:
    """Return `function` compiled by `njit` with some `options`.

    Functions from outside the package are not cached, because changes in what they refer to would go
    unnoticed.
    """
    options = {**options, "no_cfunc_wrapper": True}
    if program().package not in Path(function.__code__.co_filename).resolve().parents:
        return njit(**options)(function)
    with _caching_in(_folder()):
        kernel: Any = njit(cache=True, **options)(function)
    # Of several processes one compiles; the others wait and then load from the cache.
    kernel.compile = partial(_alone, kernel.compile)
    return kernel


@cache
def _folder() -> Path:
    """Return the folder for this state of the package."""
    digest = hashlib.sha256()
    package = program().package
    for path in sorted(package.rglob("*")):
        if path.suffix in _CACHED_FILES:
            content = path.read_bytes()
            digest.update(f"{path.relative_to(package)} {len(content)} ".encode() + content)
    return kernel_folder() / digest.hexdigest()[:16]


@contextmanager
def _caching_in(folder: Path) -> Iterator[None]:
    """Let numba cache in `folder` the functions that are decorated in the block."""
    before = config.CACHE_DIR  # type: ignore[attr-defined]
    config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        config.CACHE_DIR = before  # type: ignore[attr-defined]


@cache
def _lock() -> FileLock:
    return FileLock(_folder() / "lock", fallback_to_soft=False)


def _alone(compile_for: Callable[[object], object], signature: object) -> object:
    """Compile or load while no other process does."""
    try:
        with program().monitor.under_way():
            _lock().acquire()
    except (OSError, NotImplementedError):
        return compile_for(signature)
    try:
        with without_collecting():
            return compile_for(signature)
    finally:
        _lock().release()
