"""Numbers of home positions, and table lookups for kernels.

With at most six checkers on both sides the win probability is exact. Otherwise each side is assumed to
minimise its own mean number of rolls. With N rolls needed by the player on roll to bear off all checkers and
F to bear off the first, and N', F' by the opponent,

    win         = sum over n of P(N = n) P(N' >= n)
    win gammon  = sum over n of P(N = n) P(F' >= n)         when the opponent has all fifteen, else 0
    lose gammon = sum over n of P(N' = n) P(F >= n + 1)     when the player has all fifteen, else 0

because the opponent has had n - 1 rolls when the player on roll plays the n-th one.
Backgammons are impossible, because all checkers are home.

Each home position has a number. With ``s_k`` checkers on the k rearmost home points (6, 5, ...) it is the sum
over k = 1..6 of ``C(s_k + k - 1, k)``: the combinatorial number system (Knuth, The Art of Computer
Programming, section 7.2.1.3). It is dense: positions of at most n checkers are the numbers below C(n + 6, 6).
Every move lowers the number, so the positions after a play come first.
"""

from math import comb

import numpy as np
import numpy.typing as npt

from motif.board.packed import CHECKERS, HOME, PACKED_WORDS
from motif.compiler.jit import NOTHING, inline_kernel, lean_kernel
from motif.evaluators.probabilities import (
    LOSE_BACKGAMMON,
    LOSE_GAMMON,
    WIN,
    WIN_BACKGAMMON,
    WIN_GAMMON,
    make_consistent,
)
from motif.runtime.arrays import IntArray

TWO_SIDED_CHECKERS = 6
"""Maximum checkers per side in the two-sided table."""


def positions_of(checkers: int) -> int:
    """Return the number of home positions with at most `checkers` checkers; their numbers are below it."""
    return comb(checkers + HOME, HOME)


HOME_POSITIONS = positions_of(CHECKERS)
"""Number of home positions, including the empty one: 54,264."""
FIRST_FULL = positions_of(CHECKERS - 1)
"""Number of the first position with all fifteen checkers on the board; there are 15,504 of these."""
FIRST_OFF = HOME_POSITIONS - FIRST_FULL
"""Offset from the number of a position with all fifteen checkers to the row of its first checker."""
TWO_SIDED_POSITIONS = positions_of(TWO_SIDED_CHECKERS)
"""Number of positions of one side in the two-sided table: 924."""
_TERMS = np.array([[comb(s + k, k + 1) for s in range(CHECKERS + 1)] for k in range(HOME)], np.int64)
_BYTE = np.uint64(0xFF)
_HOME_BYTES = np.uint64(0xFFFFFFFFFFFF)
_EVERY_BYTE = np.uint64(0x010101010101)
_S8, _S16, _S24, _S32, _S40 = (np.uint64(bits) for bits in (8, 16, 24, 32, 40))


@inline_kernel
def home_number(word):
    """Return the number of the home position whose points 1 to 6 are the low six bytes of the int64 `word`.

    `word` is the first word of one half of a packed board; the result is an int64 from 0 to 54,263.
    """
    counts = np.uint64(word) & _HOME_BYTES
    # Byte p - 1 of the product counts points 1 to p; the total minus that, one byte up, counts p to 6.
    up_to = counts * _EVERY_BYTE
    rear = ((up_to >> _S40) & _BYTE) * _EVERY_BYTE - ((up_to << _S8) & _HOME_BYTES)
    number = _TERMS[0, np.int64((rear >> _S40) & _BYTE)] + _TERMS[1, np.int64((rear >> _S32) & _BYTE)]
    number += _TERMS[2, np.int64((rear >> _S24) & _BYTE)] + _TERMS[3, np.int64((rear >> _S16) & _BYTE)]
    return number + _TERMS[4, np.int64((rear >> _S8) & _BYTE)] + _TERMS[5, np.int64(rear & _BYTE)]


