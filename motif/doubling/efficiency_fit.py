"""Fit cube efficiencies to cubeful rollouts.

Positions of self-play are rolled out for money with a centred cube and with the cube owned by either player,
and with the same dice without a cube.  From the cubeless probabilities the model computes the equities of a
dead and of a live cube; x is the share of the way from dead to live that fits the cubeful rollouts, by least
squares over the positions of a class and the three cube states.  Its standard error is over positions, which
are independent.

Rollouts are those of `motif.doubling.cubeful_rollout`, without Jacoby rule and beavers.  Both sides
make cube decisions by the model with the x of the previous round, at first the default, and by exact tables.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from motif.board.match_state import MatchState
from motif.board.packed import Board, pack_many
from motif.doubling.cube_states import cube_maker
from motif.doubling.equities import (
    DEFAULT_EFFICIENCY,
    EFFICIENCY_CLASSES,
    Efficiency,
    Floats,
    cubeful_equities,
    efficiency_classes,
)
from motif.evaluators import OUTPUTS, Evaluator, StaticEvaluator
from motif.evaluators.probabilities import WIN
from motif.rollouts.games import Ply, lockstep, starts, stream_dice
from motif.rollouts.rollout_settings import RolloutSettings, check_count
from motif.rollouts.tally import Tally
from motif.rollouts.trials import CubeStart, tally_trials
from motif.runtime.errors import check_seed
from motif.runtime.streams import derive_states

CUBE_STATES = (MatchState(), MatchState(cube=2, cube_owner="me"), MatchState(cube=2, cube_owner="opponent"))
"""Initial states of the cube, from the side of the player on roll."""
_GAMES_A_POSITION = 4
_OPEN = 0.15
"""The winner is open while each side has at least this win probability."""
_SELF_PLAY_TRIAL = 2**40
"""Trial number of self-play's random streams, which no rollout reaches."""


@dataclass(frozen=True)
class FittedEfficiency:
    """The x of one position class."""

    name: str
    """One of `EFFICIENCY_CLASSES`."""
    x: float
    """Fitted value, possibly outside 0 to 1."""
    se: float
    """Standard error of `x`, over positions."""
    default: float
    """gnubg's x, averaged over the same positions."""
    positions: int
    games: int
    """Games rolled out in the last round."""


@dataclass(frozen=True)
class EfficiencyFit:
    """The fits of all classes that occurred in the games."""

    classes: tuple[FittedEfficiency, ...]
    efficiency: Efficiency
    """Default efficiencies with these fits; x of a race no longer depends on the pips."""
    rounds: int


def fit_efficiency(
    evaluator: StaticEvaluator,
    positions: int,
    trials: int,
    *,
    rounds: int = 2,
    seed: int = 0,
    jobs: int | None = None,
) -> EfficiencyFit:
    """Fit the cube efficiency x of each class of positions to cubeful rollouts.

    Parameters
    ----------
    evaluator
        A static evaluator; it plays both sides.
    positions
        Number of positions per class, from the evaluator's games.
    trials
        Number of rollout trials per position.
    rounds
        Number of rounds of rollouts, each with the x of the round before.
    seed
        Random seed.
    jobs
        Number of processes, by default all cores; the result does not depend on it.

    Returns
    -------
    EfficiencyFit
        x of each class, 0 (dead cube) to 1 (live cube), with standard errors.

    Raises
    ------
    SettingError
        For counts that are too small.
    """
    check_seed(seed)
    for name, value, least in (("positions", positions, 2), ("trials", trials, 1), ("rounds", rounds, 1)):
        check_count(name, value, least)
    boards, classes = drawn_positions(evaluator, positions, seed)
    efficiency = DEFAULT_EFFICIENCY
    for _ in range(rounds):
        won, chances = cubeful_results(evaluator, efficiency, boards, trials, seed=seed, jobs=jobs)
        fits = _fits(boards, classes, won, chances, trials)
        efficiency = _with(fits)
    return EfficiencyFit(fits, efficiency, rounds)


