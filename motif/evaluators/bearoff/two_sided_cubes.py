"""Exact equities of bearoffs, with and without a cube, by recursion over rolls.

Positions are pairs of home positions in which neither side has all fifteen checkers left, so that gammons are
impossible. N(s, i, j) is the value for the player on roll without a double: the cube is in state s, their
home position is i, and the opponent's is j. V(s, i, j) is the value before a possible double,

    V(s, i, j) = max(N(s, i, j), min(f N(d(s), i, j), passed(s)))   if a double is allowed, else N(s, i, j)
    N(s, i, j) = sum over the 36 rolls of (max over plays i -> k of the opponent's loss by V(s', j, k)) / 36

d(s) is the state after a double and a take, s' the state s from the opponent's side, and f the value of a
unit of the doubled cube in units of the old cube. The best play is found for each cube state.

Without a cube there is one state. In money play there are three; equities are in units of the cube (f = 2),
so they do not depend on its value. In a match every cube level has its own states, and values are match
winning chances (f = 1).

The money equities for at most six checkers on each side are stored in a file beside the other tables.
"""

from functools import cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np

from motif.board.movegen import ROLL_COUNTS, ROLLS, new_play_buffer
from motif.board.packed import PACKED_WORDS
from motif.compiler.jit import NOTHING, inline_kernel, lean_kernel
from motif.evaluators.bearoff.lookup import TWO_SIDED_POSITIONS, home_words
from motif.evaluators.bearoff.one_sided import fill_plays
from motif.evaluators.bearoff.table_files import keep_values, kept_values
from motif.runtime.arrays import BoolArray, FloatArray, IntArray
from motif.runtime.cache_folder import cache_folder
from motif.runtime.progress import Advance, progress
from motif.runtime.streams import DICE_PAIRS

CENTRED, OWN, OPPONENTS = range(3)
"""Cube states in money play: centred, owned by the player on roll, owned by the opponent."""
MONEY_STATES = 3
_DOUBLED_UNIT = 2.0
_MAY_NOT = -1
_ROWS_AT_ONCE = 32


class CubeRules(NamedTuple):
    """Values of results for each player on roll and each of S cube states."""

    whole: float
    """The sum of both players' values: 0 for equities, 1 for match winning chances."""
    unit: float
    """Value of a unit of the doubled cube in units of the old cube: 2, or 1 if values have no unit."""
    lost: FloatArray
    """(2, S): the value of a lost game."""
    passed: FloatArray
    """(2, S): the value of a passed double."""
    doubled: IntArray
    """(2, S): the state after a double and a take; -1 if not allowed."""
    turned: IntArray
    """(S,): the state from the other player's side."""


def money_rules() -> CubeRules:
    """Return the rules of money play: states `CENTRED`, `OWN` and `OPPONENTS`, values in cube units."""
    return CubeRules(
        whole=0.0,
        unit=_DOUBLED_UNIT,
        lost=np.full((2, MONEY_STATES), -1.0),
        passed=np.full((2, MONEY_STATES), 1.0),
        doubled=np.array([[OPPONENTS, OPPONENTS, _MAY_NOT]] * 2),
        turned=np.array([CENTRED, OPPONENTS, OWN]),
    )


def cubeless_rules() -> CubeRules:
    """Return the rules without a cube: one state, values in points."""
    return CubeRules(
        whole=0.0,
        unit=1.0,
        lost=np.full((2, 1), -1.0),
        passed=np.full((2, 1), 1.0),
        doubled=np.full((2, 1), _MAY_NOT),
        turned=np.zeros(1, np.int64),
    )


class HomePlays(NamedTuple):
    """Home positions that one side can reach, in ascending order, and the plays between them."""

    numbers: IntArray
    """(n,): the numbers of the positions, ascending; the first one is 0."""
    starts: IntArray
    """(n, 22): the plays of roll r of position i are ``after[starts[i, r]: starts[i, r + 1]]``."""
    after: IntArray
    """Indices in `numbers` of the positions after each play."""


def home_plays_from(number: int) -> HomePlays:
    """Return the positions reachable from home position `number`, itself included, and all their plays."""
    wanted = np.zeros(number + 1, np.bool_)
    wanted[number] = True
    return _home_plays(wanted)


def all_home_plays(count: int) -> HomePlays:
    """Return the home positions below the number `count`, and all their plays."""
    return _home_plays(np.ones(count, np.bool_))


def _home_plays(wanted: BoolArray) -> HomePlays:
    """Return the `HomePlays` of the `wanted` positions and of all positions reached from them."""
    count = len(wanted)
    starts = np.zeros((count, len(ROLLS) + 1), np.int64)
    words, board = home_words(count), np.zeros(PACKED_WORDS, np.int64)
    after = fill_plays(words, wanted, new_play_buffer(), board, starts)
    wanted[0] = True
    places = np.cumsum(wanted) - 1
    return HomePlays(np.flatnonzero(wanted), starts[wanted], places[after])


