"""Every solver: planted weights, the same optimum, the optimality condition."""

import numpy as np
import pytest
from scipy import optimize

from motif.fitting import coordinate, gauss_newton
from motif.fitting.coordinate import solve_coordinate
from motif.fitting.design import term_sums
from motif.fitting.gauss_newton import solve_gauss_newton
from motif.fitting.keith_descent import solve_keith
from motif.fitting.objective import Objective
from motif.fitting.problem import PROBABILITY, Problem
from motif.fitting.solvers import SOLVERS, solve_least_squares
from motif.fitting.terms import Terms
from tests.fitting.fitting_samples import (
    EQUITY,
    correlated_features,
    decision_ids,
    exact_problem,
    noisy_problem,
    planted_weights,
)

every_solver = pytest.mark.parametrize("solve", SOLVERS.values(), ids=SOLVERS)
TIGHT = 1e-9


def steepness(problem: Problem, weights: np.ndarray) -> float:
    """The largest correlation between the residuals and a term's column of the Jacobian; 0 at an optimum.

    The ridge's own row of the Jacobian is part of the column.
    """
    objective = Objective(problem)
    point = objective.at(weights)
    gradient = objective.gradient(weights, point) / 2
    columns = term_sums(problem.terms, problem.train.features, point.slopes**2, power=2) + objective.penalty
    return float(np.max(np.abs(gradient) / np.sqrt(columns * point.error)))


@every_solver
def test_planted_weights_are_recovered(solve):
    problem, planted = exact_problem(3000, 5)
    result = solve(problem, max_passes=10_000, tolerance=TIGHT)
    assert result.stopped == "converged"
    assert result.rmse_train < 1e-5
    np.testing.assert_allclose(result.weights, planted, atol=0.01)


@every_solver
def test_optimality_condition_holds(solve):
    # Collinear terms need many sweeps on the error itself.
    problem = noisy_problem(4000, 5 if solve is solve_keith else 8, ridge=1e-5, link=EQUITY)
    result = solve(problem, max_passes=5000, tolerance=TIGHT)
    assert result.stopped == "converged"
    assert steepness(problem, np.zeros(problem.terms.count)) > 0.1
    assert steepness(problem, result.weights) < 1e-4


def test_all_solvers_reach_the_same_error():
    problem = noisy_problem(20_000, 12, training=decision_ids(20_000) % 10 != 0)
    results = {name: solve(problem) for name, solve in SOLVERS.items() if solve is not solve_keith}
    least = min(result.history[-1].error for result in results.values())
    for name, result in results.items():
        assert result.method == name
        assert result.stopped == "converged"
        assert result.history[-1].error == pytest.approx(least, rel=0.002)
        assert result.rmse_validation == pytest.approx(results["gauss-newton"].rmse_validation, rel=0.005)


@pytest.mark.parametrize("ranking", [0.0, 10.0])
@pytest.mark.parametrize(
    ("solve", "size", "tolerance"),
    [(solve_coordinate, 8, 1e-10), (solve_gauss_newton, 8, 1e-10), (solve_keith, 4, 1e-12)],
    ids=["coordinate", "gauss-newton", "keith"],
)
def test_solvers_agree_closely_with_least_squares(solve, size, tolerance, ranking):
    problem = noisy_problem(6000, size, ranking=ranking, ridge=1e-6)
    results = [solve(problem, tolerance=tolerance), solve_least_squares(problem, tolerance=1e-10)]
    assert results[0].history[-1].error == pytest.approx(results[1].history[-1].error, rel=1e-8)
    values = [problem.link.inverse_link(problem.terms.expand(problem.features) @ r.weights) for r in results]
    np.testing.assert_allclose(*values, atol=1e-4)


def test_ranking_term_trades_level_for_order():
    def spread(problem, weights):
        residuals = (
            problem.link.inverse_link(problem.terms.expand(problem.features) @ weights) - problem.labels
        )
        grouped = residuals.reshape(-1, 10)
        return np.mean((grouped - grouped.mean(axis=1, keepdims=True)) ** 2)

    problems = [noisy_problem(4000, 8, ranking=ranking) for ranking in (0.0, 20.0)]
    plain, ranked = (solve_gauss_newton(problem) for problem in problems)
    assert ranked.rmse_train > plain.rmse_train
    assert spread(problems[0], ranked.weights) < spread(problems[0], plain.weights)


@every_solver
def test_ridge_shrinks(solve):
    settings = {"count": 3000, "size": 5}
    free = solve(noisy_problem(**settings))
    mild, strong = (solve(noisy_problem(**settings, ridge=ridge)) for ridge in (1e-3, 10.0))
    sizes = [np.linalg.norm(result.weights[1:]) for result in (strong, mild, free)]
    assert sizes == sorted(sizes)
    assert sizes[0] < 0.02
    # The bias is not penalised: it still predicts the mean label.
    assert strong.weights[0] == pytest.approx(
        PROBABILITY.link(noisy_problem(**settings).labels.mean()), abs=0.02
    )


@every_solver
def test_warm_start_is_at_once_where_it_starts(solve):
    problem = noisy_problem(3000, 5)
    weights = solve(problem, tolerance=TIGHT, max_passes=5000).weights
    again = solve(problem, start=weights)
    assert again.passes <= 2
    assert again.history[0].error == pytest.approx(Objective(problem).at(weights).error, rel=1e-9)


