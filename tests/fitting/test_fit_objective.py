"""The error, its gradient, the ranking operator, and the checks of a problem."""

import numpy as np
import pytest

from motif.fitting.objective import Objective, rmse
from motif.fitting.problem import Problem, RankingOperator, decision_starts
from motif.fitting.terms import Terms
from motif.runtime.errors import FitError
from tests.fitting.fitting_samples import EQUITY, correlated_features, decision_ids, noisy_problem


def _random_weights(terms: Terms, seed: int = 3) -> np.ndarray:
    return 0.3 * np.random.default_rng(seed).standard_normal(terms.count)


def _settings(count: int) -> dict:
    rng = np.random.default_rng(4)
    weights = rng.integers(0, 4, count).astype(float)
    return {"sample_weights": weights, "ridge": 0.01, "ranking": 7.0}


def _problem() -> Problem:
    return noisy_problem(400, 5, link=EQUITY, **_settings(400))


def test_error_is_the_formula():
    problem = _problem()
    weights = _random_weights(problem.terms)
    residuals = problem.link.inverse_link(problem.terms.expand(problem.features) @ weights) - problem.labels
    shares = problem.sample_weights / problem.sample_weights.sum()
    error = shares @ residuals**2 + 0.01 * np.sum(weights[1:] ** 2)
    for decision in np.unique(problem.decisions):
        rows = problem.decisions == decision
        if shares[rows].any():
            mean = np.average(residuals[rows], weights=shares[rows])
            error += 7.0 * shares[rows] @ (residuals[rows] - mean) ** 2
    point = Objective(problem).at(weights)
    assert point.error == pytest.approx(error, rel=1e-6)
    assert point.rmse == pytest.approx(np.sqrt(shares @ residuals**2), rel=1e-6)
    assert point.rmse == pytest.approx(rmse(problem, problem.train, weights), rel=1e-12)


def test_gradient_equals_finite_differences():
    problem = _problem()
    objective, weights, step = Objective(problem), _random_weights(problem.terms), 1e-5
    gradient = objective.gradient(weights, objective.at(weights))
    for place in range(problem.terms.count):
        change = np.zeros(problem.terms.count)
        change[place] = step
        rise = objective.at(weights + change).error - objective.at(weights - change).error
        assert gradient[place] == pytest.approx(rise / (2 * step), abs=1e-8)


def test_curvature_product_is_gauss_newtons_matrix():
    problem = _problem()
    objective, weights = Objective(problem), _random_weights(problem.terms)
    point = objective.at(weights)
    jacobian = problem.terms.expand(problem.features).astype(np.float64) * point.slopes[:, None]
    objective.operator.apply_to_rows(jacobian)
    direction = _random_weights(problem.terms, 9)
    expected = 2 * (jacobian.T @ (jacobian @ direction) + objective.penalty * direction)
    np.testing.assert_allclose(objective.curvature_product(point, direction), expected, rtol=1e-5, atol=1e-6)


def test_ranking_operator_identity():
    rng = np.random.default_rng(0)
    starts = decision_starts(np.array([5, 5, 5, 2, 9, 9, 9, 9]), 8)
    roots, values = np.sqrt(rng.integers(0, 3, 8)), rng.standard_normal(8)
    values[roots == 0] = 0
    operator = RankingOperator(6.0, roots, starts)
    centred, applied = operator.centred(values), operator.apply(values)
    assert applied @ applied == pytest.approx(values @ values + 6 * centred @ centred)
    np.testing.assert_allclose(operator.centred(centred), centred, atol=1e-12)
    np.testing.assert_allclose(operator.apply(applied), operator.apply_twice(values), atol=1e-12)
    matrix = np.column_stack([values, 2 * values])
    operator.apply_to_rows(matrix)
    np.testing.assert_allclose(matrix, np.column_stack([applied, 2 * applied]), atol=1e-12)
    part = operator.of_decisions(1, 3)
    np.testing.assert_allclose(part.apply(values[3:]), applied[3:], atol=1e-12)


def test_ranking_ignores_the_level_of_a_decision():
    operator = RankingOperator(6.0, np.ones(5), np.array([0, 2, 5]))
    level = np.array([1.0, 1.0, -2.0, -2.0, -2.0])
    np.testing.assert_allclose(operator.apply(level), level)


def test_decision_starts():
    assert decision_starts(np.array([3, 3, 1, 7, 7]), 5).tolist() == [0, 2, 3, 5]
    assert decision_starts(None, 3).tolist() == [0, 1, 2, 3]
    assert decision_starts(None, 0).tolist() == [0]


def test_weight_two_equals_a_row_given_twice():
    plain = noisy_problem(300, 4, ranking=3.0)
    times = np.random.default_rng(2).integers(0, 3, 300)
    repeated = np.repeat(np.arange(300), times)
    settings = {"terms": plain.terms, "ranking": 3.0, "ridge": 1e-3}
    weighted = Problem(
        plain.features, plain.labels, sample_weights=times, decisions=plain.decisions, **settings
    )
    decisions = plain.decisions[repeated]
    twice = Problem(plain.features[repeated], plain.labels[repeated], decisions=decisions, **settings)
    vector = _random_weights(plain.terms)
    one, other = Objective(weighted), Objective(twice)
    assert one.at(vector).error == pytest.approx(other.at(vector).error, rel=1e-12)
    gradients = [o.gradient(vector, o.at(vector)) for o in (one, other)]
    np.testing.assert_allclose(*gradients, atol=1e-12)


