"""Bearoff tables, loaded from a file in the cache folder or built and stored there.

Kernels receive two plain read-only arrays. There are only two because a kernel that counts references updates
the count of each array whenever it passes the tables on.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motif.evaluators.bearoff.lookup import FIRST_FULL, FIRST_OFF, HOME_POSITIONS, TWO_SIDED_POSITIONS
from motif.evaluators.bearoff.one_sided import build_one_sided
from motif.evaluators.bearoff.table_files import keep_values, kept_values
from motif.evaluators.bearoff.two_sided_cubes import all_home_plays, cubeless_rules, pair_values
from motif.runtime.arrays import FloatArray, frozen
from motif.runtime.cache_folder import cache_folder
from motif.runtime.progress import Stopwatch, progress

ROWS = HOME_POSITIONS + FIRST_OFF
MEANS = TWO_SIDED_POSITIONS * TWO_SIDED_POSITIONS
VARIANCES = MEANS + HOME_POSITIONS
CHANCES = VARIANCES + HOME_POSITIONS


class BearoffTables(NamedTuple):
    """All bearoff tables.

    A pickle contains no arrays: unpickling returns the tables of the receiving process.
    """

    rows: npt.NDArray[np.int32]
    """(69769, 2): for each distribution, the index in `values` of its first probability, and the number of
    rolls for that probability. The probabilities of one more roll, two more rolls, ... follow, up to the
    first one of the next row. Rows 0 to 54,263 are the distributions until all checkers are off, by position
    number; the next 15,504 rows are the distributions until the first checker is off, for the positions with
    all fifteen on the board; the last row only marks the end.
    """
    values: FloatArray
    """Equities of the player on roll, by own position and then the opponent's (924 x 924); from `MEANS` on,
    the mean numbers of rolls until all checkers are off (54,264); from `VARIANCES` on, their variances
    (54,264); from `CHANCES` on, the nonzero probabilities of all distributions, which add up to 1 in each.
    """

    def __reduce__(self) -> tuple[Callable[[], "BearoffTables"], tuple[Any, ...]]:
        return (bearoff_tables if len(self.rows) else no_tables), ()


def _read_only(rows: npt.NDArray[np.int32], values: FloatArray) -> BearoffTables:
    return BearoffTables(frozen(rows), frozen(values))


def no_tables() -> BearoffTables:
    """Return empty tables of the same compiled type."""
    return _read_only(np.empty((0, 2), np.int32), np.empty(0))


def cubeless_equities(tables: BearoffTables) -> FloatArray:
    """Return the exact cubeless equities (924, 924) of the player on roll, by own and opposing number."""
    return tables.values[:MEANS].reshape(TWO_SIDED_POSITIONS, TWO_SIDED_POSITIONS)


def mean_rolls(tables: BearoffTables) -> FloatArray:
    """Return the mean number of rolls (54264,) until all checkers are off."""
    return tables.values[MEANS:VARIANCES]


def variances(tables: BearoffTables) -> FloatArray:
    """Return the variance (54264,) of the number of rolls until all checkers are off."""
    return tables.values[VARIANCES:CHANCES]


def distribution(tables: BearoffTables, row: int) -> FloatArray:
    """Return the probability of exactly n rolls at index n = 0, 1, ..., for a row of ``tables.rows``."""
    start, fewest = tables.rows[row]
    return np.concatenate([np.zeros(fewest), tables.values[start : tables.rows[row + 1, 0]]])


TABLES_FILE = "tables-v2.bin"
TABLES_FORMAT = b"motif-bearoff/2"


def file_numbers(tables: BearoffTables) -> FloatArray:
    """Return the contents of a file of `tables`: each row as one number of its 64 bits, then the values."""
    return np.concatenate([tables.rows.reshape(-1).view(np.float64), tables.values])


def load_tables(path: Path) -> BearoffTables | None:
    """Return the tables in the file `path`, mapped; None if it is missing or invalid."""
    numbers = kept_values(path, TABLES_FORMAT)
    return None if numbers is None or len(numbers) <= ROWS + CHANCES else _tables_in(numbers)


def _tables_in(numbers: FloatArray) -> BearoffTables:
    return _read_only(numbers[: ROWS + 1].view(np.int32).reshape(-1, 2), numbers[ROWS + 1 :])


_one_at_a_time = Lock()


class LoadedTables(NamedTuple):
    """Bearoff tables and their origin."""

    tables: BearoffTables
    file: Path | None
    """Path of the file; None if the cache folder could not be written and the tables are only in memory."""
    built: bool
    """Whether the tables were built because the file was missing or damaged."""
    seconds: float
    """Seconds to load or build the tables, including the compilation of the builders."""


def bearoff_tables() -> BearoffTables:
    """Return the bearoff tables, which the first call in this process loads or builds."""
    return loaded_tables().tables


def loaded_tables() -> LoadedTables:
    """Return the bearoff tables and their origin."""
    with _one_at_a_time:
        return _kept(cache_folder("bearoff") / TABLES_FILE)


def load_or_build(path: Path) -> LoadedTables:
    """Return the tables in the file `path`; if it is missing or damaged, build and write them.

    A folder that cannot be written is not an error.
    """
    stopwatch = Stopwatch()
    tables = load_tables(path)
    if tables is not None:
        return LoadedTables(tables, path, False, stopwatch.seconds)
    built = file_numbers(build_tables())
    kept = keep_values(path, TABLES_FORMAT, built)
    return LoadedTables(_tables_in(kept), None if kept is built else path, True, stopwatch.seconds)


def build_tables() -> BearoffTables:
    """Return the tables built from the rules; shows a progress bar if this takes more than a second."""
    with progress("building bearoff tables", HOME_POSITIONS + TWO_SIDED_POSITIONS) as advance:
        one = build_one_sided(advance)
        side = all_home_plays(TWO_SIDED_POSITIONS)
        equities = pair_values(cubeless_rules(), (side, side), advance)[0]
    chances = np.concatenate([one.all_off, one.first_off[FIRST_FULL:]])
    present = chances > 0  # zeros of the distributions are left out
    rows = np.zeros((ROWS + 1, 2), np.int32)
    rows[1:, 0] = np.cumsum(present.sum(axis=1))
    rows[:, 0] += CHANCES
    rows[:-1, 1] = present.argmax(axis=1)
    return _read_only(rows, np.concatenate([equities.reshape(-1), one.mean, one.variance, chances[present]]))


_kept = cache(load_or_build)
