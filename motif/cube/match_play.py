"""Janowski's model for match play: cubeful chances to win the match.

Source: the model of gnubg (Joern Thyssen's `GetPoints` and `Cl2CfMatch`).  The cash points of a live cube
are found from the highest cube that still matters downwards; at that cube a player to whom more points
are of no use any more is redoubled at once, which raises the cube once more before the game is played out.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from motif.board.match_state import CubeOwner, MatchState
from motif.cube.curves import Curve, mixed
from motif.cube.match_equity import MatchEquityTable, aways
from motif.cube.outcomes import Floats, Outcomes

_OTHER: dict[CubeOwner, CubeOwner] = {"centre": "centre", "me": "opponent", "opponent": "me"}


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


def cube_is_dead(state: MatchState) -> bool:
    """Whether nobody can use the cube in a match: in the Crawford game, where both need no more than it
    shows, and at 2 away each, where the game is played for the match as soon as either doubles."""
    own, opponent = aways(state)
    return state.crawford or max(own, opponent) <= state.cube or own == opponent == 2


def match_curve(found: Outcomes, state: MatchState, x: float | Floats, table: MatchEquityTable) -> Curve:
    """Chance to win the match over the chance to win the game, with the cube as it lies in `state`."""
    worth = _worth(table, state, state.cube)
    lose, win = found.average_loss(worth), found.average_win(worth)
    zero, one = np.zeros_like(win), np.ones_like(win)
    if cube_is_dead(state):
        return mixed([zero, one], [lose, win], lose, win, 0.0)
    own_cash, other_cash = cash_points(found, state, table)
    dropped, cashed = worth(-1) * one, worth(1) * one
    if state.cube_owner == "centre":
        return mixed([zero, 1 - other_cash, own_cash, one], [lose, dropped, cashed, win], lose, win, x)
    if state.cube_owner == "me":
        return mixed([zero, own_cash, one], [lose, cashed, win], lose, win, x)
    return mixed([zero, 1 - other_cash, one], [lose, dropped, win], lose, win, x)


def cash_points(found: Outcomes, state: MatchState, table: MatchEquityTable) -> tuple[Floats, Floats]:
    """Chances to win the game (n,) from which the player on roll, and the opponent for his part, cash with
    a live cube."""
    sides = (found, state), (found.turned(), turned_state(state))
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


def _worth(table: MatchEquityTable, state: MatchState, cube: int) -> "partial[float]":
    """The chance to win the match after a game of -3 to 3 times `cube`."""
    return partial(_after, table, state, cube)


def _after(table: MatchEquityTable, state: MatchState, cube: int, points: float) -> float:
    return table.after_game(state, int(points) * cube)


def _last_cash_point(found: Outcomes, state: MatchState, cube: int, table: MatchEquityTable) -> Floats:
    """Where the doubled cube is of no more use to one of the players."""
    own, opponent = aways(state)
    redoubled = own <= 2 * cube < opponent
    worth = _worth(table, state, 4 * cube if redoubled else 2 * cube)
    lose = found.average_loss(worth)
    return np.asarray((lose - table.after_game(state, cube)) / (lose - found.average_win(worth)))


def _live_cash_point(
    found: Outcomes, state: MatchState, cube: int, table: MatchEquityTable, next_cash: Floats
) -> Floats:
    """Where the opponent, who then owns the doubled cube, may cash it from `next_cash` on."""
    worth = _worth(table, state, 2 * cube)
    win, passed = found.average_win(worth), table.after_game(state, cube)
    return np.asarray(1 - next_cash * (passed - win) / (worth(-1) - win))
