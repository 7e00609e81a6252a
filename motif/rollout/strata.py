"""Stratified dice: the first two rolls of the trials run evenly through all that can come.

Trials are dealt in cycles of 1,296, each cycle an arrangement of its own: a 36 x 36 Latin square whose
rows, columns and symbols are shuffled.  Each 36 trials in a row of it hold every first throw once and
every second throw once; the whole cycle holds every pair of throws once.
"""

import numpy as np
import numpy.typing as npt

from motif.runtime.jit import inline_kernel, kernel
from motif.runtime.streams import THROWS, derive, dice_of, next_below

ROUND = THROWS
"""Trials that hold each first throw once, and each second one."""
CYCLE = THROWS * THROWS
"""Trials that hold each pair of first throws once."""
FIXED_ROLLS = 2
"""Rolls of a trial that the arrangement decides; later ones are random."""

ARRANGEMENT_SHAPE = (3, THROWS)
# Items' trials are counted from 0, so these streams are nobody else's.
_FIRST_CYCLE_STREAM = np.uint64(1 << 62)


@inline_kernel
def arrange(seed, item, cycle, stream, arrangement):
    """Shuffle the three rows of `arrangement` int64 (3, 36), each 0 to 35, for a cycle of an item.

    `stream` is overwritten.
    """
    stream[0] = derive(seed, item, _FIRST_CYCLE_STREAM + np.uint64(cycle))
    for row in range(arrangement.shape[0]):
        for k in range(THROWS):
            arrangement[row, k] = k
        for k in range(THROWS - 1, 0, -1):
            other = next_below(stream, k + 1)
            arrangement[row, k], arrangement[row, other] = arrangement[row, other], arrangement[row, k]


@inline_kernel
def place_throws(arrangement, place, throws):
    """Write to int64 (2,) `throws` the first two throws, 0 to 35, of the trial at `place` of its cycle."""
    column, row = place % ROUND, place // ROUND
    throws[0] = arrangement[0, column]
    throws[1] = arrangement[1, (column + arrangement[2, row]) % THROWS]


@kernel
def _roll_numbers(seed, item, first_trial, numbers):
    arrangement = np.empty(ARRANGEMENT_SHAPE, np.int64)
    throws = np.zeros(FIXED_ROLLS, np.int64)
    stream = np.zeros(1, np.uint64)
    arranged = -1
    for k in range(numbers.shape[0]):
        cycle = (first_trial + k) // CYCLE
        if cycle != arranged:
            arrange(np.uint64(seed), np.uint64(item), cycle, stream, arrangement)
            arranged = cycle
        place_throws(arrangement, (first_trial + k) % CYCLE, throws)
        for roll in range(FIXED_ROLLS):
            high, low = dice_of(throws[roll])
            numbers[k, roll] = high * (high - 1) // 2 + low - 1


def first_rolls(seed: int, item: int, first_trial: int, trials: int) -> npt.NDArray[np.int64]:
    """The first two rolls of stratified trials, as rows 0 to 20 of `motif.board.dice.ROLLS`: (trials, 2)."""
    numbers = np.empty((trials, FIXED_ROLLS), np.int64)
    _roll_numbers(seed, item, first_trial, numbers)
    return numbers
