import pytest

from motif.board.moves import legal_plays
from motif.board.notation import find_play
from motif.board.position import Position
from motif.runtime.errors import PlayError
from motif.session.illegal import why_illegal

START = Position.start()
BAR = Position.from_points({25: 1, 6: 5, 8: 3}, {24: 2, 6: 5})
HOME = Position.from_points({6: 2, 4: 1}, {24: 2})
BLOCKED = Position.from_points({24: 2, 13: 5}, {4: 2, 3: 2})
NEARLY_HOME = Position.from_points({8: 1, 4: 2}, {24: 2})


@pytest.mark.parametrize(
    ("position", "roll", "text", "reason"),
    [
        (START, (3, 1), "7/4 6/5", "you have no checker on 7"),
        (
            Position.from_points({14: 1, 6: 5}, {24: 2}),
            (5, 1),
            "14/9 14/13",
            "you have only 1 checker on 14",
        ),
        (START, (2, 2), "24/22(3)", "you have only 2 checkers on 24"),
        (START, (3, 1), "bar/22 6/5", "you have no checker on the bar"),
        (START, (5, 1), "13/8 8/3", "that is 10 pips, but 51 is only 6"),
        (START, (4, 3), "13/8", "13/8 is 5 pips, which 43 does not allow"),
        (START, (2, 2), "24/18 13/8", "13/8 is 5 pips, which 22 does not allow"),
        (BAR, (3, 1), "bar/23", "25/23 is 2 pips, which 31 does not allow"),
        (START, (5, 5), "24/19 13/8", "the opponent has made the 19 point"),
        (START, (3, 1), "8/5* 6/5", "there is no blot to hit on 5"),
        (START, (3, 1), "8/5", "you must play as much of 31 as you can"),
        (START, (3, 1), "8/7 8/7", "you must play as much of 31 as you can"),
        (START, (3, 1), "6/off", "you cannot bear off before all checkers are home"),
        (BAR, (3, 1), "8/5 6/5", "checkers on the bar must enter first"),
        (BAR, (6, 1), "bar/19 8/7", "the opponent has made the 19 point"),
        (HOME, (6, 1), "6/off", "you must play as much of 61 as you can"),
        (NEARLY_HOME, (6, 1), "4/off 4/3", "you cannot bear off before all checkers are home"),
        (START, (6, 5), "24/13 8/off", "you cannot bear off before all checkers are home"),
        (START, (6, 3), "13/7 13/7", "that is 12 pips, but 63 is only 9"),
        (HOME, (5, 1), "6/5 6/off", "that is 7 pips, but 51 is only 6"),
        (BLOCKED, (3, 2), "24/19", "32 cannot be played like that"),
        (START, (3, 1), "nonsense", None),
    ],
)
def test_reasons(position, roll, text, reason):
    plays = legal_plays(position, roll)
    with pytest.raises(PlayError):
        find_play(text, plays)
    assert why_illegal(text, position, roll, plays) == reason


def test_a_play_that_can_mean_several_is_not_called_illegal():
    position = Position.from_points({12: 1, 1: 2}, {25 - 10: 1, 25 - 9: 1, 1: 2})
    plays = legal_plays(position, (3, 2))
    with pytest.raises(PlayError, match="can mean several"):
        find_play("12/7", plays)
    assert why_illegal("12/7", position, (3, 2), plays) is None
