"""Parameter set ``bras``: the eleven features of the Backgammon Relative Advantage Score (2025).

Each feature compares the two sides and is between -1 and 1; it changes its sign when the sides are
switched.  A point is two or more checkers; the article does not say this for the outfield, but its example
agrees.
"""

import numpy as np

from motif.board.outcome import checkers_on_board
from motif.board.packed import (
    ALL_POINTS,
    BAR_BIT,
    CHECKERS,
    HOME_POINTS,
    OPPONENT_HALF,
    OPPONENT_HOME_POINTS,
    OUTFIELD_POINTS,
    PACKED_BAR,
    PACKED_WORDS,
    longest_run,
)
from motif.compiler.jit import NOTHING, inline_kernel, lean_kernel, popcount, trailing_zeros
from motif.parameters.registry import MORE, SetBuilder

_builder = SetBuilder("bras", revision=1)
_difference = _builder.difference
# Name, sentence, unit, large value and group.

# fmt: off
PIP = _difference("pip", "pips by which the player on roll leads", "pips", 15 * 25, "race", better=MORE)
BAR = _difference("bar", "extra checkers of the opponent on the bar", "checkers", 15, "attack", better=MORE)
OFF = _difference("off", "extra checkers that the player on roll has borne off", "checkers", 15, "race",
    better=MORE)
HB = _difference("hb", "extra points of the player on roll in the home board", "points", 6, "blocking",
    better=MORE)
PRIME = _difference("prime", "points by which the longest prime of the player on roll is longer (at most six "
    "count)", "points", 6, "blocking", better=MORE)
ANCH = _difference("anch", "extra points of the player on roll in the opponent's home board", "points", 6,
    "back game")
BLOT = _difference("blot", "tenths by which the opponent's blot risk is higher: 15 per blot in the own home "
    "board, 10 in the outfield, 12 in the opponent's home board", "tenths", 225, "safety", better=MORE)
STACK = _difference("stack", "extra checkers of the opponent beyond the fifth on any point", "checkers", 10,
    "timing")
OUT = _difference("out", "extra points that the player on roll has made from the 7 to the 18 point", "points",
    12, "mobility", better=MORE)
X1 = _difference("x1", "home points made times the other side's checkers on the bar, minus the opponent's "
    "product", "points x checkers", 90, "attack")
X2 = _difference("x2", "length of the longest prime times the other side's anchors, minus the opponent's "
    "product", "points x points", 36, "blocking")
# fmt: on

BRAS_SET = _builder.build()

_HOME_RISK, _OUTFIELD_RISK, _FAR_RISK = 15, 10, 12
_MAX_PRIME = 6
_MAX_STACK = 5
_ONE = np.uint64(1)


@inline_kernel
def _pips_and_stacked(packed, half, own):
    """Return one side's pips and its checkers beyond the fifth; its half of `packed` starts at `half`."""
    pips, stacked = np.int64(0), np.int64(0)
    rest = own
    while rest:
        place = np.int64(trailing_zeros(rest))
        rest &= rest - _ONE
        count = np.int64(packed[half + place])
        pips += count * (place + 1)
        if place < PACKED_BAR:
            stacked += max(count - _MAX_STACK, np.int64(0))
    return pips, stacked


@inline_kernel
def _count(points):
    return np.int64(popcount(points))


@inline_kernel
def _risk(own, own_made):
    """Return a side's blot risk in tenths."""
    blots = own & ~own_made & ~BAR_BIT
    risk = _HOME_RISK * _count(blots & HOME_POINTS) + _OUTFIELD_RISK * _count(blots & OUTFIELD_POINTS)
    return risk + _FAR_RISK * _count(blots & OPPONENT_HOME_POINTS)


@lean_kernel(NOTHING)
def measure_bras(words, packed, own, own_made, other, other_made, out):
    """Write the set's unscaled values for a packed board and its masks to `out`."""
    pips, stacked = _pips_and_stacked(packed, 0, own)
    other_pips, other_stacked = _pips_and_stacked(packed, OPPONENT_HALF, other)
    bar, other_bar = np.int64(packed[PACKED_BAR]), np.int64(packed[OPPONENT_HALF + PACKED_BAR])
    home, other_home = _count(own_made & HOME_POINTS), _count(other_made & HOME_POINTS)
    anchors = _count(own_made & OPPONENT_HOME_POINTS)
    other_anchors = _count(other_made & OPPONENT_HOME_POINTS)
    prime = min(longest_run(own_made & ALL_POINTS), _MAX_PRIME)
    other_prime = min(longest_run(other_made & ALL_POINTS), _MAX_PRIME)
    off = CHECKERS - checkers_on_board(words, 0)
    other_off = CHECKERS - checkers_on_board(words, PACKED_WORDS // 2)
    out[PIP] = other_pips - pips
    out[BAR] = other_bar - bar
    out[OFF] = off - other_off
    out[HB] = home - other_home
    out[PRIME] = prime - other_prime
    out[ANCH] = anchors - other_anchors
    out[BLOT] = _risk(other, other_made) - _risk(own, own_made)
    out[STACK] = other_stacked - stacked
    out[OUT] = _count(own_made & OUTFIELD_POINTS) - _count(other_made & OUTFIELD_POINTS)
    out[X1] = home * other_bar - other_home * bar
    out[X2] = prime * other_anchors - other_prime * anchors
