"""Cube decisions in words, in every language."""

import pytest

from motif.analysis.cube_records import cube_answers, cube_words
from motif.analysis.phrases import languages
from motif.board.match_state import MatchState
from motif.board.position import Position
from motif.doubling import cube_decision
from motif.evaluators import Probabilities
from motif.evaluators.known_players import load_evaluator

STATES = [
    MatchState(),
    MatchState(beavers=True, raccoons=True),
    MatchState(cube=2, cube_owner="me"),
    MatchState(cube=2, cube_owner="opponent"),
    MatchState(length=5, own_score=4, opponent_score=1, crawford=True),
    MatchState(length=1),
]
POSITIONS = ["4HPwATDgc/ABMA", "dPexAAB07zMAAA"]


@pytest.fixture(name="decisions", scope="module")
def _decisions():
    questions = [(Position.from_id(id), state) for id in POSITIONS for state in STATES]
    answers = cube_answers(questions, load_evaluator("motif-v1"), "motif-v1", jobs=1)
    return [answer.decision for answer in answers]


def test_words_name_margins_and_degrees():
    decision = cube_decision(Probabilities(0.7, 0.15, 0.005, 0.1, 0.004), MatchState())
    double, take = decision.verdicts
    assert cube_words(decision) == (
        f"A {double.degree} double: waiting costs {double.cost:.3f}. "
        f"A {take.degree} take: passing costs {take.cost:.3f}."
    )


def test_every_language_has_words_for_every_decision(decisions):
    for language in languages():
        told = [cube_words(decision, language) for decision in decisions]
        assert all(words.endswith(".") and "{" not in words for words in told)
    assert any("Warten kostet" in cube_words(decision, "de") for decision in decisions)


def test_a_certain_loss_is_a_certain_win_of_the_player_who_answers():
    lost = Position.from_points({6: 5}, {1: 1})
    state = MatchState(length=3, own_score=1, opponent_score=1)
    (answer,) = cube_answers([(lost, state)], load_evaluator("motif-v1"), "motif-v1", jobs=1)
    doubled, cashed = answer.table().rows[1:]
    assert doubled.mwc == 0.0
    assert 0.6 < cashed.mwc < 0.7
    take, drop = answer.table(answer=True).rows
    assert (take.action, take.mwc, take.difference) == ("take", 1.0, None)
    assert (drop.action, drop.mwc) == ("pass", 1 - cashed.mwc)
