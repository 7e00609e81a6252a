"""The three equities of a cube decision by Janowski's model, for many positions in one state of the match.

The model moves the chance to win, while the shares of gammons among wins and among losses stay.  Equity
over that chance is a curve of straight lines: a dead cube gives one line from losing to winning; a live
cube gives lines between the points at which somebody cashes; and the equity at efficiency x lies the part
x of the way from the dead line to the live ones.

In money play equity is in units of the cube.  With W and L the average value of a win and of a loss, a
live cube is taken from (L - 1/2) / (W + L + 1/2) and cashed from (L + 1) / (W + L + 1/2) on.

In match play it is the chance to win the match.  The cash points of a live cube are found from the highest
cube that still matters downwards; at that cube a player to whom more points are of no use any more is
redoubled at once, which raises the cube once more before the game is played out.

Sources: Rick Janowski, Take-Points in Money Games (1993), in the form of gnubg's `Cl2CfMoney`; for matches
the model of gnubg (Joern Thyssen's `GetPoints` and `Cl2CfMatch`).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.match_state import CubeOwner, MatchState
from motif.cube.efficiency import DEFAULT_EFFICIENCY, Efficiency, checked_efficiency
from motif.cube.match_equity import MatchEquityTable, aways, match_equity_table
from motif.evaluators.probabilities import (
    LOSE_BACKGAMMON,
    LOSE_GAMMON,
    OUTPUTS,
    WIN,
    WIN_BACKGAMMON,
    WIN_GAMMON,
    Probabilities,
)
from motif.runtime.errors import SettingError

Floats = npt.NDArray[np.float64]
# Estimates may leave 0 to 1 by what float32 rounds.
_ROUNDING = 1e-6
DOUBLE_PASS = 1.0
"""What a double that is passed wins, in units of the cube before it."""
DOUBLED_WORTH = 2.0
"""What a unit of the doubled cube is worth, in units of the cube before it."""
_OTHER: dict[CubeOwner, CubeOwner] = {"centre": "centre", "me": "opponent", "opponent": "me"}


class Outcomes(NamedTuple):
    """How the games of n positions end at one level of the cube, seen by one player; each float64 (n,)."""

    win: Floats
    win_gammons: Floats
    """Share of the wins that are gammons or backgammons."""
    win_backgammons: Floats
    lose_gammons: Floats
    lose_backgammons: Floats

    def turned(self) -> "Outcomes":
        """The ends as the other player sees them."""
        return Outcomes(
            1 - self.win,
            self.lose_gammons,
            self.lose_backgammons,
            self.win_gammons,
            self.win_backgammons,
        )

    def average_win(self, worth: Callable[[int], float]) -> Floats:
        """What a win is worth on average (n,); `worth` gives that of 1, 2 and 3 times the cube."""
        return _average(worth, 1, self.win_gammons, self.win_backgammons)

    def average_loss(self, worth: Callable[[int], float]) -> Floats:
        """What a loss is worth on average (n,); `worth` gives that of -1, -2 and -3 times the cube."""
        return _average(worth, -1, self.lose_gammons, self.lose_backgammons)


def outcomes(probabilities: npt.ArrayLike) -> Outcomes:
    """The `Outcomes` of five cumulative probabilities, (5,) or (n, 5).

    Raises `SettingError` for what are no probabilities.
    """
    rows = np.atleast_2d(np.asarray(probabilities, np.float64))
    if rows.ndim != 2 or rows.shape[1] != len(OUTPUTS):
        raise SettingError(f"expected {len(OUTPUTS)} probabilities a position, got the shape {rows.shape}")
    bad = ~((rows >= -_ROUNDING) & (rows <= 1 + _ROUNDING))
    if bad.any():
        row, column = (int(index) for index in np.argwhere(bad)[0])
        raise SettingError(f"{OUTPUTS[column]} is {rows[row, column]:g}, no chance from 0 to 1")
    rows = np.clip(rows, 0.0, 1.0)
    win = rows[:, WIN]
    return Outcomes(
        win,
        *(_share(rows[:, column], win) for column in (WIN_GAMMON, WIN_BACKGAMMON)),
        *(_share(rows[:, column], 1 - win) for column in (LOSE_GAMMON, LOSE_BACKGAMMON)),
    )


class Curve(NamedTuple):
    """Equity of n positions over the chance to win, k points each."""

    chances: Floats
    """(n, k), from 0 to 1, never falling."""
    values: Floats
    """(n, k)"""

    def at(self, chances: Floats) -> Floats:
        """The equity (n,) at one chance to win for each position."""
        values = self.values[:, 0]
        for k in range(self.chances.shape[1] - 1):
            left, width = self.chances[:, k], self.chances[:, k + 1] - self.chances[:, k]
            rise = self.values[:, k + 1] - self.values[:, k]
            part = np.divide(chances - left, width, out=np.zeros_like(left), where=width > 0)
            values = np.where(chances > left, self.values[:, k] + rise * part, values)
        return np.where(chances >= 1, self.values[:, -1], values)


def mixed(
    chances: Sequence[Floats], live: Sequence[Floats | float], lose: Floats, win: Floats, x: float | Floats
) -> Curve:
    """The curve at efficiency `x`, a number or (n,), of a live cube's points: their chances and equities.

    `lose` and `win` are the dead cube's ends.  A point that would lie before its predecessor is moved there.
    """
    places = np.maximum.accumulate(np.clip(np.stack(np.broadcast_arrays(*chances), axis=1), 0.0, 1.0), axis=1)
    dead = lose[:, None] + (win - lose)[:, None] * places
    share = np.broadcast_to(np.asarray(x, np.float64), lose.shape)[:, None]
    return Curve(places, dead + share * (np.stack(np.broadcast_arrays(*live), axis=1) - dead))


class CubeCurves(NamedTuple):
    """What the player on roll has over his chance to win, in points of the current cube for money and as
    chances to win the match in match play."""

    no_double: Curve
    double_take: Curve | None
    """None where he may not double."""
    double_pass: float

    @property
    def doubled(self) -> Curve:
        """`double_take`, where he may double."""
        if self.double_take is None:
            raise ValueError("the player on roll may not double")
        return self.double_take


class CubeEquities(NamedTuple):
    """Equities of n positions, for the player on roll, in units of `CubeCurves`; each float64 (n,)."""

    no_double: Floats
    double_take: Floats
    double_pass: Floats


def cube_curves(
    ends: Outcomes, state: MatchState, x: float | Floats, table: MatchEquityTable | None = None
) -> CubeCurves:
    """The curves of `ends` in `state` at efficiency `x`; a match without a `table` has the default one."""
    legal = may_double(state)
    if not state.length:
        now = money_curve(ends, state.cube_owner, state.jacoby, x)
        then = None
        if legal:
            unit = money_curve(ends, "opponent", state.jacoby, x)
            then = Curve(unit.chances, DOUBLED_WORTH * unit.values)
        return CubeCurves(now, then, DOUBLE_PASS)
    table = table or match_equity_table()
    now = match_curve(ends, state, x, table)
    taken_state = replace(state, cube=2 * state.cube, cube_owner="opponent")
    then = match_curve(ends, taken_state, x, table) if legal else None
    return CubeCurves(now, then, table.after_game(state, state.cube))


def cube_equities(
    probabilities: npt.ArrayLike,
    state: MatchState,
    x: float | Floats,
    table: MatchEquityTable | None = None,
) -> CubeEquities:
    """The three equities of n positions, `probabilities` (n, 5), all in `state`, whose player on roll may
    double.  `x` is a number or (n,)."""
    ends = outcomes(probabilities)
    curves = cube_curves(ends, state, x, table)
    double_pass = np.full(len(ends.win), curves.double_pass)
    return CubeEquities(curves.no_double.at(ends.win), curves.doubled.at(ends.win), double_pass)


def cubeful_equity(
    probabilities: Probabilities,
    state: MatchState,
    *,
    position_class: str = "contact",
    pips: int | None = None,
    efficiency: float | Efficiency | None = None,
    table: MatchEquityTable | None = None,
) -> float:
    """What a position is worth to the player on roll with the cube as it lies in `state`.

    In units of the current cube for money, normalised (see `Scale`) in a match.  It is the value without
    a double before this roll.  Raises `SettingError` as `cube_decision` does.
    """
    x = chosen_efficiency(efficiency, position_class, pips)
    return float(cubeful_equities(probabilities, state, x, table)[0])


def cubeful_equities(
    probabilities: npt.ArrayLike,
    state: MatchState,
    x: float | Floats,
    table: MatchEquityTable | None = None,
) -> Floats:
    """`cubeful_equity` (n,) of `probabilities` (n, 5), at efficiency `x`, a number or (n,)."""
    ends = outcomes(probabilities)
    return np.asarray(scale(state, table).equity(cube_curves(ends, state, x, table).no_double.at(ends.win)))


class Scale(NamedTuple):
    """How match-winning chances become equities: -1 is a single game lost at the current cube, 1 one won.

    That is gnubg's normalised money equity (EMG).  For money both are the same."""

    middle: float
    half: float

    def equity(self, value: float | Floats) -> float | Floats:
        """The equity of a value of `CubeCurves`."""
        return (value - self.middle) / self.half


