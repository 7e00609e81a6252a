"""Weights with a hidden layer: all chances of each position class, fitted together."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motif.evaluators.hidden_unit_words import typical_boards, unit_names
from motif.evaluators.named import load_static
from motif.evaluators.probabilities import OUTPUTS
from motif.evaluators.weight_file import HeadWeights, HiddenLayer, to_digits
from motif.fitting.hidden_fit import FittedClass, HiddenFit, HiddenRows, HiddenSettings, fit_hidden
from motif.fitting.objective import FitResult, PassRecord
from motif.learning.fit_settings import FitSettings
from motif.learning.heads import HEAD, rows_of_head
from motif.learning.rows import ClassRows, rows_where
from motif.parameters import ParameterSet
from motif.runtime.errors import FitError
from motif.runtime.parallel import worker_count
from motif.runtime.progress import Stopwatch, progress

METHOD = "adam"
_INPUT_DIGITS = 3
"""Significant digits of what hidden units read: more make no other plays, and a longer file."""


class HiddenWeights(NamedTuple):
    """What a fit with hidden layers leaves, by class."""

    classes: dict[str, dict[str, HeadWeights]]
    layers: dict[str, HiddenLayer]
    results: dict[tuple[str, str], FitResult]
    """By class and `HEAD`: how the errors of the equity fell."""


def fit_hidden_classes(
    rows: Mapping[str, ClassRows],
    parameters: ParameterSet,
    settings: FitSettings,
    *,
    name: str,
    jobs: int | None = None,
    checkpoints: Path | None = None,
) -> HiddenWeights:
    """Fit the chances of every class, one class after the other.

    Each class uses all processors; the weights are the same for any number of `jobs`.  In the folder
    `checkpoints` each class keeps its state after every pass, and an interrupted fit continues from there.
    Raises `FitError` for a class without positions to train on.
    """
    fitted = HiddenWeights({}, {}, {})
    start = _start(parameters, settings)
    with progress(f"fitting {name}", len(rows) * settings.hidden_passes) as advance:
        for class_name, part in rows.items():
            watch = Stopwatch()
            own = _rows(part, settings)
            if not own.training:
                raise FitError(f"no {class_name} positions to train on")
            fit = fit_hidden(
                own,
                HiddenSettings(
                    settings.hidden,
                    settings.hidden_passes,
                    rate=settings.rate,
                    ranking=settings.ranking_weight,
                    seed=settings.seed,
                ),
                start=start.get(class_name),
                jobs=worker_count(jobs),
                checkpoint=None if checkpoints is None else checkpoints / f"{class_name}.npz",
                on_pass=lambda _: advance(1),
            )
            fitted.classes[class_name] = {head: _rounded(of) for head, of in fit.heads.items()}
            fitted.layers[class_name] = _named(fit.hidden, parameters, class_name)
            fitted.results[class_name, HEAD] = _result(fit, watch.seconds)
    return fitted


def _start(parameters: ParameterSet, settings: FitSettings) -> dict[str, FittedClass]:
    """Return the weights that each class starts from."""
    if settings.start is None:
        return {}
    weights = load_static(settings.start).weights
    if weights is None:
        raise FitError(f"start: {settings.start} has no weights", "start")
    if weights.parameters.fingerprint != parameters.fingerprint:
        raise FitError(f"start: {settings.start} has other parameters than {parameters.name}", "start")
    layers = weights.hidden_layers
    units = {len(layer.bias) for layer in layers.values()} or {0}
    if units != {settings.hidden}:
        found = " and ".join(map(str, sorted(units)))
        raise FitError(f"start: {settings.start} has {found} hidden units, not {settings.hidden}", "start")
    return {name: FittedClass(weights.classes[name], layer) for name, layer in layers.items()}


def _rows(part: ClassRows, settings: FitSettings) -> HiddenRows:
    """Return the positions of a class that weights are to value."""
    use = rows_of_head(part.boards, OUTPUTS[0], settings)
    return HiddenRows(
        rows_where(part.features, use),
        rows_where(part.boards, use),
        np.ascontiguousarray(rows_where(part.labels, use)[:, : len(OUTPUTS)]),
        rows_where(part.decisions, use),
        int(np.count_nonzero(use[: part.training])),
    )


def _rounded(head: HeadWeights) -> HeadWeights:
    """Return the weights with the digits that a file shows."""
    bias = float(to_digits(np.array([head.bias]))[0])
    return replace(head, bias=bias, linear=to_digits(head.linear), quadratic=to_digits(head.quadratic))


def _named(layer: HiddenLayer, parameters: ParameterSet, class_name: str) -> HiddenLayer:
    """Return the units with the digits that a file shows, and names that say what each is about."""
    short = replace(
        layer,
        bias=to_digits(layer.bias),
        inputs=to_digits(layer.inputs, _INPUT_DIGITS),
        points=to_digits(layer.points, _INPUT_DIGITS),
        outputs=to_digits(layer.outputs),
    )
    return replace(short, names=unit_names(short, parameters, typical_boards(class_name)))


def _result(fit: HiddenFit, seconds: float) -> FitResult:
    """How a class was fitted, in the form that reports read."""
    heads = [np.concatenate([[of.bias], of.linear, of.quadratic]) for of in fit.heads.values()]
    hidden = fit.hidden
    units = (hidden.bias, hidden.inputs, hidden.points, hidden.outputs)
    weights = np.concatenate([*heads, *(each.ravel() for each in units)]).astype(np.float64)
    return FitResult(
        METHOD,
        weights,
        tuple(
            PassRecord(each.number, each.error, each.training, each.validation, each.seconds)
            for each in fit.history
        ),
        "pass limit",
        fit.best.training,
        fit.best.validation,
        seconds,
    )
