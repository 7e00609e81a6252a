"""Count the rolls that hit, the pips lost to them, and the rolls that let a checker escape a block.

All masks are in the numbering of the shooting side: bit p - 1 is point p and bit 24 is its bar.  Blots are
visited from the costliest to the cheapest, so that each roll counts for the costliest blot that it can hit.
A roll counts even if both dice must be played and a hit would leave the second one unplayed, which is rare.

Bit k of a set of rolls is ``ROLLS[k]``, one of 21 rolls; among the 36 rolls of two dice, a double occurs
once and any other roll twice.  Tables of rolls that cover a distance are relative to the target: bit d - 1
of a mask is the point d pips behind the target, from which a checker may shoot or where it may land on its
way.
"""

from itertools import permutations

import numpy as np
import numpy.typing as npt

from motif.board.movegen import ROLL_COUNTS, ROLLS
from motif.board.packed import ALL_POINTS, BAR_BIT, mirrored
from motif.compiler.jit import inline_kernel, leading_zeros, popcount
from motif.runtime.arrays import BoolArray

RollSets = npt.NDArray[np.uint32]
_DICE = 6
_FACES = range(1, _DICE + 1)
_NEAR = 1 << _DICE
_REACH = 12
"""Largest distance in the tables; `_long_doubles` finds longer shots."""


def roll_set(*wanted: tuple[int, int]) -> int:
    """Return the set of the rolls `wanted`, each with the higher die first."""
    return sum(1 << k for k, roll in enumerate(map(tuple, ROLLS.tolist())) if roll in wanted)


_SETS = {(high, low): roll_set((high, low)) for high, low in ROLLS.tolist()}
_DOUBLES = np.uint64(sum(_SETS[die, die] for die in _FACES))


def _joined(rolls: npt.ArrayLike, shown: BoolArray) -> RollSets:
    """Return the union of the sets `rolls` where `shown` is true, over the last axis."""
    sets: RollSets = np.bitwise_or.reduce(np.where(shown, rolls, 0), axis=-1).astype(np.uint32)
    return sets


def _to_distance(distance: int, is_open: BoolArray) -> RollSets:
    """Return the rolls that move one checker exactly `distance` pips with several dice: uint32 (n,).

    `is_open` (n, 6) says on which of the points 1 to 6 pips before the target the checker may land.
    """
    sets = np.zeros(len(is_open), np.uint32)
    for (high, low), roll in _SETS.items():
        if high != low:
            ways = [[low], [high]] if high + low == distance else []
        else:
            ways = [[high * k for k in range(1, n)] for n in (2, 3, 4) if high * n == distance]
        for way in ways:
            if max(way) <= _DICE:
                sets[is_open[:, np.array(way) - 1].all(axis=1)] |= np.uint32(roll)
    return sets


def _tables() -> tuple[RollSets, RollSets, RollSets, RollSets]:
    bits = (np.arange(_NEAR)[:, None] >> np.arange(_DICE) & 1).astype(np.bool_)
    with_die = _joined([roll_set(*(roll for roll in _SETS if die in roll)) for die in _FACES], bits)
    by_distance = np.stack([_to_distance(distance, bits) for distance in range(1, _REACH + 1)], axis=-1)
    near = _joined(by_distance[:, None, :_DICE], bits[None]) | with_die
    far = _joined(by_distance[:, None, _DICE:], bits[None])
    entering = np.zeros((_NEAR, _NEAR), np.uint32)
    for enters, hits in permutations(_FACES, 2):
        roll = np.uint32(_SETS[max(enters, hits), min(enters, hits)])
        entering |= np.where(np.outer(bits[:, enters - 1], bits[:, hits - 1]), roll, np.uint32(0))
    return with_die, near, far, entering


_WITH_DIE, _NEAR_SHOTS, _FAR_SHOTS, _ENTER_AND_HIT = _tables()
_DICE_BITS = np.uint64(_NEAR - 1)
_THREES, _FOURS, _FIVES, _SIXES = (np.uint64(_SETS[die, die]) for die in (3, 4, 5, 6))
_D3, _D4, _D5, _D6, _D8, _D9, _D10, _D12, _D15, _D16, _D18, _D20, _D24 = (
    np.uint64(d - 1) for d in (3, 4, 5, 6, 8, 9, 10, 12, 15, 16, 18, 20, 24)
)
_ONE = np.uint64(1)
_S6 = np.uint64(6)


@inline_kernel
def rolls_in(rolls):
    """Return how many of the 36 rolls are in a set."""
    return np.int64(popcount(rolls) + popcount(rolls & ~_DOUBLES))


@inline_kernel
def with_die(distances):
    """Return the rolls that contain a die whose distance is in the lowest six bits of `distances`."""
    return np.uint64(_WITH_DIE[distances & _DICE_BITS])


@inline_kernel
def shots_at(shooters, landing):
    """Return the rolls with which a checker on `shooters` hits the target when it may land on `landing`."""
    near_landing = landing & _DICE_BITS
    hit = np.uint64(_NEAR_SHOTS[near_landing, shooters & _DICE_BITS])
    hit |= np.uint64(_FAR_SHOTS[near_landing, (shooters >> _S6) & _DICE_BITS])
    return hit | _long_doubles(shooters, landing)


@inline_kernel
def _flag(bit, rolls):
    return (~(bit & _ONE) + _ONE) & rolls


