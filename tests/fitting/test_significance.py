"""Standard errors, compared with the formulas written out in NumPy and with a bootstrap over games."""

from dataclasses import replace

import numpy as np
import pytest

from motif.fitting.gauss_newton import solve_gauss_newton
from motif.fitting.problem import PROBABILITY, Link, Problem, decision_starts
from motif.fitting.significance import significance, term_statistics
from motif.fitting.terms import Terms
from motif.runtime.errors import FitError
from tests.fitting.fitting_samples import EQUITY, PLAYS, correlated_features, decision_ids, noisy_problem

_DECISIONS_A_GAME = 5


def _games(count: int) -> np.ndarray:
    return decision_ids(count) // _DECISIONS_A_GAME


def _sandwich(problem: Problem, weights: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """The covariance, with every matrix formed; `clusters` are those of the training rows."""
    train = problem.train
    values = problem.terms.expand(train.features).astype(np.float64)
    raw = values @ weights
    shares = train.sample_weights / train.sample_weights.sum()
    metric = np.diag(shares)
    for begin, end in zip(train.starts[:-1], train.starts[1:], strict=True):
        here = shares[begin:end]
        if here.sum() > 0:
            block = np.diag(here) - np.outer(here, here) / here.sum()
            metric[begin:end, begin:end] += problem.ranking * block
    jacobian = problem.link.slope(raw)[:, None] * values
    residuals = problem.link.inverse_link(raw) - train.labels
    penalty = problem.ridge * np.eye(len(weights))
    penalty[0, 0] = 0
    inverse = np.linalg.inv(jacobian.T @ metric @ jacobian + penalty)
    rows = jacobian * (metric @ residuals)[:, None]
    names = np.unique(clusters)
    scores = np.array([rows[clusters == name].sum(axis=0) for name in names])
    scores -= scores.mean(axis=0)
    return inverse @ (scores.T @ scores) @ inverse * len(names) / (len(names) - 1)


def test_least_squares_has_the_textbooks_errors():
    """CR1 without its factor (n - 1) / (n - k), from the normal equations."""
    count, rng = 600, np.random.default_rng(0)
    features, games = rng.random((count, 3), np.float32), _games(count)
    noise = rng.standard_normal(count) + rng.standard_normal(games.max() + 1)[games]
    labels = 1 + features @ [2.0, -1.0, 0.5] + noise
    wide = Link(-1e5, 1e5)  # so wide that it is linear for labels of a few units
    problem = Problem(features, labels, Terms.linear(3), wide)
    fit = solve_gauss_newton(problem, tolerance=0)
    found = significance(problem, fit.weights, games)
    matrix = np.column_stack([np.ones(count), features.astype(np.float64)])
    inverse = np.linalg.inv(matrix.T @ matrix)
    residuals = labels - matrix @ (inverse @ matrix.T @ labels)
    groups = games.max() + 1
    scores = np.array([matrix[games == game].T @ residuals[games == game] for game in range(groups)])
    covariance = inverse @ scores.T @ scores @ inverse * groups / (groups - 1)
    np.testing.assert_allclose(1e5 * found.errors, np.sqrt(np.diag(covariance)), rtol=1e-4)
    assert found.slope == pytest.approx(1e5)


def test_errors_are_the_sandwich():
    count, rng = 1200, np.random.default_rng(1)
    terms = Terms.all_pairs(5)
    training = rng.permutation(_games(count).max() + 1)[_games(count)] % 7 != 0
    problem = noisy_problem(
        count, 5, link=EQUITY, training=training, ridge=1e-3, ranking=4.0,
        sample_weights=rng.integers(0, 4, count).astype(float),
    )  # fmt: skip
    games = _games(count)
    games = np.where(games % 5 == 2, games - games % 2, games)  # some games in two places
    weights = solve_gauss_newton(problem).weights
    found = significance(problem, weights, games)
    covariance = _sandwich(problem, weights, games[training])
    np.testing.assert_allclose(found.errors, np.sqrt(np.diag(covariance)), rtol=2e-3)
    assert (found.errors > 0).all()
    np.testing.assert_allclose(found.z, weights / found.errors)

    means = np.average(problem.train.features.astype(float), axis=0, weights=problem.train.sample_weights)
    centred = replace(problem, features=problem.features - means.astype(np.float32))
    values = terms.expand(problem.features[:9])
    around = terms.expand(centred.features[:9])
    np.testing.assert_allclose(around @ found.effects, values @ weights, atol=1e-5)
    # The same fit in centred features has the effects as weights, except for its ridge.
    free = replace(centred, ridge=0.0)
    errors = significance(replace(problem, ridge=0.0), weights, games).effect_errors
    exact = np.sqrt(np.diag(_sandwich(free, found.effects, games[training])))
    np.testing.assert_allclose(errors, exact, rtol=5e-3)


def test_errors_are_those_of_a_bootstrap_over_games():
    count, games = 6000, 120
    game, rng = np.repeat(np.arange(games), count // games), np.random.default_rng(5)
    # A random effect per game, so that its positions are similar and share their luck.
    features = correlated_features(count, 3, seed=2) + 0.5 * rng.random((games, 3))[game].astype(np.float32)
    terms = Terms.all_pairs(3)
    raw = terms.expand(features).astype(float) @ [-0.4, 0.5, -0.3, 0.4, 0.2, -0.2, 0.1, 0.3, 0.0, -0.3]
    labels = PROBABILITY.inverse_link(raw) + 0.1 * rng.standard_normal(games)[game] * (1 + features[:, 0])
    labels = np.clip(labels + 0.1 * rng.standard_normal(count), 0, 1)
    problem = Problem(features, labels, terms, decisions=decision_ids(count), ranking=2.0, ridge=1e-6)
    fit = solve_gauss_newton(problem)
    found = significance(problem, fit.weights, game)
    repeats = []
    for _ in range(150):
        drawn = np.bincount(rng.integers(0, games, games), minlength=games)
        again = replace(problem, sample_weights=drawn[game].astype(float))
        repeats.append(solve_gauss_newton(again, start=fit.weights, tolerance=1e-5).weights)
    spread = np.std(repeats, axis=0)
    np.testing.assert_allclose(found.errors, spread, rtol=0.2)
    # Clustering by decision is not enough: it ignores what the positions of a game share.
    assert np.median(significance(problem, fit.weights).errors / spread) < 0.8


def test_statistics_describe_the_terms():
    rng = np.random.default_rng(3)
    features = correlated_features(500, 4)
    terms, shares = Terms(4, [[0, 0], [1, 3]]), rng.random(500)
    weights = 0.1 * rng.standard_normal(terms.count)
    found = term_statistics(terms, weights, PROBABILITY, features, shares)
    values = terms.expand(features).astype(float)

    def deviation(column: np.ndarray) -> float:
        mean = np.average(column, weights=shares)
        return float(np.sqrt(np.average((column - mean) ** 2, weights=shares)))

    means = np.average(values, axis=0, weights=shares)
    np.testing.assert_allclose(found.means, means, rtol=1e-6, atol=1e-9)
    spreads = [abs(weight) * deviation(column) for weight, column in zip(weights, values.T, strict=True)]
    np.testing.assert_allclose(found.spreads, spreads, atol=1e-6)
    about = features - means[1:5]
    assert found.deviations[6] == pytest.approx(deviation(about[:, 1] * about[:, 3]), rel=1e-5)
    assert found.effects[1] == pytest.approx(weights[1] + 2 * weights[5] * means[1], rel=1e-5)
    assert found.effects[2] == pytest.approx(weights[2] + weights[6] * means[4], rel=1e-5)
    assert (found.effects[5:] == weights[5:]).all()
    assert found.slope == pytest.approx(np.average(PROBABILITY.slope(values @ weights), weights=shares))
    np.testing.assert_allclose(found.moves, np.abs(found.effects) * found.deviations * found.slope)
    assert np.isnan(found.errors).all()
    assert np.isnan(found.z).all()


def test_repeated_rows_do_not_make_errors_smaller():
    """Repeating the rows of a game ten times adds no information: the reason for clusters."""
    once = noisy_problem(400, 3, ridge=1e-4)
    weights = solve_gauss_newton(once).weights
    rows = np.repeat(np.arange(400), 10)
    ten = Problem(once.features[rows], once.labels[rows], once.terms, ridge=1e-4)
    single = significance(once, weights, np.arange(400)).errors
    np.testing.assert_allclose(significance(ten, weights, rows).errors, single, rtol=1e-4)
    naive = significance(ten, weights).errors
    np.testing.assert_allclose(naive, single / np.sqrt(10), rtol=0.01)


def test_bad_clusters_are_named():
    problem = noisy_problem(40, 3, ranking=1.0)
    weights, half = np.zeros(problem.terms.count), PLAYS // 2
    with pytest.raises(FitError, match=f"decision of training row {half} belongs to more than one cluster"):
        significance(problem, weights, np.arange(40) // half)
    with pytest.raises(FitError, match="at least 2 clusters of training rows, not 1"):
        significance(problem, weights, np.full(40, 7))
    assert len(decision_starts(problem.decisions, 40)) == 5
