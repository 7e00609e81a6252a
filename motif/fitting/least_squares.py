"""The error of a `Problem` minimised by `scipy.optimize.least_squares` with an analytic Jacobian.

An independent check of the other solvers, for problems small enough to hold the (n, count)
Jacobian in memory.
"""

from functools import partial

import numpy as np
from scipy import optimize

from motif.fitting.objective import CONVERGED, PASS_LIMIT, Objective, Recorder, Solver
from motif.fitting.problem import Problem, checked_weights
from motif.fitting.terms import FloatArray
from motif.runtime.errors import FitError

METHOD = "least-squares"
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


@partial(Solver, METHOD, 100)
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
