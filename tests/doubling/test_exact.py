"""Exact cube decisions in bearoffs, compared with fractions for money and a slow recursion in matches."""

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motif.board.match_state import MatchState
from motif.board.parsing import parse_position
from motif.board.position import Position
from motif.doubling import cube_decision, match_equity_table
from motif.doubling import exact as exact_cubes
from motif.doubling.exact import exact_equities
from motif.doubling.match_equity import aways
from motif.evaluators import Probabilities, load_evaluator
from motif.evaluators.bearoff import bearoff_chances
from tests.evaluators.bearoff import exact

LAST_ROLL, _ = parse_position("AQAAiAAAAAAAAA")
"""19 of 36 rolls win; otherwise the opponent wins with the next roll."""
EVEN = Probabilities(0.5, 0, 0, 0, 0)
OWNERS = {"centre": "nobody", "me": "own", "opponent": "opponent"}


def position_of(own, opponent) -> Position:
    counts = ({point: count for point, count in enumerate(side, 1) if count} for side in (own, opponent))
    return Position.from_points(*counts)


def test_a_last_roll_is_doubled_with_more_than_half_of_the_rolls():
    decision = cube_decision(EVEN, MatchState(), LAST_ROLL)
    assert decision.exact
    assert decision.action == "double, take"
    assert decision.no_double == pytest.approx(1 / 18)
    assert decision.double_take == pytest.approx(1 / 9)
    assert decision.verdicts[-1].key == "exact"
    worse = position_of((0, 0, 1, 0, 1, 0), (1, 0, 0, 0, 0, 0))  # 14 rolls win
    assert cube_decision(EVEN, MatchState(), worse).action == "no double, take"
    better = position_of((0, 1, 1, 0, 0, 0), (1, 0, 0, 0, 0, 0))  # 25 rolls
    assert cube_decision(EVEN, MatchState(cube=2, cube_owner="me"), better).action == "redouble, take"
    surely = position_of((2, 0, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0))
    assert cube_decision(EVEN, MatchState(), surely).action == "double, pass"


@given(
    st.sampled_from(exact.sides(2)[1:]), st.sampled_from(exact.sides(3)[1:]), st.sampled_from(list(OWNERS))
)
@settings(deadline=None, max_examples=30)
def test_money_against_fractions(own, opponent, owner):
    state = MatchState(cube=1 if owner == "centre" else 2, cube_owner=owner)
    found = exact_equities(position_of(own, opponent), state)
    assert found.no_double == pytest.approx(float(exact.rolled(own, opponent, OWNERS[owner])), abs=1e-12)
    if owner == "opponent":
        assert (found.double_take, found.double_pass) == (None, None)
    else:
        taken = 2 * exact.rolled(own, opponent, "opponent")
        assert (found.double_take, found.double_pass) == (pytest.approx(float(taken), abs=1e-12), 1.0)


@cache
def match_chance(own, opponent, state: MatchState, may_double: bool = True) -> float:
    """Match winning chance of the player on roll, from the rules alone."""
    table = match_equity_table()
    if not any(opponent):
        return table.after_game(state, -state.cube)
    best = {
        roll: max(1 - match_chance(opponent, left, state.switch_sides()) for left in exact.after(own, roll))
        for roll in exact.THROWS
    }
    waits = sum(times * best[roll] for roll, times in exact.THROWS.items()) / 36
    if not may_double or state.crawford or state.cube_owner == "opponent" or aways(state)[0] <= state.cube:
        return waits
    taken = replace(state, cube=2 * state.cube, cube_owner="opponent")
    return max(waits, min(match_chance(own, opponent, taken, False), table.after_game(state, state.cube)))


MATCHES = [
    MatchState(length=3),
    MatchState(length=3, own_score=2, crawford=True),
    MatchState(length=3, opponent_score=2),
    MatchState(length=5, own_score=3, opponent_score=1),
    MatchState(length=7, own_score=1, opponent_score=4, cube=2, cube_owner="me"),
    MatchState(length=4, own_score=1, opponent_score=2, cube=2, cube_owner="opponent"),
]


@pytest.mark.parametrize("state", MATCHES, ids=str)
@pytest.mark.parametrize(
    ("own", "opponent"), [((0, 1, 0, 0, 1, 0), (1, 0, 1, 0, 0, 0)), ((0, 0, 2, 0, 0, 0), (2, 0, 0, 0, 0, 1))]
)
def test_matches_against_a_slow_recursion(own, opponent, state):
    found = exact_equities(position_of(own, opponent), state)
    assert found.no_double == pytest.approx(match_chance(own, opponent, state, may_double=False), abs=1e-12)
    if found.double_take is not None and aways(state)[0] > state.cube:
        taken = replace(state, cube=2 * state.cube, cube_owner="opponent")
        expected = match_chance(own, opponent, taken, may_double=False)
        assert found.double_take == pytest.approx(expected, abs=1e-12)


def test_a_match_to_one_point_is_cubeless():
    position = position_of((0, 1, 2, 0, 0, 1), (2, 0, 2, 0, 1, 0))
    found = exact_equities(position, MatchState(length=1))
    assert found.no_double == pytest.approx(bearoff_chances(position).probabilities.win)
    assert found.double_take == found.no_double
    assert cube_decision(EVEN, MatchState(length=1), position).action == "no double, dead cube"


