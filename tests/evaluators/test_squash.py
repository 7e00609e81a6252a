import numpy as np
import pytest

from motif.compiler.jit import kernel
from motif.evaluators.probabilities import EQUITY_BOUND, equity_to_raw, squash_probability
from motif.fitting.problem import link_of


@kernel
def _squashed(raw):
    return np.array([squash_probability(x) for x in raw])


@kernel
def _raw(equities):
    return np.array([equity_to_raw(e) for e in equities])


def test_players_and_fits_use_the_same_tanh():
    raw = np.linspace(-6, 6, 101)
    assert _squashed(raw) == pytest.approx(link_of("win").inverse_link(raw), abs=1e-12)


def test_equity_to_raw_inverts_the_equity_link():
    raw = np.linspace(-6, 6, 101)
    assert _raw(link_of("equity").inverse_link(raw)) == pytest.approx(raw, abs=1e-6)


def test_certain_equities_stay_finite_and_in_order():
    points = np.array([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0])
    raw = _raw(points)
    assert np.isfinite(raw).all()
    assert (np.diff(raw) > 0).all()
    assert EQUITY_BOUND == 3
