"""Analyses of an evaluator: its own values, planted weights, BRAS's formula."""

import numpy as np
import pytest

from motif.analysis.evaluator_analysis import analysis_of, judgement
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators import load_static
from motif.evaluators.bras import ARTICLE, ARTICLE_WEIGHTS, SIGMA
from motif.evaluators.static import with_bearoff
from motif.evaluators.weight_file import WeightFile, linear_head
from motif.parameters import parameter_set
from motif.parameters.named_sets import features
from motif.parameters.position_class import classify_many
from motif.runtime.errors import PlayerError, SettingError
from tests.evaluators.made_weights import evaluator_of, made_weights
from tests.evaluators.written_out import raw_sum
from tests.games import some_boards


@pytest.fixture(scope="module")
def boards():
    return some_boards("pubeval", 600, seed=3)


@pytest.mark.parametrize("pairs", [0, 60])
def test_values_are_those_of_the_evaluator(boards, pairs):
    evaluator = evaluator_of(made_weights("keith", pairs=pairs))
    found = analysis_of(evaluator, boards, source="made")
    expected = 100.0 * evaluator.evaluate_many(boards)[:, 0]
    np.testing.assert_allclose(found.values, expected, atol=2e-3)
    assert found.judged.second_degree == (pairs > 0)
    assert len(np.unique(found.judged.classes)) == 3


def test_sensitivity_is_the_gain_in_value(boards):
    weights = made_weights("keith", pairs=80)
    found = analysis_of(evaluator_of(weights), boards, source="made")
    gains, step = found.judged.sensitivities(found.scale), 1e-6
    scale, judged = found.scale, found.judged
    moved = (scale.values(judged.raw[:, None] + step * judged.slopes) - found.values[:, None]) / step
    np.testing.assert_allclose(gains, moved, atol=2e-3)
    np.testing.assert_allclose(found.table.sensitivity, gains.mean(axis=0))
    assert (found.table.sensitivity_size >= np.abs(found.table.sensitivity) - 1e-12).all()


def test_planted_weights_are_found(boards):
    chosen = parameter_set("keith")
    planted = np.zeros(len(chosen), np.float32)
    planted[[2, 5, 18]] = [-4, 0.5, 2]
    heads = {"win": linear_head(0.5, planted)}
    evaluator = evaluator_of(WeightFile("planted", 0, None, chosen, {"contact": heads}))
    found = analysis_of(evaluator, boards, source="made")
    std = features(chosen, boards).astype(np.float64).std(axis=0)
    np.testing.assert_allclose(found.table.weight, planted, atol=1e-12)
    np.testing.assert_allclose(found.table.importance, np.abs(planted) * std)
    # Without pairs a feature adds only its weight times itself.
    np.testing.assert_allclose(found.table.contribution_sd, found.table.importance)
    np.testing.assert_allclose(found.table.weight_sd, 0, atol=1e-12)
    assert set(found.by_importance[:3]) == {2, 5, 18}


def test_each_class_has_its_own_weights(boards):
    weights = made_weights("keith")
    judged = judgement(weights, "win", boards)
    for code, name in enumerate(("contact", "crashed", "race")):
        here = judged.slopes[judged.classes == code]
        assert (here == weights.classes[name]["win"].linear).all()


def test_hidden_units_have_their_part(boards):
    weights = made_weights("keith", pairs=10, hidden={"contact": 12, "crashed": 5})
    found = analysis_of(evaluator_of(weights), boards, source="made")
    raw = [raw_sum(weights, "win", Position(board)) for board in boards]
    np.testing.assert_allclose(found.judged.raw, raw, atol=1e-5)


def test_bras_is_shown_as_its_article_has_it(boards):
    found = analysis_of(load_static("bras"), boards, source="made")
    scores = ARTICLE.raw_scores(boards)
    np.testing.assert_allclose(found.judged.raw, scores, atol=1e-6)
    np.testing.assert_allclose(found.values, 50 + 50 * np.tanh(scores / SIGMA), atol=1e-5)
    np.testing.assert_allclose(found.table.weight, list(ARTICLE_WEIGHTS.values()), rtol=1e-6)
    assert float(found.scale.steepness(0.0)) == pytest.approx(16.67, abs=0.005)
    assert (found.scale.raw, found.scale.value) == ("D", "S")
    gain = found.judged.sensitivities(found.scale)[:, 0]
    np.testing.assert_allclose(gain, 50 / 3 * 2.2 / np.cosh(scores / 3) ** 2, rtol=1e-5)


def test_equity_is_in_points(boards):
    weights = made_weights("keith", classes={"contact": ["win", "equity"]})
    found = analysis_of(evaluator_of(weights), boards, source="made", head="equity")
    np.testing.assert_allclose(found.values, 3 * np.tanh(found.judged.raw))
    assert (found.scale.low, found.scale.high, found.scale.value_label) == (-3, 3, "equity (points)")
    assert float(found.scale.steepness(0.0)) == 3


def test_players_without_such_weights_are_refused(boards):
    with pytest.raises(PlayerError, match="'pubeval' has no weights"):
        analysis_of(load_static("pubeval"), boards, source="made")
    race = evaluator_of(made_weights(classes={"contact": ["win"], "race": ["win_gammon"]}))
    with pytest.raises(PlayerError, match="no head 'win' for race positions: it has win_gammon"):
        analysis_of(race, boards, source="made")
    contact = boards[classify_many(pack_many(boards)) == 0]
    assert analysis_of(race, contact, source="made", class_name="contact").values.shape == (len(contact),)
    with pytest.raises(PlayerError, match=r"give 'bras' without \+bearoff"):
        analysis_of(with_bearoff(load_static("bras")), boards, source="made")
    with pytest.raises(SettingError, match="class_name must be contact, crashed, race or all, not 'blot'"):
        analysis_of(race, boards, source="made", class_name="blot")


def test_positions_that_are_all_alike_are_refused(boards):
    with pytest.raises(SettingError, match="every parameter is the same on all 5 positions"):
        analysis_of(load_static("bras"), np.repeat(boards[:1], 5, axis=0), source="made")
