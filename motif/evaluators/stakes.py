"""What the end of a game is worth with the cube where it lies, and what a position is: Janowski's model.

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
`motif.cube.equities`.

Sources: Rick Janowski, Take-Points in Money Games (1993), in the form of gnubg's `Cl2CfMoney`; for matches
the model of gnubg (Joern Thyssen's `GetPoints` and `Cl2CfMatch`).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.packed import HOME_POINTS, PACKED_WORDS, checkers_in, occupied, pips_in
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
from motif.runtime.jit import DOUBLE, inline_kernel, kernel, lean_kernel, words_of

CUBELESS, DEAD, MONEY, MATCH = range(4)
"""Kinds of stakes: money without a cube; a cube that nobody can use; for money; in a match."""
OWN_CUBE, CENTRED, OPPONENTS_CUBE = 1, 0, -1
"""Where the cube lies."""
EVEN = 3
"""The column of `Stakes.worth` from which points are counted."""
BEAROFF_CODE = len(CLASS_NAMES)
"""The class, for the cube's efficiency, of a race in which both sides have all their checkers at home."""
NUMBERS = ("contact", "crashed", "bearoff", "race_base", "race_per_pip", "race_lowest", "race_highest")
"""The numbers that give the efficiency of every position: see `motif.cube.equities.Efficiency`."""
_CONTACT, _CRASHED, _BEAROFF, _RACE_BASE, _RACE_PER_PIP, _RACE_LOWEST, _RACE_HIGHEST = range(len(NUMBERS))
_ENDS = 4
"""Points of a curve: nothing won, the two cash points, everything won."""


class Stakes(NamedTuple):
    """What is at stake in one state of the match (the root), for kernels.

    Values are normalised equities of the root: -1 and 1 are a single game lost and won at its cube.  Side 0
    is the player on roll in the root, side 1 his opponent; each has his own view of the values.
    """

    kind: int
    """One of `CUBELESS`, `DEAD`, `MONEY`, `MATCH`."""
    owner: int
    """Of side 0: one of `OWN_CUBE`, `CENTRED`, `OPPONENTS_CUBE`."""
    last: int
    """In a match: the level of the last cube whose double may be of use to both."""
    worth: npt.NDArray[np.float64]
    """(2, levels, 7): to each side a game of -3 to 3 times the cube, doubled as often as the level says."""
    played_out: npt.NDArray[np.int64]
    """(2,): in a match the level at which the game is played out after either side's last double."""
    efficiency: npt.NDArray[np.float64]
    """The `NUMBERS` of the cube's efficiency."""


NO_CUBE = Stakes(CUBELESS, CENTRED, 0, np.zeros((2, 1, 7)), np.zeros(2, np.int64), np.zeros(len(NUMBERS)))
"""The stakes of money play without a cube."""


def without_cube(stakes: Stakes) -> Stakes:
    """The same ends of the game, with a cube that nobody can use."""
    return stakes if stakes.kind == CUBELESS else stakes._replace(kind=DEAD)


