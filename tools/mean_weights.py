"""Write the mean of weight files with hidden layers: one evaluator from several fits.

    python -m tools.mean_weights one.yaml two.yaml three.yaml --out mean.yaml

Fits from the same start stay near each other, and what differs between them is mostly noise, so the mean of
their weights has less of it than each has.

Source: Wortsman et al., "Model soups: averaging weights of multiple fine-tuned models improves accuracy
without increasing inference time" (ICML 2022).
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

from motif.analysis.term_report import with_words
from motif.evaluators.known_players import load_weighted
from motif.evaluators.static import weights_of
from motif.evaluators.weight_file import HeadWeights, HiddenLayer, WeightFile
from motif.learning.hidden_classes import named_units, rounded_head
from motif.runtime.arrays import Float32Array, FloatArray
from motif.runtime.errors import FitError
from motif.runtime.package import VERSION
from tools.marked_page import reporting

_METHOD = "mean"
_MIN_SIMILARITY = 0.9
"""Least cosine between the inputs of matched units of weights that began at the same ones."""


def mean_weights(parts: Sequence[WeightFile], name: str) -> WeightFile:
    """Return the mean of weights as `name`, without calibration and with the move filter of the first.

    A fit sorts its hidden units, so those of the others are matched first, each with the most similar one.

    Raises
    ------
    FitError
        If there are fewer than two weights, or if they differ in parameters, classes, heads, pairs or units,
        or began at different weights.
    """
    if len(parts) < 2:
        raise FitError(f"a mean needs at least two weights, not {len(parts)}")
    first = parts[0]
    for part in parts[1:]:
        if _shape(part) != _shape(first):
            raise FitError(
                f"{part.name} and {first.name} differ in parameters, classes, heads, pairs or units"
            )
    layers = {
        class_name: named_units(
            _mean_layer([_matched(part.hidden_layers[class_name], layer, part.name) for part in parts]),
            first.parameters,
            class_name,
        )
        for class_name, layer in first.hidden_layers.items()
    }
    classes = {
        class_name: {head: _mean_head([part.classes[class_name][head] for part in parts]) for head in heads}
        for class_name, heads in first.classes.items()
    }
    fit = {"method": _METHOD, "of": [part.name for part in parts], "motif": VERSION}
    mean = replace(first, name=name, classes=classes, hidden_layers=layers, fit=fit, calibration={})
    return with_words(mean)


def _shape(weights: WeightFile) -> object:
    """Return what weights with a mean have in common."""
    heads = {
        (class_name, name, head.pairs.tobytes())
        for class_name, of_class in weights.classes.items()
        for name, head in of_class.items()
    }
    units = {name: layer.inputs.shape for name, layer in weights.hidden_layers.items()}
    return weights.parameters.fingerprint, heads, units, weights.bearoff


def _mean(arrays: Sequence[Float32Array]) -> Float32Array:
    return np.stack(arrays).mean(axis=0).astype(np.float32)


def _mean_head(heads: Sequence[HeadWeights]) -> HeadWeights:
    mean = replace(
        heads[0],
        bias=float(np.mean([head.bias for head in heads])),
        linear=_mean([head.linear for head in heads]),
        quadratic=_mean([head.quadratic for head in heads]),
    )
    return rounded_head(mean)


def _mean_layer(layers: Sequence[HiddenLayer]) -> HiddenLayer:
    return replace(
        layers[0],
        bias=_mean([layer.bias for layer in layers]),
        inputs=_mean([layer.inputs for layer in layers]),
        points=_mean([layer.points for layer in layers]),
        outputs=_mean([layer.outputs for layer in layers]),
    )


def _matched(layer: HiddenLayer, like: HiddenLayer, name: str) -> HiddenLayer:
    """Return `layer` with its units in the order of the most similar ones of `like`."""
    similar = _directions(like) @ _directions(layer).T
    rows, order = linear_sum_assignment(-similar)
    if similar[rows, order].min() < _MIN_SIMILARITY:
        raise FitError(f"the hidden units of {name} differ too much: all weights must begin at the same ones")
    return replace(
        layer,
        bias=layer.bias[order],
        inputs=layer.inputs[order],
        points=layer.points[order],
        outputs=layer.outputs[:, order],
    )


def _directions(layer: HiddenLayer) -> FloatArray:
    """Return the inputs of each unit, with its bias, as a vector of length 1."""
    flat = np.hstack([layer.bias[:, None], layer.inputs, layer.points.reshape(len(layer.bias), -1)])
    return flat / np.linalg.norm(flat, axis=1, keepdims=True)


@reporting
def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="tools.mean_weights", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("weights", nargs="+", help="weight files, or names of weights")
    parser.add_argument("--out", required=True, type=Path, help="weight file to write")
    options = parser.parse_args(arguments)
    parts = [weights_of(load_weighted(name)) for name in options.weights]
    mean_weights(parts, options.out.stem).save(options.out)


if __name__ == "__main__":
    sys.exit(main())
