"""OGIDs, compared with positions that HedgeHog and GammonView wrote."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motif.board.match_state import MatchState
from motif.board.parsing import parse_position
from motif.board.position import Position
from motif.board.xgid_ogid import looks_like_ogid, ogid, position_from_ogid
from motif.runtime.errors import PositionError
from tests.board.test_match_state import match_states
from tests.strategies import positions

START = "11ccccchhhjjjjj:66666888dddddoo"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # The published example of GammonView: White, on roll, has rolled 13.
        (f"{START}:N0N:13:B:R:0:0:0:0", MatchState(dice=(3, 1))),
        (f"OGID={START}:N0N:13:B:R:0:0:0:0", MatchState(dice=(3, 1))),
        (f"{START}:N0N::W:IW:0:0:1:0", MatchState(length=1)),
        (f"{START}:N0N::W:IB:0:0:1:0", MatchState(length=1, player=0)),
        (f"{START}:N0N", MatchState()),
        (f"{START}:W1N::B:C:0:0:0", MatchState(cube=2, cube_owner="me")),
        (f"{START}:W1N::W:C:0:0:0", MatchState(cube=2, cube_owner="opponent", player=0)),
        (
            f"{START}:N0N:36:B:C:6:5:7C:0",
            MatchState(length=7, own_score=6, opponent_score=5, crawford=True, dice=(6, 3)),
        ),
        (f"{START}:N0N:36:W:R:3:5:7L:12:15", MatchState(7, 5, 3, dice=(6, 3), player=0)),
        (f"{START}:D0N::B:C:0:0:1:0", MatchState(length=1)),
        ("11jjjjjhhhccccc:ooddddd88866666:?0N::B:C", MatchState()),
    ],
)
def test_start_with_many_cubes_and_scores(text, expected):
    assert position_from_ogid(text) == (Position.start(), expected)
    assert parse_position(text) == (Position.start(), expected)


def test_white_to_play_61():
    """According to HedgeHog, White played 7/6 7/1* here, in White's own numbers."""
    position, state = position_from_ogid("99cchhiijjjkkmm:223334455666ddo:N0N:16:B:R:2:1:3C:13")
    assert (state.player, state.dice, state.own_score, state.crawford) == (1, (6, 1), 2, True)
    assert position.board[7] == 2
    assert position.board[1] == -1


def test_black_to_play_33():
    """White has a checker on the bar."""
    position, state = position_from_ogid("03cccchhhhjjjjj:16666888dddddoo:N0N:33:W:R:0:1:3:3")
    assert (state.player, state.dice, state.own_score) == (0, (3, 3), 1)
    assert position.board[13] == 5
    assert position.board[0] == -1


def test_an_offered_double_names_who_doubled():
    position, state = position_from_ogid("cccccgghhhjjjjj:112233666777dll:N0O::B:D:0:0:3:11")
    assert (state.player, state.doubled, state.decision, state.cube) == (0, True, "opponent", 1)
    assert position.board[1] == 2


def test_checkers_off_may_be_named():
    position, _ = position_from_ogid("11jjjjjhhhccccq:ooddddd88866666:W1N")
    assert (position.own_off, position.opponent_off) == (1, 0)


def test_checkers_on_both_bars():
    position, _ = position_from_ogid("00jjj:66ppp:N0N::B:C:0:0:0:0")
    assert position == Position.from_points({25: 2, 6: 3}, {25: 3, 6: 2})
    assert ogid(position) == "00jjj:66ppp:N0N::B:C:0:0:0:0"


def test_what_is_written():
    assert ogid(Position.start()) == f"{START}:N0N::B:C:0:0:0:0" == Position.start().ogid
    state = MatchState(7, 6, 3, crawford=True, dice=(3, 6))
    assert ogid(Position.start(), state) == f"{START}:N0N:36:B:R:6:3:7C:0"
    offered = MatchState(cube=4, cube_owner="me", doubled=True, decision="opponent")
    assert ogid(Position.start(), offered) == f"{START}:W2O::W:D:0:0:0:0"


