"""Curvature from sums of products of four features, compared with that from every product of terms."""

import numpy as np
import pytest

from motif.fitting import curvature, design
from motif.fitting.curvature import centres, centring, curvature_over, moment_curvature, sums_needed
from motif.fitting.problem import Problem, RankingOperator
from motif.fitting.terms import Terms
from tests.fitting.fitting_samples import correlated_features

SOME = [[0, 3], [1, 1], [2, 6], [6, 6]]


@pytest.mark.parametrize("group", [1, 20, 1000])
@pytest.mark.parametrize("terms", [Terms.all_pairs(7), Terms(7, SOME), Terms.linear(3), Terms.all_pairs(1)])
def test_it_is_the_curvature_of_the_terms(terms, group, monkeypatch):
    monkeypatch.setattr(curvature, "_MIN_COLUMNS", group)
    count, rng = 5000, np.random.default_rng(1)
    problem = Problem(correlated_features(count, terms.size), np.zeros(count), terms)
    rows = np.flatnonzero(rng.random(count) < 0.9)
    factors = rng.random(len(rows))
    means = centres(terms, problem.train, np.ones(count))
    plain = RankingOperator(0.0, np.ones(len(rows)), np.arange(len(rows) + 1))
    found = moment_curvature(terms, problem.train, rows, factors, means)
    expected = curvature_over(terms, problem.train, rows, factors, plain, means)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6 * np.abs(expected).max())
    transform = centring(terms, means)
    of_terms, expected_of_terms = (transform.T @ each @ transform for each in (found, expected))
    np.testing.assert_allclose(of_terms, expected_of_terms, rtol=1e-4, atol=1e-4)
    assert (found == found.T).all()


def test_few_of_the_products_are_enough():
    triangles = {size: Terms.all_pairs(size).count ** 2 / 2 for size in (30, 70, 100)}
    assert sums_needed(30) < triangles[30]
    assert sums_needed(70) < 0.45 * triangles[70]
    assert sums_needed(100) < 0.4 * triangles[100]


def test_same_bytes_for_any_number_of_threads(monkeypatch):
    count, terms = 3 * design._CHUNK_ROWS, Terms.all_pairs(6)
    problem = Problem(correlated_features(count, 6), np.zeros(count), terms)
    means, found = centres(terms, problem.train, np.ones(count)), set()
    for threads in (1, 2, 4):
        monkeypatch.setattr(design, "threads_here", lambda threads=threads: threads)
        found.add(moment_curvature(terms, problem.train, np.arange(count), np.ones(count), means).tobytes())
    assert len(found) == 1
