"""Failing fits report the reason: wrong directions, non-finite numbers, saturation, separable labels."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from motif.fitting import coordinate, gauss_newton, keith_descent, least_squares
from motif.fitting.coordinate import solve_coordinate
from motif.fitting.gauss_newton import solve_gauss_newton
from motif.fitting.objective import Objective, gradient_bound, starting_weights
from motif.fitting.problem import PROBABILITY, Problem
from motif.fitting.solvers import SOLVERS
from motif.fitting.terms import Terms
from tests.fitting.fitting_samples import EQUITY, correlated_features, exact_problem, noisy_problem

Change = Callable[[np.ndarray], np.ndarray]
every_solver = pytest.mark.parametrize("method", SOLVERS)
REVERSED = np.negative


def lost(values: np.ndarray) -> np.ndarray:
    """The same values with one replaced by NaN."""
    changed = np.array(values)
    changed.flat[-1] = np.nan
    return changed


def spoil(monkeypatch: pytest.MonkeyPatch, method: str, change: Change, healthy: int = 0) -> None:
    """Make a solver's steps go through `change` after `healthy` passes."""
    passes = iter(range(10**6))

    def spoiled(step: np.ndarray) -> np.ndarray:
        return change(step) if next(passes) >= healthy else step

    {
        "gauss-newton": _spoil_gauss_newton,
        "coordinate": _spoil_coordinate,
        "keith": _spoil_keith,
        "least-squares": _spoil_least_squares,
    }[method](monkeypatch, spoiled)


def _spoil_gauss_newton(monkeypatch: pytest.MonkeyPatch, change: Change) -> None:
    real = gauss_newton._direction

    def direction(*arguments):
        found, inner = real(*arguments)
        return change(found), inner

    monkeypatch.setattr(gauss_newton, "_direction", direction)


def _spoil_coordinate(monkeypatch: pytest.MonkeyPatch, change: Change) -> None:
    real = coordinate._CoordinateState._combined

    def combined(*arguments):
        step = real(*arguments)
        return step._replace(weights=change(step.weights))

    monkeypatch.setattr(coordinate._CoordinateState, "_combined", combined)


def _spoil_keith(monkeypatch: pytest.MonkeyPatch, change: Change) -> None:
    real = keith_descent._sweep

    def sweep(*arguments):
        *_, weights, raw = arguments
        before = weights.copy(), raw.copy()
        real(*arguments)
        healthy = np.concatenate([weights - before[0], raw - before[1]])
        if (steps := change(healthy)) is healthy:
            return  # adding the difference again would round
        weights[:], raw[:] = before[0] + steps[: len(weights)], before[1] + steps[len(weights) :]

    monkeypatch.setattr(keith_descent, "_sweep", sweep)


def _spoil_least_squares(monkeypatch: pytest.MonkeyPatch, change: Change) -> None:
    """SciPy computes the step, so the Jacobian of a pass is spoiled."""
    for name in ("_changes", "_sums"):
        real = getattr(least_squares._Passes, name)
        monkeypatch.setattr(
            least_squares._Passes, name, lambda self, v, real=real: self._checked(change(real(self, v)))
        )


@every_solver
def test_a_reversed_direction_is_no_convergence(method, monkeypatch):
    spoil(monkeypatch, method, REVERSED)
    problem = noisy_problem(3000, 5)
    result = SOLVERS[method](problem)
    assert result.stopped == (
        "line search failed" if method == "least-squares" else "not a descent direction"
    )
    assert not result.is_usable
    # Only the initial weights.
    assert result.errors[-1] == result.errors[0]


@every_solver
def test_a_direction_that_is_not_finite_is_no_convergence(method, monkeypatch):
    spoil(monkeypatch, method, lost)
    result = SOLVERS[method](noisy_problem(3000, 5))
    assert (result.stopped, result.is_usable) == ("not finite", False)
    assert np.isfinite(result.weights).all()


@pytest.mark.parametrize("change", [REVERSED, lost], ids=["reversed", "lost"])
@pytest.mark.parametrize("method", ["coordinate", "gauss-newton", "keith"])
def test_what_was_fitted_before_the_failure_is_kept(method, change, monkeypatch):
    problem = noisy_problem(3000, 5)
    whole = SOLVERS[method](problem, max_passes=3)
    spoil(monkeypatch, method, change, healthy=3)
    result = SOLVERS[method](problem)
    assert result.stopped in ("not a descent direction", "not finite")
    assert result.is_usable
    assert result.passes == 4
    assert (result.weights == whole.weights).all()


