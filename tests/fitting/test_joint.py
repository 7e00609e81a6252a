"""Weights of groups fitted together: planted ones, SciPy's minimum, what draws them to the common ones."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from motif.fitting import design, joint
from motif.fitting.gauss_newton import solve_gauss_newton
from motif.fitting.joint import solve_jointly
from motif.fitting.objective import Objective
from motif.fitting.problem import EQUITY, PROBABILITY, Problem
from motif.fitting.terms import Terms
from motif.runtime.errors import FitError
from tests.fitting.fitting_samples import (
    correlated_features,
    decision_ids,
    planted_weights,
    random_boards,
)
from tests.fitting.joint_reference import jacobian, joint_minimum, residuals

EXACT = {"max_passes": 100, "tolerance": 0.0}


def drawn_groups(count: int, shares: list[float], seed: int = 0) -> np.ndarray:
    """Groups 0, 1, ... and -1 last, each with about its share of the rows; decisions hold several."""
    numbers = [*range(len(shares) - 1), -1]
    return np.random.default_rng(seed).choice(numbers, count, p=shares)


def grouped_problem(
    terms: Terms, groups: np.ndarray, noise: float, **settings
) -> tuple[Problem, np.ndarray, np.ndarray]:
    """Labels that each group's own planted weights give; also those weights, and the common ones last."""
    count, rng = len(groups), np.random.default_rng(8)
    # Smooth features that are far from collinear: planted weights can be found again.
    features = rng.random((count, terms.size), np.float32)
    boards = random_boards(count) if terms.points else None
    planted = np.stack([planted_weights(terms, features, seed, boards) for seed in range(groups.max() + 2)])
    values = terms.expand(features, boards).astype(np.float64)
    raw = (values * planted[groups]).sum(axis=1)  # -1 is the last
    labels = np.clip(PROBABILITY.predict(raw) + noise * rng.standard_normal(count), 0, 1)
    problem = Problem(features, labels, terms, decisions=decision_ids(count), boards=boards, **settings)
    return problem, planted[:-1], planted[-1]


@pytest.mark.parametrize("ranking", [0.0, 5.0])
def test_planted_weights_of_every_group_are_recovered(ranking):
    groups = drawn_groups(6000, [0.5, 0.2, 0.1, 0.2])
    problem, planted, common = grouped_problem(Terms.all_pairs(4), groups, 0.0, ranking=ranking)
    result = solve_jointly(problem, groups, common, 0.0, max_passes=30)
    assert result.stopped == "converged"
    assert result.errors[-1] < 1e-12
    np.testing.assert_allclose(result.weights, planted, atol=0.01)


def test_planted_weights_of_points_are_recovered():
    """Points are collinear: other weights may give the same values."""
    groups, terms = drawn_groups(8000, [0.5, 0.3, 0.2]), Terms.all_pairs(3, points=True)
    problem, planted, common = grouped_problem(terms, groups, 0.0)
    result = solve_jointly(problem, groups, common, 0.0, max_passes=60, tolerance=1e-9)
    values = terms.expand(problem.features, problem.boards).astype(np.float64)
    for group in range(2):
        rows = groups == group
        reached, wanted = (values[rows] @ weights[group] for weights in (result.weights, planted))
        np.testing.assert_allclose(reached, wanted, atol=1e-3)


NOISY = [
    pytest.param(Terms.linear(4), {}, 0.0, id="groups alone"),
    pytest.param(Terms.all_pairs(3), {"ranking": 6.0}, 0.0, id="ranking across groups"),
    pytest.param(Terms.all_pairs(3), {"ranking": 6.0, "ridge": 1e-3}, 200.0, id="all that there is"),
    pytest.param(Terms.linear(4), {"ridge": 0.02}, 0.0, id="ridge"),
    pytest.param(Terms.linear(4), {"ranking": 4.0}, 1000.0, id="shrinkage"),
]


@pytest.mark.parametrize(("terms", "settings", "shrinkage"), NOISY)
def test_the_minimum_is_that_of_the_stated_error(monkeypatch, terms, settings, shrinkage):
    monkeypatch.setattr(joint, "_ROWS_PER_WEIGHT", 10**6)  # the pull from all rows
    count, rng = 300, np.random.default_rng(3)
    groups = drawn_groups(count, [0.5, 0.3, 0.2])
    weights = rng.integers(0, 4, count).astype(float)
    training = decision_ids(count) % 6 != 2
    problem, _, common = grouped_problem(
        terms, groups, 0.1, sample_weights=weights, training=training, **settings
    )
    of_train = groups[training]
    expected, error = joint_minimum(problem, of_train, common, shrinkage)
    result = solve_jointly(problem, of_train, common, shrinkage, **EXACT)
    assert result.errors[-1] == pytest.approx(error, rel=1e-7)
    assert result.errors[-1] == pytest.approx(
        np.sum(residuals(problem, of_train, common, shrinkage, result.weights) ** 2), rel=1e-6
    )
    assert error < 0.97 * result.errors[0]
    np.testing.assert_allclose(result.weights, expected, atol=2e-3)


