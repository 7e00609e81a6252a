"""How the parameters of the set ``motif`` are measured: the compiled twin of their sentences."""

import numpy as np

from motif.board.masks import ALL_POINTS, BAR_BIT, HOME_POINTS, longest_run, mirrored
from motif.board.position import CHECKERS, HOME, PACKED_BAR, PACKED_WORDS, POINTS
from motif.parameters.escapes import best_block, escapes
from motif.parameters.half_sums import above_third, checkers_in, pips_in, squares_in
from motif.parameters.motif_set import (
    ADVANCED_ANCHOR,
    BACK,
    BEST_BLOCK,
    BLOTS_BACK,
    BLOTS_ELSEWHERE,
    BLOTS_HOME,
    BOARD_ON_BAR,
    BRING_HOME,
    CONTACT_LEFT,
    CONTAINED,
    DEEP,
    DEEP_ANCHORS,
    DIRECT,
    FACED,
    GAP,
    HELD_BACK,
    HIT_LOSS,
    HITTING,
    HOME_MADE,
    MIDFIELD,
    MOBILITY,
    MOTIF_SET,
    NOTHING_OFF,
    OFF,
    ON_BAR,
    OUTFIELD_MADE,
    PASSED,
    PIP_LEAD,
    PIPS,
    PRIME,
    REARMOST,
    SECOND_REAR,
    SPARE_PIPS,
    SPARES_HOME,
    SPREAD,
    STACKED,
    TO_PASS,
)
from motif.parameters.position_class import highest_place
from motif.parameters.shots import shots
from motif.runtime.jit import inline_kernel, popcount, trailing_zeros

_SIDE = MOTIF_SET.side_count
_BOTH = 2 * _SIDE

_OUTFIELDS = np.uint64(0x03FFC0)
_ADVANCED = np.uint64(0x1A0000)
_DEEP_ANCHOR = np.uint64(0xE00000)
_HOME_BYTES = np.uint64(0x0000FFFFFFFFFFFF)
_BYTE = np.uint64(0xFF)
_ONE, _S8, _S16 = np.uint64(1), np.uint64(8), np.uint64(16)
_SPREAD_CENTRE = 8
_BACK_POINTS = np.uint64(0xFC0000)
_NOT_BACK = np.uint64(0x03FFFF)
_WHOLE_DIE = 6
_SIX = np.uint64(0x3F)


@inline_kernel
def _second_rear(own, own_made):
    """Point of the rearmost checker but one, 0 when there is none."""
    rear = highest_place(own)
    if rear < 0 or own_made >> np.uint64(rear):
        return rear + 1
    return highest_place(own & ~(_ONE << np.uint64(rear))) + 1


@inline_kernel
def _widest_gap(own):
    """Pips beyond six between the two neighbouring places in `own` that lie farthest apart, or 0."""
    widest, left = _WHOLE_DIE, own
    while left & (left - _ONE):
        place = trailing_zeros(left)
        left &= left - _ONE
        widest = max(widest, np.int64(trailing_zeros(left)) - np.int64(place))
    return widest - _WHOLE_DIE


@inline_kernel
def _spare_pips(packed, half, own):
    """Pips of spare checkers and blots that are not back, as the sentence of `SPARE_PIPS` has it."""
    pips, left = 0, own & _NOT_BACK
    while left:
        place = np.int64(trailing_zeros(left))
        left &= left - _ONE
        count = np.int64(packed[half + place])
        if place < HOME:
            pips += max(count - 2, 0) * place
        else:
            pips += (count if count == 1 else count - 2) * (place + 1 - HOME)
    return pips


@inline_kernel
def _yet_to_pass(packed, half, own, rear):
    """Checkers in front of the other side's rearmost, on his place `rear`; and their pips to his place."""
    first = POINTS - rear  # in one's own numbering: the place next to his, on the near side
    checkers, pips, left = 0, 0, own >> np.uint64(first)
    while left:
        beyond = np.int64(trailing_zeros(left))
        left &= left - _ONE
        count = np.int64(packed[half + first + beyond])
        checkers += count
        pips += count * (beyond + 1)
    return checkers, pips


@inline_kernel
def _measure_half(words, packed, first, own, own_made, out, base):
    """Measure what depends on one side's checkers alone; its half starts at word `first` of `words`."""
    low, middle = np.uint64(words[first]), np.uint64(words[first + 1])
    high, bar = np.uint64(words[first + 2]), np.uint64(words[first + 3])
    home = low & _HOME_BYTES
    on_bar, in_home = np.int64(bar), checkers_in(home)
    in_low, in_middle, in_high = checkers_in(low), checkers_in(middle), checkers_in(high)
    checkers = in_low + in_middle + in_high + on_bar
    low_pips, middle_pips, high_pips = pips_in(low), pips_in(middle), pips_in(high)
    pips = low_pips + middle_pips + 8 * in_middle + high_pips + 16 * in_high + 25 * on_bar
    # Sum of p^2, with p = 8 + q and 16 + q on the middle and the high places.
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
    out[base + OUTFIELD_MADE] = np.int64(popcount(own_made & _OUTFIELDS))
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
    out[base + BLOTS_BACK] = np.int64(popcount(blots & _BACK_POINTS))


@inline_kernel
def _measure_facing(packed, half, own, own_made, other, other_made, out, base):
    """Measure what depends on how one side, whose half of `packed` starts at `half`, faces the other."""
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
    """Measure how far one side has come past the other's rearmost checker."""
    out[base + TO_PASS] = out[base + PASSED] = out[base + FACED] = 0
    if own == 0 or other == 0:
        return
    rear = highest_place(other)
    checkers, to_pass = _yet_to_pass(packed, half, own, rear)
    out[base + TO_PASS] = to_pass
    # At his place, a checker still has that place to go.
    out[base + PASSED] = out[base + PIPS] - to_pass - checkers * (POINTS - rear)
    ahead = mirrored(other_made) << np.uint64(_WHOLE_DIE)
    out[base + FACED] = np.int64(popcount((ahead >> np.uint64(highest_place(own))) & _SIX))


@inline_kernel
def measure_motif(words, packed, own, own_made, other, other_made, out, known):
    """Write the set's values, unscaled, for the packed board whose masks are given to `out`.

    `known` int64 (5,) remembers the half of the player on roll that `out` was last measured for: the
    plays of a decision leave it alone unless they hit.  Its last entry 0 means that none is known.
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
    # Two rear checkers on points that add up to 25 stand on the same point: places count from 0.
    rear = highest_place(own) + highest_place(other) + 2
    out[_BOTH + CONTACT_LEFT] = max(0, rear - (POINTS + 1))
