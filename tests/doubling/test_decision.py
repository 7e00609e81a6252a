"""Properties of every cube decision."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motif.board.match_state import MatchState
from motif.board.parsing import parse_position
from motif.board.position import Position
from motif.doubling import DEFAULT_EFFICIENCY, Efficiency, cube_decision, cubeful_equities
from motif.doubling.cube_states import cube_model_for
from motif.doubling.equities import efficiency_class
from motif.evaluators import Probabilities, load_evaluator
from motif.evaluators.cube_model import EPSILON
from motif.runtime.errors import SettingError
from tests.doubling.chances import (
    SHARES,
    STATES,
    class_efficiency,
    cubeful_equity,
    money_states,
    probabilities,
)
from tests.strategies import positions

CHANCES = Probabilities(0.7, 0.2, 0.01, 0.1, 0.0)


@given(probabilities(), STATES, SHARES)
def test_the_other_players_view(chances, state, x):
    own = cubeful_equity(chances, state, efficiency=x)
    other = cubeful_equity(chances.switch_sides(), state.switch_sides(), efficiency=x)
    assert own == pytest.approx(-other, abs=1e-9)


@given(probabilities(), money_states())
def test_a_dead_cube_is_worth_the_cubeless_equity(chances, state):
    decision = cube_decision(chances, state, efficiency=0.0)
    gammonless = state.jacoby and state.cube_owner == "centre"
    expected = 2 * chances.win - 1 if gammonless else chances.equity
    assert decision.no_double == pytest.approx(expected, abs=1e-9)
    if decision.double_take is not None:
        assert decision.double_take == pytest.approx(2 * chances.equity, abs=1e-9)


@given(probabilities(), STATES, SHARES)
def test_equities_lie_between_a_dead_and_a_live_cube(chances, state, x):
    dead, found, live = (cubeful_equity(chances, state, efficiency=value) for value in (0.0, x, 1.0))
    assert found == pytest.approx((1 - x) * dead + x * live, abs=1e-9)


@given(probabilities(), st.sampled_from([1, 2, 8]), SHARES)
def test_it_is_best_to_own_the_cube(chances, cube, x):
    owners = ("opponent", "centre", "me")
    found = [
        cubeful_equity(chances, MatchState(cube=cube, cube_owner=owner), efficiency=x) for owner in owners
    ]
    assert found[0] <= found[1] + 1e-9
    assert found[1] <= found[2] + 1e-9


@given(probabilities(), STATES)
def test_more_wins_are_better(chances, state):
    """The gammon rates stay the same."""
    wins = np.linspace(0.001, 0.999, 50)
    rows = np.empty((50, 5))
    shares = (chances.win_gammon, chances.win_backgammon, chances.lose_gammon, chances.lose_backgammon)
    rows[:, 0] = wins
    rows[:, 1:3] = wins[:, None] * np.divide(shares[:2], max(chances.win, 1e-12))
    rows[:, 3:] = (1 - wins[:, None]) * np.divide(shares[2:], max(1 - chances.win, 1e-12))
    assert (np.diff(cubeful_equities(np.clip(rows, 0, 1), state, DEFAULT_EFFICIENCY.contact)) >= -1e-9).all()


def test_no_double_costs_nothing_if_equal():
    chances = Probabilities(0.429688, 0.429688, 0.0, 0.570312 - 1e-16, 0.0)
    decision = cube_decision(chances, MatchState(3, 0, 0, 2, "me"), efficiency=0.0)
    assert min(decision.cost("redouble"), decision.cost("no redouble")) == 0


@given(probabilities(), STATES, SHARES)
def test_decisions_are_what_their_equities_say(chances, state, x):
    decision = cube_decision(chances, state, efficiency=x)
    if decision.doubled is None:
        assert not decision.should_double
        assert decision.action.startswith("no double, ")
        assert decision.value == decision.no_double
        return
    answers = {"take": decision.double_take, "pass": decision.double_pass}
    if state.beavers:
        answers["beaver"] = 2 * decision.double_take
    assert decision.doubled == pytest.approx(min(answers.values()))
    assert decision.doubled <= decision.double_pass
    assert decision.should_take == (decision.double_take < decision.double_pass)
    assert decision.cost("pass") * decision.cost("take") * (1 if not state.beavers else 0) == 0
    assert min(decision.cost("double"), decision.cost("no double")) == 0 or "dead" in decision.action
    for taken in ("double", "no double", "pass", "take"):
        assert decision.cost(taken) >= 0
    if decision.should_double:
        # Equities that differ by a rounding error are equal; without gammons, such an error may be larger.
        assert decision.doubled >= decision.no_double - EPSILON or chances.win_gammon == 0
        assert decision.action.split(", ")[0] in ("double", "redouble")
    if decision.action.startswith("too good"):
        assert decision.no_double > decision.double_pass
    assert decision.verdicts


@given(probabilities(), STATES, SHARES)
def test_windows_are_where_the_decision_changes(chances, state, x):
    decision = cube_decision(chances, state, efficiency=x)
    for window in decision.windows:
        assert 0 <= window.take_point <= 1
        assert window.take_point + window.cash_point == pytest.approx(1)
        if window.double_point is not None:
            assert 0 <= window.double_point <= 1
        if window.too_good_point is not None:
            assert window.too_good_point >= window.cash_point - 1e-9
    if decision.windows and abs(chances.win - decision.cash_point) > 1e-6:
        assert decision.should_take == (chances.win < decision.cash_point)
    if decision.windows:
        point = decision.windows[1].double_point
        if point is None or chances.win < point - 1e-6:
            assert not decision.should_double


@given(st.lists(probabilities(), min_size=1, max_size=5), STATES)
def test_arrays_equal_single_decisions(rows, state):
    many = cubeful_equities(np.array(rows), state, DEFAULT_EFFICIENCY.contact)
    assert many.tolist() == pytest.approx([cubeful_equity(row, state) for row in rows], abs=1e-12)


def test_costs_and_verdicts():
    decision = cube_decision(CHANCES, MatchState())
    assert decision.action == "double, take"
    assert decision.value == decision.double_take
    assert decision.cost("no double") == pytest.approx(decision.double_take - decision.no_double)
    assert decision.cost("roll") == decision.cost("no redouble") == decision.cost("no double")
    assert decision.cost("double") == decision.cost("redouble") == decision.cost("take") == 0
    assert decision.cost("drop") == decision.cost("pass") == pytest.approx(1 - decision.double_take)
    found = [(verdict.key, round(verdict.cost, 3), verdict.degree) for verdict in decision.verdicts]
    assert found == [("double", 0.1, "clear"), ("take", 0.184, "very clear")]
    close = cube_decision(Probabilities(0.786, 0, 0, 0, 0), MatchState())
    assert close.verdicts[-1] == ("take", pytest.approx(0.002, abs=5e-4), "borderline")


@pytest.mark.parametrize(
    ("state", "done", "words"),
    [
        (MatchState(), "resign", "'resign' is not a cube action"),
        (MatchState(), "beaver", "beavers are not allowed"),
        (MatchState(length=5), "beaver", "beavers are not allowed"),
        (MatchState(cube=2, cube_owner="opponent"), "double", "the player on roll may not double"),
        (MatchState(length=5, own_score=4, crawford=True), "take", "the player on roll may not double"),
    ],
)
def test_what_cannot_be_done(state, done, words):
    with pytest.raises(SettingError, match=words):
        cube_decision(CHANCES, state).cost(done)


@pytest.mark.parametrize(
    ("chances", "options", "words"),
    [
        ((1.2, 0, 0, 0, 0), {}, "win is 1.2: it must be 0 to 1"),
        ((0.5, float("nan"), 0, 0, 0), {}, "win_gammon is nan"),
        (CHANCES, {"efficiency": 1.5}, "0 to 1, not 1.5"),
    ],
)
def test_refusals(chances, options, words):
    with pytest.raises(SettingError, match=words):
        cube_decision(Probabilities(*chances), MatchState(), **options)


def test_a_raccoon_answers_a_beaver_that_is_none():
    state = MatchState(beavers=True, raccoons=True)
    good = cube_decision(CHANCES, state)
    assert (good.should_beaver, good.should_raccoon) == (False, True)
    assert good.raccooned == pytest.approx(4 * good.double_take)
    assert good.cost("raccoon") == 0
    assert good.cost("no raccoon") == pytest.approx(2 * good.double_take)
    assert good.cost("beaver") == pytest.approx(3 * good.double_take)
    bad = cube_decision(Probabilities(0.3, 0, 0, 0, 0), state)
    assert (bad.should_beaver, bad.should_raccoon) == (True, False)
    assert bad.cost("raccoon") == pytest.approx(-2 * bad.double_take)
    assert bad.cost("beaver") == bad.cost("no raccoon") == 0
    for other in (MatchState(beavers=True), MatchState(length=5, raccoons=True), MatchState(raccoons=True)):
        decision = cube_decision(CHANCES, other)
        assert (decision.should_raccoon, decision.raccooned) == (False, None)
        with pytest.raises(SettingError, match="are not allowed"):
            decision.cost("raccoon")


def test_efficiencies_by_class():
    races = [Position.from_points({11: pips // 11, pips % 11: 1}, {1: 1}) for pips in (20, 40, 80, 120, 150)]
    assert [race.pip_count for race in races] == [20, 40, 80, 120, 150]
    found = [DEFAULT_EFFICIENCY.of(race) for race in races]
    assert found == pytest.approx([0.60, 0.60, 0.65, 0.70, 0.70])
    start, bearoff = Position.start(), Position.from_points({6: 5, 5: 5}, {6: 5})
    assert (DEFAULT_EFFICIENCY.of(start), DEFAULT_EFFICIENCY.of(bearoff)) == (0.68, 0.60)
    assert Efficiency(contact=0.5).of(start) == Efficiency(contact=0.5).of(None) == 0.5
    with pytest.raises(SettingError):
        Efficiency(crashed=-0.1)


@settings(deadline=None)  # kernels may have to be compiled
@given(positions())
def test_arrays_of_efficiencies_equal_single_ones(position):
    name = efficiency_class(position)
    expected = class_efficiency(DEFAULT_EFFICIENCY, name, position.pip_count)
    assert DEFAULT_EFFICIENCY.of_boards(position.board[None])[0] == expected
    at_home = all(position.board[7:26] <= 0) and all(position.board[:19] >= 0)
    assert (name == "bearoff") == (at_home and name in ("race", "bearoff"))


def test_decisions_at_positions():
    start = Position.start()
    assert cube_decision(CHANCES, MatchState(), start).efficiency == 0.68
    race = Position.from_points({8: 5, 6: 5, 5: 5}, {6: 10, 4: 5})
    assert cube_decision(CHANCES, MatchState(), race).efficiency == pytest.approx(0.55 + 0.00125 * 95)
    assert cube_decision(CHANCES, MatchState(), race, efficiency=0.5).efficiency == 0.5


RACE_2_AWAY_4_AWAY = "2D3cAQDYPdcAAA:cAngADAAKAAE"
"""The leader is 10 pips ahead of 110."""


def test_a_leader_who_would_be_redoubled_immediately_does_not_double():
    """The model credits the leader with half of the cube's value, which is gone after the next roll."""
    position, state = parse_position(RACE_2_AWAY_4_AWAY)
    judge = load_evaluator("motif-v1@2")
    chances = judge.evaluate(position)
    assert cube_decision(chances, state, position).should_double
    decision = cube_decision(chances, state, position, judge)
    assert not decision.should_double
    # After a redouble, the cube is dead and the game decides the match.
    assert decision.mwc_double_take == pytest.approx(chances.win, abs=0.01)
    assert decision.mwc_no_double > chances.win


