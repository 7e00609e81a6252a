"""The tables as kernels see them: two plain arrays, read only.

There are no more than two because a kernel that counts references counts each array up and down
whenever it hands the tables on.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motif.evaluators.bearoff.numbering import FIRST_FULL, HOME_POSITIONS, TWO_SIDED_POSITIONS

FIRST_OFF = HOME_POSITIONS - FIRST_FULL
"""Added to the number of a position with all fifteen checkers it gives the row of its first checker."""
ROWS = HOME_POSITIONS + FIRST_OFF

MEANS = TWO_SIDED_POSITIONS * TWO_SIDED_POSITIONS
VARIANCES = MEANS + HOME_POSITIONS
CHANCES = VARIANCES + HOME_POSITIONS


class BearoffTables(NamedTuple):
    """Everything known of bearoffs.

    A pickle holds no arrays: it becomes the tables of the process that reads it, and they are the same.
    """

    rows: npt.NDArray[np.int32]
    """(69769, 2): for each distribution the index in `values` of its first chance, and the number of rolls
    that it belongs to; the next chance belongs to one roll more, and the last one stands before the
    next row's first.  Rows 0 to 54,263 are the rolls until all checkers are off, by the position's number;
    then come the rolls until the first is off, for the 15,504 positions that have all fifteen on the
    board; the last row only ends the one before it."""
    values: npt.NDArray[np.float64]
    """Equities of the player on roll, by his position and then the opponent's (924 x 924); from `MEANS` on
    mean rolls until all checkers are off (54,264), from `VARIANCES` on their variances (54,264), from
    `CHANCES` on the chances of all distributions, none of them zero, those of one adding up to 1."""

    def __reduce__(self) -> tuple[Callable[[], "BearoffTables"], tuple[Any, ...]]:
        from motif.evaluators.bearoff.loading import bearoff_tables

        return (bearoff_tables if len(self.rows) else no_tables), ()


def frozen(rows: npt.NDArray[np.int32], values: npt.NDArray[np.float64]) -> BearoffTables:
    """Tables of two arrays, which become read only, as arrays in a mapped file are.

    numba tells arrays that may be written from those that may not: so all tables have one type.
    """
    rows.setflags(write=False)
    values.setflags(write=False)
    return BearoffTables(rows, values)


def no_tables() -> BearoffTables:
    """Tables that cover nothing; kernels compiled for them are those for the real ones."""
    return frozen(np.empty((0, 2), np.int32), np.empty(0))


def assembled(
    equities: npt.NDArray[np.float64],
    mean: npt.NDArray[np.float64],
    variance: npt.NDArray[np.float64],
    all_off: npt.NDArray[np.float64],
    first_off: npt.NDArray[np.float64],
) -> BearoffTables:
    """Tables of what the builders find; of the distributions (54264, rolls) zeros are left out."""
    chances = np.concatenate([all_off, first_off[FIRST_FULL:]])
    present = chances > 0
    rows = np.zeros((ROWS + 1, 2), np.int32)
    rows[1:, 0] = np.cumsum(present.sum(axis=1))
    rows[:, 0] += CHANCES
    rows[:-1, 1] = present.argmax(axis=1)
    return frozen(rows, np.concatenate([equities.reshape(-1), mean, variance, chances[present]]))


def equities(tables: BearoffTables) -> npt.NDArray[np.float64]:
    """Exact cubeless equities (924, 924) of the player on roll, by his number and the opponent's."""
    return tables.values[:MEANS].reshape(TWO_SIDED_POSITIONS, TWO_SIDED_POSITIONS)


def mean_rolls(tables: BearoffTables) -> npt.NDArray[np.float64]:
    """Mean number of rolls (54264,) until all checkers are off."""
    return tables.values[MEANS:VARIANCES]


def variances(tables: BearoffTables) -> npt.NDArray[np.float64]:
    """Variance (54264,) of the number of rolls until all checkers are off."""
    return tables.values[VARIANCES:CHANCES]


def distribution(tables: BearoffTables, row: int) -> npt.NDArray[np.float64]:
    """Chance of exactly n rolls at index n = 0, 1, ..., of a row of ``tables.rows``."""
    start, fewest = tables.rows[row]
    return np.concatenate([np.zeros(fewest), tables.values[start : tables.rows[row + 1, 0]]])
