"""The phase heuristic, compared with its source's table, and its evaluator, compared with the heuristic."""

import numpy as np
import pytest

from motif.board.moves import legal_plays
from motif.board.outcome import finished_points_many
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators import load_evaluator
from motif.evaluators.phase import HIGHEST, LOWEST, PHASE_WEIGHTS, phase_scores
from motif.parameters.phase_set import PHASES, mover_phases
from tests.games import some_boards
from tests.parameters import heuristic_reference

NAMES = [name.removeprefix("early_") for name in heuristic_reference.phase((0,) * 26)][:16]
FULL = dict(zip(NAMES, [7, 15, 15, 360, 360, 270, 15, 15, 15, 15, 270, 360, 360, 15, 15, 7], strict=True))


def slow_score(board: np.ndarray) -> float:
    """The min-max score of the player who moved last, feature by feature."""
    gated = heuristic_reference.phase(tuple(board.tolist()))
    total = 0.0
    for column, phase in enumerate(PHASES):
        for row, name in enumerate(NAMES):
            total += PHASE_WEIGHTS[row, column] * gated[f"{phase}_{name}"] / FULL[name]
    return (total + 3.1) / 18.8


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    return np.concatenate([some_boards("random", 500, seed=3), some_boards("phase", 500, seed=4)])


def test_the_range_of_scores():
    """The sum of the largest value of each positive row and the smallest value of each negative row."""
    assert pytest.approx(1.7 + 8.0 + 1.7 + 1.1 + 3.2) == HIGHEST
    assert pytest.approx(-0.5 - 0.6 - 1.3 - 0.7) == LOWEST


def test_scores_are_those_of_the_table(boards):
    expected = [slow_score(board) for board in boards]
    np.testing.assert_allclose(phase_scores(boards), expected, atol=1e-6)
    assert ((phase_scores(boards) >= 0) & (phase_scores(boards) <= 1)).all()


def test_phases_by_the_checkers_out_of_home():
    mover = [
        ({6: 6, 13: 9}, "early"),
        ({6: 7, 13: 8}, "mid"),
        ({6: 12, 13: 3}, "mid"),
        ({6: 13, 13: 1, 25: 1}, "late"),
        ({6: 10, 13: 4, 25: 1}, "mid"),
        ({3: 2}, "late"),
    ]
    for points, phase in mover:
        after = Position.from_points({24: 2, 1: 13}, points)
        assert PHASES[int(mover_phases(pack_many(after.board[None]))[0])] == phase


def test_the_evaluator_ranks_plays_by_the_score(boards):
    evaluator = load_evaluator("phase")
    going = boards[finished_points_many(pack_many(boards).view(np.int64)) == 0]
    mover_equities = -evaluator.equity_many(going)
    scores = phase_scores(going)
    order = np.argsort(scores)
    apart = np.diff(scores[order]) > 1e-6
    assert (np.diff(mover_equities[order])[apart] > 0).all()


def test_details_name_the_phase_and_the_score():
    details = load_evaluator("phase").details(Position.start())
    assert details["phase"] == "early"
    assert details["score_of_player_who_moved_last"] == pytest.approx(slow_score(Position.start().board))
    assert len(details["features"]) == 16


def test_the_heuristic_makes_the_point_that_scores_most():
    plays = legal_plays(Position.start(), (3, 1))
    best = max(plays, key=lambda play: slow_score(play.position.board))
    assert best.notation == "8/5 6/5"