def test_static_evaluators_make_static_cube_decisions():
    position, state = parse_position(RACE_2_AWAY_4_AWAY)
    for name in ("motif-v1", "pubeval"):
        evaluator = load_evaluator(name)
        chances = evaluator.evaluate(position)
        assert cube_decision(chances, state, position, evaluator) == cube_decision(chances, state, position)
    judge = load_evaluator("motif-v1@2")
    model = cube_decision(chances, state, position, efficiency=0.6)
    assert cube_decision(chances, state, position, judge, efficiency=0.6) == model


@pytest.mark.parametrize("game_over", [False, True])
def test_a_cube_that_looks_ahead_sees_the_same_probabilities(game_over):
    """With a dead cube, lookahead changes nothing, whether or not games end on the way."""
    position = Position.from_points({7: 1, 2: 1}, {8: 1, 1: 1}) if game_over else Position.start()
    judge = load_evaluator("motif-v1@2")
    state = MatchState(length=5, own_score=3, opponent_score=4, crawford=True)
    chances = judge.with_cube(cube_model_for(state)).evaluate(position)
    decision = cube_decision(chances, state, position, judge)
    assert decision.no_double == pytest.approx(cube_decision(chances, state, position).no_double, abs=1e-5)


@pytest.mark.parametrize(
    "state",
    [
        MatchState(length=7, own_score=6, opponent_score=4),
        MatchState(length=9, own_score=7, opponent_score=5, cube=2, cube_owner="me"),
        MatchState(length=7, own_score=6, opponent_score=6),
    ],
    ids=["post-Crawford", "owned", "last point"],
)
@pytest.mark.parametrize("plies", [1, 2])
def test_a_useless_double_is_valued_with_the_cube_on_the_other_side(state, plies):
    position, judge = Position.start(), load_evaluator(f"motif-v1@{plies}")
    chances = judge.evaluate(position)
    decision = cube_decision(chances, state, position, judge)
    taken = replace(state, cube=2 * state.cube, cube_owner="opponent")
    after = cube_decision(chances, taken, position, judge)
    assert decision.mwc_double_take == pytest.approx(after.mwc_no_double, abs=1e-6)
    assert decision.cost("double") == pytest.approx(decision.no_double - decision.double_take)
    changes = (state.own_score, state.opponent_score) != (6, 6)
    assert (decision.cost("double") > 0.1) == changes


