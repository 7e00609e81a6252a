"""The cubes that a game may come to from a state of the match, and what they are worth two rolls ahead.

Janowski's model speaks of an average cube.  Two rolls ahead it stands behind the next roll of either side:
until then both double and answer as is best for them.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt

from motif.board.match_state import LARGEST_CUBE, CubeOwner, MatchState
from motif.board.movegen import ROLL_SHARES, ROLLS
from motif.board.outcome import finished_points_many
from motif.board.packed import Board, pack_many
from motif.cube.equities import DEFAULT_EFFICIENCY, Efficiency, Floats, Scale, scale, stakes_of
from motif.cube.exact import MONEY_COLUMNS, cube_levels, match_values
from motif.cube.match_equity import MatchEquityTable
from motif.evaluators import OUTPUTS, Evaluator, StaticEvaluator
from motif.evaluators.bearoff.two_sided_cubes import money_cubes
from motif.evaluators.probabilities import turned, turned_equities
from motif.evaluators.stakes import DEAD, EVEN, NO_CUBE, Stakes
from motif.rollout.games import (
    NO_DOUBLE,
    CubeStates,
    Flags,
    Games,
    Rolls,
    decide_cubes,
    known_boards,
    stakes_in,
    turn_cubes,
    value_rolled,
)
from motif.rollout.trials import model_player

MATCH_CHECKERS = 4
"""Checkers of either side up to which the values of a match are worked out for all positions."""
_KEPT = 64
_NO_EXACT = np.zeros((1, 0, 0, 1))
_Level = tuple[int, int | None]


@lru_cache(maxsize=_KEPT)
def cube_states(
    state: MatchState,
    efficiency: Efficiency = DEFAULT_EFFICIENCY,
    table: MatchEquityTable | None = None,
    checkers: int = MATCH_CHECKERS,
) -> CubeStates:
    """The cubes that may come of `state`, whose player on roll is side 0; beavers are left out.

    A match is valued by `table`, or the default one, and exactly where both sides have so few `checkers`:
    with 4 of them that takes some 5 MB.  Raises `SettingError` for a match that is over.
    """
    levels = list(cube_levels(state)) if state.length else _money_levels(state)
    unit = scale(state, table)
    stakes = [_stakes(state, level, efficiency, unit, table) for level in levels]
    if state.length:
        doubled, exact = match_values(state, checkers, table)
        column = np.repeat(np.arange(len(levels))[:, None], 2, axis=1)
        middle, factor = np.array([unit.middle, 1 - unit.middle]), np.full(len(levels), 1 / unit.half)
    else:
        doubled, exact = _money_doubles(levels), money_cubes()[None]
        column = np.array([[MONEY_COLUMNS[_owner(level, side)] for side in (0, 1)] for level in levels])
        middle, factor = np.zeros(2), np.array([cube / state.cube for cube, _ in levels])
    return _stacked(stakes, [cube for cube, _ in levels], doubled, exact, column, middle, factor)


@lru_cache(maxsize=_KEPT)
def without_doubles(state: MatchState | None = None) -> CubeStates:
    """One cube that nobody can turn: the ends of the game in `state`, or money play without a cube."""
    stakes = NO_CUBE if state is None else stakes_of(state)._replace(kind=DEAD)
    if state is None:
        points = np.arange(-3, 4.0)
        stakes = stakes._replace(worth=np.stack([points, points])[:, None])
    none = np.full((1, 2), NO_DOUBLE, np.int64)
    cube = 1 if state is None else state.cube
    return _stacked([stakes], [cube], none, _NO_EXACT, none, np.zeros(2), np.ones(1))


def _stacked(
    stakes: list[Stakes],
    cubes: list[int],
    doubled: npt.NDArray[np.int64],
    exact: npt.NDArray[np.float64],
    column: npt.NDArray[np.int64],
    middle: npt.NDArray[np.float64],
    factor: npt.NDArray[np.float64],
) -> CubeStates:
    most = max(one.worth.shape[1] for one in stakes)
    worth = [np.pad(one.worth, ((0, 0), (0, most - one.worth.shape[1]), (0, 0))) for one in stakes]
    return CubeStates(
        np.array([one.kind for one in stakes], np.int64),
        np.array([one.owner for one in stakes], np.int64),
        np.array([one.last for one in stakes], np.int64),
        np.stack(worth),
        np.stack([one.played_out for one in stakes]),
        stakes[0].efficiency,
        np.array(cubes, np.int64),
        doubled,
        exact,
        column.astype(np.int64),
        middle,
        factor,
    )


def _stakes(
    state: MatchState, level: _Level, efficiency: Efficiency, unit: Scale, table: MatchEquityTable | None
) -> Stakes:
    """What is at stake with the cube of `level`, in equities of `unit`, or of the cube of `state`."""
    there = replace(state, cube=level[0], cube_owner=_owner(level, 0), dice=None)
    if not state.length:
        unit = Scale(half=state.cube / level[0])
    return stakes_of(there, table, efficiency, unit=unit)


def _owner(level: _Level, side: int) -> CubeOwner:
    owner = level[1]
    return "centre" if owner is None else "me" if owner == side else "opponent"


def _money_levels(state: MatchState) -> list[_Level]:
    """The cubes of money play, the present one first."""
    owners: dict[CubeOwner, int | None] = {"centre": None, "me": 0, "opponent": 1}
    levels: list[_Level] = [(state.cube, owners[state.cube_owner])]
    cube = 2 * state.cube
    while cube <= LARGEST_CUBE:
        levels += [(cube, 0), (cube, 1)]
        cube *= 2
    return levels


def _money_doubles(levels: list[_Level]) -> npt.NDArray[np.int64]:
    numbers = {level: number for number, level in enumerate(levels)}
    return np.array(
        [
            [
                numbers.get((2 * cube, 1 - side), NO_DOUBLE) if owner in (None, side) else NO_DOUBLE
                for side in (0, 1)
            ]
            for cube, owner in levels
        ]
    )


def cube_maker(state: MatchState, efficiency: Efficiency = DEFAULT_EFFICIENCY) -> Callable[[], CubeStates]:
    """What makes `cube_states` in a worker."""
    return partial(cube_states, replace(state, dice=None), efficiency)


_PLIES = 2
"""Rolls until the model of the cube stands: one of each player."""
_BOARDS_AT_ONCE = 16
_NEAR = 0.12
"""Of half of what lies between losing and winning a single game: how far a double may be from right or wrong
by the model for two more rolls to be looked at.  From .1 to .15 these turned 3 of 212 decisions round, beyond
that one of 616."""
ALMOST = 1e-9
"""What is nearer is equal up to rounding."""


def held_ahead(
    chooser: Evaluator, cubes: CubeStates, state: int, side: int, boards: Board, chances: Floats
) -> Floats:
    """What unfinished `boards` (n, 26) are worth to `side`, who is on roll in a `state` of the `cubes` and
    does not double before this roll: (n,).

    All positions that the next two rolls lead to are seen, played as the `chooser` finds best with the cube
    where it lies.  Theirs are his chances, moved so that their mean is the `chances` (n, 5) of `boards`.
    """
    values = np.empty(len(boards))
    for first in range(0, len(boards), _BOARDS_AT_ONCE):
        part = slice(first, first + _BOARDS_AT_ONCE)
        values[part] = _Ahead(chooser, cubes, state, side, boards[part], chances[part]).held(0, state)
    return values


class _Ahead:
    """Some positions, and all those after the next two rolls."""

    def __init__(
        self, chooser: Evaluator, cubes: CubeStates, state: int, side: int, boards: Board, chances: Floats
    ) -> None:
        self._cubes, self._side = cubes, side
        going = np.ones(len(boards), np.bool_)
        self._points = [np.zeros(len(boards), np.int64)]
        """By ply: what who is on roll has won where the game has just ended; 0 elsewhere."""
        known = [chances]
        for ply in range(_PLIES):
            boards, going = np.repeat(boards, len(ROLLS), axis=0), np.repeat(going, len(ROLLS))
            rolls = np.tile(ROLLS, (len(self._points[-1]), 1))[going]
            boards[going] = _played(chooser, cubes, state, (side + ply) % 2, boards[going], rolls)
            ended = finished_points_many(pack_many(boards).view(np.int64)).astype(np.int64)
            self._points.append(np.where(going, ended, 0))
            going = going & (ended == 0)
            known.append(chooser.evaluate_many(boards).astype(np.float64))
        self._packed, self._chances = pack_many(boards), known[-1]
        shares = np.outer(ROLL_SHARES, ROLL_SHARES).ravel()
        shares = (going.reshape(-1, len(shares)) * shares).sum(axis=1, keepdims=True)
        missing = np.divide(chances - self._mean(known), shares, where=shares > 0, out=np.zeros_like(chances))
        missing = np.repeat(missing, len(going) // len(missing), axis=0)
        self._chances[going] = np.clip(self._chances[going] + missing[going], 0.0, 1.0)

    def _mean(self, known: list[Floats]) -> Floats:
        """The five chances (n, 5) by those at the last ply, or as they are `known` where the game ended."""
        means = known[-1]
        for ply in reversed(range(_PLIES)):
            below = turned(means).reshape(-1, len(ROLLS), len(OUTPUTS))
            means = np.einsum("nrj,r->nj", below, ROLL_SHARES)
            means = np.where((self._points[ply] != 0)[:, None], known[ply], means)
        return means

    def held(self, ply: int, state: int) -> Floats:
        """What who is on roll at a ply has in `state` if he does not double."""
        below = self._by_model(state) if ply + 1 == _PLIES else self._with_cube(ply + 1, state)
        held = turned_equities(below.reshape(-1, len(ROLLS)) @ ROLL_SHARES)
        return self._with_ends(ply, state, held)

    def _with_cube(self, ply: int, state: int) -> Floats:
        """What he has if he may double first."""
        held, side = self.held(ply, state), (self._side + ply) % 2
        doubled = self._cubes.doubled[state, side]
        if doubled == NO_DOUBLE:
            return held
        answered = np.minimum(self.held(ply, doubled), self._cubes.worth[state, side, 0, EVEN + 1])
        return self._with_ends(ply, state, np.maximum(held, answered))

    def _by_model(self, state: int) -> Floats:
        """What he has at the last ply, where he may double first."""
        count = len(self._packed)
        doubles, takes = np.empty((2, count), np.bool_)
        values, states = np.empty(count), np.full(count, state)
        sides = np.full(count, (self._side + _PLIES) % 2)
        turn_cubes(self._cubes, states, sides, self._packed, self._chances, doubles, takes, values)
        return self._with_ends(_PLIES, state, values)

    def _with_ends(self, ply: int, state: int, values: Floats) -> Floats:
        """`values`, but what the game has brought where it has just ended."""
        points = self._points[ply]
        worth = self._cubes.worth[state, (self._side + ply) % 2, 0, EVEN + points]
        return np.where(points != 0, worth, values)


def _played(
    chooser: Evaluator, cubes: CubeStates, state: int, side: int, boards: Board, rolls: Rolls
) -> Board:
    if isinstance(chooser, StaticEvaluator):
        states, seeds = np.full(len(boards), state), np.zeros(0, np.uint64)
        return model_player(chooser.model).choose(cubes, states, side, boards, rolls, seeds)
    return chooser.staked(stakes_in(cubes, state), side).best_plays(boards, rolls).boards


def decided_ahead(
    chooser: Evaluator, cubes: CubeStates, states: Games, sides: Games, boards: Board, chances: Floats
) -> tuple[Flags, Flags]:
    """Whether the `sides` (n,) on roll on `boards` (n, 26), who may all double, should do so, and whether the
    others should take: (n,) each.

    It is the model that says so by the `chances` (n, 5), and where that is close the cube two rolls ahead.
    """
    packed, doubled = pack_many(boards), cubes.doubled[states, sides]
    held, taken = np.empty((2, len(states)))
    value_rolled(cubes, states, sides, packed, chances, held)
    value_rolled(cubes, doubled, sides, packed, chances, taken)
    lost, won = (cubes.worth[states, sides, 0, EVEN + points] for points in (-1, 1))
    known = known_boards(cubes, packed)
    close = ~known & (np.abs(np.minimum(taken, won) - held) < _NEAR * (won - lost) / 2)
    for state, side in np.unique(np.stack([states, sides], axis=1)[close], axis=0).tolist():
        rows = np.flatnonzero(close & (states == state) & (sides == side))
        after = cubes.doubled[state, side]
        for values, there in ((held, state), (taken, after)):
            values[rows] = held_ahead(chooser, cubes, there, side, boards[rows], chances[rows])
    doubles, takes = np.empty((2, len(states)), np.bool_)
    decide_cubes(cubes, states, sides, chances, known, held - ALMOST, taken, doubles, takes)
    return doubles, takes
