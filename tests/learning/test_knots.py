"""Knots of a calibration and their scores, compared with scikit-learn's metrics and isotonic steps."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss

from motif.evaluators.calibration import calibrated_chances, knot_fault, raw_knots
from motif.learning.recalibration import MAX_KNOTS, TOLERANCE, brier_scores, change, fit_knots, log_losses

TRIALS = 36


def labels(rng: np.random.Generator, chances: np.ndarray, trials: int = TRIALS) -> np.ndarray:
    return rng.binomial(trials, chances) / trials


def bent(shown: np.ndarray) -> np.ndarray:
    """True probabilities for a player who is too cautious, and wrong in the middle."""
    raw = np.log(shown / (1 - shown))
    return 1 / (1 + np.exp(-(1.8 * raw + 0.4)))


def applied(knots: np.ndarray, shown: np.ndarray) -> np.ndarray:
    return calibrated_chances(raw_knots(knots), shown)


def test_a_planted_fault_is_undone():
    rng = np.random.default_rng(1)
    shown = rng.uniform(0.05, 0.95, 20_000)
    knots = fit_knots(shown, labels(rng, bent(shown)), np.full(len(shown), TRIALS))
    fresh = np.linspace(0.06, 0.94, 500)
    assert np.abs(fresh - bent(fresh)).max() > 0.15
    errors = np.abs(applied(knots, fresh) - bent(fresh))
    assert errors.max() < 0.03
    assert errors.mean() < 0.006


def test_right_probabilities_stay_as_they_are():
    rng = np.random.default_rng(2)
    shown = rng.uniform(0.02, 0.98, 20_000)
    knots = fit_knots(shown, labels(rng, shown), np.full(len(shown), TRIALS))
    fresh = rng.uniform(0.02, 0.98, 5_000)
    after, won = applied(knots, fresh), labels(rng, fresh)
    assert np.abs(after - fresh).mean() < 0.006
    found = change(log_losses(fresh, won), log_losses(after, won), np.arange(len(fresh)))
    assert abs(found.difference) < 5e-4


def test_few_knots_lose_nothing_to_speak_of():
    rng = np.random.default_rng(3)
    shown = np.clip(rng.beta(0.5, 0.5, 30_000), 1e-4, 1 - 1e-4)
    won = labels(rng, bent(shown))
    knots = fit_knots(shown, won, np.full(len(shown), TRIALS))
    assert len(knots) <= MAX_KNOTS + 2
    steps = IsotonicRegression().fit(shown, won).predict(shown)
    least = log_losses(steps, won).mean()
    # The steps are the best increasing map for these data; the thinned continuous map is close to them.
    assert least <= log_losses(applied(knots, shown), won).mean() < least + 4 * TOLERANCE


def test_probabilities_of_0_and_1_that_are_wrong_become_possible():
    shown = np.repeat([0.0, 0.5, 1.0], 200)
    won = np.repeat([0.02, 0.5, 0.97], 200)
    knots = fit_knots(shown, won, np.full(len(shown), TRIALS))
    assert applied(knots, np.array([0.0, 0.5, 1.0])) == pytest.approx([0.02, 0.5, 0.97], abs=1e-3)


def test_nothing_counts_as_impossible():
    shown, won = np.linspace(0.01, 0.99, 300), np.repeat([0.0, 1.0], 150)
    knots = fit_knots(shown, won, np.full(300, TRIALS))
    assert knot_fault(knots) is None
    assert 0 < knots[0, 1] < 1e-3
    assert 1 - 1e-3 < knots[-1, 1] < 1


def test_a_player_with_a_constant_answer():
    knots = fit_knots(np.full(50, 0.7), np.full(50, 0.4), np.full(50, TRIALS))
    assert len(knots) == 1
    assert applied(knots, np.array([0.7])) == pytest.approx([0.4], abs=1e-3)


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 400),
    st.sampled_from([1, 4, 36]),
    st.sampled_from([0, 1, 3, 6]),
)
def test_the_knots_are_valid_for_any_data(seed, count, trials, decimals):
    rng = np.random.default_rng(seed)
    # Probabilities rounded to few decimals have many ties, and include 0 and 1.
    shown = np.round(rng.beta(0.4, 0.4, count), decimals)
    won = labels(rng, rng.random(count), trials)
    knots = fit_knots(shown, won, np.full(count, trials))
    assert knot_fault(knots) is None
    assert knots.dtype == np.float32
    again = rng.permutation(count)
    assert fit_knots(shown[again], won[again], np.full(count, trials)) == pytest.approx(knots, abs=1e-4)
    found = applied(knots, np.unique(shown))
    assert (np.diff(found) >= 0).all()


def test_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(4)
    chances = rng.uniform(0.001, 0.999, 500)
    outcomes = rng.integers(0, 2, 500)
    assert log_losses(chances, outcomes).mean() == pytest.approx(log_loss(outcomes, chances), rel=1e-12)
    assert brier_scores(chances, outcomes).mean() == pytest.approx(
        brier_score_loss(outcomes, chances), rel=1e-12
    )


def test_a_share_scores_as_its_trials_do():
    outcomes = np.array([1, 0, 0, 1, 1, 0, 0, 0, 0])
    for score in (log_losses, brier_scores):
        alone = score(np.full(9, 0.3), outcomes).mean()
        assert score([0.3], [outcomes.mean()])[0] == pytest.approx(alone, rel=1e-12)


def test_a_lost_certainty_costs_a_finite_amount():
    assert log_losses([0.0, 1.0], [1.0, 0.0]) == pytest.approx(-math.log(1e-6), rel=1e-6)


def test_positions_of_one_game_are_one_observation():
    rng = np.random.default_rng(5)
    before, after = rng.random(40), rng.random(40)
    alone = change(before, after, np.arange(40))
    differences = after - before
    assert alone.difference == pytest.approx(alone.after - alone.before)
    assert alone.se == pytest.approx(differences.std(ddof=1) / math.sqrt(40))
    thrice = change(np.repeat(before, 3), np.repeat(after, 3), np.repeat(np.arange(40), 3))
    assert thrice.se == pytest.approx(alone.se)
    assert math.isnan(change(before, after, np.zeros(40, int)).se)
    assert change(before + 1, before, np.arange(40)).clear
    assert not alone.clear or alone.difference < 0
