"""The solvers by name, under one signature; pruning, with any of them; and a solver by SciPy.

Second-degree terms that do not earn their place are dropped, and the rest is fitted again: backward
elimination in rounds.  All pairs whose |weight / standard error| is below a threshold go at
once, the others are fitted again from where they stand, and what became superfluous goes next.  The
bias, linear weights and point terms stay.

SciPy's solver is `scipy.optimize.least_squares` with an analytic Jacobian: an independent check of the other
solvers, for problems small enough to hold the (n, count) Jacobian in memory.
"""

import math
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import optimize

from motif.fitting import coordinate, gauss_newton
from motif.fitting.objective import CONVERGED, PASS_LIMIT, FitResult, Objective, Recorder, Solver
from motif.fitting.problem import Problem, checked_weights
from motif.fitting.significance import significance
from motif.fitting.terms import FloatArray, Terms
from motif.runtime.errors import FitError

LEAST_SQUARES = "least-squares"
MOST_NUMBERS = 2**28
"""Largest Jacobian: 2 GiB of float64; SciPy makes a few of that size."""
_EVALUATIONS_PER_PASS = 10
"""Rejected trial steps are not passes, but they must end too."""
_SCIPY_TOLERANCE = 1e-15
"""Only what is left to rounding: the tolerance of a fit is the recorder's business."""


class _EndOfPasses(Exception):  # noqa: N818 - a signal, not an error
    """Carries the reason to stop out of SciPy's loop."""


class _Passes:
    """Residuals and Jacobian for SciPy: the ranked residuals of the rows, then those of the ridge."""

    def __init__(self, problem: Problem, recorder: Recorder, start: FloatArray) -> None:
        self._problem, self._recorder = problem, recorder
        self._objective = Objective(problem)
        self._ridge_roots = np.sqrt(self._objective.penalty)
        self._anchors = problem.target.copy()
        # The columns of terms that never occur are zero: without a residual of their own, SciPy gives them
        # any weight.
        squares = self._objective.term_sums(self._objective.roots**2, power=2)
        free = (squares == 0) & (self._ridge_roots == 0)
        self._ridge_roots[free] = 1.0
        self._anchors[free] = start[free]

    def residuals(self, weights: FloatArray) -> FloatArray:
        rows = self._objective.operator.apply(self._objective.at(weights).residuals)
        return np.concatenate([rows, self._ridge_roots * (weights - self._anchors)])

    def jacobian(self, weights: FloatArray) -> FloatArray:
        """SciPy asks for it at the start and after each accepted step: that is a pass."""
        point = self._objective.at(weights)
        stopped = self._recorder.record(weights.copy(), point.error, point.rmse)
        if stopped is not None:
            raise _EndOfPasses(stopped)
        train = self._problem.train
        rows = self._problem.terms.expand(train.features, train.boards).astype(np.float64)
        rows *= point.slopes[:, None]
        self._objective.operator.apply_to_rows(rows)
        return np.concatenate([rows, np.diag(self._ridge_roots)])


@partial(Solver, LEAST_SQUARES, 100)
def solve_least_squares(problem: Problem, start: FloatArray | None, recorder: Recorder) -> str:
    """Fit by SciPy's trust region reflective method, from zeros unless told otherwise.

    Ranking, ridge and prior are all supported.  A pass is an accepted step.  `FitError` when the Jacobian
    would hold more than `MOST_NUMBERS` numbers.
    """
    rows, count = len(problem.train), problem.terms.count
    if rows * count > MOST_NUMBERS:
        raise FitError(
            f"{rows} samples with {count} weights are too many for least-squares: use gauss-newton"
        )
    first = checked_weights(problem.terms, start, "start")
    passes = _Passes(problem, recorder, first)
    try:
        result = optimize.least_squares(
            passes.residuals,
            first,
            passes.jacobian,
            method="trf",
            ftol=_SCIPY_TOLERANCE,
            xtol=_SCIPY_TOLERANCE,
            gtol=_SCIPY_TOLERANCE,
            max_nfev=_EVALUATIONS_PER_PASS * recorder.max_passes,
        )
    except _EndOfPasses as end:
        return str(end)
    return CONVERGED if result.status > 0 else PASS_LIMIT


PRUNE_Z = 2.0
"""Pairs nearer to 0 than this many standard errors are dropped."""
ROUNDS = 3
"""Rounds at most."""


SOLVERS = {
    solve.method: solve
    for solve in (
        coordinate.solve_coordinate,
        solve_least_squares,
        gauss_newton.solve_gauss_newton,
    )
}
"""Name of the method -> its solver."""


def solver(method: str) -> Solver:
    """The solver called `method`; `FitError` when there is none."""
    if method not in SOLVERS:
        raise FitError(f"unknown method {method!r}: choose one of {', '.join(SOLVERS)}")
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
) -> Pruned:
    """`problem` without the pairs that `result`, its fit, and the fits that follow find superfluous.

    `clusters` are those of `significance`.  `max_passes` limits each fit; absent, the method's own limit.
    Whether the validation error is better or worse afterwards is told, not asked: see both results.
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
        prior = None if problem.prior is None else np.asarray(problem.prior)[mask]
        smaller = Terms(terms.size, terms.pairs[mask[1 + terms.size : terms.first_point]], terms.points)
        problem = replace(problem, terms=smaller, prior=prior)
        result = solver(result.method)(problem, start=result.weights[mask], max_passes=max_passes)
    return Pruned(problem.terms, result)


def _mask(
    problem: Problem, result: FitResult, clusters: npt.ArrayLike | None, z: float
) -> npt.NDArray[np.bool_]:
    """(count,): which weights stay.  A pair whose error is 0 never occurs and goes."""
    terms = problem.terms
    statistics = significance(problem, result.weights, clusters)
    mask = np.ones(terms.count, np.bool_)
    pairs = slice(1 + terms.size, terms.first_point)
    mask[pairs] = np.abs(statistics.z[pairs]) >= z  # False for NaN too
    return mask
