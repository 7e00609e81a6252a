"""A weight file together with the record of its fit."""

import math
from dataclasses import dataclass, field
from operator import attrgetter

from motif.evaluators.weight_file import HeadKey, WeightFile
from motif.fitting.objective import FAILURES, Ending, FitRecord
from motif.learning.cross_check import CrossCheck
from motif.learning.fit_errors import ChoiceError
from motif.learning.label_noise import NoiseFreeError
from motif.runtime.frames import Tabular

HISTORY_COLUMNS = (
    "class", "head", "pass", "error", "rmse_train", "rmse_validation", "seconds", "label_noise",
)  # fmt: skip
_FIGURES = attrgetter("number", "error", "rmse_train", "rmse_validation", "seconds")


@dataclass(frozen=True, eq=False)
class FittedHead:
    """The fit of one head."""

    fit: FitRecord
    """The last fit, whose weights are in the weight file."""
    unpruned: FitRecord | None
    """The fit with every term, if terms were pruned."""
    noise: float | None
    """Noise of the labels in the errors, if known; see `NoiseFreeError`."""

    def to_dict(self) -> dict[str, object]:
        """Return the numbers for a report."""
        return {
            **_figures_of(self.fit),
            **NoiseFreeError(self.fit.rmse_validation, self.noise).to_dict(),
            "before_pruning": None if self.unpruned is None else _figures_of(self.unpruned),
        }


@dataclass(frozen=True, repr=False, eq=False)
class FittedWeights(Tabular):
    """A weight file and the fits of its heads."""

    weights: WeightFile
    heads: dict[HeadKey, FittedHead]
    """Fits of the weight file's heads, by class and head."""
    samples: int
    seconds: float
    rmse_train: float
    """Root mean square error of the win probability in training, over all classes."""
    rmse_validation: float | None
    choices: dict[str, ChoiceError]
    """Choice errors by class and for all classes: see `choice_errors`."""
    unpruned_choices: dict[str, ChoiceError]
    """Choice errors before pruning; empty without pruning."""
    warnings: tuple[str, ...] = ()
    """Warnings about the fits, one line each: failures and weights that grow without bound."""
    overall: dict[str, NoiseFreeError] = field(default_factory=dict)
    """Validation errors of the win probability over all classes and of the equity that ranks plays, with and
    without noise of the labels.
    """
    check: CrossCheck | None = None
    """Comparison of one head with SciPy's fit, if requested."""

    @property
    def choice_error(self) -> dict[str, float]:
        """Mean losses of `choices`, in points per decision."""
        return {name: error.mean for name, error in self.choices.items()}

    @property
    def choice_error_se(self) -> dict[str, float | None]:
        """Standard errors of `choice_error`, in points; None if unknown."""
        return {name: error.se if math.isfinite(error.se) else None for name, error in self.choices.items()}

    @property
    def unpruned_choice_error(self) -> dict[str, float]:
        """Mean losses of `unpruned_choices`, in points per decision."""
        return {name: error.mean for name, error in self.unpruned_choices.items()}

    @property
    def passes(self) -> int:
        """Largest number of passes of a head."""
        return max(head.fit.passes for head in self.heads.values())

    @property
    def stopped(self) -> str:
        """Why the fits stopped: "converged", or the reason of the first fit that failed or did not converge.

        Failures are listed in `objective.FAILURES`.
        """
        reasons = [of.fit.stopped for of in self.heads.values() if of.fit.stopped != Ending.CONVERGED]
        return next((reason for reason in reasons if reason in FAILURES), (*reasons, Ending.CONVERGED)[0])

    def head_figures(self) -> dict[str, dict[str, object]]:
        """Return the numbers of each head, by class and head: "race.win".

        For a pruned head, `before_pruning` has the numbers of the fit with every term; the others are from
        the last fit. `terms` is the number of weights without the bias; those of hidden units
        include the biases.
        """
        return {".".join(place): head.to_dict() for place, head in self.heads.items()}

    def to_dict(self) -> dict[str, object]:
        """Return the numbers for JSON, with choice errors in points."""
        return {
            "rmse_train": self.rmse_train,
            "rmse_validation": self.rmse_validation,
            "validation_errors": {name: error.to_dict() for name, error in self.overall.items()},
            "sweeps": self.passes,
            "stopped": self.stopped,
            "seconds": self.seconds,
            "samples": self.samples,
            "choice_error": self.choice_error,
            "choice_error_se": self.choice_error_se,
            "choice_error_before_pruning": self.unpruned_choice_error,
            "warnings": list(self.warnings),
            "heads": self.head_figures(),
            "cross_check": None if self.check is None else self.check.to_dict(),
        }

    def history_rows(self) -> list[dict[str, object]]:
        """Return one row per pass of each fit, with the columns `HISTORY_COLUMNS`.

        The last column, the noise of the labels, is the same for all passes.
        """
        return [
            dict(zip(HISTORY_COLUMNS, (*place, *figures, head.noise), strict=True))
            for place, head in self.heads.items()
            for figures in map(_FIGURES, head.fit.history)
        ]


def _figures_of(fit: FitRecord) -> dict[str, object]:
    return {
        "terms": fit.terms,
        "rmse_train": fit.rmse_train,
        "rmse_validation": fit.rmse_validation,
        "sweeps": fit.passes,
        "kept_pass": fit.passes if fit.kept_pass is None else fit.kept_pass,
        "stopped": fit.stopped,
        "seconds": fit.seconds,
    }
