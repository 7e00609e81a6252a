"""The winner, and the size of the win."""

import numpy as np
import pytest

from motif.board.outcome import Outcome, checkers_on_board, finished_points_many, outcome
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.compiler.jit import kernel

FIFTEEN_HOME = {6: 15}

# The loser's checkers, in the loser's numbering; points 19 to 24 are the winner's home board.
LOSSES = [
    ({1: 1}, 1),
    ({24: 14}, 1),
    ({25: 14}, 1),
    ({6: 5, 1: 9}, 1),
    (FIFTEEN_HOME, 2),
    ({6: 14, 18: 1}, 2),
    ({18: 15}, 2),
    ({6: 14, 19: 1}, 3),
    ({6: 14, 24: 1}, 3),
    ({6: 14, 25: 1}, 3),
    ({25: 15}, 3),
]


@pytest.mark.parametrize(("left", "points"), LOSSES)
def test_the_opponent_has_won(left, points):
    assert outcome(Position.from_points(left, {})) == -points


@pytest.mark.parametrize(("left", "points"), LOSSES)
def test_the_player_on_roll_has_won(left, points):
    assert outcome(Position.from_points({}, left)) == points


@pytest.mark.parametrize(
    "position",
    [
        Position.start(),
        Position.from_points({1: 1}, {1: 1}),
        Position.from_points({25: 1}, {25: 1}),
        Position.from_points({25: 1}, FIFTEEN_HOME),
        Position.from_points(FIFTEEN_HOME, {25: 1}),
        Position.from_points({24: 1}, {2: 15}),
    ],
)
def test_unfinished(position):
    assert outcome(position) is Outcome.UNFINISHED


def test_names():
    assert [kind.name for kind in Outcome] == [
        "LOSE_BACKGAMMON",
        "LOSE_GAMMON",
        "LOSE_SINGLE",
        "UNFINISHED",
        "WIN_SINGLE",
        "WIN_GAMMON",
        "WIN_BACKGAMMON",
    ]


def test_many_at_once():
    positions = [Position.from_points(left, {}) for left, _ in LOSSES]
    positions += [position.switch_sides() for position in positions]
    words = pack_many(np.array([position.board for position in positions])).view(np.int64)
    points = [-points for _, points in LOSSES] + [points for _, points in LOSSES]
    assert finished_points_many(words).tolist() == points


@kernel
def _counts(words):
    return checkers_on_board(words, 0), checkers_on_board(words, 4)


@pytest.mark.parametrize(
    "position", [Position.start(), Position.from_points({25: 15}, {1: 1}), Position.from_points({}, {3: 7})]
)
def test_checkers_on_board(position):
    words = pack_many(position.board[None]).view(np.int64)[0]
    assert _counts(words) == (15 - position.own_off, 15 - position.opponent_off)
