"""Statistical tests of scores: true properties are confirmed, planted faults are detected."""

from dataclasses import replace

import numpy as np
import pytest

from motif.analysis.evaluator_analysis import analysis_of
from motif.analysis.score_tests import (
    FAILS,
    FOR_INFORMATION,
    HOLDS,
    KEPT,
    REJECTED,
    _hit,
    _hypotheses,
    _moved_back,
    moments,
    score_tests,
)
from motif.board.position import first_bad_board
from motif.evaluators import load_static
from motif.evaluators.bras import ARTICLE, BrasEvaluator, BrasFormula
from motif.runtime.errors import PlayerError
from tests.evaluators.made_weights import evaluator_of, made_weights
from tests.games import some_boards

PROPERTIES = (
    *("bounds of features", "bounds of S", "antisymmetry", "the playing evaluator"),
    *("one pip more", "a blot is hit"),
)


@pytest.fixture(scope="module")
def boards():
    return some_boards("pubeval", 900, seed=3)


def tried(evaluator, boards, head="win"):
    analysis = analysis_of(evaluator, boards, source="made", head=head)
    return analysis, {test.name: test for test in score_tests(analysis, evaluator)}


def test_what_the_article_claims_holds(boards):
    _, found = tried(load_static("bras"), boards)
    properties = {name: test.verdict for name, test in found.items() if test.p is None}
    assert properties == dict.fromkeys(PROPERTIES, HOLDS)
    assert {"normality", "a mean of 0", "classes"} == found.keys() - properties.keys()
    assert all(0 <= found[name].p <= 1 for name in found.keys() - properties.keys())


def test_weights_of_your_own_that_break_a_claim(boards):
    """With a bonus for blots and for pips to go, the score rises where it should fall."""
    odd = BrasEvaluator(BrasFormula({**ARTICLE.weights, "pip": -2.0, "bar": -9.0}), "odd")
    _, found = tried(odd, boards)
    assert (found["one pip more"].verdict, found["a blot is hit"].verdict) == (FAILS, FAILS)
    assert found["antisymmetry"].verdict == HOLDS


def test_a_score_that_favours_the_player_on_roll_is_not_antisymmetric(boards):
    evaluator = evaluator_of(made_weights("keith"))
    _, found = tried(evaluator, boards)
    assert found["antisymmetry"].verdict == FOR_INFORMATION
    assert "the average value of being on roll" in found["antisymmetry"].found
    assert found["the playing evaluator"].verdict == HOLDS
    _, gammons = tried(evaluator, boards, "win_gammon")
    assert "antisymmetry" not in gammons
    assert "the playing evaluator" not in gammons


def test_an_evaluator_that_plays_otherwise_is_found_out(boards):
    bras = load_static("bras")
    analysis = analysis_of(bras, boards, source="made")
    wider = BrasEvaluator(BrasFormula(sigma=2.0))
    found = {test.name: test.verdict for test in score_tests(analysis, wider)}
    assert found["the playing evaluator"] == FAILS
    with pytest.raises(PlayerError, match="has no weights"):
        score_tests(analysis, load_static("pubeval"))


def test_positions_that_get_worse_stay_legal(boards):
    for make in (_moved_back, _hit):
        rows, worse = make(boards)
        assert len(rows) > 100
        assert first_bad_board(worse) < 0
        assert (worse.clip(0).sum(axis=1) == boards[rows].clip(0).sum(axis=1)).all()
        points = np.arange(26)
        assert (worse.clip(0) @ points > boards[rows].clip(0) @ points).all()
    rows, worse = _moved_back(boards)
    assert ((worse.clip(0) @ np.arange(26)) - (boards[rows].clip(0) @ np.arange(26)) == 1).all()
    # The same points are made, and the blots are the same.
    assert ((worse > 1) == (boards[rows] > 1)).all()
    assert ((worse == 1) == (boards[rows] == 1)).all()


def test_hypotheses_are_distinguished(boards):
    analysis = analysis_of(load_static("bras"), boards, source="made")
    random = np.random.default_rng(0)

    def verdicts(raw):
        made = replace(analysis, judged=replace(analysis.judged, raw=raw))
        return {test.name: test.verdict for test in _hypotheses(made)}

    same = verdicts(random.normal(size=900))
    assert same == {"normality": KEPT, "a mean of 0": KEPT, "classes": KEPT}
    shifted = verdicts(random.exponential(size=900) + 3 * (analysis.judged.classes == 2))
    assert shifted == {"normality": REJECTED, "a mean of 0": REJECTED, "classes": REJECTED}
    assert verdicts(np.zeros(900)) == {}


def test_moments():
    random = np.random.default_rng(1)
    assert moments(random.normal(size=100_000)) == pytest.approx((0, 0), abs=0.05)
    assert moments(random.exponential(size=400_000)) == pytest.approx((2, 6), rel=0.1)
