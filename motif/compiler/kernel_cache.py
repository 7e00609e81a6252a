"""Cached machine code of kernels, each compiled once per machine.

A file's name is a hash of everything that its machine code depends on, so a file that exists is the right
one, wherever the package is installed.  A process that compiles holds a lock; others wait and then load the
file, or do something else meanwhile.

A file consists of a header, the kernel's name and its pickled machine code.  The header contains the format,
both lengths and a digest of the rest.  All of this is checked before unpickling, because damaged machine code
crashes the process; a file that is truncated, damaged, or for another kernel or format is replaced.  The
digest protects only against accidents; the permissions of the folder protect against attacks (see
`program.Program.open_cached`).
"""

import hashlib
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from struct import Struct
from tempfile import mkstemp
from typing import TypeVar

from motif.compiler.choice import LINKED, STOCK, way
from motif.compiler.program import program

_Kernel = TypeVar("_Kernel")

_FOLDERS = {LINKED: "kernels", STOCK: "numba"}
_SUFFIX = ".kernel"
_SUFFIXES = {LINKED: _SUFFIX, STOCK: ".nbc"}
_MAGIC = b"kernel-cache"
_FORMAT = 1
_PATIENCE = 60
"""Seconds to wait for another process that compiles a kernel: several times what the slowest one takes."""
_HEADER = Struct(">12sHHQ32s")
"""`_MAGIC`, `_FORMAT`, lengths of name and payload in bytes, SHA-256 over these four, name and payload."""


def kernel_folder() -> Path:
    """Return the folder of cached kernels; without a cache, a path where nothing can be written."""
    return program().cache_folder(_FOLDERS[way()])


def kernel_folder_problem() -> str | None:
    """Return why kernels cannot be cached, in one line; None if they can."""
    return program().cache_problem(_FOLDERS[way()])


def cached_kernel_count() -> int:
    """Return the number of cached kernels."""
    return sum(1 for _ in kernel_folder().rglob(f"*{_SUFFIXES[way()]}"))


def load_or_make(
    name: str,
    rebuild: Callable[[object], _Kernel | None],
    make: Callable[[], tuple[_Kernel, object]],
    wait: bool = True,
) -> _Kernel | None:
    """Load the kernel of the file `name`, or make the kernel and write the file.

    Parameters
    ----------
    name
        Name of the file, without its suffix.
    rebuild
        Function that restores a kernel from the contents of its file; if it returns None or raises, the file
        is replaced.
    make
        Function that returns the kernel and the contents to write (None to write nothing).
    wait
        Whether to wait for another process that is making the file, rather than return None.
    """
    path = kernel_folder() / f"{name}{_SUFFIX}"
    loaded = _loaded(path, name, rebuild)
    if loaded is None:
        with _locked(path, wait) as is_ours:
            loaded = _loaded(path, name, rebuild)
            if loaded is None and is_ours:
                loaded, contents = make()
                _save(path, name, contents)
    return loaded


def framed(name: str, payload: bytes) -> bytes:
    """Return the contents of the file for the kernel `name`."""
    title = name.encode()
    return _header(title, payload) + title + payload


def payload_of(name: str, content: bytes) -> memoryview | None:
    """Return the payload of a file; None if it is damaged or not for the kernel `name`."""
    title = name.encode()
    start = _HEADER.size + len(title)
    payload = memoryview(content)[start:]
    if content[_HEADER.size : start] != title or content[: _HEADER.size] != _header(title, payload):
        return None
    return payload


def _header(title: bytes, payload: bytes | memoryview) -> bytes:
    facts = (_MAGIC, _FORMAT, len(title), len(payload))
    digest = hashlib.sha256(_HEADER.pack(*facts, bytes(32)) + title)
    digest.update(payload)
    return _HEADER.pack(*facts, digest.digest())


def _loaded(path: Path, name: str, rebuild: Callable[[object], _Kernel | None]) -> _Kernel | None:
    try:
        with program().open_cached(path) as file:
            payload = payload_of(name, file.read())
        return None if payload is None else rebuild(pickle.loads(payload))
    # Any error is possible: pickle fails for classes that have moved, numba for other contents.
    except Exception:
        return None


def _save(path: Path, name: str, contents: object) -> None:
    if contents is None:
        return
    # Imported here because stock kernels do not need it.
    from numba.core.serialize import dumps

    content = framed(name, dumps(contents))
    with suppress(OSError):
        # Leftovers of killed processes; this process holds the lock.
        for left in path.parent.glob(f".{path.stem}.*"):
            left.unlink(missing_ok=True)
        # mkstemp makes it private, whatever the umask.
        number, temporary = mkstemp(dir=path.parent, prefix=f".{path.stem}.")
        try:
            with os.fdopen(number, "wb") as file:
                file.write(content)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


@contextmanager
def _locked(path: Path, wait: bool) -> Iterator[bool]:
    """Hold a system lock on the file at `path`, if its file system has locks.

    Yields `wait` without the lock if another process holds it: at once without `wait`, otherwise after
    `_PATIENCE` seconds, because a suspended process keeps its locks.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(f"{path}.lock", mode=0o600, fallback_to_soft=False)
    try:
        # Waiting for another process's compilation counts as compiling.
        with program().monitor.under_way():
            lock.acquire(timeout=_PATIENCE if wait else 0)
    except Timeout:
        yield wait
        return
    except (OSError, NotImplementedError):
        yield True
        return
    try:
        yield True
    finally:
        # Removed while it is locked, so that no process locks a file that no longer exists (filelock checks).
        with suppress(OSError):
            Path(lock.lock_file).unlink()
        lock.release()
