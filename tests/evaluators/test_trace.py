"""The trace of a value: its source, its weights, their raw sums, the probabilities."""

import numpy as np
import pytest

from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators.kernels import SOURCES
from motif.evaluators.probabilities import HEADS
from motif.evaluators.static import pubeval, with_bearoff
from motif.parameters.position_class import CLASS_NAMES, classify_many
from tests.evaluators.made_weights import evaluator_of, made_weights
from tests.evaluators.written_out import raw_sum
from tests.games import some_boards

FINISHED, TABLES, WEIGHTS, POINT_TABLE = SOURCES
WITH_EQUITY = made_weights("motif", classes=dict.fromkeys(CLASS_NAMES, HEADS), pairs=100, seed=2)
HIDDEN = made_weights("motif", pairs=50, hidden={"contact": 30, "race": 8}, seed=4)
TWO_HEADS = made_weights(classes=dict.fromkeys(CLASS_NAMES, ("win", "win_gammon")), pairs=20, seed=3)
COVERED = Position.from_points({6: 3, 5: 2, 1: 3}, {4: 4, 2: 3})
OVER = Position.from_points({}, {4: 4, 2: 3})


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    return np.concatenate([some_boards("random", 150, seed=5), some_boards("pubeval", 150, seed=6)])


@pytest.mark.parametrize("weights", [WITH_EQUITY, HIDDEN, TWO_HEADS], ids=["equity", "hidden", "two heads"])
def test_the_trace_agrees_with_the_weights_and_the_evaluation(boards, weights):
    evaluator = evaluator_of(weights)
    rows = evaluator.evaluate_many(boards)
    classes = classify_many(pack_many(boards))
    for board, row, code in zip(boards, rows, classes, strict=True):
        position = Position(board)
        trace = evaluator.trace(position)
        assert trace.source == WEIGHTS
        assert trace.class_name == CLASS_NAMES[code]
        assert (trace.probabilities.astype(np.float32) == row).all()
        for head, raw in trace.raws.items():
            assert raw == pytest.approx(raw_sum(weights, head, position), abs=1e-5)
        heads = set(weights.heads_of(trace.class_name))
        ruled_out = {head for head in HEADS if head.startswith("win_") and position.opponent_off}
        ruled_out |= {head for head in HEADS if head.startswith("lose_") and position.own_off}
        assert set(trace.raws) == heads - ruled_out


@pytest.mark.parametrize(("position", "source"), [(COVERED, TABLES), (OVER, FINISHED)])
def test_what_needs_no_weights_has_no_raw_sums(position, source):
    evaluator = with_bearoff(evaluator_of(WITH_EQUITY))
    trace = evaluator.trace(position)
    assert (trace.source, trace.class_name, trace.raws) == (source, "race", {})
    assert (trace.probabilities.astype(np.float32) == evaluator.evaluate_many(position.board[None])[0]).all()


def test_a_point_table_has_probabilities_alone():
    position = Position.start()
    trace, row = pubeval().trace(position), pubeval().evaluate_many(position.board[None])[0]
    assert (trace.source, trace.class_name, trace.raws) == (POINT_TABLE, "contact", {})
    assert (trace.probabilities.astype(np.float32) == row).all()
