"""A weight file with how it was fitted."""

import math
from dataclasses import dataclass, field
from typing import Any

from motif.evaluators.weight_file import WeightFile
from motif.fitting.objective import CONVERGED, FAILURES, FitResult
from motif.learning.cross_check import CrossCheck
from motif.learning.fit_errors import ChoiceError
from motif.learning.label_noise import NoiseFreeError
from motif.runtime.frames import Tabular

HISTORY_COLUMNS = (
    "class", "head", "pass", "error", "rmse_train", "rmse_validation", "seconds", "label_noise",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class FittedWeights(Tabular):
    """A weight file and how its heads were fitted."""

    weights: WeightFile
    results: dict[tuple[str, str], FitResult]
    """By class and head: the fits of what the weight file holds."""
    samples: int
    seconds: float
    rmse_train: float
    """Root mean square error of the win chance in training, over all classes."""
    rmse_validation: float | None
    choices: dict[str, ChoiceError]
    """By class, and for all of them: see `choice_errors`."""
    unpruned: dict[tuple[str, str], FitResult]
    """The fits with every term of the heads that were pruned, by class and head."""
    unpruned_choices: dict[str, ChoiceError]
    """What choices cost before the pruning; empty without."""
    warnings: tuple[str, ...] = ()
    """What one should know about the fits, a line each: those that failed, and weights without end."""
    noise: dict[tuple[str, str], float | None] = field(default_factory=dict)
    """By class and head: the noise of the labels that its errors hold, see `NoiseFreeError`."""
    overall: dict[str, NoiseFreeError] = field(default_factory=dict)
    """The win probability over all classes, and the equity that ranks plays:
    their errors in validation with and without noise of the labels."""
    check: CrossCheck | None = None
    """A head that SciPy fitted too, if wanted."""

    @property
    def choice_error(self) -> dict[str, float]:
        """The means of `choices`."""
        return {name: error.mean for name, error in self.choices.items()}

    @property
    def unpruned_choice_error(self) -> dict[str, float]:
        """The means of `unpruned_choices`."""
        return {name: error.mean for name, error in self.unpruned_choices.items()}

    @property
    def sweeps(self) -> int:
        """Most passes that a head took."""
        return max(result.passes for result in self.results.values())

    @property
    def stopped(self) -> str:
        """Why the fits stopped: "converged", else the failure of the first that failed.

        Else what stopped the first one that did not converge; failures are those of
        `objective.FAILURES`.
        """
        reasons = [result.stopped for result in self.results.values() if result.stopped != CONVERGED]
        return next((reason for reason in reasons if reason in FAILURES), (*reasons, CONVERGED)[0])

    def to_dict(self) -> dict[str, Any]:
        """Numbers for a report.

        Of a head that was pruned, `before_pruning` holds those of the fit with every term, the rest those
        of its last fit.  `terms` are how many weights there are but for the bias.
        """
        before = {place: _facts_of_fit(result) for place, result in self.unpruned.items()}
        heads = {
            ".".join(place): {
                **_facts_of_fit(result),
                **NoiseFreeError(result.rmse_validation, self.noise.get(place)).to_dict(),
                "before_pruning": before.get(place),
            }
            for place, result in self.results.items()
        }
        return {
            "rmse_train": self.rmse_train,
            "rmse_validation": self.rmse_validation,
            "validation_errors": {name: error.to_dict() for name, error in self.overall.items()},
            "sweeps": self.sweeps,
            "stopped": self.stopped,
            "seconds": self.seconds,
            "samples": self.samples,
            "choice_error": self.choice_error,
            "choice_error_se": {
                # JSON has no NaN.
                name: error.se if math.isfinite(error.se) else None
                for name, error in self.choices.items()
            },
            "choice_error_before_pruning": self.unpruned_choice_error,
            "warnings": list(self.warnings),
            "heads": heads,
            "cross_check": None if self.check is None else self.check.to_dict(),
        }

    def history_rows(self) -> list[dict[str, Any]]:
        """One row per pass of each fit, with the columns `HISTORY_COLUMNS`.

        The last one, the noise of the labels, is that of all passes.
        """
        return [
            dict(zip(HISTORY_COLUMNS, (*place, *vars(record).values(), self.noise.get(place)), strict=True))
            for place, result in self.results.items()
            for record in result.history
        ]


def _facts_of_fit(result: FitResult) -> dict[str, Any]:
    return {
        "terms": len(result.weights) - 1,
        "rmse_train": result.rmse_train,
        "rmse_validation": result.rmse_validation,
        "sweeps": result.passes,
        "stopped": result.stopped,
        "seconds": result.seconds,
    }
