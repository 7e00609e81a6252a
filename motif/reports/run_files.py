"""The files of a bootstrap run, read for a report and checked, and its versions on benchmark lines."""

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from motif.benchmark import BenchmarkFile, ErrorRate, ErrorRates
from motif.benchmark.choices import WorstDecision, player_choices, summary, worst_decisions
from motif.evaluators import WeightFile, read_weight_file
from motif.evaluators.static import from_weights
from motif.learning import BootstrapConfig, load_config
from motif.learning.bootstrap_run import CONFIG, HISTORY, SAMPLES, SUMMARY, WEIGHTS
from motif.players.player import static_player
from motif.reports.convergence import Rows
from motif.runtime.documents import Entry
from motif.runtime.errors import SettingError
from motif.sampling.dataset import MANIFEST

STEPS = ("sample", "fit", "measure")
"""What a version's seconds are spent on."""
_NUMBER, _MAYBE = (int, float), (int, float, type(None))
FIGURES: dict[str, tuple[type, ...]] = {
    "version": (int,), "name": (str,), "positions": (int,), "trials": (int,), "seconds_by_step": (dict,),
    "rmse_train": _NUMBER, "rmse_validation": _MAYBE, "sweeps": (int,), "stopped": (str,),
    "choice_error": (dict,), "choice_error_se": (dict,),
    "ppg_vs_pubeval": _NUMBER, "ppg_se": _NUMBER, "ppg_vs_previous": _NUMBER, "ppg_vs_previous_se": _NUMBER,
}  # fmt: skip
"""What a report tells of a version, and its types."""
_MAY_LACK = ("choice_error", "choice_error_se", "heads")
"""Mappings that summaries of earlier programs do not have."""


@dataclass(frozen=True)
class RunFiles:
    """A run as far as its versions are finished."""

    folder: Path
    config: BootstrapConfig
    config_text: str
    """Its config.yaml."""
    summaries: Sequence[dict[str, Any]]
    """One a finished version, in order; see `motif.learning.bootstrap_run`."""
    weights: Sequence[WeightFile]
    """One a finished version, in order."""

    @property
    def homes(self) -> list[Path]:
        """The folders of the finished versions."""
        return [self.folder / f"v{version}" for version in range(len(self.summaries))]

    @property
    def last(self) -> int:
        """The number of the last finished version."""
        return len(self.summaries) - 1

    @property
    def pools(self) -> list[Path] | None:
        """The datasets that the last version was fitted to; None when one of them is not there any more."""
        return fitted_pools(self.folder, self.config, self.last)


def read_run(folder: Path) -> RunFiles:
    """Read the run in `folder`, but for its samples and histories.

    Raises `SettingError` when it is no run, has no finished version or holds what cannot be read, and
    `WeightFileError` for weights that cannot be.
    """
    path = folder / CONFIG
    if folder.is_dir() and not path.exists():
        raise SettingError(f"{path}: cannot be read: there is no such file, so this is no bootstrap run")
    config = load_config(path)
    summaries = _summaries(folder, config)
    weights = [read_weight_file(folder / f"v{version}" / WEIGHTS) for version in range(len(summaries))]
    return RunFiles(folder, config, path.read_text(encoding="utf-8"), summaries, weights)


def read_history(home: Path) -> Rows:
    """The rows of a version's history.csv; raises `SettingError`."""
    try:
        with open(home / HISTORY, encoding="utf-8", newline="") as handle:
            return list(csv.DictReader(handle))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SettingError(f"{home / HISTORY}: cannot be read: {error}") from None


def fitted_pools(folder: Path, config: BootstrapConfig, version: int) -> list[Path] | None:
    """The datasets that a version was fitted to; None when one of them is not there any more."""
    pools = [folder / f"v{k}" / SAMPLES for k in config.versions[version].pooled_versions(version)]
    return pools if all((pool / MANIFEST).exists() for pool in pools) else None


def _summaries(folder: Path, config: BootstrapConfig) -> list[dict[str, Any]]:
    summaries = []
    for version in range(len(config.versions)):
        path = folder / f"v{version}" / SUMMARY
        try:
            summary = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            break
        except (OSError, ValueError, RecursionError) as error:
            raise SettingError(f"{path}: cannot be read: {error}") from None
        _check(Entry(summary, str(path), SettingError), version)
        summaries.append(summary)
    if not summaries:
        raise SettingError(f"{folder}: no version is finished yet")
    return summaries


def _check(summary: Entry, version: int) -> None:
    """Raise `SettingError` for a summary that lacks what a report tells."""
    if not isinstance(summary.value, dict):
        summary.fail("is no summary of a version")
    for name, kind in {**FIGURES, "heads": (dict,)}.items():
        if name in summary.value or name not in _MAY_LACK:
            summary[name].of(*kind)
    for step in STEPS:
        summary["seconds_by_step"][step].of(*_NUMBER)
    if summary["version"].value != version:
        summary["version"].fail(f"must be {version}, not {summary['version'].value}")


@dataclass(frozen=True)
class RunBenchmark:
    """What measuring a run's versions on benchmark files gave."""

    rates: Sequence[ErrorRates]
    """Error rates of each version."""
    worst: Sequence[WorstDecision]
    """Decisions of the last version, the one that cost most first."""

    def rows(self) -> dict[str, list[ErrorRate]]:
        """The error rates of the versions by file, and on all files together where there are several."""
        paths = list(self.rates[0].files)
        names = dict(zip(paths, _short_names(paths), strict=True))
        rows = {name: [rates.files[path] for rates in self.rates] for path, name in names.items()}
        return rows if len(rows) == 1 else {**rows, "all": [rates.overall for rates in self.rates]}


def run_benchmark(
    versions: Sequence[WeightFile], files: Sequence[BenchmarkFile], worst: int
) -> RunBenchmark | None:
    """Measure all `versions` on `files`, and find the `worst` decisions of the last; None for no file."""
    if not files:
        return None
    # Less work than it is to start processes: static evaluators play thousands of decisions a second.
    players = [static_player(from_weights(weights)) for weights in versions]
    choices = [[player_choices(player, file, jobs=1) for file in files] for player in players]
    return RunBenchmark(list(map(summary, choices)), worst_decisions(choices[-1], worst))


def _short_names(paths: Sequence[str]) -> list[str]:
    """The names of files without folders and endings, where these still differ."""
    names = [PurePath(path).name.partition(".")[0] for path in paths]
    return names if all(names) and len(set(names)) == len(names) else list(paths)
