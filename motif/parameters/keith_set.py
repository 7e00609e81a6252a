"""Parameter set ``keith``: the simple measurements listed by Tom Keith in "How Motif Works" (2004).

Pip counts, points held, blots, direct and indirect shots, and checkers on the bar and borne off are all
easy to calculate.
"""

import numpy as np

from motif.board.outcome import checkers_on_board
from motif.board.packed import BAR_BIT, CHECKERS, HOME_POINTS, OPPONENT_HALF, PACKED_BAR, mirrored
from motif.compiler.jit import NOTHING, inline_kernel, lean_kernel, popcount, trailing_zeros
from motif.parameters.position_class import highest_place
from motif.parameters.registry import BAR, BORNE_OFF, LEAD, LESS, MORE, PIP_COUNT, REAR, SetBuilder

_builder = SetBuilder("keith", revision=1)
_side, _difference = _builder.side, _builder.difference
# Name, sentence, unit, large value, group and an optional hint.

# fmt: off
PIPS = _side(*PIP_COUNT)
OFF = _side(*BORNE_OFF)
ON_BAR = _side(*BAR)
HELD = _side("points_held", "points that {side} holds outside the home board", "points", 6, "blocking",
    better=MORE)
HOME_HELD = _side("home_points", "home points that {side} holds", "points", 6, "blocking", better=MORE)
BLOTS = _side("blots", "blots of {side}", "blots", 4, "safety", better=LESS)
DIRECT = _side("direct_shots", "direct shots of {side} (distances of 1 to 6 pips from a blot of {other} to a "
    "checker behind it)", "shots", 6, "attack", better=MORE)
INDIRECT = _side("indirect_shots", "indirect shots of {side} (distances of 7 to 12 pips from a blot of "
    "{other} to a checker behind it)", "shots", 6, "attack", better=MORE)
REARMOST = _side(*REAR)
PIP_LEAD = _difference(*LEAD)
# fmt: on

KEITH_SET = _builder.build()
_SIDE = KEITH_SET.side_count
_BOTH = 2 * _SIDE
_ONE = np.uint64(1)


@inline_kernel
def _measure_side(words, packed, half, own, own_made, other, other_made, out, base):
    """Measure one side, whose half of `packed` starts at `half`, and return its pips."""
    pips = np.int64(0)
    rest = own
    while rest:
        place = np.int64(trailing_zeros(rest))
        rest &= rest - _ONE
        pips += np.int64(packed[half + place]) * (place + 1)
    made_points = own_made & ~BAR_BIT
    targets = mirrored(other & ~other_made)
    direct, indirect = np.int64(0), np.int64(0)
    for distance in range(1, 7):
        direct += np.int64(popcount((own >> np.uint64(distance)) & targets))
        indirect += np.int64(popcount((own >> np.uint64(distance + 6)) & targets))
    out[base + PIPS] = pips
    out[base + OFF] = CHECKERS - checkers_on_board(words, half // 8)
    out[base + ON_BAR] = packed[half + PACKED_BAR]
    out[base + HELD] = np.int64(popcount(made_points & ~HOME_POINTS))
    out[base + HOME_HELD] = np.int64(popcount(made_points & HOME_POINTS))
    out[base + BLOTS] = np.int64(popcount(own & ~own_made & ~BAR_BIT))
    out[base + DIRECT] = direct
    out[base + INDIRECT] = indirect
    out[base + REARMOST] = highest_place(own) + 1
    return pips


@lean_kernel(NOTHING)
def measure_keith(words, packed, own, own_made, other, other_made, out):
    """Write the set's unscaled values for a packed board and its masks to `out`."""
    pips = _measure_side(words, packed, 0, own, own_made, other, other_made, out, 0)
    half = OPPONENT_HALF
    other_pips = _measure_side(words, packed, half, other, other_made, own, own_made, out, _SIDE)
    out[_BOTH + PIP_LEAD] = other_pips - pips
