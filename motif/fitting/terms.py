"""The terms of a head: a constant, every feature, and products of selected pairs of features.

The raw prediction is x = bias + sum w_i f_i + sum over pairs (i <= j) of w_ij f_i f_j. A weight vector
consists of the bias, `size` linear weights, and one weight per pair in the order of `pairs`.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from motif.compiler.jit import kernel
from motif.runtime.arrays import Float32Array, FloatArray, IntArray
from motif.runtime.errors import FitError


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of a head with `size` features; `pairs` is (number of pairs, 2), i <= j in each."""

    size: int
    pairs: IntArray

    def __post_init__(self) -> None:
        pairs = np.array(self.pairs, np.int64).reshape(-1, 2)
        pairs.setflags(write=False)
        object.__setattr__(self, "pairs", pairs)

    @classmethod
    def all_pairs(cls, size: int) -> "Terms":
        """Return every pair (i, j) with i <= j, squares included: (0,0), (0,1), ... (size-1, size-1)."""
        return cls(size, np.column_stack(np.triu_indices(size)))

    @classmethod
    def linear(cls, size: int) -> "Terms":
        """Return only the constant and the features."""
        return cls(size, np.empty((0, 2), np.int64))

    @property
    def count(self) -> int:
        """Number of weights, including the bias."""
        return 1 + self.size + len(self.pairs)

    def split(self, weights: npt.ArrayLike) -> tuple[float, FloatArray, FloatArray]:
        """Return the bias, the linear weights (size,) and those of the `pairs` in a weight vector (count,).

        Raises `FitError` if the vector has another length.
        """
        vector = np.asarray(weights, np.float64)
        if vector.shape != (self.count,):
            raise FitError(
                f"{self.count} weights are needed for these terms, not an array of shape {vector.shape}"
            )
        return float(vector[0]), vector[1 : 1 + self.size].copy(), vector[1 + self.size :].copy()

    @cached_property
    def variables(self) -> tuple[IntArray, IntArray]:
        """Return the factors (count,) of each term: 0 for the constant 1, then the features in order."""
        single = np.arange(1 + self.size)
        first, second = self.pairs.T
        return np.concatenate([0 * single, 1 + first]), np.concatenate([single, 1 + second])

    def among(self, features: IntArray) -> tuple["Terms", IntArray]:
        """Return the terms of only the `features`, ascending numbers, and their places among all terms."""
        place = np.full(self.size, -1)
        place[features] = np.arange(len(features))
        pairs = np.flatnonzero((place[self.pairs] >= 0).all(axis=1))
        among = Terms(len(features), place[self.pairs[pairs]])
        return among, np.concatenate([[0], 1 + features, 1 + self.size + pairs])

    def expand(self, features: Float32Array, factors: npt.ArrayLike = 1.0) -> Float32Array:
        """Return the values of every term: features float32 (n, size) -> float32 (n, count).

        Rows are multiplied by `factors` (n,). The result is large: call this for a few thousand rows at
        a time.
        """
        rows = np.ascontiguousarray(features, np.float32)
        out = np.empty((len(rows), self.count), np.float32)
        by_row = np.array(np.broadcast_to(factors, len(rows)), np.float32)
        first, second = self.variables
        begins = np.flatnonzero((np.diff(first, prepend=-1) != 0) | (np.diff(second, prepend=-1) != 1))
        _expand(rows, by_row, first[begins], second[begins], np.append(begins, len(first)), out)
        return out


@kernel
def _expand(features, factors, first, second, begins, out):
    """Write the terms from each of `begins` to the next: one variable times consecutive other variables."""
    size = features.shape[1]
    variables = np.empty(1 + size, np.float32)
    variables[0] = 1.0
    for k in range(len(features)):
        for i in range(size):
            variables[1 + i] = features[k, i]
        for stretch in range(len(first)):
            begin, variable, start = begins[stretch], variables[first[stretch]], second[stretch]
            for p in range(begins[stretch + 1] - begin):
                out[k, begin + p] = (variable * variables[start + p]) * factors[k]
