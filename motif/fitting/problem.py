"""The problem of one fit: samples, terms, link and settings of the error, which are checked once.

The inverse of the link maps a raw prediction x to a value y = low + (high - low) (tanh(x) + 1) / 2. Source:
Tom Keith, "How Motif Works" (2004), with low = 0 and high = 1. The tests compare it with `numpy.tanh`.

The ranking term weights differences between the plays of a decision more than their common level. Its
operator M = I + (sqrt(1 + strength) - 1) C acts on residuals and on the rows of their Jacobian; C subtracts
the (weighted) mean within each decision. C is a projection, so |M r|^2 = sum r^2 + strength * sum (r -
mean)^2, and M^T M = I + strength C.

Rows carry sample weights as factors sqrt(weight). In those units the weighted mean of a decision is sum(root
u) / sum(root^2), and centring subtracts root * mean from each row.
"""

from dataclasses import dataclass, field
from functools import cache

import numpy as np
import numpy.typing as npt

from motif.compiler.jit import fast_kernel, inline_kernel
from motif.evaluators.probabilities import bounds
from motif.fitting.terms import Terms
from motif.runtime.arrays import BoolArray, Float32Array, FloatArray, IntArray
from motif.runtime.errors import FitError

MAX_FEATURE = 1e6
"""Limit of features, so that products of two are well within the range of float32."""
_ROWS_AT_ONCE = 1 << 16
"""Rows checked at once."""

INVERSE_MARGIN = 1e-4
"""`Link.link` keeps values at least this fraction of the range away from both bounds."""

ROUNDING = 1e-6
"""Share of its range by which a label may exceed the bounds, because of rounded float32 sums."""

# tanh(x) = x P(x^2) / Q(x^2): motif's own minimax fit on |x| <= 11 (Lawson's method: least squares,
# reweighted by the error until the error is level). The error is below 1e-9 for all x.
_TANH_END = 11.0
_P0, _P1, _P2 = 0.9999999980137678, 0.14019297588181193, 0.004320104545534787
_P3, _P4, _P5 = 3.960278697506042e-05, 9.651177900116487e-08, 2.8229579517751938e-11
_Q1, _Q2, _Q3 = 0.4735263007016712, 0.028828882068148497, 0.0004806370580075586
_Q4, _Q5 = 2.3603672052996284e-06, 2.4250811873614855e-09


@inline_kernel
def fast_tanh(x):
    """Return the hyperbolic tangent within 1e-9, without branches or calls, so that loops vectorise."""
    x = min(max(x, -_TANH_END), _TANH_END)
    s = x * x
    numerator = _P0 + s * (_P1 + s * (_P2 + s * (_P3 + s * (_P4 + s * _P5))))
    return x * numerator / (1.0 + s * (_Q1 + s * (_Q2 + s * (_Q3 + s * (_Q4 + s * _Q5)))))


@dataclass(frozen=True)
class Link:
    """The link of one head; `low` and `high` are the bounds of its values."""

    low: float = 0.0
    high: float = 1.0

    @property
    def half_range(self) -> float:
        """Half the distance between the bounds: the slope at x = 0."""
        return (self.high - self.low) / 2

    @property
    def middle(self) -> float:
        """The value at x = 0."""
        return (self.high + self.low) / 2

    @property
    def bounds_text(self) -> str:
        """The bounds in words: "0 to 1"."""
        return f"{self.low:g} to {self.high:g}"

    def covers(self, values: npt.ArrayLike) -> BoolArray:
        """Return which values are within the bounds, or outside only by float32 rounding."""
        slack = ROUNDING * (self.high - self.low)
        array = np.asarray(values)
        return (array >= self.low - slack) & (array <= self.high + slack)

    def inverse_link(self, raw: npt.ArrayLike) -> FloatArray:
        """Return the values y of raw predictions, in their shape."""
        return self.middle + self.half_range * np.tanh(np.asarray(raw, np.float64))

    def slope(self, raw: npt.ArrayLike) -> FloatArray:
        """Return dy/dx at raw predictions, in their shape."""
        return self.half_range * (1 - np.tanh(np.asarray(raw, np.float64)) ** 2)

    def link(self, values: npt.ArrayLike) -> FloatArray:
        """Return finite raw predictions for `values`.

        Values closer to a bound than `INVERSE_MARGIN` of the range are moved to that distance, so |x| <=
        4.61; otherwise a label of exactly 0 or 1 would be infinite.
        """
        tangent = (np.asarray(values, np.float64) - self.middle) / self.half_range
        end = 1 - 2 * INVERSE_MARGIN
        return np.arctanh(np.clip(tangent, -end, end))


