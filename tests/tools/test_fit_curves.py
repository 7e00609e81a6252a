"""The curves of solvers: the table for made-up curves, and a common minimum."""

import numpy as np
import pytest
from matplotlib.image import imread

from tools.fit_curves import METHODS, Curve, draw, fitted_curve, least_error, table

CURVES = [
    Curve("keith", [0.0, 1.0, 2.0, 30.0], [0.5, 0.2, 0.101, 0.1005], "pass limit"),
    Curve("gauss-newton", [0.0, 0.2, 0.4], [0.3, 0.11, 0.1], "converged"),
]


def test_a_table_of_passes_and_seconds():
    keith, newton = table(CURVES)[-2:]
    assert keith == "| Keith's descent | 2 in 2.00 s | 2 in 2.00 s | never | never | 3 in 30 s: pass limit |"
    assert newton.endswith(
        "| 1 in 0.20 s | 2 in 0.40 s | 2 in 0.40 s | 2 in 0.40 s | 2 in 0.40 s: converged |"
    )
    assert least_error(CURVES) == 0.1


def test_the_picture_is_legible_on_a_phone(tmp_path):
    draw(CURVES, tmp_path / "curves.png")
    height, width = imread(tmp_path / "curves.png").shape[:2]
    assert 1 < height / width < 1.6


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_a_curve_that_falls(method):
    rng = np.random.default_rng(0)
    values = rng.random((400, 3), np.float32)
    labels = np.clip(0.5 + 0.4 * (values @ [0.5, -0.4, 0.2]) + rng.normal(0, 0.02, 400), 0, 1)
    curve = fitted_curve(method, values, labels)
    assert curve.stopped == "converged"
    assert len(curve.seconds) == len(curve.errors) > 1
    assert list(curve.errors) == sorted(curve.errors, reverse=True)
    assert least_error([curve]) < curve.errors[0]
