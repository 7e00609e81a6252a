"""The ranking term: how the plays of one decision compare matters more than their common level.

The operator M = I + (sqrt(1 + strength) - 1) C acts on residuals and on the rows of their Jacobian
alike; C subtracts the (weighted) mean within each decision.  C is a projection, so
|M r|^2 = sum r^2 + strength * sum (r - mean)^2, and M^T M = I + strength C.

Rows carry sample weights as factors sqrt(weight).  In those units the weighted mean of a decision
is sum(root u) / sum(root^2), and centring takes root * mean off each row.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motif.fitting.terms import FloatArray, IntArray
from motif.runtime.jit import fast_kernel


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


@dataclass(frozen=True, eq=False)
class RankingOperator:
    """M for decisions of consecutive rows: decision d is rows starts[d] to starts[d + 1] - 1.

    `roots` (n,) are the square roots of the sample weights.  Strength 0 is the identity.
    """

    strength: float
    roots: FloatArray
    starts: IntArray

    def centred(self, values: FloatArray) -> FloatArray:
        """C u of a row vector (n,)."""
        out = np.empty_like(values)
        _centred(values, self.roots, self.starts, out)
        return out

    def apply(self, values: FloatArray) -> FloatArray:
        """M u of a row vector (n,)."""
        if self.strength == 0:
            return values
        return values + (np.sqrt(1 + self.strength) - 1) * self.centred(values)

    def apply_twice(self, values: FloatArray) -> FloatArray:
        """M^T M u of a row vector (n,)."""
        return values if self.strength == 0 else values + self.strength * self.centred(values)

    def apply_to_rows(self, matrix: npt.NDArray[np.floating]) -> None:
        """Replace a matrix (n, count) of rows by M times it, in place."""
        if self.strength == 0:
            return
        factor = matrix.dtype.type(np.sqrt(1 + self.strength) - 1)
        means = np.empty(matrix.shape[1], matrix.dtype)
        _stretch_rows(matrix, self.roots, self.starts, factor, means)

    def of_decisions(self, begin: int, end: int) -> "RankingOperator":
        """The operator of decisions `begin` to `end` - 1 alone, for their rows alone."""
        rows = slice(self.starts[begin], self.starts[end])
        starts = self.starts[begin : end + 1] - self.starts[begin]
        return RankingOperator(self.strength, self.roots[rows], starts)


def decision_starts(decisions: IntArray | None, count: int) -> IntArray:
    """First row of each run of equal ids, and the number of rows last; without ids, every row a run."""
    if decisions is None or count == 0:
        return np.arange(count + 1, dtype=np.int64)
    changes = np.flatnonzero(np.diff(decisions)) + 1
    return np.concatenate([[0], changes, [count]]).astype(np.int64)
