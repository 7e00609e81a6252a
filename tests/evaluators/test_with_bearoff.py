"""Weights with the bearoff tables."""

import pickle

import numpy as np
import pytest

from motif.board.moves import legal_plays
from motif.board.position import Position
from motif.evaluators import load_evaluator, load_static
from motif.evaluators.bearoff import bearoff_chances
from motif.evaluators.static import model_fingerprint, with_bearoff
from motif.players import load
from motif.runtime.errors import PlayerError
from tests.evaluators.made_weights import evaluator_of, made_weights

COVERED = Position.from_points({6: 3, 5: 2, 1: 3}, {4: 4, 2: 3})
GAMMON = Position.from_points({6: 3, 5: 2, 1: 3}, {6: 5, 5: 5, 4: 5})
RACE = Position.from_points({7: 3, 5: 2, 1: 3}, {4: 4, 2: 3})
CONTACT = Position.from_points({6: 5, 24: 1}, {6: 5, 5: 3})


@pytest.fixture(scope="module", params=["motif", "keith"])
def pair(request):
    """Random weights without the tables and with them; those of keith have only the win probability."""
    heads = dict.fromkeys(("contact", "race"), ("win",)) if request.param == "keith" else None
    plain = evaluator_of(made_weights(request.param, classes=heads, seed=1))
    return plain, with_bearoff(plain)


def test_covered_positions_have_the_tables_values(pair):
    for position in (COVERED, GAMMON):
        expected = bearoff_chances(position).probabilities
        np.testing.assert_allclose(pair[1].evaluate(position), expected, atol=1e-6)


def test_other_positions_are_left_to_the_weights(pair):
    plain, exact = pair
    for position in (RACE, CONTACT, Position.start()):
        assert exact.evaluate(position) == plain.evaluate(position)
        assert exact.equity_many(position.board[None]) == plain.equity_many(position.board[None])


def test_plays_are_ranked_by_the_tables(pair):
    exact = pair[1]
    player = load("pubeval")
    player.model, player.evaluator = exact.model, exact
    for roll in [(6, 1), (3, 2), (2, 1), (1, 1)]:
        plays = legal_plays(COVERED, roll)
        left = [bearoff_chances(play.position).probabilities.equity for play in plays]
        chosen = player.choose(COVERED, roll).position
        assert bearoff_chances(chosen).probabilities.equity == pytest.approx(min(left), abs=1e-12)


def test_names():
    name = "motif-v0+bearoff"
    assert load_static(name).name == name
    assert load_evaluator(name + "@1").name == name + "@1"
    with pytest.raises(PlayerError, match=r"'pubeval' ranks plays by a score"):
        load_static("pubeval+bearoff")
    with pytest.raises(PlayerError, match="no player is called"):
        load_static("nobody+bearoff")


def test_a_model_travels_without_its_tables(pair):
    plain, exact = pair
    sent = pickle.dumps(exact.model)
    assert len(sent) < len(pickle.dumps(plain.model)) + 1000
    there = pickle.loads(sent)
    assert model_fingerprint(there) == model_fingerprint(exact.model) != model_fingerprint(plain.model)
    assert len(there.bearoff.rows) == len(exact.model.bearoff.rows) > 0
