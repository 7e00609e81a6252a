"""Pruning with planted weights: real terms are kept, others are dropped."""

from dataclasses import replace

import numpy as np
import pytest

from motif.fitting.gauss_newton import solve_gauss_newton
from motif.fitting.problem import PROBABILITY, Problem
from motif.fitting.significance import significance
from motif.fitting.solvers import SOLVERS, pruned
from motif.fitting.terms import Terms
from tests.fitting.fitting_samples import decision_ids

_SIZE = 6
_PLANTED = ((0, 1), (2, 5), (3, 3))


def _problem(count: int = 4000, seed: int = 0, **settings) -> Problem:
    """Labels that depend on three of the 21 pairs, in games of 50 rows, the last fifth for validation."""
    rng = np.random.default_rng(seed)
    features = rng.random((count, _SIZE), np.float32)
    raw = sum(features[:, i] * features[:, j] for i, j in _PLANTED) - 0.8 * features.sum(axis=1) + 1.5
    labels = PROBABILITY.inverse_link(raw) + 0.05 * rng.standard_normal(count)
    labels += 0.05 * rng.standard_normal(count)[decision_ids(count)]
    labels = np.clip(labels, 0, 1)
    training = np.arange(count) < 0.8 * count
    return Problem(
        features, labels, Terms.all_pairs(_SIZE), decisions=decision_ids(count), training=training, **settings
    )


@pytest.mark.parametrize("method", sorted(SOLVERS))
def test_planted_pairs_stay_and_noise_goes(method):
    problem = _problem()
    fit = SOLVERS[method](problem)
    terms, result = pruned(problem, fit, decision_ids(4000) // 5)
    pairs = set(map(tuple, terms.pairs.tolist()))
    assert set(_PLANTED) <= pairs
    assert len(pairs) <= len(_PLANTED) + 3  # one in twenty of the 18 others passes by chance
    assert terms.size == _SIZE
    assert result.method == method
    assert result.weights.shape == (terms.count,)
    assert result.rmse_train >= fit.rmse_train
    assert result.rmse_validation < fit.rmse_validation  # the dropped terms were noise


def test_what_is_left_has_earned_its_place():
    problem = _problem(seed=1)
    terms, result = pruned(problem, solve_gauss_newton(problem), z=3.0)
    left = replace(problem, terms=terms)
    z = significance(left, result.weights).z[1 + _SIZE :]
    assert (np.abs(z) >= 3).all()
    again = solve_gauss_newton(left)
    assert result.history[-1].error == pytest.approx(again.history[-1].error, rel=1e-5)


def test_nothing_to_drop_changes_nothing():
    problem = _problem()
    fit = solve_gauss_newton(problem)
    assert pruned(problem, fit, z=0)[1] is fit
    linear = replace(problem, terms=Terms.linear(_SIZE))
    fit = solve_gauss_newton(linear)
    assert pruned(linear, fit) == (linear.terms, fit)
