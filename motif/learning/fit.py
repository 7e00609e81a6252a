"""The fit of a weight file to datasets.

`fit_dataset` reads the rows of each position class, fits either each head separately (`_fit_heads`) or all
probabilities of a class together with a hidden layer (`_fit_hidden_layers`), and measures the result.
"""

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators import Evaluator, StaticEvaluator
from motif.evaluators.kernels import NO_ROWS, evaluate_packed
from motif.evaluators.probabilities import HEADS, RANKING_HEAD
from motif.evaluators.static import prepared, simple
from motif.evaluators.weight_file import LINE_WANTED, FilterWeights, HeadKey, HeadWeights, WeightFile, is_line
from motif.fitting.objective import FAILURES, TOLERANCE, FitRecord
from motif.fitting.significance import term_names, write_terms
from motif.fitting.solvers import solver
from motif.learning.cross_check import CrossCheck, check_fit, compared, head_to_check
from motif.learning.fit_errors import (
    WinErrors,
    choice_errors,
    label_noise_of,
    overall_errors,
    win_errors_of_heads,
    win_errors_of_weights,
)
from motif.learning.fit_settings import FitSettings
from motif.learning.fitted_weights import FittedHead, FittedWeights
from motif.learning.heads import (
    HeadFit,
    classes_to_fit,
    fit_head,
    head_weights,
    heads_in,
    heads_to_fit,
    term_errors,
)
from motif.learning.hidden_classes import METHOD, check_start, fit_hidden_classes
from motif.learning.label_levels import with_levels
from motif.learning.move_filter import KEPT_PLAYS, filter_steps, imitate, imitating_filter
from motif.learning.rows import ClassRows, check_different, class_rows
from motif.parameters import ParameterSet, parameter_set
from motif.parameters.named_sets import features
from motif.parameters.position_class import ALL
from motif.runtime.errors import FailedFitError, FitError, shown
from motif.runtime.package import VERSION
from motif.runtime.parallel import run_ordered, working_on
from motif.runtime.progress import Stopwatch, progress
from motif.runtime.streams import derive_states
from motif.sampling.dataset_files import read_manifest

NO_TERM_TABLE = "term_table: terms fitted together with hidden units have no standard errors"
_WARM_UP_ROWS = 8
_Key = TypeVar("_Key")
_Result = TypeVar("_Result")


@dataclass(frozen=True, eq=False)
class _Fits:
    """Weights and the fits of their heads, by class and head."""

    weights: WeightFile
    fits: Mapping[HeadKey, FitRecord]
    errors: WinErrors
    heads: Mapping[HeadKey, HeadFit] = field(default_factory=dict)
    """The fits of heads without hidden units."""
    check: CrossCheck | None = None


def fit_dataset(
    folders: Sequence[Path],
    settings: FitSettings,
    *,
    name: str,
    version: int = 0,
    parent: str | None = None,
    start: WeightFile | None = None,
    levels: Evaluator | None = None,
    term_table: Path | None = None,
    cross_check: bool = False,
    checkpoints: Path | None = None,
    jobs: int | None = None,
) -> FittedWeights:
    """Fit a weight file to the pooled datasets in `folders`.

    A fit with hidden units can `start` from weights with the same number of units. `levels` sets the means of
    the labels of each decision (`motif.learning.label_levels`). `term_table` is a file for the table of terms
    with their standard errors (`motif.fitting.significance`). `checkpoints` is a folder in which a fit with
    hidden layers stores its state after every pass; the same call resumes from there. With `cross_check`,
    SciPy also fits one of the heads (`motif.learning.cross_check`). The same data and settings give the same
    weights for any number of `jobs`. Raises `DatasetError` for data that cannot be read, `FitError` for data
    that cannot be fitted, its subclass `FailedFitError` if a head has no usable fit, and `FileError` if a
    file cannot be written.
    """
    settings.check()
    for field_name, text in (("name", name), ("parent", parent)):
        if (text is not None or field_name == "name") and not is_line(text):
            raise FitError(f"{field_name} {LINE_WANTED}, not {shown(text)}", field_name)
    if start is not None:
        check_start(start, settings)
    if settings.hidden and term_table is not None:
        raise FitError(NO_TERM_TABLE, "term_table")
    check_different(folders)
    stopwatch = Stopwatch()
    parameters = parameter_set(settings.parameters)
    changed = None if levels is None else partial(with_levels, evaluator=levels)
    with class_rows(folders, parameters, settings.validation, settings.seed, changed=changed) as rows:
        if settings.hidden:
            fits = _fit_hidden_layers(rows, parameters, settings, name, start, checkpoints, jobs)
        else:
            fits = _fit_heads(rows, parameters, settings, name, cross_check, jobs)
        weights = replace(fits.weights, version=version, parent=parent)
        if term_table is not None:
            calls = {key: (rows, weights, settings, *key) for key in heads_in(weights)}
            terms = _each(term_errors, calls, f"standard errors of {name}", jobs)
            write_terms(term_table, list(terms.values()))
        fitted = _measured(replace(fits, weights=weights), rows, settings, stopwatch.seconds)
    return replace(fitted, weights=replace(weights, fit=_facts(fitted, folders, settings, start, levels)))