@pytest.mark.parametrize("score", [(0, 3), (1, 3), (0, 4)])
def test_a_player_who_cannot_win_does_not_double(score):
    """Losing a gammon may lose the match in any case, so that a double costs nothing."""
    state = MatchState(length=5, own_score=score[0], opponent_score=score[1])
    decision = cube_decision(Probabilities(0.0, 0.0, 0.0, 1.0, 0.9), state)
    assert decision.action == "no double, take"
    assert not decision.should_double
    assert decision.value == max(decision.no_double, decision.doubled)
    almost = cube_decision(Probabilities(0.001, 0.0, 0.0, 0.999, 0.9), MatchState(5, 0, 4))
    assert almost.should_double


def test_a_double_that_can_wait_a_roll_is_made():
    """Post-Crawford, 3-away: both are worth the same, except for rounding."""
    position = Position.start()
    state = MatchState(length=5, own_score=2, opponent_score=4)
    judge = load_evaluator("motif-v1@2")
    decision = cube_decision(judge.evaluate(position), state, position, judge)
    assert decision.double_take == pytest.approx(decision.no_double, abs=1e-6)
    assert decision.action == "double, take"


@pytest.mark.parametrize("efficiency", [1, np.float32(1), np.int64(1), Efficiency(1, 1, 1, 1, 0, 1, 1)])
def test_efficiencies_are_numbers_of_any_type(efficiency):
    assert cube_decision(CHANCES, MatchState(), efficiency=efficiency).efficiency == 1


@pytest.mark.parametrize("efficiency", ["0.5", True, [0.5]])
def test_other_values_are_no_efficiency(efficiency):
    with pytest.raises(SettingError, match=r"^efficiency must be a number, not ") as refused:
        cube_decision(CHANCES, MatchState(), efficiency=efficiency)
    assert refused.value.fields == ("efficiency",)


@pytest.mark.parametrize("length", [0, 25, 64])
def test_too_good_points_depend_on_equities(length):
    """In a long match a point changes the probability to win it by little."""
    windows = cube_decision(Probabilities(0.8, 0.016, 0, 0.02, 0), MatchState(length=length)).windows
    money = cube_decision(Probabilities(0.8, 0.016, 0, 0.02, 0), MatchState()).windows
    points, expected = ([window.too_good_point for window in side] for side in (windows, money))
    assert points == pytest.approx(expected, abs=0.002)
