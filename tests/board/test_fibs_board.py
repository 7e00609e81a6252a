"""FIBS board lines: lines written by gnubg 1.07, round trips, and bad lines."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motif.board.fibs_board import UNLIMITED, fibs_lines, parse_fibs_board
from motif.board.position import Position
from motif.runtime.errors import PositionError
from tests.board.fibs_lines import fibs_board, line_of
from tests.strategies import positions, rolls

# Requests of gnubg 1.07: its player 0, "gnubg", has to play 52; later "root" has doubled.
PLAY_52 = (
    "board:gnubg:root:3:0:0:0:-2:0:0:0:0:5:0:3:0:0:1:-5:4:0:0:0:-3:0:-5:0:0:0:1:1:0:-1:5:2:5:2:1:1:1:0"
    ":1:-1:0:25:0:0:0:0:0:0:0:1"
)
# The example in the specification of FIBS' client protocol.
FROM_FIBS = (
    "board:You:someplayer:3:0:0:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:1:6:2:0:0:1:1:1:0"
    ":1:-1:0:25:0:0:0:0:2:0:0:0"
)
# A line that FIBS sent to a player of the other colour, who counts from the other end and has two checkers
# off.
OTHER_COLOUR = (
    "board:mpgnu:buster:17:0:2:0:0:0:2:1:4:3:0:1:0:1:0:0:2:0:0:0:0:0:1:-2:-2:-1:-4:-4:0:-1:3:6:0:0:1:1:1:0"
    ":-1:1:25:0:2:0:0:0:2:2:0:0"
)


def test_gnubgs_request_for_a_play():
    board = parse_fibs_board(PLAY_52 + "\n\0")
    assert line_of(board) == PLAY_52
    assert (board.you, board.opponent, board.length) == ("gnubg", "root", 3)
    assert (board.turn, board.roll, board.cube.value, board.redoubles) == (-1, (5, 2), 1, 1)
    # Player 0, on roll, has not played yet; the other player has split and brought a checker down.
    assert board.position == Position.from_points(
        {6: 5, 8: 3, 13: 5, 24: 2}, {24: 1, 23: 1, 13: 4, 11: 1, 8: 3, 6: 5}
    )


def test_a_line_of_the_protocol():
    board = parse_fibs_board(FROM_FIBS)
    assert line_of(board) == FROM_FIBS
    assert board.position == Position.start()
    assert (board.roll, board.counts.can_move, board.counts.forced) == ((6, 2), 2, 0)


def test_a_line_for_the_other_colour():
    board = parse_fibs_board(OTHER_COLOUR)
    assert line_of(board) == OTHER_COLOUR
    own, opponent = {5: 2, 4: 2, 3: 1, 2: 4, 1: 4}, {3: 2, 4: 1, 5: 4, 6: 3, 8: 1, 10: 1, 13: 2, 19: 1}
    assert board.position == Position.from_points(own, opponent)
    assert (board.position.own_off, board.position.opponent_off) == board.counts[:2]
    assert board.roll == (6, 3)


def test_both_pairs_of_dice_belong_to_their_players():
    board = fibs_board(Position.start(), (3, 1))
    assert (board.your_dice, board.opponent_dice, board.roll) == ((3, 1), (0, 0), (3, 1))
    theirs = replace(board, turn=-1, your_dice=(0, 0), opponent_dice=(2, 5))
    assert theirs.roll == (5, 2)
    assert fibs_board(Position.start()).roll is None


@given(positions(), rolls() | st.none())
def test_a_position_comes_back(position, roll):
    board = fibs_board(position, roll)
    again = parse_fibs_board(line_of(board))
    assert again == board
    assert (again.position, again.roll) == (position, roll)
    assert again.counts[:2] == (position.own_off, position.opponent_off)


@given(positions())
def test_every_view_of_a_position_is_the_same_position(position):
    seen = position.board.tolist()
    other_end = seen[::-1]
    negative = [-count for count in seen]
    home_at_25 = {"direction": 1, "home": 25, "bar": 0}
    mine = fibs_board(position)
    negative_colour = mine.view._replace(colour=-1)
    views = [
        mine,
        replace(mine, points=tuple(other_end), view=mine.view._replace(**home_at_25)),
        replace(mine, points=tuple(negative), view=negative_colour, turn=-1),
        replace(mine, points=tuple(negative[::-1]), view=negative_colour._replace(**home_at_25), turn=-1),
    ]
    assert {view.position for view in views} == {position}
    opponents = replace(mine, turn=-1)
    assert opponents.position == position.switch_sides()
    assert replace(mine, turn=0).position == position


@given(st.lists(st.tuples(positions(), rolls()), max_size=5))
def test_many_lines_equal_single_lines(decisions):
    boards = np.array([position.board for position, _ in decisions], np.int8).reshape(-1, 26)
    dice = np.array([roll for _, roll in decisions], np.int64).reshape(-1, 2)
    assert list(fibs_lines(boards, dice)) == [line_of(fibs_board(*decision)) for decision in decisions]
    assert list(fibs_lines(boards)) == [line_of(fibs_board(position)) for position, _ in decisions]


def test_money_is_unlimited_on_fibs():
    assert parse_fibs_board(PLAY_52.replace(":3:", f":{UNLIMITED}:", 1)).length == UNLIMITED


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("", "it must start with 'board:'"),
        ("4HPwATDgc/ABMA", "it must start with 'board:'"),
        (PLAY_52.removesuffix(":1"), "it must have 52 fields, not 51"),
        (PLAY_52 + ":0", "it must have 52 fields, not 53"),
        (PLAY_52.replace(":-5:4:", ":-5:four:"), "field 19 must be a number, not 'four'"),
        (PLAY_52.replace(":-5:4:", ":-5:٤:"), "field 19 must be a number, not '٤'"),
        (PLAY_52.replace(":-5:4:", f":-5:{'9' * 5000}:"), "field 19 must be a number, not '99"),
        (PLAY_52.replace("root", ""), "the name '' must not be empty"),
        (PLAY_52.replace("root", " "), "the name ' ' must not be empty"),
        (PLAY_52.replace("root", "a\tb"), "or contain a colon or a control character"),
        (PLAY_52.replace(":5:2:5:2:", ":5:7:5:2:"), "both 0, not 5 and 7"),
        (PLAY_52.replace(":5:2:5:2:", ":5:0:5:2:"), "both 0, not 5 and 0"),
        (PLAY_52.replace(":5:2:1:", ":5:2:3:"), "the cube must be a power of two, not 3"),
        (PLAY_52.replace(":0:-1:5:2", ":0:-2:5:2"), "turn must be -1 or 0 or 1, not -2"),
        (PLAY_52.replace(":1:-1:0:25", ":0:-1:0:25"), "colour must be -1 or 1, not 0"),
        (PLAY_52.replace(":0:25:", ":0:24:"), "home and bar must be (0, 25) or (25, 0), not (0, 24)"),
        (PLAY_52.replace(":3:0:0:", ":-3:0:0:"), "the match length must be 0 to 9999, not -3"),
        (PLAY_52.replace(":0:25:0:", ":0:25:16:"), "your checkers off must be 0 to 15, not 16"),
    ],
)
def test_invalid_lines_are_refused(line, what):
    with pytest.raises(PositionError) as caught:
        parse_fibs_board(line)
    assert what in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_invalid_boards_are_refused_when_the_position_is_needed():
    board = parse_fibs_board(PLAY_52.replace(":-5:4:", ":-5:14:"))
    with pytest.raises(PositionError, match=r"checkers \(maximum 15\)"):
        _ = board.position


@given(st.text(max_size=300) | st.text("board:0123456789-", max_size=300))
def test_any_text_is_read_or_refused(text):
    try:
        board = parse_fibs_board(text)
    except PositionError:
        return
    assert parse_fibs_board(line_of(board)) == board
