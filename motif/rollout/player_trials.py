"""Trials in which any player chooses the plays: gnubg, say, or one who looks ahead.

The kernels of `motif.rollout.playout` play by a model.  Here the trials of a few boards are played side by
side, and a player chooses for all of them at each ply.  They have the dice, the ends and the luck of those
trials: the model measures the luck of every player, because that of a roll is zero on average whatever the
model thinks.
"""

import numpy as np
import numpy.typing as npt

from motif.board.packed import Board, pack_many, unpack_many
from motif.evaluators.model import Model
from motif.evaluators.probabilities import OUTPUTS, turned
from motif.evaluators.static import prepared
from motif.parameters.position_class import RACE, classify_many
from motif.rollout.games import Choose, stream_dice, trial_states
from motif.rollout.playout import MAX_PLIES, end_trials, take_luck_off
from motif.rollout.rollout_settings import PlayoutRules
from motif.rollout.tally import Values
from motif.runtime.errors import SettingError
from motif.runtime.progress import checkpoint

Items = npt.NDArray[np.int64]


def player_trials(
    choose: Choose,
    model: Model,
    rules: PlayoutRules,
    packed: Board,
    items: Items,
    seed: int,
    first: int,
    count: int,
) -> Values:
    """Play trials `first`, ..., `first` + `count` - 1 of boards, with every play chosen by a player.

    Parameters
    ----------
    choose
        How the player chooses: `motif.players.player.Player.choose_many`.
    model
        Measures the luck, and values positions where the rules end a trial early.
    rules
        How trials end, and on how many plies the luck is taken off.  Dice are random, not stratified.
    packed
        Int8 (n, 64): boards, seen by the player on roll.
    items
        (n,): boards of one item have the same dice, those of `motif.rollout.playout.board_trials`.
    seed, first, count
        Trial t of an item has the random stream (seed, item, t).

    Returns
    -------
    ndarray
        Float64 (n, count, 5): the five probabilities of the player on roll.

    Raises
    ------
    SettingError
        For rules with stratified dice.
    """
    if rules.stratified:
        raise SettingError("a player's trials have random dice, not stratified ones", "stratified")
    model, space = prepared(model)
    boards = np.repeat(unpack_many(packed), count, axis=0)
    contact = np.repeat(classify_many(packed) != RACE, count)
    dice = stream_dice(trial_states(seed, items, first, count).reshape(-1))
    results, luck = np.zeros((2, len(boards), len(OUTPUTS)))
    games = np.arange(len(boards))
    for ply in range(MAX_PLIES + 1):
        checkpoint()
        now = pack_many(boards)
        ended, rows = np.empty(len(games), np.bool_), np.zeros((len(games), len(OUTPUTS)))
        end_trials(model, rules, now, ply, contact[games], space, ended, rows)
        results[games[ended]] = turned(rows[ended]) if ply % 2 else rows[ended]
        games, boards, now = games[~ended], boards[~ended], now[~ended]
        if not len(games):
            break
        rolls, seeds = dice(games, ply)
        if ply < rules.luck_plies:
            adjustments = np.zeros((len(games), len(OUTPUTS)))
            take_luck_off(model, rules, now, rolls, ply, space, adjustments)
            luck[games] += adjustments
        boards = choose(boards, rolls, seeds)
    return (results + luck).reshape(len(packed), count, len(OUTPUTS))
