"""The best play is the first with the highest `play_equities`."""

import numpy as np
import pytest

from motif.board.movegen import ROLLS
from motif.board.moves import legal_plays, play_batches
from motif.board.position import Position
from motif.evaluators import Evaluator, load_static
from motif.evaluators.evaluator import first_best
from tests.games import some_decisions


class Flat(Evaluator):
    """An evaluator for which all positions have the same value."""

    name = "flat"

    def evaluate_many(self, positions):
        return np.full((len(positions), 5), 0.25, np.float32)


def test_the_first_of_the_best():
    values = np.array([1.0, 3, 3, -np.inf, 5, 5, 4, 2])
    assert first_best(values, np.array([0, 3, 4])).tolist() == [1, 3, 4]
    assert first_best(values, np.array([0])).tolist() == [4]
    assert first_best(values[:0], np.array([], np.int64)).tolist() == []


def test_nan_does_not_spoil_other_decisions():
    assert first_best(np.array([1.0, 2, np.nan, 1, 0, 1]), np.array([0, 2, 4]))[[0, 2]].tolist() == [1, 5]


def test_equal_plays_come_in_the_order_of_the_legal_ones():
    boards, rolls = some_decisions("pubeval", 50, seed=1)
    best = Flat().best_plays(boards, rolls)
    firsts = [legal_plays(Position(b), tuple(r.tolist()))[0] for b, r in zip(boards, rolls, strict=True)]
    assert [Position(board) for board in best.boards] == [play.position for play in firsts]


@pytest.mark.parametrize("plays_at_once", [1, 100, 1 << 20])
def test_batches_change_nothing(plays_at_once):
    boards, rolls = some_decisions("pubeval", 120, seed=2)
    evaluator = load_static("bras")
    best = evaluator.best_plays(boards, rolls, plays_at_once)
    for row, (board, roll) in enumerate(zip(boards, rolls, strict=True)):
        (batch,) = play_batches(board[None], roll[None])
        values = evaluator.play_equities(board[None], batch)
        assert best.equities[row] == values.max()
        assert (best.boards[row] == batch.boards[np.argmax(values)]).all()


@pytest.mark.parametrize("name", ["bras", "pubeval", "motif-v1"])
def test_every_roll_has_the_value_of_its_best_play(name):
    """Weight files look at the plays that their move filter lets through."""
    boards, _ = some_decisions("pubeval", 40, seed=3)
    evaluator = load_static(name)
    values, exact = evaluator.roll_equities(boards), Evaluator.roll_equities(evaluator, boards)
    assert values.shape == (40, len(ROLLS))
    np.testing.assert_array_less(values, exact + 1e-9)
    if name == "motif-v1":
        assert np.mean(values > exact - 1e-9) > 0.95
        assert np.mean(exact - values) < 0.005
    else:
        np.testing.assert_allclose(values, exact, atol=1e-9)
