"""The set ``motif``: 26 measurements a side and two that speak of both.

They follow the published ideas of Berliner's BKG 9.8, of Tesauro's and gnubg's input lists and of
Keith's Motif, each written from its definition in the sentence beside it.
"""

import numpy as np

from motif.board.masks import BAR_BIT, HOME_POINTS, mirrored
from motif.board.outcome import checkers_on_board
from motif.board.position import CHECKERS, HOME, OPPONENT_HALF, PACKED_BAR
from motif.parameters.common import BAR, BORNE_OFF, LEAD, PIP_COUNT, REAR
from motif.parameters.escapes import escapes
from motif.parameters.position_class import highest_place
from motif.parameters.registry import SetBuilder
from motif.parameters.shots import shots
from motif.runtime.jit import inline_kernel, popcount, trailing_zeros

_builder = SetBuilder("motif", revision=1)
_side, _shared = _builder.side, _builder.shared

PIPS = _side(**PIP_COUNT)
OFF = _side(**BORNE_OFF)
NOTHING_OFF = _side(
    "nothing_off", "whether {side} has yet to bear off a checker", unit="yes or no", full=1, group="race"
)
BRING_HOME = _side(
    "bring_home", "pips that {side} needs to bring every checker home", unit="pips", full=100, group="race"
)
REARMOST = _side(**REAR)
SPREAD = _side(
    "spread",
    "squared distance of {side}'s checkers from the 8 point, added up (the bar is 25)",
    unit="squared pips",
    full=1000,
    group="timing",
)
STACKED = _side(
    "stacked",
    "checkers of {side} above the third on any point or on the bar",
    unit="checkers",
    full=6,
    group="timing",
)
SPARES_HOME = _side(
    "spares_home",
    "checkers of {side} above the second on home points",
    unit="checkers",
    full=6,
    group="timing",
)
DEEP = _side(
    "deep_checkers",
    "checkers of {side} buried on the ace and deuce points",
    unit="checkers",
    full=6,
    group="timing",
)
ON_BAR = _side(**BAR)
HOME_MADE = _side("home_points", "home points that {side} has made", unit="points", full=6, group="blocking")
OUTFIELD_MADE = _side(
    "outfield_points",
    "points that {side} has made outside both home boards",
    unit="points",
    full=6,
    group="blocking",
)
PRIME = _side(
    "longest_prime",
    "longest run of points in a row that {side} has made",
    unit="points",
    full=6,
    group="blocking",
)
CONTAINED = _side(
    "contained",
    "rolls of 36 that {other}'s rearmost checker cannot play in full (of a double two dice) "
    "because of {side}'s points",
    unit="rolls",
    full=36,
    group="blocking",
)
BEST_BLOCK = _side(
    "best_block",
    "rolls of 36 that a checker could not play in full (of a double two dice) because of {side}'s "
    "points, at the worst of the places from {other}'s 16 point back to the bar",
    unit="rolls",
    full=36,
    group="blocking",
)
BOARD_ON_BAR = _side(
    "board_against_bar",
    "square of the number of home points that {side} has made, while {other} is on the bar",
    unit="squared points",
    full=36,
    group="attack",
)
BLOTS_HOME = _side("blots_home", "blots of {side} in the home board", unit="blots", full=3, group="safety")
BLOTS_ELSEWHERE = _side(
    "blots_elsewhere", "blots of {side} outside the home board", unit="blots", full=4, group="safety"
)
HITTING = _side(
    "hitting_rolls",
    "rolls of 36 with which {side} can hit (with several checkers on the bar: by entering)",
    unit="rolls",
    full=36,
    group="attack",
)
DIRECT = _side(
    "direct_shots",
    "rolls of 36 with which {side} can hit with one die",
    unit="rolls",
    full=36,
    group="attack",
)
HIT_LOSS = _side(
    "hit_loss",
    "pips that {other} loses to {side}'s next roll on average, the dearest blot of each roll counted",
    unit="pips",
    full=15,
    group="attack",
)
BACK = _side(
    "back_checkers",
    "checkers of {side} in {other}'s home board or on the bar",
    unit="checkers",
    full=4,
    group="back game",
)
ADVANCED_ANCHOR = _side(
    "advanced_anchor",
    "points that {side} has made among {other}'s bar, five and four points",
    unit="points",
    full=2,
    group="back game",
)
DEEP_ANCHORS = _side(
    "deep_anchors",
    "points that {side} has made among {other}'s three, deuce and ace points",
    unit="points",
    full=2,
    group="back game",
)
MIDFIELD = _side(
    "midfield_checkers",
    "checkers of {side} on the points 9 to 15, where they help to bring others home",
    unit="checkers",
    full=6,
    group="mobility",
)
MOBILITY = _side(
    "mobility",
    "rolls of 36 that each of {side}'s checkers outside the home board can play in full (of a double "
    "two dice), times its pips to get home, added up",
    unit="rolls x pips",
    full=3600,
    group="mobility",
)
PIP_LEAD = _shared(**LEAD)
CONTACT_LEFT = _shared(
    "contact_left",
    "pips by which the two rearmost checkers still have to pass each other",
    unit="pips",
    full=25,
    group="timing",
)

