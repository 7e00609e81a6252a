"""Bearoffs of both sides with the cube: exact equities wherever the cube lies, by recursion over rolls.

Positions are pairs of home positions of which neither side has all fifteen checkers left, so that gammons
are impossible.  With N(s, i, j) what a player on roll has who rolls now, where the cube lies in state s, his
home position is i and the opponent's j; and V(s, i, j) what he has who may double first,

    V(s, i, j) = max(N(s, i, j), min(f N(d(s), i, j), passed(s)))        where he may double, else N(s, i, j)
    N(s, i, j) = sum over the 36 throws of (max over plays i -> k of the opponent's loss by V(s', j, k)) / 36

d(s) is the state after a double that is taken, s' the state s as the opponent sees it, and f what a unit of
the doubled cube is worth in units of the cube before.  Every play is the best one for its state of the cube.

For money there are three states, with equities in units of the cube (f = 2): so a doubled cube's are the same
again.  In a match every level of the cube has states of its own, with chances to win the match (f = 1).

For money the pairs of at most six checkers are kept in a file beside the other tables.
"""

from functools import cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.dice import ROLL_COUNTS, ROLLS
from motif.board.movegen import new_play_buffer
from motif.board.packed import PACKED_WORDS
from motif.evaluators.bearoff.lookup import TWO_SIDED_POSITIONS, home_words
from motif.evaluators.bearoff.one_sided import fill_plays
from motif.evaluators.bearoff.tables import keep_values, kept_values
from motif.runtime.files import cache_root
from motif.runtime.jit import NOTHING, lean_kernel
from motif.runtime.progress import Advance, progress

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

CENTRED, OWN, OPPONENTS = range(3)
"""The states of the cube for money: in the centre, with the player on roll, with his opponent."""
MONEY_STATES = 3
_DOUBLED_UNIT = 2.0
_THROWS = ROLL_COUNTS.sum()
_MAY_NOT = -1


class CubeRules(NamedTuple):
    """What games are worth in each of S states of the cube, to each of two players when he is on roll."""

    whole: float
    """What the values of both players add up to: 0 for equities, 1 for chances to win a match."""
    unit: float
    """What one of the doubled cube's units is worth in units before: 2, or 1 where values have no unit."""
    lost: Floats
    """(2, S): the value of a game lost."""
    passed: Floats
    """(2, S): the value of a double that is passed."""
    doubled: Numbers
    """(2, S): the state after his double is taken, as he sees it; -1 where he may not double."""
    turned: Numbers
    """(S,): the state as the other player sees it."""


def money_rules() -> CubeRules:
    """Money play; the states are `CENTRED`, `OWN` and `OPPONENTS`, values in units of the cube."""
    return CubeRules(
        whole=0.0,
        unit=_DOUBLED_UNIT,
        lost=np.full((2, MONEY_STATES), -1.0),
        passed=np.full((2, MONEY_STATES), 1.0),
        doubled=np.array([[OPPONENTS, OPPONENTS, _MAY_NOT]] * 2),
        turned=np.array([CENTRED, OPPONENTS, OWN]),
    )


class HomePlays(NamedTuple):
    """Home positions that one side can come to, from the empty one upwards, and its plays among them."""

    numbers: Numbers
    """(n,): the numbers of the positions, ascending; the first one is 0."""
    starts: Numbers
    """(n, 22): the plays of roll r of position i are ``after[starts[i, r]: starts[i, r + 1]]``."""
    after: Numbers
    """Places in `numbers` of the positions after each play."""


def home_plays_from(number: int) -> HomePlays:
    """The positions that come of home position `number`, itself included, and all plays of theirs."""
    wanted = np.zeros(number + 1, np.bool_)
    wanted[number] = True
    return _home_plays(wanted)


def _home_plays(wanted: npt.NDArray[np.bool_]) -> HomePlays:
    """`HomePlays` of the positions where `wanted` is set, which comes to hold all that they lead to."""
    count = len(wanted)
    starts = np.zeros((count, len(ROLLS) + 1), np.int64)
    words, board = home_words(count), np.zeros(PACKED_WORDS, np.int64)
    after = fill_plays(words, wanted, new_play_buffer(), board, starts)
    wanted[0] = True
    places = np.cumsum(wanted) - 1
    return HomePlays(np.flatnonzero(wanted), starts[wanted], places[after])


class PairValues(NamedTuple):
    """Values of all pairs of n and m home positions, of the player on roll."""

    rolled: Floats
    """(n, m, S): the cube is not turned before this roll."""
    best: Floats
    """(n, m, S): he may double first."""


