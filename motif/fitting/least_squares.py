"""SciPy's `scipy.optimize.least_squares`, as an independent check of motif's own solvers.

SciPy receives the ranked residuals of the rows, those of the ridge, and their Jacobian as a linear operator:
two products with the matrix of terms (`motif.fitting.design`), which is never formed. Its trust region solves
for each step by LSMR, which needs more products for a badly conditioned Jacobian. The variables are therefore
z, with weights = first + R^-1 z, where R is the Cholesky factor of Gauss-Newton's preconditioner; in z, the
columns of the Jacobian are nearly orthonormal. The slopes of the link change much in the first passes, so
SciPy is restarted with a new factor after each of these.

Sources: Branch, Coleman and Li, "A subspace, interior, and conjugate gradient method for large-scale
bound-constrained minimization problems" (1999), SciPy's ``trf``; Fong and Saunders, "LSMR" (2011).
"""

from functools import partial

import numpy as np
from scipy import optimize
from scipy.sparse.linalg import LinearOperator

from motif.fitting.design import raw_predictions
from motif.fitting.gauss_newton import Preconditioner
from motif.fitting.objective import Ending, Objective, Recorder, Solver, starting_weights
from motif.runtime.arrays import FloatArray

METHOD = "least-squares"
_FRESH_PASSES = 2
"""Number of first passes after which the variables are chosen again."""
_EVALUATIONS_PER_PASS = 10
"""Limit for rejected trial steps, which are not passes."""
_SCIPY_TOLERANCE = 1e-15
"""SciPy's tolerance, at the level of rounding, because the recorder checks the tolerance of the fit."""
_LSMR_SHARE = 0.01
"""LSMR ends when the gradient, as a cosine, is below this share of the root of the fit's tolerance."""
_LSMR_BOUNDS = 1e-12, 1e-4


class _End(Exception):  # noqa: N818 - a signal, not an error
    """Carries the stop reason out of SciPy's loop; None for a restart."""

    def __init__(self, stopped: Ending | None) -> None:
        super().__init__(stopped)
        self.stopped = stopped


class _Passes:
    """The functions for SciPy: residuals, and the Jacobian at the start and after each accepted step."""

    def __init__(self, objective: Objective, recorder: Recorder, start: FloatArray) -> None:
        self._problem, self._recorder, self._objective = objective.problem, recorder, objective
        self._ridge_roots = np.sqrt(self._objective.penalty)
        self._weights = self._first = self._tried = start
        self._point = self._tried_point = self._objective.at(start)
        self._passes = self._ends_after = 0

    def run(self) -> Ending:
        """Let SciPy fit repeatedly with better variables; return why it stopped."""
        least, most = _LSMR_BOUNDS
        tolerance = min(most, max(least, _LSMR_SHARE * self._recorder.tolerance**0.5))
        stopped = self._record(None)
        while stopped is None:
            self._first, self._ends_after = self._weights, self._passes + 1
            if self._passes >= _FRESH_PASSES:
                self._ends_after = self._recorder.max_passes + 1
            self._preconditioner = Preconditioner(self._objective, self._point)
            try:
                optimize.least_squares(
                    self._residuals,
                    np.zeros_like(self._first),
                    self._jacobian,
                    method="trf",
                    ftol=_SCIPY_TOLERANCE,
                    xtol=_SCIPY_TOLERANCE,
                    gtol=_SCIPY_TOLERANCE,
                    max_nfev=_EVALUATIONS_PER_PASS * self._recorder.max_passes,
                    tr_solver="lsmr",
                    tr_options={"atol": tolerance, "btol": tolerance},
                )
            except _End as end:
                stopped = end.stopped
            else:
                # SciPy found no step that lowers the error.
                stopped = self._record(Ending.LINE_SEARCH_FAILED)
        return stopped

    def _record(self, failure: Ending | None) -> Ending | None:
        return self._recorder.record(self._weights, self._point, failure)

    def _residuals(self, variables: FloatArray) -> FloatArray:
        weights = self._first + self._preconditioner.unscaled(variables)
        self._tried, self._tried_point = weights, self._objective.at(weights)
        rows = self._objective.operator.apply(self._tried_point.residuals)
        return np.concatenate([rows, self._ridge_roots * weights])

    def _jacobian(self, variables: FloatArray, *_: object) -> LinearOperator:
        """Return the Jacobian; SciPy asks for it right after the residuals."""
        if variables.any():
            self._weights, self._point = self._tried, self._tried_point
            self._passes += 1
            stopped = self._record(None)
            if stopped is not None or self._passes >= self._ends_after:
                raise _End(stopped)
        count = len(variables)
        shape = len(self._problem.train) + count, count
        return LinearOperator(shape, matvec=self._changes, rmatvec=self._sums, dtype=np.float64)

    def _changes(self, variables: FloatArray) -> FloatArray:
        """Return the Jacobian times `variables` (count,)."""
        step = self._preconditioner.unscaled(np.ravel(variables))
        train, terms = self._problem.train, self._problem.terms
        raw = raw_predictions(terms, train.features, step)
        rows = self._objective.operator.apply(self._point.slopes * raw)
        return self._checked(np.concatenate([rows, self._ridge_roots * step]))

    def _sums(self, residuals: FloatArray) -> FloatArray:
        """Return the transposed Jacobian times `residuals` (rows + count,)."""
        rows, of_ridge = np.split(np.ravel(residuals), [len(self._problem.train)])
        # M is symmetric.
        sums = self._objective.term_sums(self._point.slopes * self._objective.operator.apply(rows))
        return self._checked(self._preconditioner.scaled(sums + self._ridge_roots * of_ridge))

    def _checked(self, values: FloatArray) -> FloatArray:
        """Return `values`; raises an error if they are not finite, because SciPy would continue with them."""
        if not np.isfinite(values).all():
            raise _End(self._record(Ending.NOT_FINITE))
        return values


@partial(Solver, METHOD, 100)
def solve_least_squares(objective: Objective, start: FloatArray | None, recorder: Recorder) -> Ending:
    """Fit by SciPy's trust region reflective method; a ranking term and a ridge are supported.

    Without `start`, the fit begins like Gauss-Newton's. A pass is an accepted step.
    """
    return _Passes(objective, recorder, starting_weights(objective.problem, start)).run()