@given(positions(), match_states())
def test_round_trip(position, state):
    # State that an OGID cannot express.
    state = replace(
        state,
        player=1,
        resignation="none",
        decision="opponent" if state.doubled else "me",
        jacoby=False,
        beavers=False,
        raccoons=False,
    )
    if state.game_state == "playing":
        assert position_from_ogid(ogid(position, state)) == (position, state)
        assert parse_position(ogid(position, state)) == (position, state)


@given(positions())
def test_the_library_reads_what_it_writes(position):
    assert Position.from_id(position.ogid) == position


@given(positions(), st.booleans())
def test_gammonview_reads_the_same(position, doubled):
    gvformat = pytest.importorskip("gvformat")
    state = MatchState(5, 1, 2, cube=2, cube_owner="opponent" if not doubled else "me", doubled=doubled)
    theirs = gvformat.parse_ogid(ogid(position, replace(state, decision="opponent" if doubled else "me")))
    board = theirs.board if not doubled else theirs.flipped().board
    # The bars are plain counts.
    assert [-board[0], *board[1:]] == position.board.tolist()
    assert (theirs.cube_value, theirs.score_white, theirs.score_black) == (2, 1, 2)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"OGID={START}", r"an OGID must have 3 to 11 fields \(white:black:.*\), not 2$"),
        (f"{START}:N0N{':0' * 9}", "fields .*, not 12$"),
        (f"{START}:N0N:13:B:R:0:0:0:0:12", "the number of checkers per side must be 15, not '12'$"),
        (f"{START}:N0N:13:B:R:0:0:0:x", "the move number must be a number, not 'x'$"),
        (f"{START}:N0X:13:B:R:0:0:0:0", "the cube must be an owner .*, not 'N0X'$"),
        (f"{START}:N16N", "the exponent of the cube must be 0 to 15, not 16$"),
        (f"{START}:N0N:17:B", "the roll must be two dice from 1 to 6, or empty, not '17'$"),
        (f"{START}:N0N:13:X", "the colour must be W or B, not 'X'$"),
        (f"{START}:N0N:13:B:rolled", "the state must be .*, not 'rolled'$"),
        (f"{START}:N0N:13:B:R:-1", "a score must be a number, not '-1'$"),
        (f"{START}:N0N:13:B:R:0:0:{'9' * 5000}", "the length must be .*, not '99"),
        (f"{START}:N0N:13:B:R:7:0:7", "the match is over: the player on roll has 7 of 7 points$"),
        ("p1:oo:N0N", "a white checker is on the other player's bar$"),
        ("1:0o:N0N", "a black checker is on the other player's bar$"),
        ("11:1o:N0N", "both players have checkers on point '1'$"),
        ("OGID=1z:oo:N0N", "each of white's checkers must be 0 to 9, a to p, .*, not 'z'$"),
        (f"{'1' * 16}:oo:N0N", r"white has 16 checkers \(maximum 15\)$"),
        ("::N0N", "both players have borne off all their checkers$"),
    ],
)
def test_a_bad_ogid_is_explained(text, reason):
    assert looks_like_ogid(text)
    with pytest.raises(PositionError, match=reason) as error:
        parse_position(text)
    assert str(error.value).startswith("invalid position ")
    assert len(str(error.value).splitlines()) == 1


@given(st.text("019adp:WBNDOTPCRI?q", max_size=50) | st.text())
def test_any_text_is_read_or_refused_in_one_line(text):
    try:
        position, state = position_from_ogid(text)
    except PositionError as error:
        message = str(error)
    else:
        message = "none"
        if state.game_state == "playing":
            assert position_from_ogid(ogid(position, state)) == (position, replace(state, player=1))
    assert len(message.splitlines()) == 1
