"""What positions are worth with a doubling cube: Janowski's model, and the decision to double.

The player on roll may double before the roll.  So a position is worth the most of what it is without a
double, and of what it is after one that the opponent answers as is best:

    value = max(no double, min(double and take, double and pass))

as gnubg's `EvaluatePositionCubeful` has it.  Without a double, and after one that was taken, values are exact
where the tables of bearoffs with the cube know them; elsewhere they are those of the model.

The model moves the chance to win, while the shares of gammons among wins and among losses stay.  Equity
over that chance is a curve of straight lines: a dead cube gives one line from losing to winning; a live
cube gives lines between the points at which somebody cashes; and the equity at efficiency x lies the part
x of the way from the dead line to the live ones.

For money, with W and L the average value of a win and of a loss in points, a live cube is taken from
(L - 1/2) / (W + L + 1/2) and cashed from (L + 1) / (W + L + 1/2) on.

In a match the cash points of a live cube are found from the highest cube that still matters downwards; at
that cube a player to whom more points are of no use any more is redoubled at once, which raises the cube
once more before the game is played out.

The cube efficiency x says how much of a perfectly live cube's worth a cube has, by class of position: see
`motif.doubling.equities`.

Sources: Rick Janowski, Take-Points in Money Games (1993), in the form of gnubg's `Cl2CfMoney`; for matches
the model of gnubg (Joern Thyssen's `GetPoints` and `Cl2CfMatch`).
"""

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.packed import HOME_POINTS, PACKED_WORDS, checkers_in, occupied, pips_in
from motif.compiler.jit import DOUBLE, DOUBLES, FLAG, NOTHING, inline_kernel, kernel, lean_kernel, words_of
from motif.evaluators.bearoff.lookup import all_home, home_number
from motif.evaluators.probabilities import (
    LOSE_BACKGAMMON,
    LOSE_GAMMON,
    OUTPUTS,
    WIN,
    WIN_BACKGAMMON,
    WIN_GAMMON,
    equity_of,
)
from motif.parameters.position_class import CLASS_NAMES, CONTACT, CRASHED, RACE, classify

CUBELESS, DEAD, MONEY, MATCH = range(4)
"""Kinds of stakes: money without a cube; a cube that nobody can use; for money; in a match."""
OWN_CUBE, CENTRED, OPPONENTS_CUBE = 1, 0, -1
"""Where the cube lies."""
EVEN = 3
"""The column of `Stakes.worth` from which points are counted."""
BEAROFF_CODE = len(CLASS_NAMES)
"""The class, for the cube's efficiency, of a race in which both sides have all their checkers at home."""
NUMBERS = ("contact", "crashed", "bearoff", "race_base", "race_per_pip", "race_lowest", "race_highest")
"""The numbers that give the efficiency of every position: see `motif.doubling.equities.Efficiency`."""
_CONTACT, _CRASHED, _BEAROFF, _RACE_BASE, _RACE_PER_PIP, _RACE_LOWEST, _RACE_HIGHEST = range(len(NUMBERS))
_ENDS = 4
"""Points of a curve: nothing won, the two cash points, everything won."""


NO_DOUBLE = -1
"""In place of a state where a double is of no use."""
MAX_STATES = 16
"""States of the cube, at most, that are valued by themselves: see `Stakes.like`."""
_OPPONENT = PACKED_WORDS // 2
_BEAVERED = 2.0
"""What a unit is worth that the cube was beavered for, in units before the beaver."""


