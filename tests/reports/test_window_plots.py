"""The picture of BRAS's doubling windows."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from motif.doubling.bras_windows import DoublingSet, ScoreWindow
from motif.evaluators.bras import ARTICLE, BrasFormula
from motif.reports import window_plots
from motif.reports.window_plots import draw_windows


def made_set(count: int, formula: BrasFormula) -> DoublingSet:
    random = np.random.default_rng(1)
    raw = random.normal(0, formula.sigma / 3, count)
    chances = np.clip(formula.squashed(raw) / 100 + random.normal(0, 0.05, count), 0, 1)
    return DoublingSet(formula, "made", 50, np.arange(count) % 50, raw, chances, chances > 0.7, chances > 0.8)


@pytest.mark.parametrize(
    ("count", "formula"), [(4000, ARTICLE), (60, ARTICLE), (4000, BrasFormula(sigma=100.0))]
)
def test_it_is_drawn_with_many_positions_and_with_few(tmp_path, count, formula):
    window = ScoreWindow(69.7, 0.3, 75.4, 0.5, count, 50, "made")
    for name in ("a.png", "b.png"):
        draw_windows(made_set(count, formula), window, tmp_path / name)
    pixels = imread(tmp_path / "a.png")
    assert 0.01 < (pixels[..., :3].min(axis=2) < 0.5).mean() < 0.5
    # Nothing extends beyond an edge.
    assert not any(
        (edge[..., :3].min(axis=1) < 0.5).any() for edge in (pixels[:, -1], pixels[:, 0], pixels[-1])
    )
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_lines_and_bands_differ_without_colours():
    axes = Figure().subplots()
    window_plots._draw_shares(axes, made_set(4000, ARTICLE))
    assert len({line.get_marker() for line in axes.lines}) == 3
    assert len({patch.get_hatch() for patch in window_plots._draw_article(axes, 58.3)}) == 3