def test_points_reach_a_minimum_too(monkeypatch):
    """Where the error is least its derivatives are 0."""
    monkeypatch.setattr(joint, "_ROWS_PER_WEIGHT", 10**6)
    groups = drawn_groups(600, [0.5, 0.3, 0.2])
    problem, _, common = grouped_problem(
        Terms.linear(2, points=True), groups, 0.1, ranking=3.0, ridge=1e-3, training=decision_ids(600) >= 10
    )
    of_train = groups[100:]
    result = solve_jointly(problem, of_train, common, 100.0, **EXACT)

    def gradient(weights: np.ndarray) -> np.ndarray:
        at = (problem, of_train, common, 100.0, weights)
        return jacobian(*at).T @ residuals(*at)

    first = gradient(np.tile(common, (2, 1)))
    assert np.abs(gradient(result.weights)).max() < 1e-4 * np.abs(first).max()


def test_rows_of_no_group_count_in_the_ranking_of_their_decision():
    """A play that cannot be fitted draws along the one that it is compared with.

    With r the residuals of the two, a^2 + b^2 + ranking * (a - b)^2 / 2 is least at
    a = b * ranking / (2 + ranking).
    """
    count, ranking = 400, 8.0
    groups = np.arange(count) % 2 - 1  # every other row
    common = np.array([0.3, 0.0])
    labels = np.where(groups == 0, 0.6, PROBABILITY.predict(common[0]) + 0.1)
    features = np.zeros((count, 1), np.float32)
    problem = Problem(features, labels, Terms.linear(1), decisions=np.arange(count) // 2, ranking=ranking)
    result = solve_jointly(problem, groups, common, 0.0, **EXACT)
    expected = 0.6 - 0.1 * ranking / (2 + ranking)
    assert PROBABILITY.predict(result.weights[0, 0]) == pytest.approx(expected, abs=1e-6)
    apart = solve_jointly(replace(problem, ranking=0.0), groups, common, 0.0, **EXACT)
    assert PROBABILITY.predict(apart.weights[0, 0]) == pytest.approx(0.6, abs=1e-6)


def test_one_group_of_all_rows_is_an_ordinary_fit():
    groups = np.zeros(2000, np.int64)
    problem, _, _ = grouped_problem(Terms.all_pairs(4), groups, 0.1, ranking=4.0)
    alone = solve_gauss_newton(problem, tolerance=1e-12)
    result = solve_jointly(problem, groups, np.zeros(problem.terms.count), 0.0, **EXACT)
    assert result.errors[-1] == pytest.approx(alone.history[-1].error, rel=1e-9)
    np.testing.assert_allclose(result.weights[0], alone.weights, atol=1e-3)


def test_shrinkage_goes_from_the_groups_to_the_common_weights():
    groups = drawn_groups(3000, [0.5, 0.3, 0.2])
    problem, _, common = grouped_problem(Terms.all_pairs(3), groups, 0.05, ranking=2.0)
    objective = Objective(problem)
    start = objective.at(common)
    apart = []
    for shrinkage in (0.0, 300.0, 30_000.0, 1e12):
        weights = solve_jointly(problem, groups, common, shrinkage, **EXACT).weights
        away = weights - common
        apart.append([float(a @ objective.curvature_product(start, a)) for a in away])
    assert (np.diff(apart, axis=0) < 0).all()
    assert np.max(apart[-1]) < 1e-6 * np.min(apart[0])


def test_the_pull_is_on_values_and_not_on_numbers():
    """A feature measured in another unit, with weights to match, changes no value."""
    groups, size = drawn_groups(2000, [0.5, 0.3, 0.2]), 3
    problem, _, common = grouped_problem(Terms.linear(size), groups, 0.1, ranking=2.0)
    unit = np.array([1.0, 8.0, 1.0, 0.25])
    scaled = replace(problem, features=(problem.features / unit[1:]).astype(np.float32))
    plain = solve_jointly(problem, groups, common, 500.0, **EXACT)
    other = solve_jointly(scaled, groups, common * unit, 500.0, **EXACT)
    assert other.errors[-1] == pytest.approx(plain.errors[-1], rel=1e-8)
    np.testing.assert_allclose(other.weights / unit, plain.weights, atol=1e-3)


def test_same_bytes_for_any_number_of_threads(monkeypatch):
    groups, terms = drawn_groups(2 * design.CHUNK_ROWS, [0.6, 0.25, 0.15]), Terms.all_pairs(4, points=True)
    features, boards = correlated_features(len(groups), 4), np.tile(random_boards(64), (len(groups) // 64, 1))
    planted = planted_weights(terms, features, boards=boards)
    labels = EQUITY.predict(terms.expand(features, boards).astype(np.float64) @ planted) + 0.2 * groups
    labels = np.clip(labels, -3, 3)
    problem = Problem(
        features, labels, terms, EQUITY, decisions=decision_ids(len(groups)),
        ridge=1e-4, ranking=5.0, boards=boards,
    )  # fmt: skip
    results = []
    for threads in (1, 2, 4):
        monkeypatch.setattr(design, "threads_here", lambda threads=threads: threads)
        results.append(solve_jointly(problem, groups, planted, 100.0, max_passes=2))
    for other in results[1:]:
        assert other.weights.tobytes() == results[0].weights.tobytes()
        assert other.errors == results[0].errors


def test_errors_tell_the_fit():
    groups = drawn_groups(2000, [0.5, 0.3, 0.2])
    problem, _, common = grouped_problem(Terms.all_pairs(4), groups, 0.1, ranking=4.0, ridge=1e-4)
    result = solve_jointly(problem, groups, common, 50.0)
    without_ridge = Objective(replace(problem, ridge=0.0)).at(common).error
    assert result.errors[0] == pytest.approx(without_ridge, rel=1e-12)
    assert all(after <= before for before, after in itertools.pairwise(result.errors))
    assert result.passes == len(result.errors) - 1 > 1
    assert (result.stopped, result.weights.shape) == ("converged", (2, problem.terms.count))
    short = solve_jointly(problem, groups, common, 50.0, max_passes=1)
    assert (short.stopped, short.errors) == ("pass limit", result.errors[:2])
    again = solve_jointly(problem, groups, result.weights[0], 1e12)
    assert again.stopped == "converged"


@pytest.mark.parametrize("shrinkage", [0.0, 100.0])
@pytest.mark.parametrize("points", [False, True])
def test_terms_that_never_occur_in_a_group_keep_the_common_weights(shrinkage, points):
    groups, terms = drawn_groups(2000, [0.6, 0.4, 0.0]), Terms.all_pairs(4, points)
    features, boards = correlated_features(2000, 4), random_boards(2000)
    features[groups == 0, 2] = 0
    # In group 1 two features occur, but never together: their product does not.
    either = (groups == 1) & (np.arange(2000) % 3 == 0)
    features[either, 0] = 0
    features[(groups == 1) & ~either, 1] = 0
    rng = np.random.default_rng(5)
    common = 0.3 * rng.standard_normal(terms.count)
    labels = PROBABILITY.predict(features[:, 0] - features[:, 3]) + 0.05 * rng.standard_normal(2000)
    labels = np.clip(labels, 0, 1)
    problem = Problem(features, labels, terms, decisions=decision_ids(2000), ranking=2.0, boards=boards)
    result = solve_jointly(problem, groups, common, shrinkage)
    assert np.isfinite(result.weights).all()
    assert result.errors[-1] < 0.2 * result.errors[0]
    if shrinkage == 0:
        silent = [1 + 2, *(5 + k for k, pair in enumerate(terms.pairs.tolist()) if 2 in pair)]
        np.testing.assert_allclose(result.weights[0, silent], common[silent], atol=1e-9)


def test_groups_of_one_row_and_of_none():
    groups = np.full(300, -1)
    groups[:200], groups[250] = 0, 2
    problem, _, common = grouped_problem(Terms.all_pairs(3), groups, 0.05, ranking=1.0, ridge=1e-4)
    result = solve_jointly(problem, groups, common, 20.0)
    assert result.weights.shape == (3, problem.terms.count)
    np.testing.assert_array_equal(result.weights[1], common)
    row = problem.terms.expand(problem.features)[250]
    before, after = (PROBABILITY.predict(row @ w) - problem.labels[250] for w in (common, result.weights[2]))
    assert abs(after) < abs(before)
    nothing = solve_jointly(problem, np.full(300, -1), common, 20.0)
    assert (nothing.weights.shape, nothing.stopped) == ((0, problem.terms.count), "converged")
    assert nothing.errors[-1] == nothing.errors[0] == pytest.approx(result.errors[0])


def test_bad_input_is_named():
    groups = drawn_groups(100, [0.5, 0.3, 0.2])
    problem, _, common = grouped_problem(Terms.linear(3), groups, 0.1)
    for bad in (groups[1:], groups.astype(float), groups - 1):
        with pytest.raises(FitError, match=r"one whole group number of -1 or more a training row \(100\)"):
            solve_jointly(problem, bad, common, 1.0)
    with pytest.raises(FitError, match=r"the common weights must hold 4 weights, not .* shape \(3,\)"):
        solve_jointly(problem, groups, common[1:], 1.0)
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(FitError, match=f"the shrinkage must be finite and at least 0, not {bad}"):
            solve_jointly(problem, groups, common, bad)
    with pytest.raises(FitError, match="the pass limit must be at least 1, not 0"):
        solve_jointly(problem, groups, common, 1.0, max_passes=0)
