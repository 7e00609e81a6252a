"""From datasets to a weight file: a fit for each position class and head, then those of game plans."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from motif.bootstrap.choice_error import choice_errors
from motif.bootstrap.class_rows import LABELS, ClassRows, class_rows
from motif.bootstrap.fit_settings import FitSettings
from motif.bootstrap.fitted_weights import FittedWeights
from motif.bootstrap.heads import HeadFit, fit_head, head_terms, head_weights, heads_to_fit, rows_of_head
from motif.bootstrap.plan_heads import HEAD, fit_plans
from motif.bootstrap.term_errors import heads_in, term_errors
from motif.evaluators.weight_file import HeadWeights, PreFilter, WeightFile
from motif.fitting.pre_filter import fit_filter_steps
from motif.fitting.result import FitResult
from motif.fitting.term_table import write_terms
from motif.parameters import parameter_set
from motif.runtime.parallel import one_thread, run_ordered, working_on
from motif.runtime.progress import progress
from motif.runtime.version import VERSION
from motif.sampling import dataset_fingerprint

_FILTER_KEEPS = 8

_Fits = dict[tuple[str, str], FitResult]
"""By class, and head or plan."""
_Place = TypeVar("_Place")
_Result = TypeVar("_Result")


def fit_dataset(
    folders: Sequence[Path],
    settings: FitSettings,
    *,
    name: str,
    version: int = 0,
    parent: str | None = None,
    term_table: Path | None = None,
    jobs: int | None = None,
) -> FittedWeights:
    """Fit a weight file to the datasets in `folders`, pooled.

    `term_table` is a file for the table of terms with their standard errors (`motif.fitting.term_table`).
    The same data and settings give the same weights for any number of `jobs`.  Raises `DatasetError`
    for data that cannot be read, `FitError` for data that cannot be fitted, `FileError` when a file cannot
    be written.
    """
    settings.check()
    started = time.monotonic()
    chosen = parameter_set(settings.parameters)
    with class_rows(folders, chosen, settings.validation, settings.seed) as rows:
        calls = {fit: (rows[fit[0]], fit[1], settings) for fit in heads_to_fit(rows, settings)}
        heads = _each(fit_head, calls, f"fitting {name}", jobs)
        results = {fit: head.result for fit, head in heads.items()}
        plans = _plan_fits(rows, results, name, settings)
        # One thread, or the last bits would depend on the number of cores.
        with one_thread():
            steps = {name: _filter_steps(found) for name, found in rows.items() if found.training}
        samples = sum(map(len, rows.values()))
        rmse_train, rmse_validation = _win_errors(rows, results, settings)
        weights = WeightFile(
            name,
            version,
            parent,
            chosen,
            _heads_by_class(heads),
            PreFilter(_FILTER_KEEPS, steps),
            plans={
                plan: {HEAD: head_weights(head_terms(HEAD, len(chosen), settings), result.weights)}
                for (_, plan), result in plans.items()
            },
            bearoff=settings.bearoff,
        )
        choices = choice_errors(rows, weights)
        unpruned = {fit: head.unpruned for fit, head in heads.items() if head.unpruned}
        whole = replace(weights, classes=_heads_by_class({**heads, **unpruned}))
        unpruned_choices = choice_errors(rows, whole) if unpruned else {}
        if term_table is not None:
            places = {place: (rows, weights, settings, *place) for place in heads_in(weights)}
            told = _each(term_errors, places, f"standard errors of {name}", jobs)
            write_terms(term_table, list(told.values()))
    fitted = FittedWeights(
        weights,
        results,
        plans,
        samples,
        time.monotonic() - started,
        rmse_train,
        rmse_validation,
        choices,
        {fit: head.result for fit, head in unpruned.items()},
        unpruned_choices,
    )
    return replace(fitted, weights=replace(weights, fit=_facts(fitted, folders, settings)))


def _each(
    function: Callable[..., _Result], calls: Mapping[_Place, tuple[Any, ...]], label: str, jobs: int | None
) -> dict[_Place, _Result]:
    """The results of `function` by the keys of `calls`."""
    results: dict[_Place, _Result] = {}
    # The rows are files of this machine: fits stay here, also where a cluster does the rest.
    with (
        working_on(None),
        progress(label, len(calls)) as advance,
        closing(run_ordered(function, calls.values(), jobs)) as solved,
    ):
        for key, result in zip(calls, solved, strict=True):
            results[key] = result
            advance(1)
    return results


def _plan_fits(rows: Mapping[str, ClassRows], results: _Fits, name: str, settings: FitSettings) -> _Fits:
    """The results of the plans' heads, by class and plan: of every class that has an equity head."""
    parents = [class_name for class_name, head in results if head == HEAD] if settings.plans else []
    plans: _Fits = {}
    with progress(f"fitting the game plans of {name}", len(parents)) as advance:
        for class_name in parents:
            found = fit_plans(rows[class_name], class_name, results[class_name, HEAD].weights, settings)
            plans.update({(class_name, plan): result for plan, result in found.items()})
            advance(1)
    return plans


