"""Position classes: race, contact and crashed, as in gnubg."""

import numpy as np

from motif.board.outcome import checkers_on_board
from motif.board.packed import OPPONENT_HALF, PACKED_WORDS, occupied, pack_many
from motif.board.position import Position, as_boards
from motif.compiler.jit import inline_kernel, kernel, leading_zeros, words_of

CLASS_NAMES = ("contact", "crashed", "race")
CONTACT, CRASHED, RACE = range(3)
REQUIRED_CLASSES = ("contact", "race")
"""Classes that all weights have; others without weights are evaluated as contact."""
ALL = "all"
"""The group of all positions, beside the groups of the classes."""

LATE_CONTACT = 8
"""Maximum number of checkers that one side has left in a late ending with contact."""
_FEW = 6
# The sides are in contact if the indices of their rearmost checkers, each in its side's numbering, add up
# to at least this number.
_CONTACT_SUM = 24


@inline_kernel
def highest_place(mask):
    """Return the index of the rearmost checker in a mask of points; -1 if the mask is empty."""
    return 63 - np.int64(leading_zeros(mask))


@inline_kernel
def in_contact(own, opponent):
    """Return whether the sides must still pass each other; each mask is in its side's own numbering."""
    return own != 0 and opponent != 0 and highest_place(own) + highest_place(opponent) >= _CONTACT_SUM


@inline_kernel
def side_is_crashed(words, packed, side):
    """Return whether the board of the player on roll (side 0) or of the opponent (1) has crashed.

    By gnubg's rule it has if too few checkers are beyond its two deepest points.
    """
    checkers = checkers_on_board(words, side * (PACKED_WORDS // 2))
    ace, deuce = packed[OPPONENT_HALF * side], packed[OPPONENT_HALF * side + 1]
    if checkers <= _FEW:
        return True
    if ace > 1:
        return checkers <= _FEW + ace or (deuce > 1 and 1 + checkers - (ace + deuce) <= _FEW)
    return checkers <= _FEW + (deuce - 1)


@inline_kernel
def classify(words, packed, own, opponent):
    """Return the class of a packed board, given as int64[8], as int8[64] and as masks of occupied points."""
    if not in_contact(own, opponent):
        return RACE
    if side_is_crashed(words, packed, 0) or side_is_crashed(words, packed, 1):
        return CRASHED
    return CONTACT


@kernel
def classify_many(packed):
    """Return the classes int8 (n,) of packed boards int8 (n, 64)."""
    words = words_of(packed)
    classes = np.empty(packed.shape[0], np.int8)
    for row in range(packed.shape[0]):
        own, opponent = occupied(words[row], 0), occupied(words[row], PACKED_WORDS // 2)
        classes[row] = classify(words[row], packed[row], own, opponent)
    return classes


def position_class(position: Position) -> str:
    """Return the name of the position's class, which is one of `CLASS_NAMES`."""
    return CLASS_NAMES[int(classify_many(pack_many(as_boards(position.board[None])))[0])]
