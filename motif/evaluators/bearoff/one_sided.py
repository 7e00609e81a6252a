"""One side alone: how many rolls it takes to bear off every checker, and to bear off the first.

With p(i, n) the chance that home position i takes exactly n rolls,

    p(i, n) = sum over the 36 throws of p(best(i, throw), n - 1) / 36,    p(empty, 0) = 1

where best(i, throw) is the play that leaves the least mean number of rolls.  The same holds for the
first checker, with plays of their own: those after which the first checker is off in the fewest rolls
on average, as a side plays that is about to lose and still has all fifteen.  Of plays with the same mean
the one with the lowest number is taken, so that the order of plays does not matter.

Chances are added in a fixed order, times 1 or 2, and divided by 36; so the tables are the same bits on
every machine with IEEE arithmetic, whether or not it fuses multiplications and additions.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.dice import ROLL_COUNTS, ROLLS
from motif.board.movegen import MAX_PLAYS, new_play_buffer
from motif.board.position import PACKED_WORDS
from motif.evaluators.bearoff.numbering import FIRST_FULL, HOME_POSITIONS, home_words
from motif.evaluators.bearoff.plays import home_plays
from motif.runtime.jit import inline_kernel, kernel
from motif.runtime.progress import Advance

MAX_ROLLS = 32
"""More than any home position takes: fifteen checkers on the 6 point are off after 30 rolls of 2-1."""

_AT_ONCE = 4096
_THROWS = ROLL_COUNTS.sum()


class OneSided(NamedTuple):
    """What `build_one_sided` finds."""

    all_off: npt.NDArray[np.float64]
    """(54264, 32): chance of each number of rolls until all checkers are off."""
    first_off: npt.NDArray[np.float64]
    """(54264, 32): until the first is off; no roll where one is off already."""
    mean: npt.NDArray[np.float64]
    """(54264,): rolls until all checkers are off, on average."""
    variance: npt.NDArray[np.float64]
    """(54264,): of the same."""


def build_one_sided(advance: Advance) -> OneSided:
    """Both distributions of every home position; `advance` hears of each."""
    words = home_words(HOME_POSITIONS)
    chances, first_chances = np.zeros((2, HOME_POSITIONS, MAX_ROLLS))
    chances[0, 0] = 1
    # With a checker off already, the first one takes no more rolls.
    first_chances[:FIRST_FULL, 0] = 1
    mean, first_mean = np.zeros((2, HOME_POSITIONS))
    buffer = new_play_buffer()
    for start in range(1, HOME_POSITIONS, _AT_ONCE):
        stop = min(start + _AT_ONCE, HOME_POSITIONS)
        _add_positions(start, stop, words, buffer, chances, mean, first_chances, first_mean)
        advance(stop - start)
    return OneSided(chances, first_chances, mean, _variances(chances, mean))


@inline_kernel
def _best(found, count, means):
    best = found[0]
    for k in range(1, count):
        number = found[k]
        if means[number] < means[best] or (means[number] == means[best] and number < best):
            best = number
    return best


@inline_kernel
def _add_roll(times, after, number, chances, means):
    """Add to position `number` what comes of the position `after`, in `times` of 36 throws."""
    means[number] += times * means[after]
    for n in range(1, chances.shape[1]):
        chances[number, n] += times * chances[after, n - 1]


@inline_kernel
def _divide(number, chances, means):
    means[number] = 1 + means[number] / _THROWS
    for n in range(chances.shape[1]):
        chances[number, n] /= _THROWS


@kernel
def _add_positions(start, stop, words, buffer, chances, means, first_chances, first_means):
    """Fill the rows `start` to `stop` - 1; all lower ones must be there."""
    board = np.zeros(PACKED_WORDS, np.int64)
    found = np.empty(MAX_PLAYS, np.int64)
    for number in range(start, stop):
        for roll in range(ROLLS.shape[0]):
            times = ROLL_COUNTS[roll]
            count = home_plays(words[number], ROLLS[roll, 0], ROLLS[roll, 1], board, buffer, found)
            _add_roll(times, _best(found, count, means), number, chances, means)
            if number >= FIRST_FULL:
                _add_roll(times, _best(found, count, first_means), number, first_chances, first_means)
        _divide(number, chances, means)
        if number >= FIRST_FULL:
            _divide(number, first_chances, first_means)


def _variances(chances: npt.NDArray[np.float64], means: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    variances = np.zeros(len(means))
    # One number of rolls after the other, not one sum, whose order numpy would choose.
    for rolls in range(chances.shape[1]):
        variances += chances[:, rolls] * (rolls - means) ** 2
    return variances