def _measured(
    fits: _Fits, rows: Mapping[str, ClassRows], settings: FitSettings, seconds: float
) -> FittedWeights:
    """Return weights with their fits and errors."""
    weights, heads, errors = fits.weights, fits.heads, fits.errors
    whole = {key: head.unpruned for key, head in heads.items() if head.unpruned}
    unpruned = _heads_by_class({**heads, **whole})
    return FittedWeights(
        weights=weights,
        heads={
            key: FittedHead(
                fit,
                whole[key].result if key in whole else None,
                label_noise_of(rows, [key.class_name], key.head, settings),
            )
            for key, fit in fits.fits.items()
        },
        samples=sum(map(len, rows.values())),
        seconds=seconds,
        rmse_train=errors.train,
        rmse_validation=errors.validation,
        choices=choice_errors(rows, weights),
        unpruned_choices=choice_errors(rows, replace(weights, classes=unpruned)) if whole else {},
        warnings=tuple(_warnings(heads, weights.parameters)),
        overall=overall_errors(rows, weights, errors.validation, settings),
        check=fits.check,
    )


def _fit_heads(
    rows: Mapping[str, ClassRows],
    parameters: ParameterSet,
    settings: FitSettings,
    name: str,
    cross_check: bool,
    jobs: int | None,
) -> _Fits:
    """Fit each head of each class separately."""
    keys = list(heads_to_fit(rows, settings))
    calls: dict[Any, tuple[Any, ...]] = {
        key: (fit_head, rows[key.class_name], key.head, settings) for key in keys
    }
    calls |= {of: (filter_steps, part) for of, part in rows.items() if part.training}
    checked = head_to_check(rows, keys, settings) if cross_check else None
    if checked is not None:
        calls[ALL] = (check_fit, rows[checked.class_name], checked.head, settings)
    fitted = _each(operator.call, calls, f"fitting {name}", jobs)
    other = fitted.pop(ALL, None)
    heads: dict[HeadKey, HeadFit] = {key: fitted.pop(key) for key in keys}
    for (class_name, head), fit in heads.items():
        if not (result := fit.result).is_usable:
            raise FailedFitError(
                f"no usable fit of {class_name} {head}: {result.stopped}: {FAILURES[result.stopped]}"
            )
    move_filter = FilterWeights(KEPT_PLAYS, fitted)
    weights = WeightFile(
        name, 0, None, parameters, _heads_by_class(heads), bearoff=settings.bearoff, move_filter=move_filter
    )
    check = None if checked is None else compared(checked, heads[checked], other)
    fits = {key: head.result for key, head in heads.items()}
    return _Fits(weights, fits, win_errors_of_heads(rows, fits, settings), heads, check)


def _fit_hidden_layers(
    rows: Mapping[str, ClassRows],
    parameters: ParameterSet,
    settings: FitSettings,
    name: str,
    start: WeightFile | None,
    checkpoints: Path | None,
    jobs: int | None,
) -> _Fits:
    """Fit the probabilities of each class together with a hidden layer."""
    classes = classes_to_fit(rows, settings)
    heads, layers, records = fit_hidden_classes(
        classes, parameters, settings, name=name, start=start, jobs=jobs, checkpoints=checkpoints
    )
    weights = WeightFile(name, 0, None, parameters, heads, bearoff=settings.bearoff, hidden_layers=layers)
    calls = {of: (part, weights, settings.seed) for of, part in classes.items()}
    filters = _each(imitate, calls, f"fitting the move filter of {name}", jobs)
    weights = replace(weights, move_filter=imitating_filter(filters))
    return _Fits(weights, records, win_errors_of_weights(rows, weights, settings))


def _heads_by_class(heads: Mapping[HeadKey, HeadFit]) -> dict[str, dict[str, HeadWeights]]:
    classes: dict[str, dict[str, HeadWeights]] = {}
    for (class_name, head), fit in heads.items():
        classes.setdefault(class_name, {})[head] = head_weights(fit.terms, fit.result.weights)
    return classes


