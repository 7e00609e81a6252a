"""Nets that score a position for the player who has just moved, compared with the score computed by hand."""

import pickle

import numpy as np
import pytest

from motif.board.moves import legal_plays
from motif.board.outcome import finished_points_many
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators import load_evaluator
from motif.evaluators.nets import NetDescription, described
from motif.evaluators.nets.net import FEATURES
from motif.parameters.named_sets import features
from motif.parameters.phase_set import PHASE_SET
from motif.players import load
from tests.evaluators.nets.made_nets import linear_parts, one_ply_equity, score_net
from tests.games import some_boards, some_decisions


@pytest.fixture(scope="module", params=[0.1, 3.0], ids=["within 0 and 1", "beyond"])
def made(request, tmp_path_factory):
    """A player with such a net, and the net's expected scores."""
    model = score_net(scale=request.param)
    path = tmp_path_factory.mktemp("nets") / "score.onnx"
    path.write_bytes(described(model, NetDescription("made", FEATURES, PHASE_SET)))
    matrix, bias = linear_parts(model)

    def scores(boards: np.ndarray) -> np.ndarray:
        return (features(PHASE_SET, boards) @ matrix + bias)[:, 0]

    return f"onnx:{path}", scores


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    return np.concatenate([some_boards("pubeval", 300, seed=1), some_boards("random", 300, seed=2)])


def test_the_win_probability_is_one_minus_the_movers_score(made, boards):
    name, scores = made
    rows = load_evaluator(name).evaluate_many(boards)
    np.testing.assert_allclose(rows[:, 0], np.clip(1 - scores(boards), 0, 1), atol=2e-6)
    assert not rows[:, 1:].any()


def test_plays_are_ranked_by_the_score(made):
    name, scores = made
    boards, rolls = some_decisions("pubeval", 40, seed=3)
    player = load(name)
    for board, roll in zip(boards, rolls, strict=True):
        after = np.array([play.position.board for play in legal_plays(Position(board), tuple(roll.tolist()))])
        chosen = player.choose(Position(board), tuple(roll.tolist())).position.board
        if finished_points_many(pack_many(after).view(np.int64)).any():
            assert not (chosen > 0).sum() * (chosen < 0).sum()
        else:
            best = scores(after).max()
            assert scores(chosen[None])[0] == pytest.approx(best, abs=1e-5)


def test_equities_lie_between_a_loss_and_a_win(made, boards):
    name, scores = made
    equities = load_evaluator(name).equity_many(boards)
    assert (np.abs(equities) < 1).all()
    order = np.argsort(equities)
    assert (np.diff(scores(boards)[order]) <= 1e-5).all()
    inside = np.abs(2 * scores(boards) - 1) < 0.98
    np.testing.assert_allclose(equities[inside], 1 - 2 * scores(boards)[inside], atol=2e-6)


def test_finished_games(made):
    evaluator = load_evaluator(made[0])
    won = Position.from_points({}, {25: 1, 6: 14})
    assert evaluator.evaluate(won) == (1, 1, 1, 0, 0)
    both = np.stack([won.board, won.switch_sides().board])
    assert evaluator.equity_many(both).tolist() == [1, -1]


def test_looking_ahead(made):
    ahead = load_evaluator(made[0] + "@1")
    assert ahead.evaluate(Position.from_points({1: 2}, {1: 1})) == (1, 0, 0, 0, 0)
    position = Position.from_points({6: 1, 2: 1}, {3: 2})
    expected = one_ply_equity(load_evaluator(made[0]), position)
    assert ahead.equity_many(position.board[None])[0] == pytest.approx(expected, abs=1e-9)


def test_it_travels_to_other_processes(made, boards):
    evaluator = load_evaluator(made[0])
    copy = pickle.loads(pickle.dumps(evaluator))
    assert copy.equity_many(boards).tobytes() == evaluator.equity_many(boards).tobytes()