class Stakes(NamedTuple):
    """What is at stake in a state of the match, the root, and in the S states of the cube that follow.

    Values are normalised equities of the root: -1 and 1 are a single game lost and won at its cube.  Side 0
    is the player on roll in the root, side 1 the opponent; each has an own view of the values, and those of
    the two add up to 0.
    """

    state: int
    """Which of the S states the cube is in."""
    kind: npt.NDArray[np.int64]
    """(S,): each one of `CUBELESS`, `DEAD`, `MONEY`, `MATCH`."""
    owner: npt.NDArray[np.int64]
    """(S,): of side 0, each one of `OWN_CUBE`, `CENTRED`, `OPPONENTS_CUBE`."""
    last: npt.NDArray[np.int64]
    """(S,): in a match the level of the last cube whose double may be of use to both."""
    worth: npt.NDArray[np.float64]
    """(S, 2, levels, 7): to each side a game of -3 to 3 cubes, each doubled as often as the level says."""
    played_out: npt.NDArray[np.int64]
    """(S, 2): in a match the level at which the game is played out after either side's last double."""
    efficiency: npt.NDArray[np.float64]
    """The `NUMBERS` of the cube's efficiency."""
    cube: npt.NDArray[np.int64]
    """(S,): what the cube shows."""
    doubled: npt.NDArray[np.int64]
    """(S, 2): the state when a double of either side is taken; or `NO_DOUBLE`."""
    like: npt.NDArray[np.int64]
    """(S,): the first state whose values are those of this one but for the `ratio`."""
    ratio: npt.NDArray[np.float64]
    """(S,)"""
    beavers: bool
    """Whether a double may be beavered."""
    exact: npt.NDArray[np.float64]
    """(V, n, n, T): exact values, without a double before this roll, of the player on roll: seen by either
    side, or by both alike where V is 1; by the numbers of the player's home position and the opponent's."""
    column: npt.NDArray[np.int64]
    """(S, 2): where in `exact` each state stands when either side is on roll."""
    middle: npt.NDArray[np.float64]
    """(2,): the entry of `exact` that stands for the equity 0 of either side."""
    factor: npt.NDArray[np.float64]
    """(S,): equity for each unit of `exact`."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Large tables are made again, or found, where the stakes arrive.
        maker = next((maker for array, maker in _SHARED_TABLES if array is self.exact), None)
        if maker is None:
            return Stakes, tuple(self)
        return _with_exact, (tuple(self._replace(exact=_NO_EXACT)), maker)

    @property
    def kind_now(self) -> int:
        """The kind of the state that the cube is in."""
        return int(self.kind[self.state])

    @property
    def is_cubeless(self) -> bool:
        """Whether this is money play without a cube."""
        return self.kind_now == CUBELESS


_NO_EXACT = np.zeros((1, 0, 0, 1))
_ExactTable = npt.NDArray[np.float64]
_SHARED_TABLES: deque[tuple[_ExactTable, Callable[[], _ExactTable]]] = deque(maxlen=64)
"""Tables of exact values that many stakes share, and what gives each of them."""


def share_exact(table: _ExactTable, maker: Callable[[], _ExactTable]) -> _ExactTable:
    """Give `table` for `Stakes.exact`, to be sent to other processes as its `maker`."""
    if all(array is not table for array, _ in _SHARED_TABLES):
        _SHARED_TABLES.append((table, maker))
    return table


def _with_exact(fields: tuple[Any, ...], maker: Callable[[], _ExactTable]) -> Stakes:
    return Stakes(*fields)._replace(exact=maker())


def one_state(
    kind: int,
    owner: int,
    last: int,
    worth: npt.NDArray[np.float64],
    played_out: npt.NDArray[np.int64],
    efficiency: npt.NDArray[np.float64],
) -> Stakes:
    """Stakes with a cube that stays where it lies; see the fields of `Stakes`, here of one state."""
    return Stakes(
        0,
        np.array([kind], np.int64),
        np.array([owner], np.int64),
        np.array([last], np.int64),
        worth[None],
        played_out[None],
        efficiency,
        np.ones(1, np.int64),
        np.full((1, 2), NO_DOUBLE, np.int64),
        np.zeros(1, np.int64),
        np.ones(1),
        False,
        _NO_EXACT,
        np.zeros((1, 2), np.int64),
        np.zeros(2),
        np.ones(1),
    )


_MONEY_POINTS = np.tile(np.arange(-3.0, 4.0), (2, 1, 1))
NO_CUBE = one_state(CUBELESS, CENTRED, 0, _MONEY_POINTS, np.zeros(2, np.int64), np.zeros(len(NUMBERS)))
"""The stakes of money play without a cube."""


def without_cube(stakes: Stakes) -> Stakes:
    """Return the same ends of the game, with a cube that nobody can use."""
    if stakes.is_cubeless:
        return stakes
    state = stakes.state
    worth, played_out = stakes.worth[state], stakes.played_out[state]
    dead = one_state(DEAD, int(stakes.owner[state]), 0, worth, played_out, stakes.efficiency)
    return dead._replace(cube=stakes.cube[state : state + 1])


def gammon_values(stakes: Stakes) -> tuple[float, float]:
    """Return what a gammon won, and one lost, adds to a single game, in units of its range.

    For money each is 0.5.
    """
    worth = stakes.worth[stakes.state, 0, 0]
    lost, single_lost, _, single_won, won = worth[EVEN - 2 : EVEN + 3].tolist()
    whole = single_won - single_lost
    return (won - single_won) / whole, (single_lost - lost) / whole


@inline_kernel
def pips_of_mover(words):
    """Pips that the player on roll of a packed board int64[8] still needs."""
    pips = 0
    for k in range(PACKED_WORDS // 2):
        word = np.uint64(words[k])
        pips += pips_in(word) + 8 * k * checkers_in(word)
    return pips


@inline_kernel
def efficiency_code(words, packed):
    """Return the class of a packed board for the cube's efficiency: its position class, or `BEAROFF_CODE`."""
    own, opponent = occupied(words, 0), occupied(words, PACKED_WORDS // 2)
    code = classify(words, packed, own, opponent)
    return BEAROFF_CODE if code == RACE and (own | opponent) & ~HOME_POINTS == 0 else code


@inline_kernel
def efficiency_at(numbers, words, packed):
    """Return the cube's efficiency x in a packed board, from the `NUMBERS`."""
    code = efficiency_code(words, packed)
    if code == CONTACT:
        return numbers[_CONTACT]
    if code == CRASHED:
        return numbers[_CRASHED]
    if code == BEAROFF_CODE:
        return numbers[_BEAROFF]
    x = numbers[_RACE_BASE] + numbers[_RACE_PER_PIP] * pips_of_mover(words)
    return min(max(x, numbers[_RACE_LOWEST]), numbers[_RACE_HIGHEST])


@inline_kernel
def _chance(value):
    return min(max(value, 0.0), 1.0)


@inline_kernel
def _share(part, whole):
    """`part` of `whole`, at most all of it; none of nothing."""
    return min(_chance(part) / whole, 1.0) if whole > 0 else 0.0


@inline_kernel
def _ends_of(row):
    """Return how games end, of five cumulative probabilities.

    The chance to win, the shares of gammons and of backgammons among the wins, and those among the
    losses.
    """
    win = _chance(row[WIN])
    wins = _share(row[WIN_GAMMON], win), _share(row[WIN_BACKGAMMON], win)
    return win, wins, (_share(row[LOSE_GAMMON], 1 - win), _share(row[LOSE_BACKGAMMON], 1 - win))


@inline_kernel
def _average(worth, level, sign, shares):
    """Return what a win (`sign` 1) or loss (-1) is worth on average at one level of the cube."""
    single, gammon = worth[level, EVEN + sign], worth[level, EVEN + 2 * sign]
    backgammon = worth[level, EVEN + 3 * sign]
    return single + (gammon - single) * shares[0] + (backgammon - gammon) * shares[1]


@inline_kernel
def _money_cash_point(worth, wins, losses):
    """Return the live cube's cash point.

    The next level's worth is that of all games with a cube that was turned.
    """
    win, loss = _average(worth, 1, 1, wins), _average(worth, 1, -1, losses)
    return (2 * worth[0, EVEN + 1] - loss) / (win - loss + worth[0, EVEN + 1])


@inline_kernel
def _last_cash_point(worth, last, played_out, wins, losses):
    """Where the doubled cube is of no more use to one of the players."""
    lose = _average(worth, played_out, -1, losses)
    return (lose - worth[last, EVEN + 1]) / (lose - _average(worth, played_out, 1, wins))


@inline_kernel
def _live_cash_point(worth, level, wins, next_cash):
    """Where the opponent, who then owns the doubled cube, may cash it from `next_cash` on."""
    win, drop = _average(worth, level + 1, 1, wins), worth[level, EVEN + 1]
    return 1 - next_cash * (drop - win) / (worth[level + 1, EVEN - 1] - win)


@inline_kernel
def _cash_points(stakes, state, side, wins, losses):
    """Chances to win the game from which `side`, and the other side on its part, cash with a live cube."""
    own, other = stakes.worth[state, side], stakes.worth[state, 1 - side]
    if stakes.kind[state] == MONEY:
        return _money_cash_point(own, wins, losses), _money_cash_point(other, losses, wins)
    last, played_out = stakes.last[state], stakes.played_out[state]
    own_cash = _last_cash_point(own, last, played_out[side], wins, losses)
    other_cash = _last_cash_point(other, last, played_out[1 - side], losses, wins)
    for level in range(last - 1, -1, -1):
        then = own_cash
        own_cash = _live_cash_point(own, level, wins, other_cash)
        other_cash = _live_cash_point(other, level, losses, then)
    return own_cash, other_cash


@inline_kernel
def _curve(stakes, state, side, x, wins, losses):
    """Return the equity at efficiency `x` over the chance to win, by its four points.

    Their chances and equities.

    A point that would lie before its predecessor is moved there.  Where somebody cannot double, that point
    is an end.
    """
    worth, kind = stakes.worth[state, side], stakes.kind[state]
    lose, win = _average(worth, 0, -1, losses), _average(worth, 0, 1, wins)
    take, cash = 0.0, 1.0
    live_take, live_cash = lose, win
    if kind != DEAD:
        owner = stakes.owner[state] if side == 0 else -stakes.owner[state]
        own_cash, other_cash = _cash_points(stakes, state, side, wins, losses)
        if owner != OWN_CUBE:
            take, live_take = _chance(1 - other_cash), worth[0, EVEN - 1]
        if owner != OPPONENTS_CUBE:
            cash, live_cash = max(_chance(own_cash), take), worth[0, EVEN + 1]
    dead_take, dead_cash = lose + (win - lose) * take, lose + (win - lose) * cash
    live = dead_take + x * (live_take - dead_take), dead_cash + x * (live_cash - dead_cash)
    return (0.0, take, cash, 1.0), (lose, live[0], live[1], win)


@inline_kernel
def _between(chance, left, right, low, high):
    return low + (high - low) * ((chance - left) / (right - left))


@inline_kernel
def _at(chances, values, chance):
    """Return the equity of a curve of four points at one chance to win."""
    if chance >= 1:
        return values[3]
    if chance > chances[2]:
        return _between(chance, chances[2], chances[3], values[2], values[3])
    if chance > chances[1]:
        return _between(chance, chances[1], chances[2], values[1], values[2])
    if chance > 0:
        return _between(chance, chances[0], chances[1], values[0], values[1])
    return values[0]


@lean_kernel(FLAG)
def is_known(stakes, words):
    """Whether the exact tables of `stakes` have the packed board `words` int64[8]."""
    if not all_home(words):
        return False
    positions = stakes.exact.shape[1]
    return home_number(words[0]) < positions and home_number(words[_OPPONENT]) < positions


@inline_kernel
def _exact_value(stakes, state, side, words):
    """Return what a board that the tables know is worth to `side`, on roll, without a double."""
    own, opponent = home_number(words[0]), home_number(words[_OPPONENT])
    value = stakes.exact[side % stakes.exact.shape[0], own, opponent, stakes.column[state, side]]
    return (value - stakes.middle[side]) * stakes.factor[state]


@inline_kernel
def _model_value(stakes, state, side, x, ends):
    """Return what a board is worth to `side`, on roll, without a double, by the model at efficiency `x`."""
    chance, wins, losses = ends
    chances, values = _curve(stakes, state, side, x, wins, losses)
    return _at(chances, values, chance)


@inline_kernel
def value_held(stakes, state, side, words, packed, row, known):
    """Return what a board is worth to `side`, on roll, without a double before this roll.

    `known`, if it is exact.

    In normalised equity of the root; see `Stakes`.  `words` int64[8] and `packed` int8[64] are the board
    as `side` sees it, `row` its five cumulative probabilities for `side`.
    """
    if stakes.kind[state] == CUBELESS:
        return equity_of(row)
    if known:
        return _exact_value(stakes, state, side, words)
    x = 0.0 if stakes.kind[state] == DEAD else efficiency_at(stakes.efficiency, words, packed)
    return _model_value(stakes, state, side, x, _ends_of(row))


@inline_kernel
def after_double(stakes, state, side, taken):
    """Return what a double brings `side` that is answered as is best.

    `taken` is what it brings after a take.
    """
    if stakes.beavers and taken < 0:
        taken *= _BEAVERED
    return min(taken, stakes.worth[state, side, 0, EVEN + 1])


@lean_kernel(DOUBLES)
def held_and_taken(stakes, side, words, packed, row):
    """Return what a board is worth to `side`, on roll, without a double, and after one that is taken.

    Where `side` may not double, both are the same.
    """
    state = stakes.state
    known = is_known(stakes, words)
    held = value_held(stakes, state, side, words, packed, row, known)
    doubled = stakes.doubled[state, side]
    if doubled == NO_DOUBLE:
        return held, held
    return held, value_held(stakes, doubled, side, words, packed, row, known)


@lean_kernel(DOUBLE)
def value_for_side(stakes, side, words, packed, row):
    """Return what a board is worth to `side`, on roll, who may double first.

    Float64, as `value_held` has it.
    """
    held, taken = held_and_taken(stakes, side, words, packed, row)
    if stakes.doubled[stakes.state, side] == NO_DOUBLE:
        return held
    return max(held, after_double(stakes, stakes.state, side, taken))


@lean_kernel(NOTHING)
def hold_states(stakes, states, side, words, packed, row, held):
    """Write to `held` what a board is worth to `side`, on roll, without a double, in each of `states`.

    These are the bits of a mask; `row` are the probabilities of the board.
    """
    known = is_known(stakes, words)
    ends = _ends_of(row)
    x = efficiency_at(stakes.efficiency, words, packed)
    for state in range(MAX_STATES):
        if states >> state & 1:
            if known:
                held[state] = _exact_value(stakes, state, side, words)
            else:
                share = 0.0 if stakes.kind[state] == DEAD else x
                held[state] = _model_value(stakes, state, side, share, ends)


@inline_kernel
def with_doubles(stakes, states, side):
    """Return the mask `states`, and the states (by `Stakes.like`) to which a double of `side` leads."""
    more = states
    for state in range(MAX_STATES):
        if states >> state & 1 and stakes.doubled[state, side] != NO_DOUBLE:
            more |= 1 << stakes.like[stakes.doubled[state, side]]
    return more


@inline_kernel
def first_value(stakes, state, side, held):
    """Return the value for `side`, who may double, of a board whose values without a double are `held`."""
    doubled = stakes.doubled[state, side]
    if doubled == NO_DOUBLE:
        return held[state]
    taken = stakes.ratio[doubled] * held[stakes.like[doubled]]
    return max(held[state], after_double(stakes, state, side, taken))


def best_of_double(stakes: Stakes, side: int, pairs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return what positions are worth to `side`, on roll, who may double first: (n,).

    `pairs` (n, 2) are their values without a double, and after one that is taken.
    """
    held, taken = pairs[:, 0], pairs[:, 1]
    if stakes.doubled[stakes.state, side] == NO_DOUBLE:
        return held
    if stakes.beavers:
        taken = np.where(taken < 0, _BEAVERED * taken, taken)
    passed = stakes.worth[stakes.state, side, 0, EVEN + 1]
    return np.maximum(held, np.minimum(taken, passed))


@kernel
def staked_values(stakes, side, packed, rows):
    """`value_for_side` float64 (n,) of packed boards int8 (n, 64) with probabilities `rows` (n, 5)."""
    words, values = words_of(packed), np.empty(len(rows))
    for k in range(len(rows)):
        values[k] = value_for_side(stakes, side, words[k], packed[k], rows[k])
    return values


@kernel
def cube_pairs(stakes, side, packed, rows):
    """`held_and_taken` float64 (n, 2) of packed boards int8 (n, 64) with probabilities `rows` (n, 5)."""
    words, pairs = words_of(packed), np.empty((len(rows), 2))
    for k in range(len(rows)):
        pairs[k] = held_and_taken(stakes, side, words[k], packed[k], rows[k])
    return pairs


@kernel
def known_boards(stakes, packed):
    """Whether the exact tables have each of the packed boards (n, 64)."""
    words, known = words_of(packed), np.empty(len(packed), np.bool_)
    for k in range(len(packed)):
        known[k] = is_known(stakes, words[k])
    return known


@kernel
def efficiencies(numbers, packed):
    """Return the cube's efficiencies float64 (n,) in packed boards int8 (n, 64)."""
    words, x = words_of(packed), np.empty(len(packed))
    for k in range(len(packed)):
        x[k] = efficiency_at(numbers, words[k], packed[k])
    return x


@kernel
def efficiency_codes(packed):
    """`efficiency_code` int8 (n,) of packed boards int8 (n, 64)."""
    words, codes = words_of(packed), np.empty(len(packed), np.int8)
    for k in range(len(packed)):
        codes[k] = efficiency_code(words[k], packed[k])
    return codes


@kernel
def ends_of(rows):
    """Return how games end that have the probabilities `rows` (n, 5), as (n, 5).

    The chance to win, the shares of gammons and of backgammons among the wins, then among the losses.
    """
    ends = np.empty((len(rows), len(OUTPUTS)))
    for k in range(len(rows)):
        win, wins, losses = _ends_of(rows[k])
        ends[k, WIN], ends[k, WIN_GAMMON], ends[k, WIN_BACKGAMMON] = win, wins[0], wins[1]
        ends[k, LOSE_GAMMON], ends[k, LOSE_BACKGAMMON] = losses[0], losses[1]
    return ends


@inline_kernel
def _shares_in(end):
    return (end[WIN_GAMMON], end[WIN_BACKGAMMON]), (end[LOSE_GAMMON], end[LOSE_BACKGAMMON])


@kernel
def curves(stakes, x, ends):
    """Return the curves of the player on roll at efficiencies `x` (n,) for `ends` (n, 5) of `ends_of`.

    Two float64 (n, 4): chances to win, from 0 to 1, never falling, and the equities there.
    """
    chances, values = np.empty((len(ends), _ENDS)), np.empty((len(ends), _ENDS))
    for k in range(len(ends)):
        wins, losses = _shares_in(ends[k])
        chances[k], values[k] = _curve(stakes, stakes.state, 0, x[k], wins, losses)
    return chances, values


@kernel
def curve_values(chances, values, places):
    """Return the equities float64 (n,) of `curves` at one chance to win each, `places` (n,)."""
    equities = np.empty(len(places))
    for k in range(len(places)):
        equities[k] = _at(chances[k], values[k], places[k])
    return equities
