"""Parameter set ``motif``: 34 parameters for each side and two for both sides together.

They follow published ideas: Berliner's BKG 9.8, the inputs of Tesauro's and gnubg's networks, and Keith's
Motif.  Each sentence defines its parameter; the kernels below compute the values.  A checker plays a roll in
full if it can play both dice, or two dice of a double.  A block is measured for a checker at the worst of the
places from its own 16 point back to the bar.
"""

import numpy as np

from motif.board.packed import (
    ALL_POINTS,
    BAR_BIT,
    CHECKERS,
    HOME,
    HOME_POINTS,
    OPPONENT_HOME_POINTS,
    OUTFIELD_POINTS,
    PACKED_BAR,
    PACKED_WORDS,
    POINTS,
    above_third,
    checkers_in,
    longest_run,
    mirrored,
    pips_in,
    squares_in,
)
from motif.compiler.jit import NOTHING, inline_kernel, lean_kernel, popcount, trailing_zeros
from motif.parameters.position_class import highest_place
from motif.parameters.registry import (
    BAR,
    BORNE_OFF,
    LEAD,
    LESS,
    MORE,
    OF_BACK,
    OF_REAR,
    PIP_COUNT,
    REAR,
    YES_OR_NO,
    SetBuilder,
)
from motif.parameters.shots import best_block, escapes, shots

_builder = SetBuilder("motif", revision=2)
_side, _shared, _difference = _builder.side, _builder.shared, _builder.difference
# Name, sentence, unit, large value, group and an optional hint.
# fmt: off
PIPS = _side(*PIP_COUNT)
OFF = _side(*BORNE_OFF)
NOTHING_OFF = _side("nothing_off", "whether {side} has yet to bear off a checker", YES_OR_NO, 1, "race",
    better=LESS, label="{side} bearoff still to begin")
BRING_HOME = _side("bring_home", "pips that {side} needs to bring every checker home", "pips", 100, "race",
    better=LESS, label="{side} pips to bring home")
REARMOST = _side(*REAR)
SPREAD = _side("spread", "sum of the squared distances of {side}'s checkers from the 8 point", "squared pips",
    1000, "timing", label="spread of {side} checkers")
STACKED = _side("stacked", "checkers of {side} above the third on any point or on the bar", "checkers", 6,
    "timing", better=LESS, label="{side} stacked checkers")
SPARES_HOME = _side("spares_home", "checkers of {side} above the second on home points", "checkers", 6,
    "timing", label="{side} spares at home")
DEEP = _side("deep_checkers", "checkers of {side} buried on the ace and deuce points", "checkers", 6,
    "timing", better=LESS, label="{side} buried checkers")
ON_BAR = _side(*BAR)
HOME_MADE = _side("home_points", "home points that {side} has made", "points", 6, "blocking", better=MORE)
OUTFIELD_MADE = _side("outfield_points", "points that {side} has made outside both home boards", "points", 6,
    "blocking", better=MORE)
PRIME = _side("longest_prime", "longest run of points in a row that {side} has made", "points", 6, "blocking",
    better=MORE, label="points in {side} longest prime")
CONTAINED = _side("contained", "rolls of 36 that {other}'s rearmost checker cannot play in full because of "
    "{side}'s points", "rolls", 36, "blocking", OF_REAR, better=MORE,
    label="rearmost checker's rolls blocked by {side} points")
BEST_BLOCK = _side("best_block", "rolls of 36 that a checker stuck behind {side}'s best block could not play "
    "in full", "rolls", 36, "blocking", better=MORE, label="rolls blocked by {side} best block")
BOARD_ON_BAR = _side("board_against_bar", "square of the number of home points that {side} has made, while "
    "{other} is on the bar", "squared points", 36, "attack", better=MORE,
    label="{side} board against a checker on the bar")
BLOTS_HOME = _side("blots_home", "blots of {side} in the home board", "blots", 3, "safety", better=LESS,
    label="{side} blots at home")
BLOTS_ELSEWHERE = _side("blots_elsewhere", "blots of {side} outside the home board", "blots", 4, "safety",
    better=LESS, label="{side} blots outside the home board")
HITTING = _side("hitting_rolls", "rolls of 36 with which {side} can hit (with several checkers on the bar: "
    "by entering)", "rolls", 36, "attack", better=MORE)
