"""Match play, compared with calculations by hand from the table, and the rules on doubling."""

import pytest
from hypothesis import given

from motif.board.match_state import MatchState
from motif.doubling import cube_decision, match_equity_table
from motif.doubling.decision import Verdict
from motif.doubling.equities import is_valued_without_cube
from motif.evaluators import Probabilities
from tests.doubling.chances import cubeful_equity, match_states, probabilities

TABLE = match_equity_table()
EVEN = Probabilities(0.5, 0.0, 0.0, 0.0, 0.0)


def state(length: int, own_away: int, opponent_away: int, **rest) -> MatchState:
    return MatchState(length, length - own_away, length - opponent_away, **rest)


def test_where_the_cube_is_ignored():
    assert is_valued_without_cube(MatchState(5, 4, 2, crawford=True))
    assert is_valued_without_cube(MatchState(3, 1, 1))
    assert is_valued_without_cube(MatchState(5, 3, 2, cube=4, cube_owner="me"))
    assert not is_valued_without_cube(MatchState(5, 3, 2, cube=2, cube_owner="me"))


def test_two_away_each():
    """The cube is as good as dead: the first double is the last, and the score determines the take point."""
    decision = cube_decision(EVEN, state(7, 2, 2))
    assert decision.no_double == 0
    assert decision.mwc_double_take == pytest.approx(0.5)
    assert decision.take_point == pytest.approx(TABLE.chance(2, 1))
    assert decision.action == "double, take"


def test_the_leaders_double_at_two_away_four_away():
    """After a take, the cube is redoubled immediately, and the game decides the match."""
    decision = cube_decision(EVEN, state(7, 2, 4), efficiency=1.0)
    assert decision.take_point == pytest.approx(TABLE.chance(4, 1))


def test_the_trailers_double_at_four_away_two_away():
    """The cube is useless to the leader, whose take point compares a pass now with a loss of two points."""
    decision = cube_decision(EVEN, state(7, 4, 2))
    passed, lost = TABLE.chance(2, 3), TABLE.chance(2, 2)
    assert decision.take_point == pytest.approx((passed - lost) / (1 - lost))
    assert decision.take_point == pytest.approx(0.199, abs=0.001)


def test_live_cash_points_at_four_away_each():
    """The doubled cube can be redoubled to 4, where it is dead and the game decides the match."""
    decision = cube_decision(EVEN, state(9, 4, 4))
    own, other = decision.windows[-1].cash_point, decision.opponent_windows[-1].cash_point
    redouble_take = TABLE.chance(4, 2)
    # The redoubler's cash point: above it, the opponent's 1 - p is not worth playing for the match.
    redouble_cash = 1 - redouble_take
    win, passed, lost = TABLE.chance(2, 4), TABLE.chance(3, 4), TABLE.chance(4, 2)
    take = redouble_cash * (win - passed) / (win - lost)
    assert own == pytest.approx(1 - take)
    assert other == pytest.approx(own)


@pytest.mark.parametrize("own_score", [2, 6])
def test_no_doubles_in_the_crawford_game(own_score):
    crawford = MatchState(7, own_score, 8 - own_score if own_score == 2 else 3, crawford=True)
    decision = cube_decision(EVEN, crawford)
    assert decision.action == "no double, Crawford game"
    assert (decision.double_take, decision.double_pass, decision.take_point) == (None, None, None)
    assert decision.windows == decision.opponent_windows == ()
    assert [verdict.key for verdict in decision.verdicts] == ["crawford"]
    won, lost = TABLE.after_game(crawford, 1), TABLE.after_game(crawford, -1)
    assert decision.mwc_no_double == pytest.approx((won + lost) / 2)


def test_after_the_crawford_game():
    """The trailer doubles immediately; the leader never does."""
    trailer = cube_decision(EVEN, state(7, 4, 1))
    assert trailer.action == "double, take"
    assert trailer.windows[1].double_point == 0
    # The leader wins the match or is at 1-away 2-away.
    passed, lost = TABLE.chance(1, 3, True), TABLE.chance(1, 2, True)
    assert trailer.take_point == pytest.approx((passed - lost) / (1 - lost))
    leader = cube_decision(EVEN, state(7, 1, 4))
    assert leader.action == "no double, dead cube"
    assert not leader.should_double
    assert leader.windows == ()
    assert leader.opponent_windows[1].double_point == 0
    # The cube gains nothing for the leader, but the opponent needs its points.
    assert leader.verdicts[0] == Verdict("no double", leader.cost("double"), "very clear")


def test_the_free_drop():
    """Two away, after the Crawford game: the leader drops with slightly less than even chances."""
    decision = cube_decision(EVEN, state(7, 2, 1))
    assert decision.take_point == pytest.approx(TABLE.chance(1, 1, True))


def test_double_match_point():
    decision = cube_decision(Probabilities(0.6, 0.2, 0, 0.1, 0), MatchState(length=1))
    assert decision.action == "no double, dead cube"
    assert decision.mwc_no_double == pytest.approx(0.6)
    assert decision.verdicts[0].key == "dead"
    assert decision.no_double == pytest.approx(0.2)


def test_an_owned_cube_that_wins_the_match_is_not_turned():
    owner = state(7, 2, 4, cube=2, cube_owner="me")
    decision = cube_decision(Probabilities(0.7, 0.1, 0, 0.1, 0), owner)
    assert decision.action == "no redouble, dead cube"
    assert decision.cost("double") > 0.1
    assert decision.cost("no double") == 0


def test_a_match_that_is_over():
    over = MatchState(3, 3, 1, game_state="over")
    with pytest.raises(Exception, match="the match to 3 is over at 3-1"):
        cube_decision(EVEN, over)


@given(probabilities(), match_states())
def test_match_winning_chances_are_probabilities(chances, where):
    decision = cube_decision(chances, where)
    for chance in (decision.mwc_no_double, decision.mwc_double_take, decision.mwc_double_pass):
        assert chance is None or -1e-9 <= chance <= 1 + 1e-9
    lost, won = TABLE.after_game(where, -where.cube), TABLE.after_game(where, where.cube)
    assert decision.mwc_no_double == pytest.approx(
        (lost + won) / 2 + decision.no_double * (won - lost) / 2, abs=1e-9
    )


@given(probabilities(), match_states())
def test_a_dead_cube_is_worth_the_average_of_the_ends(chances, where):
    if not is_valued_without_cube(where):
        return
    ends = [
        (chances.win - chances.win_gammon, 1),
        (chances.win_gammon - chances.win_backgammon, 2),
        (chances.win_backgammon, 3),
        (1 - chances.win - chances.lose_gammon, -1),
        (chances.lose_gammon - chances.lose_backgammon, -2),
        (chances.lose_backgammon, -3),
    ]
    average = sum(share * TABLE.after_game(where, points * where.cube) for share, points in ends)
    assert cube_decision(chances, where).mwc_no_double == pytest.approx(average, abs=1e-9)


def test_switching_sides_of_states():
    where = state(7, 2, 5, cube=2, cube_owner="me", player=0)
    turned = where.switch_sides()
    assert (turned.own_score, turned.opponent_score, turned.cube_owner, turned.player) == (
        2,
        5,
        "opponent",
        1,
    )
    assert turned.switch_sides() == where


def test_long_matches_are_like_money():
    """From far away an even score is nearly money play."""
    chances = Probabilities(0.7, 0.15, 0.005, 0.08, 0.002)
    long = cubeful_equity(chances, MatchState(length=200))
    assert long == pytest.approx(cubeful_equity(chances, MatchState()), abs=0.02)
