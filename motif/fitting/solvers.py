"""The solvers by name, with the same signature, and pruning with any of them.

Pruning drops insignificant second-degree terms and refits the rest: backward elimination in rounds. A round
drops all pairs whose |weight / standard error| is below a threshold and refits the others from their present
values. The bias and the linear weights are kept.
"""

from dataclasses import replace

import numpy as np

from motif.fitting.coordinate import solve_coordinate
from motif.fitting.gauss_newton import solve_gauss_newton
from motif.fitting.keith_descent import solve_keith
from motif.fitting.least_squares import solve_least_squares
from motif.fitting.objective import FitResult, Solver
from motif.fitting.problem import Problem
from motif.fitting.significance import significance
from motif.fitting.terms import Terms
from motif.runtime.arrays import IntArray
from motif.runtime.errors import FitError, shown

PRUNE_Z = 2.0
"""Pairs within this many standard errors of 0 are dropped."""
ROUNDS = 3
"""Maximum number of rounds."""
SOLVERS = {
    solve.method: solve for solve in (solve_coordinate, solve_least_squares, solve_gauss_newton, solve_keith)
}
"""Solvers by name of the method."""


def solver(method: str) -> Solver:
    """Return the solver called `method`; raises `FitError` if there is none."""
    if not isinstance(method, str) or method not in SOLVERS:
        raise FitError(f"unknown method {shown(method)}: choose one of {', '.join(SOLVERS)}")
    return SOLVERS[method]


def pruned(
    problem: Problem,
    result: FitResult,
    clusters: IntArray | None = None,
    z: float = PRUNE_Z,
    *,
    max_passes: int | None = None,
    tolerance: float | None = None,
) -> tuple[Terms, FitResult]:
    """Drop pairs that are insignificant in `result`, the fit of `problem`, and in the following fits.

    `clusters` are those of `significance`. `max_passes` and `tolerance` apply to each fit. Returns the terms
    and the result of the last round, with the history and seconds of that round only, or `result` if nothing
    was dropped. The validation error may rise: compare both results.
    """
    for _ in range(ROUNDS):
        terms = problem.terms
        if not len(terms.pairs):
            break
        ratios = significance(problem, result.weights, clusters).z
        # A pair that never occurs has no ratio, and is dropped.
        mask = (np.abs(ratios) >= z) | (np.arange(terms.count) <= terms.size)
        if mask.all():
            break
        problem = replace(problem, terms=Terms(terms.size, terms.pairs[mask[1 + terms.size :]]))
        result = solver(result.method)(
            problem, start=result.weights[mask], max_passes=max_passes, tolerance=tolerance
        )
    return problem.terms, result