def test_training_mask_splits_rows_and_decisions():
    mask = decision_ids(100) % 3 != 1
    problem = noisy_problem(100, 4, training=mask)
    assert len(problem.train) == mask.sum() == problem.train.starts[-1]
    assert len(problem.validation) == (~mask).sum()
    assert (problem.validation.labels == problem.labels[~mask]).all()
    assert rmse(noisy_problem(100, 4), noisy_problem(100, 4).validation, np.zeros(15)) is None


FEATURES, LABELS = correlated_features(20, 3), np.full(20, 0.5)


def _with(array, place, value):
    changed = np.array(array)
    changed[place] = value
    return changed


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": _with(FEATURES, (7, 1), np.nan)}, "feature 1 of row 7 is nan: it must be finite"),
        ({"features": _with(FEATURES, (7, 1), np.inf)}, "feature 1 of row 7 is inf: it must be finite"),
        ({"features": FEATURES.astype(float) + 1e200}, "feature 0 of row 0 is inf: it must be finite"),
        (
            {"features": _with(FEATURES, (7, 1), 1e7)},
            "feature 1 of row 7 is 10000000.0: scale features to about 0 to 1",
        ),
        ({"labels": _with(LABELS, 4, np.nan)}, "the label of row 4 is nan: it must be 0 to 1"),
        ({"labels": _with(LABELS, 4, 1.01)}, "the label of row 4 is 1.01: it must be 0 to 1"),
        ({"labels": _with(LABELS, 4, -0.5)}, "the label of row 4 is -0.5: it must be 0 to 1"),
        ({"labels": _with(LABELS, 4, 3.1), "link": EQUITY}, "the label of row 4 is 3.1: it must be -3 to 3"),
        (
            {"decisions": _with(np.arange(20) // 5, 12, 0)},
            "decision 0 appears again in row 12: the rows of a decision must be consecutive",
        ),
    ],
)
def test_bad_input_is_named(changes, message):
    settings = {"features": FEATURES, "labels": LABELS, "terms": Terms.linear(3)} | changes
    with pytest.raises(FitError) as caught:
        Problem(**settings)
    assert str(caught.value) == message


def test_labels_may_be_beyond_a_bound_by_rounding():
    labels = np.where(np.arange(20) < 10, -1e-7, 1 + 1e-7)
    assert (Problem(FEATURES, labels, Terms.linear(3)).labels == labels).all()


def test_steepness_is_the_largest_cosine():
    problem = noisy_problem(400, 5, link=EQUITY, ridge=0.01)
    objective, weights = Objective(problem), _random_weights(problem.terms)
    point = objective.at(weights)
    jacobian = problem.terms.expand(problem.features).astype(np.float64) * point.slopes[:, None]
    roots = np.sqrt(objective.penalty)
    columns = np.concatenate([jacobian, np.diag(roots)])
    residuals = np.concatenate([point.residuals, roots * weights])
    cosines = columns.T @ residuals / np.linalg.norm(columns, axis=0) / np.linalg.norm(residuals)
    assert objective.steepness(weights, point) == pytest.approx(np.abs(cosines).max(), rel=1e-5)
    assert 0.01 < objective.steepness(weights, point) < 1


def test_a_saturated_row_is_one_where_the_tanh_is_flat():
    features = np.array([[0.0], [1.0], [1.0]], np.float32)
    problem = Problem(features, np.array([0.5, 0.1, 1.0]), Terms.linear(1))
    objective = Objective(problem)
    for bias, slope, saturated in ((0.3, 0.0, False), (0.3, 20.0, True), (0.3, -0.3, False), (50, 0.0, True)):
        assert objective.is_saturated(objective.at(np.array([bias, slope]))) is saturated


def test_input_is_not_modified():
    features, labels = FEATURES.copy(), LABELS.copy()
    features.setflags(write=False)
    labels.setflags(write=False)
    problem = Problem(features, labels, Terms.linear(3))
    assert np.shares_memory(problem.train.features, features)
    assert (problem.train.features == FEATURES).all()


def test_contiguous_rows_are_not_copied():
    training = np.arange(len(LABELS)) < 15
    problem = Problem(FEATURES, LABELS, Terms.linear(3), training=training)
    for rows, part in ((problem.train, training), (problem.validation, ~training)):
        assert np.shares_memory(rows.features, FEATURES)
        assert (rows.features == FEATURES[part]).all()
        assert (rows.labels == LABELS[part]).all()
    training[3] = False
    apart = Problem(FEATURES, LABELS, Terms.linear(3), training=training)
    assert (apart.train.features == FEATURES[training]).all()
    assert (apart.validation.features == FEATURES[~training]).all()
