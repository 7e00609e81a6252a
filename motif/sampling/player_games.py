"""Games and labels for samples, by evaluators that are not compiled.

The games are played side by side and then sampled like recorded games, more slowly than compiled self-play.
"""

from dataclasses import replace

import numpy as np

from motif.board.packed import Board, pack_many
from motif.evaluators import Evaluator
from motif.evaluators.evaluator import ranks
from motif.evaluators.probabilities import HEADS
from motif.players.player import random_player
from motif.rollouts.games import SeededDice, Streams, lockstep, starts, trial_states
from motif.rollouts.player_trials import best_of
from motif.rollouts.rollout_settings import RolloutSettings
from motif.rollouts.trials import tally_trials
from motif.runtime.arrays import BoolArray, IntArray
from motif.sampling.dataset import Dataset
from motif.sampling.recorded_games import NO_ONE, RecordedGame


def games_of(evaluator: Evaluator, seed: int, noise: float, first: int, count: int) -> list[RecordedGame]:
    """Play the games `first`, ..., `first` + `count` - 1 of an evaluator against itself.

    A share `noise` of the plays is random.
    """
    best, any_play = best_of(evaluator), random_player().choose_many

    def choose(boards: Board, rolls: IntArray, states: Streams) -> Board:
        after = best(boards, rolls, states)
        drawn = states / 2.0**64 < noise
        if drawn.any():
            after[drawn] = any_play(boards[drawn], rolls[drawn], states[drawn])
        return after

    dice = SeededDice(seed).of(np.arange(first, first + count))
    begin, *plies = lockstep(choose, dice, starts(count))
    points = begin.points.copy()
    for ply in plies:
        points[ply.games] = ply.points
    game = np.concatenate([ply.games for ply in plies])
    order = np.argsort(game, kind="stable")
    after = pack_many(np.concatenate([ply.boards for ply in plies])[order])
    rolls = np.concatenate([dice(ply.games, ply.number - 1)[0] for ply in plies])[order]
    ends = np.cumsum(np.bincount(game)).tolist()
    start = pack_many(begin.boards[:1])
    return [
        RecordedGame(
            np.concatenate([start, after[low : high - 1]]),
            rolls[low:high],
            after[low:high],
            np.arange(high - low) % 2,
            NO_ONE if won == 0 else int(won < 0),
            abs(won),
        )
        for low, high, won in zip([0, *ends], ends, points.tolist(), strict=False)
    ]


def few_candidates(evaluator: Evaluator, data: Dataset, candidates: int, seed: int) -> BoolArray:
    """Choose at most `candidates` plays of each decision: return a mask of their positions (n,).

    The candidates are the chosen play, the best plays by the evaluator, and as many random plays.
    """
    decision = data.decision
    by_value = ranks(decision, ~data.chosen, evaluator.equity_many(data.boards))
    lots = trial_states(seed, decision, 0, 1)[:, 0] ^ trial_states(seed, np.arange(len(decision)), 1, 1)[:, 0]
    late = by_value > candidates // 2
    return ranks(decision, late, np.where(late, lots / 2.0**64, by_value)) < candidates


def rolled_out(evaluator: Evaluator, data: Dataset, settings: RolloutSettings) -> Dataset:
    """Return the positions with labels from rollouts, with the same dice within a decision."""
    tallies = tally_trials(evaluator, settings, pack_many(data.boards), data.decision, jobs=1)
    means = np.array([tally.mean() for tally in tallies], np.float32).reshape(-1, len(HEADS))
    return replace(
        data,
        probabilities=means[:, :-1],
        equity=means[:, -1],
        equity_se=np.array([tally.errors()[-1] for tally in tallies], np.float32),
        trials=np.full(len(data), settings.trials, np.int32),
    )
