"""Checkers on points as columns.  The references are a simple loop and a point table of a weight file."""

import numpy as np

from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators.point_columns import POINT_COLUMNS, POINT_SHAPE, fill_step_columns, step_columns
from motif.evaluators.point_table import checkers_by_place, tables_of
from tests.fitting.fitting_samples import random_boards


def obvious_columns(board: np.ndarray) -> list[float]:
    """The definition: own points, then the opponent's, each in their own numbering; 1, 2, 3 and further
    checkers.
    """
    columns = []
    for counts in (board[1:26], -board[24::-1]):
        for count in np.maximum(counts, 0):
            columns += [count == 1, count == 2, count >= 3, max(int(count) - 3, 0)]
    return [float(value) for value in columns]


def test_columns_are_the_definition():
    boards = random_boards(60)
    assert boards.max() > 4
    assert (boards[:, 25] > 0).any()
    assert (boards[:, 0] < 0).any()
    for board, columns in zip(boards, step_columns(boards), strict=True):
        assert columns.tolist() == obvious_columns(board)


def test_the_start_in_words():
    columns = step_columns(Position.start().board[None]).reshape(POINT_SHAPE)
    for side in (0, 1):
        told = {
            int(place) + 1: columns[side, place].tolist() for place in np.flatnonzero(columns[side].any(1))
        }
        assert told == {6: [0, 0, 1, 2], 8: [0, 0, 1, 0], 13: [0, 0, 1, 2], 24: [0, 1, 0, 0]}


def test_steps_have_the_meaning_of_a_weight_file():
    boards = random_boards(50)
    steps = np.random.default_rng(2).standard_normal(POINT_SHAPE).astype(np.float32)
    counts = checkers_by_place(pack_many(boards)).astype(np.int64)
    expected = np.take_along_axis(tables_of(steps)[None], counts[..., None], axis=-1).sum(axis=(1, 2, 3))
    np.testing.assert_allclose(step_columns(boards) @ steps.ravel(), expected, atol=1e-5)


def test_columns_may_be_beside_others():
    boards = random_boards(20)
    out = np.full((20, 3 + POINT_COLUMNS + 2), -1, np.float32)
    fill_step_columns(boards, 3, out)
    assert (out[:, 3:-2] == step_columns(boards)).all()
    assert (out[:, :3] == -1).all()
    assert (out[:, -2:] == -1).all()
