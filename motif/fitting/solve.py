"""The solvers by name, under one signature."""

from typing import Protocol

from motif.fitting import coordinate, gauss_newton, least_squares
from motif.fitting.problem import Problem
from motif.fitting.result import FitResult, OnPass
from motif.fitting.terms import FloatArray
from motif.runtime.errors import FitError


class Solver(Protocol):
    """A method of minimising the error of a `Problem`; its own docstring says when it stops."""

    def __call__(
        self,
        problem: Problem,
        *,
        max_passes: int = ...,
        tolerance: float = ...,
        on_pass: OnPass | None = ...,
        patience: int | None = ...,
        start: FloatArray | None = ...,
    ) -> FitResult:
        """Fit `problem`; see the solvers."""


SOLVERS: dict[str, Solver] = {
    coordinate.METHOD: coordinate.solve_coordinate,
    least_squares.METHOD: least_squares.solve_least_squares,
    gauss_newton.METHOD: gauss_newton.solve_gauss_newton,
}
"""Name of the method -> its solver; each has its own default limit of passes."""


def solver(method: str) -> Solver:
    """The solver called `method`; `FitError` when there is none."""
    if method not in SOLVERS:
        raise FitError(f"unknown method {method!r}: choose one of {', '.join(SOLVERS)}")
    return SOLVERS[method]
