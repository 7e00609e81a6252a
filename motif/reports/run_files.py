"""The files of a bootstrap run's finished versions, checked for a report."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from io import StringIO
from pathlib import Path
from typing import Any

from motif.evaluators import WeightFile, read_weight_file
from motif.learning.bootstrap_run import (
    CONFIG,
    HISTORY,
    SAMPLES,
    SUMMARY,
    WEIGHTS,
    BootstrapConfig,
    load_config,
)
from motif.learning.cross_check import CrossCheck
from motif.reports.convergence import HistoryRows
from motif.runtime.documents import Entry
from motif.runtime.errors import SettingError
from motif.runtime.files import json_of, text_of
from motif.runtime.limits import HISTORY_FILE, HISTORY_LINES, MAX_HISTORY_COLUMNS, YAML_FILE
from motif.sampling.dataset import is_dataset

VersionFigures = Mapping[str, Any]
"""A version's summary.json; see `motif.learning.bootstrap_run`."""
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


@dataclass(frozen=True)
class RunFiles:
    """The finished versions of a run."""

    folder: Path
    config: BootstrapConfig
    config_text: str
    """Content of config.yaml."""
    summaries: Sequence[VersionFigures]
    """One per finished version, in order."""
    weights: Sequence[WeightFile]
    """One per finished version, in order."""

    @property
    def homes(self) -> list[Path]:
        """Folders of the finished versions."""
        return [self.folder / f"v{version}" for version in range(len(self.summaries))]

    @property
    def last(self) -> int:
        """Number of the last finished version."""
        return len(self.summaries) - 1

    @property
    def pools(self) -> list[Path] | None:
        """Datasets of the last version's fit; None if one is missing."""
        return fitted_pools(self.folder, self.config, self.last)


def read_run(folder: Path) -> RunFiles:
    """Read the run in `folder`, except samples and histories.

    Raises `SettingError` if it is not a run, has no finished version or has unreadable files,
    `WeightFileError` for unreadable weights.
    """
    path = folder / CONFIG
    if folder.is_dir() and not path.exists():
        raise SettingError(f"{path}: cannot be read: there is no such file, so this is not a bootstrap run")
    config = load_config(path)
    summaries = _summaries(folder, config)
    weights = [read_weight_file(folder / f"v{version}" / WEIGHTS) for version in range(len(summaries))]
    return RunFiles(folder, config, text_of(path, SettingError, YAML_FILE), summaries, weights)


def read_history(home: Path) -> HistoryRows:
    """Return the rows of a version's history.csv; raises `SettingError`."""
    path = home / HISTORY
    text = text_of(path, SettingError, HISTORY_FILE)
    HISTORY_LINES.check(text.count("\n"), str(path), SettingError)
    MAX_HISTORY_COLUMNS.check(text.partition("\n")[0].count(",") + 1, str(path), SettingError)
    try:
        return list(csv.DictReader(StringIO(text, newline="")))
    except csv.Error as error:
        raise SettingError(f"{path}: cannot be read: {error}") from None


def fitted_pools(folder: Path, config: BootstrapConfig, version: int) -> list[Path] | None:
    """Return the datasets of a version's fit; None if one is missing."""
    pools = [folder / f"v{k}" / SAMPLES for k in config.versions[version].pooled_versions(version)]
    return pools if all(map(is_dataset, pools)) else None


def _summaries(folder: Path, config: BootstrapConfig) -> list[VersionFigures]:
    summaries: list[VersionFigures] = []
    for version in range(len(config.versions)):
        path = folder / f"v{version}" / SUMMARY
        if not path.exists():
            break
        summary = Entry(json_of(path, SettingError), str(path), SettingError)
        _check(summary, version)
        summaries.append(summary.mapping())
    if not summaries:
        raise SettingError(f"{folder}: no version is finished yet")
    return summaries


def _check(summary: Entry, version: int) -> None:
    """Raise `SettingError` for a summary with missing or invalid figures."""
    if not isinstance(summary.value, dict):
        summary.fail("is not a version's summary")
    for name, kind in {**FIGURES, "heads": (dict,), "warnings": (list,)}.items():
        summary[name].of(*kind)
    for step in STEPS:
        summary["seconds_by_step"][step].of(*_NUMBER)
    for head in summary.value["validation_errors"]:
        errors = summary["validation_errors"][head]
        errors.of(dict)
        for name in ("rmse_validation", "label_noise", "rmse_without_noise"):
            errors[name].of(*_MAYBE)
    if summary.value["cross_check"]:
        for one in fields(CrossCheck):
            summary["cross_check"][one.name].of(*((str,) if one.type is str else _NUMBER))
    if summary["version"].value != version:
        summary["version"].fail(f"must be {version}, not {summary['version'].value}")
