"""XGIDs, compared with the boards that gnubg 1.07 sets up for them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motif.board.identifiers import gnubg_id
from motif.board.match_state import MatchState, match_id
from motif.board.position import Position
from motif.board.xgid_ogid import position_from_xgid, xgid
from motif.runtime.errors import PositionError
from tests.board.test_match_state import match_states
from tests.strategies import positions

START = "XGID=-b----E-C---eE---c-e----B-"
BOTH_ON_THE_BAR = "XGID=aa---BDC----dD---c-e----AA"

# The two IDs are what gnubg shows after `set xgid`.
EXAMPLES = [
    (f"{START}:0:0:1:31:0:0:0:0:10", "4HPwATDgc/ABMA", "cIkFAAAAAAAE"),
    (f"{BOTH_ON_THE_BAR}:1:1:1:52:2:4:0:9:10", "4HPwACjYO/AAKA", "UYkqAUAAEAAE"),
    # The other side on roll: the board is still from the side of the capitals.
    (f"{BOTH_ON_THE_BAR}:1:1:-1:52:2:4:0:9:10", "sHfgAVDgc/AAKA", "EYEqAUAAEAAE"),
    (f"{BOTH_ON_THE_BAR}:1:1:-1:00:2:4:0:9:10", "sHfgAVDgc/AAKA", "EQEgAUAAEAAE"),
    (f"{BOTH_ON_THE_BAR}:0:0:1:00:3:1:0:0:10", "4HPwACjYO/AAKA", "cAkAABAAGAAE"),
    (f"{BOTH_ON_THE_BAR}:0:0:1:00:3:1:1:0:10", "4HPwACjYO/AAKA", "cAkAABAAGAAA"),
]


@pytest.mark.parametrize(("text", "position_id", "match_text"), EXAMPLES)
def test_examples_of_gnubg(text, position_id, match_text):
    position, state = position_from_xgid(text)
    assert gnubg_id(position) == position_id
    assert match_id(state) == match_text
    assert position_from_xgid(text.removeprefix("XGID=")) == (position, state)


def test_example_is_written_back():
    text = f"{START}:0:0:1:31:0:0:0:0:10"
    assert xgid(*position_from_xgid(text)) == text


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("2:-1:1:63:3:1:0:7:10", {"cube": 4, "cube_owner": "opponent", "dice": (6, 3)}),
        ("2:-1:-1:63:3:1:0:7:10", {"cube": 4, "cube_owner": "me", "own_score": 1, "opponent_score": 3}),
        ("2:1:1:13:3:1:0:7:10", {"cube": 4, "cube_owner": "me", "own_score": 3, "dice": (3, 1)}),
        ("0:0:1:63:6:1:1:7:10", {"crawford": True, "jacoby": False, "beavers": False}),
        ("0:0:1:63:6:1:0:7:10", {"crawford": False}),
        ("0:0:1:00:0:0:1:0:10", {"jacoby": True, "beavers": False, "dice": None, "length": 0}),
        ("0:0:1:00:0:0:2:0:10", {"jacoby": False, "beavers": True}),
        ("0:0:1:00:0:0:3:0:10", {"jacoby": True, "beavers": True, "crawford": False}),
        ("1:1:1:D:0:0:0:5:10", {"doubled": True, "dice": None, "decision": "opponent", "cube": 2}),
        ("0:0:-1:00:0:0:0:5:10", {"player": 0, "decision": "me"}),
        ("0:0:1:00:0:0:0:0:0", {"length": 0}),
    ],
)
def test_what_the_fields_mean(fields, expected):
    state = position_from_xgid(f"{START}:{fields}")[1]
    assert {name: getattr(state, name) for name in expected} == expected


@given(positions(), match_states())
def test_round_trip(position, state):
    # State that an XGID cannot express.
    state = replace(
        state,
        player=1,
        resignation="none",
        decision="opponent" if state.doubled else "me",
        jacoby=state.jacoby and not state.length,
    )
    if state.game_state == "playing":
        assert position_from_xgid(xgid(position, state)) == (position, state)


@given(positions())
def test_a_lone_position_is_money_play(position):
    text = xgid(position)
    assert text.endswith(":0:0:1:00:0:0:0:0:10")
    assert position_from_xgid(text) == (position, MatchState())


@given(positions())
def test_from_the_other_side_it_is_the_same_position(position):
    board = xgid(position).split(":")[0].removeprefix("XGID=")
    turned = board[::-1].swapcase()
    assert position_from_xgid(f"XGID={turned}:0:0:-1:00:0:0:0:0:10")[0] == position


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (START, r"an XGID must have 10 fields \(board:cube:.*\), not 1$"),
        (f"{START}:0:0:1:31:0:0:0:0:10:0", "fields .*, not 11$"),
        (f"{START}-:0:0:1:31:0:0:0:0:10", "the board of an XGID must have 26 characters, not 27$"),
        (
            f"XGID=Ab----E-C---eE---c-e----B-{':0' * 9}",
            "character 1 of the board must be a to p or -, not 'A'$",
        ),
        (
            f"XGID=-b----E-C---eE---c-e----Ba{':0' * 9}",
            "character 26 of the board must be A to P or -, not 'a'$",
        ),
        (
            f"XGID=-b----E-C---eE---c-e----Q-{':0' * 9}",
            "character 25 of the board must be A to P, a to p or -, not 'Q'$",
        ),
        (f"{START}:16:0:1:31:0:0:0:0:10", "the field cube must be 0 to 15, not '16'$"),
        (f"{START}:0:2:1:31:0:0:0:0:10", "the field owner must be -1 to 1, not '2'$"),
        (f"{START}:0:0:0:31:0:0:0:0:10", "the field turn must be 1 or -1, not '0'$"),
        (f"{START}:0:0:2:31:0:0:0:0:10", "the field turn must be 1 or -1, not '2'$"),
        (f"{START}:0:0:1:37:0:0:0:0:10", "the dice must be two digits 1 to 6, 00 or D, not '37'$"),
        (f"{START}:0:0:1:03:0:0:0:0:10", "the dice must be .*, not '03'$"),
        (
            f"{START}:0:0:1:B:0:0:0:0:10",
            r"the dice must be .*, not 'B' \(beavers and raccoons cannot be read\)$",
        ),
        (f"{START}:0:0:1:31:x:0:0:0:10", "the field S1 must be a number of at least 0, not 'x'$"),
        (f"{START}:0:0:1:31:0::0:0:10", "the field S2 must be .*, not ''$"),
        (f"{START}:0:0:1:31:0:0:4:0:10", "the field CJ must be 0 to 3, not '4'$"),
        (f"{START}:0:0:1:31:0:0:2:5:10", "the field CJ must be 0 to 1, not '2'$"),
        (f"{START}:0:0:1:31:0:0:0:{'9' * 5000}:10", "the field len must be .*, not '99"),
        (f"{START}:0:0:1:31:0:0:0:0:-1", "the field max must be .*, not '-1'$"),
        # gnubg answers "not a valid XGID".
        (f"{START}:0:0:1:31:7:1:0:7:10", ": the match is over: the player on roll has 7 of 7 points$"),
        (f"{START}:0:0:1:31:3:1:1:7:10", ": in the Crawford game a player must be 1-away$"),
        (
            START.replace("E", "P") + ":0:0:1:31:0:0:0:0:10",
            ": the player on roll has 37 checkers ",
        ),
    ],
)
def test_a_bad_xgid_is_explained(text, reason):
    with pytest.raises(PositionError, match=reason) as error:
        position_from_xgid(text)
    assert str(error.value).startswith("invalid position 'XGID=")
    assert len(str(error.value).splitlines()) == 1


@given(
    st.text()
    | st.lists(st.text("-01234567890DBabAB\n", max_size=3), min_size=9, max_size=9).map(
        lambda fields: f"{START}:{':'.join(fields)}"
    )
    | st.text("-ABCDEPabcdepQ", min_size=26, max_size=26).map(lambda board: board + ":0:0:1:00:0:0:0:0:10")
)
def test_any_text_is_read_or_refused_in_one_line(text):
    try:
        position, state = position_from_xgid(text)
    except PositionError as error:
        message = str(error)
    else:
        message = "none"
        assert position_from_xgid(xgid(position, state)) == (position, replace(state, player=1))
    assert len(message.splitlines()) == 1


def test_the_position_is_that_of_the_player_on_roll():
    own = Position.from_points({6: 1}, {2: 1})
    assert position_from_xgid("XGID=" + "------A----------------a--:0:0:1:00:0:0:0:0:10")[0] == own
    assert position_from_xgid("XGID=" + "--A----------------a------:0:0:-1:00:0:0:0:0:10")[0] == own
