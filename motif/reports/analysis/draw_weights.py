"""Pictures with a row a feature: importance, sensitivity, variance inflation."""

from pathlib import Path

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from motif.reports.analysis.analysis import Analysis
from motif.reports.analysis.panels import (
    BETTER,
    MINUS,
    PLUS,
    WORSE,
    name_rows,
    rows_height,
    title_of,
    zero_line,
)
from motif.reports.analysis.tables import HIGH_VIF
from motif.reports.style import BLUE, FAINT, INK, SMALL, VERMILION, picture

_BAR = 0.7
_VIF_REACH = 1.5
"""How far beyond the largest finite factor the axis goes, as a multiple."""


def draw_importance(analysis: Analysis, path: Path) -> None:
    """Draw the importance of each feature and its weight to `path`."""
    table, scale, order = analysis.table, analysis.scale, analysis.by_importance
    pairs = analysis.judged.second_degree
    spread = bool((table.weight_sd[order] > 1e-6 * np.abs(table.weight).max()).any())
    with picture(path, rows_height(len(order)), title_of(analysis, "importance")) as figure:
        bars, weights = figure.subplots(1, 2, sharey=True, width_ratios=[3, 2])
        for rows, look in ((table.weight[order] >= 0, PLUS), (table.weight[order] < 0, MINUS)):
            places = np.flatnonzero(rows)
            bars.barh(places, table.importance[order][places], height=_BAR, **look)
        handles: list[Line2D | Patch] = [Patch(label=BETTER, **PLUS), Patch(label=WORSE, **MINUS)]
        if spread:
            look = {"color": INK, "linestyle": "", "marker": "D", "markersize": 3.2}
            bars.plot(table.contribution_sd[order], range(len(order)), clip_on=False, **look)
            handles.append(Line2D([], [], label=f"SD of what it adds to {scale.raw}", **look))
        bars.set_xlabel(f"|weight| x SD, in {scale.raw}")
        bars.set_xlim(left=0)
        weights.errorbar(
            table.weight[order],
            range(len(order)),
            xerr=table.weight_sd[order] if spread else None,
            linestyle="",
            marker="o",
            color=BLUE,
            elinewidth=1,
            capsize=0,
        )
        zero_line(weights)
        weights.set_xlabel("weight ± SD" if spread else "weight")
        if pairs:
            weights.set_xlabel("dx/df ± SD")
        for axes in (bars, weights):
            name_rows(axes, [analysis.parameters.names[k] for k in order])
            axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        weights.tick_params(labelleft=False)
        figure.legend(handles=handles, loc="outside lower center", ncols=2)


def draw_sensitivity(analysis: Analysis, path: Path) -> None:
    """Draw what the value gains a unit of each feature, over positions, to `path`."""
    scale, gains = analysis.scale, analysis.sensitivities()
    quantiles = np.percentile(gains, [5, 25, 50, 75, 95], axis=0)
    order = np.argsort(-analysis.table.sensitivity_size, kind="stable")
    low, lower, middle, upper, high = quantiles[:, order]
    rows = np.arange(len(order))
    with picture(path, rows_height(len(order)), title_of(analysis, "sensitivity")) as figure:
        axes = figure.subplots()
        axes.hlines(rows, low, high, color=BLUE, linewidth=1)
        axes.barh(rows, upper - lower, left=lower, height=0.55, color=BLUE, alpha=0.45)
        axes.plot(middle, rows, color=VERMILION, linestyle="", marker="o", markersize=3.5)
        zero_line(axes)
        name_rows(axes, [analysis.parameters.names[k] for k in order])
        axes.set_xlabel(f"gain in {scale.value_label} a unit of the feature")
        handles = [
            Line2D([], [], color=VERMILION, linestyle="", marker="o", markersize=3.5, label="median"),
            Patch(color=BLUE, alpha=0.45, label="middle half"),
            Line2D([], [], color=BLUE, linewidth=1, label="5 to 95 %"),
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=3)


def draw_inflation(analysis: Analysis, path: Path) -> None:
    """Draw the variance inflation factor of each feature to `path`."""
    vif, names = analysis.table.vif, analysis.parameters.names
    # Infinite ones first, constants last.
    order = np.argsort(-np.where(np.isnan(vif), 0, vif), kind="stable")
    finite = vif[np.isfinite(vif)]
    reach = _VIF_REACH * max(float(finite.max()) if len(finite) else 1.0, HIGH_VIF)
    with picture(path, rows_height(len(order)), title_of(analysis, "collinearity")) as figure:
        axes = figure.subplots()
        axes.set_xscale("log")
        axes.set_xlim(0.9, reach)
        note = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        for row, k in enumerate(order):
            if np.isnan(vif[k]):
                axes.text(1.15, row, "constant here", va="center", fontsize=SMALL, color=FAINT, bbox=note)
            elif np.isinf(vif[k]):
                axes.barh(row, reach, height=_BAR, **MINUS)
                axes.text(1.15, row, "infinite", va="center", fontsize=SMALL, bbox=note)
            else:
                axes.barh(row, vif[k] - 0.9, left=0.9, height=_BAR, color=BLUE)
        axes.axvline(HIGH_VIF, color=INK, linewidth=0.8, linestyle="--")
        name_rows(axes, [names[k] for k in order])
        axes.xaxis.set_major_formatter("{x:,g}")
        axes.set_xlabel(f"variance inflation factor; dashed: {HIGH_VIF:g}")
