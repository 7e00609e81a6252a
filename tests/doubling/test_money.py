"""Money play: Janowski's figures, and gnubg's for the starting position."""

import numpy as np
import pytest

import motif
from motif.board.match_state import MatchState
from motif.doubling import cube_decision
from motif.evaluators import Probabilities
from tests.doubling.chances import cubeful_equity

START = Probabilities(0.521514, 0.153921, 0.007563, 0.129847, 0.007546)
"""gnubg's 0-ply chances."""


def with_values(win: float, value: float) -> Probabilities:
    """Probabilities with `win`, and average wins and losses of `value`."""
    return Probabilities(win, win * (value - 1), 0.0, (1 - win) * (value - 1), 0.0)


@pytest.mark.parametrize(
    ("value", "x", "take", "cash"),
    [
        (1.0, 1.0, 0.20, 0.80),
        (1.0, 0.0, 0.25, 0.75),
        (1.0, 0.68, 0.21368, 0.78632),
        (1.2, 1.0, 0.24138, 0.75862),
    ],
)
def test_take_points_and_cash_points(value, x, take, cash):
    decision = cube_decision(with_values(0.5, value), MatchState(), efficiency=x)
    assert decision.take_point == pytest.approx(take, abs=1e-5)
    assert decision.cash_point == pytest.approx(cash, abs=1e-5)
    assert decision.windows[1].cash_point == pytest.approx(cash, abs=1e-5)


@pytest.mark.parametrize(("jacoby", "equity"), [(False, 0.092086), (True, 0.084376)])
def test_gnubgs_cubeful_equity_of_the_start(jacoby, equity):
    assert START.equity == pytest.approx(0.067119, abs=1e-6)
    assert cubeful_equity(START, MatchState(jacoby=jacoby)) == pytest.approx(equity, abs=1e-4)


def test_unequal_gammons_against_the_formulas():
    chances = Probabilities(0.6, 0.18, 0.03, 0.06, 0.0)
    win, loss, x = 1 + 0.21 / 0.6, 1 + 0.06 / 0.4, 0.68
    decision = cube_decision(chances, MatchState())
    assert decision.cash_point == pytest.approx((loss + 0.5 + x / 2) / (win + loss + x / 2))
    assert decision.take_point == pytest.approx((win - 0.5) / (win + loss + x / 2))
    dead = 0.6 * (win + loss) - loss
    live_take, live_cash = (loss - 0.5) / (win + loss + 0.5), (loss + 1) / (win + loss + 0.5)
    live = np.interp(0.6, [0, live_take, live_cash, 1], [-loss, -1, 1, win])
    assert decision.no_double == pytest.approx((1 - x) * dead + x * live)
    live = np.interp(0.6, [0, live_take, 1], [-loss, -1, win])
    assert decision.double_take == pytest.approx(2 * ((1 - x) * dead + x * live))
    own = cubeful_equity(chances, MatchState(cube=4, cube_owner="me"))
    assert own == pytest.approx((1 - x) * dead + x * np.interp(0.6, [0, live_cash, 1], [-loss, 1, win]))


@pytest.mark.parametrize(
    ("win", "action"),
    [
        (0.50, "no double, take"),
        (0.68, "no double, take"),
        (0.72, "double, take"),
        (0.78, "double, take"),
        (0.79, "double, pass"),
        (0.99, "double, pass"),
    ],
)
def test_a_long_race_without_gammons(win, action):
    assert cube_decision(Probabilities(win, 0, 0, 0, 0), MatchState()).action == action


def test_a_last_roll_position():
    """With a dead cube, double from 50 % and take from 25 %."""
    for win, action in ((0.49, "no double, take"), (0.51, "double, take"), (0.76, "double, pass")):
        decision = cube_decision(Probabilities(win, 0, 0, 0, 0), MatchState(), efficiency=0.0)
        assert decision.action == action
    window = decision.windows[0]
    assert (window.double_point, window.take_point) == pytest.approx((0.5, 0.25))
    assert window.too_good_point is None


def test_with_a_live_cube_the_window_is_a_point():
    window = cube_decision(with_values(0.5, 1.0), MatchState(), efficiency=1.0).windows[2]
    assert (window.double_point, window.cash_point) == pytest.approx((0.8, 0.8))


def test_too_good_needs_gammons_that_count():
    chances = Probabilities(0.9, 0.6, 0.0, 0.01, 0.0)
    assert cube_decision(chances, MatchState()).action == "too good to double, pass"
    assert cube_decision(chances, MatchState(jacoby=True)).action == "double, pass"
    owned = MatchState(cube=2, cube_owner="me", jacoby=True)
    assert cube_decision(chances, owned).action == "too good to redouble, pass"
    assert cube_decision(chances, MatchState(jacoby=True)).windows[1].too_good_point is None


def test_the_underdogs_double_is_beavered():
    chances = Probabilities(0.45, 0.0, 0.0, 0.0, 0.0)
    for beavers, action in ((False, "no double, take"), (True, "no double, beaver")):
        decision = cube_decision(chances, MatchState(beavers=beavers))
        assert decision.action == action
        assert decision.should_beaver is beavers
    assert decision.doubled == pytest.approx(2 * decision.double_take)
    assert decision.cost("take") == pytest.approx(-decision.double_take)
    assert decision.cost("double") == pytest.approx(decision.no_double - 2 * decision.double_take)


@pytest.mark.parametrize("identifier", ["Oz8DEQC1AQAAAA", "07sALgBZfQAAAA"])
@pytest.mark.parametrize("player", ["motif-v1", "latest@2"])
def test_nothing_is_too_good_to_double_while_gammons_do_not_count(identifier, player):
    decision = motif.cube(identifier, player, jacoby=True)
    assert 0.99 < decision.no_double <= 1 + 1e-12
    assert decision.action == "double, pass"
    owned = motif.cube(identifier, player, jacoby=True, cube=2, owner="me")
    assert owned.action == "too good to redouble, pass"


def test_the_jacoby_paradox():
    """A double that is right although it is beavered: gammons count only after the cube is turned."""
    chances = Probabilities(0.42, 0.17, 0.0, 0.02, 0.0)
    state = MatchState(jacoby=True, beavers=True)
    decision = cube_decision(chances, state, efficiency=0.0)
    assert decision.double_take < 0
    assert decision.action == "double, beaver"
