"""What the tables say of a board, for kernels.

Where both sides have at most six checkers the win chance is exact.  Elsewhere each side is taken to
play so that its own mean number of rolls is least, whatever the other does.  With N rolls needed by the
player on roll to bear off all checkers and F to bear off the first, and N', F' by the opponent,

    win         = sum over n of P(N = n) P(N' >= n)
    win gammon  = sum over n of P(N = n) P(F' >= n)         when the opponent has all fifteen, else 0
    lose gammon = sum over n of P(N' = n) P(F >= n + 1)     when the player has all fifteen, else 0

because the player on roll has had n rolls, and the opponent n - 1, when the player's n-th is played.
Backgammons are impossible: everyone is home.
"""

import numpy as np

from motif.board.packed import PACKED_WORDS
from motif.evaluators.bearoff.numbering import FIRST_FULL, FIRST_OFF, TWO_SIDED_POSITIONS, home_number
from motif.evaluators.probabilities import (
    LOSE_BACKGAMMON,
    LOSE_GAMMON,
    WIN,
    WIN_BACKGAMMON,
    WIN_GAMMON,
    make_consistent,
)
from motif.runtime.jit import NOTHING, inline_kernel, lean_kernel

_OPPONENT = PACKED_WORDS // 2
_HOME_BITS = 48
"""The low six bytes of a half's first word are its home board."""


@inline_kernel
def covered(tables, words, packed):
    """Whether `tables` tell the chances of the packed board `words` int64[8], the same bytes as `packed`.

    They do when the game is not over and both sides have all that is left of them in their home boards.
    """
    outside = words[1] | words[2] | words[3] | words[5] | words[6] | words[7]
    outside |= (words[0] | words[_OPPONENT]) >> _HOME_BITS
    return outside == 0 and words[0] != 0 and words[_OPPONENT] != 0 and tables.rows.shape[0] > 0


@inline_kernel
def chance_before(rows, values, row, others_row, head_start):
    """Chance that `row` takes n rolls and `others_row` at least n + `head_start`, for any n.

    `rows` and `values` are those of `BearoffTables`; the two numbers of rolls are independent.
    """
    other, others_end = np.int64(rows[others_row, 0]), np.int64(rows[others_row + 1, 0])
    # How many entries from `other` on are fewer rolls than are asked for.
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


@lean_kernel(NOTHING)
def bearoff_probabilities(tables, words, packed, row):
    """Write the five probabilities of the player on roll to `row`, for a board that is `covered`."""
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
    # Sums of rounded chances may leave 0 to 1 in their last bit.
    make_consistent(row, 0, 0)
