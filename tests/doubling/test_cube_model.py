"""Cube models for kernels: the same equities as in `motif.doubling`, from either side."""

import pickle
from itertools import product

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motif.board.match_state import MatchState
from motif.board.packed import pack_many
from motif.board.parsing import parse_position
from motif.board.position import Position
from motif.board.rules import is_double_useful
from motif.doubling import DEFAULT_EFFICIENCY, cube_decision
from motif.doubling.cube_states import cube_model_for
from motif.doubling.equities import EFFICIENCY_CLASSES, efficiency_classes, scale
from motif.doubling.match_equity import match_equity_table
from motif.evaluators import Probabilities
from motif.evaluators.cube_model import NO_CUBE, best_of_double, cube_pairs, cubeful_values
from motif.evaluators.probabilities import certain, switch_sides
from motif.runtime.errors import SettingError
from tests.doubling.chances import STATES, class_efficiency, cubeful_equity, match_states, probabilities

PACKED = pack_many(Position.start().board[None])


def cubeful(cube_model, side: int, *rows: Probabilities, packed=PACKED) -> np.ndarray:
    return cubeful_values(cube_model, side, np.repeat(packed, len(rows), axis=0), np.array(rows, np.float64))


def pair(cube_model, side: int, row: Probabilities) -> np.ndarray:
    return cube_pairs(cube_model, side, PACKED, np.array([row], np.float64))[0]


@given(STATES, probabilities(), st.floats(0, 1))
def test_the_player_on_roll_has_the_value_of_the_cube_decision(state, row, x):
    """Without a double, after one, and with the better of the two."""
    cube_model = cube_model_for(state, efficiency=x)
    decision = cube_decision(row, state, efficiency=x)
    held, taken = pair(cube_model, 0, row)
    assert held == pytest.approx(cubeful_equity(row, state, efficiency=x), abs=1e-12)
    assert held == pytest.approx(decision.no_double, abs=1e-12)
    if decision.double_take is not None and is_double_useful(state):
        assert taken == pytest.approx(decision.double_take, abs=1e-12)
    value = cubeful(cube_model, 0, row)[0]
    assert value == pytest.approx(decision.value, abs=1e-9)
    assert value == best_of_double(cube_model, 0, np.array([[held, taken]]))[0]


@given(STATES, probabilities(), st.floats(0, 1))
def test_what_one_side_wins_the_other_loses(state, row, x):
    """Side 1 on roll has its value at the root; without doubles, side 0 has the opposite value."""
    cube_model, other = (cube_model_for(root, efficiency=x) for root in (state, state.switch_sides()))
    assert cubeful(cube_model, 1, row)[0] == pytest.approx(cubeful(other, 0, row)[0], abs=1e-9)
    own = pair(cube_model, 1, row)
    assert own == pytest.approx(pair(other, 0, row), abs=1e-9)
    assert own[0] == pytest.approx(-pair(cube_model, 0, row.switch_sides())[0], abs=1e-9)


@given(st.sampled_from([MatchState(), MatchState(jacoby=True), MatchState(7, 3, 4)]), probabilities())
def test_no_value_exceeds_what_the_opponents_cash_allows(state, row):
    """After a play the opponent may double, so the mover has at most the value after a take."""
    cube_model = cube_model_for(state)
    value = cubeful(cube_model, 1, row)[0]
    decision = cube_decision(row, state.switch_sides())
    assert value >= min(decision.double_take, decision.double_pass) - 1e-9
    assert value >= decision.no_double - 1e-9


@pytest.mark.parametrize("length", [129, 32_767])
def test_matches_that_are_too_long_are_refused(length):
    state = MatchState(length=length, own_score=length - 1)
    with pytest.raises(SettingError, match=f"at most 128 points for cube equities, not {length}"):
        cube_model_for(state)
    with pytest.raises(SettingError, match=f"not {length}"):
        cube_decision(Probabilities(0.6, 0.1, 0.0, 0.1, 0.0), state)
    assert cube_model_for(MatchState(length=128)).cube.max() == 128


def test_beavers_count():
    """A beavered double costs twice as much as a double that is taken."""
    state = MatchState(jacoby=True, beavers=True)
    row = Probabilities(0.45, 0.30, 0.0, 0.02, 0.0)
    taken = pair(cube_model_for(state), 0, row)[1]
    decision = cube_decision(row, state)
    assert decision.should_beaver == (taken < 0)
    assert cubeful(cube_model_for(state), 0, row)[0] == pytest.approx(decision.value, abs=1e-12)