def gammon_values(stakes: Stakes) -> tuple[float, float]:
    """What a gammon won, and one lost, adds to a single game, where winning and losing one lie 1 apart.

    For money each is 0.5.
    """
    if stakes.kind == CUBELESS:
        return 0.5, 0.5
    lost, single_lost, _, single_won, won = stakes.worth[0, 0, EVEN - 2 : EVEN + 3].tolist()
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
    """The class of a packed board for the cube's efficiency: its position class, or `BEAROFF_CODE`."""
    own, opponent = occupied(words, 0), occupied(words, PACKED_WORDS // 2)
    code = classify(words, packed, own, opponent)
    return BEAROFF_CODE if code == RACE and (own | opponent) & ~HOME_POINTS == 0 else code


@inline_kernel
def efficiency_at(numbers, words, packed):
    """The cube's efficiency x in a packed board, from the `NUMBERS`."""
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
    """How games end, of five cumulative probabilities: the chance to win, the shares of gammons and of
    backgammons among the wins, and those among the losses."""
    win = _chance(row[WIN])
    wins = _share(row[WIN_GAMMON], win), _share(row[WIN_BACKGAMMON], win)
    return win, wins, (_share(row[LOSE_GAMMON], 1 - win), _share(row[LOSE_BACKGAMMON], 1 - win))


@inline_kernel
def _average(worth, level, sign, shares):
    """What a win (`sign` 1) or loss (-1) is worth on average at one level of the cube."""
    single, gammon = worth[level, EVEN + sign], worth[level, EVEN + 2 * sign]
    backgammon = worth[level, EVEN + 3 * sign]
    return single + (gammon - single) * shares[0] + (backgammon - gammon) * shares[1]


@inline_kernel
def _money_cash_point(worth, wins, losses):
    """The live cube's cash point; the next level's worth is that of all games with a cube that was turned."""
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
def _cash_points(stakes, side, wins, losses):
    """Chances to win the game from which the player, and his opponent for his part, cash with a live cube."""
    own, other = stakes.worth[side], stakes.worth[1 - side]
    if stakes.kind == MONEY:
        return _money_cash_point(own, wins, losses), _money_cash_point(other, losses, wins)
    last, played_out = stakes.last, stakes.played_out
    own_cash = _last_cash_point(own, last, played_out[side], wins, losses)
    other_cash = _last_cash_point(other, last, played_out[1 - side], losses, wins)
    for level in range(last - 1, -1, -1):
        then = own_cash
        own_cash = _live_cash_point(own, level, wins, other_cash)
        other_cash = _live_cash_point(other, level, losses, then)
    return own_cash, other_cash


@inline_kernel
def _curve(stakes, side, x, wins, losses):
    """The equity at efficiency `x` over the chance to win, by its four points: their chances and equities.

    A point that would lie before its predecessor is moved there.  Where somebody cannot double, his point is
    an end.
    """
    worth = stakes.worth[side]
    lose, win = _average(worth, 0, -1, losses), _average(worth, 0, 1, wins)
    take, cash = 0.0, 1.0
    live_take, live_cash = lose, win
    if stakes.kind != DEAD:
        owner = stakes.owner if side == 0 else -stakes.owner
        own_cash, other_cash = _cash_points(stakes, side, wins, losses)
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
    """The equity of a curve of four points at one chance to win."""
    if chance >= 1:
        return values[3]
    if chance > chances[2]:
        return _between(chance, chances[2], chances[3], values[2], values[3])
    if chance > chances[1]:
        return _between(chance, chances[1], chances[2], values[1], values[2])
    if chance > 0:
        return _between(chance, chances[0], chances[1], values[0], values[1])
    return values[0]


@inline_kernel
def value_at(stakes, side, x, row):
    """`staked_value` at the cube's efficiency `x`."""
    if stakes.kind == CUBELESS:
        return equity_of(row)
    chance, wins, losses = _ends_of(row)
    chances, values = _curve(stakes, side, x, wins, losses)
    return _at(chances, values, chance)


@inline_kernel
def staked_value(stakes, side, words, packed, row):
    """What a position is worth to `side`, who is on roll, with the cube where it lies: float64.

    In normalised equity of the root; see `Stakes`.  `words` int64[8] and `packed` int8[64] are the board
    as he sees it, `row` its five cumulative probabilities, his.  It is the value without a double before
    this roll.
    """
    if stakes.kind == CUBELESS:
        return equity_of(row)
    x = 0.0 if stakes.kind == DEAD else efficiency_at(stakes.efficiency, words, packed)
    return value_at(stakes, side, x, row)


@lean_kernel(DOUBLE)
def value_for_side(stakes, side, words, packed, row):
    """`staked_value`, for kernels to call: compiled once for all."""
    return staked_value(stakes, side, words, packed, row)


@kernel
def staked_values(stakes, side, packed, rows):
    """`staked_value` float64 (n,) of packed boards int8 (n, 64) with probabilities `rows` float64 (n, 5)."""
    words, values = words_of(packed), np.empty(len(rows))
    for k in range(len(rows)):
        values[k] = value_for_side(stakes, side, words[k], packed[k], rows[k])
    return values


@kernel
def efficiencies(numbers, packed):
    """The cube's efficiencies float64 (n,) in packed boards int8 (n, 64)."""
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
    """How games end that have the probabilities `rows` (n, 5), as (n, 5): the chance to win, the shares of
    gammons and of backgammons among the wins, then among the losses."""
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
    """The curves of the player on roll at efficiencies `x` (n,) for `ends` (n, 5), as `ends_of` has them.

    Two float64 (n, 4): chances to win, from 0 to 1, never falling, and the equities there.
    """
    chances, values = np.empty((len(ends), _ENDS)), np.empty((len(ends), _ENDS))
    for k in range(len(ends)):
        wins, losses = _shares_in(ends[k])
        chances[k], values[k] = _curve(stakes, 0, x[k], wins, losses)
    return chances, values


@kernel
def curve_values(chances, values, places):
    """The equities float64 (n,) of `curves` at one chance to win each, `places` (n,)."""
    equities = np.empty(len(places))
    for k in range(len(places)):
        equities[k] = _at(chances[k], values[k], places[k])
    return equities


@kernel
def cash_points_of(stakes, ends):
    """Chances to win the game (n, 2) from which the player on roll, and the opponent for his part, cash."""
    points = np.empty((len(ends), 2))
    for k in range(len(ends)):
        wins, losses = _shares_in(ends[k])
        points[k] = _cash_points(stakes, 0, wins, losses)
    return points
