"""Pictures of scores: how raw sums and values are spread, and the curve from one to the other."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from motif.parameters.position_class import CLASS_NAMES
from motif.reports.analysis.analysis import Analysis
from motif.reports.analysis.panels import CLASS_LOOKS, title_of
from motif.reports.analysis.statistics import Floats
from motif.reports.style import BLUE, FAINT, INK, VERMILION, picture, sample_line

_BINS = 40
_TAIL = 0.1
"""Percent of the positions at either end that the axis of raw sums leaves to its last bins."""
_CURVE_POINTS = 400


def draw_scores(analysis: Analysis, path: Path) -> None:
    """Draw how raw sums and values are spread, by class, to `path`."""
    scale = analysis.scale
    with picture(path, 6.2, title_of(analysis, "scores")) as figure:
        upper, lower = figure.subplots(2, 1)
        low, high = _range(analysis.judged.raw)
        _draw_shares(
            upper, analysis, np.clip(analysis.judged.raw, low, high), np.linspace(low, high, _BINS + 1)
        )
        upper.set_xlabel(f"raw sum {scale.raw}")
        _draw_shares(lower, analysis, analysis.values, np.linspace(scale.low, scale.high, _BINS + 1))
        lower.set_xlabel(scale.value_label)
        lines = [
            sample_line({**_look_of(analysis, name), "marker": ""}, text) for name, text in _labels(analysis)
        ]
        figure.legend(handles=lines, loc="outside lower center", ncols=len(lines), columnspacing=1.2)


def draw_transform(analysis: Analysis, path: Path) -> None:
    """Draw the curve from raw sums to values, its slope, and where the positions lie on it, to `path`."""
    scale = analysis.scale
    low, high = _range(analysis.judged.raw)
    # The middle of the curve is always there, and 0 its middle.
    reach = max(-low, high, 1.5 * scale.raw_factor)
    sums = np.linspace(-reach, reach, _CURVE_POINTS)
    with picture(path, 6.8, title_of(analysis, f"from {scale.raw} to {scale.value}")) as figure:
        curve, slope, where = figure.subplots(3, 1, sharex=True, height_ratios=[3, 2, 2])
        curve.plot(sums, scale.values(sums), color=BLUE)
        curve.set_ylim(scale.low, scale.high)
        curve.set_ylabel(scale.value_label)
        slope.plot(sums, scale.steepness(sums), color=VERMILION, linestyle="--")
        slope.set_ylim(0, 1.25 * float(scale.steepness(0.0)))
        slope.set_ylabel(f"slope: gain\na unit of {scale.raw}")
        slope.annotate(
            f"{float(scale.steepness(0.0)):.2f} at {scale.raw} = 0",
            (0, float(scale.steepness(0.0))),
            (0, 3),
            textcoords="offset points",
            ha="center",
            va="bottom",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )
        edges = np.linspace(-reach, reach, _BINS + 1)
        _draw_shares(where, analysis, np.clip(analysis.judged.raw, -reach, reach), edges, together=True)
        where.set_xlabel(f"raw sum {scale.raw}")
        for axes in (curve, slope, where):
            axes.axvline(0, color=FAINT, linewidth=1)


def _look_of(analysis: Analysis, class_name: str) -> dict[str, Any]:
    """The look of a class; a single one needs no dashes."""
    return CLASS_LOOKS[class_name] | ({"linestyle": "-"} if analysis.class_name else {})


def _range(raw: Floats) -> tuple[float, float]:
    low, high = np.percentile(raw, [_TAIL, 100 - _TAIL])
    return (float(low), float(high)) if low < high else (float(low) - 0.5, float(high) + 0.5)


def _draw_shares(
    axes: Axes, analysis: Analysis, values: Floats, edges: Floats, together: bool = False
) -> None:
    """Percent of the positions of each class in each bin, or of all of them `together`."""
    classes = analysis.judged.classes
    if together:
        axes.stairs(_percent(values, edges), edges, fill=True, color=BLUE, alpha=0.35)
        axes.stairs(_percent(values, edges), edges, color=BLUE, linewidth=1.2)
    else:
        for code in np.unique(classes):
            look = _look_of(analysis, CLASS_NAMES[code])
            axes.stairs(_percent(values[classes == code], edges), edges, linewidth=1.6, **look)
    axes.set_ylabel("% of positions")
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.margins(x=0.01)
    axes.set_ylim(bottom=0)
    middle = (edges[0] + edges[-1]) / 2 if not edges[0] < 0 < edges[-1] else 0.0
    axes.axvline(middle, color=INK, linewidth=0.6, alpha=0.5, zorder=0)


def _percent(values: Floats, edges: Floats) -> Floats:
    counts, _ = np.histogram(values, edges)
    return np.asarray(100 * counts / len(values))


def _labels(analysis: Analysis) -> list[tuple[str, str]]:
    """Classes that occur, with what a legend says of them."""
    found, scale = [], analysis.scale
    for code in np.unique(analysis.judged.classes):
        here = analysis.judged.classes == code
        mean, deviation = analysis.values[here].mean(), analysis.values[here].std()
        found.append(
            (
                CLASS_NAMES[code],
                f"{CLASS_NAMES[code]}: {here.sum():,}\nmean {scale.shown(mean)}, SD {scale.shown(deviation)}",
            )
        )
    return found
