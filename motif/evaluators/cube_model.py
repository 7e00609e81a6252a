"""Cubeful equities: Janowski's model, exact bearoff values, and the decision to double.

The player on roll may double before rolling, so

    equity = max(no double, min(double and take, double and pass))

as in gnubg's `EvaluatePositionCubeful`.  The equities without a double and after a take are exact where the
cubeful bearoff tables cover the position; otherwise Janowski's model estimates them.

The model varies the probability of winning, with the shares of gammons among wins and losses fixed.  With a
dead cube the equity is a straight line from losing to winning. With a live cube it is linear between the cash
points. At cube efficiency x the equity is (1 - x) dead + x live.

In money play, with W and L the average value of a win and a loss in points, the take point of a live cube is
(L - 1/2) / (W + L + 1/2) and the cash point is (L + 1) / (W + L + 1/2).

In a match the live cash points are computed from the highest useful cube downwards. A player who needs no
more points than that cube is redoubled immediately, and the game is played out at twice the cube.

The efficiency depends on the position class: see `motif.doubling.equities`.

Sources: Rick Janowski, Take-Points in Money Games (1993), as in gnubg's `Cl2CfMoney`; for matches gnubg's
model (Joern Thyssen's `GetPoints` and `Cl2CfMatch`).
"""

from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import finalize

import numpy as np

from motif.board.packed import HOME_POINTS, PACKED_WORDS, checkers_in, occupied, pips_in
from motif.compiler.jit import DOUBLES, FLAG, FLOAT64, NOTHING, inline_kernel, kernel, lean_kernel, words_of
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
from motif.runtime.arrays import FloatArray, IntArray, frozen

CUBELESS, DEAD, MONEY_CUBE, MATCH_CUBE = range(4)
"""Kinds of model: cubeless money play, a dead cube, money play, a match."""
OWN_CUBE, CENTRED_CUBE, OPPONENTS_CUBE = 1, 0, -1
"""Cube owners."""
EVEN = 3
"""The column of `CubeModel.equities` for 0 points."""
BEAROFF_CODE = len(CLASS_NAMES)
"""The efficiency class of a race with all checkers in the home boards."""
EFFICIENCY = ("contact", "crashed", "bearoff", "race_base", "race_per_pip", "race_lowest", "race_highest")
"""Names of the parameters of the cube efficiency: see `motif.doubling.equities.Efficiency`."""
_CONTACT, _CRASHED, _BEAROFF, _RACE_BASE, _RACE_PER_PIP, _RACE_LOWEST, _RACE_HIGHEST = range(len(EFFICIENCY))
_ENDS = 4
"""Number of points of a curve: no wins, the two cash points, only wins."""

NO_STATE = -1
"""Marks a double that is useless or not allowed, in place of the cube state after it."""
MAX_STATES = 16
"""Maximum number of distinct cube states: see `CubeModel.like`."""
_OPPONENT = PACKED_WORDS // 2
BEAVERED = 2.0
"""Factor by which a beaver multiplies the equity after double/take."""
EPSILON = 1e-9
"""Differences of equities below this limit are rounding errors."""


class ExactValues(NamedTuple):
    """Exact cubeful bearoff values, and how to convert them to equities."""

    table: FloatArray
    """(V, n, n, T): values of the player on roll without a double, by side (V is 1 if both sides share
    values) and by the home position numbers of the player and the opponent."""
    column: IntArray
    """(S, 2): the column in `table` of each cube state, by side on roll."""
    middle: FloatArray
    """(2,): the value of equity 0, by side."""
    factor: FloatArray
    """(S,): equity per unit of value."""


class CubeModel(NamedTuple):
    """The cube and match score of a game, which determine its cubeful equities.

    The model has S cube states: the present one, called the root, and those that doubles can lead to.
    Equities are normalised to the root: -1 and 1 are a single game lost and won at its cube. Side 0 is the
    player on roll at the root, side 1 the opponent.
    """

    state: int
    """The present cube state, 0 to S - 1."""
    kind: IntArray
    """(S,): `CUBELESS`, `DEAD`, `MONEY_CUBE` or `MATCH_CUBE`."""
    owner: IntArray
    """(S,): `OWN_CUBE`, `CENTRED_CUBE` or `OPPONENTS_CUBE`, from side 0."""
    last: IntArray
    """(S,): in a match, the level of the last cube at which a double can help both sides."""
    equities: FloatArray
    """(S, 2, levels, 7): equity of each result, -3 to 3 cubes, by side; level k has k doubles."""
    played_out: IntArray
    """(S, 2): in a match, the level at which the game is played out after each side's last double."""
    efficiency: FloatArray
    """The parameters in `EFFICIENCY`."""
    cube: IntArray
    """(S,): cube values."""
    doubled: IntArray
    """(S, 2): the state after each side's double is taken, or `NO_STATE`."""
    like: IntArray
    """(S,): the first state whose equities are proportional to those of this one."""
    ratio: FloatArray
    """(S,): this state's equities divided by those of the state in `like`."""
    beavers: bool
    """Whether beavers are allowed."""
    exact: ExactValues

    def __reduce__(self) -> tuple[Any, ...]:
        # Large tables are not pickled: the receiving process computes or looks them up.
        table = self.exact.table
        maker = _MAKERS.get(id(table))
        exact = self.exact._replace(table=table if maker is None else NO_TABLE)
        return _unpickled, (tuple(self._replace(exact=exact)), maker)

    @property
    def is_cubeless(self) -> bool:
        """Whether this is cubeless money play."""
        return int(self.kind[self.state]) == CUBELESS


