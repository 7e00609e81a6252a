"""Machine code of kernels in files, each compiled once a machine.

A file is named after all that went into it, so a file that is there is the right one, wherever the package
lies and whenever it was written.  Whoever compiles holds a lock meanwhile; others wait, and load, or do
something else.
"""

import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp
from typing import Any

from numba.core.serialize import dumps

from motif.runtime.files import cache_root
from motif.runtime.progress import COMPILATION

_SUFFIX = ".kernel"


def kernel_folder() -> Path:
    """Where machine code is kept; it need not exist."""
    return cache_root() / "kernels"


def kept_kernels() -> int:
    """How many kernels are kept."""
    return sum(1 for _ in kernel_folder().glob(f"*{_SUFFIX}"))


def load_or_make(
    name: str, rebuild: Callable[[Any], Any], make: Callable[[], tuple[Any, Any]], wait: bool = True
) -> Any:
    """What `rebuild` makes of the contents of the file called `name`; else what `make` returns first, and
    its second, the contents, is written to the file unless it is None.

    While another process makes them it is waited for, or with `wait` false None is returned.  A file that
    cannot be read, or was damaged, is written anew; where none can be written, none is.
    """
    path = kernel_folder() / f"{name}{_SUFFIX}"
    loaded = _loaded(path, rebuild)
    if loaded is None:
        with _locked(path, wait) as is_ours:
            loaded = _loaded(path, rebuild)
            if loaded is None and is_ours:
                loaded, contents = make()
                _save(path, contents)
    return loaded


def _loaded(path: Path, rebuild: Callable[[Any], Any]) -> Any:
    try:
        contents = pickle.loads(path.read_bytes())
    except Exception:  # whatever a damaged pickle raises, or one of classes that have moved
        return None
    return rebuild(contents)


def _save(path: Path, contents: Any) -> None:
    if contents is None:
        return
    content = dumps(contents)
    with suppress(OSError):
        number, temporary = mkstemp(dir=path.parent)
        try:
            with os.fdopen(number, "wb") as file:
                file.write(content)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


@contextmanager
def _locked(path: Path, wait: bool) -> Iterator[bool]:
    """Hold the lock of the file at `path` for the block, where the file system has locks; yield whether no
    other process holds it, which without `wait` may be.

    It is the system's, and vanishes with the process that holds it.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(f"{path}.lock", fallback_to_soft=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # What others compile for this process is said, and left out of what is timed, like its own.
        with COMPILATION.under_way():
            lock.acquire(blocking=wait)
    except Timeout:
        yield False
        return
    except (OSError, NotImplementedError):
        yield True
        return
    try:
        yield True
    finally:
        # Removed while it is held, so that nobody holds a file that has gone (filelock looks).
        with suppress(OSError):
            Path(lock.lock_file).unlink()
        lock.release()