def scale(state: MatchState, table: MatchEquityTable | None = None) -> Scale:
    """The scale of equities in `state`."""
    if not state.length:
        return Scale(0.0, 1.0)
    table = table or match_equity_table()
    win, loss = (table.after_game(state, points) for points in (state.cube, -state.cube))
    return Scale((win + loss) / 2, (win - loss) / 2)


def chosen_efficiency(efficiency: float | Efficiency | None, position_class: str, pips: int | None) -> float:
    """x itself where it is given; otherwise that of the class, by default gnubg's."""
    if isinstance(efficiency, int | float):
        return checked_efficiency(float(efficiency))
    return (efficiency or DEFAULT_EFFICIENCY).of(position_class, pips)


def may_double(state: MatchState) -> bool:
    """Whether the rules let the player on roll double: he has access to the cube, and it is not the
    Crawford game."""
    return state.cube_owner != "opponent" and not state.crawford


def cube_is_useful(state: MatchState) -> bool:
    """Whether a double can be of use to the player on roll: in a match he must need more points than the
    cube shows."""
    return may_double(state) and not (state.length and aways(state)[0] <= state.cube)


def cube_is_dead(state: MatchState) -> bool:
    """Whether nobody can use the cube in a match: in the Crawford game, where both need no more than it
    shows, and at 2 away each, where the game is played for the match as soon as either doubles."""
    own, opponent = aways(state)
    return state.crawford or max(own, opponent) <= state.cube or own == opponent == 2


