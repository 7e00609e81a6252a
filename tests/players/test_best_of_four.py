"""Best-of-four draws from the heuristic's four best plays, with the softmax's probabilities."""

import numpy as np
import pytest
from scipy import stats

from motif.board.moves import legal_plays
from motif.board.position import Position
from motif.evaluators.phase import phase_scores
from motif.players import load
from motif.runtime.errors import PlayerError
from motif.runtime.streams import derive_states
from tests.runtime.test_streams import TOO_UNLIKELY

COUNT = 20_000


def draws(position: Position, roll: tuple[int, int]) -> dict[str, int]:
    """Number of times each legal play is chosen in many draws."""
    plays = legal_plays(position, roll)
    boards = np.repeat(position.board[None], COUNT, axis=0)
    chosen = load("best-of-four").choose_many(
        boards, np.tile(roll, (COUNT, 1)), derive_states(3, 0, COUNT, 0)
    )
    return {play.notation: int((chosen == play.position.board).all(axis=1).sum()) for play in plays}


def test_the_four_best_are_drawn_as_the_softmax_says():
    position, roll = Position.start(), (4, 2)
    plays = legal_plays(position, roll)
    scores = phase_scores(np.array([play.position.board for play in plays]))
    best = np.argsort(-scores)[:4]
    found = draws(position, roll)
    assert sum(found.values()) == COUNT
    counts = [found[plays[k].notation] for k in best]
    assert sum(counts) == COUNT
    chances = np.exp(scores[best]) / np.exp(scores[best]).sum()
    assert float(stats.chisquare(counts, COUNT * chances).pvalue) > TOO_UNLIKELY


def test_of_fewer_than_four_it_takes_the_best():
    position, roll = Position.from_points({6: 2, 1: 1}, {1: 2}), (2, 1)
    plays = legal_plays(position, roll)
    assert 1 < len(plays) < 4
    best = max(plays, key=lambda play: phase_scores(play.position.board[None])[0])
    assert draws(position, roll)[best.notation] == COUNT


def test_a_game_that_can_be_won_is_won():
    assert draws(Position.from_points({6: 1, 5: 1}, {1: 2}), (6, 5))["6/off 5/off"] == COUNT


def test_it_chooses_but_does_not_evaluate():
    with pytest.raises(PlayerError, match="'best-of-four' chooses plays but cannot evaluate"):
        load("best-of-four").evaluate(Position.start())