def _each(
    function: Callable[..., _Result], calls: Mapping[_Key, tuple[Any, ...]], label: str, jobs: int | None
) -> dict[_Key, _Result]:
    """Return the results of `function` for the arguments in `calls`, by the same keys."""
    results: dict[_Key, _Result] = {}
    # The rows are files on this machine, so fits run here even if a cluster does the other work.
    with (
        working_on(None),
        progress(label, len(calls)) as advance,
        closing(run_ordered(function, calls.values(), jobs)) as outcomes,
    ):
        for key, result in zip(calls, outcomes, strict=True):
            results[key] = result
            advance(1)
    return results


def _warnings(heads: Mapping[HeadKey, HeadFit], parameters: ParameterSet) -> Iterator[str]:
    """Yield a line for each fit that failed, and for each weight that diverges."""
    for (class_name, head), fit in heads.items():
        if (result := fit.result).stopped in FAILURES:
            how = f"{result.stopped}: {FAILURES[result.stopped]}; the weights are those of the previous pass"
            yield f"{class_name} {head}: {how}"
    for (class_name, head), fit in heads.items():
        if (number := fit.result.diverging) is not None:
            name, weight = term_names(fit.terms, parameters)[number], fit.result.weights[number]
            yield (
                f"{class_name} {head}: the weight of {name} grows without bound (it stopped at "
                f"{weight:.4g}): its term separates labels on the bounds; a larger ridge limits it"
            )


def _facts(
    result: FittedWeights,
    folders: Sequence[Path],
    settings: FitSettings,
    start: WeightFile | None,
    levels: Evaluator | None,
) -> dict[str, Any]:
    """Return the weight file's record of its fit."""
    manifests = [read_manifest(Path(folder)) for folder in folders]
    fingerprints = [*dict.fromkeys(chain.from_iterable(manifest.fingerprints for manifest in manifests))]
    parts = dict.fromkeys(chain.from_iterable(manifest.origin.datasets for manifest in manifests))
    part_of = [fingerprint for fingerprint in parts if fingerprint not in fingerprints]
    validation = result.rmse_validation
    data = {
        "samples": result.samples,
        "dataset": fingerprints if len(fingerprints) > 1 else fingerprints[0],
        **({"part_of": part_of} if part_of else {}),
    }
    errors = {
        "rmse_train": round(result.rmse_train, 6),
        "rmse_validation": None if validation is None else round(validation, 6),
        "choice_error": {name: round(error, 6) for name, error in result.choice_error.items()},
    }
    # A player of a weight file has the name of its path; the weights have a name of their own.
    teacher = levels.weights if isinstance(levels, StaticEvaluator) and levels.weights else levels
    given = {"start": start, "levels": teacher}
    data |= {key: each.name for key, each in given.items() if each is not None}
    origin = {"validation": settings.validation, "seed": settings.seed, "motif": VERSION}
    if settings.hidden:
        how = {
            "hidden": settings.hidden,
            "passes": settings.hidden_passes,
            "ranking": float(settings.ranking_weight),
        }
        return {"method": METHOD, **how, **data, **errors, **origin}
    return {
        "method": settings.method,
        "passes": solver(settings.method).most_passes if settings.passes is None else settings.passes,
        "tolerance": TOLERANCE if settings.tolerance is None else settings.tolerance,
        **data,
        "sweeps": result.passes,
        "stopped": str(result.stopped),
        **errors,
        "ranking": float(settings.ranking_weight) if settings.heads == "all" else 0.0,
        "ridge": float(settings.ridge),
        "equity_ridge": float(settings.equity_ridge),
        **({} if settings.backgammons == "linear" else {"backgammons": settings.backgammons}),
        **({} if settings.prune is None else {"prune": float(settings.prune)}),
        **origin,
    }


def warm_up() -> None:
    """Compile the kernels that a fit needs; runs in a process beside one that samples."""
    derive_states(0, 0, 1, 1)
    boards = np.repeat(Position.start().board[None], _WARM_UP_ROWS, axis=0)
    features(parameter_set(FitSettings().parameters), boards)
    # The content of the rows does not matter.
    columns = np.linspace(0, 1, _WARM_UP_ROWS * len(HEADS)).astype(np.float32).reshape(_WARM_UP_ROWS, -1)
    numbers = np.arange(_WARM_UP_ROWS) // 2
    games = numbers.astype(np.int32)
    rows = ClassRows("contact", columns, columns, numbers, boards, games, _WARM_UP_ROWS - 2, numbers < 0)
    fit_head(rows, RANKING_HEAD, FitSettings())
    filter_steps(rows)
    model, space = prepared(simple().model)
    evaluate_packed(model, pack_many(boards), space, np.empty(len(boards)), NO_ROWS)