@cache
def link_of(head: str) -> Link:
    """Return the link of the head called `head`: of a probability, or of cubeless money equity in points."""
    return Link(*bounds(head))


PROBABILITY = link_of("win")
"""The link of a probability."""


@dataclass(frozen=True, eq=False)
class FitRows:
    """The samples of one side, training or validation; n may be 0."""

    features: Float32Array
    """(n, size): features, contiguous by row."""
    labels: FloatArray
    """(n,)"""
    sample_weights: FloatArray
    """(n,)"""
    starts: IntArray
    """First row of each decision, with n last."""

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class Problem:
    """A fitting problem.

    Every solver minimises over the weights w

        sum s (y - label)^2 / sum s  +  ridge * |w|^2  +  ranking term

    over the training rows, where s are the sample weights; the ridge excludes the bias. The sums over samples
    are means, so a ridge has the same meaning for any number of samples (1e-6 to 1e-4 is mild for features of
    about 0 to 1), and the error without ridge and ranking is the squared RMSE. The ranking term is ranking *
    sum s (r - mean)^2 / sum s, where r = y - label and the mean is over each decision: differences between
    the plays of a decision count 1 + ranking times.

    features: (n, size), kept as float32. labels: (n,), within the link's bounds, except for rounding.
    sample_weights: (n,), at least 0; 1 by default. decisions: (n,) ids, equal for the candidate plays of one
    decision, whose rows are consecutive; only the ranking term needs them. training: (n,) of bool, at least
    one of them true; the other rows are for validation. By default all rows are for training.

    Raises `FitError`, which names the row, for a feature or label out of range and for the rows of a decision
    that are not consecutive. Arrays are not modified.
    """

    features: Float32Array
    labels: FloatArray
    terms: Terms
    link: Link = PROBABILITY
    sample_weights: FloatArray | None = None
    decisions: IntArray | None = None
    training: BoolArray | None = None
    ridge: float = 0.0
    ranking: float = 0.0
    train: FitRows = field(init=False)
    validation: FitRows = field(init=False)

    def __post_init__(self) -> None:
        features, labels = _checked_features(self.features), np.asarray(self.labels, np.float64)
        for row in np.flatnonzero(~self.link.covers(labels))[:1]:
            raise FitError(f"the label of row {row} is {labels[row]}: it must be {self.link.bounds_text}")
        count = len(features)
        weights = np.ones(count) if self.sample_weights is None else self.sample_weights
        if self.decisions is not None:
            _check_decisions(self.decisions)
        training = np.ones(count, np.bool_) if self.training is None else self.training
        for name, mask in (("train", training), ("validation", ~training)):
            object.__setattr__(self, name, _rows(features, labels, weights, self.decisions, mask))


