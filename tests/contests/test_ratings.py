"""Ratings, compared with closed forms, another algorithm, and the scatter of simulated tournaments."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import expit

from motif.contests.ratings import ELO_A_LOGIT, elo_ratings, points_ratings, with_pseudocounts


def everyone(players: int) -> np.ndarray:
    return np.array(list(itertools.combinations(range(players), 2)))


def differences(values: np.ndarray) -> np.ndarray:
    first, second = everyone(len(values)).T
    return values[first] - values[second]


def test_points_of_equal_weight_are_row_means():
    players, error = 5, 0.03
    pairings = everyone(players)
    ppg = np.random.default_rng(1).normal(size=len(pairings))
    found, _ = points_ratings(players, pairings, ppg, np.full(len(pairings), error))
    cross = np.zeros((players, players))
    cross[pairings[:, 0], pairings[:, 1]] = ppg
    cross -= cross.T
    np.testing.assert_allclose(found.values, cross.sum(axis=1) / players, atol=1e-12)
    np.testing.assert_allclose(found.se, error * math.sqrt(players - 1) / players, rtol=1e-9)


def test_points_that_add_up_are_found_whatever_their_weights():
    truth = np.array([0.5, 0.2, -0.1, -0.6])
    se = np.array([0.01, 0.5, 0.02, 0.1, 0.03, 1.0])
    found, fit = points_ratings(4, everyone(4), differences(truth), se)
    np.testing.assert_allclose(found.values, truth, atol=1e-10)
    assert fit == pytest.approx(1)


def test_points_that_go_round_in_circles_are_noticed():
    # Each beats the next by one point: rock, paper, scissors.
    found, fit = points_ratings(3, everyone(3), np.array([1.0, -1.0, 1.0]), np.full(3, 0.1))
    np.testing.assert_allclose(found.values, 0, atol=1e-12)
    assert fit < 1e-20


def test_errors_of_points_are_their_scatter():
    rng = np.random.default_rng(2)
    truth, se = np.array([0.4, 0.1, 0.0, -0.5]), np.array([0.05, 0.1, 0.05, 0.02, 0.2, 0.1])
    runs = [
        points_ratings(4, everyone(4), differences(truth) + se * rng.normal(size=6), se) for _ in range(500)
    ]
    scatter = np.std([found.values for found, _ in runs], axis=0)
    np.testing.assert_allclose(scatter, runs[0][0].se, rtol=0.15)
    fits = np.array([fit for _, fit in runs])
    assert 0.4 < fits.mean() < 0.6
    assert 0.02 < (fits < 0.05).mean() < 0.09


def test_two_players_leave_nothing_over():
    found, fit = points_ratings(2, everyone(2), np.array([0.3]), np.array([0.1]))
    np.testing.assert_allclose(found.values, [0.15, -0.15])
    np.testing.assert_allclose(found.se, [0.05, 0.05])
    assert math.isnan(fit)


def test_elo_of_two_players():
    found = elo_ratings(2, everyone(2), np.array([0.75]), np.array([0.01]))
    difference = 400 * math.log10(3)
    np.testing.assert_allclose(found.values, [difference / 2, -difference / 2], rtol=1e-9)
    # By the delta method: d logit / d share = 1 / (p (1 - p)).
    np.testing.assert_allclose(found.se, ELO_A_LOGIT * 0.01 / (0.75 * 0.25) / 2, rtol=1e-9)


def test_elo_by_another_algorithm():
    """Hunter's minorisation-maximisation (Annals of Statistics 32, 2004)."""
    players = 6
    pairings = everyone(players)
    share = np.random.default_rng(3).uniform(0.1, 0.9, len(pairings))
    wins = np.zeros((players, players))
    wins[pairings[:, 0], pairings[:, 1]] = share
    wins[pairings[:, 1], pairings[:, 0]] = 1 - share
    strength = np.ones(players)
    for _ in range(3000):
        met = 1 / (strength[:, None] + strength[None])
        np.fill_diagonal(met, 0)
        strength = wins.sum(axis=1) / met.sum(axis=1)
        strength /= strength.sum()
    expected = ELO_A_LOGIT * (np.log(strength) - np.log(strength).mean())
    found = elo_ratings(players, pairings, share, np.full(len(pairings), 0.02))
    np.testing.assert_allclose(found.values, expected, atol=1e-6)


@pytest.mark.parametrize("paired", [0.0, 0.8])
def test_errors_of_elo_are_their_scatter(paired):
    """This holds even if luck dominates and most pairs of games are split, as between similar players."""
    rng = np.random.default_rng(4)
    truth, pairs = np.array([0.8, 0.1, -0.2, -0.7]), 200
    chances = expit(differences(truth))[:, None]
    runs = []
    for _ in range(300):
        luck, other = rng.random((2, 6, pairs))
        again = np.where(rng.random((6, pairs)) < paired, 1 - luck, other)
        shares = np.array(
            [with_pseudocounts(row, 0, 1) for row in ((luck < chances) * 0.5 + (again < chances) * 0.5)]
        )
        runs.append(elo_ratings(4, everyone(4), *shares.T))
    scatter = np.std([found.values for found in runs], axis=0)
    stated = np.mean([found.se for found in runs], axis=0)
    np.testing.assert_allclose(scatter, stated, rtol=0.15)
    np.testing.assert_allclose(np.mean([found.values for found in runs], axis=0), ELO_A_LOGIT * truth, atol=4)


def test_who_wins_everything_has_a_finite_elo():
    share, error = with_pseudocounts(np.ones(50), 0, 1)
    assert 0.99 < share < 1
    assert share == pytest.approx((100 + 0.5) / (100 + 1))  # half a win for each side
    assert error > 0
    found = elo_ratings(3, everyone(3), np.array([share, share, 0.5]), np.array([error, error, 0.05]))
    assert found.values[0] - found.values[1] == pytest.approx(400 * math.log10(share / (1 - share)))
    assert np.isfinite(found.se).all()


def test_softened_by_hand():
    values = [0.5, 1.0, -1.5]
    mean, error = with_pseudocounts(values, -1, 1)
    assert mean == pytest.approx(0)
    squares = 0.25 + 1 + 2.25 + 0.5
    assert error == pytest.approx(math.sqrt(squares / (3.5 * 3)))
    many = np.random.default_rng(6).normal(0.3, 1, 20_000)
    mean, error = with_pseudocounts(many, -1, 1)
    assert mean == pytest.approx(many.mean(), abs=1e-4)
    assert error == pytest.approx(many.std(ddof=1) / math.sqrt(20_000), rel=1e-3)
