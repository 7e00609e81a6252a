"""What a fit to datasets returns: the weight file, and how its heads were fitted."""

import math
from dataclasses import dataclass
from typing import Any

from motif.bootstrap.choice_error import ChoiceError
from motif.evaluators.weight_file import WeightFile
from motif.fitting.result import CONVERGED, FitResult


@dataclass(frozen=True)
class FittedWeights:
    """A weight file and how its heads were fitted."""

    weights: WeightFile
    results: dict[tuple[str, str], FitResult]
    """By class and head: the fits of what the weight file holds."""
    plans: dict[tuple[str, str], FitResult]
    """The equity heads of game plans, by class and plan."""
    samples: int
    seconds: float
    rmse_train: float
    """Of the win chance, over all classes."""
    rmse_validation: float | None
    choices: dict[str, ChoiceError]
    """By class, and for all of them: see `motif.bootstrap.choice_error`."""
    unpruned: dict[tuple[str, str], FitResult]
    """The fits with every term of the heads that were pruned, by class and head."""
    unpruned_choices: dict[str, ChoiceError]
    """What choices cost before the pruning; empty without."""

    @property
    def choice_error(self) -> dict[str, float]:
        """The means of `choices`."""
        return {name: error.mean for name, error in self.choices.items()}

    @property
    def unpruned_choice_error(self) -> dict[str, float]:
        """The means of `unpruned_choices`."""
        return {name: error.mean for name, error in self.unpruned_choices.items()}

    @property
    def _every_result(self) -> list[FitResult]:
        return [*self.results.values(), *self.plans.values()]

    @property
    def sweeps(self) -> int:
        """Most passes that a head took."""
        return max(result.passes for result in self._every_result)

    @property
    def stopped(self) -> str:
        """Why the fits stopped: "converged", or what stopped the first one that did not converge."""
        reasons = [result.stopped for result in self._every_result]
        return next((reason for reason in reasons if reason != CONVERGED), CONVERGED)

    def as_dict(self) -> dict[str, Any]:
        """Numbers for a report.

        Of a head that was pruned, `before_pruning` holds those of the fit with every term, the rest those
        of its last fit.  `terms` are how many weights there are but for the bias.
        """
        before = {place: _facts(result) for place, result in self.unpruned.items()}
        heads = {
            ".".join(place): {**_facts(result), "before_pruning": before.get(place)}
            for place, result in self.results.items()
        }
        return {
            "rmse_train": self.rmse_train,
            "rmse_validation": self.rmse_validation,
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
            "heads": heads,
            "plans": {plan: _facts(of) for (_, plan), of in self.plans.items()},
        }

    def history_rows(self) -> list[dict[str, Any]]:
        """One row a pass of each fit: class, head, pass, error, rmse_train, rmse_validation, seconds.

        Fits of game plans are left out: there can be dozens.
        """
        return [
            {
                "class": class_name,
                "head": head,
                "pass": record.number,
                "error": record.error,
                "rmse_train": record.rmse_train,
                "rmse_validation": record.rmse_validation,
                "seconds": record.seconds,
            }
            for (class_name, head), result in self.results.items()
            for record in result.history
        ]


def _facts(result: FitResult) -> dict[str, Any]:
    return {
        "terms": len(result.weights) - 1,
        "rmse_train": result.rmse_train,
        "rmse_validation": result.rmse_validation,
        "sweeps": result.passes,
        "stopped": result.stopped,
        "seconds": result.seconds,
    }