@inline_kernel
def _long_doubles(shooters, landing):
    """Return the doubles that hit by way of a point more than six pips before the target."""
    threes = (landing >> _D3) & (landing >> _D6) & (landing >> _D9) & (shooters >> _D12)
    fours = (landing >> _D4) & (landing >> _D8)
    fours &= (shooters >> _D12) | ((landing >> _D12) & (shooters >> _D16))
    fives = (landing >> _D5) & (landing >> _D10)
    fives &= (shooters >> _D15) | ((landing >> _D15) & (shooters >> _D20))
    sixes = (landing >> _D6) & (landing >> _D12)
    sixes &= (shooters >> _D18) | ((landing >> _D18) & (shooters >> _D24))
    return _flag(threes, _THREES) | _flag(fours, _FOURS) | _flag(fives, _FIVES) | _flag(sixes, _SIXES)


@inline_kernel
def enter_and_hit(entries, hitting):
    """Return the rolls with one die in `entries` and a different die in the lowest six bits of `hitting`."""
    return np.uint64(_ENTER_AND_HIT[entries & _DICE_BITS, hitting & _DICE_BITS])


@inline_kernel
def _highest(mask):
    """Return the index of the highest bit of a mask that is not empty."""
    return np.uint64(63) - leading_zeros(mask)


@inline_kernel
def _shots_from_board(shooters, blots, open_points):
    """Return the result of `shots` with no checkers on the bar."""
    hitting, direct, pips = np.uint64(0), np.uint64(0), 0
    while blots:
        place = _highest(blots)
        blots ^= _ONE << place
        behind = (shooters >> place) >> _ONE
        hit = shots_at(behind, (open_points >> place) >> _ONE)
        pips += rolls_in(hit & ~hitting) * np.int64(place + _ONE)
        hitting |= hit
        direct |= with_die(behind)
    return rolls_in(hitting), rolls_in(direct), pips


@inline_kernel
def _doubles_from_bar(shooters, blots, open_points):
    """Return the result of `shots` with one checker on the bar, for the six doubles."""
    rolls, direct_rolls, pips = np.int64(0), np.int64(0), np.int64(0)
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
    """Return the result of `shots` with one checker on the bar, which must enter before other moves."""
    rolls, direct_rolls, pips = _doubles_from_bar(shooters, blots, open_points)
    entries = mirrored(open_points)  # bit d - 1 is die d, which enters at index 24 - d
    others = shooters & ~BAR_BIT
    hitting, direct = np.uint64(0), np.uint64(0)
    while blots:
        place = _highest(blots)
        blots ^= _ONE << place
        # Either the checker on the bar hits, or another checker hits with the die that is not used to
        # enter.
        hit = shots_at((BAR_BIT >> place) >> _ONE, (open_points >> place) >> _ONE)
        hit |= enter_and_hit(entries, (others >> place) >> _ONE)
        hit &= ~_DOUBLES
        pips += rolls_in(hit & ~hitting) * np.int64(place + _ONE)
        hitting |= hit
        direct |= hit & with_die((shooters >> place) >> _ONE)
    return rolls + rolls_in(hitting), direct_rolls + rolls_in(direct), pips


@inline_kernel
def _shots_by_entering(blots):
    """Return the result of `shots` with two or more checkers on the bar; only entering checkers hit."""
    hitting, pips = np.uint64(0), 0
    while blots:
        place = _highest(blots)
        blots ^= _ONE << place
        hit = with_die((BAR_BIT >> place) >> _ONE)
        pips += rolls_in(hit & ~hitting) * np.int64(place + _ONE)
        hitting |= hit
    return rolls_in(hitting), rolls_in(hitting), pips


@inline_kernel
def shots(shooters, on_bar, blots, blocks):
    """Return how many of the 36 rolls hit, how many hit directly, and the total pips lost to them.

    `shooters` is the mask of the shooting side, which has `on_bar` checkers on its bar; `blots` and
    `blocks` are the blots and points of the other side.  A direct hit takes one die.  Each roll counts for
    the costliest blot that it can hit.
    """
    behind = (_ONE << _highest(shooters | _ONE)) - _ONE
    blots &= behind
    if blots == 0:
        return 0, 0, 0
    if on_bar == 0:
        return _shots_from_board(shooters, blots, ~blocks)
    if on_bar == 1:
        return _shots_from_bar(shooters, blots, ~blocks)
    return _shots_by_entering(blots)


_REACH_MASK = np.uint64((1 << _REACH) - 1)
_BAR_INDEX = 24
_FIRST_BLOCKED = 15


def _escape_table() -> npt.NDArray[np.uint8]:
    """Count the rolls that one checker can play in full; bit d - 1 of the index blocks distance d.

    A roll counts if both the point at the sum of the dice and a point on the way are open; two dice of a
    double are considered.  (These are the "escapes" of Berliner and gnubg.)
    """
    is_open = ~(np.arange(1 << _REACH)[:, None] >> np.arange(_REACH) & 1).astype(np.bool_)
    high, low = ROLLS.T - 1
    runs = is_open[:, high + low + 1] & (is_open[:, high] | is_open[:, low])
    return (runs @ ROLL_COUNTS).astype(np.uint8)


_ESCAPES = _escape_table()


@inline_kernel
def escapes(index, blockers):
    """Return how many of the 36 rolls a checker at `index` (0 to 24, own numbering) can play in full.

    `blockers` are the points made by the other side, in the OTHER side's numbering.
    """
    ahead = ((blockers & ALL_POINTS) >> np.uint64(_BAR_INDEX - index)) & _REACH_MASK
    return np.int64(_ESCAPES[ahead])


@inline_kernel
def best_block(blockers):
    """Return how many of the 36 rolls a checker cannot play in full at the worst of the indices 15 to 24.

    `blockers` has the same meaning as in `escapes`.
    """
    least = np.uint8(36)
    for index in range(_FIRST_BLOCKED, _BAR_INDEX + 1):
        ahead = (blockers >> np.uint64(_BAR_INDEX - index)) & _REACH_MASK
        least = min(least, _ESCAPES[ahead])
    return 36 - np.int64(least)
