"""The calibration in a weight file: a map from estimated to true win probabilities, by class.

Each class has a list of knots ``[score, chance]``. The score is the raw sum x of the weights' win
probability, ``win = (tanh x + 1) / 2``; the chance is the share of such positions that are won.

Kernels use an increasing, piecewise linear map between raw sums: knots float64 (k, 2), increasing in both
columns. Beyond the first and the last knot the shift is constant, so different probabilities stay different.
If classes have different numbers of knots, shorter tables are padded with infinite rows.
"""

from collections.abc import Mapping

import numpy as np

from motif.compiler.jit import inline_kernel, kernel
from motif.evaluators.probabilities import probability_to_raw, squash_probability
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.arrays import Float32Array, FloatArray


@inline_kernel
def calibrated(knots, raw):
    """Return the calibrated value of one raw sum."""
    last = 0
    while last + 1 < knots.shape[0] and knots[last + 1, 0] <= raw:
        last += 1
    start, value = knots[last, 0], knots[last, 1]
    if raw <= start or last + 1 == knots.shape[0] or knots[last + 1, 0] == np.inf:
        return raw + (value - start)
    return value + (raw - start) / (knots[last + 1, 0] - start) * (knots[last + 1, 1] - value)


@kernel
def raw_sums(chances):
    """Return the raw sums float64 (n,) of win probabilities float64 (n,); about ±15 at 0 and 1."""
    results = np.empty(chances.shape[0])
    for k in range(chances.shape[0]):
        results[k] = probability_to_raw(chances[k])
    return results


@kernel
def calibrated_chances(knots, chances):
    """Return the calibrated win probabilities float64 (n,) of estimates float64 (n,)."""
    results = np.empty(chances.shape[0])
    for k in range(chances.shape[0]):
        results[k] = squash_probability(calibrated(knots, probability_to_raw(chances[k])))
    return results


CALIBRATED_HEAD = "win"
"""The only head that has a calibration."""
KnotRows = Float32Array
"""Knots (k, 2) of one class, as in a weight file: scores and chances."""


def knot_fault(rows: KnotRows) -> tuple[int, str] | None:
    """Return the number of the first invalid row of `rows` (k, 2) and the fault; None if all are valid."""
    if not len(rows):
        return 0, "at least one knot is needed"
    for number, (score, chance) in enumerate(rows.tolist()):
        if not np.isfinite(score):
            return number, f"the score must be a finite number, not {score}"
        if not 0 < chance < 1:
            return number, f"the chance must be above 0 and below 1, not {chance}"
        if number and score <= rows[number - 1, 0]:
            return number, "scores must rise from knot to knot"
        if number and chance <= rows[number - 1, 1]:
            return number, "chances must rise from knot to knot"
    return None


def raw_knots(rows: KnotRows) -> FloatArray:
    """Return knots float64 (k, 2) in the form for kernels."""
    scores, chances = rows.astype(np.float64).T
    return np.column_stack([scores, raw_sums(np.ascontiguousarray(chances))])


def knot_tables(calibration: Mapping[str, KnotRows]) -> FloatArray:
    """Return knots float64 (classes, k, 2) for a model; (0, 0, 2) without a calibration.

    A class without knots is not calibrated.
    """
    if not calibration:
        return np.zeros((0, 0, 2))
    length = max(map(len, calibration.values()))
    tables = np.full((len(CLASS_NAMES), length, 2), np.inf)
    for table, class_name in zip(tables, CLASS_NAMES, strict=True):
        table[0] = 0.0
        if class_name in calibration:
            knots = raw_knots(calibration[class_name])
            table[: len(knots)] = knots
    return tables