def home_words(count: int) -> IntArray:
    """Return the words int64 (count,) of the home positions 0 to `count` - 1, as read by `home_number`."""
    words, left, in_front = np.zeros(count, np.int64), np.arange(count), np.zeros(count, np.int64)
    for k in range(HOME - 1, -1, -1):
        # The checkers on the k + 1 rearmost points: from all six points down to only the 6 point.
        rear = np.searchsorted(_TERMS[k], left, side="right") - 1
        left -= _TERMS[k, rear]
        if k < HOME - 1:
            words += (in_front - rear) << (8 * (HOME - 2 - k))
        in_front = rear
    return words + (in_front << (8 * (HOME - 1)))


def number_of(checkers: npt.ArrayLike) -> int:
    """Return the number of the home position with `checkers` (6,) on the points 1 to 6."""
    rear = np.cumsum(np.asarray(checkers)[::-1])
    return int(_TERMS[np.arange(HOME), rear].sum())


_OPPONENT = PACKED_WORDS // 2
_HOME_BITS = 48
"""The low six bytes of a half's first word are its home board."""


@inline_kernel
def all_home(words):
    """Return whether a game continues with all checkers of both sides in their home boards.

    `words` int64[8] is the packed board.
    """
    outside = words[1] | words[2] | words[3] | words[5] | words[6] | words[7]
    outside |= (words[0] | words[_OPPONENT]) >> _HOME_BITS
    return outside == 0 and words[0] != 0 and words[_OPPONENT] != 0


@inline_kernel
def covered(tables, words):
    """Return whether `tables` cover the packed board `words` int64[8]."""
    return all_home(words) and tables.rows.shape[0] > 0


@inline_kernel
def chance_before(rows, values, row, others_row, head_start):
    """Return the probability that `others_row` takes at least `head_start` more rolls than `row`.

    `rows` and `values` are those of `BearoffTables`; the two numbers of rolls are assumed to be independent.
    """
    other, others_end = np.int64(rows[others_row, 0]), np.int64(rows[others_row + 1, 0])
    # Number of entries from `other` on with fewer rolls than required.
    behind = np.int64(rows[row, 1]) + head_start - np.int64(rows[others_row, 1])
    total, still = 0.0, 1.0
    for entry in range(np.int64(rows[row, 0]), np.int64(rows[row + 1, 0])):
        while behind > 0 and other < others_end:
            still -= values[other]
            other += 1
            behind -= 1
        if other == others_end:
            break
        total += values[entry] * still
        behind += 1
    return total


@inline_kernel
def is_exact(tables, words):
    """Return whether the probabilities are exact: the board is `covered`, with few checkers on both sides."""
    return (
        covered(tables, words)
        and home_number(words[0]) < TWO_SIDED_POSITIONS
        and home_number(words[_OPPONENT]) < TWO_SIDED_POSITIONS
    )


@lean_kernel(NOTHING)
def bearoff_probabilities(tables, words, row):
    """Write the five probabilities of the player on roll to `row`, for a `covered` board."""
    own, opponent = home_number(words[0]), home_number(words[_OPPONENT])
    row[WIN_GAMMON] = row[WIN_BACKGAMMON] = row[LOSE_GAMMON] = row[LOSE_BACKGAMMON] = 0.0
    rows, values = tables.rows, tables.values
    if own < TWO_SIDED_POSITIONS and opponent < TWO_SIDED_POSITIONS:
        row[WIN] = 0.5 + 0.5 * values[own * TWO_SIDED_POSITIONS + opponent]
        return
    row[WIN] = chance_before(rows, values, own, opponent, 0)
    if opponent >= FIRST_FULL:
        row[WIN_GAMMON] = chance_before(rows, values, own, opponent + FIRST_OFF, 0)
    if own >= FIRST_FULL:
        row[LOSE_GAMMON] = chance_before(rows, values, opponent, own + FIRST_OFF, 1)
    # Because of rounding, sums of probabilities may lie outside 0 to 1 by the last bit.
    make_consistent(row, 0, 0)
