"""The five probabilities, their equity, and switching sides."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motif.board.outcome import Outcome, outcome
from motif.board.position import Position
from motif.compiler.jit import kernel
from motif.evaluators import OUTPUTS, Probabilities, load_static
from motif.evaluators.probabilities import (
    agree_with_equity,
    certain,
    equities,
    equity_of,
    make_consistent,
    switch_probabilities,
    switch_sides,
    switch_value,
    switched_equities,
)
from tests.evaluators.made_weights import evaluator_of, made_weights

chances = st.lists(st.floats(0, 1), min_size=5, max_size=5)
estimates = st.lists(st.floats(-0.5, 1.5), min_size=5, max_size=5)


@kernel
def compiled_turn(row):
    switch_probabilities(row)


@kernel
def compiled_equity(row):
    return equity_of(row)


@kernel
def compiled_turn_value(value):
    return switch_value(value)


@kernel
def compiled_certain(points, row):
    certain(points, row)


@kernel
def compiled_agreement(row, equity):
    agree_with_equity(row, equity)


@kernel
def compiled_consistent(row, own_off, opponent_off):
    make_consistent(row, own_off, opponent_off)


@settings(deadline=None)
@given(chances)
def test_all_ways_of_turning_agree(row):
    expected = [1 - row[0], row[3], row[4], row[1], row[2]]
    compiled = np.array(row)
    compiled_turn(compiled)
    assert compiled.tolist() == expected
    assert switch_sides(np.array(row)).tolist() == expected
    assert list(Probabilities(*row).switch_sides()) == expected
    assert switch_sides(np.array([row, row])).tolist() == [expected, expected]


@settings(deadline=None)
@given(chances)
def test_turning_twice_is_the_identity(row):
    twice = Probabilities(*row).switch_sides().switch_sides()
    assert twice.win == pytest.approx(row[0], abs=1e-15)
    assert list(twice[1:]) == row[1:]
    np.testing.assert_allclose(switch_sides(switch_sides(np.array(row))), row, atol=1e-15)


def test_turning_leaves_the_rows_given_as_they_were():
    rows = np.array([[0.6, 0.2, 0.1, 0.15, 0.05]])
    before = rows.copy()
    switch_sides(rows)
    assert (rows == before).all()


@settings(deadline=None)
@given(chances)
def test_all_equities_agree(row):
    win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = row
    # Single wins count 1, gammons 2, backgammons 3; the chances are cumulative.
    won = (win - win_gammon) + 2 * (win_gammon - win_backgammon) + 3 * win_backgammon
    lost = ((1 - win) - lose_gammon) + 2 * (lose_gammon - lose_backgammon) + 3 * lose_backgammon
    assert Probabilities(*row).equity == pytest.approx(won - lost, abs=1e-12)
    assert equities(np.array([row]))[0] == pytest.approx(won - lost, abs=1e-12)
    assert compiled_equity(np.array(row)) == pytest.approx(won - lost, abs=1e-12)


@settings(deadline=None)
@given(chances)
def test_the_other_players_equity_is_the_negative(row):
    here = Probabilities(*row)
    assert here.switch_sides().equity == pytest.approx(-here.equity, abs=1e-12)
    assert compiled_turn_value(here.equity) == switched_equities(np.array([here.equity]))[0] == -here.equity


@pytest.mark.parametrize(
    ("points", "row"),
    [
        (3, [1, 1, 1, 0, 0]),
        (2, [1, 1, 0, 0, 0]),
        (1, [1, 0, 0, 0, 0]),
        (-1, [0, 0, 0, 0, 0]),
        (-2, [0, 0, 0, 1, 0]),
        (-3, [0, 0, 0, 1, 1]),
    ],
)
def test_certain_results(points, row):
    found = np.full(5, 0.5)
    compiled_certain(points, found)
    assert found.tolist() == row
    assert Probabilities(*row).equity == points
    turned_row = np.empty(5)
    compiled_certain(-points, turned_row)
    assert switch_sides(found).tolist() == turned_row.tolist()


FINISHED: list[tuple[dict[int, int], dict[int, int], Outcome]] = [
    ({}, {6: 1}, Outcome.WIN_SINGLE),
    ({}, {6: 14}, Outcome.WIN_SINGLE),
    ({}, {6: 15}, Outcome.WIN_GAMMON),
    ({}, {7: 15}, Outcome.WIN_GAMMON),
    ({}, {19: 1, 6: 14}, Outcome.WIN_BACKGAMMON),
    ({}, {25: 1, 6: 14}, Outcome.WIN_BACKGAMMON),
    ({}, {25: 1, 6: 13}, Outcome.WIN_SINGLE),
]
EVALUATORS = {
    "pubeval": lambda: load_static("pubeval"),
    "simple": lambda: load_static("simple"),
    "weights": lambda: evaluator_of(made_weights(pairs=5)),
    "win only": lambda: evaluator_of(made_weights(classes={"contact": ["win"], "race": ["win"]})),
    "equity": lambda: evaluator_of(
        made_weights(classes={"contact": [*OUTPUTS, "equity"], "race": [*OUTPUTS, "equity"]})
    ),
}


@pytest.mark.parametrize("make", EVALUATORS.values(), ids=EVALUATORS)
@pytest.mark.parametrize(("own", "opponent", "how"), FINISHED)
def test_finished_games_are_exact(make, own, opponent, how):
    position, evaluator = Position.from_points(own, opponent), make()
    assert outcome(position) == how
    assert evaluator.evaluate(position).equity == how
    other = position.switch_sides()
    assert outcome(other) == -how
    assert evaluator.evaluate(other) == evaluator.evaluate(position).switch_sides()
    # The ranking puts a win above and a loss below everything else.
    start = evaluator.equity_many(Position.start().board[None])[0]
    lost, won = evaluator.equity_many(np.stack([other.board, position.board]))
    assert lost < start < won


def is_consistent(row, own_off, opponent_off, tolerance=0.0) -> bool:
    win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = row
    return bool(
        0 <= win_backgammon <= win_gammon <= win <= 1
        and 0 <= lose_backgammon <= lose_gammon <= 1 - win + tolerance
        and (opponent_off == 0 or win_gammon == 0)
        and (own_off == 0 or lose_gammon == 0)
    )


@settings(max_examples=300, deadline=None)
@given(estimates, st.integers(0, 15), st.integers(0, 15))
def test_estimates_are_made_consistent(row, own_off, opponent_off):
    found = np.array(row)
    compiled_consistent(found, own_off, opponent_off)
    assert is_consistent(found, own_off, opponent_off)
    again = found.copy()
    compiled_consistent(again, own_off, opponent_off)
    assert again.tolist() == found.tolist()
    if is_consistent(row, own_off, opponent_off):
        assert found.tolist() == row


@settings(max_examples=300, deadline=None)
@given(estimates, st.integers(0, 15), st.integers(0, 15), st.floats(-3, 3))
def test_the_win_probability_matches_the_equity_where_possible(row, own_off, opponent_off, equity):
    start = np.array(row)
    compiled_consistent(start, own_off, opponent_off)
    found = start.copy()
    compiled_agreement(found, equity)
    assert is_consistent(found, own_off, opponent_off, tolerance=1e-15)
    assert (found[1:] == start[1:]).all()
    reachable = [equities(np.array([win, *start[1:]])) for win in (start[1], 1 - start[3])]
    assert equities(found) == pytest.approx(np.clip(equity, *reachable), abs=1e-12)
