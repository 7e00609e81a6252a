"""Small runs, and the parts of their files that must not depend on how often they were stopped."""

import csv
import io
import json
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from motif.learning.bootstrap_config import BootstrapConfig, VersionStep
from motif.runtime.errors import IncompleteDatasetWarning
from motif.runtime.files import is_temporary
from motif.sampling.dataset import read_dataset
from motif.sampling.dataset_files import read_manifest

SAMPLE = ("--player", "pubeval", "--games", 16, "--trials", 4, "--candidates", 3, "--rate", 0.3)
STEP = VersionStep(games=8, trials=2, rate=0.4, crashed_rate=1.0, candidates=4, cut=6)
TINY = BootstrapConfig(
    "tiny",
    "simple",
    seed=4,
    strength_games=60,
    fit={"parameters": "keith", "terms": "linear"},
    versions=(STEP, replace(STEP, games=6, noise=0.1, pooled=1)),
)


def sampling(folder: Path, jobs: int = 2, *more: object) -> tuple[object, ...]:
    """Return the command that makes or resumes a small dataset."""
    return ("sample", "--out", folder, *SAMPLE, "--resume", "--jobs", jobs, *more)


def bootstrapping(folder: Path, config: BootstrapConfig = TINY, jobs: int = 2) -> tuple[object, ...]:
    """Return the command that makes or resumes a small run; its configuration is written beside `folder`."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    config.save(folder.parent)
    return ("bootstrap", "--out", folder, "--config", folder.parent / "config.yaml", "--jobs", jobs)


def lasting(folder: Path) -> dict[str, Any]:
    """Return every file below `folder`, hidden ones included, without timings."""
    return {str(path.relative_to(folder)): _timeless(path) for path in files_below(folder)}


def files_below(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def unlike(one: Path, other: Path) -> list[str]:
    """Return the names of the files that differ between two folders, except for timings."""
    here, there = lasting(one), lasting(other)
    return sorted(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))


def _timeless(path: Path) -> Any:
    if path.name == "history.csv":
        rows = list(csv.DictReader(io.StringIO(path.read_text())))
        return [{key: value for key, value in row.items() if key != "seconds"} for row in rows]
    if path.name == "summary.json":
        return _without_seconds(json.loads(path.read_text()))
    if path.name == "convergence.png":
        # It contains the seconds of the fits, so only its completeness is checked.
        picture = path.read_bytes()
        return picture[:8], picture[-12:]
    # The page of a run shows how long each version took.
    return path.read_bytes() if path.suffix != ".html" else None


def _without_seconds(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: _without_seconds(of) for key, of in value.items() if not key.startswith("seconds")}


def check_readable(samples: Path) -> None:
    """Check that everything left by a stop can be read; only temporary files may be incomplete."""
    if (samples / "_manifest.json").exists() and read_manifest(samples).positions:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IncompleteDatasetWarning)
            assert len(read_dataset(samples)) == read_manifest(samples).positions


def temporaries(folder: Path) -> list[str]:
    return [path.name for path in files_below(folder) if is_temporary(path)]
