"""Accepted formats of positions and rolls, and the messages for other texts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motif.board.identifiers import gnubg_id, position_key
from motif.board.match_state import MatchState, match_id
from motif.board.moves import as_roll, legal_plays, parse_roll
from motif.board.parsing import parse_position
from motif.board.position import Position
from motif.board.xgid_ogid import xgid
from motif.runtime.errors import PlayError, PositionError
from tests.strategies import positions, rolls

START = Position.start()
STATE = MatchState(length=7, own_score=3, cube=2, cube_owner="me", dice=(6, 1))
FORMS = (
    "a position must be a GNUbg ID (14 characters), PositionID:MatchID (14:12), an XGID, an OGID, "
    "or a 20-letter key"
)


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("4HPwATDgc/ABMA", None),
        ("  4HPwATDgc/ABMA\n", None),
        ("4HPwATDgc/ABMA:cIkFAAAAAAAE", MatchState(dice=(3, 1))),
        ("OAHDPAABDAOAHDPAABDA", None),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10", MatchState(dice=(3, 1))),
        ("xgid=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10", MatchState(dice=(3, 1))),
        ("-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10", MatchState(dice=(3, 1))),
    ],
)
def test_every_format_of_the_start(text, state):
    assert parse_position(text) == (START, state)


@given(positions())
def test_every_format_of_any_position(position):
    assert parse_position(gnubg_id(position)) == (position, None)
    assert parse_position(position_key(position)) == (position, None)
    assert parse_position(f"{gnubg_id(position)}:{match_id(STATE)}") == (position, STATE)
    assert parse_position(xgid(position, STATE)) == (position, STATE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"invalid position '': it is empty; {FORMS}"),
        ("hello", f"invalid position 'hello': it has 5 characters; {FORMS}"),
        ("4", f"invalid position '4': it has 1 character; {FORMS}"),
        ("4HPwATDgc/ABM", f"invalid position '4HPwATDgc/ABM': it has 13 characters; {FORMS}"),
        (
            "cIkFAAAAAAAE",
            "invalid position 'cIkFAAAAAAAE': it has 12 characters, "
            f"like a Match ID, which contains no position; {FORMS}",
        ),
        (
            "4HPwATDgc/ABM:cIkFAAAAAAAE",
            f"invalid position '4HPwATDgc/ABM:cIkFAAAAAAAE': it has 13 characters before the colon; {FORMS}",
        ),
        (
            "4HPwATDgc/ABMA:cIkFAAAAAAA",
            "invalid match state 'cIkFAAAAAAA': a Match ID must have 12 characters, not 11",
        ),
        (
            "4HPwATDgc!ABMA",
            "invalid position '4HPwATDgc!ABMA': character 10 must be A-Z, a-z, 0-9, + or /, not '!'",
        ),
        (
            "8HPwATDgc/ABMA",
            "invalid position '8HPwATDgc/ABMA': the opponent has 16 checkers (maximum 15)",
        ),
        (
            "OAHDPAABDAOAHDPAABDZ",
            "invalid position 'OAHDPAABDAOAHDPAABDZ': character 20 must be A to P, not 'Z'",
        ),
        (
            "XGID=-b----",
            "invalid position 'XGID=-b----': an XGID must have 10 fields "
            "(board:cube:owner:turn:dice:S1:S2:CJ:len:max), not 1",
        ),
        ("a:b:c", "invalid position 'a:b:c': an XGID must have 10 fields .* not 3"),
    ],
)
def test_invalid_positions_are_explained(text, message):
    with pytest.raises(PositionError) as error:
        parse_position(text)
    beginning, _, end = message.partition(".*")
    assert str(error.value).startswith(beginning)
    assert str(error.value).endswith(end)


@given(st.text() | st.text("ABab01+/:=-XGID", max_size=60))
def test_any_text_is_read_or_refused_in_one_line(text):
    try:
        parse_position(text)
    except PositionError as error:
        message = str(error)
    else:
        message = "none"
    assert len(message.splitlines()) == 1
    assert len(message) < 500


@given(rolls())
def test_every_roll_in_every_format(roll):
    high, low = roll
    for parts in [(high, low), (low, high), (str(high), str(low)), (f"{low}{high}",), (f" {low} {high} ",)]:
        assert parse_roll(*parts) == roll
    for separator in ("-", ",", "/", ", "):
        assert parse_roll(f"{high}{separator}{low}") == roll


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((7, 1), "invalid roll: each die must be 1 to 6, not 7"),
        ((10**5000, 1), "invalid roll: each die must be 1 to 6, not a number of 16610 bits"),
        ((10**5000,), "invalid roll 'a number of 16610 bits': a roll must be two dice, such as 31 or 3 1"),
        ((1, 7), "invalid roll: each die must be 1 to 6, not 7"),
        (("71",), "invalid roll: each die must be 1 to 6, not 7"),
        (("3 10",), "invalid roll: each die must be 1 to 6, not 10"),
        (("01",), "invalid roll: each die must be 1 to 6, not 0"),
        ((2.0, 3), "invalid roll: each die must be a whole number from 1 to 6, not 2.0"),
        ((-1, 3), "invalid roll: each die must be 1 to 6, not -1"),
        (("x", "3"), "invalid roll: each die must be 1 to 6, not 'x'"),
        (("3.0", "3"), "invalid roll: each die must be 1 to 6, not '3.0'"),
        (("٣", "3"), "invalid roll: each die must be 1 to 6, not '٣'"),
        (("3",), "invalid roll '3': a roll must be two dice, such as 31 or 3 1"),
        (("",), "invalid roll '': a roll must be two dice, such as 31 or 3 1"),
        (("3 1 1",), "invalid roll '3 1 1': a roll must be two dice, such as 31 or 3 1"),
    ],
)
def test_an_invalid_roll_is_explained(parts, message):
    with pytest.raises(PlayError) as error:
        parse_roll(*parts)
    assert str(error.value) == message


@given(st.text() | st.text("0123456789 -,/", max_size=8), st.none() | st.text(max_size=3) | st.integers())
def test_any_roll_is_read_or_refused_in_one_line(first, second):
    try:
        high, low = parse_roll(first, second)
    except PlayError as error:
        message = str(error)
    else:
        message = "none"
        assert 6 >= high >= low >= 1
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize("roll", [("3", "1"), ["1", 3], np.int64(31), 13, np.array([3, 1], np.int8), "3-1"])
def test_two_dice_of_any_type(roll):
    assert as_roll(roll) == (3, 1)
    assert legal_plays(Position.start(), roll) == legal_plays(Position.start(), (3, 1))


@pytest.mark.parametrize(
    ("roll", "message"),
    [
        (
            np.array([[3, 1], [1, 2]]),
            "invalid roll: each die must be a whole number from 1 to 6, not array([3, 1])",
        ),
        (True, "invalid roll 'True': a roll must be two dice, such as 31 or 3 1"),
        ((True, 1), "invalid roll: each die must be a whole number from 1 to 6, not True"),
        (np.ones(3), "a roll must be two dice, such as (3, 1) or '31', not array([1., 1., 1.])"),
        ((3, None), "invalid roll: each die must be a whole number from 1 to 6, not None"),
        ((3, 1.0), "invalid roll: each die must be a whole number from 1 to 6, not 1.0"),
        ((3, "7"), "invalid roll: each die must be 1 to 6, not 7"),
        (None, "a roll must be two dice, such as (3, 1) or '31', not None"),
    ],
)
def test_other_values_are_no_roll(roll, message):
    with pytest.raises(PlayError) as error:
        as_roll(roll)
    assert str(error.value) == message


def test_an_array_is_refused_in_one_line():
    with pytest.raises(PlayError, match=r"not array\(.*\.\.\.$"):
        as_roll(np.ones((3, 2)))


def test_a_number_of_many_digits_is_refused():
    with pytest.raises(PlayError, match="invalid roll: each die must be 1 to 6, not '9999"):
        parse_roll("9" * 10_000, "1")
    with pytest.raises(PlayError, match="invalid roll: each die must be 1 to 6, not '9999"):
        parse_roll("9" * 10_000 + " 1")