@dataclass(frozen=True, eq=False)
class RankingOperator:
    """The operator M for decisions of consecutive rows, starts[d] to starts[d + 1] - 1 for decision d.

    `roots` (n,) are the square roots of the sample weights. Strength 0 is the identity.
    """

    strength: float
    roots: FloatArray
    starts: IntArray

    def centred(self, values: FloatArray) -> FloatArray:
        """Return C u for a row vector (n,)."""
        out = np.empty_like(values)
        _centred(values, self.roots, self.starts, out)
        return out

    def apply(self, values: FloatArray) -> FloatArray:
        """Return M u for a row vector (n,)."""
        if self.strength == 0:
            return values
        return values + (np.sqrt(1 + self.strength) - 1) * self.centred(values)

    def apply_twice(self, values: FloatArray) -> FloatArray:
        """Return M^T M u for a row vector (n,)."""
        return values if self.strength == 0 else values + self.strength * self.centred(values)

    def apply_to_rows(self, matrix: npt.NDArray[np.floating]) -> None:
        """Replace a matrix (n, count) of rows by M times it, in place."""
        if self.strength == 0:
            return
        factor = matrix.dtype.type(np.sqrt(1 + self.strength) - 1)
        means = np.empty(matrix.shape[1], matrix.dtype)
        _stretch_rows(matrix, self.roots, self.starts, factor, means)

    def of_decisions(self, begin: int, end: int) -> "RankingOperator":
        """Return the operator of decisions `begin` to `end` - 1, for their rows only."""
        rows = slice(self.starts[begin], self.starts[end])
        starts = self.starts[begin : end + 1] - self.starts[begin]
        return RankingOperator(self.strength, self.roots[rows], starts)


def decision_starts(decisions: IntArray | None, count: int) -> IntArray:
    """Return the first row of each run of equal ids, and the number of rows last; without ids, every row."""
    if decisions is None or count == 0:
        return np.arange(count + 1, dtype=np.int64)
    changes = np.flatnonzero(np.diff(decisions)) + 1
    return np.concatenate([[0], changes, [count]]).astype(np.int64)


def compact(rows: IntArray) -> slice | IntArray:
    """Return consecutive rows as a slice, which avoids large copies; other rows unchanged."""
    together = len(rows) > 0 and rows[-1] - rows[0] == len(rows) - 1
    return slice(rows[0], rows[-1] + 1) if together else rows


def _checked_features(features: npt.ArrayLike) -> Float32Array:
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(features, np.float32)
    for begin in range(0, len(array), _ROWS_AT_ONCE):
        usable = np.abs(array[begin : begin + _ROWS_AT_ONCE]) <= MAX_FEATURE  # False for NaN too
        if not usable.all():
            row, column = np.argwhere(~usable)[0] + (begin, 0)
            value = array[row, column]
            reason = "scale features to about 0 to 1" if np.isfinite(value) else "it must be finite"
            raise FitError(f"feature {column} of row {row} is {value}: {reason}")
    return array


def _check_decisions(ids: IntArray) -> None:
    firsts = decision_starts(ids, len(ids))[:-1]
    unique, first_runs = np.unique(ids[firsts], return_index=True)
    if len(unique) < len(firsts):
        row = firsts[np.setdiff1d(np.arange(len(firsts)), first_runs)[0]]
        raise FitError(
            f"decision {ids[row]} appears again in row {row}: the rows of a decision must be consecutive"
        )


def _rows(
    features: Float32Array,
    labels: FloatArray,
    weights: FloatArray,
    decisions: IntArray | None,
    mask: BoolArray,
) -> FitRows:
    which = compact(np.flatnonzero(mask))
    ids = None if decisions is None else decisions[which]
    starts = decision_starts(ids, int(np.count_nonzero(mask)))
    return FitRows(features[which], labels[which], weights[which], starts)


@fast_kernel
def _centred(values, roots, starts, out):
    for d in range(len(starts) - 1):
        total, weight = 0.0, 0.0
        for k in range(starts[d], starts[d + 1]):
            total += roots[k] * values[k]
            weight += roots[k] * roots[k]
        mean = total / weight if weight > 0.0 else 0.0
        for k in range(starts[d], starts[d + 1]):
            out[k] = values[k] - roots[k] * mean


@fast_kernel
def _stretch_rows(matrix, roots, starts, factor, means):
    for d in range(len(starts) - 1):
        weight = 0.0
        means[:] = 0.0
        for k in range(starts[d], starts[d + 1]):
            weight += roots[k] * roots[k]
            root = means.dtype.type(roots[k])
            for i in range(matrix.shape[1]):
                means[i] += root * matrix[k, i]
        for k in range(starts[d], starts[d + 1]):
            share = means.dtype.type(roots[k] / weight if weight > 0.0 else 0.0)
            for i in range(matrix.shape[1]):
                matrix[k, i] += factor * (matrix[k, i] - share * means[i])
