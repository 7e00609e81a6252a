"""The solvers by name, under one signature; and pruning, with any of them.

Second-degree terms that do not earn their place are dropped, and the rest is fitted again: backward
elimination in rounds.  All pairs whose |weight / standard error| is below a threshold go at
once, the others are fitted again from where they stand, and what became superfluous goes next.  The
bias and the linear weights stay.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.fitting.coordinate import solve_coordinate
from motif.fitting.gauss_newton import solve_gauss_newton
from motif.fitting.keith_descent import solve_keith
from motif.fitting.least_squares import solve_least_squares
from motif.fitting.objective import FitResult, Solver
from motif.fitting.problem import Problem
from motif.fitting.significance import significance
from motif.fitting.terms import Terms
from motif.runtime.errors import FitError, shown

PRUNE_Z = 2.0
"""Pairs nearer to 0 than this many standard errors are dropped."""
ROUNDS = 3
"""Rounds at most."""


SOLVERS = {
    solve.method: solve
    for solve in (
        solve_coordinate,
        solve_least_squares,
        solve_gauss_newton,
        solve_keith,
    )
}
"""Name of the method -> its solver."""


def solver(method: str) -> Solver:
    """Return the solver called `method`; `FitError` when there is none."""
    if not isinstance(method, str) or method not in SOLVERS:
        raise FitError(f"unknown method {shown(method)}: choose one of {', '.join(SOLVERS)}")
    return SOLVERS[method]


class Pruned(NamedTuple):
    """What is left of a fit."""

    terms: Terms
    result: FitResult
    """The last round's; its history and seconds are those of that round.  The fit as it was when nothing
    was dropped."""


def pruned(
    problem: Problem,
    result: FitResult,
    clusters: npt.ArrayLike | None = None,
    z: float = PRUNE_Z,
    *,
    max_passes: int | None = None,
    tolerance: float | None = None,
) -> Pruned:
    """`problem` without the pairs that `result`, its fit, and the fits that follow find superfluous.

    `clusters` are those of `significance`.  `max_passes` and `tolerance` are those of each fit.
    Whether the validation error is better or worse afterwards is shown, not asked: see both results.
    Raises `FitError` for a `z` that is negative or not finite.
    """
    if not (math.isfinite(z) and z >= 0):
        raise FitError(f"the threshold of pruning must be finite and at least 0, not {z}")
    for _ in range(ROUNDS):
        terms = problem.terms
        if not len(terms.pairs):
            break
        mask = _mask(problem, result, clusters, z)
        if mask.all():
            break
        problem = replace(problem, terms=Terms(terms.size, terms.pairs[mask[1 + terms.size :]]))
        result = solver(result.method)(
            problem, start=result.weights[mask], max_passes=max_passes, tolerance=tolerance
        )
    return Pruned(problem.terms, result)


def _mask(
    problem: Problem, result: FitResult, clusters: npt.ArrayLike | None, z: float
) -> npt.NDArray[np.bool_]:
    """(count,): which weights stay.  A pair whose error is 0 never occurs and goes."""
    terms = problem.terms
    statistics = significance(problem, result.weights, clusters)
    mask = np.ones(terms.count, np.bool_)
    pairs = slice(1 + terms.size, None)
    mask[pairs] = np.abs(statistics.z[pairs]) >= z  # False for NaN too
    return mask
