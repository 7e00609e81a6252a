"""Position classes: race, contact, crashed (gnubg's definitions)."""

import numpy as np

from motif.board.outcome import checkers_on_board
from motif.board.packed import OPPONENT_HALF, PACKED_WORDS, occupied, pack_many
from motif.board.position import Position, as_boards
from motif.runtime.jit import inline_kernel, kernel, leading_zeros, words_of

CLASS_NAMES = ("contact", "crashed", "race")
CONTACT, CRASHED, RACE = range(3)

_FEW = 6
# Two rearmost places, each in its side's numbering, that add up to this or more are in contact.
_CONTACT_SUM = 24


@inline_kernel
def highest_place(mask):
    """Index of the rearmost checker in a mask of places; -1 when the mask is empty."""
    return 63 - np.int64(leading_zeros(mask))


@inline_kernel
def in_contact(own, opponent):
    """Whether a checker of either side still has to pass one of the other; masks in each side's numbering."""
    return own != 0 and opponent != 0 and highest_place(own) + highest_place(opponent) >= _CONTACT_SUM


@inline_kernel
def _is_crashed(checkers, ace, deuce):
    """gnubg's rule for one side: too few checkers left off the two deepest points."""
    if checkers <= _FEW:
        return True
    if ace > 1:
        return checkers <= _FEW + ace or (deuce > 1 and 1 + checkers - (ace + deuce) <= _FEW)
    return checkers <= _FEW + (deuce - 1)


@inline_kernel
def side_is_crashed(words, packed, side):
    """Whether the board of the player on roll (side 0) or of the other (1) has crashed."""
    ace = OPPONENT_HALF * side
    return _is_crashed(checkers_on_board(words, side * (PACKED_WORDS // 2)), packed[ace], packed[ace + 1])


@inline_kernel
def classify(words, packed, own, opponent):
    """Class of a packed board, given as int64[8] and int8[64], whose occupied places are known."""
    if not in_contact(own, opponent):
        return RACE
    if side_is_crashed(words, packed, 0) or side_is_crashed(words, packed, 1):
        return CRASHED
    return CONTACT


@kernel
def classify_many(packed):
    """Classes int8 (n,) of packed boards int8 (n, 64)."""
    words = words_of(packed)
    classes = np.empty(packed.shape[0], np.int8)
    for row in range(packed.shape[0]):
        own, opponent = occupied(words[row], 0), occupied(words[row], PACKED_WORDS // 2)
        classes[row] = classify(words[row], packed[row], own, opponent)
    return classes


def position_class(position: Position) -> str:
    """Name of the position's class, one of `CLASS_NAMES`."""
    return CLASS_NAMES[int(classify_many(pack_many(as_boards(position.board[None])))[0])]