def test_computed_values_cover_later_positions(monkeypatch):
    state = MatchState(length=5, own_score=1, opponent_score=2)
    after = exact_equities(position_of((2, 0, 0, 1, 0, 0), (1, 0, 1, 0, 0, 0)), state)
    taken = replace(state, cube=2, cube_owner="opponent")
    next_turn = taken.switch_sides()
    later = position_of((1, 0, 0, 0, 0, 0), (2, 0, 0, 1, 0, 0))
    exact_cubes._recent.clear()
    alone = exact_equities(later, next_turn)
    exact_cubes._recent.clear()
    assert exact_equities(position_of((2, 0, 0, 1, 0, 0), (1, 0, 1, 0, 0, 0)), state) == after
    monkeypatch.setattr(exact_cubes, "_worked_out", None)
    assert exact_equities(later, next_turn) == alone


def test_more_than_six_checkers_where_few_rolls_are_left():
    """8 checkers on the 1 point are off in 4 rolls, or 3 or 2 with doubles; 1 on the 6 point in 1 or 2."""
    found = exact_equities(position_of((0, 0, 0, 0, 0, 1), (8, 0, 0, 0, 0, 0)), MatchState())
    assert found.no_double == 1
    decision = cube_decision(EVEN, MatchState(), position_of((7, 1, 0, 0, 0, 0), (8, 0, 0, 0, 0, 0)))
    assert decision.exact


@pytest.mark.parametrize(
    "position",
    [
        position_of((0, 0, 0, 0, 5, 9), (0, 0, 0, 0, 5, 9)),  # too many rolls
        position_of((15, 0, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0)),  # a gammon is possible
        Position.from_points({7: 1}, {1: 1}),
        Position.from_points({1: 1}, {25: 1}),
        Position.start(),
    ],
)
def test_other_positions_use_the_model(position):
    assert exact_equities(position, MatchState()) is None
    assert exact_equities(position, MatchState(length=5)) is None
    decision = cube_decision(EVEN, MatchState(), position)
    assert not decision.exact
    assert "exact" not in [verdict.key for verdict in decision.verdicts]


def test_an_efficiency_selects_the_model():
    decision = cube_decision(EVEN, MatchState(), LAST_ROLL, efficiency=0.6)
    assert not decision.exact
    assert decision.efficiency == 0.6


def test_equities_in_a_match_are_scaled():
    decision = cube_decision(EVEN, MatchState(length=5, own_score=3, opponent_score=3), LAST_ROLL)
    assert decision.double_pass == pytest.approx(1)
    assert decision.mwc_double_take == pytest.approx(float(Fraction(19, 36)))
    assert decision.no_double == pytest.approx(float(Fraction(2 * 19 - 36, 36)))
    assert np.isclose(decision.value, decision.double_take)


SMALL = [
    ({6: 2, 4: 1, 2: 1}, {5: 2, 3: 2}),
    ({5: 1, 3: 2}, {4: 2, 1: 2}),
    ({6: 1, 5: 2, 1: 2}, {6: 3, 2: 1}),
    ({4: 3, 2: 2}, {6: 2, 3: 3}),
]
STATES = [
    MatchState(),
    MatchState(cube=2, cube_owner="me"),
    MatchState(length=5, own_score=3, opponent_score=1),
    MatchState(length=5, own_score=3, opponent_score=3),
]


@pytest.mark.parametrize("state", STATES, ids=["money", "owned", "2-away 4-away", "2-away 2-away"])
def test_a_cube_that_looks_ahead_is_nearer_to_the_exact_one(state, monkeypatch):
    """The positions have exact tables, which are not used."""
    judge = load_evaluator("motif-v1@2")
    errors = []
    for own, opponent in SMALL:
        position = Position.from_points(own, opponent)
        chances = judge.evaluate(position)
        truth = cube_decision(chances, state, position)
        assert truth.exact
        assert cube_decision(chances, state, position, judge) == truth
        with monkeypatch.context() as patched:
            patched.setattr("motif.doubling.decision.exact_equities", lambda *_: None)
            two = (
                cube_decision(chances, state, position),
                cube_decision(chances, state, position, judge),
            )
        assert not two[1].exact
        errors.append(
            [abs(it.no_double - truth.no_double) + abs(it.double_take - truth.double_take) for it in two]
        )
    model, ahead = np.mean(errors, axis=0)
    assert ahead < 0.7 * model


def test_threads_get_the_exact_values():
    sides = [(own, opponent) for own in ((1, 1), (2, 1)) for opponent in ((1, 0, 1), (2, 0, 1))]
    cases = [(position_of(*side), MatchState(length=length)) for side in sides for length in (3, 5, 7, 9)]
    expected = [exact_equities(*case) for case in cases]
    order = np.random.default_rng(1).integers(len(cases), size=2000).tolist()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda k: exact_equities(*cases[k]), order))
    finally:
        sys.setswitchinterval(interval)
    assert found == [expected[k] for k in order]
