"""Play notation, compared with gnubg 1.07's hints."""

import random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from motif.board.identifiers import position_from_gnubg_id
from motif.board.moves import legal_plays
from motif.board.notation import Play, find_play, format_moves, parse_moves
from motif.board.packed import CHECKERS
from motif.board.position import Position
from motif.runtime.errors import PlayError
from tests.strategies import positions, rolls

START = Position.start()


@pytest.mark.parametrize(
    ("moves", "hits", "text"),
    [
        ([], [], ""),
        ([(8, 5), (6, 5)], [0, 0], "8/5 6/5"),
        ([(6, 5), (8, 5)], [0, 0], "8/5 6/5"),
        ([(6, 5), (8, 5)], [1, 0], "8/5* 6/5"),
        ([(13, 10), (13, 11)], [0, 0], "13/11 13/10"),
        ([(8, 5), (5, 3)], [0, 0], "8/3"),
        ([(5, 3), (8, 5)], [0, 0], "8/3"),
        ([(8, 5), (5, 3)], [1, 0], "8/5*/3"),
        ([(8, 5), (5, 3)], [0, 1], "8/3*"),
        ([(8, 5), (5, 3)], [1, 1], "8/5*/3*"),
        ([(25, 22), (24, 20)], [0, 1], "bar/22 24/20*"),
        ([(25, 20), (20, 18)], [0, 0], "bar/18"),
        ([(25, 22), (25, 20)], [0, 0], "bar/22 bar/20"),
        ([(6, 0), (5, 0)], [0, 0], "6/off 5/off"),
        ([(6, 0)] * 4, [0] * 4, "6/off(4)"),
        ([(3, 1), (1, 0)], [0, 0], "3/off"),
        ([(13, 10), (10, 7), (13, 10), (10, 7)], [0] * 4, "13/7(2)"),
        ([(13, 10), (13, 10), (10, 7), (10, 7)], [0, 0, 1, 0], "13/7*(2)"),
        ([(13, 10), (13, 10), (8, 5), (8, 5)], [0] * 4, "13/10(2) 8/5(2)"),
        ([(8, 6), (8, 6), (6, 4)], [0] * 3, "8/4 8/6"),
        ([(8, 6), (6, 4), (6, 4), (4, 2)], [0] * 4, "8/2 6/4"),
        ([(8, 6), (8, 6), (6, 4)], [1, 0, 0], "8/6*/4 8/6"),
        ([(13, 11), (11, 9), (9, 7), (7, 5)], [0, 1, 0, 0], "13/9*/5"),
        # The other texts are gnubg's.
        ([(21, 18), (21, 18), (18, 15), (18, 15)], [1, 0, 0, 0], "21/18*/15(2)"),
        ([(14, 10), (10, 6), (5, 1), (5, 1)], [1, 0, 1, 0], "14/10*/6 5/1*(2)"),
        ([(7, 5), (7, 5), (5, 3), (3, 1)], [0, 0, 1, 1], "7/3*/1* 7/5"),
        ([(7, 5), (6, 4), (5, 3), (3, 1)], [0, 0, 1, 1], "7/3*/1* 6/4"),
        ([(24, 20), (14, 10), (10, 6), (5, 1)], [0, 1, 0, 1], "24/20 14/10*/6 5/1*"),
    ],
)
def test_formatting_in_any_order(moves, hits, text):
    for seed in range(6):
        pairs = list(zip(moves, map(bool, hits), strict=True))
        random.Random(seed).shuffle(pairs)
        assert format_moves([move for move, _ in pairs], [hit for _, hit in pairs]) == text


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("", []),
        ("8/5 6/5", [(8, 5, False), (6, 5, False)]),
        ("24/23 13/11", [(24, 23, False), (13, 11, False)]),
        ("8/5,6/5", [(8, 5, False), (6, 5, False)]),
        ("  8/3  ", [(8, 3, False)]),
        ("bar/22/18*", [(25, 22, False), (22, 18, True)]),
        ("25/22", [(25, 22, False)]),
        ("b/22", [(25, 22, False)]),
        ("BAR/22 6/OFF", [(25, 22, False), (6, 0, False)]),
        ("6/off(2)", [(6, 0, False)] * 2),
        ("6/0", [(6, 0, False)]),
        ("6/o", [(6, 0, False)]),
        ("8/5*/3", [(8, 5, True), (5, 3, False)]),
        ("8/6*/4(2)", [(8, 6, True), (6, 4, False)] * 2),
        ("13-7 13-9", [(13, 7, False), (13, 9, False)]),
        ("13-7*-5", [(13, 7, True), (7, 5, False)]),
        ("bar-22, 6-off(2)", [(25, 22, False), (6, 0, False), (6, 0, False)]),
        ("13/10(2) 8/5(2)", [(13, 10, False)] * 2 + [(8, 5, False)] * 2),
    ],
)
def test_reading(text, moves):
    assert parse_moves(text) == moves


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("8/5 6", "'6' is not a move such as 8/5, bar/22 or 6/off(2)"),
        ("8-5/3", "'8-5/3' is not a move"),
        ("8-", "'8-' is not a move"),
        ("8/5/", "'8/5/' is not a move"),
        ("8//5", "'8//5' is not a move"),
        ("8*/5", "'8*/5' is not a move"),
        ("8/5**", "'8/5**' is not a move"),
        ("8/5(0)", "'8/5(0)' is not a move"),
        ("8/5(5)", "'8/5(5)' is not a move"),
        ("8/5 (2)", "'(2)' is not a move"),
        ("٨/5", "'٨/5' is not a move"),
        ("5/8", "in '5/8' a checker cannot move from 5 to 8"),
        ("8/8", "in '8/8' a checker cannot move from 8 to 8"),
        ("26/20", "in '26/20' a checker cannot move from 26 to 20"),
        ("6/bar", "in '6/bar' a checker cannot move from 6 to bar"),
        ("off/3", "in 'off/3' a checker cannot move from off to 3"),
        ("6/off/3", "in '6/off/3' a checker cannot move from off to 3"),
        ("6/off*", "in '6/off*' a checker borne off cannot hit"),
        ("8/7(4) 6/5", "more than 4 moves"),
    ],
)
def test_invalid_notation_is_explained(text, reason):
    with pytest.raises(PlayError) as error:
        parse_moves(text)
    assert str(error.value) == f"invalid play {text!r}: {reason}" or reason in str(error.value)
    assert str(error.value).startswith(f"invalid play {text!r}: ")


