"""Both sides at once, where each has six checkers at most: the exact equity of best play.

With E(i, j) the cubeless equity of the player on roll, whose home position is i while the opponent's is j,

    E(i, j) = sum over the 36 throws of (max over plays i -> k of -E(j, k)) / 36,    E(i, empty) = -1

Gammons are impossible, because each side has nine checkers off, so the win chance is (E + 1) / 2.
"""

import numpy as np
import numpy.typing as npt

from motif.board.dice import ROLL_COUNTS, ROLLS
from motif.board.movegen import MAX_PLAYS, new_play_buffer
from motif.board.position import PACKED_WORDS
from motif.evaluators.bearoff.numbering import TWO_SIDED_POSITIONS, home_words
from motif.evaluators.bearoff.plays import home_plays
from motif.evaluators.probabilities import turn_value
from motif.runtime.jit import kernel
from motif.runtime.progress import Advance

_AT_ONCE = 64
_THROWS = ROLL_COUNTS.sum()


def build_two_sided(advance: Advance) -> npt.NDArray[np.float64]:
    """Equities (924, 924) of the player on roll, by his home position and then the opponent's.

    `advance` hears of each sum of two numbers; there are 1,845.
    """
    starts, after = _all_plays(home_words(TWO_SIDED_POSITIONS), new_play_buffer())
    equities = np.zeros((TWO_SIDED_POSITIONS, TWO_SIDED_POSITIONS))
    equities[0, 1:], equities[1:, 0] = 1, -1
    largest = 2 * (TWO_SIDED_POSITIONS - 1)
    for start in range(2, largest + 1, _AT_ONCE):
        stop = min(start + _AT_ONCE, largest + 1)
        _add_sums(start, stop, starts, after, equities)
        advance(stop - start)
    return equities


@kernel
def _all_plays(words, buffer):
    """Home positions after each roll of each: those of roll r of position i are after[starts[i, r]:
    starts[i, r + 1]]."""
    rolls = ROLLS.shape[0]
    board = np.zeros(PACKED_WORDS, np.int64)
    found = np.empty(MAX_PLAYS, np.int64)
    starts = np.zeros((words.shape[0], rolls + 1), np.int64)
    after = [np.int64(0) for _ in range(0)]
    for number in range(words.shape[0]):
        for roll in range(rolls):
            starts[number, roll] = len(after)
            count = home_plays(words[number], ROLLS[roll, 0], ROLLS[roll, 1], board, buffer, found)
            for k in range(count):
                after.append(found[k])
        starts[number, rolls] = len(after)
    return starts, np.array(after)


@kernel
def _add_sums(start, stop, starts, after, equities):
    """Fill the pairs whose numbers add up to `start` to `stop` - 1; those with lower sums must be there."""
    positions = equities.shape[0]
    for total in range(start, stop):
        for own in range(max(1, total - positions + 1), min(positions, total)):
            opponent = total - own
            equity = 0.0
            for roll in range(ROLLS.shape[0]):
                best = -1.0
                for k in range(starts[own, roll], starts[own, roll + 1]):
                    best = max(best, turn_value(equities[opponent, after[k]]))
                equity += ROLL_COUNTS[roll] * best
            equities[own, opponent] = equity / _THROWS
