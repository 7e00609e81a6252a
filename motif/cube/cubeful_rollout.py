"""Rollouts of cube decisions: both sides double, take and pass, and the results have standard errors.

The same dice play a position without a double and, in another game, after a double that was taken; a pass
is exact.  Trials that are cut short are valued by the chances there and the cube where it lies; whoever is on
roll then may still double.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt

from motif.board.match_state import LARGEST_CUBE, CubeOwner, MatchState
from motif.board.outcome import outcome
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.cube.decision import best_action
from motif.cube.equities import (
    DEFAULT_EFFICIENCY,
    DOUBLE_PASS,
    Efficiency,
    Scale,
    may_double,
    scale,
    stakes_of,
)
from motif.cube.exact import MONEY_COLUMNS, cube_levels, match_values
from motif.evaluators import StaticEvaluator
from motif.evaluators.bearoff.two_sided_cubes import money_cubes
from motif.evaluators.stakes import DEAD, NO_CUBE, Stakes
from motif.rollout.games import NO_DOUBLE, CubeStates
from motif.rollout.rollout_settings import RolloutSettings
from motif.rollout.tally import Tally
from motif.rollout.trials import RESULT_NAMES, CubeStart, tally_trials
from motif.runtime.errors import PositionError
from motif.runtime.progress import Stopwatch

MATCH_CHECKERS = 4
"""Checkers of either side up to which the values of a match are worked out for all positions."""
_KEPT = 64
_NO_EXACT = np.zeros((1, 0, 0, 1))
_Level = tuple[int, int | None]


@lru_cache(maxsize=_KEPT)
def cube_states(state: MatchState, efficiency: Efficiency = DEFAULT_EFFICIENCY) -> CubeStates:
    """The cubes that may come of `state`, whose player on roll is side 0; beavers are left out.

    A match is valued by the default table.  Raises `SettingError` for a match that is over.
    """
    levels = list(cube_levels(state)) if state.length else _money_levels(state)
    unit = scale(state)
    stakes = [_stakes(state, level, efficiency, unit) for level in levels]
    if state.length:
        doubled, exact = match_values(state, MATCH_CHECKERS)
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


def _stakes(state: MatchState, level: _Level, efficiency: Efficiency, unit: Scale) -> Stakes:
    """What is at stake with the cube of `level`, in equities of `unit`, or of the cube of `state`."""
    there = replace(state, cube=level[0], cube_owner=_owner(level, 0), dice=None)
    if not state.length:
        unit = Scale(half=state.cube / level[0])
    return stakes_of(there, efficiency=efficiency, unit=unit)


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


@dataclass(frozen=True)
class CubeRollout:
    """What the player on roll has without a double and after one that is taken, by a rollout.

    Equities are his, normalised as those of a `CubeDecision`; a pass brings him 1.  What a double brings is
    None where it is of no use to him.
    """

    state: MatchState
    mean: npt.NDArray[np.float64]
    """(6,): without a double, the five probabilities and the equity."""
    se: npt.NDArray[np.float64]
    """(6,): their standard errors."""
    double_take: float | None
    double_take_se: float | None
    difference: float | None
    """Equity of a double that is answered as is best, less that without one."""
    difference_se: float | None
    trials: int
    seconds: float

    @property
    def no_double(self) -> float:
        """Equity without a double before this roll."""
        return float(self.mean[-1])

    @property
    def double_pass(self) -> float | None:
        """Equity after a double that is passed."""
        return None if self.double_take is None else DOUBLE_PASS

    @property
    def action(self) -> str:
        """What both should do, in the words of `CubeDecision.action`, as far as the trials can tell."""
        if self.double_take is None and may_double(self.state):
            return f"no {'redouble' if self.state.cube_owner == 'me' else 'double'}, dead cube"
        gammons = bool(self.mean[RESULT_NAMES.index("win_gammon")] > 0)
        return best_action(self.state, self.no_double, self.double_take, self.double_pass, gammons)[0]

    def mwc(self, equity: float) -> float | None:
        """Chance to win the match for which an `equity` stands; None for money."""
        if not self.state.length:
            return None
        middle, half = scale(self.state)
        return middle + half * equity


def roll_out_cube(
    position: Position,
    state: MatchState,
    evaluator: StaticEvaluator,
    settings: RolloutSettings | None = None,
    *,
    efficiency: Efficiency = DEFAULT_EFFICIENCY,
    jobs: int | None = None,
) -> CubeRollout:
    """Roll out the cube decision of the player on roll in `state`, with `evaluator` playing both sides.

    Beavers are left out.  The result is the same for any number of `jobs`.  Raises `SettingError` for what
    makes no sense with a cube and for a match that is over, `PositionError` for a game that is.
    """
    settings = settings or RolloutSettings()
    settings.check(with_cube=True)
    if outcome(position):
        raise PositionError("the game is over, nobody doubles")
    state = replace(state, beavers=False, raccoons=False)
    maker = cube_maker(state, efficiency)
    doubled = int(maker().doubled[0, 0])
    first = (0,) if doubled == NO_DOUBLE else (0, doubled)
    packed = pack_many(np.repeat(position.board[None], len(first), axis=0))

    def enough(tally: Tally) -> bool:
        return bool(tally.errors().reshape(-1, len(RESULT_NAMES))[:, -1].max() <= settings.se)

    stopwatch = Stopwatch()
    (tally,) = tally_trials(
        settings.model_of(evaluator),
        settings,
        packed,
        np.zeros(len(first), np.int64),
        together=len(first),
        cube=CubeStart(maker, first),
        enough=enough if settings.se > 0 else None,
        label=f"rolling out with {evaluator.name}",
        jobs=jobs,
    )
    means = tally.mean().reshape(-1, len(RESULT_NAMES))
    errors = tally.errors().reshape(-1, len(RESULT_NAMES))
    seconds = stopwatch.seconds
    if doubled == NO_DOUBLE:
        return CubeRollout(state, means[0], errors[0], None, None, None, None, tally.trials, seconds)
    no_double, taken = (float(value) for value in means[:, -1])
    passes = taken >= DOUBLE_PASS
    slopes = np.zeros(means.size)
    slopes[len(RESULT_NAMES) - 1], slopes[-1] = -1.0, 0.0 if passes else 1.0
    variance = float(slopes @ tally.covariance() @ slopes)
    return CubeRollout(
        state,
        means[0],
        errors[0],
        taken,
        float(errors[1, -1]),
        min(taken, DOUBLE_PASS) - no_double,
        float(np.sqrt(max(variance, 0.0))) if variance == variance else float("nan"),
        tally.trials,
        seconds,
    )
