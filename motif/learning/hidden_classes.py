"""Fits of weights with hidden layers: all probabilities of a position class are fitted together."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from motif.evaluators.hidden_unit_words import typical_boards, unit_names
from motif.evaluators.probabilities import OUTPUTS, RANKING_HEAD
from motif.evaluators.weight_file import HeadKey, HeadWeights, HiddenLayer, WeightFile, to_digits
from motif.fitting.hidden_fit import FittedClass, HiddenFit, HiddenRows, HiddenSettings, fit_hidden
from motif.fitting.objective import Ending, FitRecord
from motif.fitting.significance import weight_vector
from motif.learning.fit_settings import FitSettings
from motif.learning.heads import rows_of_head
from motif.learning.rows import ClassRows, rows_where
from motif.parameters import ParameterSet, parameter_set
from motif.runtime.errors import FitError
from motif.runtime.parallel import worker_count
from motif.runtime.progress import Stopwatch, progress

METHOD = "adam"
_RATE, _RATE_FROM_WEIGHTS = 1e-3, 3e-4
"""Initial learning rates of Adam: lower if the fit starts from weights, which are nearly right already."""
_INPUT_DIGITS = 3
"""Significant digits of the input weights of hidden units; more digits would not change plays, only make the
file longer.
"""


def fit_hidden_classes(
    rows: Mapping[str, ClassRows],
    parameters: ParameterSet,
    settings: FitSettings,
    *,
    name: str,
    start: WeightFile | None = None,
    jobs: int | None = None,
    checkpoints: Path | None = None,
) -> tuple[dict[str, dict[str, HeadWeights]], dict[str, HiddenLayer], dict[HeadKey, FitRecord]]:
    """Fit the probabilities of every class, one class after the other.

    Returns the heads and the hidden layer of each class, and the record of its fit by class and
    `RANKING_HEAD`, with the errors of the equity. `rows` are those of `heads.classes_to_fit`. The weights do
    not depend on the number of `jobs`. The state of each class is stored in the folder `checkpoints` after
    every pass, and an interrupted fit continues from there.
    """
    heads: dict[str, dict[str, HeadWeights]] = {}
    layers, results = {}, {}
    with progress(f"fitting {name}", len(rows) * settings.hidden_passes) as advance:
        for class_name, part in rows.items():
            watch, begun = Stopwatch(), None
            if start is not None and class_name in start.hidden_layers:
                begun = FittedClass(start.classes[class_name], start.hidden_layers[class_name])
            fit = fit_hidden(
                _rows(part, settings),
                HiddenSettings(
                    settings.hidden,
                    settings.hidden_passes,
                    rate=_RATE if begun is None else _RATE_FROM_WEIGHTS,
                    ranking=settings.ranking_weight,
                    seed=settings.seed,
                ),
                start=begun,
                jobs=worker_count(jobs),
                checkpoint=None if checkpoints is None else checkpoints / f"{class_name}.npz",
                on_pass=lambda _: advance(1),
            )
            heads[class_name] = {head: rounded_head(of) for head, of in fit.weights.heads.items()}
            layers[class_name] = named_units(fit.weights.hidden, parameters, class_name)
            results[HeadKey(class_name, RANKING_HEAD)] = _record(fit, watch.seconds)
    return heads, layers, results


def check_start(start: WeightFile, settings: FitSettings) -> None:
    """Raise `FitError` unless a fit with these settings can start from the weights."""
    if not settings.hidden:
        raise FitError("start: only a fit with hidden units can start from weights", "start")
    parameters = parameter_set(settings.parameters)
    if start.parameters.fingerprint != parameters.fingerprint:
        raise FitError(f"start: the parameters of {start.name} must be {parameters.name}", "start")
    units = {len(layer.bias) for layer in start.hidden_layers.values()} or {0}
    if units != {settings.hidden}:
        found = " and ".join(map(str, sorted(units)))
        raise FitError(f"start: {start.name} has {found} hidden units, not {settings.hidden}", "start")
    for class_name in start.hidden_layers:
        for head in OUTPUTS:
            if head not in start.classes[class_name]:
                raise FitError(f"start: {start.name} has no head {head} in class {class_name}", "start")


def _rows(part: ClassRows, settings: FitSettings) -> HiddenRows:
    """Return the positions of a class to which its weights apply."""
    use = rows_of_head(part.boards, OUTPUTS[0], settings)
    return HiddenRows(
        rows_where(part.features, use),
        rows_where(part.boards, use),
        np.ascontiguousarray(rows_where(part.labels, use)[:, : len(OUTPUTS)]),
        rows_where(part.decisions, use),
        int(np.count_nonzero(use[: part.training])),
    )


def rounded_head(head: HeadWeights) -> HeadWeights:
    """Return the weights rounded to the digits of a weight file."""
    bias = float(to_digits(np.array([head.bias]))[0])
    return replace(head, bias=bias, linear=to_digits(head.linear), quadratic=to_digits(head.quadratic))


def named_units(layer: HiddenLayer, parameters: ParameterSet, class_name: str) -> HiddenLayer:
    """Return the units rounded to the digits of a weight file, with descriptive names."""
    short = replace(
        layer,
        bias=to_digits(layer.bias),
        inputs=to_digits(layer.inputs, _INPUT_DIGITS),
        points=to_digits(layer.points, _INPUT_DIGITS),
        outputs=to_digits(layer.outputs),
    )
    return replace(short, names=unit_names(short, parameters, typical_boards(class_name)))


def _record(fit: HiddenFit, seconds: float) -> FitRecord:
    """Return the record of the fit of a class."""
    hidden, best = fit.weights.hidden, fit.best
    vectors = [weight_vector(head)[1] for head in fit.weights.heads.values()]
    units = (hidden.bias, hidden.inputs, hidden.points, hidden.outputs)
    terms = sum(vector.size for vector in vectors) + sum(array.size for array in units) - 1
    errors = best.rmse_train, best.rmse_validation
    return FitRecord(METHOD, terms, fit.history, Ending.PASS_LIMIT, *errors, seconds, kept_pass=best.number)