def test_cube_models_are_pickled_without_their_tables():
    for state in (MatchState(), MatchState(5, 1, 2)):
        cube_model = cube_model_for(state)
        data = pickle.dumps(cube_model)
        assert len(data) < 20_000 < cube_model.exact.table.nbytes
        again = pickle.loads(data)
        fields = zip((*cube_model[:-1], *cube_model.exact), (*again[:-1], *again.exact), strict=True)
        assert all(np.array_equal(one, other) for one, other in fields)


def test_kernels_are_compiled_for_one_type_of_cube_models():
    states = (MatchState(), MatchState(cube=2, cube_owner="me"), MatchState(5, 1, 2), MatchState(25, 1, 24))
    models = [NO_CUBE, *map(cube_model_for, states)]
    unpickled = [pickle.loads(pickle.dumps(cube_model)) for cube_model in models]
    assert len({numba.typeof(cube_model) for cube_model in models + unpickled}) == 1


@settings(max_examples=30)
@given(match_states())
def test_a_finished_game_is_worth_its_score(state):
    cube_model = cube_model_for(state)
    for points, side in product([-3, -2, -1, 1, 2, 3], [0, 1]):
        row = np.zeros(5)
        certain(points, row)
        won = match_equity_table().after_game(state, points * (state.cube if side == 0 else -state.cube))
        value = scale(state).equity(won)
        expected = value if side == 0 else -value
        assert cubeful(cube_model, side, row)[0] == pytest.approx(expected, abs=1e-9)


@given(st.lists(probabilities(), min_size=1, max_size=5), st.sampled_from([0, 1]))
def test_without_a_cube_it_is_the_plain_equity(rows, side):
    assert cubeful(NO_CUBE, side, *rows).tolist() == [row.equity for row in rows]


def test_gammons_at_the_scores_where_they_matter_most_and_least():
    """At double match point a gammon adds nothing; at gammon-go, as much as the game itself."""
    plain, gammons = Probabilities(0.5, 0.0, 0.0, 0.0, 0.0), Probabilities(0.5, 0.2, 0.0, 0.0, 0.0)
    lost = Probabilities(0.5, 0.0, 0.0, 0.2, 0.0)
    match_point = cube_model_for(MatchState(5, 4, 4))
    assert cubeful(match_point, 0, gammons, lost) == pytest.approx(cubeful(match_point, 0, plain, plain))
    gammon_go = cube_model_for(MatchState(5, 3, 4, crawford=True))
    assert cubeful(gammon_go, 0, lost)[0] == pytest.approx(cubeful(gammon_go, 0, plain)[0])
    assert cubeful(gammon_go, 0, gammons)[0] > cubeful(cube_model_for(MatchState()), 0, gammons)[0]
    gammon_save = cube_model_for(MatchState(5, 3, 4, crawford=True).switch_sides())
    assert cubeful(gammon_save, 0, gammons)[0] == pytest.approx(cubeful(gammon_save, 0, plain)[0])
    assert cubeful(gammon_save, 0, lost)[0] < cubeful(gammon_save, 0, plain)[0]


@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("4HPwATDgc/ABMA", 0.68),
        ("fL4PAAD/HgAAOA", 0.68),
        ("nw/4AAAH/OEDAA", 0.55 + 0.00125 * 119),
        ("n88AAOA8BwAAAA", 0.6),
    ],
)
def test_the_efficiency_is_that_of_the_position(text, x):
    position, _ = parse_position(text)
    boards = position.board[None]
    name = EFFICIENCY_CLASSES[efficiency_classes(boards)[0]]
    assert class_efficiency(DEFAULT_EFFICIENCY, name, position.pip_count) == pytest.approx(x)
    assert DEFAULT_EFFICIENCY.of_boards(boards)[0] == DEFAULT_EFFICIENCY.of(position) == pytest.approx(x)
    row = Probabilities(0.7, 0.1, 0.0, 0.05, 0.0)
    state = MatchState(7, 2, 4)
    held = cube_pairs(cube_model_for(state), 0, pack_many(boards), np.array([row], np.float64))[0, 0]
    if name != "bearoff":
        assert held == pytest.approx(cubeful_equity(row, state, efficiency=x), abs=1e-12)


def test_turned_rows_are_those_of_the_other_player():
    row = Probabilities(0.7, 0.1, 0.02, 0.05, 0.01)
    assert switch_sides(np.array([row]))[0] == pytest.approx(row.switch_sides())


def test_refusals():
    with pytest.raises(SettingError, match="0 to 1"):
        cube_model_for(MatchState(), efficiency=1.5)
    with pytest.raises(SettingError, match="over"):
        cube_model_for(MatchState(5, 5, 2, game_state="over"))