def pair_values(rules: CubeRules, sides: tuple[HomePlays, HomePlays], advance: Advance) -> FloatArray:
    """Return the values (2, n, m, S) of all pairs of the n and m home positions of `sides`, by `rules`.

    The axes are the player on roll, the first player's position, the second player's position, and the cube
    state from the perspective of the player on roll. Values are without a double before this roll. `advance`
    is called for each position of the first player.
    """
    first, second = sides
    shape = 2, len(first.numbers), len(second.numbers), len(rules.turned)
    rolled = np.zeros(shape)
    lost, won = rules.lost, (rules.whole - rules.lost[:, rules.turned])[::-1]
    rolled[0, 1:, 0], rolled[0, 0, 1:] = lost[0], won[0]
    rolled[1, 0, 1:], rolled[1, 1:, 0] = lost[1], won[1]
    best = rolled.copy()
    scratch = np.empty((3, shape[2] * shape[3]))
    for start in range(1, shape[1], _ROWS_AT_ONCE):
        stop = min(start + _ROWS_AT_ONCE, shape[1])
        _add_rows(start, stop, first[1:], second[1:], rules, rolled, best, scratch)
        advance(stop - start)
    return rolled


@lean_kernel(NOTHING)
def _add_rows(first, last, own_plays, others_plays, rules, rolled, best, scratch):
    """Fill `rolled` and `best` for the positions `first` to `last` - 1 of the first player.

    The values of lower positions must be filled already.
    """
    starts, after = own_plays
    others_starts, others_after = others_plays
    whole, unit, passed, doubled, turned = rules.whole, rules.unit, rules.passed, rules.doubled, rules.turned
    for own in range(first, last):
        _roll_first(own, starts, after, whole, turned, best[1], rolled[0, own], scratch)
        _double(rolled[0, own], unit, passed[0], doubled[0], best[0, own])
        _roll_second(others_starts, others_after, whole, turned, best[0, own], rolled[1, own], scratch[0])
        _double(rolled[1, own], unit, passed[1], doubled[1], best[1, own])


@lean_kernel(NOTHING)
def _roll_first(own, starts, after, whole, turned, others_best, rolled, scratch):
    """Return the first player's values in position `own` against all of the second's, (m, S).

    The plays do not depend on the opponent's position, so whole rows are compared.
    """
    positions, states = rolled.shape
    worst, sums = scratch[0], scratch[1]
    sums[:] = 0.0
    for roll in range(ROLLS.shape[0]):
        worst[:] = np.inf
        for k in range(starts[own, roll], starts[own, roll + 1]):
            _lower_row(others_best[after[k]], worst)
        times = ROLL_COUNTS[roll]
        for place in range(sums.shape[0]):
            sums[place] += times * (whole - worst[place])
    for opponent in range(1, positions):
        for state in range(states):
            rolled[opponent, state] = sums[opponent * states + turned[state]] / DICE_PAIRS


@inline_kernel
def _lower_row(values, worst):
    positions, states = values.shape
    for place in range(positions):
        for state in range(states):
            value = values[place, state]
            k = place * states + state
            worst[k] = value if value < worst[k] else worst[k]


@lean_kernel(NOTHING)
def _roll_second(starts, after, whole, turned, others_best, rolled, values):
    """Return the second player's values in all positions against one of the first's, (m, S)."""
    positions, states = rolled.shape
    for state in range(states):
        for place in range(positions):
            values[place] = others_best[place, turned[state]]
        for own in range(1, positions):
            total = 0.0
            for roll in range(ROLLS.shape[0]):
                worst = values[after[starts[own, roll]]]
                for k in range(starts[own, roll] + 1, starts[own, roll + 1]):
                    value = values[after[k]]
                    worst = value if value < worst else worst
                total += ROLL_COUNTS[roll] * (whole - worst)
            rolled[own, state] = total / DICE_PAIRS


@inline_kernel
def _double(rolled, unit, passed, doubled, best):
    """Write the values (m, S) for the player on roll, who may double first."""
    positions, states = rolled.shape
    for place in range(1, positions):
        for state in range(states):
            value = rolled[place, state]
            if doubled[state] >= 0:
                value = max(value, min(unit * rolled[place, doubled[state]], passed[state]))
            best[place, state] = value


MONEY_CUBES_FILE = "money-cubes-v1.bin"
_FORMAT = b"motif-money-cubes/1"
_SHAPE = (TWO_SIDED_POSITIONS, TWO_SIDED_POSITIONS, MONEY_STATES)
_one_at_a_time = Lock()


def money_cubes() -> FloatArray:
    """Return the exact money equities (924, 924, 3) without a double before this roll, read only.

    The axes are the position number of the player on roll, that of the opponent, and the cube state
    `CENTRED`, `OWN` or `OPPONENTS`; equities are in units of the cube. The first call in this process loads
    or builds them. Entries of finished games, in which one side has borne off all checkers, have no meaning.
    """
    with _one_at_a_time:
        return _kept(cache_folder("bearoff") / MONEY_CUBES_FILE)


def load_or_build_cubes(path: Path) -> FloatArray:
    """Return `money_cubes` from the file `path`; if it is missing or damaged, build and write them.

    A folder that cannot be written is not an error.
    """
    values = kept_values(path, _FORMAT)
    if values is None or values.size != np.prod(_SHAPE):
        values = keep_values(path, _FORMAT, build_money_cubes().reshape(-1))
    return values.reshape(_SHAPE)


def build_money_cubes() -> FloatArray:
    """Return `money_cubes`, built from the rules."""
    side = all_home_plays(TWO_SIDED_POSITIONS)
    with progress("building cubeful bearoff tables", TWO_SIDED_POSITIONS) as advance:
        return np.ascontiguousarray(pair_values(money_rules(), (side, side), advance)[0])


_kept = cache(load_or_build_cubes)