MOTIF_SET = _builder.build()
_SIDE = MOTIF_SET.side_count
_BOTH = 2 * _SIDE

_OUTFIELDS = np.uint64(0x03FFC0)
_MIDFIELD_FIRST, _MIDFIELD_LAST = 8, 14
_ADVANCED = np.uint64(0x1A0000)
_DEEP_ANCHOR = np.uint64(0xE00000)
_BACK_FIRST = 18
_MOMENT_CENTRE = 7
_ONE = np.uint64(1)
_FIRST_BLOCK_SQUARE = 15


@inline_kernel
def _longest_run(points):
    run = 0
    while points:
        points &= points >> _ONE
        run += 1
    return run


@inline_kernel
def _measure_side(words, packed, half, own, own_made, other, other_made, out, base):
    """Measure the side whose half of `packed` starts at `half`; masks are in each side's own numbering.

    Writes to ``out[base:base + side_count]``; returns the side's pips and rearmost place.
    """
    pips, bring_home, spread, stacked, mobility = 0, 0, 0, 0, 0
    back, midfield, in_home = 0, 0, 0
    rest = own
    while rest:
        place = np.int64(trailing_zeros(rest))
        rest &= rest - _ONE
        count = np.int64(packed[half + place])
        pips += count * (place + 1)
        spread += count * (place - _MOMENT_CENTRE) * (place - _MOMENT_CENTRE)
        if count > 3:
            stacked += count - 3
        if place < HOME:
            in_home += count
            continue
        to_home = count * (place + 1 - HOME)
        bring_home += to_home
        mobility += to_home * escapes(place, other_made)
        if place >= _BACK_FIRST:
            back += count
        elif _MIDFIELD_FIRST <= place <= _MIDFIELD_LAST:
            midfield += count
    blots = own & ~own_made & ~BAR_BIT
    on_bar = np.int64(packed[half + PACKED_BAR])
    off = CHECKERS - checkers_on_board(words, half // 8)
    rearmost = highest_place(own)
    home_made = own_made & HOME_POINTS
    home_count = np.int64(popcount(home_made))
    other_rearmost = highest_place(other)
    rolls, direct_rolls, loss = shots(own, on_bar, mirrored(other & ~other_made), mirrored(other_made))
    best_block = 0
    for square in range(_FIRST_BLOCK_SQUARE, PACKED_BAR + 1):
        best_block = max(best_block, 36 - escapes(square, own_made))

    out[base + PIPS] = pips
    out[base + OFF] = off
    out[base + NOTHING_OFF] = 1 if off == 0 else 0
    out[base + BRING_HOME] = bring_home
    out[base + REARMOST] = rearmost + 1
    out[base + SPREAD] = spread
    out[base + STACKED] = stacked
    out[base + SPARES_HOME] = in_home - np.int64(popcount(own & HOME_POINTS)) - home_count
    out[base + DEEP] = np.int64(packed[half]) + np.int64(packed[half + 1])
    out[base + ON_BAR] = on_bar
    out[base + HOME_MADE] = home_count
    out[base + OUTFIELD_MADE] = np.int64(popcount(own_made & _OUTFIELDS))
    out[base + PRIME] = _longest_run(own_made & ~BAR_BIT)
    out[base + CONTAINED] = 36 - escapes(other_rearmost, own_made) if other_rearmost >= 0 else 0
    out[base + BEST_BLOCK] = best_block
    out[base + BOARD_ON_BAR] = home_count * home_count if other & BAR_BIT else 0
    out[base + BLOTS_HOME] = np.int64(popcount(blots & HOME_POINTS))
    out[base + BLOTS_ELSEWHERE] = np.int64(popcount(blots & ~HOME_POINTS))
    out[base + HITTING] = rolls
    out[base + DIRECT] = direct_rolls
    out[base + HIT_LOSS] = loss * (1.0 / 36.0)
    out[base + BACK] = back
    out[base + ADVANCED_ANCHOR] = np.int64(popcount(own_made & _ADVANCED))
    out[base + DEEP_ANCHORS] = np.int64(popcount(own_made & _DEEP_ANCHOR))
    out[base + MIDFIELD] = midfield
    out[base + MOBILITY] = mobility
    return pips, rearmost


@inline_kernel
def measure_motif(words, packed, own, own_made, other, other_made, out):
    """Write the set's values, unscaled, for the packed board whose masks are given to `out`."""
    pips, rearmost = _measure_side(words, packed, 0, own, own_made, other, other_made, out, 0)
    half = OPPONENT_HALF
    other_pips, other_rearmost = _measure_side(
        words, packed, half, other, other_made, own, own_made, out, _SIDE
    )
    out[_BOTH + PIP_LEAD] = other_pips - pips
    # Places are counted from 0: two rear checkers on places that add up to 23 stand past each other.
    out[_BOTH + CONTACT_LEFT] = max(0, rearmost + other_rearmost - (PACKED_BAR - 1))
