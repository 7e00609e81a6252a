"""Rollouts of positions: the trials of many boards are distributed over workers and summed in order."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from motif.board.packed import Board, pack_many, unpack_many
from motif.board.position import PositionLike, Positions, as_boards, one_or_more
from motif.evaluators import Evaluator, LookaheadEvaluator, Probabilities, StaticEvaluator
from motif.evaluators.cube_model import CubeModel
from motif.evaluators.model import Model
from motif.evaluators.probabilities import EQUITY_HEAD, HEADS, OUTPUTS, switch_sides
from motif.evaluators.static import prepared
from motif.rollouts.cubeful_games import (
    CubePlayer,
    choose_with_cubes,
    chosen_in_states,
    decided_ahead,
    games_with_cube,
)
from motif.rollouts.games import Choose, Streams, trial_dice
from motif.rollouts.player_trials import Portion, best_of, play_trials
from motif.rollouts.playout import ROUND
from motif.rollouts.rollout_settings import PlayoutRules, RolloutSettings, scored_equities
from motif.rollouts.tally import Tally
from motif.runtime.arrays import FloatArray, IntArray
from motif.runtime.frames import Tabular
from motif.runtime.layout import plus_minus
from motif.runtime.parallel import run_ordered, worker_count
from motif.runtime.progress import Stopwatch, end_if_cancelled, progress

_TRIALS_AT_ONCE = 1296
"""Number of trials of all boards per task of a worker."""
TRIALS_A_CHECK = 9 * ROUND
"""Number of trials of a board between checks of the standard error."""


@dataclass(frozen=True, repr=False, eq=False)
class RolloutResult(Tabular):
    """Rollout results of n positions, for the player on roll."""

    mean: FloatArray
    """Five probabilities and equity (n, 6)."""
    se: FloatArray
    """Standard errors of `mean` (n, 6); NaN for a single trial."""
    trials: IntArray
    """Numbers of trials (n,)."""
    seconds: float
    scoring: str
    """Scoring of the trials."""

    @property
    def sd(self) -> FloatArray:
        """Standard deviations (n, 6) per trial of plain trials with the same standard errors."""
        return self.se * np.sqrt(self.trials)[:, None]

    @property
    def trials_per_second(self) -> float:
        """Trials of all positions per second."""
        return float(self.trials.sum()) / self.seconds if self.seconds > 0 else 0.0

    def to_dict(self) -> dict[str, object]:
        """Return a dict for JSON with the means, standard errors and trials of all positions."""
        return {
            "positions": self.records(),
            "scoring": self.scoring,
            "seconds": self.seconds,
            "trials_per_second": self.trials_per_second,
        }

    def records(self) -> list[dict[str, object]]:
        """Return a dict for each position."""
        return [
            {**by_name(mean), **{f"{name}_se": it for name, it in by_name(se).items()}, "trials": trials}
            for mean, se, trials in zip(self.mean, self.se, self.trials.tolist(), strict=True)
        ]

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        titles = ["position", *(name.replace("_", " ") for name in HEADS), "trials"]
        return titles, [
            [
                str(row),
                *(f"{value:.4f}{plus_minus(error, '.4f')}" for value, error in zip(*both, strict=True)),
                str(trials),
            ]
            for row, (*both, trials) in enumerate(zip(self.mean, self.se, self.trials, strict=True))
        ]

    def probabilities(self, row: int = 0) -> Probabilities:
        """Return the five probabilities of one position."""
        return Probabilities(*map(float, self.mean[row, : len(OUTPUTS)]))

    def equity(self, row: int = 0) -> float:
        """Return the equity of one position."""
        return float(self.mean[row, -1])


def by_name(row: FloatArray) -> dict[str, float]:
    """Return the values of a result (6,), such as its means, by name."""
    return dict(zip(HEADS, row.tolist(), strict=True))


class CubeStart(NamedTuple):
    """Cube model and initial cube states of a rollout's games, and the side on roll."""

    cubes: CubeModel
    """The cube model; there are no beavers in the games."""
    first: tuple[int, ...] = (0,)
    """Initial cube states of the boards that share a tally."""
    side: int = 0
    """Side on roll; the results are for side 0."""
    doubles_first: bool = False
    """Whether that side may double before the first roll."""


