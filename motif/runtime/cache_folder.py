"""The cache folder, which only its user may write to.

Kernels in it are loaded as code.  Therefore the folder and the file of each kernel must belong to the user
and be writable by no one else, as OpenSSH requires of its folder of keys.  Folders are created with these
permissions, whatever the umask.  If the folder cannot be trusted, motif works without a cache and says so
once.
"""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from motif.runtime.files import cache_root, reason
from motif.runtime.layout import complain

_PRIVATE = 0o700
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_NOWHERE = Path(os.devnull) / "cache"
"""A path below which nothing can be read or written."""
# Windows lacks geteuid and modes, but protects users' folders anyway.
_user: Callable[[], int] | None = getattr(os, "geteuid", None)
_CAN_OPEN_IN_A_FOLDER = os.open in os.supports_dir_fd
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
# Without O_NONBLOCK, opening a named pipe would wait for a writer.
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Notice:
    """A notice on stderr that motif works without a cache, printed once per process."""

    def __init__(self) -> None:
        self.is_said = False
        """Whether to print nothing more."""

    def say(self, problem: str) -> None:
        """Print the notice with its cause, once."""
        if self.is_said:
            return
        self.is_said = True
        complain(f"motif: working without a cache, compiling again: {problem}")


NOTICE = Notice()
"""The notice of this process; workers stay silent."""


def cache_folder(name: str) -> Path:
    """Return the folder `name` of the cache, creating it if necessary.

    If it cannot be created or trusted, print the notice and return a path where nothing can be written.
    """
    folder = cache_root() / name
    if problem := _problem(folder):
        NOTICE.say(problem)
        return _NOWHERE / name
    return folder


def cache_problem(name: str) -> str | None:
    """Return why the folder `name` of the cache cannot be used, in one line; None if it can."""
    return _problem(cache_root() / name)


def _problem(wanted: Path) -> str | None:
    for folder in (wanted.parent, wanted):
        try:
            fault = fault_of(_facts_of(folder), stat.S_ISDIR, "folder")
        except OSError as error:
            fault = f"cannot be created: {reason(error)}"
        if fault is not None:
            return f"{folder} {fault}"
    return None


def _facts_of(folder: Path) -> os.stat_result:
    """Return the status of `folder`, creating it as a private folder if it is missing."""
    with suppress(FileNotFoundError):
        return os.lstat(folder)
    missing = [path for path in (folder, *folder.parents) if not os.path.lexists(path)]
    for path in reversed(missing):
        with suppress(FileExistsError):  # another process has just created it; it is checked like any other
            path.mkdir(mode=_PRIVATE)
    return os.lstat(folder)


def fault_of(facts: os.stat_result, is_kind: Callable[[int], bool], kind: str) -> str | None:
    """Return why a file or folder with the status `facts` cannot be trusted; None if it can.

    `is_kind` tests whether its mode is that of a `kind`: a file or a folder.
    """
    if stat.S_ISLNK(facts.st_mode):
        return "is a symbolic link"
    if not is_kind(facts.st_mode):
        return f"is not a {kind}"
    if _user is None:
        return None
    if facts.st_uid != _user():
        return f"belongs to another user (number {facts.st_uid})"
    if facts.st_mode & _WRITABLE_BY_OTHERS:
        return "can be written by other users (chmod go-w makes it private)"
    return None


def open_private(path: Path) -> BinaryIO:
    """Open a file that only this user can write, in a folder that only this user can write.

    Both are checked after they are opened, so that they cannot be swapped in between.  Raises `OSError`;
    `PermissionError` if one of them cannot be trusted.
    """
    if not _CAN_OPEN_IN_A_FOLDER:
        return _checked(os.open(path, _FILE), path)
    folder = os.open(path.parent, _FOLDER)
    try:
        _check(folder, path.parent, stat.S_ISDIR, "folder")
        return _checked(os.open(path.name, _FILE, dir_fd=folder), path)
    finally:
        os.close(folder)


def _checked(descriptor: int, path: Path) -> BinaryIO:
    file = os.fdopen(descriptor, "rb")
    try:
        _check(descriptor, path, stat.S_ISREG, "file")
    except OSError:
        file.close()
        raise
    return file


def _check(descriptor: int, path: Path, is_kind: Callable[[int], bool], kind: str) -> None:
    if fault := fault_of(os.fstat(descriptor), is_kind, kind):
        raise PermissionError(f"{path} {fault}")