def pair_values(
    rules: CubeRules, sides: tuple[HomePlays, HomePlays], advance: Advance
) -> tuple[PairValues, PairValues]:
    """The values by `rules` when the first of `sides` is on roll, and when the second is.

    `advance` hears of every sum of two places.  Where both sides have the same plays and the same values
    (the same object twice) the two results are one.
    """
    both = [_empty_values(rules, sides[k], sides[1 - k], k) for k in (0, 1)]
    symmetric = sides[0] is sides[1]
    if symmetric:
        both[1] = both[0]
    scratch = np.empty((2, len(rules.turned)))
    largest = sum(len(side.numbers) - 1 for side in sides)
    for total in range(2, largest + 1):
        for k in (0,) if symmetric else (0, 1):
            _add_pairs(
                *(total, sides[k].starts, sides[k].after, rules.whole, rules.unit, rules.passed[k]),
                *(rules.doubled[k], rules.turned, both[1 - k].best, both[k].rolled, both[k].best, scratch),
            )
        advance(1)
    return both[0], both[1]


def _empty_values(rules: CubeRules, own: HomePlays, other: HomePlays, player: int) -> PairValues:
    """Values with those of finished games, of the player on roll who is `player` in `rules`."""
    values = np.zeros((2, len(own.numbers), len(other.numbers), len(rules.turned)))
    values[:, 1:, 0] = rules.lost[player]
    values[:, 0, 1:] = rules.whole - rules.lost[1 - player][rules.turned]
    return PairValues(values[0], values[1])


@lean_kernel(NOTHING)
def _add_pairs(
    total, starts, after, whole, unit, passed, doubled, turned, others_best, rolled, best, scratch
):
    """Fill `rolled` and `best` of the pairs whose places add up to `total`; lower ones must be there."""
    states = turned.shape[0]
    worst, sums = scratch[0], scratch[1]
    for own in range(max(1, total - rolled.shape[1] + 1), min(rolled.shape[0], total)):
        opponent = total - own
        for state in range(states):
            sums[state] = 0.0
        for roll in range(ROLLS.shape[0]):
            start, end = starts[own, roll], starts[own, roll + 1]
            for state in range(states):
                worst[state] = others_best[opponent, after[start], state]
            for k in range(start + 1, end):
                play = after[k]
                for state in range(states):
                    value = others_best[opponent, play, state]
                    worst[state] = value if value < worst[state] else worst[state]
            for state in range(states):
                sums[state] += ROLL_COUNTS[roll] * (whole - worst[state])
        for state in range(states):
            rolled[own, opponent, state] = sums[turned[state]] / _THROWS
        for state in range(states):
            value = rolled[own, opponent, state]
            if doubled[state] >= 0:
                taken = unit * rolled[own, opponent, doubled[state]]
                value = max(value, min(taken, passed[state]))
            best[own, opponent, state] = value


FILE_NAME = "money-cubes-v1.bin"
_FORMAT = b"motif-money-cubes/1"
_SHAPE = (TWO_SIDED_POSITIONS, TWO_SIDED_POSITIONS, MONEY_STATES)
_one_at_a_time = Lock()


def money_cubes() -> Floats:
    """Exact money equities (924, 924, 3) without a double before this roll, read only: by the number of the
    player on roll, the opponent's, and `CENTRED`, `OWN` or `OPPONENTS`; in units of the cube.

    They are loaded or built by the first call in this process.  There is no such equity where either side
    has borne off everything: the game is over.
    """
    with _one_at_a_time:
        return _kept(cache_root() / "bearoff" / FILE_NAME)


def load_or_build_cubes(path: Path) -> Floats:
    """`money_cubes` from the file `path`; when it is missing or damaged they are built and written there.

    A folder that cannot be written is no error.
    """
    values = kept_values(path, _FORMAT)
    if values is None or values.size != np.prod(_SHAPE):
        values = keep_values(path, _FORMAT, build_money_cubes().reshape(-1))
    return values.reshape(_SHAPE)


def build_money_cubes() -> Floats:
    """`money_cubes`, made from the rules."""
    side = _home_plays(np.ones(TWO_SIDED_POSITIONS, np.bool_))
    with progress("building cubeful bearoff tables", 2 * TWO_SIDED_POSITIONS) as advance:
        return pair_values(money_rules(), (side, side), advance)[0].rolled


_kept = cache(load_or_build_cubes)
