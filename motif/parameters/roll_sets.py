"""Sets of rolls as bits of a number, and tables of those that reach a distance.

Bit k of a set stands for ``ROLLS[k]``, the 21 different rolls; of 36, a double counts once and any
other roll twice.  Distances are seen from the target: bit d - 1 of a mask is the place d pips behind
it, where a checker may shoot from, or land on its way.
"""

import numpy as np
import numpy.typing as npt

from motif.board.dice import ROLLS
from motif.runtime.jit import inline_kernel, popcount

RollSets = npt.NDArray[np.uint32]

_DICE = 6
_NEAR = 1 << _DICE
_REACH = 12
"""Farthest distance that the tables know; what doubles reach beyond is worked out by `long_doubles`."""


def roll_set(*wanted: tuple[int, int]) -> int:
    """The set of the rolls `wanted`, each with the higher die first."""
    return sum(1 << k for k, roll in enumerate(map(tuple, ROLLS.tolist())) if roll in wanted)


_SETS = {(high, low): roll_set((high, low)) for high, low in ROLLS.tolist()}
_DOUBLES = np.uint64(sum(_SETS[die, die] for die in range(1, _DICE + 1)))


def _with_die(distances: int) -> int:
    """Rolls that show a die among `distances`, a mask of 1 to 6."""
    shown = [die for die in range(1, _DICE + 1) if distances >> (die - 1) & 1]
    return roll_set(*(roll for roll in _SETS if set(roll) & set(shown)))


def _to_distance(distance: int, landing: int) -> int:
    """Rolls that bring one checker exactly `distance` pips, by several dice.

    `landing`: the open places among those 1 to 6 pips before the target; the way may lead through
    these alone.
    """
    found = 0
    for (high, low), roll in _SETS.items():
        if high != low:
            ways = [[low], [high]] if high + low == distance else []
        else:
            ways = [[high * k for k in range(1, n)] for n in (2, 3, 4) if high * n == distance]
        for way in ways:
            if all(place <= _DICE and landing >> (place - 1) & 1 for place in way):
                found |= roll
    return found


def _tables() -> tuple[RollSets, RollSets, RollSets, RollSets]:
    with_die = np.array([_with_die(mask) for mask in range(_NEAR)], np.uint32)
    by_distance = [[_to_distance(d, mask) for mask in range(_NEAR)] for d in range(_REACH + 1)]
    near, far, entering = np.zeros((3, _NEAR, _NEAR), np.uint32)
    for landing in range(_NEAR):
        for shooters in range(_NEAR):
            near[landing, shooters] = with_die[shooters]
            for bit in range(_DICE):
                if shooters >> bit & 1:
                    near[landing, shooters] |= np.uint32(by_distance[bit + 1][landing])
                    far[landing, shooters] |= np.uint32(by_distance[bit + 1 + _DICE][landing])
    for entries in range(_NEAR):
        for hitting in range(_NEAR):
            for high, low in _SETS:
                for enters, hits in ((high, low), (low, high)):
                    if high != low and entries >> (enters - 1) & 1 and hitting >> (hits - 1) & 1:
                        entering[entries, hitting] |= np.uint32(_SETS[high, low])
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
    """How many of the 36 rolls are in a set."""
    return np.int64(popcount(rolls) + popcount(rolls & ~_DOUBLES))


@inline_kernel
def without_doubles(rolls):
    """The rolls of a set whose dice differ."""
    return rolls & ~_DOUBLES


@inline_kernel
def with_die(distances):
    """Rolls that show a die among the lowest six of `distances`."""
    return np.uint64(_WITH_DIE[distances & _DICE_BITS])


@inline_kernel
def shots_at(shooters, landing):
    """Rolls with which a checker on `shooters` hits the target when it may land on `landing`."""
    near_landing = landing & _DICE_BITS
    hit = np.uint64(_NEAR_SHOTS[near_landing, shooters & _DICE_BITS])
    hit |= np.uint64(_FAR_SHOTS[near_landing, (shooters >> _S6) & _DICE_BITS])
    return hit | _long_doubles(shooters, landing)


@inline_kernel
def _flag(bit, rolls):
    return (~(bit & _ONE) + _ONE) & rolls


@inline_kernel
def _long_doubles(shooters, landing):
    """Doubles that hit by way of a place more than six pips before the target."""
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
    """Rolls of two different dice, one of `entries` and the other among the lowest six of `hitting`."""
    return np.uint64(_ENTER_AND_HIT[entries & _DICE_BITS, hitting & _DICE_BITS])
