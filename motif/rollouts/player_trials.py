"""Trials with plays chosen by any player, such as gnubg, lookahead or your own evaluator.

In the kernels of `motif.rollouts.playout`, a static evaluator plays.  Here the trials of several boards are
played side by side, and a player chooses the plays of all trials at each ply.  Dice, truncation and luck
are the same as in the kernels.  Any judge may measure the luck of any player, because mean luck over the
rolls is zero for every judge.
"""

from typing import NamedTuple

import numpy as np

from motif.board.movegen import ROLL_SHARES, ROLLS, roll_numbers
from motif.board.packed import Board, pack_many, unpack_many
from motif.evaluators import Evaluator, StaticEvaluator
from motif.evaluators.probabilities import OUTPUTS, switch_sides
from motif.evaluators.static import prepared, simple
from motif.parameters.position_class import RACE, classify_many
from motif.rollouts.games import Choose, trial_dice
from motif.rollouts.playout import MAX_GAME_PLIES, end_trials, luck_adjustments, roll_trials
from motif.rollouts.rollout_settings import PlayoutRules, truncated
from motif.runtime.arrays import BoolArray, FloatArray, IntArray
from motif.runtime.progress import end_if_cancelled


def best_of(evaluator: Evaluator) -> Choose:
    """Return a function that chooses the best plays according to `evaluator`."""
    return lambda boards, rolls, _: evaluator.best_plays(boards, rolls).boards


class Portion(NamedTuple):
    """Some trials of some boards."""

    packed: Board
    """Packed boards (n, 64), from the side of the player on roll."""
    items: IntArray
    """Items (n,): boards with the same item have the same dice, as in `playout.board_trials`."""
    first: int
    """Number of the first trial; trial t of an item has the random stream (seed, item, t)."""
    trials: int
    start: int = 0
    """Index of the first board."""


def play_trials(player: Evaluator, rules: PlayoutRules, seed: int, portion: Portion) -> FloatArray:
    """Play trials in which `player` plays both sides; see `player_trials`."""
    if not isinstance(player, StaticEvaluator):
        return player_trials(best_of(player), player, rules, seed, portion)
    packed, items, first, trials, _ = portion
    results = np.empty((len(packed), trials, len(OUTPUTS)))
    model, space = prepared(player.model)
    roll_trials(model, rules, packed, items, seed, first, space, results)
    return results


def player_trials(
    choose: Choose, judge: Evaluator, rules: PlayoutRules, seed: int, portion: Portion
) -> FloatArray:
    """Play the trials of a portion, with plays from `choose`; return float64 (n, trials, 5).

    These are the five probabilities of the player on roll. The `judge` measures the luck, and evaluates
    positions where the `rules` end a trial early.
    """
    packed, items, first, count, _ = portion
    if isinstance(judge, StaticEvaluator):
        evaluator, kernel_rules, compiled = None, rules, judge.model
    else:
        # The model evaluates no positions here: trials end only by the rules of the game and by tables.
        evaluator, kernel_rules = judge, rules._replace(cut=0, stop_at_race=False)
        compiled = simple().model
    model, space = prepared(compiled)
    boards = np.repeat(unpack_many(packed), count, axis=0)
    contact = np.repeat(classify_many(packed) != RACE, count)
    dice = trial_dice(seed, items, first, count, rules.stratified)
    results, luck = np.zeros((2, len(boards), len(OUTPUTS)))
    games = np.arange(len(boards))
    for ply in range(MAX_GAME_PLIES + 1):
        end_if_cancelled()
        now = pack_many(boards)
        ended, rows = end_trials(model, kernel_rules, now, ply, contact[games], space)
        if evaluator is not None:
            _end_early(evaluator, rules, now, ply, contact[games], ended, rows)
        results[games[ended]] = switch_sides(rows[ended]) if ply % 2 else rows[ended]
        games, boards, now = games[~ended], boards[~ended], now[~ended]
        if not len(games):
            break
        rolls, seeds = dice(games, ply)
        if ply < rules.luck_plies:
            luck[games] += (
                luck_adjustments(model, rules, now, rolls, ply, space)
                if evaluator is None
                else _luck_adjustments(evaluator, now, rolls, ply)
            )
        boards = choose(boards, rolls, seeds)
    return (results + luck).reshape(len(packed), count, len(OUTPUTS))


def _end_early(
    judge: Evaluator,
    rules: PlayoutRules,
    packed: Board,
    ply: int,
    contact: BoolArray,
    ended: BoolArray,
    rows: FloatArray,
) -> None:
    """Mark also the trials (n,) that the `rules` end at a ply, and write their values (n, 5) to `rows`."""
    valued = truncated(packed, rules, ply, contact) & ~ended
    if valued.any():
        rows[valued] = judge.evaluate_many(unpack_many(packed[valued]))
    ended |= valued


def _luck_adjustments(judge: Evaluator, packed: Board, rolls: IntArray, ply: int) -> FloatArray:
    """Return the adjustments (n, 5) for the luck of `rolls` (n, 2) by a judge that is not compiled."""
    count, every = len(packed), len(ROLLS)
    boards = np.repeat(unpack_many(packed), every, axis=0)
    after = judge.best_plays(boards, np.tile(ROLLS, (count, 1))).boards
    rows = judge.evaluate_many(after).astype(np.float64)
    values = np.asarray(rows if ply % 2 else switch_sides(rows)).reshape(count, every, -1)
    rolled = values[np.arange(count), roll_numbers(rolls)]
    return np.asarray(np.einsum("r,nrc->nc", ROLL_SHARES, values) - rolled)