@pytest.mark.parametrize("method", ["coordinate", "gauss-newton"])
def test_a_direction_that_only_looks_right_fails_in_the_line_search(method, monkeypatch):
    """The error rises along it although its slope is negative."""
    at = Objective.at_raw

    def wrong(self, weights, raw):
        point = at(self, weights, raw)
        away = np.abs(weights - starting_weights(self.problem, None)).sum()
        return replace(point, error=point.error + away)

    monkeypatch.setattr(Objective, "at_raw", wrong)
    monkeypatch.setattr(Objective, "at", lambda self, w: wrong(self, w, self._raw(w)))
    result = SOLVERS[method](noisy_problem(3000, 5))
    assert (result.stopped, result.is_usable) == ("line search failed", False)


@pytest.mark.parametrize("bias", [50.0, -50.0, 12.0])
@every_solver
def test_a_saturated_start_is_no_convergence(method, bias):
    features = correlated_features(2000, 4)
    labels = np.clip(0.1 + 0.1 * features[:, 0], 0, 1) if bias > 0 else 0.9 - 0.1 * features[:, 0]
    terms = Terms.all_pairs(4)
    start = np.zeros(terms.count)
    start[0] = bias
    problem = Problem(features, labels, terms)
    result = SOLVERS[method](problem, start=start)
    assert (result.stopped, result.is_usable) == ("saturated", False)
    assert SOLVERS[method](problem, tolerance=1e-4).stopped == "converged"


@every_solver
def test_failures_at_a_minimum_are_convergence(method, monkeypatch):
    """Where the gradient is small, no step can gain anything."""
    problem = noisy_problem(3000, 5, ridge=1e-4)
    weights = SOLVERS["gauss-newton"](problem, tolerance=1e-9).weights
    spoil(monkeypatch, method, REVERSED)
    result = SOLVERS[method](problem, start=weights)
    assert (result.stopped, result.is_usable) == ("converged", True)


@every_solver
def test_whatever_has_converged_has_a_small_gradient(method):
    for tolerance in (1e-3, 1e-5):
        problem = noisy_problem(3000, 6, link=EQUITY, ridge=1e-4)
        result = SOLVERS[method](problem, tolerance=tolerance)
        objective = Objective(problem)
        assert result.stopped == "converged"
        steepness = objective.steepness(result.weights, objective.at(result.weights))
        assert steepness <= gradient_bound(tolerance)


def test_linear_passes_that_gain_nothing_are_no_convergence():
    """A label that is the product of two features: linear weights do not help."""
    signs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]], np.float32)
    features = np.tile(signs, (500, 1))
    labels = PROBABILITY.inverse_link(0.7 * features[:, 0] * features[:, 1])
    for method, solve in SOLVERS.items():
        result = solve(Problem(features, labels, Terms.all_pairs(2)))
        assert result.stopped == "converged", method
        assert result.rmse_train < 1e-3, method


@every_solver
def test_separable_labels_name_the_weight_that_grows(method):
    features = correlated_features(2000, 3)
    features[:, 1] = np.arange(2000) % 2
    problem = Problem(features, features[:, 1].astype(float), Terms.linear(3))
    result = SOLVERS[method](problem)
    assert result.diverging == 2
    assert abs(result.weights[2]) > 10
    # A tiny ridge does not limit the weight.
    assert SOLVERS[method](replace(problem, ridge=1e-12)).diverging == 2
    held = SOLVERS[method](replace(problem, ridge=1e-3))
    assert held.diverging is None
    assert abs(held.weights[2]) < 10


def test_a_weight_of_a_few_rows_that_grows_is_named():
    """Only the rows with the feature are certain; the rest remain noisy."""
    problem = noisy_problem(3000, 4)
    features = np.concatenate([problem.features, np.zeros((3000, 1), np.float32)], axis=1)
    features[::50, 4] = 1
    labels = problem.labels.copy()
    labels[::50] = 1.0
    objective = Objective(Problem(features, labels, Terms.linear(5)))
    weights = SOLVERS["gauss-newton"](objective.problem).weights
    assert objective.diverging_weight(weights, objective.at(weights)) is None
    weights[5] = 25_000
    assert objective.diverging_weight(weights, objective.at(weights)) == 5


@every_solver
def test_large_weights_of_planted_or_collinear_terms_are_no_divergence(method):
    problem, _ = exact_problem(2000, 3)
    assert SOLVERS[method](problem, max_passes=200).diverging is None
    features = correlated_features(2000, 3)
    features[:, 2] = features[:, 1] + 1e-3 * np.random.default_rng(0).standard_normal(2000)
    labels = PROBABILITY.inverse_link(features @ [0.3, -20.0, 20.0])
    twins = Problem(features, labels, Terms.linear(3))
    result = SOLVERS[method](twins, max_passes=200)
    assert result.diverging is None


def test_the_solvers_stay_those_of_the_table():
    assert SOLVERS["coordinate"] is solve_coordinate
    assert SOLVERS["gauss-newton"] is solve_gauss_newton
