"""The sequential test: its rate of false alarms, by brute force and by simulation."""

import itertools
import math

import numpy as np
import pytest

from motif.contests import sequential
from motif.contests.sequential import SequentialTest, certain_interval
from motif.runtime.errors import SettingError

VALUES = np.array([-3, -2, -1, 1, 2, 3])
EVEN = {
    "as usual": np.array([0.01, 0.13, 0.36, 0.36, 0.13, 0.01]),
    # Rare large wins against frequent small losses, for which means converge slowly to a normal distribution.
    "skewed": np.array([0.0, 0.0, 0.75, 0.0, 0.0, 0.25]),
}


def made_points(chances: np.ndarray, shape: tuple[int, int], rng, alike: float = 0.3) -> np.ndarray:
    """Points (matches, pairs, 2); a share `alike` of the pairs cancels, as between similar players."""
    first, second = rng.choice(VALUES, (2, *shape), p=chances)
    second = np.where(rng.random(shape) < alike, -first, second)
    return np.stack([first, second], axis=-1)


def shifted(shift: float) -> np.ndarray:
    chances = EVEN["as usual"] * np.exp(shift * VALUES)
    return chances / chances.sum()


@pytest.mark.parametrize("chances", EVEN.values(), ids=EVEN)
@pytest.mark.parametrize("alike", [0.0, 0.95])
def test_equal_players_are_seldom_distinguished(chances, alike):
    """However often one checks: here after each of 500 pairs, at a rate of 0.2."""
    assert chances @ VALUES == pytest.approx(0)
    matches, rate, alarms = 300, 0.2, 0
    for points in made_points(chances, (matches, 500), np.random.default_rng(11), alike):
        test = SequentialTest(rate)
        test.add(points)
        alarms += test.certain
    assert alarms / matches < rate + 3 * math.sqrt(rate * (1 - rate) / matches)


def test_repeated_looks_at_a_usual_p_value_would_distinguish_them():
    """The reason for the test: the same matches, stopped when the ordinary p-value is small."""
    points = made_points(EVEN["as usual"], (300, 500), np.random.default_rng(11))
    pairs = np.arange(1, 501)
    sums = points.mean(axis=-1).cumsum(axis=-1)
    squares = (points.mean(axis=-1) ** 2).cumsum(axis=-1)
    errors = np.sqrt(np.maximum(squares / pairs - (sums / pairs) ** 2, 1e-12) / pairs)
    told_apart = (np.abs(sums / pairs / errors)[:, 20:] > 1.2816).any(axis=-1)
    assert told_apart.mean() > 0.5  # at a rate of 0.2


@pytest.mark.parametrize("shift", [0.1, -0.1, 0.4])
def test_a_difference_is_found_early_and_the_right_way(shift):
    pairs = 3000
    ends, winners = [], []
    for points in made_points(shifted(shift), (40, pairs), np.random.default_rng(5)):
        test = SequentialTest(0.05)
        ends.append(test.add(points))
        assert test.certain
        winners.append(points[: ends[-1]].mean() * shift > 0)
    assert np.median(ends) < pairs / 5
    assert sum(winners) >= 38


def test_the_money_by_hand():
    points = np.array([[1, 2], [-1, 1], [3, 3], [-2, -1], [2, -3]])
    test = SequentialTest(0.001)
    assert test.add(points) == 5
    most = 1.0
    for count in range(1, 6):
        parts = [
            math.prod(1 + bet * mean for mean in points[:count].mean(axis=1)) for bet in sequential._BETS
        ]
        most = max(most, sum(parts) / len(parts))
    assert test.p_value == pytest.approx(1 / most, rel=1e-12)


@pytest.mark.parametrize("outcomes", [(-1, -0.5, 1.5), (0, 0.5, 1), (-3, 0.5), (3,)])
def test_the_game_is_fair_where_the_mean_is_the_true_one(outcomes):
    """Over all equally likely sequences of four pairs the capital has the mean 1, so Ville's inequality
    holds.
    """
    growth = sequential._log_growth(np.mean(outcomes))
    rows = [sequential._PAIR_MEANS.tolist().index(outcome) for outcome in outcomes]
    courses = itertools.product(rows, repeat=4)
    money = [math.exp(sequential._whole(sum(growth[row] for row in course))) for course in courses]
    assert np.mean(money) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("size", [1, 7, 400])
def test_blocks_make_no_difference(size):
    points = made_points(shifted(0.2), (1, 400), np.random.default_rng(3))[0]
    whole, parts = SequentialTest(), SequentialTest()
    looked = whole.add(points)
    assert whole.certain
    assert 10 < looked < 400
    assert sum(parts.add(points[k : k + size]) for k in range(0, 400, size)) == looked
    assert parts.p_value == whole.p_value
    assert whole.add(points) == 0
    before = SequentialTest()
    assert before.add(points[: looked - 1]) == looked - 1
    assert not before.certain


def test_it_stops_when_the_interval_leaves_zero():
    for points in made_points(shifted(0.3), (20, 400), np.random.default_rng(8)):
        test = SequentialTest(0.1)
        looked = test.add(points)
        low, high = certain_interval(points[:looked], 0.1)
        assert low > 0 or high < 0
        low, high = certain_interval(points[: looked - 1], 0.1)
        assert low <= 0 <= high


def test_the_interval_holds_the_truth_whenever_one_looks():
    rate, missed, matches = 0.2, 0, 60
    truth = float(shifted(0.2) @ VALUES) * 0.7  # three in ten pairs cancel
    for points in made_points(shifted(0.2), (matches, 300), np.random.default_rng(9)):
        intervals = [certain_interval(points[:count], rate) for count in (5, 10, 20, 40, 80, 160, 300)]
        missed += any(not low <= truth <= high for low, high in intervals)
    assert missed / matches < rate


def test_the_interval_holds_the_mean_and_narrows():
    points = made_points(shifted(0.1), (1, 4000), np.random.default_rng(4))[0]
    widths = []
    for count in (1, 10, 100, 1000, 4000):
        low, high = certain_interval(points[:count])
        assert -3 <= low < points[:count].mean() < high <= 3
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)
    # At most twice as wide as an interval for a single look.
    assert widths[-1] < 2 * 2 * 1.96 * points.mean(axis=1).std() / math.sqrt(4000)


@pytest.mark.parametrize("value", [-3, 3])
def test_the_interval_at_the_ends(value):
    low, high = certain_interval(np.full((200, 2), value))
    assert (high if value > 0 else low) == value
    assert low < high
    assert abs(low if value > 0 else high) > 2.5


def test_no_games_leave_everything_possible():
    none = np.empty((0, 2), np.int64)
    assert certain_interval(none) == (-3, 3)
    test = SequentialTest()
    assert (test.add(none), test.certain, test.p_value) == (0, False, 1)


@pytest.mark.parametrize("rate", [0.0, 1.0, 2.0, math.nan, math.inf])
def test_significance_levels_that_are_none(rate):
    with pytest.raises(SettingError, match=r"^significance must be above 0 and below 1, not"):
        SequentialTest(rate)
    with pytest.raises(SettingError, match="significance"):
        certain_interval(np.ones((3, 2), np.int64), rate)