@settings(deadline=None)  # the generator of plays is compiled on its first call
@given(st.text() | st.text("0123456789/*() barof,", max_size=30))
def test_any_text_is_read_or_refused_in_one_line(text):
    message = "none"
    for read in (parse_moves, lambda one: find_play(one, legal_plays(START, (3, 1)))):
        try:
            read(text)
        except PlayError as error:
            message = str(error)
        assert len(message.splitlines()) == 1


@settings(deadline=None)
@given(positions(), rolls(), st.randoms(use_true_random=False))
def test_every_legal_play_is_found_by_its_text(position, roll, rng):
    assume(position.own_off < CHECKERS and position.opponent_off < CHECKERS)
    plays = legal_plays(position, roll)
    assert len({play.notation for play in plays}) == len(plays)
    for play in rng.sample(plays, min(3, len(plays))):
        text = play.notation
        assert find_play(text, plays) is play
        words = text.split()
        rng.shuffle(words)
        assert find_play(" ".join(words).upper().replace("BAR", "25"), plays) is play
        # One checker and one die at a time.
        steps = [f"{start}/{end}{'*' * hit}" for (start, end), hit in zip(play.moves, play.hits, strict=True)]
        rng.shuffle(steps)
        assert find_play(", ".join(steps), plays) is play


@pytest.mark.parametrize(
    ("identifier", "roll", "texts"),
    [
        ("4PXgAQawz5EBBg", (3, 3), ["21/18*/15(2)", "21/18*/15 8/5(2)", "21/18*/15 13/10(2)"]),
        ("27YRBgDfGwPAAA", (2, 2), ["18/16*/14(2)", "18/16*/14 3/1(2)"]),
        ("2ObgQSDg88EBDA", (3, 3), ["13/7*/1*"]),
        ("mOfgICSwZxcDIA", (4, 1), ["8/7*/3*"]),
    ],
)
def test_texts_of_gnubg(identifier, roll, texts):
    plays = legal_plays(position_from_gnubg_id(identifier), roll)
    for text in texts:
        assert find_play(text, plays).notation == text
        assert find_play(text.replace("*", ""), plays).notation == text


