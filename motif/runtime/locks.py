"""One run a folder: a lock that vanishes with the process that holds it, however that one ends.

The lock is the system's (``flock``, or its like on Windows) on the file ``.lock``, which says who
holds it.  The file goes when the run ends; one that a killed process leaves behind locks nothing.
"""

import errno
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from motif.runtime.errors import FileError
from motif.runtime.files import clear_temporaries, is_temporary, make_folder, reason

LOCK = ".lock"

_NO_LOCKS_HERE = {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK}


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Make `folder` if need be and hold it for the block; temporary files of earlier runs are removed.

    Raises `FileError` at once when another run, also one of this process, holds it.  On a file system
    that knows no locks there is none.
    """
    from filelock import FileLock, Timeout

    make_folder(folder)
    path = folder / LOCK
    lock = FileLock(path, blocking=False, thread_local=False, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise FileError(f"{folder}: another run{_holder(path)} is working in this folder") from None
    except OSError as error:
        if error.errno not in _NO_LOCKS_HERE:
            raise FileError(f"{folder}: cannot be locked: {reason(error)}") from None
    try:
        # Who holds it is a courtesy: a full disk, say, will be reported by what is really written.
        with suppress(OSError):
            path.write_text(f"process {os.getpid()} on {socket.gethostname()}", encoding="utf-8")
        clear_temporaries(folder)
        yield
    finally:
        # Removed while it is held, so that nobody holds a file that has gone (filelock looks).
        with suppress(OSError):
            path.unlink()
        lock.release()


def contents(folder: Path) -> list[Path]:
    """What lies in `folder`, in order, without a lock and temporary files."""
    return sorted(path for path in folder.iterdir() if path.name != LOCK and not is_temporary(path))


def _holder(path: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        if said := path.read_text(encoding="utf-8").strip():
            return f" ({said})"
    return ""
