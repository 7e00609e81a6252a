"""What a fit returns, and the record that every solver keeps of its passes."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from motif.fitting.objective import rmse
from motif.fitting.problem import Problem
from motif.fitting.terms import FloatArray
from motif.runtime.errors import FitError

CONVERGED = "converged"
PASS_LIMIT = "pass limit"
VALIDATION_RISES = "validation error rises"
STOPPED_BY_CALLER = "stopped by the caller"

EXACT_ERROR = 1e-14
"""An error that counts as none: an RMSE of 1e-7, which is what float32 features resolve."""


@dataclass(frozen=True)
class PassRecord:
    """State after one pass; number 0 is the start."""

    number: int
    error: float
    """What is minimised: see `Problem`."""
    rmse_train: float
    rmse_validation: float | None
    """None when there are no validation rows."""
    seconds: float
    """Since the fit began."""


OnPass = Callable[[PassRecord], object]
"""Called after each pass; a fit whose caller returns True stops there."""


@dataclass(frozen=True, eq=False)
class FitResult:
    """Fitted weights, and how they came about."""

    method: str
    weights: FloatArray
    """(count,) float64: bias, linear, quadratic; `Terms.split` takes them apart."""
    history: tuple[PassRecord, ...]
    """One record a pass, from the start on; errors never rise."""
    stopped: str
    """Why: "converged", "pass limit", "validation error rises" or "stopped by the caller"."""
    rmse_train: float
    rmse_validation: float | None
    seconds: float

    @property
    def passes(self) -> int:
        """Number of passes done."""
        return self.history[-1].number


def check_stopping(max_passes: int, tolerance: float) -> None:
    """Raise `FitError` for a pass limit, or a least share to gain, that makes no sense."""
    if max_passes < 1:
        raise FitError(f"the pass limit must be at least 1, not {max_passes}")
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise FitError(f"the tolerance must be finite and at least 0, not {tolerance}")


class Recorder:
    """Keeps the history of one fit and says when something other than convergence ends it."""

    def __init__(
        self, method: str, problem: Problem, max_passes: int, tolerance: float,
        on_pass: OnPass | None, patience: int | None,
    ) -> None:  # fmt: skip
        check_stopping(max_passes, tolerance)
        if patience is not None and patience < 1:
            raise FitError(f"the patience must be at least 1 pass, not {patience}")
        if patience is not None and not problem.validation.sample_weights.any():
            raise FitError("stopping by the validation error needs validation samples")
        self._method, self._problem = method, problem
        self._max_passes, self._tolerance = max_passes, tolerance
        self._on_pass, self._patience = on_pass, patience
        self._began = time.perf_counter()
        self.history: list[PassRecord] = []
        self._best, self._best_weights = 0, np.empty(0)

    def record(self, weights: FloatArray, error: float, rmse_train: float) -> str | None:
        """Note the state after a pass (or the start); the reason to stop, or None."""
        if not math.isfinite(error):
            raise FitError(f"the error became {error} in pass {len(self.history)}")
        validation = rmse(self._problem, self._problem.validation, weights)
        seconds = time.perf_counter() - self._began
        self.history.append(PassRecord(len(self.history), error, rmse_train, validation, seconds))
        told_to_stop = self._on_pass is not None and self._on_pass(self.history[-1]) is True
        rises = self._patience is not None and self._validation_rises(weights, self._patience)
        if self._has_converged():
            return CONVERGED
        if rises:
            return VALIDATION_RISES
        if told_to_stop:
            return STOPPED_BY_CALLER
        return PASS_LIMIT if len(self.history) > self._max_passes else None

    def _has_converged(self) -> bool:
        if len(self.history) == 1:
            return False
        before, after = self.history[-2].error, self.history[-1].error
        return after <= EXACT_ERROR or before - after <= self._tolerance * before

    def _validation_rises(self, weights: FloatArray, patience: int) -> bool:
        errors = [math.inf if r.rmse_validation is None else r.rmse_validation for r in self.history]
        if errors[-1] <= errors[self._best]:
            self._best, self._best_weights = len(errors) - 1, weights.copy()
        return len(errors) - 1 - self._best >= patience

    def result(self, weights: FloatArray, stopped: str) -> FitResult:
        """The result at `weights`; at those of least validation error when that is why it stopped."""
        last = self.history[-1]
        if stopped == VALIDATION_RISES:
            weights, last = self._best_weights, self.history[self._best]
        seconds = time.perf_counter() - self._began
        return FitResult(
            self._method, weights, tuple(self.history), stopped,
            last.rmse_train, last.rmse_validation, seconds,
        )  # fmt: skip
