"""The numbers of an analysis, compared with independent computations."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motif.analysis.evaluator_analysis import (
    clusters,
    contributions,
    correlations,
    interactions,
    principal_components,
    slopes,
    variance_inflation,
)
from motif.evaluators.weight_file import HeadWeights


def made_head(rng: np.random.Generator, size: int, pairs: int) -> HeadWeights:
    rows, columns = np.triu_indices(size)
    chosen = np.sort(rng.permutation(len(rows))[:pairs])
    places = np.stack([rows[chosen], columns[chosen]], axis=1)
    weights = rng.normal(size=size).astype(np.float32), rng.normal(size=len(chosen)).astype(np.float32)
    return HeadWeights(0.25, weights[0], places, weights[1])


def raw_sum(head: HeadWeights, row: np.ndarray) -> float:
    """The formula as written, term by term."""
    total = head.bias
    for weight, value in zip(head.linear, row, strict=True):
        total += float(weight) * value
    for (i, j), weight in zip(head.pairs, head.quadratic, strict=True):
        total += float(weight) * row[i] * row[j]
    return total


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_slopes_are_finite_differences_and_contributions_add_up(seed, size):
    rng = np.random.default_rng(seed)
    head = made_head(rng, size, int(rng.integers(0, size * (size + 1) // 2 + 1)))
    rows = rng.normal(size=(4, size))
    linear, matrix = head.linear.astype(np.float64), interactions(head)
    found = slopes(rows, linear, matrix)
    step = 1e-5
    for row, slope in zip(rows, found, strict=True):
        for k in range(size):
            up, down = row.copy(), row.copy()
            up[k] += step
            down[k] -= step
            assert slope[k] == pytest.approx((raw_sum(head, up) - raw_sum(head, down)) / (2 * step), abs=1e-6)
    added = contributions(rows, linear, matrix)
    expected = [raw_sum(head, row) - head.bias for row in rows]
    np.testing.assert_allclose(added.sum(axis=1), expected, atol=1e-10)


def mixed(rng: np.random.Generator, count: int, size: int) -> np.ndarray:
    """Correlated features."""
    return rng.normal(size=(count, size)) @ rng.normal(size=(size, size)) + rng.normal(size=size)


def inflation_by_regression(features: np.ndarray, k: int) -> float:
    others = np.column_stack([np.delete(features, k, axis=1), np.ones(len(features))])
    fitted = others @ np.linalg.lstsq(others, features[:, k], rcond=None)[0]
    return features[:, k].var() / (features[:, k] - fitted).var()


def test_variance_inflation_is_that_of_regressions():
    features = mixed(np.random.default_rng(1), 400, 6)
    found = variance_inflation(correlations(features))
    np.testing.assert_allclose(found, [inflation_by_regression(features, k) for k in range(6)], rtol=1e-6)


def test_features_without_relation_have_a_factor_of_one():
    signs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]] * 5, np.float64)
    np.testing.assert_allclose(variance_inflation(correlations(signs)), 1)


def test_constants_and_exact_combinations_are_reported():
    rng = np.random.default_rng(2)
    plain = mixed(rng, 500, 4)
    # Measured in float32, so that the combination is exact except for rounding.
    total = (plain[:, 0] - 2 * plain[:, 1]).astype(np.float32)
    features = np.column_stack([plain, total, np.full(500, 0.25)]).astype(np.float32).astype(np.float64)
    found = variance_inflation(correlations(features))
    assert np.isinf(found[[0, 1, 4]]).all()
    assert np.isnan(found[5])
    # Features outside the combination have the same values as without the repetition.
    expected = [inflation_by_regression(features[:, :4], k) for k in (2, 3)]
    np.testing.assert_allclose(found[[2, 3]], expected, rtol=1e-3)


def test_correlations_know_constants():
    features = mixed(np.random.default_rng(3), 50, 3)
    features[:, 1] = 7
    found = correlations(features)
    assert np.isnan(found[1]).all()
    assert np.isnan(found[:, 1]).all()
    assert found[0, 2] == pytest.approx(np.corrcoef(features[:, 0], features[:, 2])[0, 1])
    assert found[0, 0] == 1


def test_principal_components_are_singular_vectors():
    features = mixed(np.random.default_rng(4), 300, 5)
    features = np.insert(features, 2, 1.5, axis=1)
    found = principal_components(features)
    free = [0, 1, 3, 4, 5]
    standard = (features[:, free] - features[:, free].mean(axis=0)) / features[:, free].std(axis=0)
    left, singular, _ = np.linalg.svd(standard, full_matrices=False)
    np.testing.assert_allclose(found.shares, singular**2 / (singular**2).sum(), atol=1e-12)
    for number in range(5):
        expected = [np.corrcoef(left[:, number], column)[0, 1] for column in standard.T]
        assert abs(found.loadings[number, free] @ expected) == pytest.approx(np.square(expected).sum())
        np.testing.assert_allclose(np.abs(found.loadings[number, free]), np.abs(expected), atol=1e-9)
    assert np.isnan(found.loadings[:, 2]).all()
    assert found.needed(1.0) == 5
    assert found.needed(float(found.shares[0])) == 1
    assert found.needed(float(found.shares[0]) + 1e-6) == 2


def test_features_that_go_together_are_side_by_side():
    rng = np.random.default_rng(5)
    sources = rng.normal(size=(300, 3))
    # Features 0, 3, 6 are equivalent, as are 1, 4, 7 (one with the opposite sign) and 2, 5; 8 is constant.
    features = np.column_stack([sources, -sources, sources[:, :2], np.ones(300)])
    features[:, :8] += rng.normal(scale=0.1, size=(300, 8))
    found = clusters(correlations(features))
    assert sorted(found.order) == list(range(8))
    groups = [k % 3 for k in found.order]
    assert sum(a != b for a, b in pairwise(groups)) == 2
    assert len(found.branches) == 7
    for places, distances in found.branches:
        assert len(places) == len(distances) == 4
        assert 0 <= min(places) <= max(places) <= 7
        assert 0 <= min(distances) <= max(distances) <= 1


def test_a_single_feature_is_its_own_cluster():
    found = clusters(correlations(np.column_stack([np.ones(5), np.arange(5.0)])))
    assert (found.order, found.branches) == ((1,), ())
