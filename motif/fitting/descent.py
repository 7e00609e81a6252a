"""Steps of descent that solvers share: conjugate gradients, and a step that is halved until it helps.

Source: Nocedal and Wright, "Numerical Optimization" (2006), algorithm 5.3.
"""

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

import numpy as np

from motif.fitting.terms import FloatArray

_MOST_HALVINGS = 20


class _HasError(Protocol):
    @property
    def error(self) -> float: ...


_Point = TypeVar("_Point", bound=_HasError)


def conjugate_gradients(
    gradient: FloatArray,
    product: Callable[[FloatArray], FloatArray],
    precondition: Callable[[FloatArray], FloatArray],
) -> Iterator[tuple[FloatArray, float]]:
    """Yield ever better solutions of curvature * direction = -`gradient`, each with what its step promises.

    `product` multiplies by the curvature, `precondition` by about its inverse; arrays are of any one shape.
    The promise is twice the fall of the quadratic model whose first and second derivatives these are.
    Ends when nothing but rounding is left.  The direction is one array that later steps change.
    """
    residual = -gradient
    direction = np.zeros_like(residual)
    search = precondition(residual)
    size = float(np.vdot(residual, search))
    while True:
        moved = product(search)
        bend = float(np.vdot(search, moved))
        if size <= 0 or bend <= 0:
            return
        length = size / bend
        direction += length * search
        residual -= length * moved
        yield direction, length * size
        preconditioned = precondition(residual)
        new_size = float(np.vdot(residual, preconditioned))
        search = preconditioned + new_size / size * search
        size = new_size


def descend(
    at: Callable[[FloatArray], _Point], weights: FloatArray, point: _Point, direction: FloatArray
) -> tuple[FloatArray, _Point]:
    """The first of the whole, the half, the quarter... step that lowers the error, or no step.

    `at` is what the rows look like from given weights; `point` is `at(weights)`.
    """
    length = 1.0
    for _ in range(_MOST_HALVINGS):
        candidate = weights + length * direction
        reached = at(candidate)
        if reached.error < point.error:
            return candidate, reached
        length /= 2
    return weights, point
