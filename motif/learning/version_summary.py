"""A bootstrap version's summary.json: the types of its figures, and a check of the file."""

from dataclasses import fields
from pathlib import Path
from typing import Any

from motif.learning.cross_check import CrossCheck
from motif.runtime.documents import Entry
from motif.runtime.errors import SettingError, shown
from motif.runtime.files import json_of

VersionSummary = dict[str, Any]
"""The figures of a version, as in its summary.json; see `motif.learning.bootstrap_run`."""
STEPS = ("sample", "fit", "measure")
"""Steps of a version."""
_NUMBER, _MAYBE = (int, float), (int, float, type(None))
FIGURES: dict[str, tuple[type, ...]] = {
    "version": (int,), "name": (str,), "positions": (int,), "trials": (int,), "seconds_by_step": (dict,),
    "rmse_train": _NUMBER, "rmse_validation": _MAYBE, "validation_errors": (dict,), "sweeps": (int,),
    "stopped": (str,), "cross_check": (dict, type(None)),
    "choice_error": (dict,), "choice_error_se": (dict,),
    "ppg_vs_pubeval": _NUMBER, "ppg_se": _NUMBER, "ppg_vs_previous": _NUMBER, "ppg_vs_previous_se": _NUMBER,
}  # fmt: skip
"""Figures of a version in a report, with their types."""


def read_summary(path: Path, version: int) -> VersionSummary:
    """Return the summary of a version; raises `SettingError` for missing or invalid figures."""
    summary = Entry(json_of(path, SettingError), str(path), SettingError)
    if not isinstance(summary.value, dict):
        summary.fail("is not a version's summary")
    if summary["version"].value != version:
        summary["version"].fail(f"must be {version}, not {shown(summary['version'].value)}")
    kinds = {**FIGURES, "seconds": _NUMBER, "heads": (dict,), "warnings": (list,)}
    for name, kind in kinds.items():
        summary[name].of(*kind)
    for step in STEPS:
        summary["seconds_by_step"][step].of(*_NUMBER)
    for name in ("choice_error", "choice_error_se"):
        for _, error in summary[name].items():
            error.of(*_MAYBE)
    for _, errors in summary["validation_errors"].items():
        errors.of(dict)
        for name in ("rmse_validation", "label_noise", "rmse_without_noise"):
            errors[name].of(*_MAYBE)
    if summary.value["cross_check"]:
        for one in fields(CrossCheck):
            summary["cross_check"][one.name].of(*((str,) if one.type is str else _NUMBER))
    return summary.mapping()
