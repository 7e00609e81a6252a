"""Trials in which any player chooses the plays."""

import numpy as np
import pytest

from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators import load_static
from motif.players import load
from motif.players.player import static_player
from motif.rollouts.player_trials import Portion, player_trials
from motif.rollouts.playout import MAX_GAME_PLIES
from motif.rollouts.rollout_settings import RolloutSettings
from motif.rollouts.trials import results_of_trials

STARTS = pack_many(np.array([Position.start().board, Position.of("dPexAAB07zMAAA").board]))


@pytest.mark.parametrize(
    "rules",
    [{"luck_plies": MAX_GAME_PLIES, "stop_at_bearoff": True}, {"cut": 7}, {"stop_at_race": True}, {}],
    ids=["adjusted", "cut", "race", "plain"],
)
def test_a_static_evaluator_that_chooses_as_any_player_plays_the_trials_of_the_kernels(rules):
    settings = RolloutSettings(12, seed=3, **rules)
    player = settings.player_of(load_static("keith-v1"))
    items = np.array([5, 5])
    expected = results_of_trials(player, settings, STARTS, items, 4, 3, jobs=1)[..., :5]
    choose = static_player(player).choose_many
    results = player_trials(choose, player, settings.rules(), 3, Portion(STARTS, items, 4, 3))
    np.testing.assert_allclose(results, expected, atol=1e-12)


def test_luck_that_another_evaluator_measures_lowers_the_variance_and_keeps_the_mean():
    settings = RolloutSettings(1, seed=1, stop_at_bearoff=True, luck_plies=MAX_GAME_PLIES)
    plain = RolloutSettings(1, seed=1, stop_at_bearoff=True)
    player = settings.player_of(load_static("keith-v1"))
    choose = load("pubeval").choose_many
    values = [
        player_trials(choose, player, one.rules(), 1, Portion(STARTS[:1], np.array([7]), 0, 200))[0, :, 0]
        for one in (settings, plain)
    ]
    assert values[0].std() < 0.75 * values[1].std()
    difference = values[0] - values[1]
    assert abs(difference.mean()) < 4 * difference.std() / np.sqrt(len(difference))


def test_stratified_dice_are_those_of_the_kernels():
    settings = RolloutSettings(36, stratified=True, stop_at_bearoff=True, seed=2)
    player = settings.player_of(load_static("keith-v1"))
    choose = static_player(player).choose_many
    items = np.array([5] * len(STARTS))
    expected = results_of_trials(player, settings, STARTS, items, 4, 8, jobs=1)[..., :5]
    results = player_trials(choose, player, settings.rules(), 2, Portion(STARTS, items, 4, 8))
    np.testing.assert_allclose(results, expected, atol=1e-12)