def drawn_positions(evaluator: Evaluator, count: int, seed: int) -> tuple[Board, npt.NDArray[np.int8]]:
    """Draw boards (n, 26), at most `count` of each class, and their indices into `EFFICIENCY_CLASSES`.

    Each of the self-play games contributes one random position per class among those whose winner is open:
    in the others a double would have been passed long before.
    """
    count_games = _GAMES_A_POSITION * count
    states = derive_states(seed, 0, count_games, _SELF_PLAY_TRIAL)
    parts = []
    for ply in self_play(evaluator, starts(count_games), states):
        going = ply.points == 0
        if ply.number and going.any():
            games, boards = ply.games[going], ply.boards[going]
            wins = evaluator.evaluate_many(boards)[:, WIN]
            is_open = (wins >= _OPEN) & (wins <= 1 - _OPEN)
            parts.append((games[is_open], boards[is_open]))
    games, boards = map(np.concatenate, zip(*parts, strict=True))
    classes = efficiency_classes(boards)
    # In a random order, the first position of each game and class.
    order = np.random.default_rng(seed).permutation(len(games))
    kinds = games[order] * len(EFFICIENCY_CLASSES) + classes[order]
    rows = order[np.unique(kinds, return_index=True)[1]]
    rows = np.concatenate([rows[classes[rows] == code][:count] for code in np.unique(classes)])
    return boards[rows], classes[rows]


def cubeful_results(
    evaluator: StaticEvaluator,
    efficiency: Efficiency,
    boards: Board,
    trials: int,
    *,
    seed: int = 0,
    jobs: int | None = None,
) -> tuple[Floats, Floats]:
    """Return mean points (n, `CUBE_STATES`) won by the players on roll, and cubeless chances (n, 5).

    Points are in units of the cube; nobody doubles before the first roll.
    """
    settings = RolloutSettings(trials, stratified=True, seed=seed)
    model, items = settings.model_of(evaluator), np.arange(len(boards))
    label = "cubeful rollouts"
    places = len(CUBE_STATES)
    cubeless = tally_trials(model, settings, pack_many(boards), items, label=label, jobs=jobs)
    cubeful = tally_trials(
        model,
        settings,
        pack_many(np.repeat(boards, places, axis=0)),
        np.repeat(items, places),
        together=places,
        cube=CubeStart(cube_maker(CUBE_STATES[0], efficiency), tuple(range(places))),
        label=label,
        jobs=jobs,
    )

    def means(tallies: list[Tally]) -> Floats:
        return np.array([tally.mean() for tally in tallies]).reshape(len(boards), -1, len(OUTPUTS) + 1)

    # The two states after the root's are the doubled cube, owned by either side.
    return means(cubeful)[..., -1] / [state.cube for state in CUBE_STATES], means(cubeless)[:, 0, :-1]


def self_play(evaluator: Evaluator, boards: Board, states: npt.NDArray[np.uint64]) -> Iterator[Ply]:
    """Play `evaluator` against itself from `boards` (n, 26), with dice of the streams `states` (n,)."""
    dice = stream_dice(states)
    return lockstep(lambda now, rolls, _: evaluator.best_plays(now, rolls).boards, dice, boards)


def _fits(
    boards: Board, classes: npt.NDArray[np.int8], won: Floats, chances: Floats, trials: int
) -> tuple[FittedEfficiency, ...]:
    """Return the fit of each class from the results (n, `CUBE_STATES`) and chances (n, 5) of `boards`."""
    dead, live = (
        np.stack([cubeful_equities(chances, state, x) for state in CUBE_STATES], axis=1) for x in (0.0, 1.0)
    )
    default = DEFAULT_EFFICIENCY.of_boards(boards)
    fits = []
    for code, name in enumerate(EFFICIENCY_CLASSES):
        rows = classes == code
        count = int(rows.sum())
        way, went = (live - dead)[rows], (won - dead)[rows]
        weight = float((way**2).sum())
        if count < 2 or weight == 0:
            continue
        x = float((way * went).sum()) / weight
        gradients = (way * (went - x * way)).sum(axis=1)
        se = float(np.sqrt((gradients**2).sum() * count / (count - 1))) / weight
        fits.append(FittedEfficiency(name, x, se, float(default[rows].mean()), count, count * trials))
    return tuple(fits)


def _with(fits: tuple[FittedEfficiency, ...]) -> Efficiency:
    """Return the default efficiencies replaced by those of `fits`."""
    changes: dict[str, float] = {}
    for fit in fits:
        x = min(max(fit.x, 0.0), 1.0)
        if fit.name == "race":
            changes |= {"race_base": x, "race_per_pip": 0.0, "race_lowest": x, "race_highest": x}
        else:
            changes[fit.name] = x
    return replace(DEFAULT_EFFICIENCY, **changes)
