"""A calibration as kernels read it: a rising, piecewise linear map from raw sum to raw sum.

Knots are float64 (k, 2), rising in both columns: a raw sum, and the raw sum of the chance that it really
stands for.  Between two knots the map is a straight line; beyond the first and the last it keeps their
shift, so that it rises everywhere and never makes two different chances one.  Rows after the last knot
are infinite, where tables of several classes have one length.
"""

import numpy as np

from motif.evaluators.squash import probability_to_raw, squash_probability
from motif.runtime.jit import inline_kernel, kernel


@inline_kernel
def calibrated(knots, raw):
    """What the map makes of one raw sum."""
    last = 0
    while last + 1 < knots.shape[0] and knots[last + 1, 0] <= raw:
        last += 1
    start, value = knots[last, 0], knots[last, 1]
    if raw <= start or last + 1 == knots.shape[0] or knots[last + 1, 0] == np.inf:
        return raw + (value - start)
    return value + (raw - start) / (knots[last + 1, 0] - start) * (knots[last + 1, 1] - value)


@kernel
def raw_sums(chances):
    """The raw sums float64 (n,) of win chances float64 (n,); about plus or minus 15 at 0 and 1."""
    found = np.empty(chances.shape[0])
    for k in range(chances.shape[0]):
        found[k] = probability_to_raw(chances[k])
    return found


@kernel
def calibrated_chances(knots, chances):
    """The chances float64 (n,) that win chances float64 (n,) really stand for."""
    found = np.empty(chances.shape[0])
    for k in range(chances.shape[0]):
        found[k] = squash_probability(calibrated(knots, probability_to_raw(chances[k])))
    return found
