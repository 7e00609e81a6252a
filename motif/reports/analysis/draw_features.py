"""Pictures of features: how each is spread, and how the most important ones go with the value."""

from collections.abc import Iterator
from math import ceil
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.ticker import MaxNLocator

from motif.reports.analysis.analysis import Analysis
from motif.reports.analysis.panels import bins_of, title_of
from motif.reports.analysis.statistics import Floats
from motif.reports.analysis.tables import MOST_IMPORTANT
from motif.reports.style import BLUE, INK, SMALL, VERMILION, picture

_COLUMNS = 3
_PANELS_A_PAGE = 18
_PANEL_HEIGHT = 1.3
_FRAME_HEIGHT = 0.75
_GROUPS = 12
_SMALL_GROUP = 0.2
_LONG_NAME = 19


def feature_pages(analysis: Analysis) -> Iterator[tuple[int, ...]]:
    """Numbers of the features, a page of histograms at a time, as even as can be."""
    count = len(analysis.parameters)
    pages = ceil(count / _PANELS_A_PAGE)
    # Whole rows, so that no page ends in the middle of one.
    per_page = ceil(ceil(count / pages) / _COLUMNS) * _COLUMNS
    for first in range(0, count, per_page):
        yield tuple(range(first, min(first + per_page, count)))


def draw_histograms(analysis: Analysis, chosen: tuple[int, ...], path: Path) -> None:
    """Draw the distribution of the features with the numbers `chosen` to `path`."""
    rows = ceil(len(chosen) / _COLUMNS)
    columns = min(_COLUMNS, len(chosen))
    with picture(path, _FRAME_HEIGHT + _PANEL_HEIGHT * rows, title_of(analysis, "features")) as figure:
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, k in zip(grid, chosen, strict=False):
            axes.set_title(broken_name(analysis.parameters.names[k]), fontsize=SMALL)
            _draw_histogram(axes, analysis.judged.features[:, k])
        for axes in grid[len(chosen) :]:
            axes.remove()
        figure.supylabel("% of positions", fontsize=SMALL)
        figure.supxlabel("value, as weights multiply it", fontsize=SMALL)


def _draw_histogram(axes: Axes, values: Floats) -> None:
    axes.grid(axis="x", visible=False)
    if values.min() == values.max():
        axes.text(0.5, 0.5, f"always {values[0]:g}", ha="center", va="center", transform=axes.transAxes)
        axes.set(xticks=[], yticks=[])
        return
    edges = bins_of(values)
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)
    axes.stairs(100 * counts / len(values), edges, fill=True, color=BLUE)
    axes.xaxis.set_major_locator(MaxNLocator(2, steps=[1, 2, 4, 5, 10]))
    axes.yaxis.set_major_locator(MaxNLocator(2, integer=True))


def draw_relations(analysis: Analysis, path: Path) -> None:
    """Draw how the value goes with each of the most important features to `path`."""
    scale = analysis.scale
    chosen = [k for k in analysis.by_importance if analysis.table.std[k] > 0][:MOST_IMPORTANT]
    rows = ceil(len(chosen) / 2)
    with picture(path, 1.35 + 2.05 * rows, title_of(analysis, f"features and {scale.value}")) as figure:
        grid = figure.subplots(rows, min(2, len(chosen)), squeeze=False, sharey=True)
        for axes, k in zip(grid.ravel(), chosen, strict=False):
            values = analysis.judged.features[:, k]
            low, high = np.percentile(values, [0.2, 99.8])
            if low == high:
                low, high = values.min(), values.max()
            drawn = axes.hexbin(
                np.clip(values, low, high),
                analysis.values,
                gridsize=(18, 14),
                extent=(low, high, scale.low, scale.high),
                mincnt=1,
                norm=LogNorm(1, len(values) / 10),
                cmap="Blues",
                linewidths=0.1,
            )
            axes.plot(*running_mean(values, analysis.values), color=VERMILION, marker="o", markersize=3)
            r = np.corrcoef(values, analysis.values)[0, 1] if analysis.values.std() else 0.0
            axes.set_title(f"{broken_name(analysis.parameters.names[k], 22)}: r = {r:.2f}", fontsize=SMALL)
            axes.set_ylim(scale.low, scale.high)
            axes.xaxis.set_major_locator(MaxNLocator(4))
            axes.grid(visible=False)
        for axes in grid.ravel()[len(chosen) :]:
            axes.remove()
        for axes in grid[:, 0]:
            axes.set_ylabel(scale.value_label)
        bar = figure.colorbar(drawn, ax=grid, location="bottom", shrink=0.6, aspect=30, pad=0.02)
        bar.set_label("positions in a cell (line: their mean)")
        bar.ax.xaxis.set_major_formatter("{x:,.0f}")
        bar.outline.set_edgecolor(INK)


def broken_name(name: str, most: int = _LONG_NAME) -> str:
    """A name on two lines where it is too long for one."""
    if len(name) <= most:
        return name
    breaks = [k for k, letter in enumerate(name) if letter == "_"]
    if not breaks:
        return name
    place = min(breaks, key=lambda k: abs(k - len(name) / 2))
    return f"{name[: place + 1]}\n{name[place + 1 :]}"


def running_mean(features: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Means of both in groups along the feature: a value that many positions have makes one by itself."""
    known, which, counts = np.unique(features, return_inverse=True, return_counts=True)
    full = len(features) / _GROUPS
    groups, held = np.zeros(len(known), np.int64), 0.0
    for k, count in enumerate(counts):
        starts = k > 0 and (held >= full or count >= full)
        groups[k] = groups[k - 1] + starts if k else 0
        held = count if starts else held + count
    # The last group is what was left over.
    if held < _SMALL_GROUP * full and groups[-1] > 0:
        groups[groups == groups[-1]] -= 1
    of_position = groups[which]
    sizes = np.bincount(of_position)
    return np.bincount(of_position, features) / sizes, np.bincount(of_position, values) / sizes