DIRECT = _side("direct_shots", "rolls of 36 with which {side} can hit with one die", "rolls", 36, "attack",
    better=MORE)
HIT_LOSS = _side("hit_loss", "pips that {other} loses on average to {side}'s next roll, which hits the "
    "costliest blot", "pips", 15, "attack", better=MORE, label="pips lost to {side} hits")
BACK = _side("back_checkers", "checkers of {side} in {other}'s home board or on the bar", "checkers", 4,
    "back game", better=LESS)
ADVANCED_ANCHOR = _side("advanced_anchor", "points that {side} has made among {other}'s bar, five and four "
    "points", "points", 2, "back game", better=MORE, label="{side} advanced anchors")
DEEP_ANCHORS = _side("deep_anchors", "points that {side} has made among {other}'s three, deuce and ace "
    "points", "points", 2, "back game")
MIDFIELD = _side("midfield_checkers", "checkers of {side} on the points 9 to 15, where they help to bring "
    "others home", "checkers", 6, "mobility")
MOBILITY = _side("mobility", "sum, over {side}'s checkers outside the home board, of the rolls of 36 that "
    "the checker can play in full (of a double two dice) times its pips to get home", "rolls x pips", 3600,
    "mobility", better=MORE)
SECOND_REAR = _side("second_rear", "pips that {side}'s second rearmost checker needs to bear off", "pips", 25,
    "race", better=LESS, label="pips of {side} second rearmost checker")
TO_PASS = _side("pips_to_pass", "pips that {side}'s checkers need to pass {other}'s rearmost checker", "pips",
    100, "race", OF_REAR)
PASSED = _side("pips_past", "pips left to those of {side}'s checkers that have met or passed {other}'s "
    "rearmost checker", "pips", 50, "race", OF_REAR, label="{side} pips past contact")
GAP = _side("widest_gap", "pips beyond six in the widest gap between {side}'s checkers", "pips", 12, "timing",
    label="pips of {side} widest gap")
SPARE_PIPS = _side("spare_pips", "pips that {side} can play without breaking a point or moving back "
    "checkers: checkers beyond the second down to the ace point at home, such checkers and blots down to the "
    "six point elsewhere", "pips", 40, "timing")
BLOTS_BACK = _side("blots_back", "blots of {side} in {other}'s home board", "blots", 2, "safety", OF_BACK,
    better=LESS, label="{side} blots back")
FACED = _side("points_ahead", "points that {other} has made among the six in front of {side}'s rearmost "
    "checker", "points", 6, "blocking", better=LESS, label="points ahead of {side} rearmost checker")
HELD_BACK = _side("board_against_back", "product of the home points that {side} has made and {other}'s "
    "checkers in that board or on the bar", "points x checkers", 12, "attack", better=MORE,
    label="{side} board against back checkers")
PIP_LEAD = _difference(*LEAD)
CONTACT_LEFT = _shared("contact_left", "pips by which the two rearmost checkers still have to pass each "
    "other", "pips", 25, "timing", OF_REAR)
# fmt: on
MOTIF_SET = _builder.build()

OF_PLAYER_ON_ROLL = (
    PIPS, OFF, NOTHING_OFF, BRING_HOME, REARMOST, SPREAD, STACKED, SPARES_HOME, DEEP, ON_BAR, HOME_MADE,
    OUTFIELD_MADE, PRIME, BEST_BLOCK, BLOTS_HOME, BLOTS_ELSEWHERE, BACK, ADVANCED_ANCHOR, DEEP_ANCHORS,
    MIDFIELD, SECOND_REAR, GAP, SPARE_PIPS, BLOTS_BACK,
)  # fmt: skip
"""Indices of the parameters that depend only on the checkers of the player on roll."""
_SIDE = MOTIF_SET.side_count
_BOTH = 2 * _SIDE
_ADVANCED = np.uint64(0x1A0000)
_DEEP_ANCHOR = np.uint64(0xE00000)
_HOME_BYTES = np.uint64(0x0000FFFFFFFFFFFF)
_BYTE = np.uint64(0xFF)
_ONE, _S8, _S16 = np.uint64(1), np.uint64(8), np.uint64(16)
_SPREAD_CENTRE = 8
_NOT_BACK = HOME_POINTS | OUTFIELD_POINTS
_WHOLE_DIE = 6
_SIX = np.uint64(0x3F)


