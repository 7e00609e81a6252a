"""The program that uses the compiler: what its messages, its cache and its progress reports need of it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol


class Monitor(Protocol):
    """Notified of compilations, which may be nested."""

    def begin(self) -> None:
        """Note that a compilation begins."""

    def end(self) -> None:
        """Note that the compilation that began last has ended."""

    def under_way(self) -> AbstractContextManager[None]:
        """Note a compilation, or a wait for one, for the length of the block."""


@dataclass(frozen=True)
class Program:
    """A program whose functions are compiled."""

    name: str
    """Name of its package, which begins messages."""
    package: Path
    """Folder of the package; functions from elsewhere are not cached by their module's text."""
    cache_folder: Callable[[str], Path]
    """Returns the folder of a name below the cache, or a path where nothing can be written."""
    cache_problem: Callable[[str], str | None]
    """Returns why that folder cannot be used; None if it can."""
    open_cached: Callable[[Path], BinaryIO]
    """Opens a file of the cache; raises `OSError` if it or its folder cannot be trusted."""
    monitor: Monitor


_programs: list[Program] = []


def configure(program: Program) -> None:
    """Set the program; its package does this before it imports a module with kernels."""
    _programs[:] = [program]


def program() -> Program:
    """Return the program that was configured."""
    return _programs[0]