NO_TABLE = frozen(np.zeros((1, 0, 0, 1)))
_MAKERS: dict[int, Callable[[], FloatArray]] = {}
"""Functions that make the exact tables that several models share, by the table's `id`."""


def share_table(table: FloatArray, maker: Callable[[], FloatArray]) -> FloatArray:
    """Return `table`, read only; models that contain it are pickled with `maker` in its place."""
    _MAKERS[id(table)] = maker
    finalize(table, _MAKERS.pop, id(table), None)
    return frozen(table)


def _unpickled(fields: tuple[Any, ...], maker: Callable[[], FloatArray] | None) -> CubeModel:
    model = CubeModel(*fields)
    table = frozen(model.exact.table) if maker is None else maker()
    return model._replace(exact=model.exact._replace(table=table))


def one_state(
    kind: int, owner: int, last: int, equities: FloatArray, played_out: IntArray, efficiency: FloatArray
) -> CubeModel:
    """Return a model with one cube state; the parameters are fields of `CubeModel` without the axis S."""
    return CubeModel(
        0,
        np.array([kind], np.int64),
        np.array([owner], np.int64),
        np.array([last], np.int64),
        equities[None],
        played_out[None],
        efficiency,
        np.ones(1, np.int64),
        np.full((1, 2), NO_STATE, np.int64),
        np.zeros(1, np.int64),
        np.ones(1),
        False,
        ExactValues(NO_TABLE, np.zeros((1, 2), np.int64), np.zeros(2), np.ones(1)),
    )


_POINTS = np.tile(np.arange(-3.0, 4.0), (2, 1, 1))
NO_CUBE = one_state(CUBELESS, CENTRED_CUBE, 0, _POINTS, np.zeros(2, np.int64), np.zeros(len(EFFICIENCY)))
"""Cubeless money play."""


def without_cube(cube_model: CubeModel) -> CubeModel:
    """Return the model of the same score with a dead cube."""
    if cube_model.is_cubeless:
        return cube_model
    state = cube_model.state
    equities, played_out = cube_model.equities[state], cube_model.played_out[state]
    dead = one_state(DEAD, int(cube_model.owner[state]), 0, equities, played_out, cube_model.efficiency)
    return dead._replace(cube=cube_model.cube[state : state + 1])


def gammon_gains(cube_model: CubeModel) -> tuple[float, float]:
    """Return the equity that a gammon won adds to a single game, and that a gammon lost costs more than it.

    Both are 1 in money play.  A player who loses the match anyway soon doubles, because that costs nothing;
    the gains are then those of the doubled cube.
    """
    lost, single_lost, _, single_won, won = _soon_equities(cube_model)[EVEN - 2 : EVEN + 3].tolist()
    return won - single_won, single_lost - lost


def gammon_values(cube_model: CubeModel) -> tuple[float, float]:
    """Return `gammon_gains` as shares of the difference between winning and losing; 0.5 in money play."""
    won, lost = gammon_gains(cube_model)
    equities = _soon_equities(cube_model)
    whole = float(equities[EVEN + 1] - equities[EVEN - 1])
    return won / whole, lost / whole


def backgammon_value_lost(cube_model: CubeModel) -> float:
    """Return the value of a backgammon lost, beyond a gammon, as in `gammon_values`; 0.5 in money play."""
    equities = _soon_equities(cube_model)
    return float((equities[EVEN - 2] - equities[EVEN - 3]) / (equities[EVEN + 1] - equities[EVEN - 1]))


