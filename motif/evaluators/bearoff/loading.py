"""The process's tables: loaded from the cache folder, or built and put there."""

import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from motif.evaluators.bearoff.numbering import HOME_POSITIONS, TWO_SIDED_POSITIONS
from motif.evaluators.bearoff.one_sided import build_one_sided
from motif.evaluators.bearoff.store import FILE_NAME, load_tables, save_tables
from motif.evaluators.bearoff.tables import BearoffTables, assembled
from motif.evaluators.bearoff.two_sided import build_two_sided
from motif.runtime.errors import FileError
from motif.runtime.files import cache_root
from motif.runtime.progress import progress

_one_at_a_time = Lock()


class LoadedTables(NamedTuple):
    """Tables, and how they came here."""

    tables: BearoffTables
    file: Path | None
    """Where they are kept; None when the cache folder could not be written, and they are in memory only."""
    built: bool
    """Whether they were built, because the file was missing or damaged."""
    seconds: float
    """What that took; compiling the kernels that build them included."""


def bearoff_tables() -> BearoffTables:
    """The tables, loaded or built by the first call in this process; they are never written again."""
    return loaded_tables().tables


def loaded_tables() -> LoadedTables:
    """The same tables, and how they came here."""
    with _one_at_a_time:
        return _kept(cache_root() / "bearoff" / FILE_NAME)


def load_or_build(path: Path) -> LoadedTables:
    """The tables in the file `path`; when it is missing or damaged they are built and written there.

    A folder that cannot be written is no error.
    """
    started = time.perf_counter()
    tables = load_tables(path)
    if tables is not None:
        return LoadedTables(tables, path, False, time.perf_counter() - started)
    tables = build_tables()
    with suppress(FileError):
        save_tables(path, tables)
    # Mapped from the file, their memory is shared by all processes.
    mapped = load_tables(path)
    seconds = time.perf_counter() - started
    return LoadedTables(mapped or tables, path if mapped else None, True, seconds)


def build_tables() -> BearoffTables:
    """The tables, made from the rules; with a bar on a terminal when that takes more than a second."""
    with progress("building bearoff tables", HOME_POSITIONS + 2 * TWO_SIDED_POSITIONS) as advance:
        one = build_one_sided(advance)
        equities = build_two_sided(advance)
    return assembled(equities, one.mean, one.variance, one.all_off, one.first_off)


_kept = cache(load_or_build)
