"""Kernels by numba's own means: `njit`, and its cache.

numba keeps a function by the text of its own file alone.  So there is a cache for each state of the package:
whatever changes in it, all is compiled again.
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
from motif.runtime.progress import COMPILATION

_PACKAGE = Path(__file__).resolve().parent.parent
_CACHED_FILES = {".py", ".npy", ".npz", ".json", ".yaml", ".txt", ".csv"}


def stock_kernel(function: FunctionType, options: dict[str, Any]) -> Any:
    """Return `function` compiled by numba, with those `options` of `njit`.

    A function from outside the package is not kept: nothing tells when what it refers to has changed.
    """
    options = {**options, "no_cfunc_wrapper": True}
    if _PACKAGE not in Path(function.__code__.co_filename).resolve().parents:
        return njit(**options)(function)
    with _caching_in(_folder()):
        kernel = njit(cache=True, **options)(function)
    # Processes that need the same kernels compile them once: the others wait, and then find them kept.
    kernel.compile = partial(_alone, kernel.compile)
    return kernel


@cache
def _folder() -> Path:
    return kernel_folder() / _package_digest()


def _package_digest() -> str:
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*")):
        if path.suffix in _CACHED_FILES:
            content = path.read_bytes()
            digest.update(f"{path.relative_to(_PACKAGE)} {len(content)} ".encode() + content)
    return digest.hexdigest()[:16]


@contextmanager
def _caching_in(folder: Path) -> Iterator[None]:
    """Let numba keep the functions that are decorated in the block in `folder`."""
    before = config.CACHE_DIR  # type: ignore[attr-defined]
    config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        config.CACHE_DIR = before  # type: ignore[attr-defined]


@cache
def _lock() -> FileLock:
    return FileLock(_folder() / "lock", fallback_to_soft=False)


def _alone(compile_for: Callable[[Any], Any], signature: Any) -> Any:
    """Compile, or load, while no other process does."""
    try:
        with COMPILATION.under_way():
            _lock().acquire()
    except (OSError, NotImplementedError):
        return compile_for(signature)
    try:
        with without_collecting():
            return compile_for(signature)
    finally:
        _lock().release()
