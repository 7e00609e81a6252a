"""Lookups in the tables, compared with plain sums and definitions."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motif.board.outcome import outcome
from motif.board.packed import HOME, POINTS, pack_many
from motif.board.position import Position
from motif.compiler.jit import kernel
from motif.evaluators.bearoff import (
    BearoffTables,
    bearoff_chances,
    bearoff_probabilities,
    bearoff_tables,
    covered,
    no_tables,
    race_distribution,
)
from motif.evaluators.bearoff.lookup import TWO_SIDED_CHECKERS, TWO_SIDED_POSITIONS, chance_before, number_of
from motif.evaluators.bearoff.tables import cubeless_equities
from motif.runtime.errors import PositionError
from tests.strategies import positions


@kernel
def look_up(tables, packed, rows):
    """Fill the rows (n, 5) of covered packed boards (n, 64); return which are covered."""
    words = packed.view(np.int64)
    found = np.zeros(len(packed), np.bool_)
    for k in range(len(packed)):
        found[k] = covered(tables, words[k])
        if found[k]:
            bearoff_probabilities(tables, words[k], rows[k])
    return found


def looked_up(position: Position, tables=None) -> np.ndarray | None:
    rows = np.full((1, 5), np.nan)
    found = look_up(tables or bearoff_tables(), pack_many(position.board[None]), rows)
    return rows[0] if found[0] else None


@st.composite
def sides(draw, most: int = 15) -> dict[int, int]:
    count = draw(st.integers(1, most))
    points = draw(st.lists(st.integers(1, HOME), min_size=count, max_size=count))
    return {point: points.count(point) for point in set(points)}


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Load and compile everything before tests that measure time."""
    bearoff_chances(Position.from_points({1: 1}, {1: 1}))
    race_distribution(Position.from_points({1: 1}, {1: 1}))
    looked_up(Position.from_points({1: 1}, {1: 1}))


def homes(most: int = 15) -> st.SearchStrategy[Position]:
    """Positions with both sides home and 1 to `most` checkers each."""
    return st.builds(Position.from_points, sides(most), sides(most))


def full_homes() -> st.SearchStrategy[Position]:
    """Positions with gammons: one side has all fifteen."""
    full = st.lists(st.integers(1, HOME), min_size=15, max_size=15)
    full_side = full.map(lambda points: {point: points.count(point) for point in set(points)})
    return st.builds(Position.from_points, full_side, sides(8)).flatmap(
        lambda position: st.sampled_from([position, position.switch_sides()])
    )


def is_covered(position: Position) -> bool:
    own, opponent = np.flatnonzero(position.board > 0), np.flatnonzero(position.board < 0)
    return bool(
        len(own) and len(opponent) and own[-1] <= HOME and POINTS - HOME < opponent[0] <= opponent[-1]
    )


def before(own: np.ndarray, others: np.ndarray, head_start: int) -> float:
    """P(own = n and others >= n + head_start), summed pair by pair."""
    pairs = np.outer(own, others)
    n, m = np.indices(pairs.shape)
    return float(pairs[m >= n + head_start].sum())


def expected(position: Position) -> list[float]:
    own, opponent = race_distribution(position), race_distribution(position.switch_sides())
    return [
        before(own.all_off, opponent.all_off, 0),
        before(own.all_off, opponent.first_off, 0) if position.opponent_off == 0 else 0,
        0,
        before(opponent.all_off, own.first_off, 1) if position.own_off == 0 else 0,
        0,
    ]


@given(st.one_of(positions(), homes()))
def test_covered_are_those_with_both_sides_home(position):
    assert (looked_up(position) is not None) == is_covered(position)


@given(st.one_of(homes(), full_homes()))
def test_the_five_probabilities_are_sums_over_both_distributions(position):
    row = looked_up(position)
    if 15 - min(position.own_off, position.opponent_off) > TWO_SIDED_CHECKERS:
        assert row == pytest.approx(expected(position), abs=1e-14)
    else:
        assert abs(row[0] - expected(position)[0]) < 0.02
    assert row.min() >= 0
    assert row[1] <= row[0]
    assert row[3] <= 1 - row[0]


@given(homes(TWO_SIDED_CHECKERS))
def test_few_checkers_are_looked_up_together(position):
    own = number_of(position.board[1 : HOME + 1])
    opponent = number_of(position.switch_sides().board[1 : HOME + 1])
    row = looked_up(position)
    assert 2 * row[0] - 1 == pytest.approx(cubeless_equities(bearoff_tables())[own, opponent], abs=1e-15)
    assert (row[1:] == 0).all()


