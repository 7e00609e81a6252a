"""The inputs of wildbg's nets, compared with their description in plain Python."""

import numpy as np
import pytest

from motif.board.position import Position
from motif.evaluators.nets.net_evaluators import contact_inputs, race_inputs
from motif.parameters.position_class import position_class
from tests.games import some_boards


def four(count: int) -> list[float]:
    return [float(count == 1), float(count == 2), float(count >= 3), float(count - 3 if count > 3 else 0)]


def slow_inputs(board: list[int], own_places: range, other_places: range, bars: bool) -> list[float]:
    """The inputs as described, side by side; `board` by place, with bars 25 and 0."""
    own = [max(count, 0) for count in board]
    other = [max(-count, 0) for count in board]
    numbers = [15.0 - sum(own), 15.0 - sum(other)]
    numbers += four(own[25]) if bars else []
    for place in own_places:
        numbers += four(own[place])
    numbers += four(other[0]) if bars else []
    for place in other_places:
        numbers += four(other[place])
    return numbers


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    made = [
        Position.from_points({25: 4, 1: 1}, {25: 2, 1: 13}),
        Position.from_points({25: 15}, {1: 15}),
        Position.from_points({1: 1}, {1: 1}),
    ]
    played = some_boards("random", 300, seed=1), some_boards("pubeval", 300, seed=2)
    return np.concatenate([*played, [position.board for position in made]])


def test_contact_inputs(boards):
    expected = [slow_inputs(board, range(1, 25), range(1, 25), bars=True) for board in boards.tolist()]
    found = contact_inputs(boards)
    assert (found.dtype, found.shape) == (np.float32, (len(boards), 202))
    assert found.tolist() == expected


def test_race_inputs(boards):
    races = np.array([board for board in boards if position_class(Position(board)) == "race"])
    assert len(races) > 50
    expected = [slow_inputs(board, range(1, 24), range(2, 25), bars=False) for board in races.tolist()]
    found = race_inputs(races)
    assert (found.dtype, found.shape) == (np.float32, (len(races), 186))
    assert found.tolist() == expected


def test_no_boards():
    assert contact_inputs(np.zeros((0, 26), np.int8)).shape == (0, 202)
