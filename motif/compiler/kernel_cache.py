"""Machine code of kernels in files, each compiled once a machine.

A file is named after all that went into it, so a file that is there is the right one, wherever the package
lies and whenever it was written.  A process that compiles holds a lock; others wait, and load, or do
something else.

A file is a header, the kernel's name and its pickled machine code.  The header tells the format, how long
both are, and a digest over all the rest.  All of it is checked before anything is unpickled, because damaged
machine code ends the process: a file that is torn, damaged, another kernel's or of another format is written
again.  A digest is no signature: what keeps out those who mean harm is the folder (`cache_folder`).
"""

import hashlib
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from struct import Struct
from tempfile import mkstemp
from typing import Any

from motif.compiler.choice import LINKED, STOCK, way
from motif.runtime.cache_folder import cache_folder, cache_problem, open_private
from motif.runtime.progress import COMPILATION

_FOLDERS = {LINKED: "kernels", STOCK: "numba"}
_SUFFIX = ".kernel"
_SUFFIXES = {LINKED: _SUFFIX, STOCK: ".nbc"}
_MAGIC = b"motif-kernel"
_FORMAT = 1
_HEADER = Struct(">12sHHQ32s")
"""`_MAGIC`, `_FORMAT`, bytes of the name, bytes of the payload, SHA-256 over these four, the name and the
payload."""


def kernel_folder() -> Path:
    """Where machine code is kept; a path where nothing can be, where there is no cache."""
    return cache_folder(_FOLDERS[way()])


def kernel_folder_problem() -> str | None:
    """Why no machine code can be kept, in one line; None where it can."""
    return cache_problem(_FOLDERS[way()])


def kept_kernels() -> int:
    """How many kernels are kept."""
    return sum(1 for _ in kernel_folder().rglob(f"*{_SUFFIXES[way()]}"))


def load_or_make(
    name: str, rebuild: Callable[[Any], Any], make: Callable[[], tuple[Any, Any]], wait: bool = True
) -> Any:
    """Return what `rebuild` makes of the file called `name`, or else what `make` returns first.

    Its second, the contents, is written to the file unless it is None.

    While another process makes them it is waited for, or with `wait` false None is returned.  A file that
    cannot be read, was damaged, or is not what `rebuild` knows is written again; where none can be written,
    none is.
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
    """Return the file of the kernel called `name`."""
    title = name.encode()
    return _header(title, payload) + title + payload


def payload_of(name: str, content: bytes) -> memoryview | None:
    """Return the payload in the file `content`; None unless it is undamaged and of kernel `name`."""
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


def _loaded(path: Path, name: str, rebuild: Callable[[Any], Any]) -> Any:
    try:
        with open_private(path) as file:
            payload = payload_of(name, file.read())
        return None if payload is None else rebuild(pickle.loads(payload))
    # Whatever pickle raises of classes that have moved, and numba of contents of another shape.
    except Exception:
        return None


def _save(path: Path, name: str, contents: Any) -> None:
    if contents is None:
        return
    # Not above: numba's way needs nothing of it.
    from numba.core.serialize import dumps

    content = framed(name, dumps(contents))
    with suppress(OSError):
        # What processes have left behind that were killed at this point; only who holds the lock is here.
        for left in path.parent.glob(f".{path.stem}.*"):
            left.unlink(missing_ok=True)
        # Readable by this user alone, whatever the umask.
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
    """Hold the lock of the file at `path` for the block, where the file system has locks.

    Yields whether no other process holds it, which without `wait` may be.

    It is the system's, and vanishes with the process that holds it.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(f"{path}.lock", mode=0o600, fallback_to_soft=False)
    try:
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