def rollout(
    positions: PositionLike | Positions,
    evaluator: Evaluator,
    settings: RolloutSettings,
    *,
    jobs: int | None = None,
) -> RolloutResult:
    """Roll out one position, several, or a board array (n, 26), with `evaluator` playing both sides.

    Positions may be IDs.  Compiled evaluators are some hundred times as fast as others.

    Trial t of position k uses the random stream (seed, k, t), so that the result does not depend on `jobs`.
    Raises `SettingError` for invalid settings, and `PositionError` naming the first invalid row.
    """
    settings.check()
    packed = pack_many(as_boards(one_or_more(positions)))

    stopwatch = Stopwatch()
    tallies = tally_trials(
        settings.player_of(evaluator),
        settings,
        packed,
        np.arange(len(packed)),
        label=f"rolling out with {evaluator.name}",
        jobs=jobs,
    )
    shape = (len(packed), len(HEADS))
    return RolloutResult(
        np.array([tally.mean() for tally in tallies]).reshape(shape),
        np.array([tally.errors() for tally in tallies]).reshape(shape),
        np.array([tally.trials for tally in tallies], np.int64),
        stopwatch.seconds,
        settings.scoring,
    )


def equity_error(tally: Tally) -> float:
    """Return the largest standard error of the equities in a tally of `tally_trials`."""
    return float(tally.errors()[EQUITY_HEAD :: len(HEADS)].max())


