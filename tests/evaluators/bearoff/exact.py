"""Bearoffs computed in fractions from the rules, independently of motif's tables.

A side is a tuple of six numbers: its checkers on points 1 to 6.
"""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product

from tests.board.oracle import boards_after

Side = tuple[int, ...]
Chances = dict[int, Fraction]

THROWS = Counter(tuple(sorted(dice, reverse=True)) for dice in product(range(1, 7), repeat=2))
"""The number of ways to roll each roll, of 36, with the higher die first."""
CHECKERS = 15


def sides(most: int) -> list[Side]:
    """All sides with at most `most` checkers, in the order of their numbers.

    The order: fewer checkers first; then fewer beyond the 1 point, beyond the 2 point and so on.
    """
    found = [side for side in product(range(most + 1), repeat=6) if sum(side) <= most]
    return sorted(found, key=order)


def order(side: Side) -> Side:
    """The sort key of sides."""
    return tuple(sum(side[k:]) for k in range(6))


@cache
def after(side: Side, roll: tuple[int, int]) -> frozenset[Side]:
    """All sides that a legal play of `roll` can lead to."""
    board = (0, *side, *[0] * 19)
    return frozenset(left[1:7] for left in boards_after(board, roll))


@cache
def all_off(side: Side) -> Chances:
    """Probabilities of each number of rolls until all checkers are off, with plays that need the fewest on
    average.
    """
    return {0: Fraction(1)} if not any(side) else _one_roll_more(side, all_off)


@cache
def first_off(side: Side) -> Chances:
    """The same, until the first of fifteen checkers is off."""
    return {0: Fraction(1)} if sum(side) < CHECKERS else _one_roll_more(side, first_off)


@cache
def equity(own: Side, opponent: Side) -> Fraction:
    """Equity of the player on roll under best play by both sides, without gammons."""
    if not any(opponent):
        return Fraction(-1)
    best = {roll: max(-equity(opponent, left) for left in after(own, roll)) for roll in THROWS}
    return sum((times * best[roll] for roll, times in THROWS.items()), Fraction(0)) / 36


@cache
def rolled(own: Side, opponent: Side, owner: str) -> Fraction:
    """Money equity of the player on roll, in units of the cube, without a double before this roll.

    `owner` of the cube: ``own`` (the player on roll), ``opponent`` or ``nobody``.
    """
    if not any(opponent):
        return Fraction(-1)
    seen = {"own": "opponent", "opponent": "own", "nobody": "nobody"}[owner]
    best = {roll: max(-with_a_double(opponent, left, seen) for left in after(own, roll)) for roll in THROWS}
    return sum((times * best[roll] for roll, times in THROWS.items()), Fraction(0)) / 36


def with_a_double(own: Side, opponent: Side, owner: str) -> Fraction:
    """The same for a player who may double first, unless the opponent owns the cube."""
    waits = rolled(own, opponent, owner)
    if owner == "opponent" or not any(opponent):
        return waits
    return max(waits, min(2 * rolled(own, opponent, "opponent"), Fraction(1)))


def mean(chances: Chances) -> Fraction:
    """Mean number of rolls."""
    return sum((rolls * chance for rolls, chance in chances.items()), Fraction(0))


def _one_roll_more(side: Side, chances_of) -> Chances:
    total: Counter[int] = Counter()
    for roll, times in THROWS.items():
        best = min(after(side, roll), key=lambda left: (mean(chances_of(left)), order(left)))
        for rolls, chance in chances_of(best).items():
            total[rolls + 1] += times * chance / 36
    return dict(total)
