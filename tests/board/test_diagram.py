"""Diagrams: the text diagram compared with gnubg's own, and the required contents of the SVG."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings

from motif.board.diagram import fit_width, svg_diagram, text_diagram
from motif.board.match_state import MatchState
from motif.board.position import Position
from motif.board.xgid_ogid import position_from_xgid
from motif.runtime.errors import SettingError
from tests.board.test_match_state import match_states
from tests.strategies import positions

BOTH_ON_THE_BAR = "XGID=aa---BDC----dD---c-e----AA"
HIGH_STACKS = Position.from_points({6: 6, 3: 1}, {24: 10, 23: 1})

# The boards are those of gnubg's `show board`.
START_WITHOUT_MATCH = """\
 Position ID: 4HPwATDgc/ABMA
 +13-14-15-16-17-18------19-20-21-22-23-24-+     O: opponent
 | X           O    |   | O              X |     pips 167, off 0
 | X           O    |   | O              X |
 | X           O    |   | O                |
 | X                |   | O                |
 | X                |   | O                |
v|                  |BAR|                  |
 | O                |   | X                |
 | O                |   | X                |
 | O           X    |   | X                |
 | O           X    |   | X              O |
 | O           X    |   | X              O |     pips 167, off 0
 +12-11-10--9--8--7-------6--5--4--3--2--1-+     X: player on roll"""
MATCH_WITH_BARS = """\
 Position ID: sHfgAVDgc/AAKA
 Match ID   : EYEqAUAAEAAE
 +13-14-15-16-17-18------19-20-21-22-23-24-+     O: opponent (cube: 2)
 | X              O | O | O  O           X |     pips 156, off 0
 | X              O |   | O  O             |     score 2
 | X              O |   | O                |
 | X                |   | O                |
 |                  |   |                  |
