"""Position identifiers, compared with gnubg 1.07's output."""

import base64
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from motif.board.identifiers import (
    boards_from_gnubg_ids,
    gnubg_id,
    gnubg_ids,
    position_from_gnubg_id,
    position_from_key,
    position_key,
)
from motif.board.position import Position, faults
from motif.runtime.errors import PositionError
from tests.strategies import positions

START = Position.start()
AFTER_31 = Position.from_points({24: 2, 13: 5, 8: 3, 6: 5}, {24: 2, 13: 5, 8: 2, 6: 4, 5: 2})
"""The position after 31: 8/5 6/5, from the side of the next player on roll."""

# Drawn by gnubg for the same XGID board, with each side on roll.
BOTH_ON_THE_BAR = Position.from_points(
    {25: 1, 24: 1, 13: 4, 7: 3, 6: 4, 5: 2}, {25: 1, 24: 1, 13: 4, 8: 3, 6: 5}
)

EXAMPLES = [
    (START, "4HPwATDgc/ABMA", "OAHDPAABDAOAHDPAABDA"),
    (AFTER_31, "sGfwATDgc/ABMA", "LAGHPAABDAOAHDPAABDA"),
]


@pytest.mark.parametrize(("position", "identifier", "key"), EXAMPLES)
def test_examples_of_both_forms(position, identifier, key):
    assert gnubg_id(position) == identifier
    assert position_from_gnubg_id(identifier) == position
    assert position_key(position) == key
    assert position_from_key(key) == position


def test_the_player_not_on_roll_comes_first():
    assert gnubg_id(BOTH_ON_THE_BAR) == "4HPwACjYO/AAKA"
    assert gnubg_id(BOTH_ON_THE_BAR.switch_sides()) == "sHfgAVDgc/AAKA"


@given(positions())
def test_round_trip_of_one_position(position):
    assert position_from_gnubg_id(gnubg_id(position)) == position
    assert position_from_key(position_key(position)) == position


@settings(deadline=None)  # the kernels are compiled on their first call
@given(st.lists(positions(), max_size=5))
def test_arrays_agree_with_single_positions(many):
    boards = np.array([position.board for position in many], np.int8).reshape(-1, 26)
    ids = gnubg_ids(boards)
    assert ids == [gnubg_id(position) for position in many]
    decoded = boards_from_gnubg_ids(ids)
    assert decoded.dtype == np.int8
    assert np.array_equal(decoded, boards)


def id_of_bits(*runs: int) -> str:
    """The ID whose bits are `runs` of ones, each followed by a zero."""
    number = int("".join("1" * run + "0" for run in runs)[:80].ljust(80, "0")[::-1], 2)
    return base64.b64encode(number.to_bytes(10, "little")).decode().rstrip("=")


NONE = [0] * 24
BAD_IDS = [
    ("4HPwATDgc/ABM", "a GNUbg ID must have 14 characters, not 13"),
    ("4HPwATDgc/ABMAA", "a GNUbg ID must have 14 characters, not 15"),
    ("", "a GNUbg ID must have 14 characters, not 0"),
    ("4HPwATDgc!ABMA", r"character 10 must be A-Z, a-z, 0-9, \+ or /, not '!'"),
    ("4HPwATDgc/ABM=", "character 14 must be .*, not '='"),
    ("4HPwATDgcéABMA", "character 10 must be .*, not 'é'"),
    ("4HPwATDgc/\nBMA", r"character 11 must be .*, not '\\n'"),
    ("4HPwATDgc/ABMB", "the last 4 bits of a GNUbg ID must be zero, but the last character is 'B'"),
    (id_of_bits(16, *NONE, 0, 15, *NONE[1:]), r"the opponent has 16 checkers \(maximum 15\)"),
    (id_of_bits(15, *NONE, 0, 16, *NONE[1:]), r"the player on roll has 16 checkers \(maximum 15\)"),
    (id_of_bits(16, *NONE, 0, 16, *NONE[1:]), "the player on roll has 16 checkers .*; the opponent has 16"),
    (id_of_bits(80), "the opponent has 80 checkers"),
    (id_of_bits(5, *NONE, *NONE[:23], 3, 2), "both players have checkers on point 24"),
    (id_of_bits(5, *NONE, 5, *NONE, 2), r"the unused bits at the end must be zero \(2 set\)"),
    (id_of_bits(*NONE, 0, *NONE, 0), "both players have borne off all their checkers"),
    (
        id_of_bits(2, 2, 2, 2, 2, 2, *NONE[:18], 3, 2, 2, 2, 2, 2, 2, *NONE[:18], 3),
        "both players are on the bar against closed boards",
    ),
]


