"""Reference values for rollouts: single trials, and exact values of small endings."""

from functools import cache

import numpy as np

from motif.board.movegen import ROLL_COUNTS, ROLLS
from motif.board.outcome import outcome
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.compiler.jit import kernel
from motif.evaluators.probabilities import HEADS, OUTPUTS, certain, equities
from motif.evaluators.static import prepared
from motif.players import Player
from motif.rollouts.playout import roll_trials
from motif.rollouts.rollout_settings import RolloutSettings
from motif.runtime.streams import derive_states

_STATES = derive_states(0, 0, len(ROLLS), 0)


@kernel
def write_certain(points, row):
    certain(points, row)


def exact_chances(player: Player, position: Position) -> np.ndarray:
    """The five probabilities of the player on roll when `player` plays both sides to the end.

    Only endings without hits are possible, because a position must never recur.
    """
    return np.array(_chances(player, position))


@cache
def _chances(player: Player, position: Position) -> tuple[float, ...]:
    if points := outcome(position):
        row = np.empty(5)
        write_certain(int(points), row)
        return tuple(row.tolist())
    boards = np.repeat(position.board[None], len(ROLLS), axis=0)
    total = np.zeros(5)
    for after, count in zip(player.choose_many(boards, ROLLS, _STATES), ROLL_COUNTS.tolist(), strict=True):
        win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = _chances(player, Position(after))
        total += count / 36 * np.array([1 - win, lose_gammon, lose_backgammon, win_gammon, win_backgammon])
    return tuple(total.tolist())


def single_trials(board: np.ndarray, item: int, trials: int, model, seed=0, **rules) -> np.ndarray:
    """Results of trials 0, 1, ... of one board, each rolled out separately: (trials, 6)."""
    results = np.zeros((trials, len(HEADS)))
    for trial in range(trials):
        row = np.zeros((1, 1, len(OUTPUTS)))
        packed, (ready, space) = pack_many(board[None]), prepared(model)
        roll_trials(
            ready, RolloutSettings(**rules).rules(), packed, np.array([item]), seed, trial, space, row
        )
        results[trial, :5] = row[0, 0]
    results[:, 5] = equities(results[:, :5])
    return results
