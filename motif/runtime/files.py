"""Atomic and durable writes, bounded reads, scratch and locked folders, and places of cache and state.

A file is written under a temporary name in the same folder, flushed to disk and renamed; then the folder,
which holds the name, is flushed.  Failures raise a `FileError`.

A folder is locked by a system lock (``flock``, or its equivalent on Windows) on its file ``.lock``, which
names the holder.  The lock ends with its process, so a file left behind locks nothing.
"""

import codecs
import csv
import errno
import io
import json
import os
import re
import shutil
import socket
import stat
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from motif.runtime.errors import FileError, MotifError, SettingError, plain_text, shown
from motif.runtime.limits import JSON_FILE, Limit, read_within

STDIN = "-"
"""Path that stands for standard input."""
TEMPORARY_SUFFIX = ".tmp"
_TEMPORARY_NAME = re.compile(r"\..+\.\d+\.tmp(\.[^.]+)?", re.ASCII | re.DOTALL)
"""Names of temporary files: a dot, the stem, the process ID, `TEMPORARY_SUFFIX` and the suffix."""
_MAX_STEM = 200
"""Bytes of a name that a temporary name repeats: file systems allow 255 in all."""
PAGE_SUFFIXES = ".html", ".htm"
"""Endings of the names of HTML pages."""


def path_if_given(name: str, given: object) -> Path | None:
    """Return `path_of` an argument `name`, and None for None."""
    return None if given is None else path_of(name, given)


def path_of(name: str, given: object) -> Path:
    """Return the path that an argument `name` gives.

    Raises `SettingError` for anything else, and `FileError` for a name that the system refuses to look up
    because it is too long.
    """
    if not isinstance(given, str | os.PathLike):
        raise SettingError(f"{name} must be a path, not {shown(given)}", name)
    path = Path(given)
    try:
        os.lstat(path)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise FileError(f"{plain_text(str(path))}: {reason(error)}") from None
    except ValueError:  # a null byte in the name, which `reading` reports
        pass
    return path


def paths_of(name: str, given: object) -> list[Path]:
    """Return the paths that an argument `name` gives: one, or several.

    Raises `SettingError` if it gives something else, or nothing.
    """
    several = [given]
    if isinstance(given, Iterable) and not isinstance(given, str | os.PathLike):
        several = list(given)
    paths = [path_of(name, one) for one in several]
    if not paths:
        raise SettingError(f"{name}: at least one file is needed", name)
    return paths


def is_temporary(path: Path) -> bool:
    """Return whether `path` is a temporary file of `replacing`, as a killed process leaves behind."""
    return _TEMPORARY_NAME.fullmatch(path.name) is not None


def clear_temporaries(folder: Path) -> None:
    """Remove temporary files of killed processes.

    The caller must hold the folder's lock, and know that the folder is its own.
    """
    with refusals(folder):
        for path in filter(is_temporary, folder.iterdir()):
            path.unlink(missing_ok=True)