@every_solver
def test_weight_two_equals_a_row_given_twice(solve):
    problem = noisy_problem(2000, 5)
    times = np.random.default_rng(2).integers(0, 3, 2000)
    repeated = np.repeat(np.arange(2000), times)
    weighted = Problem(problem.features, problem.labels, problem.terms, sample_weights=times, ridge=1e-4)
    twice = Problem(problem.features[repeated], problem.labels[repeated], problem.terms, ridge=1e-4)
    results = [solve(p, tolerance=TIGHT, max_passes=5000) for p in (weighted, twice)]
    np.testing.assert_allclose(results[0].weights, results[1].weights, atol=0.005)
    assert results[0].rmse_train == pytest.approx(results[1].rmse_train, rel=1e-5)


@every_solver
def test_terms_that_never_occur_keep_their_weight(solve):
    features = correlated_features(2000, 4)
    features[:, 2] = 0
    labels = PROBABILITY.inverse_link(features[:, 0] - features[:, 1])
    terms = Terms.all_pairs(4)
    result = solve(Problem(features, labels, terms))
    silent = (terms.pairs == 2).any(axis=1)
    assert abs(result.weights[3]) < 1e-12
    assert np.abs(result.weights[5:][silent]).max() < 1e-12
    assert result.rmse_train < 0.01


@every_solver
def test_labels_on_the_bounds_do_not_blow_up(solve):
    features = correlated_features(2000, 4)
    labels = (features[:, 0] > 0.45).astype(float)
    result = solve(Problem(features, labels, Terms.all_pairs(4)), max_passes=60)
    assert np.isfinite(result.weights).all()
    assert result.rmse_train < 0.15


@every_solver
def test_some_pairs_only(solve):
    features, terms = correlated_features(3000, 6), Terms(6, [[4, 5], [1, 1], [0, 3]])
    planted = planted_weights(terms, features)
    labels = PROBABILITY.inverse_link(terms.expand(features).astype(np.float64) @ planted)
    result = solve(Problem(features, labels, terms), tolerance=TIGHT, max_passes=5000)
    np.testing.assert_allclose(result.weights, planted, atol=0.01)


def test_few_sweeps_a_pass_do_not_change_the_answer(monkeypatch):
    problem = noisy_problem(4000, 8, ridge=1e-5)
    quick = solve_coordinate(problem, tolerance=TIGHT)
    monkeypatch.setattr(coordinate, "MAX_SWEEPS", 1)
    plain = solve_coordinate(problem, tolerance=TIGHT)
    assert quick.passes < plain.passes
    assert quick.history[-1].error == pytest.approx(plain.history[-1].error, rel=1e-5)
    np.testing.assert_allclose(quick.weights, plain.weights, atol=0.05)


def test_a_model_of_few_rows_does_not_change_the_answer(monkeypatch):
    problem = noisy_problem(20_000, 10, ridge=1e-5)
    every = solve_coordinate(problem, tolerance=TIGHT)
    monkeypatch.setattr(gauss_newton, "_MIN_ROWS", 0)
    few = solve_coordinate(problem, tolerance=TIGHT)
    assert few.passes > every.passes
    assert few.history[-1].error == pytest.approx(every.history[-1].error, rel=1e-7)
    np.testing.assert_allclose(few.weights, every.weights, atol=0.02)


@pytest.mark.parametrize(
    ("solve", "passes"),
    [(solve_coordinate, 25), (solve_gauss_newton, 15)],
    ids=["coordinate", "gauss-newton"],
)
def test_rare_terms_do_not_slow_a_fit(solve, passes):
    """Terms that occur rarely in the curvature's rows."""
    count = 60_000
    features = correlated_features(count, 6)
    features[:, 3] = 0
    features[5:count:997, 3] = np.linspace(0.5, 1, len(range(5, count, 997)))
    terms = Terms.all_pairs(6)
    weights = planted_weights(terms, features)
    labels = PROBABILITY.inverse_link(terms.expand(features).astype(np.float64) @ weights)
    result = solve(Problem(features, labels, terms), tolerance=TIGHT)
    assert result.stopped == "converged"
    assert result.passes < passes
    assert result.rmse_train < 1e-5


def test_keiths_descent_leaves_no_single_weight_to_improve():
    """Moving any single weight in either direction after the last sweep raises the error."""
    problem = noisy_problem(2000, 4, ridge=1e-4, ranking=3.0)
    objective = Objective(problem)
    result = solve_keith(problem, tolerance=1e-8)
    error = objective.at(result.weights).error
    for place in range(problem.terms.count):
        for step in (-1e-3, 1e-3):
            moved = result.weights.copy()
            moved[place] += step
            assert objective.at(moved).error > error


def test_a_visit_sets_a_weight_to_its_best_at_once():
    """After one sweep the last weight visited has the value found by an independent search."""
    problem = noisy_problem(2000, 4, ridge=1e-4, ranking=3.0)
    objective, weights = Objective(problem), solve_keith(problem, max_passes=1).weights

    def error(last: float) -> float:
        return objective.at(np.append(weights[:-1], last)).error

    best = optimize.minimize_scalar(error, bracket=(weights[-1] - 0.1, weights[-1] + 0.1), tol=1e-9)
    assert weights[-1] == pytest.approx(best.x, abs=1e-3)
    assert error(weights[-1]) == pytest.approx(best.fun, rel=1e-7)


def test_keiths_descent_starts_from_nothing_and_its_first_sweep_gains_most():
    problem = noisy_problem(4000, 6)
    result = solve_keith(problem, max_passes=20)
    assert result.errors[0] == pytest.approx(Objective(problem).at(np.zeros(problem.terms.count)).error)
    gains = -np.diff(result.errors)
    assert gains[0] == gains.max()
    assert (gains > 0).all()
    assert result.weights.tobytes() == solve_keith(problem, max_passes=20).weights.tobytes()
