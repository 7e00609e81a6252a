"""Rolls that hit, and what they cost the side that is hit.

All masks are in the numbering of the side that shoots: bit p - 1 for point p, bit 24 for its bar.
"""

import numpy as np

from motif.board.masks import BAR_BIT
from motif.runtime.jit import inline_kernel, leading_zeros

_ONE = np.uint64(1)


@inline_kernel
def _highest_point(mask):
    """Number of the highest point in a mask; 0 when it is empty."""
    return 64 - np.int64(leading_zeros(mask))


@inline_kernel
def _is_any(mask):
    return np.int64(mask != 0)


@inline_kernel
def _shots_from_board(shooters, blots, open_points):
    """As `shots`, with nobody on the bar.  Free of branches: hits come and go too often to predict."""
    rolls, direct_rolls, pips = 0, 0, 0
    for high in range(1, 7):
        first = np.uint64(high)
        by_first = shooters >> first
        direct = by_first & blots
        hit = direct
        reached = by_first
        for _ in range(3):
            reached = (reached & open_points) >> first
            hit |= reached & blots
        rolls += _is_any(hit)
        direct_rolls += _is_any(direct)
        pips += _highest_point(hit)
        for low in range(1, high):
            second = np.uint64(low)
            by_second = shooters >> second
            direct = (by_first | by_second) & blots
            by_both = ((by_first & open_points) >> second) | ((by_second & open_points) >> first)
            hit = direct | (by_both & blots)
            rolls += 2 * _is_any(hit)
            direct_rolls += 2 * _is_any(direct)
            pips += 2 * _highest_point(hit)
    return rolls, direct_rolls, pips


@inline_kernel
def _entering_hits(shooters, blots, open_points, entering, other, moves):
    """Blots hit by entering with one die and then playing `moves` moves of `other` with any checker."""
    entry = (BAR_BIT >> entering) & open_points
    if entry == 0:
        return np.uint64(0)
    hit = entry & blots
    reached = (shooters & ~BAR_BIT) | entry
    for _ in range(moves):
        reached = reached >> other
        hit |= reached & blots
        reached &= open_points
    return hit


@inline_kernel
def _shots_from_bar(shooters, blots, open_points):
    """As `shots`, with one checker on the bar: it must enter first."""
    rolls, direct_rolls, pips = 0, 0, 0
    for high in range(1, 7):
        first = np.uint64(high)
        for low in range(1, high + 1):
            second = np.uint64(low)
            if high == low:
                count = 1
                hit = _entering_hits(shooters, blots, open_points, first, first, 3)
            else:
                count = 2
                hit = _entering_hits(shooters, blots, open_points, first, second, 1)
                hit |= _entering_hits(shooters, blots, open_points, second, first, 1)
            direct = hit & ((shooters >> first) | (shooters >> second))
            rolls += count * _is_any(hit)
            direct_rolls += count * _is_any(direct)
            pips += count * _highest_point(hit)
    return rolls, direct_rolls, pips


@inline_kernel
def _shots_by_entering(blots):
    """As `shots`, with two or more checkers on the bar: only the entering checkers hit."""
    rolls, pips = 0, 0
    for high in range(1, 7):
        for low in range(1, high + 1):
            count = 1 if high == low else 2
            hit = blots & ((BAR_BIT >> np.uint64(high)) | (BAR_BIT >> np.uint64(low)))
            rolls += count * _is_any(hit)
            pips += count * _highest_point(hit)
    return rolls, rolls, pips


@inline_kernel
def shots(shooters, on_bar, blots, blocks):
    """Rolls of 36 that hit, rolls that hit directly, and pips lost by the side hit, summed over 36 rolls.

    `shooters`: places of the side that shoots, with `on_bar` checkers on its bar; `blots` and
    `blocks`: single checkers and made points of the other side.  Direct means by one die.  Of
    several blots that a roll can hit the one that loses most is counted.
    """
    behind = (_ONE << np.uint64(63 - np.int64(leading_zeros(shooters | _ONE)))) - _ONE
    if blots & behind == 0:
        return 0, 0, 0
    open_points = ~blocks
    if on_bar == 0:
        return _shots_from_board(shooters, blots, open_points)
    if on_bar == 1:
        return _shots_from_bar(shooters, blots, open_points)
    return _shots_by_entering(blots)