def tally_trials(
    player: Evaluator,
    settings: RolloutSettings,
    packed: Board,
    items: IntArray,
    *,
    together: int = 1,
    after_a_play: bool = False,
    cube: CubeStart | None = None,
    error_of: Callable[[Tally], float] = equity_error,
    label: str = "rolling out",
    jobs: int | None = None,
) -> list[Tally]:
    """Roll out packed boards (n, 64); each group of `together` boards with the same item shares a tally.

    The columns of a tally are, for each of its boards, the five probabilities and the equity of the player
    on roll or, with `after_a_play`, of the other player.  With a `cube`, both sides double, and the results
    are those of `games_with_cube`. Trials end at ``settings.trials``, or as soon as `error_of` a tally is at
    most ``settings.se`` after a multiple of `TRIALS_A_CHECK`. Trial t of a board uses the random stream
    (seed, its entry of `items`, t), so that the result does not depend on `jobs`.
    """
    columns = together * len(HEADS)
    tallies = [Tally(columns, settings.rolls_of(int(item))) for item in items[::together]]
    settled: set[int] = set()
    stops = settings.se > 0
    portion = _trials_in_portion(settings, together)
    boards_at_once = together * (1 if stops else max(1, _TRIALS_AT_ONCE // (portion * together)))
    workers = worker_count(jobs)
    if settings.trials <= portion and len(packed) <= boards_at_once:
        workers = 1
    if player.without_lookahead is not player:
        portion = min(portion, ROUND)  # a trial takes long, and the progress moves only between portions

    def calls() -> Iterator[tuple[Portion]]:
        for start in range(0, len(packed), boards_at_once):
            rows = slice(start, start + boards_at_once)
            for first in range(0, settings.trials, portion):
                if start // together in settled:
                    break
                count = min(portion, settings.trials - first)
                yield (Portion(packed[rows], items[rows], first, count, start),)

    play = _player_of(player, settings, cube, after_a_play)
    with (
        progress(label, len(tallies) * settings.trials) as advance,
        closing(run_ordered(play, calls(), workers)) as parts,
    ):
        for start, values in parts:
            for board in range(0, len(values), together):
                number = (start + board) // together
                if number in settled:
                    continue
                rows = values[board : board + together]
                tally = tallies[number]
                tally.add(rows.transpose(1, 0, 2).reshape(-1, columns))
                advance(rows.shape[1])
                if stops and not tally.trials % TRIALS_A_CHECK and error_of(tally) <= settings.se:
                    settled.add(number)
                    advance(settings.trials - tally.trials)
    return tallies


def _trials_in_portion(settings: RolloutSettings, together: int) -> int:
    """Return the number of trials of each of `together` boards per task of a worker."""
    at_once = settings.rules().trials_at_once(together)
    portion = TRIALS_A_CHECK if settings.se > 0 else max(1, min(at_once, _TRIALS_AT_ONCE // together))
    return min(settings.trials, portion)


def results_of_trials(
    player: Evaluator,
    settings: RolloutSettings,
    packed: Board,
    items: IntArray,
    first: int,
    count: int,
    *,
    after_a_play: bool = False,
    cube: CubeStart | None = None,
    jobs: int | None = None,
) -> FloatArray:
    """Return the results of single trials of packed boards (n, 64), from `first` on: (n, count, 6).

    The trials and the columns are the same as in `tally_trials`.
    """
    portion = max(1, _TRIALS_AT_ONCE // len(packed))
    end = first + count
    starts = range(first, end, portion)
    calls = ((Portion(packed, items, start, min(portion, end - start)),) for start in starts)
    play = _player_of(player, settings, cube, after_a_play)
    parts = list(run_ordered(play, calls, 1 if count <= portion else jobs))
    return np.concatenate([values for _, values in parts], axis=1)


def _player_of(
    player: Evaluator, settings: RolloutSettings, cube: CubeStart | None, after_a_play: bool
) -> Callable[[Portion], tuple[int, FloatArray]]:
    """Return the function with which workers play a portion."""
    if cube is not None:
        return partial(_play_with_cube, player, settings, cube)
    return partial(_play, player, settings, settings.rules(), after_a_play)


def _play(
    player: Evaluator,
    settings: RolloutSettings,
    rules: PlayoutRules,
    after_a_play: bool,
    portion: Portion,
) -> tuple[int, FloatArray]:
    """Return the start of a portion and its results (n, trials, 6)."""
    packed, items, first, trials, start = portion
    size = trials
    if isinstance(player, StaticEvaluator):
        size = rules.trials_at_once(len(packed))
    parts = []
    for k in range(0, trials, size):
        end_if_cancelled()
        part = Portion(packed, items, first + k, min(size, trials - k))
        parts.append(play_trials(player, rules, settings.seed, part))
    results = np.concatenate(parts, axis=1)
    chances = switch_sides(results) if after_a_play else results
    equities = scored_equities(chances, settings.scoring)
    return start, np.concatenate([chances, equities[..., None]], axis=-1)


def cubeful_player(evaluator: Evaluator, static_cube: bool) -> CubePlayer:
    """Return the player of both sides in a rollout with a cube; it plays by cubeful equities.

    Close cube decisions are made by lookahead, 1-ply if the evaluator has none, unless `static_cube`.
    """
    has_lookahead = evaluator.without_lookahead is not evaluator
    ahead = evaluator if has_lookahead else LookaheadEvaluator(evaluator, 1)
    decided = None if static_cube else partial(decided_ahead, ahead)
    if isinstance(evaluator, StaticEvaluator):
        return CubePlayer(partial(_chosen_compiled, evaluator.model), evaluator.evaluate_many, decided)

    def with_cube(cube_model: CubeModel, side: int) -> Choose:
        return best_of(evaluator.with_cube(cube_model, side))

    return CubePlayer(partial(chosen_in_states, with_cube), evaluator.evaluate_many, decided)


def _chosen_compiled(
    model: Model, cubes: CubeModel, states: IntArray, side: int, boards: Board, rolls: IntArray, _: Streams
) -> Board:
    results = np.empty_like(boards)
    ready, space = prepared(model)
    choose_with_cubes(ready, cubes, states, side, pack_many(boards), rolls, space, results)
    return results


def _play_with_cube(
    evaluator: Evaluator, settings: RolloutSettings, cube: CubeStart, portion: Portion
) -> tuple[int, FloatArray]:
    """Do the work of `_play` with a `cube`; boards with the same item have the same dice."""
    packed, items, first, trials, start = portion
    count = len(packed)
    cube_states = np.resize(np.array(cube.first, np.int64), count)
    player = cubeful_player(evaluator, settings.static_cube)
    games = games_with_cube(
        (player, player),
        cube.cubes._replace(beavers=False),
        np.repeat(cube_states, trials),
        np.full(count * trials, cube.side, np.int64),
        np.repeat(unpack_many(packed), trials, axis=0),
        trial_dice(settings.seed, items, first, trials, settings.stratified),
        settings,
        doubles_first=cube.doubles_first,
    )
    return start, games.results.reshape(count, trials, len(HEADS))