def _soon_equities(cube_model: CubeModel) -> FloatArray:
    """Return the equities (7,) of each result, after a double that costs nothing if there is one."""
    state = cube_model.state
    for side, doubled in enumerate(cube_model.doubled[state].tolist()):
        losses = cube_model.equities[:, side, 0, :EVEN]
        if doubled != NO_STATE and np.allclose(losses[doubled], losses[state]):
            state = doubled
            break
    return np.asarray(cube_model.equities[state, 0, 0])


@inline_kernel
def pips_of_mover(words):
    """Return the pip count of the player on roll in a packed board int64[8]."""
    pips = 0
    for k in range(PACKED_WORDS // 2):
        word = np.uint64(words[k])
        pips += pips_in(word) + 8 * k * checkers_in(word)
    return pips


@inline_kernel
def efficiency_code(words, packed):
    """Return the efficiency class of a packed board: its position class or `BEAROFF_CODE`."""
    own, opponent = occupied(words, 0), occupied(words, PACKED_WORDS // 2)
    code = classify(words, packed, own, opponent)
    return BEAROFF_CODE if code == RACE and (own | opponent) & ~HOME_POINTS == 0 else code


@inline_kernel
def efficiency_at(numbers, words, packed):
    """Return the cube efficiency x of a packed board from the parameters in `EFFICIENCY`."""
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
    """Return `part` / `whole`, at most 1; 0 if `whole` is 0."""
    return min(_chance(part) / whole, 1.0) if whole > 0 else 0.0


@inline_kernel
def _ends_of(row):
    """Return the win probability and the shares of gammons and backgammons among wins and among losses."""
    win = _chance(row[WIN])
    wins = _share(row[WIN_GAMMON], win), _share(row[WIN_BACKGAMMON], win)
    return win, wins, (_share(row[LOSE_GAMMON], 1 - win), _share(row[LOSE_BACKGAMMON], 1 - win))


@inline_kernel
def _average(equities, level, sign, shares):
    """Return the average equity of a win (`sign` 1) or loss (-1) at one cube level."""
    single, gammon = equities[level, EVEN + sign], equities[level, EVEN + 2 * sign]
    backgammon = equities[level, EVEN + 3 * sign]
    return single + (gammon - single) * shares[0] + (backgammon - gammon) * shares[1]


@inline_kernel
def _money_cash_point(equities, wins, losses):
    """Return the live cube's cash point in money play; level 1 stands for every turned cube."""
    win, loss = _average(equities, 1, 1, wins), _average(equities, 1, -1, losses)
    return (2 * equities[0, EVEN + 1] - loss) / (win - loss + equities[0, EVEN + 1])


@inline_kernel
def _last_cash_point(equities, last, played_out, wins, losses):
    """Return the cash point at the last useful cube."""
    lose = _average(equities, played_out, -1, losses)
    return (lose - equities[last, EVEN + 1]) / (lose - _average(equities, played_out, 1, wins))


@inline_kernel
def _live_cash_point(equities, level, wins, next_cash):
    """Return the live cube's cash point if the opponent's, after the take, is `next_cash`."""
    win, drop = _average(equities, level + 1, 1, wins), equities[level, EVEN + 1]
    return 1 - next_cash * (drop - win) / (equities[level + 1, EVEN - 1] - win)


@inline_kernel
def _cash_points(cube_model, state, side, wins, losses):
    """Return the live cash points, as probabilities of winning, of `side` and the other side."""
    own, other = cube_model.equities[state, side], cube_model.equities[state, 1 - side]
    if cube_model.kind[state] == MONEY_CUBE:
        return _money_cash_point(own, wins, losses), _money_cash_point(other, losses, wins)
    last, played_out = cube_model.last[state], cube_model.played_out[state]
    own_cash = _last_cash_point(own, last, played_out[side], wins, losses)
    other_cash = _last_cash_point(other, last, played_out[1 - side], losses, wins)
    for level in range(last - 1, -1, -1):
        then = own_cash
        own_cash = _live_cash_point(own, level, wins, other_cash)
        other_cash = _live_cash_point(other, level, losses, then)
    return own_cash, other_cash


@inline_kernel
def _curve(cube_model, state, side, x, wins, losses):
    """Return the curve at efficiency `x`: the win probabilities and equities of its four points.

    Points are moved where necessary so that they never decrease.  The cash point of a player who cannot
    double is the end of the curve.
    """
    equities, kind = cube_model.equities[state, side], cube_model.kind[state]
    lose, win = _average(equities, 0, -1, losses), _average(equities, 0, 1, wins)
    take, cash = 0.0, 1.0
    live_take, live_cash = lose, win
    if kind != DEAD:
        owner = cube_model.owner[state] if side == 0 else -cube_model.owner[state]
        own_cash, other_cash = _cash_points(cube_model, state, side, wins, losses)
        if owner != OWN_CUBE:
            take, live_take = _chance(1 - other_cash), equities[0, EVEN - 1]
        if owner != OPPONENTS_CUBE:
            cash, live_cash = max(_chance(own_cash), take), equities[0, EVEN + 1]
    dead_take, dead_cash = lose + (win - lose) * take, lose + (win - lose) * cash
    live = dead_take + x * (live_take - dead_take), dead_cash + x * (live_cash - dead_cash)
    return (0.0, take, cash, 1.0), (lose, live[0], live[1], win)


@inline_kernel
def _between(chance, left, right, low, high):
    return low + (high - low) * ((chance - left) / (right - left))


@inline_kernel
def _at(chances, values, chance):
    """Return the equity of a four-point curve at win probability `chance`."""
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
def is_known(cube_model, words):
    """Return whether the exact table contains the packed board `words` int64[8]."""
    if not all_home(words):
        return False
    positions = cube_model.exact.table.shape[1]
    return home_number(words[0]) < positions and home_number(words[_OPPONENT]) < positions


@inline_kernel
def _exact_value(cube_model, state, side, words):
    """Return the exact equity of `side`, on roll, without a double."""
    own, opponent = home_number(words[0]), home_number(words[_OPPONENT])
    exact = cube_model.exact
    value = exact.table[side % exact.table.shape[0], own, opponent, exact.column[state, side]]
    return (value - exact.middle[side]) * exact.factor[state]


@inline_kernel
def _model_value(cube_model, state, side, x, ends):
    """Return the model's equity for `side`, on roll, without a double, at efficiency `x`."""
    chance, wins, losses = ends
    chances, values = _curve(cube_model, state, side, x, wins, losses)
    return _at(chances, values, chance)


@inline_kernel
def value_held(cube_model, state, side, words, packed, row, known):
    """Return the normalised equity for `side`, on roll, without a double before this roll.

    `words` int64[8] and `packed` int8[64] are the board and `row` the five cumulative probabilities, all from
    the perspective of `side`; `known` is the result of `is_known`.
    """
    if cube_model.kind[state] == CUBELESS:
        return equity_of(row)
    if known:
        return _exact_value(cube_model, state, side, words)
    x = 0.0 if cube_model.kind[state] == DEAD else efficiency_at(cube_model.efficiency, words, packed)
    return _model_value(cube_model, state, side, x, _ends_of(row))


@inline_kernel
def after_double(cube_model, state, side, taken):
    """Return the equity for `side` after a double and the best answer; `taken` is the equity after a take."""
    if cube_model.beavers and taken < 0:
        taken *= BEAVERED
    return min(taken, cube_model.equities[state, side, 0, EVEN + 1])


@lean_kernel(DOUBLES)
def held_and_taken(cube_model, side, words, packed, row):
    """Return the equities for `side`, on roll, without a double and after double and take.

    Both are the same if `side` may not double.
    """
    state = cube_model.state
    known = is_known(cube_model, words)
    held = value_held(cube_model, state, side, words, packed, row, known)
    doubled = cube_model.doubled[state, side]
    if doubled == NO_STATE:
        return held, held
    return held, value_held(cube_model, doubled, side, words, packed, row, known)


@lean_kernel(FLOAT64)
def value_for_side(cube_model, side, words, packed, row):
    """Return the equity for `side`, on roll, who may double first; parameters as in `value_held`."""
    held, taken = held_and_taken(cube_model, side, words, packed, row)
    if cube_model.doubled[cube_model.state, side] == NO_STATE:
        return held
    return max(held, after_double(cube_model, cube_model.state, side, taken))


@lean_kernel(NOTHING)
def hold_states(cube_model, states, side, words, packed, row, held):
    """Write to `held` the equity for `side`, on roll, without a double, for each state in the mask."""
    known = is_known(cube_model, words)
    ends = _ends_of(row)
    x = efficiency_at(cube_model.efficiency, words, packed)
    for state in range(MAX_STATES):
        if states >> state & 1:
            if known:
                held[state] = _exact_value(cube_model, state, side, words)
            else:
                share = 0.0 if cube_model.kind[state] == DEAD else x
                held[state] = _model_value(cube_model, state, side, share, ends)


@inline_kernel
def with_doubles(cube_model, states, side):
    """Return the mask `states` plus the states (by `CubeModel.like`) that doubles by `side` lead to."""
    more = states
    for state in range(MAX_STATES):
        if states >> state & 1 and cube_model.doubled[state, side] != NO_STATE:
            more |= 1 << cube_model.like[cube_model.doubled[state, side]]
    return more


@inline_kernel
def first_value(cube_model, state, side, held):
    """Return the equity for `side`, who may double, from the equities `held` without a double, by state."""
    doubled = cube_model.doubled[state, side]
    if doubled == NO_STATE:
        return held[state]
    taken = cube_model.ratio[doubled] * held[cube_model.like[doubled]]
    return max(held[state], after_double(cube_model, state, side, taken))


def best_answers(taken: FloatArray, passed: float, beavers: bool) -> FloatArray:
    """Return `after_double` for many equities after a take (n,), and one after a pass."""
    if beavers:
        taken = np.where(taken < 0, BEAVERED * taken, taken)
    return np.minimum(taken, passed)


def best_of_double(cube_model: CubeModel, side: int, pairs: FloatArray) -> FloatArray:
    """Return the equities (n,) for `side`, on roll, who may double first.

    `pairs` (n, 2) are the equities without a double and after double and take.
    """
    held, taken = pairs[:, 0], pairs[:, 1]
    if cube_model.doubled[cube_model.state, side] == NO_STATE:
        return held
    passed = cube_model.equities[cube_model.state, side, 0, EVEN + 1]
    return np.maximum(held, best_answers(taken, passed, bool(cube_model.beavers)))


@kernel
def cubeful_values(cube_model, side, packed, rows):
    """Return `value_for_side` float64 (n,) of packed boards int8 (n, 64) with probabilities `rows` (n, 5)."""
    words, values = words_of(packed), np.empty(len(rows))
    for k in range(len(rows)):
        values[k] = value_for_side(cube_model, side, words[k], packed[k], rows[k])
    return values


@kernel
def cube_pairs(cube_model, side, packed, rows):
    """Return `held_and_taken` float64 (n, 2) of packed boards int8 (n, 64) with `rows` (n, 5)."""
    words, pairs = words_of(packed), np.empty((len(rows), 2))
    for k in range(len(rows)):
        pairs[k] = held_and_taken(cube_model, side, words[k], packed[k], rows[k])
    return pairs


@kernel
def known_boards(cube_model, packed):
    """Return `is_known` of packed boards (n, 64)."""
    words, known = words_of(packed), np.empty(len(packed), np.bool_)
    for k in range(len(packed)):
        known[k] = is_known(cube_model, words[k])
    return known


@kernel
def efficiencies(numbers, packed):
    """Return the cube efficiencies float64 (n,) of packed boards int8 (n, 64)."""
    words, x = words_of(packed), np.empty(len(packed))
    for k in range(len(packed)):
        x[k] = efficiency_at(numbers, words[k], packed[k])
    return x


@kernel
def efficiency_codes(packed):
    """Return `efficiency_code` int8 (n,) of packed boards int8 (n, 64)."""
    words, codes = words_of(packed), np.empty(len(packed), np.int8)
    for k in range(len(packed)):
        codes[k] = efficiency_code(words[k], packed[k])
    return codes


@kernel
def ends_of(rows):
    """Convert cumulative probabilities `rows` (n, 5) to win probabilities and shares (n, 5).

    The shares are those of gammons and backgammons among the wins, then among the losses.
    """
    ends = np.empty((len(rows), len(OUTPUTS)))
    for k in range(len(rows)):
        win, wins, losses = _ends_of(rows[k])
        ends[k, WIN], ends[k, WIN_GAMMON], ends[k, WIN_BACKGAMMON] = win, wins[0], wins[1]
        ends[k, LOSE_GAMMON], ends[k, LOSE_BACKGAMMON] = losses[0], losses[1]
    return ends


@kernel
def curves(cube_model, x, ends):
    """Return the curves of the player on roll at efficiencies `x` (n,) for `ends` (n, 5) of `ends_of`.

    The result is two float64 (n, 4): win probabilities, from 0 to 1 and never decreasing, and their equities.
    """
    chances, values = np.empty((len(ends), _ENDS)), np.empty((len(ends), _ENDS))
    for k in range(len(ends)):
        wins = ends[k, WIN_GAMMON], ends[k, WIN_BACKGAMMON]
        losses = ends[k, LOSE_GAMMON], ends[k, LOSE_BACKGAMMON]
        chances[k], values[k] = _curve(cube_model, cube_model.state, 0, x[k], wins, losses)
    return chances, values


@kernel
def curve_values(chances, values, places):
    """Return the equities float64 (n,) of `curves` at the win probabilities `places` (n,)."""
    equities = np.empty(len(places))
    for k in range(len(places)):
        equities[k] = _at(chances[k], values[k], places[k])
    return equities
