"""The contents of the tables, compared with fractions computed from the rules, and their consistency."""

import pickle

import numpy as np
import pytest

from motif.compiler.jit import kernel
from motif.evaluators.bearoff.lookup import (
    FIRST_FULL,
    FIRST_OFF,
    HOME_POSITIONS,
    TWO_SIDED_POSITIONS,
    home_number,
    home_words,
    number_of,
    positions_of,
)
from motif.evaluators.bearoff.tables import (
    ROWS,
    bearoff_tables,
    build_tables,
    cubeless_equities,
    distribution,
    mean_rolls,
    no_tables,
    variances,
)
from tests.evaluators.bearoff import exact

TOLERANCE = 1e-14


@kernel
def home_numbers(words):
    numbers = np.empty(len(words), np.int64)
    for k in range(len(words)):
        numbers[k] = home_number(words[k])
    return numbers


@pytest.fixture(scope="module")
def tables():
    return bearoff_tables()


@pytest.fixture(scope="module")
def dense(tables):
    """All distributions (69768, 32), including zeros."""
    rows = np.zeros((ROWS, 32))
    for row in range(ROWS):
        chances = distribution(tables, row)
        rows[row, : len(chances)] = chances
    return rows


@pytest.fixture(scope="module")
def checkers():
    """Checkers (54264, 6) on the points 1 to 6 of every home position."""
    return home_words(HOME_POSITIONS).view(np.int8).reshape(-1, 8)[:, :6].astype(np.int64)


def assert_rolls(chances: np.ndarray, expected: exact.Chances) -> None:
    assert set(np.flatnonzero(chances)) == set(expected)
    for rolls, chance in expected.items():
        assert chances[rolls] == pytest.approx(float(chance), rel=TOLERANCE)


def test_numbers_follow_the_order_of_all_sides(checkers):
    assert checkers[: positions_of(4)].tolist() == list(map(list, exact.sides(4)))
    assert len(np.unique(checkers, axis=0)) == HOME_POSITIONS
    assert checkers.sum(axis=1).max() == 15
    assert (checkers.sum(axis=1) == 15).nonzero()[0].tolist() == list(range(FIRST_FULL, HOME_POSITIONS))


def test_numbers_of_words_and_of_checkers_agree(checkers):
    assert np.array_equal(home_numbers(home_words(HOME_POSITIONS)), np.arange(HOME_POSITIONS))
    for number in range(0, HOME_POSITIONS, 997):
        assert number_of(checkers[number]) == number


def test_checkers_beyond_the_home_board_do_not_count():
    words = home_words(HOME_POSITIONS) | np.int64(0x0F0F << 48)
    assert np.array_equal(home_numbers(words), np.arange(HOME_POSITIONS))


@pytest.mark.parametrize("most", [3, pytest.param(6, marks=pytest.mark.slow)])
def test_few_checkers_against_fractions(tables, most):
    for side in exact.sides(most):
        expected, number = exact.all_off(side), number_of(side)
        assert_rolls(distribution(tables, number), expected)
        mean = exact.mean(expected)
        assert mean_rolls(tables)[number] == pytest.approx(float(mean), rel=TOLERANCE)
        spread = sum((rolls - mean) ** 2 * chance for rolls, chance in expected.items())
        assert variances(tables)[number] == pytest.approx(float(spread), rel=1e-12, abs=TOLERANCE)


@pytest.mark.parametrize(
    "side",
    [
        (13, 0, 0, 0, 0, 2),
        (10, 2, 0, 0, 1, 2),
        (9, 0, 0, 3, 3, 0),
        (15, 0, 0, 0, 0, 0),
        pytest.param((0, 0, 0, 0, 0, 15), marks=pytest.mark.slow),
    ],
)
def test_the_first_of_fifteen_against_fractions(tables, side):
    assert_rolls(distribution(tables, number_of(side) + FIRST_OFF), exact.first_off(side))


@pytest.mark.parametrize("most", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_both_sides_against_fractions(tables, most):
    for own in exact.sides(most)[1:]:
        for opponent in exact.sides(2):
            value = cubeless_equities(tables)[number_of(own), number_of(opponent)]
            assert value == pytest.approx(float(exact.equity(own, opponent)), abs=TOLERANCE)


def test_probabilities_add_up_and_none_is_zero(tables, dense):
    assert tables.values.shape == (tables.rows[-1, 0],)
    assert np.abs(dense.sum(axis=1) - 1).max() < TOLERANCE
    assert dense[dense != 0].min() > 0
    lengths = np.diff(tables.rows[:, 0])
    assert lengths.min() > 0
    assert np.array_equal((dense > 0).sum(axis=1), lengths)


def test_means_and_variances_are_those_of_the_probabilities(tables, dense):
    all_off, rolls = dense[:HOME_POSITIONS], np.arange(dense.shape[1])
    means = all_off @ rolls
    assert np.allclose(mean_rolls(tables), means, rtol=1e-14)
    assert np.allclose(variances(tables), all_off @ rolls**2 - means**2, atol=1e-12)


def test_the_first_checker_is_never_off_later_than_the_last(dense):
    first = dense[HOME_POSITIONS:].cumsum(axis=1)
    last = dense[FIRST_FULL:HOME_POSITIONS].cumsum(axis=1)
    assert (first >= last - TOLERANCE).all()


def test_a_checker_less_never_hurts(tables, checkers):
    # One pip fewer may be worse: (7, 1, 6, 0, 0, 0) needs fewer rolls than (8, 0, 6, 0, 0, 0).
    words = home_words(HOME_POSITIONS)
    means, values = mean_rolls(tables), cubeless_equities(tables)
    for point in range(6):
        numbers = np.flatnonzero(checkers[:, point])
        fewer = home_numbers(words[numbers] - (1 << 8 * point))
        assert (means[fewer] <= means[numbers]).all()
        few = numbers < TWO_SIDED_POSITIONS
        assert (values[fewer[few]] >= values[numbers[few]]).all()
        assert (values[1:, fewer[few]] <= values[1:, numbers[few]]).all()


def test_being_on_roll_is_worth_something(tables):
    values = cubeless_equities(tables)[1:, 1:]
    assert (values >= -values.T - TOLERANCE).all()
    assert (np.diag(values) > 0).all()
    assert np.abs(values).max() <= 1


def test_building_again_gives_the_same_bytes(tables):
    assert [a.tobytes() for a in build_tables()] == [a.tobytes() for a in tables]


def test_nothing_can_be_written(tables):
    for array in (*tables, *no_tables(), *build_tables()):
        assert not array.flags.writeable
        assert array.flags.c_contiguous


def test_a_pickle_holds_no_arrays(tables):
    assert len(pickle.dumps(tables)) < 200
    assert pickle.loads(pickle.dumps(tables)) is tables
    assert len(pickle.loads(pickle.dumps(no_tables())).rows) == 0
