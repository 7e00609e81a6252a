"""Fits of game plans on made-up rows, against the same error minimised by SciPy."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize

from motif.bootstrap import plan_heads
from motif.bootstrap.class_rows import LABELS, ClassRows
from motif.bootstrap.fit_settings import FitSettings
from motif.bootstrap.plan_heads import fit_plan, plan_problem, plans_to_fit
from motif.fitting.link import EQUITY
from motif.fitting.result import FitResult
from motif.parameters.game_plan import PLANS, plans_of_class
from tests.fitting.fitting_samples import PLAYS, correlated_features, decision_ids, random_boards

SIZE, ROWS, TRAINING = 4, 1200, 1000
SETTINGS = FitSettings(terms="linear", plans=True, plan_shrinkage=300.0, plan_rows=50, ranking=2.0)
PLAN = plans_of_class("contact")[3]


@pytest.fixture(scope="module")
def rows() -> ClassRows:
    """A plan of 300 positions to train on whose values differ from those of the others."""
    rng = np.random.default_rng(0)
    features = correlated_features(ROWS, SIZE)
    codes = [PLANS.index(plan) for plan in plans_of_class("contact")[:5]]
    plans = np.array(codes)[rng.choice(5, ROWS, p=[0.3, 0.3, 0.06, 0.3, 0.04])].astype(np.int16)
    slopes = np.where(plans[:, None] == PLANS.index(PLAN), [0.9, -0.5, 0.2, 0.1], [0.3, 0.4, -0.2, 0.1])
    labels = np.zeros((ROWS, len(LABELS)), np.float32)
    labels[:, -1] = EQUITY.predict((features * slopes).sum(axis=1)) + 0.1 * rng.standard_normal(ROWS)
    return ClassRows(
        features,
        labels,
        decision_ids(ROWS),
        random_boards(ROWS),
        np.zeros(ROWS, np.int32),
        plans,
        TRAINING,
    )


OF_CLASS = np.array([0.02, 0.35, 0.3, -0.15, 0.1])


def values(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return EQUITY.predict(weights[0] + features @ weights[1:])


def ranked(residuals: np.ndarray, decisions: np.ndarray, strength: float) -> np.ndarray:
    """Residuals whose square sum is that of the error with its ranking term."""
    means = np.array([residuals[decisions == decision].mean() for decision in decisions])
    return np.concatenate([residuals, np.sqrt(strength) * (residuals - means)])


def test_the_error_is_that_of_the_plan_and_the_distance_from_the_class(rows):
    own = np.flatnonzero(rows.plans[:TRAINING] == PLANS.index(PLAN))
    shrinkage, ridge = SETTINGS.plan_shrinkage, SETTINGS.equity_ridge

    def residuals(weights: np.ndarray) -> np.ndarray:
        of_own = values(rows.features[own], weights) - rows.labels[own, -1]
        every = rows.features[:TRAINING]
        apart = values(every, weights) - values(every, OF_CLASS)
        return np.concatenate(
            [
                ranked(of_own, rows.decisions[own], SETTINGS.ranking),
                ranked(apart, rows.decisions[:TRAINING], SETTINGS.ranking) * np.sqrt(shrinkage / TRAINING),
                np.sqrt(ridge) * (weights - OF_CLASS)[1:],
            ]
        )

    expected = optimize.least_squares(residuals, OF_CLASS, xtol=1e-12, ftol=1e-12).x
    result = fit_plan(rows, PLAN, OF_CLASS, SETTINGS)
    np.testing.assert_allclose(result.weights, expected, atol=2e-3)
    assert np.abs(expected - OF_CLASS).max() > 0.05
    errors = values(rows.features[own], result.weights) - rows.labels[own, -1]
    assert result.rmse_train == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-5)
    held = TRAINING + np.flatnonzero(rows.plans[TRAINING:] == PLANS.index(PLAN))
    errors = values(rows.features[held], result.weights) - rows.labels[held, -1]
    assert result.rmse_validation == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-5)


def test_shrinkage_goes_from_the_plan_to_its_class(rows):
    settings = replace(SETTINGS, equity_ridge=1e-6, points=True)
    of_class = np.concatenate([OF_CLASS, np.zeros(200)])
    fits = [fit_plan(rows, PLAN, of_class, replace(settings, plan_shrinkage=c)) for c in (0.0, 300.0, 1e9)]
    errors = [fit.rmse_train for fit in fits]
    assert errors == sorted(errors)
    assert errors[0] < 0.8 * errors[2]
    at_class = values(rows.features, OF_CLASS)
    terms = plan_problem(rows, PLAN, of_class, settings)[0].terms
    reached = EQUITY.predict(terms.expand(rows.features, rows.boards) @ fits[2].weights)
    np.testing.assert_allclose(reached[:TRAINING], at_class[:TRAINING], atol=1e-3)


def test_the_class_is_seen_through_whole_decisions_spread_evenly(rows, monkeypatch):
    monkeypatch.setattr(plan_heads, "_MOST_CLASS_ROWS", 200)
    problem, own = plan_problem(rows, PLAN, OF_CLASS, SETTINGS)
    drawn = len(problem.train) - own
    assert 100 < drawn <= 200
    ids = problem.decisions[own : own + drawn]
    assert (np.unique(ids, return_counts=True)[1] == PLAYS).all()
    assert len(set(np.diff(np.unique(ids)))) == 1
    assert problem.train.sample_weights[own:].sum() == pytest.approx(SETTINGS.plan_shrinkage)
    np.testing.assert_allclose(
        problem.train.labels[own:], values(problem.train.features[own:], OF_CLASS), atol=1e-6
    )
    assert len(problem.validation) == (rows.plans[TRAINING:] == PLANS.index(PLAN)).sum()


def test_which_plans_are_fitted(rows):
    result = FitResult("made", OF_CLASS, (), "converged", 0.0, None, 0.0)
    fits = {("contact", "win"): result, ("contact", "equity"): result, ("race", "win"): result}
    classes = {"contact": rows, "race": rows}
    names = plans_of_class("contact")
    assert list(plans_to_fit(classes, fits, SETTINGS)) == [("contact", names[k]) for k in (0, 1, 2, 3)]
    assert list(plans_to_fit(classes, fits, replace(SETTINGS, plan_rows=200))) == [
        ("contact", names[k]) for k in (0, 1, 3)
    ]
    assert list(plans_to_fit(classes, fits, replace(SETTINGS, plans=False))) == []
