"""The mean of weights with hidden layers."""

from dataclasses import replace

import numpy as np
import pytest

from motif.evaluators.static import StaticEvaluator, weights_model
from motif.runtime.errors import FitError
from tests.evaluators.made_weights import made_weights
from tools.mean_weights import main, mean_weights


def shuffled(weights, seed):
    """Return the same weights with their hidden units in another order."""
    layers = {}
    for name, layer in weights.hidden_layers.items():
        order = np.random.default_rng(seed).permutation(len(layer.bias))
        inputs, points, outputs = layer.inputs[order], layer.points[order], layer.outputs[:, order]
        layers[name] = replace(layer, bias=layer.bias[order], inputs=inputs, points=points, outputs=outputs)
    return replace(weights, hidden_layers=layers)


def moved(weights, by):
    """Return weights with other output weights and biases of heads."""
    layers = {
        name: replace(one, outputs=one.outputs + np.float32(by))
        for name, one in weights.hidden_layers.items()
    }
    classes = {
        name: {head: replace(one, bias=one.bias + by) for head, one in heads.items()}
        for name, heads in weights.classes.items()
    }
    return replace(weights, hidden_layers=layers, classes=classes)


WEIGHTS = made_weights("keith", hidden={"contact": 4})


def test_the_order_of_units_does_not_matter():
    mean = mean_weights([WEIGHTS, shuffled(WEIGHTS, 1), shuffled(WEIGHTS, 2)], "mean")
    for name in ("bias", "inputs", "points", "outputs"):
        wanted = getattr(WEIGHTS.hidden_layers["contact"], name)
        np.testing.assert_allclose(getattr(mean.hidden_layers["contact"], name), wanted, rtol=1e-2, atol=1e-4)
    assert (mean.name, mean.fit["method"], mean.fit["of"]) == ("mean", "mean", 3 * [WEIGHTS.name])
    assert set(mean.words) == set(WEIGHTS.classes)


def test_the_mean_is_in_the_middle(tmp_path):
    parts = [moved(WEIGHTS, by) for by in (0.25, 0.5, -0.75)]
    paths = [tmp_path / f"{number}.yaml" for number in range(3)]
    for part, path in zip(parts, paths, strict=True):
        part.save(path)
    assert main([*map(str, paths), "--out", str(tmp_path / "mean.yaml")]) == 0
    mean = mean_weights(parts, "mean")
    for name, heads in WEIGHTS.classes.items():
        for head, one in heads.items():
            assert mean.classes[name][head].bias == pytest.approx(one.bias, rel=1e-3)
    np.testing.assert_allclose(
        mean.hidden_layers["contact"].outputs, WEIGHTS.hidden_layers["contact"].outputs, rtol=1e-3, atol=1e-4
    )
    assert StaticEvaluator("mean", weights_model(mean), mean)


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ((), "a mean needs at least two weights, not 1"),
        (
            (made_weights("keith", hidden={"contact": 3}),),
            "differ in parameters, classes, heads, pairs or units",
        ),
        ((made_weights("keith"),), "differ in parameters, classes, heads, pairs or units"),
    ],
)
def test_weights_without_a_mean(others, message):
    with pytest.raises(FitError, match=message):
        mean_weights([WEIGHTS, *others], "mean")


def test_weights_from_elsewhere_have_no_mean():
    layer = WEIGHTS.hidden_layers["contact"]
    other = replace(
        WEIGHTS, hidden_layers={"contact": replace(layer, points=-layer.points, bias=-layer.bias)}
    )
    with pytest.raises(FitError, match="all weights must begin at the same ones"):
        mean_weights([WEIGHTS, other], "mean")
