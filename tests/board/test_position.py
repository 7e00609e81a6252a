"""Valid and invalid positions, and the two ways to store a board."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given

from motif.board.packed import PACKED_SIZE, pack_many, unpack_many
from motif.board.position import Position, as_boards, faults, first_bad_board
from motif.runtime.errors import PositionError, shown
from tests.strategies import positions

CLOSED = dict.fromkeys(range(1, 7), 2)


def board_with(places: dict[int, int]) -> list[int]:
    board = [0] * 26
    for place, checkers in places.items():
        board[place] = checkers
    return board


def random_boards(number: int, seed: int) -> np.ndarray:
    """Boards of all kinds, many of them impossible: int8 (number, 26)."""
    random = np.random.default_rng(seed)
    occupied = random.random((number, 26)) < random.random((number, 1))
    boards = np.where(occupied, random.integers(-3, 4, (number, 26)), 0)
    boards[::2, 0] = -np.abs(boards[::2, 0])
    boards[::2, 25] = np.abs(boards[::2, 25])
    closed = random.random(number) < 0.1
    boards[closed] = 0
    boards[closed, 1:7] = random.integers(1, 3, (closed.sum(), 6))
    boards[closed, 19:25] = -random.integers(1, 3, (closed.sum(), 6))
    boards[closed, 0] = random.integers(-1, 1, closed.sum())
    boards[closed, 25] = random.integers(0, 2, closed.sum())
    return boards.astype(np.int8)


def test_the_start_is_as_the_conventions_say():
    start = Position.start()
    assert start.board.dtype == np.int8
    assert start.board.tolist() == board_with({24: 2, 13: 5, 8: 3, 6: 5, 1: -2, 12: -5, 17: -3, 19: -5})
    assert start == start.switch_sides()
    assert (start.pip_count, start.pip_count_opponent) == (167, 167)
    assert (start.own_off, start.opponent_off) == (0, 0)


def test_each_side_counts_in_its_own_numbering():
    position = Position.from_points({25: 1, 6: 2}, {25: 3, 1: 4})
    assert position.board.tolist() == board_with({25: 1, 6: 2, 0: -3, 24: -4})
    assert (position.pip_count, position.pip_count_opponent) == (25 + 12, 75 + 4)
    assert (position.own_off, position.opponent_off) == (12, 8)
    assert position.switch_sides() == Position.from_points({25: 3, 1: 4}, {25: 1, 6: 2})


@given(positions())
def test_switching_sides_twice_changes_nothing(position):
    switched = position.switch_sides()
    assert switched.switch_sides() == position
    assert (switched.own_off, switched.opponent_off) == (position.opponent_off, position.own_off)
    assert switched.pip_count == position.pip_count_opponent


@pytest.mark.parametrize(
    ("board", "fault"),
    [
        ([0] * 25, "a board must have 26 numbers, not 25"),
        ([[0] * 26], "a board must have 26 numbers, not 1x26; evaluate_many takes several boards"),
        ("4HPwATDgc/ABMA", "a board must have 26 numbers, not one; Position.of reads an ID"),
        (3, "a board must have 26 numbers, not one"),
        ([0.5] * 26, "a board must contain whole numbers of checkers"),
        (["a"] * 26, "a board must contain whole numbers of checkers"),
        (board_with({0: 1}), "own checkers on the opponent's bar (index 0 holds 1)"),
        (board_with({25: -2}), "opponent's checkers on the own bar (index 25 holds -2)"),
        (board_with({6: 10, 8: 6}), "the player on roll has 16 checkers (maximum 15)"),
        (board_with({6: -300}), "the opponent has 300 checkers (maximum 15)"),
        (
            np.full(26, 0.0) + 1e300 * np.eye(26)[6],
            f"the player on roll has {shown(int(1e300))} checkers (maximum 15)",
        ),
        (board_with({}), "both players have borne off all their checkers"),
        (
            board_with({25: 1, 0: -1, **CLOSED, **{25 - point: -2 for point in CLOSED}}),
            "both players are on the bar against closed boards, so neither can ever move",
        ),
    ],
)
def test_every_fault_is_named(board, fault):
    assert faults(board) == [fault]
    with pytest.raises(PositionError) as caught:
        Position(board)
    assert str(caught.value) == f"invalid position: {fault}"


def test_numbers_of_checkers_are_shown_as_given():
    assert faults([1000] * 26) == [
        "own checkers on the opponent's bar (index 0 holds 1000)",
        "the player on roll has 26000 checkers (maximum 15)",
    ]


@pytest.mark.parametrize("sides", [([6], {}), ({}, "6"), (None, {})])
def test_a_side_is_a_dict(sides):
    with pytest.raises(
        PositionError, match=r"^a side must be a dict \{point: checkers\}, not (\[6\]|'6'|None)$"
    ):
        Position.from_points(*sides)


def test_all_faults_are_named_at_once():
    board = board_with({0: 1, 6: 16, 19: -17, 25: -1})
    assert len(faults(board)) == 4
    with pytest.raises(PositionError) as caught:
        Position(board)
    assert str(caught.value) == "invalid position: " + "; ".join(faults(board))
    assert "\n" not in str(caught.value)


def test_closed_out_on_one_side_is_a_position():
    assert faults(board_with({25: 1, **{25 - point: -2 for point in CLOSED}})) == []
    assert faults(board_with({25: 1, 0: -1, **CLOSED})) == []


@pytest.mark.parametrize("numbers", [list, tuple, np.array, lambda board: np.array(board, np.int64)])
def test_any_26_whole_numbers_will_do(numbers):
    assert Position(numbers(Position.start().board.tolist())) == Position.start()


@pytest.mark.parametrize("point", [0, -1, 26])
@pytest.mark.parametrize("sides", [lambda points: (points, {}), lambda points: ({}, points)])
def test_a_point_off_the_board_is_an_error(point, sides):
    with pytest.raises(PositionError, match=f"^invalid position: each point must be 1 to 24.*, not {point}$"):
        Position.from_points(*sides({point: 2}))


@pytest.mark.parametrize(
    ("points", "fault"),
    [
        ({"6": 2}, "each point must be 1 to 24, or 25 for the bar, not '6'"),
        ({6.0: 2}, "each point must be 1 to 24, or 25 for the bar, not 6.0"),
        ({6: -2}, "each number of checkers must be a whole number from 0 to 15, not -2"),
        ({6: 2.5}, "each number of checkers must be a whole number from 0 to 15, not 2.5"),
        ({6: "2"}, "each number of checkers must be a whole number from 0 to 15, not '2'"),
        ({6: 10**30}, f"each number of checkers must be a whole number from 0 to 15, not {10**30}"),
    ],
)
def test_points_and_checkers_are_whole_numbers(points, fault):
    for sides in ((points, {1: 1}), ({1: 1}, points)):
        with pytest.raises(PositionError) as caught:
            Position.from_points(*sides)
        assert str(caught.value) == f"invalid position: {fault}"
    assert Position.from_points({np.int8(6): np.int64(2)}, {1: 0}) == Position.from_points({6: 2}, {})


def test_a_point_held_by_both_is_an_error():
    with pytest.raises(PositionError, match=r"^invalid position: both players have checkers on point 6$"):
        Position.from_points({6: 2}, {19: 1})


def test_a_position_cannot_be_changed():
    position = Position.start()
    with pytest.raises(AttributeError, match="cannot be changed"):
        position.board = np.zeros(26, np.int8)
    with pytest.raises(ValueError, match="read-only"):
        position.board[6] = 1


def test_a_position_does_not_share_the_array_it_was_made_from():
    board = Position.start().board.copy()
    position = Position(board)
    board[6] = 0
    assert position == Position.start()


@given(positions())
def test_copies_are_equal_and_hash_alike(position):
    for twin in (
        pickle.loads(pickle.dumps(position)),
        copy.deepcopy(position),
        eval(repr(position)),
        Position(position.board),
    ):
        assert twin == position
        assert hash(twin) == hash(position)
        assert not twin.board.flags.writeable


def test_positions_differ_from_each_other_and_from_other_things():
    start = Position.start()
    assert start != Position.from_points({24: 2, 13: 5, 8: 3, 6: 5}, {24: 2, 13: 5, 8: 3, 6: 4})
    assert start != start.board.tolist()
    assert len({start, Position.start(), Position.from_points({1: 1}, {})}) == 2


@given(positions())
def test_packing_is_undone_by_unpacking(position):
    packed = pack_many(position.board[None])
    assert packed.shape == (1, PACKED_SIZE)
    assert packed.min() >= 0
    assert unpack_many(packed).tolist() == [position.board.tolist()]


def test_a_packed_board_holds_each_half_in_its_own_numbering():
    position = Position.from_points({25: 1, 6: 2}, {25: 3, 1: 4})
    packed = pack_many(position.board[None])[0]
    assert {place: int(count) for place, count in enumerate(packed) if count} == {5: 2, 24: 1, 32: 4, 56: 3}
    switched = pack_many(position.switch_sides().board[None])[0]
    assert packed.tolist() == [*switched[32:], *switched[:32]]


def test_as_boards_takes_whole_numbers_of_any_type():
    rows = [Position.start().board.tolist(), board_with({1: 1})]
    for values in (rows, np.array(rows, np.float64), np.asfortranarray(rows)):
        boards = as_boards(values)
        assert boards.dtype == np.int8
        assert boards.flags.c_contiguous
        assert boards.tolist() == rows
    assert as_boards(np.empty((0, 26), np.int8)).shape == (0, 26)


NOT_WHOLE = "invalid position: a board must contain whole numbers of checkers"
NO_POSITION = "a position must be a Position, an ID or 26 numbers, not"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0] * 26, r"positions must have the shape (n, 26), not (26,)"),
        (np.zeros((2, 25)), r"positions must have the shape (n, 26), not (2, 25)"),
        (np.full((1, 26), 0.5), f"row 0: {NOT_WHOLE}"),
        (np.array([board_with({6: 1}), board_with({6: 0.5})]), f"row 1: {NOT_WHOLE}"),
        (np.array([board_with({6: 1}), np.full(26, np.nan)]), f"row 1: {NOT_WHOLE}"),
        (np.full((1, 26), "a"), f"row 0: {NOT_WHOLE}"),
        (np.ones((1, 26), np.bool_), f"row 0: {NOT_WHOLE}"),
        (
            [board_with({6: 1}), board_with({6: 300})],
            "row 1: invalid position: the player on roll has 300 checkers (maximum 15)",
        ),
        (
            [board_with({6: 1}), board_with({6: 1})[:25]],
            "row 1: invalid position: a board must have 26 numbers, not 25",
        ),
        (["4HPwATDgc/ABMA", None], f"row 1: {NO_POSITION} None"),
        ([None, None], f"row 0: {NO_POSITION} None"),
        ([float("nan")] * 50, f"row 0: {NO_POSITION} nan"),
        (np.full(50, np.nan), f"row 0: {NO_POSITION} nan"),
        (
            [board_with({6: 1}), board_with({6: 16}), board_with({})],
            "row 1: invalid position: the player on roll has 16 checkers (maximum 15)",
        ),
        (
            [board_with({6: 1}), board_with({0: 1, 25: -1})],
            "row 1: invalid position: own checkers on the opponent's bar (index 0 holds 1); "
            "opponent's checkers on the own bar (index 25 holds -1)",
        ),
    ],
)
def test_as_boards_says_what_is_wrong(values, message):
    with pytest.raises(PositionError) as caught:
        as_boards(values)
    assert str(caught.value) == message


def test_first_bad_board_agrees_with_faults():
    boards = random_boards(5_000, seed=1)
    good = [not faults(board) for board in boards]
    assert 500 < sum(good) < 4_500
    for row, is_good in enumerate(good):
        assert first_bad_board(boards[row : row + 1]) == (-1 if is_good else 0)


def test_first_bad_board_is_the_first():
    boards = random_boards(200, seed=2)
    good = boards[[not faults(board) for board in boards]]
    assert first_bad_board(good) == -1
    good[[7, 9]] = 0
    assert first_bad_board(good) == 7
