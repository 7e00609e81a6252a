"""Fits of game plans on made-up rows, against the same error minimised by SciPy."""

from dataclasses import replace

import numpy as np
import pytest

from motif.fitting import joint
from motif.fitting.objective import Objective
from motif.fitting.problem import EQUITY
from motif.learning import heads as plan_problem_module
from motif.learning.fit_settings import FitSettings
from motif.learning.heads import fit_plans, head_problem, plan_problem, plans_to_fit
from motif.learning.rows import LABELS, ClassRows
from motif.parameters.position_class import PLANS, plans_of_class
from tests.fitting.fitting_samples import PLAYS, correlated_features, decision_ids, random_boards
from tests.fitting.joint_reference import joint_minimum, ranked

SIZE, ROWS, TRAINING = 4, 1200, 1000
SETTINGS = FitSettings(terms="linear", plans=True, plan_shrinkage=300.0, plan_rows=80, ranking=2.0)
NAMES = plans_of_class("contact")[:5]
SHARES = (0.3, 0.3, 0.06, 0.3, 0.04)
FITTED = [NAMES[k] for k in (0, 1, 3)]
PLAN = NAMES[3]


@pytest.fixture(scope="module")
def rows() -> ClassRows:
    """Plans of which one has 300 positions to train on, whose values differ from those of the others."""
    rng = np.random.default_rng(0)
    features = correlated_features(ROWS, SIZE)
    codes = [PLANS.index(plan) for plan in NAMES]
    plans = np.array(codes)[rng.choice(5, ROWS, p=SHARES)].astype(np.int16)
    slopes = np.where(plans[:, None] == PLANS.index(PLAN), [0.9, -0.5, 0.2, 0.1], [0.3, 0.4, -0.2, 0.1])
    labels = np.zeros((ROWS, len(LABELS)), np.float32)
    labels[:, -1] = EQUITY.predict((features * slopes).sum(axis=1)) + 0.1 * rng.standard_normal(ROWS)
    return ClassRows(
        "contact",
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


def test_plans_with_rows_enough_are_fitted(rows):
    assert plans_to_fit(rows, "contact", SETTINGS) == FITTED
    assert plans_to_fit(rows, "contact", replace(SETTINGS, plan_rows=50)) == [NAMES[k] for k in (0, 1, 2, 3)]
    assert plans_to_fit(rows, "crashed", SETTINGS) == []
    assert fit_plans(rows, "crashed", OF_CLASS, SETTINGS) == {}
    assert fit_plans(rows, "contact", OF_CLASS, replace(SETTINGS, plan_rows=1001)) == {}


def test_plans_are_the_groups_of_a_joint_fit(rows, monkeypatch):
    """The rows of the other plans keep the class's weights."""
    monkeypatch.setattr(joint, "_ROWS_PER_WEIGHT", 10**6)  # the pull from all rows
    codes = {PLANS.index(plan): group for group, plan in enumerate(FITTED)}
    groups = np.array([codes.get(int(code), -1) for code in rows.plans[:TRAINING]])
    problem = head_problem(rows, "equity", SETTINGS)
    expected, error = joint_minimum(problem, groups, OF_CLASS, SETTINGS.plan_shrinkage)
    results = fit_plans(rows, "contact", OF_CLASS, SETTINGS)
    assert list(results) == FITTED
    found = np.stack([result.weights for result in results.values()])
    np.testing.assert_allclose(found, expected, atol=3e-3)
    assert np.abs(expected - OF_CLASS).max() > 0.05
    weights = np.vstack([found, OF_CLASS])[groups]
    raw = weights[:, 0] + np.sum(rows.features[:TRAINING] * weights[:, 1:], axis=1)
    errors = EQUITY.predict(raw) - rows.labels[:TRAINING, -1]
    for result in results.values():
        assert result.history[-1].error == pytest.approx(error, rel=1e-5)
        assert result.history[-1].rmse_train == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-5)
        assert (result.method, result.stopped) == ("joint", "converged")


def test_errors_are_those_of_the_plans_own_rows(rows):
    for plan, result in fit_plans(rows, "contact", OF_CLASS, SETTINGS).items():
        errors = values(rows.features, result.weights) - rows.labels[:, -1]
        own = rows.plans == PLANS.index(plan)
        train, held = errors[:TRAINING][own[:TRAINING]], errors[TRAINING:][own[TRAINING:]]
        assert result.rmse_train == pytest.approx(np.sqrt(np.mean(train**2)), rel=1e-5)
        assert result.rmse_validation == pytest.approx(np.sqrt(np.mean(held**2)), rel=1e-5)


def test_without_held_out_rows_there_is_no_validation_error(rows):
    every = replace(rows, training=ROWS)
    results = fit_plans(every, "contact", OF_CLASS, SETTINGS)
    assert [result.rmse_validation for result in results.values()] == [None, None, None]


def test_shrinkage_goes_from_the_plans_to_their_class(rows):
    settings = replace(SETTINGS, equity_ridge=1e-6, points=True)
    of_class = np.concatenate([OF_CLASS, np.zeros(200)])
    fits = [
        fit_plans(rows, "contact", of_class, replace(settings, plan_shrinkage=c))[PLAN]
        for c in (0.0, 300.0, 1e9)
    ]
    errors = [fit.rmse_train for fit in fits]
    assert errors == sorted(errors)
    assert errors[0] < 0.8 * errors[2]
    terms = head_problem(rows, "equity", settings).terms
    reached = EQUITY.predict(terms.expand(rows.features, rows.boards) @ fits[2].weights)
    np.testing.assert_allclose(reached[:TRAINING], values(rows.features, OF_CLASS)[:TRAINING], atol=2e-3)


def test_a_plan_by_itself_has_the_errors_of_its_rows_and_of_those_that_draw_it(rows):
    problem, games = plan_problem(rows, PLAN, OF_CLASS, SETTINGS)
    own = np.count_nonzero(games[: len(problem.train)] >= 0)
    here = np.flatnonzero(rows.plans[:TRAINING] == PLANS.index(PLAN))
    shrinkage = SETTINGS.plan_shrinkage
    assert own == len(here)
    weights = OF_CLASS + np.array([0.1, -0.2, 0.3, 0.1, -0.1])

    def alone(which: np.ndarray, apart: np.ndarray) -> float:
        part = replace(
            problem, features=rows.features[which], labels=apart, sample_weights=None,
            decisions=rows.decisions[which], training=None,
        )  # fmt: skip
        return float(np.sum(ranked(part, apart) ** 2))

    every = np.arange(TRAINING)
    apart = values(rows.features, weights)
    error = own * alone(here, (apart - rows.labels[:, -1])[here])
    error += shrinkage * alone(every, (apart - values(rows.features, OF_CLASS))[every])
    error += SETTINGS.equity_ridge * np.sum((weights - OF_CLASS)[1:] ** 2)
    assert Objective(problem).at(weights).error == pytest.approx(error / (own + shrinkage), rel=1e-5)


def test_the_class_is_seen_through_whole_decisions_spread_evenly(rows, monkeypatch):
    monkeypatch.setattr(plan_problem_module, "_MOST_CLASS_ROWS", 200)
    problem, games = plan_problem(rows, PLAN, OF_CLASS, SETTINGS)
    own = np.count_nonzero(games[: len(problem.train)] >= 0)
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


def test_nothing_draws_a_plan_without_shrinkage(rows):
    problem, games = plan_problem(rows, PLAN, OF_CLASS, replace(SETTINGS, plan_shrinkage=0.0))
    own = np.count_nonzero(games[: len(problem.train)] >= 0)
    assert len(problem.train) == own
