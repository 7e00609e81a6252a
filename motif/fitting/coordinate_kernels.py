"""The compiled part of coordinate descent: one pass over all weights.

Term q is the product of columns first[q] and second[q] of `columns` (size + 1, n), whose column 0
is all ones: (0, 0) is the constant, (i + 1, 0) is feature i, (i + 1, j + 1) a product.  So the
linear weight of column c stands at index c of the weight vector, and the bias at 0.

Each term is moved along its CENTRED value (a - mean a)(b - mean b) - shift, where `means` holds 0
for the ones and shift makes the whole average 0.  Multiplied out, a step d along it is d on the
term's own weight, -d mean b and -d mean a on the linear weights of a and b, and the rest on the
bias: the same model, in directions that are far less correlated.
"""

import numpy as np

from motif.fitting.link import fast_tanh
from motif.runtime.jit import fast_kernel, inline_kernel

_MOST_STEPS = 3
_MOST_HALVINGS = 10
_WORTH_ANOTHER_STEP = 0.1
"""Share of the last step's reduction below which the weight counts as set to its least error."""


@fast_kernel
def centred_shifts(columns, means, shares, first, second):
    """Weighted means (count,) of the products of centred columns; `shares` (n,) sum to 1."""
    shifts = np.zeros(len(first))
    for q in range(1, len(first)):
        a, b = columns[first[q]], columns[second[q]]
        mean_a, mean_b = means[first[q]], means[second[q]]
        total = 0.0
        for k in range(len(a)):
            total += shares[k] * (a[k] - mean_a) * (b[k] - mean_b)
        shifts[q] = total
    return shifts


@fast_kernel
def refresh(raw, targets, roots, half_range, residuals, slopes):
    """Set residuals and slopes from the raw predictions; the sum of squared residuals."""
    error = 0.0
    for k in range(len(raw)):
        t = fast_tanh(raw[k])
        residual = roots[k] * (half_range * t - targets[k])
        residuals[k] = residual
        slopes[k] = roots[k] * half_range * (1.0 - t * t)
        error += residual * residual
    return error


@fast_kernel
def _derivatives(a, mean_a, b, mean_b, shift, residuals, slopes):
    gradient, curvature = 0.0, 0.0
    for k in range(len(residuals)):
        c = ((a[k] - mean_a) * (b[k] - mean_b) - shift) * slopes[k]
        gradient += c * residuals[k]
        curvature += c * c
    return gradient, curvature


@fast_kernel
def _move(a, mean_a, b, mean_b, shift, step, raw, targets, roots, half_range, residuals, slopes):
    error, gradient, curvature = 0.0, 0.0, 0.0
    for k in range(len(raw)):
        c = (a[k] - mean_a) * (b[k] - mean_b) - shift
        x = raw[k] + step * c
        raw[k] = x
        t = fast_tanh(x)
        residual = roots[k] * (half_range * t - targets[k])
        slope = roots[k] * half_range * (1.0 - t * t)
        residuals[k] = residual
        slopes[k] = slope
        c *= slope
        error += residual * residual
        gradient += c * residual
        curvature += c * c
    return error, gradient, curvature


@inline_kernel
def _penalty_derivatives(weights, target, ridge, q, i, j, mean_i, mean_j):
    """Half the first and half the second derivative of the ridge along term q's direction."""
    if q == 0 or ridge == 0.0:
        return 0.0, 0.0
    first = weights[q] - target[q]
    second = 1.0
    if i == j:
        first -= 2 * mean_i * (weights[i] - target[i])
        second += 4 * mean_i * mean_i
    else:
        first -= mean_j * (weights[i] - target[i])
        second += mean_j * mean_j
        if j > 0:
            first -= mean_i * (weights[j] - target[j])
            second += mean_i * mean_i
    return ridge * first, ridge * second


@inline_kernel
def _shift_weights(weights, step, q, i, j, mean_i, mean_j, shift):
    """Move the weights by `step` along term q's direction."""
    weights[q] += step
    weights[i] -= mean_j * step
    weights[j] -= mean_i * step
    weights[0] += (mean_i * mean_j - shift) * step


@fast_kernel
def one_pass(
    columns, means, first, second, shifts, weights, target, ridge, negligible,
    raw, targets, roots, half_range, residuals, slopes, error, penalty,
):  # fmt: skip
    """Set each weight in turn to the value of least error; returns the new error and penalty.

    A few Gauss-Newton steps a weight, each halved until error + penalty does not rise, or else
    taken back.  Steps that promise less than `negligible` of the error are left out.  `weights`,
    `raw`, `residuals` and `slopes` are updated in place.
    """
    for q in range(len(first)):
        i, j = first[q], second[q]
        a, b, mean_i, mean_j, shift = columns[i], columns[j], means[i], means[j], shifts[q]
        gradient, curvature = _derivatives(a, mean_i, b, mean_j, shift, residuals, slopes)
        for _ in range(_MOST_STEPS):
            slope, bend = _penalty_derivatives(weights, target, ridge, q, i, j, mean_i, mean_j)
            if (gradient + slope) ** 2 <= negligible * (error + penalty) * (curvature + bend):
                break
            step, moved = -(gradient + slope) / (curvature + bend), 0.0
            for halving in range(_MOST_HALVINGS + 1):
                new_error, gradient, curvature = _move(
                    a, mean_i, b, mean_j, shift, step - moved,
                    raw, targets, roots, half_range, residuals, slopes,
                )  # fmt: skip
                moved = step
                new_penalty = penalty + step * (2.0 * slope + step * bend)
                if new_error + new_penalty <= error + penalty or step == 0.0:
                    break
                step = 0.5 * step if halving < _MOST_HALVINGS - 1 else 0.0
            if step == 0.0:
                break
            reduction = (error + penalty) - (new_error + new_penalty)
            _shift_weights(weights, step, q, i, j, mean_i, mean_j, shift)
            error, penalty = new_error, new_penalty
            slope, bend = _penalty_derivatives(weights, target, ridge, q, i, j, mean_i, mean_j)
            if (gradient + slope) ** 2 <= _WORTH_ANOTHER_STEP * reduction * (curvature + bend):
                break
    return error, penalty
