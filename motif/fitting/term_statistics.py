"""What each term of a head does over a class's positions: how far it moves the raw sum, and around what.

A weight of a head with pairs says little by itself: what a feature adds depends on where the others
stand.  So each weight is also given as it would be with features measured from their means; a linear
weight is then the effect of its feature in an average position.  Pairs and points keep theirs.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motif.board.position import Board
from motif.fitting.curvature import centring
from motif.fitting.design import raw_predictions, term_sums
from motif.fitting.link import Link
from motif.fitting.terms import FloatArray, Terms
from motif.runtime.errors import FitError

_ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True, eq=False)
class TermStatistics:
    """Columns (count,) by term, in the order of a weight vector: bias, linear, pairs, points."""

    weights: FloatArray
    errors: FloatArray
    """Standard errors of the weights; NaN where nobody has computed them."""
    means: FloatArray
    """Of the term's value over the rows."""
    spreads: FloatArray
    """|weight| times the standard deviation of the term's value: how far the term moves the raw sum."""
    effects: FloatArray
    """The weights that go with features measured from their means."""
    effect_errors: FloatArray
    """Standard errors of the effects, or NaN."""
    deviations: FloatArray
    """Standard deviations of the terms' values, with features measured from their means."""
    slope: float
    """Mean of dy/dx over the rows: what a unit of the raw sum is worth in the head's value."""

    @property
    def z(self) -> FloatArray:
        """Weight / standard error; NaN where the error is not known, or 0."""
        return _ratio(self.weights, self.errors)

    @property
    def effect_z(self) -> FloatArray:
        """Effect / standard error of the effect, in the same way."""
        return _ratio(self.effects, self.effect_errors)

    @property
    def moves(self) -> FloatArray:
        """|effect| times deviation times slope: how far the term moves the head's value, in its unit."""
        return np.abs(self.effects) * self.deviations * self.slope


def term_statistics(
    terms: Terms,
    weights: FloatArray,
    link: Link,
    features: npt.NDArray[np.float32],
    boards: Board | None = None,
    sample_weights: FloatArray | None = None,
) -> TermStatistics:
    """The statistics of `weights` (count,) over rows of features (n, size), without standard errors.

    `boards` (n, 26) are needed for point terms, `sample_weights` (n,) are 1 when absent.
    """
    if len(features) == 0:
        raise FitError("statistics of terms need at least one position")
    shares = np.ones(len(features)) if sample_weights is None else sample_weights
    shares = shares / shares.sum()
    means = term_sums(terms, features, shares, boards=boards)
    squares = term_sums(terms, features, shares, 2, boards)
    spreads = np.abs(weights) * _deviations(means, squares)
    origin = feature_means(terms, means)
    sums, centred = np.zeros(terms.count), np.zeros(terms.count)
    for begin in range(0, len(features), _ROWS_AT_ONCE):
        rows = slice(begin, begin + _ROWS_AT_ONCE)
        here = features[rows] - origin.astype(np.float32)[: terms.size]
        seen = None if boards is None else boards[rows]
        sums += term_sums(terms, here, shares[rows], boards=seen)
        centred += term_sums(terms, here, shares[rows], 2, seen)
    raw = raw_predictions(terms, features, weights, boards=boards)
    unknown = np.full(terms.count, np.nan)
    return TermStatistics(
        weights=np.array(weights, np.float64),
        errors=unknown,
        means=means,
        spreads=spreads,
        effects=centring(terms, origin) @ weights,
        effect_errors=unknown,
        deviations=_deviations(sums, centred),
        slope=float(np.sum(shares * link.slope(raw))),
    )


def feature_means(terms: Terms, means: FloatArray) -> FloatArray:
    """From the means of all terms (count,): those of the features, and zeros for the points, which stay."""
    return np.concatenate([means[1 : 1 + terms.size], np.zeros(terms.count - terms.first_point)])


def _deviations(means: FloatArray, squares: FloatArray) -> FloatArray:
    return np.sqrt(np.maximum(squares - means**2, 0))


def _ratio(values: FloatArray, errors: FloatArray) -> FloatArray:
    return np.divide(values, errors, out=np.full(len(values), np.nan), where=errors > 0)