@inline_kernel
def _second_rear(own, own_made):
    """Return the point of the second rearmost checker, or 0."""
    rear = highest_place(own)
    if rear < 0 or own_made >> np.uint64(rear):
        return rear + 1
    return highest_place(own & ~(_ONE << np.uint64(rear))) + 1


@inline_kernel
def _widest_gap(own):
    """Return the pips beyond six in the widest gap between places in `own`, or 0."""
    widest, left = np.int64(_WHOLE_DIE), own
    while left & (left - _ONE):
        place = trailing_zeros(left)
        left &= left - _ONE
        widest = max(widest, np.int64(trailing_zeros(left)) - np.int64(place))
    return widest - _WHOLE_DIE


@inline_kernel
def _spare_pips(packed, half, own):
    """Return `SPARE_PIPS`: pips of spare checkers and of blots that are not back."""
    pips, left = np.int64(0), own & _NOT_BACK
    while left:
        place = np.int64(trailing_zeros(left))
        left &= left - _ONE
        count = np.int64(packed[half + place])
        if place < HOME:
            pips += max(count - 2, np.int64(0)) * place
        else:
            pips += (count if count == 1 else count - 2) * (place + 1 - HOME)
    return pips


@inline_kernel
def _yet_to_pass(packed, half, own, rear):
    """Return the checkers that have yet to pass the opponent's rearmost, at `rear`, and their pips to it."""
    first = POINTS - rear  # in the own numbering: the next place on the near side
    checkers, pips, left = np.int64(0), np.int64(0), own >> np.uint64(first)
    while left:
        beyond = np.int64(trailing_zeros(left))
        left &= left - _ONE
        count = np.int64(packed[half + first + beyond])
        checkers += count
        pips += count * (beyond + 1)
    return checkers, pips


@inline_kernel
def _measure_half(words, packed, first, own, own_made, out, base):
    """Measure the parameters that depend only on one side, whose half starts at word `first` of `words`."""
    low, middle = np.uint64(words[first]), np.uint64(words[first + 1])
    high, bar = np.uint64(words[first + 2]), np.uint64(words[first + 3])
    home = low & _HOME_BYTES
    on_bar, in_home = np.int64(bar), checkers_in(home)
    in_low, in_middle, in_high = checkers_in(low), checkers_in(middle), checkers_in(high)
    checkers = in_low + in_middle + in_high + on_bar
    low_pips, middle_pips, high_pips = pips_in(low), pips_in(middle), pips_in(high)
    pips = low_pips + middle_pips + 8 * in_middle + high_pips + 16 * in_high + 25 * on_bar
    # Sum of p^2, where p = 8 + q for the middle bytes and p = 16 + q for the high bytes.
    squares = squares_in(low) + squares_in(middle) + 16 * middle_pips + 64 * in_middle
    squares += squares_in(high) + 32 * high_pips + 256 * in_high + 625 * on_bar
    off = CHECKERS - checkers
    home_count = np.int64(popcount(own_made & HOME_POINTS))
    blots = own & ~own_made & ~BAR_BIT

    out[base + PIPS] = pips
    out[base + OFF] = off
    out[base + NOTHING_OFF] = np.int64(off == 0)
    out[base + BRING_HOME] = pips - pips_in(home) - HOME * (checkers - in_home)
    out[base + REARMOST] = highest_place(own) + 1
    out[base + SPREAD] = squares - 2 * _SPREAD_CENTRE * pips + _SPREAD_CENTRE * _SPREAD_CENTRE * checkers
    out[base + STACKED] = above_third(low, middle, high, bar)
    out[base + SPARES_HOME] = in_home - np.int64(popcount(own & HOME_POINTS)) - home_count
    out[base + DEEP] = np.int64((low & _BYTE) + ((low >> _S8) & _BYTE))
    out[base + ON_BAR] = on_bar
    out[base + HOME_MADE] = home_count
    out[base + OUTFIELD_MADE] = np.int64(popcount(own_made & OUTFIELD_POINTS))
    out[base + PRIME] = longest_run(own_made & ALL_POINTS)
    out[base + BEST_BLOCK] = best_block(own_made)
    out[base + BLOTS_HOME] = np.int64(popcount(blots & HOME_POINTS))
    out[base + BLOTS_ELSEWHERE] = np.int64(popcount(blots & ~HOME_POINTS))
    out[base + BACK] = checkers_in(high >> _S16) + on_bar
    out[base + ADVANCED_ANCHOR] = np.int64(popcount(own_made & _ADVANCED))
    out[base + DEEP_ANCHORS] = np.int64(popcount(own_made & _DEEP_ANCHOR))
    out[base + MIDFIELD] = checkers_in(middle << _S8)
    out[base + SECOND_REAR] = _second_rear(own, own_made)
    out[base + GAP] = _widest_gap(own)
    out[base + SPARE_PIPS] = _spare_pips(packed, 8 * first, own)
    out[base + BLOTS_BACK] = np.int64(popcount(blots & OPPONENT_HOME_POINTS))


