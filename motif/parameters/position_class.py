"""Position classes (race, contact and crashed, as in gnubg) and game plans.

The plan of a contact position combines the aims of both sides, such as a straggler or an anchor.  The plan
of a crashed position says whose board has crashed and which players still have checkers back.  Races have
no plan.
"""

import numpy as np

from motif.board.outcome import checkers_on_board
from motif.board.packed import OPPONENT_HALF, PACKED_WORDS, checkers_in, made, occupied, pack_many
from motif.board.position import Position, as_boards
from motif.compiler.jit import inline_kernel, kernel, leading_zeros, popcount, words_of

CLASS_NAMES = ("contact", "crashed", "race")
CONTACT, CRASHED, RACE = range(3)
ALL = "all"
"""The group of all positions, beside the groups of the classes."""

_FEW = 6
# The sides are in contact if the indices of their rearmost checkers, each in its side's numbering, add up
# to at least this number.
_CONTACT_SUM = 24

AIMS = ("free", "straggler", "split", "anchor", "deep anchor", "back game")
"""Aims by the checkers in the opponent's home board or on the bar: none; one; several without an anchor; an
anchor on the bar point or the 6, 5 or 4 point; a deeper anchor; two or more anchors.
"""
FREE, STRAGGLER, SPLIT, ANCHOR, DEEP_ANCHOR, BACK_GAME = range(6)

WRECKS = ("own board", "opponent's board", "both boards")
PLAYERS_BACK = ("nobody", "player", "opponent", "both")
"""Players with checkers in the opponent's home board or on the bar in a crashed position."""

PLANS = (
    *(f"{own} against {other}" for own in AIMS for other in AIMS),
    *(f"crashed {wreck}, {back} back" for wreck in WRECKS for back in PLAYERS_BACK),
)
"""Names of the plans, in the order of their numbers."""
NO_PLAN = -1
_FIRST_CRASHED = len(AIMS) ** 2

_ANCHORS = np.uint64(0xFE0000)
_HIGH_ANCHORS = np.uint64(0x1E0000)
_S16 = np.uint64(16)


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


def plan_name(plan: int) -> str | None:
    """Return the name of the plan with the number `plan`; None for `NO_PLAN`."""
    return None if plan == NO_PLAN else PLANS[plan]


def position_class(position: Position) -> str:
    """Return the name of the position's class, which is one of `CLASS_NAMES`."""
    return CLASS_NAMES[int(classify_many(pack_many(as_boards(position.board[None])))[0])]


@inline_kernel
def _checkers_back(words, first):
    """Count the checkers back of the side whose half of the packed board starts at word `first`."""
    return checkers_in(np.uint64(words[first + 2]) >> _S16) + words[first + 3]


@inline_kernel
def _aim(words, first, own_made):
    """Return the aim of the side whose half of the packed board starts at word `first`."""
    back = _checkers_back(words, first)
    if back == 0:
        return FREE
    anchors = own_made & _ANCHORS
    count = np.int64(popcount(anchors))
    if count >= 2:
        return BACK_GAME
    if count == 1:
        return ANCHOR if anchors & _HIGH_ANCHORS else DEEP_ANCHOR
    return STRAGGLER if back == 1 else SPLIT


@inline_kernel
def plan_of(words, packed, own_made, other_made, position_class):
    """Return the number of the plan of a packed board, given as int64[8] and as int8[64], or `NO_PLAN`."""
    half = PACKED_WORDS // 2
    if position_class == CONTACT:
        return len(AIMS) * _aim(words, 0, own_made) + _aim(words, half, other_made)
    if position_class == CRASHED:
        wreck = 0
        if side_is_crashed(words, packed, 1):
            wreck = 2 if side_is_crashed(words, packed, 0) else 1
        back = np.int64(_checkers_back(words, 0) > 0) + 2 * np.int64(_checkers_back(words, half) > 0)
        return _FIRST_CRASHED + len(PLAYERS_BACK) * wreck + back
    return NO_PLAN


@kernel
def plans_many(packed):
    """Return the plan numbers int16 (n,) of packed boards int8 (n, 64)."""
    words = words_of(packed)
    plans = np.empty(packed.shape[0], np.int16)
    for row in range(packed.shape[0]):
        board = words[row]
        own, other = occupied(board, 0), occupied(board, PACKED_WORDS // 2)
        position_class = classify(board, packed[row], own, other)
        own_made, other_made = made(board, 0), made(board, PACKED_WORDS // 2)
        plans[row] = plan_of(board, packed[row], own_made, other_made, position_class)
    return plans
