"""The cache folder: this user's alone, or none.

Kernels are loaded from it as code, so it is held to what OpenSSH asks of the folders of its keys: they belong
to the user, and nobody else can write to them.  That holds for every kernel's file, too.  What is made here
is made so, whatever the umask.  Anything else is refused: then motif works without a cache, and says so once.
"""

import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from motif.runtime.files import cache_root, reason

_PRIVATE = 0o700
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_NOWHERE = Path(os.devnull) / "cache"
"""A path below which nothing can be read or written."""
# Windows has neither of them; there a user's own folders are closed to others anyway.
_user: Callable[[], int] | None = getattr(os, "geteuid", None)
_CAN_OPEN_IN_A_FOLDER = os.open in os.supports_dir_fd
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
# A named pipe, which nobody writes to, would be waited for.
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Notice:
    """That motif works without a cache, and why; said once a process, on stderr."""

    def __init__(self) -> None:
        self.is_said = False
        """Nothing more is said."""

    def say(self, problem: str) -> None:
        """Say so, unless it was said."""
        if self.is_said:
            return
        self.is_said = True
        line = f"motif: working without a cache, compiling again: {problem}"
        with suppress(OSError, ValueError):  # a stderr that nobody reads any more, or that was closed
            print(line, file=sys.stderr, flush=True)


NOTICE = Notice()
"""That of this process; workers leave it to the process that started them."""


def cache_folder(name: str) -> Path:
    """Return the folder called `name` in the cache, made where it is missing.

    Where the cache cannot be made or trusted, which is said once, a path where nothing can be kept.
    """
    folder = cache_root() / name
    if problem := _problem(folder):
        NOTICE.say(problem)
        return _NOWHERE / name
    return folder


def cache_problem(name: str) -> str | None:
    """Why `cache_folder` gives no folder called `name`, in one line; None where it does."""
    return _problem(cache_root() / name)


def _problem(wanted: Path) -> str | None:
    for folder in (wanted.parent, wanted):
        try:
            fault = fault_of(_facts_of(folder), stat.S_ISDIR, "folder")
        except OSError as error:
            fault = f"cannot be made: {reason(error)}"
        if fault is not None:
            return f"{folder} {fault}"
    return None


def _facts_of(folder: Path) -> os.stat_result:
    """Return what the system says of `folder`, which is made, closed to others, where it is missing."""
    with suppress(FileNotFoundError):
        return os.lstat(folder)
    missing = [path for path in (folder, *folder.parents) if not os.path.lexists(path)]
    for path in reversed(missing):
        with suppress(FileExistsError):  # another process has just made it; it is looked at like any other
            path.mkdir(mode=_PRIVATE)
    return os.lstat(folder)


def fault_of(facts: os.stat_result, is_kind: Callable[[int], bool], kind: str) -> str | None:
    """Return what keeps a file or folder with these `facts` from being trusted; None where nothing does.

    `is_kind` says from its mode whether it is what it should be, a `kind`.
    """
    if stat.S_ISLNK(facts.st_mode):
        return "is a symbolic link"
    if not is_kind(facts.st_mode):
        return f"is no {kind}"
    if _user is None:
        return None
    if facts.st_uid != _user():
        return f"belongs to another user (number {facts.st_uid})"
    if facts.st_mode & _WRITABLE_BY_OTHERS:
        return "can be written by other users (chmod go-w makes it private)"
    return None


def open_private(path: Path) -> BinaryIO:
    """Open a file that, like its folder, belongs to this user and cannot be written by others.

    Both are looked at once they are open, so that nobody can put another in their place in between.  Raises
    `OSError`, a `PermissionError` for one that cannot be trusted.
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