@inline_kernel
def _measure_facing(packed, half, own, own_made, other, other_made, out, base):
    """Measure the parameters that depend on both sides, for the side whose half starts at `half`."""
    mobility = 0
    outside = own & ~HOME_POINTS
    while outside:
        place = np.int64(trailing_zeros(outside))
        outside &= outside - _ONE
        to_home = np.int64(packed[half + place]) * (place + 1 - HOME)
        mobility += to_home * escapes(place, other_made)
    home_count = np.int64(popcount(own_made & HOME_POINTS))
    on_bar = np.int64(packed[half + PACKED_BAR])
    rolls, direct_rolls, loss = shots(own, on_bar, mirrored(other & ~other_made), mirrored(other_made))
    out[base + CONTAINED] = 36 - escapes(highest_place(other), own_made) if other else 0
    out[base + BOARD_ON_BAR] = home_count * home_count if other & BAR_BIT else 0
    out[base + HITTING] = rolls
    out[base + DIRECT] = direct_rolls
    out[base + HIT_LOSS] = loss * (1.0 / 36.0)
    out[base + MOBILITY] = mobility
    _measure_passing(packed, half, own, other, other_made, out, base)


@inline_kernel
def _measure_passing(packed, half, own, other, other_made, out, base):
    """Measure how far one side's checkers have passed the opponent's rearmost checker."""
    out[base + TO_PASS] = out[base + PASSED] = out[base + FACED] = 0
    if own == 0 or other == 0:
        return
    rear = highest_place(other)
    checkers, to_pass = _yet_to_pass(packed, half, own, rear)
    out[base + TO_PASS] = to_pass
    # Checkers that have yet to pass it must also move the rest of the way after they reach it.
    out[base + PASSED] = out[base + PIPS] - to_pass - checkers * (POINTS - rear)
    ahead = mirrored(other_made) << np.uint64(_WHOLE_DIE)
    out[base + FACED] = np.int64(popcount((ahead >> np.uint64(highest_place(own))) & _SIX))


@lean_kernel(NOTHING)
def measure_motif(words, packed, own, own_made, other, other_made, out, known):
    """Write the set's unscaled values for a packed board and its masks to `out`.

    `known` int64 (5,) is the half of the player on roll for which `out` was last measured; the last entry
    is 0 if there is none.  Among the plays of a decision, this half changes only when a checker is hit.
    """
    half = PACKED_WORDS // 2
    same = known[half] != 0
    for k in range(half):
        same &= known[k] == words[k]
    if not same:
        _measure_half(words, packed, 0, own, own_made, out, 0)
        for k in range(half):
            known[k] = words[k]
        known[half] = 1
    _measure_half(words, packed, half, other, other_made, out, _SIDE)
    _measure_facing(packed, 0, own, own_made, other, other_made, out, 0)
    _measure_facing(packed, 8 * half, other, other_made, own, own_made, out, _SIDE)
    out[HELD_BACK] = out[HOME_MADE] * out[_SIDE + BACK]
    out[_SIDE + HELD_BACK] = out[_SIDE + HOME_MADE] * out[BACK]
    out[_BOTH + PIP_LEAD] = out[_SIDE + PIPS] - out[PIPS]
    # Rearmost checkers whose points add up to 25 are on the same point; indices count from 0.
    rear = highest_place(own) + highest_place(other) + 2
    out[_BOTH + CONTACT_LEFT] = max(0, rear - (POINTS + 1))
