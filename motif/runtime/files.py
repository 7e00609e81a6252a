"""Files that are either whole or not there, and that stay when the power goes; folders for one run at a time.

A file is written to a temporary name beside it, flushed to disk and renamed; then its folder is
flushed, because the new name stands there.  Whatever the system refuses is a `FileError`.

A folder's lock is the system's (``flock``, or its like on Windows) on its file ``.lock``, which says who
holds it.  It vanishes with the process, however that one ends: a file left behind locks nothing.
"""

import csv
import errno
import io
import json
import os
import socket
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from motif.runtime.errors import FileError, MotifError, SettingError, plain_text
from motif.runtime.limits import JSON_FILE, Limit, read_within

TEMPORARY_SUFFIX = ".tmp"


def is_temporary(path: Path) -> bool:
    """Whether `path` is a temporary file of `replacing`, as a process that was killed leaves behind."""
    return path.name.startswith(".") and TEMPORARY_SUFFIX in path.suffixes


def clear_temporaries(folder: Path) -> None:
    """Remove what killed processes left in `folder`; the caller knows that nobody is writing there."""
    with refusals(folder):
        for path in filter(is_temporary, folder.iterdir()):
            path.unlink(missing_ok=True)


def make_folder(folder: Path) -> None:
    """Make `folder` and those above it, to stay; raises `FileError` when that cannot be done."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in missing:
            _flush_folder(path.parent)
    except OSError as error:
        raise FileError(f"{folder}: cannot be made: {reason(error)}") from None


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Provide a temporary path beside `path`; on success it is flushed to disk and renamed to `path`.

    When the block fails, the temporary file is removed and `path` stays as it was.  An `OSError`, in
    the block too, becomes a `FileError` that names `path`.
    """
    with refusals(path):
        if not path.name or path.is_dir():
            raise IsADirectoryError(errno.EISDIR, None)
        make_folder(path.parent)
        # The process in its name keeps two writers apart; the suffix stays last, because writers
        # (matplotlib, say) choose the format by it.
        temporary = path.with_name(f".{path.stem}.{os.getpid()}{TEMPORARY_SUFFIX}{path.suffix}")
        try:
            yield temporary
            with open(temporary, "rb+") as handle:
                os.fsync(handle.fileno())
            temporary.replace(path)
            _flush_folder(path.parent)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` in UTF-8, whole or not at all; raises `FileError`."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def csv_text(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a CSV file's text: the names of its columns and its rows."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([columns, *rows])
    return text.getvalue()


def reason(error: OSError) -> str:
    """Return what the system said, without its number and the file's name, which the message has already."""
    return os.strerror(error.errno) if error.errno else str(error)


@contextmanager
def reading(path: Path, failure: type[MotifError], missing: str) -> Iterator[None]:
    """Make what refuses `path` to be read in the block a `failure`, which says `missing` of no file."""
    where = plain_text(str(path))
    try:
        yield
    except FileNotFoundError:
        raise failure(f"{where}: {missing}") from None
    except OSError as error:
        raise failure(f"{where}: cannot be read: {reason(error)}") from None
    # A name with a zero byte in it, or a text that is not UTF-8.
    except ValueError as error:
        raise failure(f"{where}: cannot be read: {error}") from None


def content_of(path: Path, failure: type[MotifError], limit: Limit, missing: str = "") -> bytes:
    """Return the bytes of the file `path`, which may be a pipe or a device.

    Raises a `failure` that names it where it cannot be read, and where it is larger than `limit`: then no
    more than that is read.  With `missing` the message says so of a file that is not there.
    """
    where = plain_text(str(path))
    try:
        with open(path, "rb") as handle:
            facts = os.fstat(handle.fileno())
            if stat.S_ISREG(facts.st_mode):
                limit.check(facts.st_size, where, failure)
            # Mostly all of it; room for the limit is asked for only where the size is not known.
            content = handle.read(min(facts.st_size, limit.size))
            content += read_within(handle, limit, where, failure) if handle.peek(1) else b""
            limit.check(len(content), where, failure)
            return content
    except OSError as error:
        what = missing if isinstance(error, FileNotFoundError) else ""
        raise failure(f"{where}: {what or f'cannot be read: {reason(error)}'}") from None
    # A name with a zero byte in it.
    except ValueError as error:
        raise failure(f"{where}: cannot be read: {error}") from None


def text_of(path: Path, failure: type[MotifError], limit: Limit, missing: str = "") -> str:
    """Return the text in UTF-8 in the file `path`; otherwise like `content_of`."""
    content = content_of(path, failure, limit, missing)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise failure(f"{plain_text(str(path))}: cannot be read: {error}") from None


def json_of(path: Path, failure: type[MotifError], missing: str = "") -> Any:
    """Return the JSON document in the file `path`; otherwise like `content_of`."""
    content = content_of(path, failure, JSON_FILE, missing)
    try:
        return json.loads(content)
    # Lists within lists, a thousand deep, are a RecursionError.
    except (ValueError, RecursionError) as error:
        raise failure(f"{plain_text(str(path))}: cannot be read: {error}") from None


def whole_lines(path: Path) -> list[str]:
    """Read the lines of a text file that a run appends to; none where there is no file yet.

    A line that a killed run left unfinished is left out.
    """
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    return text[: text.rfind("\n") + 1].splitlines()


def decoded(content: bytes) -> str:
    """Text in UTF-8, or in Latin 1, as older programs wrote it."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


@contextmanager
def refusals(what: Path | str) -> Iterator[None]:
    """Make of an `OSError` in the block a `FileError` that says that `what` cannot be written."""
    try:
        yield
    except OSError as error:
        raise FileError(f"{what}: cannot be written: {reason(error)}") from None


def _flush_folder(folder: Path) -> None:
    """Flush the names in a folder to disk: POSIX promises a rename to last only then."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
    """Return what lies in `folder`, in order, without a lock and temporary files."""
    return sorted(path for path in folder.iterdir() if path.name != LOCK and not is_temporary(path))


def _holder(path: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        if said := path.read_text(encoding="utf-8").strip():
            return f" ({said})"
    return ""


def cache_root() -> Path:
    """Where the cache is to be, which need not exist; see `motif.runtime.cache_folder.cache_folder`.

    That is ``NUMBA_CACHE_DIR``, or ``motif`` in ``XDG_CACHE_HOME`` or in ``~/.cache``; where a home cannot be
    written, as in many containers, a folder for temporary files that is this user's alone.
    """
    if configured := _configured("NUMBA_CACHE_DIR"):
        return configured
    if configured := _configured("XDG_CACHE_HOME"):
        return configured / "motif"
    at_home = home() / ".cache" / "motif"
    return at_home if can_be_written(at_home) else _temporary_cache() or at_home


def state_root() -> Path:
    """Where games that go on are kept, which need not exist.

    That is ``motif`` in ``XDG_STATE_HOME`` or in ``~/.local/state``; where a home cannot be written, beside
    what is kept in `cache_root`.
    """
    if configured := _configured("XDG_STATE_HOME"):
        return configured / "motif"
    at_home = home() / ".local" / "state" / "motif"
    return at_home if can_be_written(at_home) else cache_root() / "state"


def _configured(variable: str) -> Path | None:
    """Return the folder that an environment variable names.

    A relative one is ignored, as the XDG Base Directory Specification has it: it would be another folder for
    every folder that motif is called in, and perhaps one that somebody else has put there.
    """
    path = Path(os.environ.get(variable, ""))
    return path if path.is_absolute() else None


def home() -> Path:
    """Return the user's home, or a folder that cannot be written where the system knows none."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(os.devnull) / "home"


def can_be_written(folder: Path) -> bool:
    """Whether `folder` can be made, or written where it is there."""
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    return nearest.is_dir() and os.access(nearest, os.W_OK)


def _temporary_cache() -> Path | None:
    """Return a folder that nobody else can write, or None: what lies in it is loaded as code."""
    user = getattr(os, "getuid", int)()
    folder = Path(tempfile.gettempdir()) / f"motif-{user}"
    with suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        facts = folder.lstat()
        if stat.S_ISDIR(facts.st_mode) and facts.st_uid == user and not facts.st_mode & 0o077:
            return folder
    return None


def check_target(path: Path) -> None:
    """Fail before the work, not after it, when the file `path` cannot be written; raises `SettingError`."""
    if path.is_dir():
        raise SettingError(f"{path}: is a folder, not a file to write")
    parent = next(folder for folder in path.absolute().parents if folder.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise SettingError(f"{path}: cannot be written: {parent} is not a folder open to writing")
