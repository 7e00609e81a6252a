"""What is weighted: a constant, every feature, and the products of chosen pairs of features.

The raw prediction is x = bias + sum w_i f_i + sum over pairs (i <= j) of w_ij f_i f_j.  A weight
vector holds the bias first, then `size` linear weights, then one weight a pair, in `pairs` order.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.runtime.errors import FitError
from motif.runtime.jit import kernel

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class SplitWeights(NamedTuple):
    """A weight vector taken apart."""

    bias: float
    linear: FloatArray
    """(size,) weights of the features."""
    quadratic: FloatArray
    """(number of pairs,) weights of the products, in the order of `Terms.pairs`."""


@kernel
def _expand(features, first, second, out):
    size = features.shape[1]
    for k in range(features.shape[0]):
        out[k, 0] = 1.0
        for i in range(size):
            out[k, 1 + i] = features[k, i]
        for p in range(len(first)):
            out[k, 1 + size + p] = features[k, first[p]] * features[k, second[p]]


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of a head with `size` features; `pairs` is (number of pairs, 2), i <= j in each.

    Raises `FitError` for a pair that is out of range, out of order or listed twice.
    """

    size: int
    pairs: IntArray
    first: IntArray = field(init=False)
    """(number of pairs,): the first feature of each pair."""
    second: IntArray = field(init=False)
    """(number of pairs,): the second feature of each pair."""

    def __post_init__(self) -> None:
        pairs = np.array(self.pairs, np.int64).reshape(-1, 2)
        _check_pairs(self.size, pairs)
        for name, values in (("pairs", pairs), ("first", pairs[:, 0].copy()), ("second", pairs[:, 1].copy())):
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    @classmethod
    def all_pairs(cls, size: int) -> "Terms":
        """Every pair (i, j) with i <= j, squares included: (0,0), (0,1), ... (size-1, size-1)."""
        return cls(size, np.column_stack(np.triu_indices(max(size, 0))))

    @classmethod
    def linear(cls, size: int) -> "Terms":
        """The constant and the features alone."""
        return cls(size, np.empty((0, 2), np.int64))

    @property
    def count(self) -> int:
        """Number of weights, the bias included."""
        return 1 + self.size + len(self.pairs)

    def split(self, weights: npt.ArrayLike) -> SplitWeights:
        """The parts of a weight vector (count,), which must have the right length."""
        vector = np.asarray(weights, np.float64)
        if vector.shape != (self.count,):
            raise FitError(
                f"{self.count} weights are needed for these terms, not an array of shape {vector.shape}"
            )
        end = 1 + self.size
        return SplitWeights(float(vector[0]), vector[1:end].copy(), vector[end:].copy())

    def expand(self, features: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The values of every term: features float32 (n, size) -> float32 (n, count).

        Large: call it on a few thousand rows at a time.
        """
        rows = np.ascontiguousarray(features, np.float32)
        if rows.ndim != 2 or rows.shape[1] != self.size:
            raise FitError(f"the terms need features of shape (n, {self.size}), not {rows.shape}")
        out = np.empty((len(rows), self.count), np.float32)
        _expand(rows, self.first, self.second, out)
        return out


def _check_pairs(size: int, pairs: IntArray) -> None:
    if size < 1:
        raise FitError(f"at least one feature is needed, not {size}")
    for i, j in pairs[(pairs[:, 0] < 0) | (pairs[:, 0] > pairs[:, 1]) | (pairs[:, 1] >= size)][:1]:
        raise FitError(f"the pair ({i}, {j}) must have 0 <= first <= second < {size}")
    unique, counts = np.unique(pairs, axis=0, return_counts=True)
    for i, j in unique[counts > 1][:1]:
        raise FitError(f"the pair ({i}, {j}) is listed twice")
