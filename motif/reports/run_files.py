"""The files of a bootstrap run's finished versions, checked for a report."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from motif.evaluators import WeightFile, read_weight_file
from motif.learning.bootstrap_config import CONFIG, BootstrapConfig, load_config
from motif.learning.bootstrap_run import HISTORY, SAMPLES, SUMMARY, WEIGHTS
from motif.learning.version_summary import VersionSummary, read_summary
from motif.reports.convergence import HistoryRows
from motif.runtime.errors import SettingError
from motif.runtime.files import text_of
from motif.runtime.limits import HISTORY_FILE, HISTORY_LINES, MAX_HISTORY_COLUMNS, YAML_FILE
from motif.sampling.dataset_files import is_dataset


@dataclass(frozen=True)
class RunFiles:
    """The finished versions of a run."""

    folder: Path
    config: BootstrapConfig
    config_text: str
    """Content of config.yaml."""
    summaries: Sequence[VersionSummary]
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
    config = load_config(path, find_parameters=False)
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


def _summaries(folder: Path, config: BootstrapConfig) -> list[VersionSummary]:
    summaries: list[VersionSummary] = []
    for version in range(len(config.versions)):
        path = folder / f"v{version}" / SUMMARY
        if not path.exists():
            break
        summaries.append(read_summary(path, version))
    if not summaries:
        raise SettingError(f"{folder}: no version is finished yet")
    return summaries