def make_folder(folder: Path) -> None:
    """Create `folder` and its parents durably; raises `FileError`."""
    missing = _missing(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in missing:
            _flush_folder(path.parent)
    except OSError as error:
        raise FileError(f"{folder}: cannot be created: {reason(error)}") from None


def _missing(folder: Path) -> list[Path]:
    """Return `folder` and its parents as far as they do not exist, innermost first."""
    return [path for path in (folder, *folder.parents) if not path.exists()]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`; at the end, flush its file to disk and rename it to `path`.

    If `path` is a symbolic link, the file that it names is replaced.  If the block raises, the temporary file
    is removed and `path` is unchanged.  An `OSError`, even one of the block, becomes a `FileError` that names
    `path`.
    """
    with refusals(path):
        if not path.name or path.is_dir():
            raise IsADirectoryError(errno.EISDIR, None)
        if fault := _fault_of_target(path):
            raise FileError(f"{path}: cannot be written: {fault}")
        path = Path(os.path.realpath(path)) if path.is_symlink() else path
        make_folder(path.parent)
        # The process ID separates two writers; writers such as matplotlib infer the format from the suffix.
        stem = os.fsdecode(os.fsencode(path.stem)[:_MAX_STEM])
        temporary = path.with_name(f".{stem}.{os.getpid()}{TEMPORARY_SUFFIX}{path.suffix}")
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
    """Write `text` to `path` atomically in UTF-8; raises `FileError`.

    What UTF-8 cannot represent, as in names of some files, is written as backslash escapes.
    """
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


def csv_text(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return the text of a CSV file with the names of its columns in the first line."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([columns, *rows])
    return text.getvalue()


def reason(error: OSError) -> str:
    """Return the system's message without the error number and the name of the file."""
    return os.strerror(error.errno) if error.errno else str(error)


@contextmanager
def reading(path: Path, failure: type[MotifError], missing: str = "") -> Iterator[None]:
    """Turn errors in reading `path` into a `failure`; `missing` is its message if there is no file."""
    where = plain_text(str(path))
    try:
        yield
    except OSError as error:
        what = missing if isinstance(error, FileNotFoundError) else ""
        raise failure(f"{where}: {what or f'cannot be read: {reason(error)}'}") from None
    # A null byte in the name, text that is not UTF-8, or JSON that is invalid or too deeply nested.
    except (ValueError, RecursionError) as error:
        raise failure(f"{where}: cannot be read: {error}") from None


def content_of(path: Path, failure: type[MotifError], limit: Limit, missing: str = "") -> bytes:
    """Return the bytes of a file, which may be a pipe or a device, reading no more than `limit`.

    Raises a `failure` if the file cannot be read or is too large; `missing` is its message if there is none.
    """
    where = plain_text(str(path))
    with reading(path, failure, missing), open(path, "rb") as handle:
        facts = os.fstat(handle.fileno())
        if stat.S_ISREG(facts.st_mode):
            limit.check(facts.st_size, where, failure)
        # Usually everything; memory for the limit is allocated only if the size is unknown.
        content = handle.read(min(facts.st_size, limit.size))
        content += read_within(handle, limit, where, failure) if handle.peek(1) else b""
        limit.check(len(content), where, failure)
        return content


def check_regular(path: Path, failure: type[MotifError], limit: Limit) -> None:
    """Raise a `failure` for a file beyond `limit`, or one that may never end, such as a pipe or a device."""
    facts = path.stat()
    if not stat.S_ISREG(facts.st_mode):
        raise failure(f"{plain_text(str(path))}: not a regular file")
    limit.check(facts.st_size, plain_text(str(path)), failure)


def text_of(path: Path, failure: type[MotifError], limit: Limit, missing: str = "") -> str:
    """Return the UTF-8 text of a file, without a byte order mark; like `content_of`."""
    content = content_of(path, failure, limit, missing)
    with reading(path, failure):
        return content.decode("utf-8-sig")


def json_of(path: Path, failure: type[MotifError], missing: str = "") -> object:
    """Return the JSON document in a file; like `content_of`."""
    content = content_of(path, failure, JSON_FILE, missing)
    with reading(path, failure):
        return parsed_json(content)


def parsed_json(content: bytes) -> object:
    """Return the JSON document in `content`; raises `ValueError`, also for an object with duplicate keys."""
    return json.loads(content, object_pairs_hook=_object)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made: dict[str, object] = {}
    for key, value in pairs:
        if key in made:
            raise ValueError(f"duplicate key {shown(key)}")
        made[key] = value
    return made


def whole_lines(path: Path) -> list[str]:
    """Return the complete lines of a text file to which a run appends; none if there is no file.

    An unfinished last line, left by a killed run, is dropped.
    """
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    return text[: text.rfind("\n") + 1].splitlines()


def decoded(content: bytes) -> str:
    """Return `content` decoded from UTF-8, from UTF-16 with a mark, or from what older programs write.

    That is Windows-1252, or Latin 1 if a byte has no meaning in Windows-1252.
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace")
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1")


@contextmanager
def refusals(what: Path | str) -> Iterator[None]:
    """Turn an `OSError` into a `FileError`: `what` cannot be written."""
    try:
        yield
    except OSError as error:
        raise FileError(f"{what}: cannot be written: {reason(error)}") from None


def _flush_folder(folder: Path) -> None:
    """Flush a folder to disk; otherwise POSIX does not guarantee that a rename is durable."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


LOCK = ".lock"
_HOLDER = re.compile(r"process \d+ on .*", re.ASCII)
_MAX_HOLDER = 1000
"""Content of a lock, and bytes that are read of it."""
_SETTLED = 60
"""Seconds after which a process has locked its scratch folder."""
_NO_LOCKS_HERE = {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK}


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Hold the lock of `folder`, which is created if necessary.

    Created folders that are empty at the end are removed.  Temporary files of earlier runs stay until the
    caller, who knows whose folder it is, clears them (`clear_temporaries`).

    Raises `FileError` if another run, even one in this process, holds it, or if the folder has a file of the
    lock's name that is not a lock.  File systems without locks are not locked.
    """
    from filelock import FileLock, Timeout

    missing = _missing(folder)
    make_folder(folder)
    path = folder / LOCK
    if not _is_own_lock(path):
        raise FileError(f"{folder}: its file {LOCK} is not a lock of motif; choose another folder")
    lock = FileLock(path, blocking=False, thread_local=False, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise FileError(f"{folder}: another run{_holder(path)} is working in this folder") from None
    except OSError as error:
        if error.errno not in _NO_LOCKS_HERE:
            raise FileError(f"{folder}: cannot be locked: {reason(error)}") from None
    try:
        # The content is only informative; the next real write reports a full disk, for example.
        with suppress(OSError):
            path.write_text(f"process {os.getpid()} on {socket.gethostname()}", encoding="utf-8")
        yield
    finally:
        # Removed while it is locked, so that no process locks a file that no longer exists (filelock checks).
        with suppress(OSError):
            path.unlink()
        lock.release()
        with suppress(OSError):
            for made in missing:
                made.rmdir()


@contextmanager
def scratch_folder(prefix: str) -> Iterator[Path]:
    """Yield a new temporary folder, whose name begins with `prefix`, and remove it at the end.

    The environment variable TMPDIR says where. Folders of processes that were killed are removed first.
    Raises `FileError` if it cannot be created.
    """
    for left in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError):
            _remove_abandoned(left)
    with refusals("a temporary folder"):
        temporary = tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True)
    with temporary as name, working_in(Path(name)):
        yield Path(name)


def _remove_abandoned(folder: Path) -> None:
    """Remove a folder of this user that is a minute old and that no process holds; may raise `OSError`."""
    from filelock import FileLock, Timeout

    facts = folder.lstat()
    # A younger one may be about to be locked.
    if not _is_own_folder(facts) or time.time() - facts.st_mtime < _SETTLED:
        return
    lock = FileLock(folder / LOCK, blocking=False, fallback_to_soft=False)
    with suppress(Timeout, NotImplementedError), lock:
        shutil.rmtree(folder)


def contents(folder: Path) -> list[Path]:
    """Return the sorted entries of `folder`, without the lock and temporary files."""
    return sorted(path for path in folder.iterdir() if path.name != LOCK and not is_temporary(path))


def _is_own_lock(path: Path) -> bool:
    """Return whether `path` is a lock, or may become one: it does not exist, or its process wrote nothing."""
    if not os.path.lexists(path):
        return True
    if path.is_symlink() or not path.is_file():
        return False
    try:
        with open(path, "rb") as handle:
            said = handle.read(_MAX_HOLDER)
    except OSError:  # Windows refuses to read a lock that is held
        return True
    return not said or _HOLDER.fullmatch(said.decode("utf-8", "replace")) is not None


def _holder(path: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        if said := path.read_text(encoding="utf-8").strip():
            return f" ({said})"
    return ""


def cache_root() -> Path:
    """Return the path of the cache, which need not exist; see `motif.runtime.cache_folder.cache_folder`.

    It is ``NUMBA_CACHE_DIR``, or ``motif`` in ``XDG_CACHE_HOME`` or ``~/.cache``; if the home folder is not
    writable, as in many containers, a private folder among the temporary files.
    """
    if configured := _configured("NUMBA_CACHE_DIR"):
        return configured
    if configured := _configured("XDG_CACHE_HOME"):
        return configured / "motif"
    at_home = home() / ".cache" / "motif"
    return at_home if can_be_written(at_home) else _temporary_cache() or at_home


def state_root() -> Path:
    """Return the path of the folder for unfinished games, which need not exist.

    It is ``motif`` in ``XDG_STATE_HOME`` or ``~/.local/state``; if the home folder is not writable, a folder
    in `cache_root`.
    """
    if configured := _configured("XDG_STATE_HOME"):
        return configured / "motif"
    at_home = home() / ".local" / "state" / "motif"
    return at_home if can_be_written(at_home) else cache_root() / "state"


def _configured(variable: str) -> Path | None:
    """Return the folder that an environment variable names; None if it names none or a relative one.

    The XDG Base Directory Specification requires this: a relative folder would depend on the current one, and
    might belong to another user.
    """
    path = Path(os.environ.get(variable, ""))
    return path if path.is_absolute() else None


def home() -> Path:
    """Return the user's home folder, or an unwritable folder if the user has none or ``HOME`` is relative."""
    with suppress(RuntimeError):
        if (folder := Path.home()).is_absolute():
            return folder
    return Path(os.devnull) / "home"


def can_be_written(folder: Path) -> bool:
    """Return whether `folder` is writable, or can be created."""
    try:
        nearest = next(path for path in (folder, *folder.parents) if _is_there(path))
    except OSError:  # a folder that cannot be entered, or a name that is too long
        return False
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)


def _is_there(path: Path) -> bool:
    """Return whether `path` exists; raise `OSError` if the system does not say.

    Unlike `Path.exists`, which does so or returns False depending on the version of Python.
    """
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _temporary_cache() -> Path | None:
    """Return a private folder among the temporary files, for files loaded as code; None if impossible."""
    folder = Path(tempfile.gettempdir()) / f"motif-{_user()}"
    with suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        facts = folder.lstat()
        if _is_own_folder(facts) and not facts.st_mode & 0o077:
            return folder
    return None


def _user() -> int:
    return int(getattr(os, "getuid", int)())


def _is_own_folder(facts: os.stat_result) -> bool:
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == _user()


def _fault_of_target(path: Path) -> str:
    """Return why no file may be written at `path`, which must not replace a device; empty if it may."""
    broken = path.is_symlink() and Path(os.path.realpath(path)).is_symlink()
    return "it is not a regular file" if broken or (path.exists() and not path.is_file()) else ""


def check_apart(sources: Iterable[Path | str | None], *targets: Path | None) -> None:
    """Raise `SettingError` if one of the files `targets` is also another, or one of `sources`.

    The sources may be `STDIN` or names of players, too.  None stands for a file that is not given.
    """
    given = [Path(source) for source in sources if source is not None]
    written: set[str] = set()
    for target in filter(None, targets):
        if target.exists() and any(source.exists() and target.samefile(source) for source in given):
            raise SettingError(f"{target}: is also read; name another file")
        if (place := os.path.realpath(target)) in written:
            raise SettingError(f"{target}: would be written twice; name another file")
        written.add(place)


def check_target(path: Path, *suffixes: str) -> None:
    """Check before long work that the file `path` can be written, and has one of the `suffixes`, if given.

    Raises `SettingError`.
    """
    if path.is_dir():
        raise SettingError(f"{path}: is a folder, not a file")
    if fault := _fault_of_target(path):
        raise SettingError(f"{path}: cannot be written: {fault}")
    if suffixes and path.suffix.lower() not in suffixes:
        raise SettingError(f"{path}: the name must end in {' or '.join(suffixes)}")
    parent = next(folder for folder in path.absolute().parents if folder.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise SettingError(f"{path}: cannot be written: {parent} is not a writable folder")