@kernel
def one_sided_wins(tables, wins):
    """Win probabilities (n, n) of all pairs of home positions below n, with independent sides."""
    for own in range(1, len(wins)):
        for opponent in range(1, len(wins)):
            wins[own, opponent] = chance_before(tables.rows, tables.values, own, opponent, 0)


def test_the_error_of_sides_that_do_not_look_at_each_other():
    wins = np.zeros((TWO_SIDED_POSITIONS, TWO_SIDED_POSITIONS))
    one_sided_wins(bearoff_tables(), wins)
    errors = np.abs(2 * wins - 1 - cubeless_equities(bearoff_tables()))[1:, 1:] / 2
    assert errors.mean() == pytest.approx(0.00088, abs=5e-6)
    assert np.quantile(errors, 0.99) == pytest.approx(0.00632, abs=5e-6)
    assert errors.max() == pytest.approx(0.013945, abs=5e-6)


def test_a_gammon_worked_out_by_hand():
    # Any roll bears off both checkers; the opponent's fifteen are on the 6 point.
    won = looked_up(Position.from_points({1: 2}, {6: 15}))
    assert won.tolist() == [1, 1, 0, 0, 0]
    # Now the opponent rolls first: 17 rolls take a checker off (11 have a six, 4-2 2, 5-1 2, 2-2, 3-3 1
    # each).
    lost = looked_up(Position.from_points({6: 15}, {1: 2}))
    assert lost == pytest.approx([0, 0, 0, 19 / 36, 0], abs=1e-15)


def test_no_tables_cover_nothing_with_the_same_kernel():
    position = Position.from_points({1: 2}, {6: 15})
    assert looked_up(position) is not None
    compiled = len(look_up.signatures)
    assert looked_up(position, no_tables()) is None
    assert len(look_up.signatures) == compiled


class Holder(NamedTuple):
    number: float
    tables: BearoffTables


@kernel
def held(holder, words, row):
    if covered(holder.tables, words):
        bearoff_probabilities(holder.tables, words, row)


def test_tables_may_be_part_of_another_tuple():
    position = Position.from_points({6: 8, 1: 2}, {5: 9})
    packed, row = pack_many(position.board[None]), np.zeros(5)
    held(Holder(1.0, bearoff_tables()), packed.view(np.int64)[0], row)
    assert row.tolist() == looked_up(position).tolist()


@given(homes())
def test_people_get_the_same_answer(position):
    chances = bearoff_chances(position)
    assert list(chances.probabilities) == looked_up(position).tolist()
    few = 15 - min(position.own_off, position.opponent_off) <= TWO_SIDED_CHECKERS
    assert chances.exact == few


def test_a_distribution_is_counted_from_no_roll_on():
    race = race_distribution(Position.from_points({1: 3}, {}))  # off at once with a double
    assert race.all_off == pytest.approx([0, 1 / 6, 5 / 6])
    assert race.first_off.tolist() == [1]
    assert race.mean == pytest.approx(11 / 6)
    assert race.sd == pytest.approx(5**0.5 / 6)


def test_who_is_off_needs_no_rolls():
    race = race_distribution(Position.from_points({}, {24: 1}))
    assert (race.all_off.tolist(), race.mean, race.sd) == ([1], 0, 0)


@pytest.mark.parametrize(
    ("own", "opponent", "said"),
    [
        ({7: 1}, {}, "checkers on 7 are outside the home board"),
        ({6: 3, 25: 1, 13: 2}, {24: 1}, "checkers on 13, the bar are outside the home board"),
        ({6: 2}, {25: 1}, "the opponent has checkers behind, and may hit or block"),
        ({6: 2}, {20: 1, 3: 1}, "the opponent has checkers behind"),
    ],
)
def test_no_distribution_without_a_bearoff(own, opponent, said):
    with pytest.raises(PositionError, match=said):
        race_distribution(Position.from_points(own, opponent))


def test_a_side_that_has_passed_bears_off_alone():
    alone = Position.from_points({3: 2, 2: 1}, {21: 1, 7: 3})
    with_him = Position.from_points({3: 2, 2: 1}, {1: 1})
    assert race_distribution(alone).all_off.tolist() == race_distribution(with_him).all_off.tolist()


@given(positions())
def test_no_probabilities_where_nothing_is_covered(position):
    if is_covered(position):
        return
    said = "the game is over" if outcome(position) else "has checkers outside the home board"
    with pytest.raises(PositionError, match=said):
        bearoff_chances(position)
