"""Rolls that hit, and what they cost the side that is hit.

All masks are in the numbering of the side that shoots: bit p - 1 for point p, bit 24 for its bar.
The blots are gone through from the dearest down, so that each roll counts for the dearest that it
can hit.
"""

import numpy as np

from motif.board.masks import ALL_POINTS, BAR_BIT
from motif.parameters.roll_sets import enter_and_hit, rolls_in, shots_at, with_die, without_doubles
from motif.runtime.jit import inline_kernel, leading_zeros, reversed_bits

_ONE = np.uint64(1)
_S1, _S34, _S39 = np.uint64(1), np.uint64(34), np.uint64(39)


@inline_kernel
def _highest(mask):
    """Place of the highest bit of a mask that is not empty."""
    return np.uint64(63) - leading_zeros(mask)


@inline_kernel
def _shots_from_board(shooters, blots, open_points):
    """As `shots`, with nobody on the bar."""
    hitting, direct, pips = np.uint64(0), np.uint64(0), 0
    while blots:
        place = _highest(blots)
        blots ^= _ONE << place
        behind = (shooters >> place) >> _S1
        hit = shots_at(behind, (open_points >> place) >> _S1)
        pips += rolls_in(hit & ~hitting) * np.int64(place + _ONE)
        hitting |= hit
        direct |= with_die(behind)
    return rolls_in(hitting), rolls_in(direct), pips


@inline_kernel
def _entries(open_points):
    """Dice that enter: bit d - 1 for the die d, which enters on place 24 - d."""
    return reversed_bits(open_points & ALL_POINTS) >> np.uint64(40)


@inline_kernel
def _doubles_from_bar(shooters, blots, open_points):
    """As `shots`, with one checker on the bar, for the six doubles."""
    rolls, direct_rolls, pips = 0, 0, 0
    for die in range(1, 7):
        step = np.uint64(die)
        entry = (BAR_BIT >> step) & open_points
        reached = (shooters & ~BAR_BIT) | entry
        hit = entry & blots
        for _ in range(3):
            reached = reached >> step
            hit |= reached & blots
            reached &= open_points
        if entry != 0 and hit != 0:
            rolls += 1
            direct_rolls += np.int64((hit & (shooters >> step)) != 0)
            pips += np.int64(_highest(hit) + _ONE)
    return rolls, direct_rolls, pips


@inline_kernel
def _shots_from_bar(shooters, blots, open_points):
    """As `shots`, with one checker on the bar: it must enter first, then any checker may play."""
    rolls, direct_rolls, pips = _doubles_from_bar(shooters, blots, open_points)
    entries = _entries(open_points)
    others = shooters & ~BAR_BIT
    hitting, direct = np.uint64(0), np.uint64(0)
    while blots:
        place = _highest(blots)
        blots ^= _ONE << place
        # The checker on the bar by itself, or another one with the die that does not enter.
        hit = shots_at((BAR_BIT >> place) >> _S1, (open_points >> place) >> _S1)
        hit |= enter_and_hit(entries, (others >> place) >> _S1)
        hit = without_doubles(hit)
        pips += rolls_in(hit & ~hitting) * np.int64(place + _ONE)
        hitting |= hit
        direct |= hit & with_die((shooters >> place) >> _S1)
    return rolls + rolls_in(hitting), direct_rolls + rolls_in(direct), pips


@inline_kernel
def _shots_by_entering(blots):
    """As `shots`, with two or more checkers on the bar: only the entering checkers hit."""
    hitting, pips = np.uint64(0), 0
    while blots:
        place = _highest(blots)
        blots ^= _ONE << place
        hit = with_die((BAR_BIT >> place) >> _S1)
        pips += rolls_in(hit & ~hitting) * np.int64(place + _ONE)
        hitting |= hit
    return rolls_in(hitting), rolls_in(hitting), pips


@inline_kernel
def shots(shooters, on_bar, blots, blocks):
    """Rolls of 36 that hit, rolls that hit directly, and pips lost by the side hit, summed over 36 rolls.

    `shooters`: places of the side that shoots, with `on_bar` checkers on its bar; `blots` and
    `blocks`: single checkers and made points of the other side.  Direct means by one die.  Of
    several blots that a roll can hit the one that loses most is counted.
    """
    behind = (_ONE << (np.uint64(63) - leading_zeros(shooters | _ONE))) - _ONE
    blots &= behind
    if blots == 0:
        return 0, 0, 0
    if on_bar == 0:
        return _shots_from_board(shooters, blots, ~blocks)
    if on_bar == 1:
        return _shots_from_bar(shooters, blots, ~blocks)
    return _shots_by_entering(blots)