def turned_state(state: MatchState) -> MatchState:
    """`state` as the other player sees it when it is his turn to roll or double."""
    return replace(
        state,
        own_score=state.opponent_score,
        opponent_score=state.own_score,
        cube_owner=_OTHER[state.cube_owner],
        dice=None,
        doubled=False,
        decision="me",
        player=0 if state.player else 1,
    )


def money_curve(ends: Outcomes, owner: CubeOwner, jacoby: bool, x: float | Floats) -> Curve:
    """Cubeful equity over the chance to win, where the cube is with `owner`, at efficiency `x`.

    Under the Jacoby rule gammons do not count while the cube is in the centre.
    """
    win, loss = ends.average_win(float), ends.average_loss(float)
    total = win - loss + 0.5
    take, cash = (-loss - 0.5) / total, (-loss + 1) / total
    if jacoby and owner == "centre":
        win, loss = np.ones_like(win), np.full_like(loss, -1.0)
    return _with_a_cube(owner, (take, -1.0), (cash, 1.0), loss, win, x)


def match_curve(ends: Outcomes, state: MatchState, x: float | Floats, table: MatchEquityTable) -> Curve:
    """Chance to win the match over the chance to win the game, with the cube as it lies in `state`."""
    worth = _worth(table, state, state.cube)
    lose, win = ends.average_loss(worth), ends.average_win(worth)
    if cube_is_dead(state):
        return mixed([np.zeros_like(win), np.ones_like(win)], [lose, win], lose, win, 0.0)
    own_cash, other_cash = cash_points(ends, state, table)
    take, cash = (1 - other_cash, worth(-1)), (own_cash, worth(1))
    return _with_a_cube(state.cube_owner, take, cash, lose, win, x)


