"""Steps of Adam (Kingma and Ba, "Adam: a method for stochastic optimization", 2015)."""

import numpy as np

from motif.compiler.jit import fast_kernel
from motif.runtime.arrays import Float32Array

_BETA1, _BETA2, _EPSILON = np.float32(0.9), np.float32(0.999), np.float32(1e-8)
"""Adam's parameters beta1, beta2 and epsilon."""


def take_adam_step(
    weights: Float32Array,
    slopes: Float32Array,
    means: Float32Array,
    squares: Float32Array,
    step: int,
    rate: float,
) -> None:
    """Take step number `step`, from 1 on, against the gradient `slopes`, at a learning `rate`.

    `weights` and the moments `means` and `squares`, contiguous arrays of the same shape, are changed.
    """
    first = np.float32(rate / (1 - float(_BETA1) ** step))
    second = np.float32(1 / (1 - float(_BETA2) ** step))
    flat = [each.reshape(-1) for each in (weights, np.ascontiguousarray(slopes), means, squares)]
    _adam_step(flat[0], flat[1], flat[2], flat[3], first, second)


@fast_kernel
def _adam_step(weight, slope, mean, square, first, second):
    for k in range(weight.shape[0]):
        mean[k] += (np.float32(1) - _BETA1) * (slope[k] - mean[k])
        square[k] += (np.float32(1) - _BETA2) * (slope[k] * slope[k] - square[k])
        weight[k] -= first * mean[k] / (np.sqrt(square[k] * second) + _EPSILON)