def plays_from_13_with_32(blots: tuple[int, ...], made: tuple[int, ...] = ()) -> list[Play]:
    """The paths of one checker from 13 to 8, past the opponent's `blots` and points on 10 and 11."""
    plays = []
    for between in (10, 11):
        if between in made or (between == 11 and not blots and 10 not in made):
            continue
        left = {25 - point: 1 for point in blots if point != between} | {25 - point: 2 for point in made}
        after = Position.from_points(left | {25: int(between in blots)}, {8: 1})
        hits = (between in blots, False)
        plays.append(Play(after, ((13, between), (between, 8)), hits))
    return plays


@pytest.mark.parametrize(
    ("blots", "made", "text", "meant"),
    [
        ((), (), "13/8", "13/8"),
        ((), (), "13/11/8", "13/8"),
        ((), (10,), "13/8", "13/8"),
        # The path without a hit, unless the text marks a hit.
        ((10,), (), "13/8", "13/8"),
        ((11,), (), "13/8", "13/8"),
        ((10,), (), "13/10*/8", "13/10*/8"),
        ((10,), (), "13/10/8", "13/10*/8"),
        ((10,), (), "13/10 10/8", "13/10*/8"),
        ((10,), (), "13/11/8", "13/8"),
        ((10,), (11,), "13/8", "13/10*/8"),
        ((10, 11), (), "13/11/8", "13/11*/8"),
        ((10, 11), (), "13/10*/8", "13/10*/8"),
    ],
)
def test_intermediate_points_do_not_matter(blots, made, text, meant):
    play = find_play(text, plays_from_13_with_32(blots, made))
    assert format_moves(play.moves, play.hits) == meant


def test_two_hits_on_the_way_are_ambiguous():
    with pytest.raises(PlayError) as error:
        find_play("13/8", plays_from_13_with_32((10, 11)))
    assert str(error.value) == "'13/8' can mean several plays; legal plays are 13/10*/8, 13/11*/8"


@pytest.mark.parametrize(
    ("blots", "made", "text"),
    [
        ((10,), (), "13/8*"),
        ((), (), "13/10*/8"),
        # Landing on a point that the opponent holds.
        ((), (10,), "13/10/8"),
        ((10,), (11,), "13/11/8"),
    ],
)
def test_what_the_board_does_not_allow(blots, made, text):
    with pytest.raises(PlayError, match="is not a legal play; legal plays are 13/"):
        find_play(text, plays_from_13_with_32(blots, made))


def test_an_illegal_play_is_answered_with_up_to_five_legal_ones():
    with pytest.raises(PlayError) as error:
        find_play("13/7", legal_plays(START, (3, 1)))
    message = str(error.value)
    assert message.startswith("'13/7' is not a legal play; legal plays are ")
    assert message.endswith(" and 11 more")
    assert message.count(",") == 4


def test_the_legal_plays_that_are_nearest_are_reported_first():
    position = Position.from_points({14: 1, 13: 2, 6: 3}, {24: 2})
    with pytest.raises(PlayError, match=r"'14/9 14/13' is not a legal play; legal plays are 14/8, 14/9 6/5"):
        find_play("14/9 14/13", legal_plays(position, (5, 1)))


def test_a_dance_is_the_empty_play():
    closed_out = Position.from_points({25: 1, 6: 2}, dict.fromkeys(range(1, 7), 2))
    plays = legal_plays(closed_out, (6, 5))
    assert find_play("", plays) is plays[0]
    with pytest.raises(PlayError, match=r"'bar/20' is not a legal play; no move is possible"):
        find_play("bar/20", plays)
    with pytest.raises(PlayError, match=r"'' is not a legal play; legal plays are "):
        find_play("", legal_plays(START, (6, 5)))