def _with_a_cube(
    owner: CubeOwner,
    take: tuple[Floats, float],
    cash: tuple[Floats, float],
    lose: Floats,
    win: Floats,
    x: float | Floats,
) -> Curve:
    """The curve at efficiency `x` between the points at which somebody who has the cube cashes.

    `take` and `cash` are the chances (n,) of the opponent's and the player's, and the equity there.
    """
    points: list[tuple[Floats, Floats | float]] = [(np.zeros_like(win), lose)]
    points += [take] * (owner != "me") + [cash] * (owner != "opponent") + [(np.ones_like(win), win)]
    chances, live = zip(*points, strict=True)
    return mixed(chances, live, lose, win, x)


def cash_points(ends: Outcomes, state: MatchState, table: MatchEquityTable) -> tuple[Floats, Floats]:
    """Chances to win the game (n,) from which the player on roll, and the opponent for his part, cash with
    a live cube."""
    sides = (ends, state), (ends.turned(), turned_state(state))
    need = aways(state)
    cubes = [state.cube]
    while min(need) > 2 * cubes[-1]:
        cubes.append(2 * cubes[-1])
    own, other = (_last_cash_point(*side, cubes[-1], table) for side in sides)
    for cube in reversed(cubes[:-1]):
        own, other = (
            _live_cash_point(*side, cube, table, then) for side, then in zip(sides, (other, own), strict=True)
        )
    return own, other


def _last_cash_point(ends: Outcomes, state: MatchState, cube: int, table: MatchEquityTable) -> Floats:
    """Where the doubled cube is of no more use to one of the players."""
    own, opponent = aways(state)
    redoubles = own <= 2 * cube < opponent
    worth = _worth(table, state, 4 * cube if redoubles else 2 * cube)
    lose = ends.average_loss(worth)
    return np.asarray((lose - table.after_game(state, cube)) / (lose - ends.average_win(worth)))


def _live_cash_point(
    ends: Outcomes, state: MatchState, cube: int, table: MatchEquityTable, next_cash: Floats
) -> Floats:
    """Where the opponent, who then owns the doubled cube, may cash it from `next_cash` on."""
    worth = _worth(table, state, 2 * cube)
    win, drop = ends.average_win(worth), table.after_game(state, cube)
    return np.asarray(1 - next_cash * (drop - win) / (worth(-1) - win))


def _worth(table: MatchEquityTable, state: MatchState, cube: int) -> Callable[[int], float]:
    """The chance to win the match after a game of -3 to 3 times `cube`."""
    return lambda points: table.after_game(state, points * cube)


def _share(part: Floats, whole: Floats) -> Floats:
    """`part` of `whole`, at most all of it; none of nothing."""
    shares = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    return np.minimum(shares, 1.0)


def _average(worth: Callable[[int], float], sign: int, gammons: Floats, backgammons: Floats) -> Floats:
    single, gammon, backgammon = (worth(sign * points) for points in (1, 2, 3))
    return single + (gammon - single) * gammons + (backgammon - gammon) * backgammons
