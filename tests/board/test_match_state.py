"""Match IDs, compared with those that gnubg 1.07 prints beside its boards."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motif.board.match_state import MatchState, match_faults, match_id, match_state_from_id
from motif.runtime.errors import PositionError

# Each ID was printed by gnubg under the board that the state describes.
EXAMPLES = [
    (
        "QYkqASAAIAAA",
        MatchState(
            length=9,
            own_score=4,
            opponent_score=2,
            cube=2,
            cube_owner="opponent",
            dice=(5, 2),
            jacoby=True,
        ),
    ),
    ("cIkFAAAAAAAE", MatchState(dice=(3, 1))),
    ("cAkKAAAAAAAA", MatchState(dice=(4, 2), jacoby=True)),
    (
        "EYEqAUAAEAAE",
        MatchState(
            length=9, own_score=4, opponent_score=2, cube=2, cube_owner="opponent", dice=(5, 2), player=0
        ),
    ),
    ("sIGpAAAAIAAE", MatchState(length=5, opponent_score=4, crawford=True, dice=(3, 2), player=0)),
    # Set by hand, with both players at match point.
    (
        "wAmgAEAAIAAE",
        MatchState(5, own_score=4, opponent_score=4, crawford=True, cube_owner="opponent"),
    ),
    ("cBGgAAAAAAAE", MatchState(length=5, doubled=True, decision="opponent")),
    (
        "EUmgABAAIAAE",
        MatchState(
            length=5,
            own_score=1,
            opponent_score=4,
            cube=2,
            cube_owner="opponent",
            resignation="gammon",
            decision="opponent",
            player=0,
        ),
    ),
    # The same resignation after it was accepted: more points than the match needs.
    (
        "EUugABAAQAAE",
        MatchState(
            length=5,
            own_score=1,
            opponent_score=8,
            cube=2,
            cube_owner="opponent",
            resignation="gammon",
            game_state="resigned",
            decision="opponent",
            player=0,
        ),
    ),
]

# Printed during matches and money sessions that gnubg played against itself.
PRINTED = [
    "MBmgABAAIAAE",
    "QQngAAAAEAAE",
    "UkEAACAAAAAA",
    "AgEGAFAAAAAE",
    "MQEKAFAAAAAE",
    "cBFgAAAAAAAE",
    "MBkAAAAAAAAA",
    "AQHvAAAAEAAE",
    "AwEAAAAACAAA",
    "EYGuABAAIAAE",
    "sEngACAAMAAE",
    "MgEAAAAACAAA",
    "UgkHACAAAAAA",
    "AxkAAAAACAAA",
    "UQkPAAAAAAAA",
]


@pytest.mark.parametrize(("text", "state"), EXAMPLES)
def test_examples_of_gnubg(text, state):
    assert match_state_from_id(text) == state
    assert match_id(state) == text


@pytest.mark.parametrize("text", PRINTED)
def test_what_gnubg_prints_is_written_back(text):
    assert match_id(match_state_from_id(text)) == text


@st.composite
def match_states(draw: st.DrawFn) -> MatchState:
    sides, dice = st.sampled_from(["me", "opponent"]), st.integers(1, 6)
    state = draw(
        st.builds(
            dict,
            length=st.integers(0, 32767),
            own_score=st.integers(0, 32767),
            opponent_score=st.integers(0, 32767),
            cube=st.integers(0, 15).map(lambda log: 1 << log),
            cube_owner=st.sampled_from(["centre", "me", "opponent"]),
            dice=st.none() | st.tuples(dice, dice),
            doubled=st.booleans(),
            jacoby=st.booleans(),
            resignation=st.sampled_from(["none", "single", "gammon", "backgammon"]),
            game_state=st.sampled_from(["none", "playing", "over", "resigned", "dropped"]),
            decision=sides,
            player=st.integers(0, 1),
        )
    )
    if state["doubled"]:
        state["dice"] = None
        state["cube_owner"] = "centre" if state["cube_owner"] == "centre" else "me"
    if state["length"]:
        state["own_score"] %= state["length"]
        if state["game_state"] in ("none", "playing"):
            state["opponent_score"] %= state["length"]
    at_match_point = state["length"] - 1 in (state["own_score"], state["opponent_score"])
    may_be_crawford = state["length"] > 0 and at_match_point and not state["doubled"]
    return MatchState(**state, crawford=may_be_crawford and draw(st.booleans()))


@given(match_states())
def test_every_state_survives_its_id(state):
    assert match_state_from_id(match_id(state)) == state


@given(match_states())
def test_an_id_does_not_include_beavers(state):
    assert match_id(replace(state, beavers=True)) == match_id(state)


def test_a_resignation_is_not_the_other_players():
    state = MatchState(own_score=3, cube=2, cube_owner="me", resignation="gammon", decision="opponent")
    assert state.switch_sides() == MatchState(opponent_score=3, cube=2, cube_owner="opponent", player=0)


def test_the_higher_die_comes_first():
    assert MatchState(dice=(2, 5)).dice == (5, 2)
    assert match_state_from_id("cIkGAAAAAAAE").dice == (5, 1)
    assert match_id(MatchState(dice=(1, 5))) == match_id(MatchState(dice=(5, 1)))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"length": -1}, "the match length must be 0 to 32767, not -1"),
        ({"own_score": 32768}, "the score of the player on roll must be 0 to 32767, not 32768"),
        ({"opponent_score": -3}, "the opponent's score must be 0 to 32767, not -3"),
        ({"cube": 3}, "the cube must be a power of two up to 32768, not 3"),
        ({"cube": 0}, "the cube must be .*, not 0"),
        ({"cube": 65536}, "the cube must be .*, not 65536"),
        ({"cube_owner": "them"}, "the cube's owner must be one of centre, me, opponent, not 'them'"),
        ({"decision": "centre"}, "the decision must be one of me, opponent, not 'centre'"),
        ({"resignation": "triple"}, "the resignation must be one of .*, not 'triple'"),
        ({"game_state": "lost"}, "the game state must be one of .*, not 'lost'"),
        ({"player": 2}, "the player on roll must be one of 0, 1, not 2"),
        ({"dice": (7, 1)}, "each die must be 1 to 6, not 7"),
        ({"dice": (1,)}, "a roll must have two dice, not 1"),
        ({"dice": (3, 1), "doubled": True}, "dice cannot be rolled while a double is on offer"),
        (
            {"doubled": True, "decision": "opponent", "cube_owner": "opponent"},
            "the player on roll cannot double: the opponent owns the cube",
        ),
        (
            {"length": 3, "own_score": 2, "crawford": True, "doubled": True},
            "there is no double in the Crawford game",
        ),
        ({"length": "5"}, "the match length must be a whole number, not '5'$"),
        ({"length": True}, "the match length must be a whole number, not True$"),
        ({"length": 5, "own_score": 1.5}, "the score of the player on roll must be a whole number, not 1.5$"),
        (
            {"cube": 2.0, "opponent_score": None},
            "the opponent's score must be .*, not None; the cube must be",
        ),
        ({"dice": "31"}, r"a roll must be two whole numbers such as \(3, 1\), not '31'$"),
        ({"dice": iter((3, 1))}, "a roll must be two whole numbers"),
        ({"dice": 31}, "a roll must be two whole numbers .*, not 31$"),
        ({"dice": (3.0, 1)}, r"a roll must be two whole numbers .*, not \(3.0, 1\)$"),
        ({"crawford": True}, "money play has no Crawford game"),
        ({"length": 5, "own_score": 5}, "the match is over: the player on roll has 5 of 5 points"),
        (
            {"length": 5, "own_score": 5, "opponent_score": 6},
            "the match is over: the player on roll has 5 and the opponent has 6 of 5 points$",
        ),
        ({"length": 5, "opponent_score": 6}, "the match is over: the opponent has 6 of 5 points"),
        ({"length": 5, "own_score": 5, "game_state": "none"}, "the match is over: the player on roll has 5"),
        (
            {"length": 5, "own_score": 5, "opponent_score": 7, "game_state": "over"},
            "both players have won the match to 5",
        ),
        ({"length": 5, "crawford": True}, "in the Crawford game a player must be 1-away"),
    ],
)
def test_a_fault_is_named(fields, reason):
    with pytest.raises(PositionError, match="^invalid match state: " + reason):
        MatchState(**fields)


def test_all_faults_are_named_at_once():
    with pytest.raises(PositionError, match=r"the cube must be .*, not 5.*each die .*, not 7.*Crawford"):
        MatchState(cube=5, dice=(7, 7), crawford=True)


def test_an_impossible_length_is_the_only_fault():
    with pytest.raises(PositionError, match=r": the match length must be 0 to 32767, not -3$"):
        MatchState(length=-3)


def test_a_valid_state_has_no_faults():
    assert match_faults(MatchState(length=7, own_score=6, crawford=True)) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("cIkFAAAAAAA", "a Match ID must have 12 characters, not 11"),
        ("cIkFAAAA?AAE", r"character 9 must be .*, not '\?'"),
        ("IIkFAAAAAAAE", "the code of the cube's owner must be 0 or 1"),
        ("cI0FAAAAAAAE", "the code of the game state must be at most 4, not 5"),
        ("cIkFAAAAAAD8", "the unused bits at the end must be zero"),
        ("cAkEAAAAAAAE", "each die must be 1 to 6, not 0"),
        ("8IkFAAAAAAAE", "money play has no Crawford game"),
    ],
)
def test_a_bad_id_is_quoted_and_explained(text, reason):
    with pytest.raises(PositionError, match=reason) as error:
        match_state_from_id(text)
    assert str(error.value).startswith(f"invalid match state {text!r}: ")


@given(st.text() | st.text("ABCDEFGHcdefghij0123+/", min_size=12, max_size=12))
def test_any_text_is_read_or_refused_in_one_line(text):
    try:
        state = match_state_from_id(text)
    except PositionError as error:
        message = str(error)
    else:
        message = "none"
        assert match_state_from_id(match_id(state)) == state
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ("identifier", "raised", "cube", "owner"),
    [
        ("QRkAAAAAAAAE", "beaver", 1, "centre"),
        ("QhEAAAAAAAAE", "raccoon", 1, "centre"),
        ("SRkAAAABCAAA", "beaver", 256, "me"),
    ],
)
def test_what_is_on_offer_and_the_state_before_it(identifier, raised, cube, owner):
    """gnubg 1.07 prints these IDs after a double and a beaver, and after a raccoon."""
    state = match_state_from_id(identifier)
    assert state.raised == raised
    before = state.before_double()
    assert (before.cube, before.cube_owner, before.doubled, before.raised) == (cube, owner, False, None)
    assert match_id(state) == identifier


def test_a_double_by_a_player_without_the_cube_is_refused():
    for changes in ({"cube": 2}, {"cube": 4, "length": 5}):
        with pytest.raises(PositionError, match="the player on roll cannot double"):
            MatchState(cube_owner="opponent", doubled=True, decision="opponent", **changes)
    with pytest.raises(PositionError, match="the player on roll cannot double"):
        MatchState(cube=4, cube_owner="opponent", doubled=True, decision="me", length=5)