def _heads_by_class(heads: Mapping[tuple[str, str], HeadFit]) -> dict[str, dict[str, HeadWeights]]:
    classes: dict[str, dict[str, HeadWeights]] = {}
    for (class_name, head), fit in heads.items():
        classes.setdefault(class_name, {})[head] = head_weights(fit.terms, fit.result.weights)
    return classes


def _facts(fitted: FittedWeights, folders: Sequence[Path], settings: FitSettings) -> dict[str, Any]:
    """What the weight file tells of its fit."""
    fingerprints = [dataset_fingerprint(Path(folder)) for folder in folders]
    validation = fitted.rmse_validation
    of_plans = {"plan_shrinkage": settings.plan_shrinkage, "plan_rows": settings.plan_rows}
    return {
        "method": settings.method,
        "samples": fitted.samples,
        "dataset": fingerprints if len(folders) > 1 else fingerprints[0],
        "sweeps": fitted.sweeps,
        "stopped": fitted.stopped,
        "rmse_train": round(fitted.rmse_train, 6),
        "rmse_validation": None if validation is None else round(validation, 6),
        "choice_error": {name: round(error, 6) for name, error in fitted.choice_error.items()},
        "ranking": settings.equity_ranking if settings.heads == "all" else 0.0,
        "ridge": settings.ridge,
        "equity_ridge": settings.equity_ridge,
        **({} if settings.prune is None else {"prune": settings.prune}),
        **(of_plans if settings.plans else {}),
        "validation": settings.validation,
        "seed": settings.seed,
        "motif": VERSION,
    }


def _filter_steps(rows: ClassRows) -> npt.NDArray[np.float32]:
    """The pre-filter's steps for one class, from the rows that train."""
    train = slice(rows.training)
    equity = rows.labels[train, LABELS.index("equity")]
    return fit_filter_steps(rows.boards[train], equity, rows.decisions[train])


def _win_errors(
    rows: Mapping[str, ClassRows], results: _Fits, settings: FitSettings
) -> tuple[float, float | None]:
    """RMSE of the win chance over all classes, in training and validation."""
    squares, counts = np.zeros(2), np.zeros(2)
    for class_name, found in rows.items():
        if (result := results.get((class_name, "win"))) is None:
            continue
        errors = (result.rmse_train, result.rmse_validation)
        sides = np.split(rows_of_head(found.boards, "win", settings), [found.training])
        for k, (rmse, count) in enumerate(zip(errors, map(np.count_nonzero, sides), strict=True)):
            if rmse is not None:
                squares[k] += rmse**2 * count
                counts[k] += count
    train = float(np.sqrt(squares[0] / counts[0]))
    return train, float(np.sqrt(squares[1] / counts[1])) if counts[1] else None
