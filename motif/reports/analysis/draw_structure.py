"""Pictures of how features hang together: clustered correlations, principal components."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator, PercentFormatter

from motif.reports.analysis.analysis import Analysis
from motif.reports.analysis.panels import name_rows, rows_height, title_of
from motif.reports.style import BLUE, INK, SMALL, VERMILION, picture

MOST_COMPONENTS = 5
"""Principal components whose loadings are drawn."""

_STEPS = ((1, 14), (2, 28), (5, 75), (10, 10**9))
"""Every so many columns have a number, up to so many columns."""
_NUMBERED_CELLS = 12
_COLOURS = "RdBu"
_SCREE = 12
_SCREE_HEIGHT = 1.9


def draw_correlations(analysis: Analysis, path: Path) -> None:
    """Draw the correlations of the features that vary, those that go together side by side, to `path`."""
    order = list(analysis.clusters.order)
    names = [analysis.parameters.names[k] for k in order]
    numbered = [f"{name}  {row}" for row, name in enumerate(names, 1)]
    with picture(path, 0.5 + rows_height(len(order)), title_of(analysis, "correlations")) as figure:
        cells, tree = figure.subplots(1, 2, sharey=True, width_ratios=[5, 1])
        matrix = analysis.correlation[np.ix_(order, order)]
        drawn = _heat_map(cells, matrix, numbers=len(order) <= _NUMBERED_CELLS)
        step = next(step for step, most in _STEPS if len(order) <= most)
        shown = range(step - 1, len(order), step)
        cells.set_xticks(list(shown), [str(k + 1) for k in shown])
        cells.tick_params(axis="x", length=0)
        for places, heights in analysis.clusters.branches:
            points = list(zip(heights, places, strict=True))
            tree.add_collection(LineCollection([points], colors=INK, linewidths=0.8))
        tree.set_xlim(0, 1.02)
        tree.set_xlabel("1 - |r|")
        tree.set_xticks([0, 1])
        name_rows(cells, numbered, lines=False)
        tree.tick_params(labelleft=False, left=False)
        tree.grid(axis="y", visible=False)
        tree.spines["left"].set_visible(False)
        _colour_bar(figure, drawn, [cells, tree], "correlation r")


def draw_components(analysis: Analysis, path: Path) -> None:
    """Draw what each principal component explains, and which features it goes with, to `path`."""
    found, free = analysis.components, analysis.clusters.order
    rows = [k for k in range(len(analysis.parameters)) if k in free]
    count = min(MOST_COMPONENTS, len(found.shares))
    height = rows_height(len(rows)) + _SCREE_HEIGHT
    with picture(path, height + 0.3, title_of(analysis, "principal components")) as figure:
        ratio = [_SCREE_HEIGHT, height - _SCREE_HEIGHT]
        scree, cells = figure.subplots(2, 1, height_ratios=ratio)
        shown = found.shares[:_SCREE]
        numbers = np.arange(1, len(shown) + 1)
        scree.bar(numbers, shown, color=BLUE, width=0.7)
        scree.plot(
            numbers, np.cumsum(shown), color=VERMILION, marker="s", linestyle="--", markerfacecolor="white"
        )
        scree.set_ylim(0, 1.05)
        scree.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        scree.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12))
        scree.set_ylabel("of the variance")
        scree.set_xlabel("component (dashed: it and those before)")
        scree.grid(axis="x", visible=False)
        drawn = _heat_map(cells, found.loadings[:count, rows].T, numbers=True)
        cells.set_xticks(range(count), [f"{k + 1}: {found.shares[k]:.0%}" for k in range(count)])
        cells.tick_params(axis="x", length=0)
        name_rows(cells, [analysis.parameters.names[k] for k in rows], lines=False)
        _colour_bar(figure, drawn, [scree, cells], "correlation with the component")


def _heat_map(axes: Axes, matrix: np.ndarray, numbers: bool = False) -> AxesImage:
    drawn = axes.imshow(matrix, cmap=_COLOURS, vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
    axes.grid(visible=False)
    if numbers:
        for (row, column), value in np.ndenumerate(matrix):
            ink = "white" if abs(value) > 0.65 else INK
            axes.text(column, row, f"{value:+.2f}", ha="center", va="center", fontsize=SMALL - 1.5, color=ink)
    return drawn


def _colour_bar(figure: Figure, drawn: AxesImage, panels: list[Axes], label: str) -> None:
    bar = figure.colorbar(drawn, ax=panels, location="bottom", fraction=0.03, pad=0.01, aspect=30, shrink=0.7)
    bar.set_ticks([-1, -0.5, 0, 0.5, 1])
    bar.set_label(label)
