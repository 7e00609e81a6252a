"""PubEval as tables, compared with Tesauro's 122 inputs; and tables of move filters."""

import numpy as np
import pytest
from hypothesis import given, settings

from motif.benchmarks.speed import midgame_boards
from motif.board.packed import OWN_BAR, TABLE_SHAPE, pack_many
from motif.board.position import Position
from motif.compiler.jit import kernel
from motif.evaluators import load_static
from motif.evaluators.kernels import NO_ROWS, evaluate_packed
from motif.evaluators.point_table import pubeval_tables, table_score_of_mover
from motif.evaluators.static import prepared
from motif.evaluators.weight_file import FilterWeights
from motif.parameters.position_class import CLASS_NAMES
from motif.players import load
from tests.evaluators import tesauro
from tests.evaluators.made_weights import random_steps
from tests.games import some_decisions
from tests.strategies import positions

# The score of 15 checkers off, a constant that the tables omit.
OFF_WEIGHT = {name: tesauro.WEIGHTS["race" if name == "race" else "contact"][-1] for name in CLASS_NAMES}


@kernel
def mover_scores(packed, table, out):
    for k in range(packed.shape[0]):
        out[k] = table_score_of_mover(packed[k], table)


def table_scores(boards: np.ndarray, table: np.ndarray) -> np.ndarray:
    out = np.empty(len(boards))
    mover_scores(pack_many(boards), table, out)
    return out


def test_the_inputs_of_the_start_position():
    values = tesauro.inputs(tuple(Position.start().board.tolist()))
    assert len(values) == 122
    shown = {(24 - k // 5, k % 5): value for k, value in enumerate(values[:120]) if value}  # (point, input)
    assert shown == {(24, 2): 1, (13, 2): 1, (13, 4): 1, (8, 2): 1, (8, 3): 1, (6, 2): 1, (6, 4): 1}
    assert values[120:] == [0, 0]


@settings(max_examples=200, deadline=None)
@given(positions())
def test_table_scores_are_the_122_inputs(position):
    mover = tuple(position.switch_sides().board.tolist())
    for name, table in zip(CLASS_NAMES, pubeval_tables(), strict=True):
        weights = tesauro.WEIGHTS["race" if name == "race" else "contact"]
        found = table_scores(position.board[None], table)[0]
        assert found + OFF_WEIGHT[name] == pytest.approx(tesauro.score(mover, weights), abs=2e-4)


@pytest.fixture(scope="module")
def decisions():
    sets = [some_decisions("pubeval", 250, seed=3), some_decisions("random", 120, seed=4)]
    return np.concatenate([boards for boards, _ in sets]), np.concatenate([rolls for _, rolls in sets])


def test_it_chooses_what_the_122_inputs_choose(decisions):
    boards, rolls = decisions
    chosen = load("pubeval").choose_many(boards, rolls, np.zeros(len(boards), np.uint64))
    differing = 0
    for board, roll, choice in zip(boards, rolls, chosen, strict=True):
        scores = tesauro.scores(tuple(board.tolist()), (int(roll[0]), int(roll[1])))
        best = max(scores, key=scores.__getitem__)
        # Two plays may have the same score up to float32 rounding.
        assert scores[tuple(choice.tolist())] == pytest.approx(scores[best], abs=1e-4)
        differing += tuple(choice.tolist()) != best
    assert differing < len(boards) / 100


def test_weights_are_chosen_by_the_position_before_the_play():
    # Every play enters from the bar and leads to a race, for which the race weights prefer a different play.
    before, roll = Position.from_points({6: 5, 8: 3, 13: 5, 20: 1, 25: 1}, {1: 8}), (6, 3)
    contact = tesauro.scores(tuple(before.board.tolist()), roll)
    race = {play: tesauro.score(tesauro.other_view(play), tesauro.WEIGHTS["race"]) for play in contact}
    assert {tesauro.position_class(play) for play in contact} == {"race"}
    best = max(contact, key=contact.__getitem__)
    assert best != max(race, key=race.__getitem__)
    assert tuple(load("pubeval").choose(before, roll).position.board.tolist()) == best


def test_win_probabilities_come_from_the_score_of_the_player_who_has_moved(decisions):
    evaluator, boards = load_static("pubeval"), decisions[0]
    found = evaluator.evaluate_many(boards)
    assert (found[:, 1:] == 0).all()
    codes = {name: code for code, name in enumerate(CLASS_NAMES)}
    for board, row in zip(boards, found, strict=True):
        plain = tuple(board.tolist())
        name = tesauro.position_class(plain)
        mover = tesauro.other_view(plain)
        score = tesauro.score(mover, tesauro.weights_for(plain)) - OFF_WEIGHT[name]
        intercept, slope = evaluator.model.calibration[codes[name]]
        assert row[0] == pytest.approx((np.tanh(intercept - slope * score) + 1) / 2, abs=1e-5)
    assert np.isfinite(evaluator.model.calibration).all()
    assert (evaluator.model.calibration[:, 1] > 0).all()


@pytest.mark.parametrize("name", ["pubeval", "simple"])
def test_more_winning_positions_have_higher_probabilities(name):
    evaluator = load_static(name)
    start, ahead, far_ahead = (
        Position.from_points({24: 2, 13: 5, 8: 3, 6: 5}, opponent)
        for opponent in ({24: 2, 13: 5, 8: 3, 6: 5}, {25: 1, 24: 2, 13: 5, 8: 3, 6: 4}, {25: 4, 24: 4, 13: 7})
    )
    chances = [evaluator.evaluate(position).win for position in (start, ahead, far_ahead)]
    assert 0.3 < chances[0] < chances[1] < chances[2] < 1


def test_the_tables_of_a_move_filter(decisions):
    """Steps: the values of 1, 2 and 3 checkers on a place, and of each further checker; a missing class uses
    contact's.
    """
    rng = np.random.default_rng(1)
    chosen = FilterWeights(4, {"contact": random_steps(rng), "race": random_steps(rng)})
    tables = chosen.tables()
    assert tables.shape == (3, *TABLE_SHAPE)
    assert (tables[:, :, :, 0] == 0).all()
    boards = decisions[0][:60]
    for name, table in zip(CLASS_NAMES, tables, strict=True):
        steps = chosen.steps.get(name, chosen.steps["contact"])
        for board, found in zip(boards, table_scores(boards, table), strict=True):
            mover = tesauro.other_view(tuple(board.tolist()))
            expected = 0.0
            for side, view in enumerate((mover, tesauro.other_view(mover))):
                for place in range(1, OWN_BAR + 1):
                    first, second, third, more = steps[side, place - 1].astype(float)
                    n = view[place]
                    if n > 0:
                        expected += (first, second, third)[min(n, 3) - 1] + more * max(n - 3, 0)
            assert found == pytest.approx(expected, abs=1e-4)


def test_scores_of_a_point_table_are_raw_sums_of_its_win_probabilities():
    boards = midgame_boards()[:50]
    model, space = prepared(load_static("pubeval").model)
    scores = np.empty(len(boards))
    evaluate_packed(model, pack_many(boards), space, scores, NO_ROWS)
    wins = load_static("pubeval").evaluate_many(boards)[:, 0]
    np.testing.assert_allclose((np.tanh(scores) + 1) / 2, wins, atol=1e-6)
