"""The program that uses the compiler, as far as messages, cache and progress reports depend on it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol


class Monitor(Protocol):
    """A monitor of compilations, which may be nested."""

    def begin(self) -> None:
        """Note that a compilation begins."""

    def end(self) -> None:
        """Note that the latest compilation has ended."""

    def under_way(self) -> AbstractContextManager[None]:
        """Note a compilation, or a wait for one, for the duration of the block."""


@dataclass(frozen=True)
class Program:
    """A program whose functions are compiled."""

    name: str
    """Name of its package, with which messages begin."""
    package: Path
    """Folder of the package; functions outside it are not cached by the text of their modules."""
    cache_folder: Callable[[str], Path]
    """Function that returns a folder of the cache by name, or a path where nothing can be written."""
    cache_problem: Callable[[str], str | None]
    """Function that returns why that folder cannot be used; None if it can."""
    open_cached: Callable[[Path], BinaryIO]
    """Function that opens a file of the cache; raises `OSError` if it or its folder cannot be trusted."""
    monitor: Monitor


_programs: list[Program] = []


def configure(program: Program) -> None:
    """Set the program; its package calls this before it imports modules with kernels."""
    _programs[:] = [program]


def program() -> Program:
    """Return the configured program."""
    return _programs[0]
