"""From datasets to a weight file: one fit for each position class and head."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from motif.board.position import CHECKERS
from motif.bootstrap.pool import pooled, training_rows
from motif.evaluators import OUTPUTS
from motif.evaluators.squash import bounds
from motif.evaluators.weight_file import HeadWeights, WeightFile
from motif.fitting.link import Link
from motif.fitting.pre_filter import fit_pre_filter
from motif.fitting.problem import Problem
from motif.fitting.result import CONVERGED, FitResult
from motif.fitting.solve import solver
from motif.fitting.terms import Terms
from motif.parameters import ParameterSet, parameter_set
from motif.parameters.position_class import CLASS_NAMES
from motif.parameters.sets import features
from motif.runtime.errors import FitError
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import progress
from motif.runtime.version import VERSION
from motif.sampling import Samples, dataset_fingerprint

_RANKING = 5.0
_FILTER_KEEPS = 8
_FALLBACK_CLASS = "contact"
# Backgammons are too rare for second-degree weights.
_LINEAR_HEADS = ("win_backgammon", "lose_backgammon")


@dataclass(frozen=True)
class FitSettings:
    """How weights are fitted."""

    method: str = "gauss-newton"
    parameters: str = "motif"
    terms: Literal["pairs", "linear"] = "pairs"
    heads: Literal["all", "win"] = "all"
    """All: the five probabilities, and for contact and crashed an equity head that chooses plays."""
    ranking: float | None = None
    """Weight of the ranking term for equity heads; by default 5 with gauss-newton, else 0."""
    ridge: float = 5.0
    """Weight of the squared weights against the sum of squared errors, for chances."""
    equity_ridge: float = 50.0
    """The same for equity heads, whose errors are larger."""
    validation: float = 0.1
    """Share of the games held out for validation."""
    max_passes: int | None = None
    seed: int = 0
    """Draws the games for validation."""

    def check(self) -> None:
        """Raise `FitError` for a value that makes no sense."""
        if not 0 <= self.validation < 1:
            raise FitError(f"--validation must be at least 0 and below 1, not {self.validation}")
        for name in ("ranking", "ridge", "equity_ridge"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < math.inf:
                option = name.replace("_", "-")
                raise FitError(f"--{option} must be finite and at least 0, not {value}")
        if self.max_passes is not None and self.max_passes < 1:
            raise FitError(f"--max-passes must be at least 1, not {self.max_passes}")
        if self.terms not in ("pairs", "linear"):
            raise FitError(f"--terms must be pairs or linear, not {self.terms!r}")
        if self.heads not in ("all", "win"):
            raise FitError(f"--heads must be all or win, not {self.heads!r}")
        solver(self.method)
        parameter_set(self.parameters)

    @property
    def equity_ranking(self) -> float:
        """Weight of the ranking term that equity heads are fitted with."""
        if self.ranking is not None:
            return self.ranking
        return _RANKING if self.method == "gauss-newton" else 0.0


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
    samples = pooled(folders)
    training = training_rows(samples, settings.validation, settings.seed)
    chosen = parameter_set(settings.parameters)
    fits = list(_fits(samples, training, chosen, settings))
    results: dict[tuple[str, str], FitResult] = {}
    with progress(f"fitting {name}", len(fits)) as advance:
        calls = ((problem, settings) for _, _, problem in fits)
        for (class_name, head, _), result in zip(fits, run_ordered(_solve, calls, jobs), strict=True):
            results[class_name, head] = result
            advance(1)
    classes: dict[str, dict[str, HeadWeights]] = {}
    for class_name, head, problem in fits:
        parts = problem.terms.split(results[class_name, head].weights)
        classes.setdefault(class_name, {})[head] = HeadWeights(
            float(np.float32(parts.bias)),
            parts.linear.astype(np.float32),
            problem.terms.pairs,
            parts.quadratic.astype(np.float32),
        )
    filtered = fit_pre_filter(
        samples.boards, samples.equity, samples.decision, samples.position_class, _FILTER_KEEPS
    )
    rmse_train, rmse_validation = _win_errors(fits, results)
    fitted = FittedWeights(
        WeightFile(name, version, parent, chosen, classes, filtered),
        results,
        len(samples),
        time.monotonic() - started,
        rmse_train,
        rmse_validation,
    )
    facts: dict[str, Any] = {
        "method": settings.method,
        "samples": len(samples),
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


def _fits(
    samples: Samples, training: npt.NDArray[np.bool_], chosen: ParameterSet, settings: FitSettings
) -> Iterator[tuple[str, str, Problem]]:
    """Class, head and problem of every fit, in the weight file's order."""
    pairs = Terms.all_pairs(len(chosen)) if settings.terms == "pairs" else Terms.linear(len(chosen))
    for code, class_name in enumerate(CLASS_NAMES):
        rows = np.flatnonzero(samples.position_class == code)
        if not training[rows].any():
            if class_name in (_FALLBACK_CLASS, "race"):
                raise FitError(f"the dataset holds no {class_name} positions to train on: sample more games")
            continue
        values = features(chosen, samples.boards[rows])
        off_own = CHECKERS - np.maximum(samples.boards[rows], 0).sum(axis=1)
        off_opponent = CHECKERS + np.minimum(samples.boards[rows], 0).sum(axis=1)
        for head in _heads(class_name, settings):
            use = np.ones(len(rows), np.bool_)
            if head.startswith("win_"):
                use = off_opponent == 0
            elif head.startswith("lose_"):
                use = off_own == 0
            if not training[rows][use].any():
                continue
            labels = samples.equity if head == "equity" else samples.probabilities[:, OUTPUTS.index(head)]
            yield (
                class_name,
                head,
                Problem(
                    values[use],
                    labels[rows][use].astype(np.float64),
                    Terms.linear(len(chosen)) if head in _LINEAR_HEADS else pairs,
                    Link(*bounds(head)),
                    decisions=samples.decision[rows][use],
                    training=training[rows][use],
                    # A problem's error is a mean, so the same prior weighs less the more rows there are.
                    ridge=(settings.equity_ridge if head == "equity" else settings.ridge)
                    / np.count_nonzero(training[rows][use]),
                    ranking=settings.equity_ranking if head == "equity" else 0.0,
                ),
            )


def _heads(class_name: str, settings: FitSettings) -> tuple[str, ...]:
    if settings.heads == "win":
        return ("win",)
    # A squashed equity cannot say that a race is won or lost for certain; chances can.
    return OUTPUTS if class_name == "race" else (*OUTPUTS, "equity")


def _solve(problem: Problem, settings: FitSettings) -> FitResult:
    solve = solver(settings.method)
    if settings.max_passes is None:
        return solve(problem)
    return solve(problem, max_passes=settings.max_passes)


def _win_errors(
    fits: Sequence[tuple[str, str, Problem]], results: dict[tuple[str, str], FitResult]
) -> tuple[float, float | None]:
    """RMSE of the win chance over all classes, in training and validation."""
    squares, counts = np.zeros(2), np.zeros(2)
    for class_name, head, problem in fits:
        if head == "win":
            result = results[class_name, head]
            for k, (rmse, rows) in enumerate(
                ((result.rmse_train, problem.train), (result.rmse_validation, problem.validation))
            ):
                if rmse is not None:
                    squares[k] += rmse**2 * len(rows)
                    counts[k] += len(rows)
    train = float(np.sqrt(squares[0] / counts[0]))
    return train, float(np.sqrt(squares[1] / counts[1])) if counts[1] else None
