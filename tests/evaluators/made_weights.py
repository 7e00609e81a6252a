"""Random weight files, for tests that must hold for any fit."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from motif.evaluators import OUTPUTS, StaticEvaluator, WeightFile
from motif.evaluators.point_table import POINT_STEPS
from motif.evaluators.probabilities import HEADS
from motif.evaluators.static import weights_model
from motif.evaluators.weight_file import FilterUnits, FilterWeights, HeadWeights, HiddenLayer
from motif.parameters import parameter_set

FIT = {"method": "made up", "samples": 12, "rmse_train": 0.0312, "rmse_validation": None}


def head_weights(rng: np.random.Generator, size: int, pairs: int) -> HeadWeights:
    """Weights with raw sums of the order of one and `pairs` second-degree terms."""
    rows, columns = np.triu_indices(size)
    chosen = np.sort(rng.permutation(len(rows))[:pairs])
    return HeadWeights(
        float(np.float32(rng.normal(0, 0.3))),
        rng.normal(0, 0.3, size).astype(np.float32),
        np.stack([rows[chosen], columns[chosen]], axis=1),
        rng.normal(0, 0.5 / np.sqrt(max(pairs, 1)), pairs).astype(np.float32),
    )


def made_weights(
    set_name: str = "keith",
    *,
    classes: Mapping[str, Sequence[str]] | None = None,
    pairs: int = 0,
    kept: int = 0,
    filter_units: int = 0,
    margin: float = math.inf,
    hidden: Mapping[str, int] | None = None,
    bearoff: bool = False,
    seed: int = 0,
    name: str = "made-up",
) -> WeightFile:
    """Random weights for the listed heads of each class; by default all probabilities in all classes.

    With `kept` the file has a random move filter, with `filter_units` hidden units per class and their
    `margin`; `hidden` is the number of hidden units of the weights per class.
    """
    chosen, rng = parameter_set(set_name), np.random.default_rng(seed)
    heads = classes or dict.fromkeys(("contact", "crashed", "race"), OUTPUTS)

    def made(wanted: Sequence[str]) -> dict[str, HeadWeights]:
        return {head: head_weights(rng, len(chosen), pairs) for head in HEADS if head in wanted}

    weights = {class_name: made(wanted) for class_name, wanted in heads.items()}
    steps = {class_name: random_steps(rng) for class_name in ("contact", "race")}
    move_filter = FilterWeights(kept, steps) if kept else None
    layers = {name: made_layer(rng, len(chosen), count) for name, count in (hidden or {}).items()}
    if move_filter is not None and filter_units:
        units = {name: made_filter_units(rng, filter_units, margin) for name in steps}
        move_filter = replace(move_filter, units=units)
    return WeightFile(
        name,
        1,
        "parent",
        chosen,
        weights,
        move_filter,
        FIT,
        bearoff,
        hidden_layers=layers,
    )


def made_layer(rng: np.random.Generator, size: int, count: int) -> HiddenLayer:
    """Hidden units, some of which saturate at both ends; every third input is missing."""
    inputs = rng.normal(0, 1.5, (count, size)).astype(np.float32)
    inputs[:, ::3] = 0
    points = np.stack([random_steps(rng) for _ in range(count)]) * np.float32(0.3)
    points[:, :, ::4] = 0
    bias = rng.normal(0, 0.2, count).astype(np.float32)
    outputs = rng.normal(0, 0.15, (len(OUTPUTS), count)).astype(np.float32)
    return HiddenLayer(tuple(f"p{k + 1}" for k in range(count)), bias, inputs, points, outputs)


def made_filter_units(rng: np.random.Generator, count: int, margin: float = math.inf) -> FilterUnits:
    """Hidden units of a move filter that add about as much to its scores as the point table."""
    points = np.stack([random_steps(rng) for _ in range(count)]) * np.float32(0.3)
    bias, outputs = (rng.normal(0, scale, count).astype(np.float32) for scale in (0.2, 2))
    return FilterUnits(bias, points, outputs, margin)


def random_steps(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(0, 1, (2, 25, POINT_STEPS)).astype(np.float32)


def evaluator_of(weights: WeightFile) -> StaticEvaluator:
    return StaticEvaluator(weights.name, weights_model(weights), weights)
