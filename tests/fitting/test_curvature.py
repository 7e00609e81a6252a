"""Curvature as a matrix, compared with every matrix formed."""

import numpy as np
import pytest

from motif.fitting import design
from motif.fitting.objective import Linearization, Objective
from motif.fitting.problem import Problem
from motif.fitting.terms import Terms
from tests.fitting.curvature_reference import curvature, curvature_root
from tests.fitting.fitting_samples import EQUITY, PLAYS, correlated_features, decision_ids

ALL = 10**9


def made_problem(count: int, terms: Terms) -> tuple[Problem, Objective, Linearization]:
    rng = np.random.default_rng(1)
    features = correlated_features(count, terms.size)
    weights = rng.integers(1, 4, count).astype(float)
    problem = Problem(
        features, rng.random(count), terms, EQUITY, sample_weights=weights,
        decisions=decision_ids(count), ranking=5.0,
    )  # fmt: skip
    objective = Objective(problem)
    return problem, objective, objective.at(0.2 * np.random.default_rng(2).standard_normal(terms.count))


@pytest.mark.parametrize("terms", [Terms.all_pairs(5), Terms.linear(3)])
def test_all_rows_give_the_curvature_of_the_error(terms):
    count = 600
    problem, objective, point = made_problem(count, terms)
    found = curvature(problem, np.arange(count), point.slopes, objective.operator, ALL).matrix()
    root = curvature_root(problem, 0.2 * np.random.default_rng(2).standard_normal(terms.count))
    np.testing.assert_allclose(found, root.T @ root, rtol=1e-4, atol=1e-6)
    direction = np.random.default_rng(3).standard_normal(terms.count)
    product = objective.curvature_product(point, direction) / 2
    np.testing.assert_allclose(found @ direction, product, rtol=1e-4, atol=1e-5)


def test_of_some_rows_only_those_are_compared():
    """The result is that of a problem of only these rows, each with its share of the weight."""
    count, terms = 600, Terms.all_pairs(4)
    problem, objective, point = made_problem(count, terms)
    rows = np.flatnonzero(np.random.default_rng(4).random(count) < 0.4)
    found = curvature(problem, rows, point.slopes, objective.operator, ALL).matrix()
    alone = Problem(
        problem.features[rows], problem.labels[rows], terms, EQUITY,
        sample_weights=problem.sample_weights[rows], decisions=problem.decisions[rows], ranking=5.0,
    )  # fmt: skip
    root = curvature_root(alone, 0.2 * np.random.default_rng(2).standard_normal(terms.count))
    share = problem.sample_weights[rows].sum() / problem.sample_weights.sum()
    np.testing.assert_allclose(found, share * root.T @ root, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("always", [0.0, 0.5])
@pytest.mark.parametrize("terms", [Terms.all_pairs(5), Terms.linear(5)])
def test_features_that_are_always_alike(terms, always):
    count = 400
    features = correlated_features(count, 5)
    features[:, [1, 4]] = always
    problem = Problem(features, np.full(count, 0.4), terms, EQUITY)
    objective = Objective(problem)
    weights = 0.2 * np.random.default_rng(2).standard_normal(terms.count)
    point = objective.at(weights)
    found = curvature(problem, np.arange(count), point.slopes, objective.operator, ALL).matrix()
    root = curvature_root(problem, weights)
    np.testing.assert_allclose(found, root.T @ root, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("share", [1.0, 0.4])
def test_few_rows_stand_for_many(share):
    """No direction seems much flatter or steeper than it is."""
    count, terms = 30_000, Terms.linear(5)
    problem, objective, point = made_problem(count, terms)
    rows = np.flatnonzero(np.random.default_rng(5).random(count) < share)
    every, some = (
        curvature(problem, rows, point.slopes, objective.operator, most).matrix() for most in (ALL, 2000)
    )
    inverse = np.linalg.inv(np.linalg.cholesky(every))
    ratios = np.linalg.eigvalsh(inverse @ some @ inverse.T)
    assert 0.75 < ratios.min() < ratios.max() < 1.3


def test_no_rows_have_no_curvature():
    problem, objective, point = made_problem(10 * PLAYS, Terms.all_pairs(3))
    found = curvature(problem, np.arange(0), point.slopes, objective.operator, ALL)
    assert not found.matrix().any()
    factor = found.factor(np.zeros(problem.terms.count))
    np.testing.assert_allclose(factor, np.diag(factor.diagonal()), atol=1e-12)
    assert (factor.diagonal() > 0).all()


def test_the_factor_is_that_of_the_matrix_and_the_penalty():
    problem, objective, point = made_problem(600, Terms.all_pairs(4))
    found = curvature(problem, np.arange(600), point.slopes, objective.operator, ALL)
    penalty, before = np.random.default_rng(6).random(problem.terms.count), found.centred.copy()
    upper = found.factor(penalty)
    np.testing.assert_allclose(upper.T @ upper, found.matrix() + np.diag(penalty), rtol=1e-4, atol=1e-5)
    assert (found.centred == before).all()


def test_products_of_features_that_never_occur_together_can_be_factorised():
    features = correlated_features(500, 4)
    either = np.arange(500) % 3 == 0
    features[either, 0], features[~either, 1] = 0, 0
    problem = Problem(features, np.full(500, 0.4), Terms.all_pairs(4))
    objective = Objective(problem)
    point = objective.at(np.zeros(problem.terms.count))
    found = curvature(problem, np.arange(500), point.slopes, objective.operator, ALL)
    upper = found.factor(np.zeros(problem.terms.count))
    scale = np.abs(found.matrix()).max()
    np.testing.assert_allclose(upper.T @ upper, found.matrix(), atol=1e-4 * scale)


def test_same_bytes_for_any_number_of_threads(monkeypatch):
    count = 3 * design._CHUNK_ROWS
    problem, objective, point = made_problem(count, Terms.all_pairs(4))
    rows, found = np.flatnonzero(np.arange(count) % 7 != 3), []
    for threads in (1, 2, 4):
        monkeypatch.setattr(design, "threads_here", lambda threads=threads: threads)
        found.append(curvature(problem, rows, point.slopes, objective.operator, ALL))
    assert len({one.centred.tobytes() for one in found}) == 1
