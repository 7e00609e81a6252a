"""From datasets to a weight file: one fit for each position class and head."""

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.bootstrap.class_rows import LABELS, ClassRows, class_rows
from motif.bootstrap.fit_settings import FitSettings
from motif.bootstrap.heads import fit_head, head_terms, heads_to_fit
from motif.evaluators.weight_file import HeadWeights, PreFilter, WeightFile
from motif.fitting.pre_filter import fit_filter_steps
from motif.fitting.result import CONVERGED, FitResult
from motif.parameters import parameter_set
from motif.runtime.parallel import one_thread, run_ordered, working_on
from motif.runtime.progress import progress
from motif.runtime.version import VERSION
from motif.sampling import dataset_fingerprint

_FILTER_KEEPS = 8


@dataclass(frozen=True)
class FittedWeights:
    """A weight file and how its heads were fitted."""

    weights: WeightFile
    results: dict[tuple[str, str], FitResult]
    """By class and head."""
    samples: int
    seconds: float
    rmse_train: float
    """Of the win chance, over all classes."""
    rmse_validation: float | None

    @property
    def sweeps(self) -> int:
        """Most passes that a head took."""
        return max(result.passes for result in self.results.values())

    @property
    def stopped(self) -> str:
        """Why the fits stopped: "converged", or what stopped the first one that did not converge."""
        reasons = [result.stopped for result in self.results.values()]
        return next((reason for reason in reasons if reason != CONVERGED), CONVERGED)

    def as_dict(self) -> dict[str, Any]:
        """Numbers for a report."""
        return {
            "rmse_train": self.rmse_train,
            "rmse_validation": self.rmse_validation,
            "sweeps": self.sweeps,
            "stopped": self.stopped,
            "seconds": self.seconds,
            "samples": self.samples,
            "heads": {
                f"{class_name}.{head}": {
                    "rmse_train": result.rmse_train,
                    "rmse_validation": result.rmse_validation,
                    "sweeps": result.passes,
                    "stopped": result.stopped,
                    "seconds": result.seconds,
                }
                for (class_name, head), result in self.results.items()
            },
        }

    def history_rows(self) -> list[dict[str, Any]]:
        """One row a pass of each fit: class, head, pass, error, rmse_train, rmse_validation, seconds."""
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


def fit_dataset(
    folders: Sequence[Path],
    settings: FitSettings,
    *,
    name: str,
    version: int = 0,
    parent: str | None = None,
    jobs: int | None = None,
) -> FittedWeights:
    """Fit a weight file to the datasets in `folders`, pooled.

    The same data and settings give the same weights for any number of `jobs`.  Raises `DatasetError`
    for data that cannot be read, `FitError` for data that cannot be fitted.
    """
    settings.check()
    started = time.monotonic()
    chosen = parameter_set(settings.parameters)
    with class_rows(folders, chosen, settings.validation, settings.seed) as rows:
        fits = list(heads_to_fit(rows, settings))
        calls = ((rows[class_name], head, settings) for class_name, head in fits)
        results: dict[tuple[str, str], FitResult] = {}
        # The rows are files of this machine: fits stay here, also where a cluster does the rest.
        with (
            working_on(None),
            progress(f"fitting {name}", len(fits)) as advance,
            closing(run_ordered(fit_head, calls, jobs)) as solved,
        ):
            for fit, result in zip(fits, solved, strict=True):
                results[fit] = result
                advance(1)
        # One thread, or the last bits would depend on the number of cores.
        with one_thread():
            steps = {name: _filter_steps(found) for name, found in rows.items() if found.training}
        samples = sum(map(len, rows.values()))
        rmse_train, rmse_validation = _win_errors(rows, results)
    classes: dict[str, dict[str, HeadWeights]] = {}
    for (class_name, head), result in results.items():
        terms = head_terms(head, len(chosen), settings)
        parts = terms.split(result.weights)
        classes.setdefault(class_name, {})[head] = HeadWeights(
            float(np.float32(parts.bias)),
            parts.linear.astype(np.float32),
            terms.pairs,
            parts.quadratic.astype(np.float32),
        )
    fitted = FittedWeights(
        WeightFile(name, version, parent, chosen, classes, PreFilter(_FILTER_KEEPS, steps)),
        results,
        samples,
        time.monotonic() - started,
        rmse_train,
        rmse_validation,
    )
    facts: dict[str, Any] = {
        "method": settings.method,
        "samples": samples,
        "dataset": [dataset_fingerprint(Path(folder)) for folder in folders],
        "sweeps": fitted.sweeps,
        "stopped": fitted.stopped,
        "rmse_train": round(rmse_train, 6),
        "rmse_validation": None if rmse_validation is None else round(rmse_validation, 6),
        "ranking": settings.equity_ranking if settings.heads == "all" else 0.0,
        "ridge": settings.ridge,
        "equity_ridge": settings.equity_ridge,
        "seed": settings.seed,
        "motif": VERSION,
    }
    if len(folders) == 1:
        facts["dataset"] = facts["dataset"][0]
    return replace(fitted, weights=replace(fitted.weights, fit=facts))


def _filter_steps(rows: ClassRows) -> npt.NDArray[np.float32]:
    """The pre-filter's steps for one class, from the rows that train."""
    train = slice(rows.training)
    equity = rows.labels[train, LABELS.index("equity")]
    return fit_filter_steps(rows.boards[train], equity, rows.decisions[train])


def _win_errors(
    rows: Mapping[str, ClassRows], results: Mapping[tuple[str, str], FitResult]
) -> tuple[float, float | None]:
    """RMSE of the win chance over all classes, in training and validation."""
    squares, counts = np.zeros(2), np.zeros(2)
    for class_name, found in rows.items():
        if (result := results.get((class_name, "win"))) is None:
            continue
        errors = (result.rmse_train, result.rmse_validation)
        for k, (rmse, count) in enumerate(
            zip(errors, (found.training, len(found) - found.training), strict=True)
        ):
            if rmse is not None:
                squares[k] += rmse**2 * count
                counts[k] += count
    train = float(np.sqrt(squares[0] / counts[0]))
    return train, float(np.sqrt(squares[1] / counts[1])) if counts[1] else None