@pytest.mark.parametrize(("text", "reason"), BAD_IDS)
def test_a_bad_id_is_quoted_and_explained(text, reason):
    with pytest.raises(PositionError, match=reason) as error:
        position_from_gnubg_id(text)
    assert repr(text) in str(error.value)
    with pytest.raises(PositionError, match=r"^row 2: invalid position .*" + reason):
        boards_from_gnubg_ids(["4HPwATDgc/ABMA", "sGfwATDgc/ABMA", text, "4HPwATDgc/ABMA", "?"])


def test_the_first_of_several_bad_rows_is_named():
    too_many, misspelt = id_of_bits(16, *NONE), "4HPwATDgc!ABMA"
    for ids in ([too_many, misspelt], [misspelt, too_many]):
        with pytest.raises(PositionError, match="^row 1: invalid position " + re.escape(repr(ids[0]))):
            boards_from_gnubg_ids(["4HPwATDgc/ABMA", *ids])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("OAHDPAABDAOAHDPAABD", "a 20-letter key must have 20 characters, not 19"),
        ("OAHDPAABDAOAHDPAABDQ", "character 20 must be A to P, not 'Q'"),
        ("oahdpaabdaoahdpaabda", "character 1 must be A to P, not 'o'"),
        ("PAHDPAABDAOAHDPAABDA", "the opponent has 16 checkers"),
    ],
)
def test_a_bad_key_is_quoted_and_explained(text, reason):
    with pytest.raises(PositionError, match=reason) as error:
        position_from_key(text)
    assert repr(text) in str(error.value)


@settings(deadline=None)
@given(st.binary(min_size=10, max_size=10))
@example(bytes(10))
@example(b"\xff" * 10)
def test_any_ten_bytes_have_the_same_result_in_both_functions(octets):
    text = base64.b64encode(octets).decode().rstrip("=")
    try:
        position = position_from_gnubg_id(text)
    except PositionError as error:
        with pytest.raises(PositionError, match=re.escape(str(error))):
            boards_from_gnubg_ids([text])
    else:
        assert gnubg_id(position) == text
        assert np.array_equal(boards_from_gnubg_ids([text]), position.board[None])


@settings(deadline=None)
@given(st.text())
@example("0011AAB013AAJA")  # a valid ID
@example(position_key(START))
def test_any_text_is_refused_in_one_line_or_identifies_a_position(text):
    for read, written in (
        (position_from_gnubg_id, gnubg_id),
        (position_from_key, position_key),
        (lambda one: boards_from_gnubg_ids([one]), lambda boards: gnubg_ids(boards)[0]),
    ):
        refusal = None
        try:
            again = written(read(text))
        except PositionError as error:
            refusal = str(error)
        assert again == text if refusal is None else len(refusal.splitlines()) == 1


def test_a_bad_board_among_many_is_named():
    with pytest.raises(PositionError, match=r"^row 1: invalid position: both players have borne off"):
        gnubg_ids([START.board, np.zeros(26, np.int8)])


def test_no_boards_have_no_ids():
    assert gnubg_ids(np.zeros((0, 26), np.int8)) == []
    assert boards_from_gnubg_ids([]).shape == (0, 26)


def test_decoded_boards_are_positions():
    assert not faults(boards_from_gnubg_ids(["sGfwATDgc/ABMA"])[0])
