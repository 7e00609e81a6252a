"""Terms, the products with their matrix, and the link.  The references are simple loops and NumPy."""

import numpy as np
import pytest

from motif.compiler.jit import kernel
from motif.fitting import design
from motif.fitting.curvature import centring, decision_chunks
from motif.fitting.design import raw_predictions, term_sums
from motif.fitting.problem import INVERSE_MARGIN, PROBABILITY, Link, fast_tanh
from motif.fitting.terms import Terms
from motif.runtime.errors import FitError
from tests.fitting.fitting_samples import EQUITY, correlated_features, planted_weights

SOME_PAIRS = np.array([[2, 4], [0, 0], [0, 3], [4, 4]])


@pytest.mark.parametrize("terms", [Terms.all_pairs(5), Terms.linear(5), Terms(5, SOME_PAIRS)])
def test_expand_is_the_obvious_loop(terms):
    features = correlated_features(40, 5)
    for row, values in zip(features, terms.expand(features), strict=True):
        products = [row[i] * row[j] for i, j in terms.pairs]
        assert values.tolist() == [1.0, *row, *products]


@pytest.mark.parametrize("terms", [Terms.all_pairs(5), Terms(5, SOME_PAIRS)])
def test_expanded_rows_are_multiplied_by_their_factors_last(terms):
    features, factors = correlated_features(40, 5), np.linspace(-1, 2, 40)
    expected = terms.expand(features) * factors.astype(np.float32)[:, None]
    assert (terms.expand(features, factors) == expected).all()


def test_counts_and_order():
    terms = Terms.all_pairs(3)
    assert terms.count == 1 + 3 + 6
    assert terms.pairs.tolist() == [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]]
    assert Terms.linear(3).count == 4


@pytest.mark.parametrize("kept", [[0], [1, 3], [0, 2, 4], [0, 1, 2, 3, 4]])
@pytest.mark.parametrize("terms", [Terms.all_pairs(5), Terms(5, SOME_PAIRS)])
def test_the_terms_of_some_features_are_among_all(terms, kept):
    features = correlated_features(40, 5)
    some, places = terms.among(np.array(kept))
    expanded = terms.expand(features)
    assert (some.expand(features[:, kept]) == expanded[:, places]).all()
    features[:, np.setdiff1d(np.arange(5), kept)] = 0
    others = np.setdiff1d(np.arange(terms.count), places)
    assert not terms.expand(features)[:, others].any()


def test_split_takes_a_weight_vector_apart():
    bias, linear, quadratic = Terms(2, [[0, 1]]).split([1, 2, 3, 4])
    assert (bias, linear.tolist(), quadratic.tolist()) == (1.0, [2.0, 3.0], [4.0])


@pytest.mark.parametrize("count", [1, 300, 2 * design._CHUNK_ROWS + 17])
@pytest.mark.parametrize("terms", [Terms.all_pairs(5), Terms.linear(5), Terms(5, SOME_PAIRS)])
def test_products_agree_with_the_expanded_matrix(terms, count):
    features = correlated_features(count, 5)
    matrix = terms.expand(features).astype(np.float64)
    rng = np.random.default_rng(1)
    weights, rows = rng.standard_normal(terms.count), rng.standard_normal(count)
    np.testing.assert_allclose(raw_predictions(terms, features, weights), matrix @ weights, atol=1e-6)
    np.testing.assert_allclose(term_sums(terms, features, rows), rows @ matrix, atol=1e-5 * count**0.5)
    squares = rows**2 @ matrix**2
    np.testing.assert_allclose(term_sums(terms, features, rows**2, power=2), squares, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("terms", [Terms.all_pairs(5), Terms.linear(5), Terms(5, SOME_PAIRS)])
def test_centring_turns_centred_terms_into_terms(terms):
    features = correlated_features(50, 5)
    means = features.mean(axis=0)
    centred = terms.expand(features - means).astype(np.float64) @ centring(terms, means)
    np.testing.assert_allclose(centred, terms.expand(features), atol=1e-6)


def test_products_are_the_same_bytes_for_any_number_of_threads(monkeypatch):
    features, terms = correlated_features(3 * design._CHUNK_ROWS, 5), Terms.all_pairs(5)
    weights = planted_weights(terms, features)
    answers = []
    for threads in (1, 4):
        monkeypatch.setattr(design, "threads_here", lambda threads=threads: threads)
        raw = raw_predictions(terms, features, weights)
        answers.append((raw.tobytes(), term_sums(terms, features, raw).tobytes()))
    assert answers[0] == answers[1]


def test_chunks_never_split_a_decision():
    starts = np.array([0, 3, 5, 20, 21, 22])
    assert list(decision_chunks(starts, 5)) == [(0, 2), (2, 3), (3, 5)]
    assert list(decision_chunks(starts, 100)) == [(0, 5)]


def test_a_weight_vector_of_another_length_is_named():
    with pytest.raises(FitError, match=r"4 weights are needed for these terms, not an array of shape \(3,\)"):
        Terms.linear(3).split(np.zeros(3))


@pytest.mark.parametrize("link", [PROBABILITY, EQUITY, Link(2.0, 2.5)])
def test_link_inverts(link):
    raw = np.linspace(-4, 4, 41)
    np.testing.assert_allclose(link.link(link.inverse_link(raw)), raw, atol=1e-9)
    assert (
        link.low
        < link.inverse_link(-5)
        < link.middle
        == link.inverse_link(0)
        < link.inverse_link(5)
        < link.high
    )


@pytest.mark.parametrize("link", [PROBABILITY, EQUITY])
def test_labels_on_the_bounds_stay_finite(link):
    ends = link.link([link.low - 1, link.low, link.high, link.high + 1])
    assert ends[0] == ends[1] == -ends[2] == -ends[3]
    assert abs(ends[0]) == pytest.approx(np.arctanh(1 - 2 * INVERSE_MARGIN))


def test_slope_is_the_derivative():
    raw, step = np.linspace(-3, 3, 31), 1e-6
    difference = (EQUITY.inverse_link(raw + step) - EQUITY.inverse_link(raw - step)) / (2 * step)
    np.testing.assert_allclose(EQUITY.slope(raw), difference, atol=1e-8)


def test_fast_tanh_is_tanh():
    @kernel
    def fast_tanh_of(values, out):
        for k in range(len(values)):
            out[k] = fast_tanh(values[k])

    values = np.concatenate([np.linspace(-14, 14, 400_001), [-1e300, 1e300, 0.0]])
    out = np.empty_like(values)
    fast_tanh_of(values, out)
    assert np.abs(out - np.tanh(values)).max() < 1e-9
    assert np.abs(out).max() <= 1
