"""Doubling windows of BRAS, and their measurement."""

import numpy as np
import pytest

from motif.board.match_state import MatchState
from motif.board.position import Position
from motif.doubling import cube_decision
from motif.doubling.bras_windows import (
    DROP_FROM,
    LIVE_FROM,
    MEASURED,
    _decided,
    _half,
    _switch,
    _undoubled,
    doubling_set,
    score_action,
    window_in,
)
from motif.doubling.equities import efficiency_classes
from motif.evaluators import Probabilities
from motif.evaluators.bras import ARTICLE, BrasEvaluator, BrasFormula
from motif.evaluators.static import pubeval
from motif.parameters.position_class import RACE
from motif.runtime.errors import SettingError


def test_the_articles_windows():
    assert (LIVE_FROM, DROP_FROM) == ((62, 65), 80)
    found = [score_action(score, 62, 80) for score in (50, 61.9, 62, 79.9, 80)]
    assert found == ["no double, take", "no double, take", "double, take", "double, take", "double, pass"]
    assert MEASURED.double_from < MEASURED.drop_from


def test_scores_are_those_of_the_evaluator():
    position = Position.from_points({13: 5, 8: 3, 6: 5, 24: 2}, {13: 4, 8: 4, 6: 5, 24: 2})
    details = BrasEvaluator().details(position)
    assert ARTICLE.percent(position.board[None])[0] == pytest.approx(details["S_me"])
    assert ARTICLE.percent(Position.start().board[None])[0] == pytest.approx(50)


def test_score_at_which_half_of_the_decisions_change():
    """For decisions drawn from a logistic function, the fitted half is the true one."""
    random = np.random.default_rng(1)
    scores = random.uniform(30, 90, 20_000)
    decided = random.random(20_000) < 1 / (1 + np.exp(-(scores - 68) / 4))
    assert _half(scores, decided, np.ones(20_000)) == pytest.approx(68, abs=0.3)
    # A weight of 2 is the same as a repeated row.
    weights = random.integers(0, 3, 20_000)
    twice = _half(np.repeat(scores, weights), np.repeat(decided, weights), np.ones(weights.sum()))
    assert _half(scores, decided, weights.astype(float)) == pytest.approx(twice)


def test_decisions_separated_by_one_score():
    scores = np.array([40.0, 60.0, 64.0, 70.0])
    decided = np.array([False, False, True, True])
    assert _half(scores, decided, np.ones(4)) == 62
    assert _half(scores, decided, np.array([1.0, 0.0, 1.0, 1.0])) == 52


def test_decisions_separated_within_one_score():
    decided = np.array([False, False, True, True])
    assert _half(np.array([60.0, 70.0, 70.0, 80.0]), decided, np.ones(4)) == 70


def test_decisions_that_become_rarer_with_the_score():
    assert _half(np.array([40.0, 60.0]), np.array([True, False]), np.ones(2)) == 50


def test_decisions_that_never_change():
    with pytest.raises(SettingError, match="do not change with the score"):
        _half(np.array([40.0, 60.0]), np.array([False, False]), np.ones(2))


def test_resamples_without_a_change_are_left_out_if_few():
    """Of 20 games, two have positions to double: a resample lacks both with a probability of 0.12."""
    games = np.arange(20)
    scores = np.linspace(40, 80, 20)
    with pytest.raises(SettingError, match=r"for a standard error: only \d+ of 200 resamples"):
        _switch(scores, games >= 18, games, 0)
    half, se = _switch(scores, games >= 16, games, 0)
    assert 71 < half < 74
    assert 0 < se < 5


def test_bras_doubles_where_the_model_does():
    """The score is the win probability, so BRAS doubles like the model in a game without gammons."""
    evaluator = BrasEvaluator()
    games, boards = _undoubled(evaluator, 100, 2)
    contact = efficiency_classes(boards) < RACE
    doubles, _ = _decided(evaluator.evaluate_many(boards[contact]).astype(np.float64), boards[contact])
    point, se = _switch(ARTICLE.percent(boards[contact]), doubles, games[contact], 2)
    window = cube_decision(Probabilities(0.5, 0, 0, 0, 0), MatchState()).windows[1]
    assert point == pytest.approx(100 * window.double_point, abs=1)
    assert se < 1


def test_measuring_is_repeatable():
    found = window_in(doubling_set(pubeval(), 100, seed=2), 2)
    assert (found.games, found.player) == (100, "pubeval")
    assert found.positions > 1000
    assert window_in(doubling_set(pubeval(), 100, seed=2), 2) == found


def test_the_doubling_set_is_reported_by_ranges_of_d():
    positions = doubling_set(pubeval(), 100, seed=2)
    ranges, facts = positions.ranges(), positions.to_dict()
    assert sum(one.positions for one in ranges) == len(positions.raw)
    assert all(one.d_to - one.d_from == 0.5 for one in ranges)
    scores = [one.score for one in ranges]
    assert scores == sorted(scores)
    for one in ranges:
        low, high = ARTICLE.squashed([one.d_from, one.d_to])
        assert low <= one.score <= high
    doubled = sum(one.positions * one.doubles for one in ranges)
    assert doubled == pytest.approx(positions.doubles.sum())
    early = facts["early"]
    # The article's "54 to 55" at D = 0.5 is the mean of the range below; 50 + 50 tanh(1 / 6) is higher.
    assert early["score_from"] == pytest.approx(58.26, abs=0.005)
    assert early["share"] == pytest.approx((positions.scores >= early["score_from"]).mean())
    assert early["share"] * len(positions.raw) * early["doubles"] == pytest.approx(
        early["share_of_doubles"] * doubled
    )
    assert (facts["score_mean"], facts["score_sd"]) == pytest.approx(
        (positions.scores.mean() / 100, positions.scores.std() / 100)
    )


def test_your_own_weights_change_scores_but_not_decisions():
    mine = BrasFormula({**ARTICLE.weights, "pip": 8.0}, 2.0)
    usual, own = doubling_set(pubeval(), 60, seed=3), doubling_set(pubeval(), 60, formula=mine, seed=3)
    assert (usual.doubles == own.doubles).all()
    assert (usual.chances == own.chances).all()
    assert own.scores.std() > usual.scores.std()