v|                  |BAR|                  |     9-point match
 |                  |   | X                |
 | O                |   | X                |
 | O           X    |   | X                |     rolled 52
 | O           X    |   | X                |     score 4
 | O           X    | X | X              O | X   pips 155, off 1
 +12-11-10--9--8--7-------6--5--4--3--2--1-+     X: player on roll"""


def test_the_start():
    assert text_diagram(Position.start()) == START_WITHOUT_MATCH


def test_a_match_with_checkers_on_both_bars():
    assert text_diagram(*position_from_xgid(f"{BOTH_ON_THE_BAR}:1:1:-1:52:2:4:0:9:10")) == MATCH_WITH_BARS


def test_stacks_above_five_show_their_number():
    lines = text_diagram(HIGH_STACKS).splitlines()
    assert lines[8] == " |                  |   | 6             10 | X"
    assert lines[12] == " |                  |   | X        X  O  O | XX  pips 39, off 8"
    assert lines[2].endswith("| O   pips 263, off 4")


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (MatchState(), ["money play (cube: 1)", "on roll"]),
        (
            MatchState(jacoby=True, beavers=True, dice=(6, 5)),
            ["money play, Jacoby rule,", "beavers", "rolled 65"],
        ),
        (MatchState(length=7, own_score=6, crawford=True), ["7-point match, Crawford game", "score 6"]),
        (MatchState(length=5, own_score=4, opponent_score=3), ["5-point match, post-Crawford", "score 4"]),
        (MatchState(cube=4, cube_owner="me"), ["X: player on roll (cube: 4)"]),
        (MatchState(cube=2, doubled=True, decision="opponent"), ["doubles to 4"]),
        (MatchState(resignation="single"), ["resigns a single game"]),
        (MatchState(resignation="gammon"), ["resigns a gammon"]),
    ],
)
def test_both_diagrams_show_the_match(state, words):
    text = text_diagram(Position.start(), state)
    image = svg_diagram(Position.start(), state)
    for word in words:
        assert word in text
        assert word.partition(" (")[0].removeprefix("X: ") in image


@pytest.mark.parametrize(
    "state",
    [
        MatchState(jacoby=True),
        MatchState(jacoby=True, beavers=True, cube=64),
        MatchState(length=25, own_score=24, crawford=True),
        MatchState(length=9, cube=4, cube_owner="me"),
    ],
)
def test_a_board_fits_into_eighty_columns(state):
    text = text_diagram(Position.start(), state)
    assert max(map(len, text.splitlines())) <= 80
    assert f"(cube: {state.cube})" in text
    assert fit_width(text, 80) == fit_width(text, None) == text


def test_text_beside_a_board_moves_below_it_in_narrow_terminals():
    lines = fit_width(MATCH_WITH_BARS, 60).splitlines()
    beside = [line[49:] for line in MATCH_WITH_BARS.splitlines()[2:] if len(line) > 49]
    assert max(map(len, lines)) < 60
    assert lines[2:15] == [line[:49].rstrip() for line in MATCH_WITH_BARS.splitlines()[2:]]
    assert lines[15:] == [f" {note}" for note in beside]
    assert lines[14] == " +12-11-10--9--8--7-------6--5--4--3--2--1-+"


@given(positions(), match_states())
def test_every_checker_is_drawn(position, state):
    lines = text_diagram(position, state).splitlines()
    assert len(lines) == 15
    assert max(map(len, lines)) <= 110
    own = sum(line[:44].count("X") for line in lines[3:14])
    visible = sum(min(int(count), 5) - (count > 5) for count in position.board if count > 0)
    assert own == visible
    assert sum(line[44:48].count("X") for line in lines[3:14]) == position.own_off


def elements(image: str, name: str) -> list[ET.Element]:
    return ET.fromstring(image).findall(f"{{http://www.w3.org/2000/svg}}{name}")


def texts(image: str) -> list[str]:
    return [element.text or "" for element in elements(image, "text")]


@settings(deadline=None)
@given(positions(), match_states())
def test_every_svg_is_valid_and_self_contained(position, state):
    image = svg_diagram(position, state)
    visible = sum(min(abs(int(count)), 5) for count in position.board)
    rings = sum(min(-int(count), 5) for count in position.board if count < 0)
    pips = sum(state.dice or ())
    assert len(elements(image, "circle")) == visible + rings + pips
    for word in ("<script", "<style", "href", "url(", " id="):
        assert word not in image


def test_an_svg_describes_itself_for_screen_readers():
    image = svg_diagram(Position.start(), MatchState(length=5, own_score=1), title="White <& Black>")
    assert elements(image, "title")[0].text == "White <& Black>"
    words = elements(image, "desc")[0].text or ""
    assert "2 on 24, 5 on 13, 3 on 8, 5 on 6; 0 off; 167 pips" in words
    assert "5-point match, score 1 to 0, cube 1 in the centre; the player on roll: on roll." in words
    default = svg_diagram(Position.start())
    assert elements(default, "title")[0].text == "Backgammon position 4HPwATDgc/ABMA"


def test_an_svg_is_valid_with_characters_that_xml_forbids():
    names = ("A\x01nn", "\x1b[31m", "\ufffe", "\ud800 \U0001f3b2")
    image = svg_diagram(Position.start(), title="\x00", captions=names)
    shown = texts(image)
    assert {"A\ufffdnn", "\ufffd[31m", "\ufffd", "\ufffd \U0001f3b2"} <= set(shown)


def test_an_svg_numbers_points_and_high_stacks():
    shown = texts(svg_diagram(HIGH_STACKS))
    assert {str(point) for point in range(1, 25)} <= set(shown)
    assert shown.count("10") == 2
    assert {"8 off", "4 off", "On roll (light): 39 pips", "Opponent (dark): 263 pips"} <= set(shown)


def test_an_svg_shows_each_move_as_an_arrow():
    bare = svg_diagram(Position.start())
    moved = svg_diagram(Position.start(), moves=[(8, 5), (6, 5)])
    assert len(elements(moved, "path")) == len(elements(bare, "path")) + 6
    assert len(elements(moved, "circle")) == len(elements(bare, "circle")) + 2
    off = svg_diagram(HIGH_STACKS, moves=[(6, 0), (3, 0)])
    assert len(elements(off, "circle")) == len(elements(svg_diagram(HIGH_STACKS), "circle"))


def test_an_svg_has_the_requested_size():
    assert 'width="320" height="248"' in svg_diagram(Position.start(), size=320)
    with pytest.raises(SettingError, match="at least 1 pixel wide, not 0"):
        svg_diagram(Position.start(), size=0)
