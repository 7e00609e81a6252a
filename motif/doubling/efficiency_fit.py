"""Fit cube efficiencies to cubeful rollouts.

Positions from self-play are rolled out for money with a centred cube, with the cube owned by either player
and, with the same dice, without a cube.  From the cubeless probabilities, the model computes the equities
of a dead and of a live cube.  x is the fraction of the way from dead to live that best fits the cubeful
rollouts, by least squares over the positions of a class and the three cube states.  The standard error of x
is over positions, which are independent.

The rollouts are those of `motif.doubling.cubeful_rollout`, without the Jacoby rule and beavers.  Both sides
make cube decisions by exact tables and by the model, with the x of the previous round (in the first round,
the default).
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

import numpy as np
import numpy.typing as npt

from motif.board.match_state import MatchState
from motif.board.packed import Board, pack_many
from motif.doubling.cube_states import cube_model_for
from motif.doubling.equities import (
    DEFAULT_EFFICIENCY,
    EFFICIENCY_CLASSES,
    Efficiency,
    cubeful_equities,
    efficiency_classes,
)
from motif.evaluators import OUTPUTS, Evaluator, StaticEvaluator
from motif.evaluators.probabilities import WIN
from motif.rollouts.games import lockstep, starts, stream_dice
from motif.rollouts.player_trials import best_of
from motif.rollouts.rollout_settings import RolloutSettings
from motif.rollouts.tally import Tally
from motif.rollouts.trials import CubeStart, tally_trials
from motif.runtime.arrays import FloatArray, IntArray
from motif.runtime.errors import SettingError
from motif.runtime.frames import Row, Tabular
from motif.runtime.settings import check_count, check_seed
from motif.runtime.streams import derive_states

CUBE_STATES = (MatchState(), MatchState(cube=2, cube_owner="me"), MatchState(cube=2, cube_owner="opponent"))
"""Initial cube states of the rollouts, from the side of the player on roll."""
_GAMES_A_POSITION = 4
_OPEN = 0.15
"""Positions are used while each side has at least this win probability."""
_SELF_PLAY_TRIAL = 2**40
"""Trial number in the random streams of self-play; trials of rollouts have smaller numbers."""


@dataclass(frozen=True)
class FittedEfficiency:
    """The fitted x of one position class."""

    name: str
    """One of `EFFICIENCY_CLASSES`."""
    x: float
    """Fitted value, possibly outside 0 to 1."""
    se: float
    """Standard error of `x`, over positions."""
    default: float
    """gnubg's x, as a mean over the same positions."""
    positions: int
    games: int
    """Number of games rolled out in the last round."""


@dataclass(frozen=True, repr=False)
class EfficiencyFit(Tabular):
    """The fits for all position classes that occurred in the games."""

    classes: tuple[FittedEfficiency, ...]
    efficiency: Efficiency
    """Default efficiencies with the fitted values; the x of a race does not depend on the pips."""
    rounds: int

    def records(self) -> list[Row]:
        """Return a row for each class."""
        return [asdict(fitted) for fitted in self.classes]

    def to_dict(self) -> Row:
        """Return the fits and the resulting efficiencies by name, for JSON."""
        return {
            "classes": self.records(),
            "efficiency": asdict(self.efficiency),
            "rounds": self.rounds,
        }


def fit_efficiency(
    evaluator: StaticEvaluator,
    positions: int,
    trials: int,
    *,
    rounds: int = 2,
    seed: int = 0,
    jobs: int | None = None,
) -> EfficiencyFit:
    """Fit the cube efficiency x of each position class to cubeful rollouts.

    See `motif.cube_efficiency`; raises `SettingError` if a count is too small to fit any class.
    """
    seed, positions = check_seed(seed), check_count("positions", positions, 2)
    trials, rounds = check_count("trials", trials, 1), check_count("rounds", rounds, 1)
    boards, classes = drawn_positions(evaluator, positions, seed)
    efficiency = DEFAULT_EFFICIENCY
    for _ in range(rounds):
        won, chances = cubeful_results(evaluator, efficiency, boards, trials, seed=seed, jobs=jobs)
        fits = _fits(boards, classes, won, chances, trials)
        efficiency = _with(fits)
    if not fits:
        raise SettingError(
            f"trials: {trials} are too few to fit any class, whose results are all certain", "trials"
        )
    return EfficiencyFit(fits, efficiency, rounds)


def drawn_positions(evaluator: Evaluator, count: int, seed: int) -> tuple[Board, npt.NDArray[np.int8]]:
    """Draw boards (n, 26), at most `count` of each class, and their indices into `EFFICIENCY_CLASSES`.

    Each self-play game contributes at most one random position per class.  Positions with a clear winner
    are left out, because a double would have been passed long before.
    """
    parts = []
    for games, boards in boards_of_self_play(evaluator, _GAMES_A_POSITION * count, seed, _SELF_PLAY_TRIAL):
        wins = evaluator.evaluate_many(boards)[:, WIN]
        is_open = (wins >= _OPEN) & (wins <= 1 - _OPEN)
        parts.append((games[is_open], boards[is_open]))
    games, boards = map(np.concatenate, zip(*parts, strict=True))
    classes = efficiency_classes(boards)
    # Choose the first position of each game and class in a random order.
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
) -> tuple[FloatArray, FloatArray]:
    """Return the mean points (n, `CUBE_STATES`) of the players on roll, and the cubeless chances (n, 5).

    Points are in units of the cube; there is no double before the first roll.
    """
    settings = RolloutSettings(trials, stratified=True, static_cube=True, seed=seed)
    player, items = settings.player_of(evaluator), np.arange(len(boards))
    label = "cubeful rollouts"
    places = len(CUBE_STATES)
    cubeless = tally_trials(player, settings, pack_many(boards), items, label=label, jobs=jobs)
    cubeful = tally_trials(
        player,
        settings,
        pack_many(np.repeat(boards, places, axis=0)),
        np.repeat(items, places),
        together=places,
        cube=CubeStart(cube_model_for(CUBE_STATES[0], None, efficiency), tuple(range(places))),
        label=label,
        jobs=jobs,
    )

    def means(tallies: list[Tally]) -> FloatArray:
        return np.array([tally.mean() for tally in tallies]).reshape(len(boards), -1, len(OUTPUTS) + 1)

    # The two cube states after the initial state are the doubled cube, owned by either side.
    return means(cubeful)[..., -1] / [state.cube for state in CUBE_STATES], means(cubeless)[:, 0, :-1]


def boards_of_self_play(
    evaluator: Evaluator, games: int, seed: int, trial: int
) -> Iterator[tuple[IntArray, Board]]:
    """Play `evaluator` against itself; yield the numbers and boards of the unfinished games after each ply.

    `trial` is the trial number in the random streams of these games.  As in rollouts, a game may begin with a
    double.
    """
    dice = stream_dice(derive_states(seed, 0, games, trial))
    for ply in lockstep(best_of(evaluator), dice, starts(games)):
        going = ply.points == 0
        if ply.number and going.any():
            yield ply.games[going], ply.boards[going]


def _fits(
    boards: Board, classes: npt.NDArray[np.int8], won: FloatArray, chances: FloatArray, trials: int
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
    """Return the default efficiencies, with the values of `fits` in place of theirs."""
    changes: dict[str, float] = {}
    for fit in fits:
        x = min(max(fit.x, 0.0), 1.0)
        if fit.name == "race":
            changes |= {"race_base": x, "race_per_pip": 0.0, "race_lowest": x, "race_highest": x}
        else:
            changes[fit.name] = x
    return replace(DEFAULT_EFFICIENCY, **changes)
