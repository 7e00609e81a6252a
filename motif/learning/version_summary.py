"""A bootstrap version's summary.json: its figures, and a check of the file."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from motif.learning.cross_check import CrossCheck
from motif.learning.label_noise import NoiseFreeError
from motif.runtime.documents import Entry
from motif.runtime.errors import SettingError, shown
from motif.runtime.files import json_of
from motif.runtime.frames import Row, finite

STEPS = ("sample", "fit", "measure")
"""Steps of a version."""
_NUMBER, _MAYBE = (float, int), (float, int, type(None))
_FIGURES = (
    "version", "name", "positions", "trials", "seconds_by_step", "rmse_train", "rmse_validation",
    "validation_errors", "sweeps", "stopped", "cross_check", "choice_error", "choice_error_se",
    "ppg_vs_pubeval", "ppg_se", "ppg_vs_previous", "ppg_vs_previous_se",
)  # fmt: skip


@dataclass(frozen=True)
class _Making:
    """How a version was made."""

    version: int
    name: str
    positions: int
    """Number of positions fitted."""
    trials: int
    """Number of rollout trials per position; 1 for labels by an evaluator."""
    sample_settings: dict[str, object]
    seconds: float
    seconds_by_step: dict[str, float]
    """Seconds of each of `STEPS`."""


@dataclass(frozen=True)
class _FitFigures(_Making):
    """The figures of a version's fit; see `FittedWeights`."""

    rmse_train: float
    """Root mean square error of the win probability in training, over all classes."""
    rmse_validation: float | None
    validation_errors: dict[str, NoiseFreeError]
    """Validation errors of the win probability and of the equity that ranks plays."""
    sweeps: int
    """Largest number of passes of a head."""
    stopped: str
    """Why the fits stopped: see `FittedWeights.stopped`."""
    samples: int
    choice_error: Mapping[str, float | None]
    """Choice errors in points by class and for all classes: see `choice_errors`."""
    choice_error_se: Mapping[str, float | None]
    choice_error_before_pruning: dict[str, float]
    warnings: list[str]
    heads: dict[str, dict[str, Any]]
    """Numbers of each head: see `FittedWeights.head_figures`."""
    cross_check: CrossCheck | None


@dataclass(frozen=True)
class VersionSummary(_FitFigures):
    """The figures of a version; see `motif.learning.bootstrap_run`."""

    ppg_vs_pubeval: float
    """Points per game against PubEval."""
    ppg_se: float
    ppg_vs_previous: float
    """Points per game against the previous version, or the start player."""
    ppg_vs_previous_se: float

    def to_dict(self) -> Row:
        """Return the figures for JSON."""
        row: Row = finite(
            {
                **vars(self),
                "validation_errors": {name: of.to_dict() for name, of in self.validation_errors.items()},
                "cross_check": None if self.cross_check is None else self.cross_check.to_dict(),
            }
        )
        return row

    def figures(self) -> Row:
        """Return the figures of a report, for JSON."""
        row = self.to_dict()
        return {name: row[name] for name in _FIGURES}


def read_summary(path: Path, version: int) -> VersionSummary:
    """Return the summary of a version; raises `SettingError` for missing or invalid figures."""
    summary = Entry(json_of(path, SettingError), str(path), SettingError)
    if not isinstance(summary.value, dict):
        summary.fail("is not a version's summary")
    if summary["version"].value != version:
        summary["version"].fail(f"must be {version}, not {shown(summary['version'].value)}")
    summary.fields(VersionSummary)
    summary["seconds_by_step"].mapping(needed=STEPS)
    check = summary["cross_check"]
    return summary.made(
        VersionSummary,
        sample_settings=summary["sample_settings"].mapping(),
        seconds_by_step=_numbers(summary["seconds_by_step"], *_NUMBER),
        validation_errors={name: _error(errors) for name, errors in summary["validation_errors"].items()},
        choice_error=_numbers(summary["choice_error"], *_MAYBE),
        choice_error_se=_numbers(summary["choice_error_se"], *_MAYBE),
        choice_error_before_pruning=_numbers(summary["choice_error_before_pruning"], *_NUMBER),
        warnings=[warning.of(str) for warning in summary["warnings"].entries()],
        heads={name: head.mapping() for name, head in summary["heads"].items()},
        cross_check=None if check.value is None else check.made(CrossCheck),
    )


def _numbers(entry: Entry, *kinds: type) -> dict[str, Any]:
    return {name: number.of(*kinds) for name, number in entry.items()}


def _error(entry: Entry) -> NoiseFreeError:
    entry.mapping()
    error, noise, _ = (
        entry[name].of(*_MAYBE) for name in ("rmse_validation", "label_noise", "rmse_without_noise")
    )
    return NoiseFreeError(error, noise)
