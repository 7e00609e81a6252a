"""Trials with plays chosen by any player, such as gnubg, lookahead or your own evaluator.

In the kernels of `motif.rollouts.playout`, a compiled model plays.  Here the trials of several boards are
played side by side, and a player chooses the plays of all trials at each ply.  Dice, truncation and luck
are the same as in the kernels.  Any judge may measure the luck of any player, because mean luck over the
rolls is zero for every judge.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.movegen import ROLL_SHARES, ROLLS, roll_numbers
from motif.board.packed import Board, pack_many, unpack_many
from motif.evaluators import Evaluator
from motif.evaluators.model import Model
from motif.evaluators.probabilities import OUTPUTS, turned
from motif.evaluators.static import prepared, simple
from motif.parameters.position_class import RACE, classify_many
from motif.rollouts.games import Choose, Flags, Rolls, trial_dice
from motif.rollouts.playout import MAX_PLIES, end_trials, luck_adjustments, roll_trials
from motif.rollouts.rollout_settings import PlayoutRules
from motif.rollouts.tally import Values
from motif.runtime.progress import checkpoint

Items = npt.NDArray[np.int64]


def best_of(evaluator: Evaluator) -> Choose:
    """Return a function that chooses the best plays according to `evaluator`."""
    return lambda boards, rolls, _: evaluator.best_plays(boards, rolls).boards


class Portion(NamedTuple):
    """Some trials of some boards."""

    packed: Board
    """Packed boards (n, 64), from the side of the player on roll."""
    items: Items
    """Items (n,): boards with the same item have the same dice, as in `playout.board_trials`."""
    first: int
    """Number of the first trial; trial t of an item has the random stream (seed, item, t)."""
    trials: int
    start: int = 0
    """Index of the first board."""


def play_trials(player: Model | Evaluator, rules: PlayoutRules, seed: int, portion: Portion) -> Values:
    """Play trials with a compiled model or another evaluator; see `player_trials`."""
    if isinstance(player, Evaluator):
        return player_trials(best_of(player), player, rules, seed, portion)
    packed, items, first, trials, _ = portion
    results = np.empty((len(packed), trials, len(OUTPUTS)))
    model, space = prepared(player)
    roll_trials(model, rules, packed, items, seed, first, space, results)
    return results


def player_trials(
    choose: Choose, judge: Model | Evaluator, rules: PlayoutRules, seed: int, portion: Portion
) -> Values:
    """Play the trials of a portion, with plays from `choose`; return float64 (n, trials, 5).

    These are the five probabilities of the player on roll. The `judge` measures the luck, and evaluates
    positions where the `rules` end a trial early.
    """
    packed, items, first, count, _ = portion
    measure = _ByModel(judge, rules) if isinstance(judge, tuple) else _ByEvaluator(judge, rules)
    boards = np.repeat(unpack_many(packed), count, axis=0)
    contact = np.repeat(classify_many(packed) != RACE, count)
    dice = trial_dice(seed, items, first, count, rules.stratified)
    results, luck = np.zeros((2, len(boards), len(OUTPUTS)))
    games = np.arange(len(boards))
    for ply in range(MAX_PLIES + 1):
        checkpoint()
        now = pack_many(boards)
        ended, rows = measure.ends(now, ply, contact[games])
        results[games[ended]] = turned(rows[ended]) if ply % 2 else rows[ended]
        games, boards, now = games[~ended], boards[~ended], now[~ended]
        if not len(games):
            break
        rolls, seeds = dice(games, ply)
        if ply < rules.luck_plies:
            luck[games] += measure.luck(now, rolls, ply)
        boards = choose(boards, rolls, seeds)
    return (results + luck).reshape(len(packed), count, len(OUTPUTS))


class _ByModel:
    """Judge of trials that is a compiled model."""

    def __init__(self, model: Model, rules: PlayoutRules) -> None:
        self.rules = rules
        self._model = model

    def ends(self, packed: Board, ply: int, contact: Flags) -> tuple[Flags, Values]:
        """Return which trials (n,) end at a ply, and their values (n, 5)."""
        model, space = prepared(self._model)
        ended, rows = end_trials(model, self.rules, packed, ply, contact, space)
        return ended, rows

    def luck(self, packed: Board, rolls: Rolls, ply: int) -> Values:
        """Return the luck adjustments (n, 5) for `rolls` (n, 2)."""
        model, space = prepared(self._model)
        return np.asarray(luck_adjustments(model, self.rules, packed, rolls, ply, space))


class _ByEvaluator(_ByModel):
    """Judge of trials that is not compiled."""

    def __init__(self, evaluator: Evaluator, rules: PlayoutRules) -> None:
        # The model evaluates no positions here: trials end only by the rules of the game and by tables.
        super().__init__(simple().model, rules._replace(cut=0, stop_at_race=False))
        self._evaluator = evaluator
        self._cut, self._stop_at_race = rules.cut, rules.stop_at_race

    def ends(self, packed: Board, ply: int, contact: Flags) -> tuple[Flags, Values]:
        """See `_ByModel.ends`."""
        ended, rows = super().ends(packed, ply, contact)
        valued = np.full(len(packed), 0 < self._cut <= ply)
        if self._stop_at_race and ply:
            valued |= contact & (classify_many(packed) == RACE)
        valued &= ~ended
        if valued.any():
            rows[valued] = self._evaluator.evaluate_many(unpack_many(packed[valued]))
        return ended | valued, rows

    def luck(self, packed: Board, rolls: Rolls, ply: int) -> Values:
        """See `_ByModel.luck`."""
        count, every = len(packed), len(ROLLS)
        boards = np.repeat(unpack_many(packed), every, axis=0)
        after = self._evaluator.best_plays(boards, np.tile(ROLLS, (count, 1))).boards
        rows = self._evaluator.evaluate_many(after).astype(np.float64)
        worth = np.asarray(rows if ply % 2 else turned(rows)).reshape(count, every, -1)
        thrown = worth[np.arange(count), roll_numbers(rolls)]
        return np.asarray(np.einsum("r,nrc->nc", ROLL_SHARES, worth) - thrown)
