"""How many rolls one side needs to bear off, and its plays.

Let p(i, n) be the probability that home position i takes exactly n rolls:

    p(i, n) = sum over the 36 rolls of p(best(i, roll), n - 1) / 36,    p(empty, 0) = 1

where best(i, roll) is the play that leaves the lowest mean number of rolls. The distribution for the first
checker is computed in the same way, but with the plays that bear off the first checker in the fewest rolls on
average: a side that is about to lose and still has all fifteen checkers plays like this. Among plays with
equal means, the one that leads to the lowest number is used, so the order of plays does not matter.

Probabilities are added in a fixed order, times 1 or 2, and divided by 36, so the tables are bit-identical on
every machine with IEEE arithmetic, whether or not it fuses multiplications and additions.
"""

from typing import NamedTuple

import numpy as np

from motif.board.movegen import MAX_PLAYS, ROLL_COUNTS, ROLLS, PlayBuffer, generate, new_play_buffer
from motif.board.packed import PACKED_WORDS
from motif.compiler.jit import NOTHING, WHOLE, inline_kernel, lean_kernel
from motif.evaluators.bearoff.lookup import (
    FIRST_FULL,
    HOME_POSITIONS,
    home_number,
    home_words,
)
from motif.runtime.arrays import BoolArray, FloatArray, IntArray
from motif.runtime.progress import Advance
from motif.runtime.streams import DICE_PAIRS

_AFTER_SWITCHING = PACKED_WORDS // 2
"""Start of the mover's half in the boards of the move generator."""


@lean_kernel(WHOLE)
def home_plays(word, high, low, board, buffer, after):
    """Write the numbers of the home positions after each play of a roll to int64 `after`; return their count.

    `word` describes the side as for `home_number`; the packed board `board` int64[8] must be empty except for
    its first word, and `buffer` belongs to the move generator. The result is at least 1.
    """
    board[0] = word
    count = generate(board, high, low, buffer)
    for k in range(count):
        after[k] = home_number(buffer.words[k, _AFTER_SWITCHING])
    return count


MAX_ROLLS = 32
"""Upper limit for any home position: fifteen checkers on the 6 point are off after 30 rolls of 2-1."""
_AT_ONCE = 4096


class OneSided(NamedTuple):
    """One-sided bearoff distributions of all home positions."""

    all_off: FloatArray
    """(54264, 32): probability of each number of rolls until all checkers are off."""
    first_off: FloatArray
    """(54264, 32): the same until the first checker is off; 0 rolls if one is off already."""
    mean: FloatArray
    """(54264,): mean rolls until all checkers are off."""
    variance: FloatArray
    """(54264,): variance of the number of rolls until all checkers are off."""


def build_one_sided(advance: Advance) -> OneSided:
    """Compute both distributions of every home position; `advance` is called for each position."""
    words = home_words(HOME_POSITIONS)
    chances, first_chances = np.zeros((2, HOME_POSITIONS, MAX_ROLLS))
    chances[0, 0] = 1
    # With a checker off already, the first one takes no more rolls.
    first_chances[:FIRST_FULL, 0] = 1
    mean, first_mean = np.zeros((2, HOME_POSITIONS))
    buffer, board, after = new_play_buffer(), np.zeros(PACKED_WORDS, np.int64), np.empty(MAX_PLAYS, np.int64)
    for start in range(1, HOME_POSITIONS, _AT_ONCE):
        stop = min(start + _AT_ONCE, HOME_POSITIONS)
        _add_positions(*(start, stop, words, buffer, board, after, chances, mean, first_chances, first_mean))
        advance(stop - start)
    return OneSided(chances, first_chances, mean, _variances(chances, mean))


@inline_kernel
def _best(after, count, means):
    best = after[0]
    for k in range(1, count):
        number = after[k]
        if means[number] < means[best] or (means[number] == means[best] and number < best):
            best = number
    return best


@inline_kernel
def _add_roll(times, after, number, chances, means):
    """Add the distribution of `after`, reached by `times` of 36 rolls, to that of position `number`."""
    means[number] += times * means[after]
    for n in range(1, chances.shape[1]):
        chances[number, n] += times * chances[after, n - 1]


@inline_kernel
def _divide(number, chances, means):
    means[number] = 1 + means[number] / DICE_PAIRS
    for n in range(chances.shape[1]):
        chances[number, n] /= DICE_PAIRS


@lean_kernel(NOTHING)
def _add_positions(start, stop, words, buffer, board, after, chances, means, first_chances, first_means):
    """Fill the rows `start` to `stop` - 1; all lower rows must be filled already."""
    for number in range(start, stop):
        for roll in range(ROLLS.shape[0]):
            times = ROLL_COUNTS[roll]
            count = home_plays(words[number], ROLLS[roll, 0], ROLLS[roll, 1], board, buffer, after)
            _add_roll(times, _best(after, count, means), number, chances, means)
            if number >= FIRST_FULL:
                _add_roll(times, _best(after, count, first_means), number, first_chances, first_means)
        _divide(number, chances, means)
        if number >= FIRST_FULL:
            _divide(number, first_chances, first_means)


def _variances(chances: FloatArray, means: FloatArray) -> FloatArray:
    variances = np.zeros(len(means))
    # One number of rolls at a time, because numpy would choose the order of a sum.
    for rolls in range(chances.shape[1]):
        variances += chances[:, rolls] * (rolls - means) ** 2
    return variances


_PLAYS_A_POSITION = 512
"""Initial memory: more plays than a position has on average."""


def fill_plays(
    words: IntArray,
    wanted: BoolArray,
    buffer: PlayBuffer,
    board: IntArray,
    starts: IntArray,
) -> IntArray:
    """Return the home positions after each roll of the `wanted` (n,) home positions, with `words` (n,).

    The positions after roll r of position i are ``after[starts[i, r]: starts[i, r + 1]]``, where `after` is
    the result; `starts` (n, 22) is filled in. Positions reached from a wanted one are also set in `wanted`.
    """
    after = np.empty(_PLAYS_A_POSITION * len(words), np.int64)
    return after[: _fill_plays(words, wanted, buffer, board, starts, after)]


@lean_kernel(WHOLE)
def _fill_plays(words, wanted, buffer, board, starts, after):
    rolls, filled = ROLLS.shape[0], 0
    # Plays lower the number, so the successors of a position come before it.
    for number in range(words.shape[0] - 1, -1, -1):
        for roll in range(rolls):
            starts[number, roll] = filled
            if wanted[number]:
                dice = ROLLS[roll, 0], ROLLS[roll, 1]
                count = home_plays(words[number], dice[0], dice[1], board, buffer, after[filled:])
                for k in range(filled, filled + count):
                    wanted[after[k]] = True
                filled += count
        starts[number, rolls] = filled
    return filled
