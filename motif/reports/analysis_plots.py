"""Pictures of an analysis: scores, features, weights, effects, correlations, and clusters of positions."""

from collections.abc import Iterator, Sequence
from functools import partial
from math import ceil
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, PercentFormatter

from motif.analysis.evaluator_analysis import (
    HIGH_VIF,
    MAX_IMPORTANT,
    EvaluatorAnalysis,
    spread_rows,
    standardised,
    varying,
)
from motif.analysis.observed_effects import Observed, value_groups
from motif.analysis.phrases import LANGUAGE, phrases
from motif.analysis.position_clusters import PositionClusters
from motif.analysis.position_table import ValueRange
from motif.analysis.score_tests import moments
from motif.analysis.term_report import EffectSummary
from motif.parameters.position_class import CLASS_NAMES
from motif.reports.document import Picture, drawn_picture
from motif.reports.style import (
    BLUE,
    DASHED,
    FAINT,
    GREEN,
    INK,
    SMALL,
    SOLID,
    VERMILION,
    Look,
    percentages,
    picture,
    sample_line,
)
from motif.runtime.arrays import FloatArray
from motif.runtime.layout import percent

_CLASS_LOOKS = [(BLUE, "-"), (VERMILION, "--"), (GREEN, ":")]
PLUS: Look = {"color": BLUE}
MINUS: Look = {"facecolor": "white", "edgecolor": VERMILION, "hatch": "//////", "linewidth": 0.8}
"""Looks of features that are good and bad for the player on roll."""
BETTER, WORSE = "good for the player on roll", "bad for the player on roll"
_ROW_HEIGHT = 0.185
_FRAME_HEIGHT = 1.75
_OWN_LINE = 3
_BINS = 24
_MAX_VALUES = 40

EFFECTS_HEADING = "Effects of the parameters"
DRAWN = 8
"""Maximum number of parameters in a picture."""
_CURVES_HEIGHT, _CURVES_FRAME_HEIGHT = 1.75, 0.7
_LONG_EFFECT = 24


def title_of(analysis: EvaluatorAnalysis, what: str) -> str:
    """Return a picture's title."""
    kind = f", {analysis.class_name}" if analysis.class_name else ""
    head = "" if analysis.head == "win" else f", {analysis.head}"
    return f"{analysis.name}{kind}{head}: {what}"


def rows_height(count: int) -> float:
    """Return the height in inches of a picture with `count` rows."""
    return _FRAME_HEIGHT + _ROW_HEIGHT * max(count, 3)


def name_rows(axes: Axes, names: Sequence[str], *, lines: bool = True) -> None:
    """Label rows with `names`, from top to bottom, with thin lines between groups of rows."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    for place in range(_OWN_LINE, len(names), _OWN_LINE) if lines else ():
        axes.axhline(place - 0.5, color=FAINT, linewidth=0.25, zorder=0)


def zero_line(axes: Axes) -> None:
    """Draw a vertical line at 0."""
    axes.axvline(0, color=INK, linewidth=0.8, zorder=1)


def bins_of(values: FloatArray) -> FloatArray:
    """Return edges of equal bins over almost all `values`; few distinct values get one bin each."""
    known = np.unique(values)
    if len(known) == 1:
        return np.array([known[0] - 0.5, known[0] + 0.5])
    step = np.diff(known).min()
    places = (known - known[0]) / step
    if places[-1] < _MAX_VALUES and np.allclose(places, np.round(places), atol=1e-3):
        return known[0] + step * (np.arange(round(float(places[-1])) + 2) - 0.5)
    low, high = np.percentile(values, [0.2, 99.8])
    if low == high:
        low, high = float(known[0]), float(known[-1])
    width = (high - low) / _BINS
    return np.asarray(width * np.arange(round(low / width) - 0.5, round(high / width) + 1))


def _panels(figure: Figure, count: int, columns: int, *, sharey: bool = False) -> Sequence[Axes]:
    grid = figure.subplots(ceil(count / columns), min(columns, count), squeeze=False, sharey=sharey).ravel()
    for axes in grid[count:]:
        axes.remove()
    return list(grid[:count])


_COLUMNS = 3
_PANELS_A_PAGE = 18
_PANEL_HEIGHT = 1.3
_PAGE_FRAME_HEIGHT = 0.75
_GROUPS = 12
_SMALL_GROUP = 0.2
_LONG_NAME = 19


def feature_pages(analysis: EvaluatorAnalysis) -> Iterator[tuple[int, ...]]:
    """Yield the feature indices of each page of histograms, in pages of similar size."""
    count = len(analysis.parameters)
    pages = ceil(count / _PANELS_A_PAGE)
    # Pages consist of whole rows.
    per_page = ceil(ceil(count / pages) / _COLUMNS) * _COLUMNS
    for first in range(0, count, per_page):
        yield tuple(range(first, min(first + per_page, count)))


def draw_histograms(analysis: EvaluatorAnalysis, features: tuple[int, ...], path: Path) -> None:
    """Draw the distributions of the `features` (indices) to `path`."""
    rows = ceil(len(features) / _COLUMNS)
    with picture(path, _PAGE_FRAME_HEIGHT + _PANEL_HEIGHT * rows, title_of(analysis, "features")) as figure:
        for axes, k in zip(_panels(figure, len(features), _COLUMNS), features, strict=True):
            axes.set_title(broken_name(analysis.parameters.names[k]), fontsize=SMALL)
            _draw_histogram(axes, analysis.judged.features[:, k])
        figure.supylabel("% of positions")
        figure.supxlabel("scaled feature")


def _draw_histogram(axes: Axes, values: FloatArray) -> None:
    axes.grid(axis="x", visible=False)
    if values.min() == values.max():
        axes.text(0.5, 0.5, f"always {values[0]:g}", ha="center", va="center", transform=axes.transAxes)
        axes.set(xticks=[], yticks=[])
        return
    edges = bins_of(values)
    axes.stairs(percentages(values, edges), edges, fill=True, color=BLUE)
    axes.xaxis.set_major_locator(MaxNLocator(2, steps=[1, 2, 4, 5, 10]))
    axes.yaxis.set_major_locator(MaxNLocator(2, integer=True))


def draw_relations(analysis: EvaluatorAnalysis, path: Path) -> None:
    """Draw the value against each of the most important features to `path`."""
    scale = analysis.scale
    features = [k for k in analysis.by_importance if analysis.table.std[k] > 0][:MAX_IMPORTANT]
    rows = ceil(len(features) / 2)
    with picture(path, 1.35 + 2.05 * rows, title_of(analysis, f"features and {scale.value}")) as figure:
        panels = _panels(figure, len(features), 2, sharey=True)
        for axes, k in zip(panels, features, strict=True):
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
        for axes in panels[::2]:
            axes.set_ylabel(scale.value_label)
        bar = figure.colorbar(drawn, ax=panels, location="bottom", shrink=0.6, aspect=30, pad=0.02)
        bar.set_label("positions in a cell (line: their mean)")
        bar.ax.xaxis.set_major_formatter("{x:,.0f}")
        bar.outline.set_edgecolor(INK)


def broken_name(name: str, most: int = _LONG_NAME) -> str:
    """Return a name, on two lines if it is long."""
    if len(name) <= most:
        return name
    breaks = [k for k, letter in enumerate(name) if letter == "_"]
    if not breaks:
        return name
    place = min(breaks, key=lambda k: abs(k - len(name) / 2))
    return f"{name[: place + 1]}\n{name[place + 1 :]}"


def running_mean(features: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the means of both in groups along the feature; a frequent value forms its own group."""
    full = len(features) / _GROUPS
    groups = value_groups(features, full, _SMALL_GROUP * full, frequent_apart=True)
    sizes = np.bincount(groups)
    return np.bincount(groups, features) / sizes, np.bincount(groups, values) / sizes


_SCORE_BINS = 40
_TAIL = 0.1
"""Per cent of the positions at either end that are collected in the last bins."""
_CURVE_POINTS = 400


def draw_scores(analysis: EvaluatorAnalysis, path: Path) -> None:
    """Draw the distributions of raw sums and values by class to `path`."""
    scale = analysis.scale
    with picture(path, 6.2, title_of(analysis, "scores")) as figure:
        upper, lower = figure.subplots(2, 1)
        _draw_shares(
            upper, analysis, analysis.judged.raw, np.linspace(*_range(analysis.judged.raw), _SCORE_BINS + 1)
        )
        upper.set_xlabel(f"raw sum {scale.raw}")
        _draw_shares(lower, analysis, analysis.values, np.linspace(scale.low, scale.high, _SCORE_BINS + 1))
        lower.set_xlabel(scale.value_label)
        lines = [sample_line(_look_of(analysis, code), text) for code, text in _labels(analysis)]
        figure.legend(handles=lines, loc="outside lower center", ncols=len(lines), columnspacing=1.2)


def draw_transform(analysis: EvaluatorAnalysis, path: Path) -> None:
    """Draw the curve from raw sums to values, its slope and the positions' distribution to `path`."""
    scale = analysis.scale
    low, high = _range(analysis.judged.raw)
    # The axis is centred at 0 and includes the middle of the curve.
    reach = max(-low, high, 1.5 * scale.raw_factor)
    sums = np.linspace(-reach, reach, _CURVE_POINTS)
    with picture(path, 6.8, title_of(analysis, f"from {scale.raw} to {scale.value}")) as figure:
        curve, slope, where = figure.subplots(3, 1, sharex=True, height_ratios=[3, 2, 2])
        curve.plot(sums, scale.values(sums), color=BLUE)
        curve.set_ylim(scale.low, scale.high)
        curve.set_ylabel(scale.value_label)
        slope.plot(sums, scale.steepness(sums), color=VERMILION, linestyle="--")
        steepest = float(scale.steepness(0.0))
        slope.set_ylim(0, 1.25 * steepest)
        slope.set_ylabel(f"slope\nper unit of {scale.raw}")
        slope.annotate(
            f"{steepest:.2f} at {scale.raw} = 0",
            (0, steepest),
            (0, 3),
            textcoords="offset points",
            ha="center",
            va="bottom",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )
        edges = np.linspace(-reach, reach, _SCORE_BINS + 1)
        _draw_shares(where, analysis, analysis.judged.raw, edges, together=True)
        where.set_xlabel(f"raw sum {scale.raw}")
        for axes in (curve, slope, where):
            axes.axvline(0, color=FAINT, linewidth=1)


def _look_of(analysis: EvaluatorAnalysis, code: int) -> Look:
    """Return the look of a class, without dashes if it is the only one."""
    color, linestyle = _CLASS_LOOKS[code]
    return {"color": color, "linestyle": "-" if analysis.class_name else linestyle}


def _range(raw: FloatArray) -> tuple[float, float]:
    low, high = np.percentile(raw, [_TAIL, 100 - _TAIL])
    return (float(low), float(high)) if low < high else (float(low) - 0.5, float(high) + 0.5)


def _draw_shares(
    axes: Axes, analysis: EvaluatorAnalysis, values: FloatArray, edges: FloatArray, together: bool = False
) -> None:
    """Draw the percentage of positions in each bin, by class or `together`."""
    classes = analysis.judged.classes
    if together:
        axes.stairs(percentages(values, edges), edges, fill=True, color=BLUE, alpha=0.35)
        axes.stairs(percentages(values, edges), edges, color=BLUE, linewidth=1.2)
    else:
        for code in np.unique(classes):
            look = _look_of(analysis, code)
            axes.stairs(percentages(values[classes == code], edges), edges, linewidth=1.6, **look)
    axes.set_ylabel("% of positions")
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.margins(x=0.01)
    axes.set_ylim(bottom=0)
    middle = (edges[0] + edges[-1]) / 2 if not edges[0] < 0 < edges[-1] else 0.0
    axes.axvline(middle, color=INK, linewidth=0.6, alpha=0.5, zorder=0)


def _labels(analysis: EvaluatorAnalysis) -> Iterator[tuple[int, str]]:
    """Yield the classes that occur, with legend texts."""
    shown = analysis.scale.shown
    for code in np.unique(analysis.judged.classes).tolist():
        values = analysis.values[analysis.judged.classes == code]
        spread = f"mean {shown(values.mean())}, SD {shown(values.std())}"
        yield code, f"{CLASS_NAMES[code]}: {len(values):,}\n{spread}"


MAX_COMPONENTS = 5
"""Maximum number of principal components with loadings."""
_STEPS = ((1, 14), (2, 28), (5, 75), (10, 10**9))
"""Distances between numbered columns, each with the maximum number of columns."""
_NUMBERED_CELLS = 12
_SCREE = 12
_SCREE_HEIGHT = 1.9


def draw_correlations(analysis: EvaluatorAnalysis, path: Path) -> None:
    """Draw the correlations of the features that vary, in clustered order, to `path`."""
    order = list(analysis.clusters.order)
    names = [analysis.parameters.names[k] for k in order]
    numbered = [f"{name}  {row}" for row, name in enumerate(names, 1)]
    with picture(path, 0.5 + rows_height(len(order)), title_of(analysis, "correlations")) as figure:
        cells, tree = figure.subplots(1, 2, sharey=True, width_ratios=[5, 1])
        matrix = analysis.correlation[np.ix_(order, order)]
        heat_map(figure, cells, matrix, "correlation r", numbers=len(order) <= _NUMBERED_CELLS)
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


def draw_components(analysis: EvaluatorAnalysis, path: Path) -> None:
    """Draw the explained variance and the loadings of the principal components to `path`."""
    components, free = analysis.components, analysis.clusters.order
    rows = [k for k in range(len(analysis.parameters)) if k in free]
    count = min(MAX_COMPONENTS, len(components.shares))
    height = rows_height(len(rows)) + _SCREE_HEIGHT
    with picture(path, height + 0.3, title_of(analysis, "principal components")) as figure:
        ratio = [_SCREE_HEIGHT, height - _SCREE_HEIGHT]
        scree, cells = figure.subplots(2, 1, height_ratios=ratio)
        shown = components.shares[:_SCREE]
        numbers = np.arange(1, len(shown) + 1)
        scree.bar(numbers, shown, color=BLUE, width=0.7)
        scree.plot(numbers, np.cumsum(shown), **DASHED)
        scree.set_ylim(0, 1.05)
        scree.yaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))
        scree.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12))
        scree.set_ylabel("share of variance")
        scree.set_xlabel("component (dashed: cumulative)")
        scree.grid(axis="x", visible=False)
        heat_map(figure, cells, components.loadings[:count, rows].T, "correlation with the component")
        cells.set_xticks(range(count), [f"{k + 1}: {percent(components.shares[k], 0)}" for k in range(count)])
        cells.tick_params(axis="x", length=0)
        name_rows(cells, [analysis.parameters.names[k] for k in rows], lines=False)


def heat_map(
    figure: Figure, axes: Axes, matrix: FloatArray, label: str, *, reach: float = 1.0, numbers: bool = True
) -> None:
    """Draw a matrix as colours, full at `reach`, and as numbers; a colour bar is below all panels."""
    drawn = axes.imshow(matrix, cmap="RdBu", vmin=-reach, vmax=reach, aspect="auto", interpolation="nearest")
    axes.grid(visible=False)
    for (row, column), value in np.ndenumerate(matrix) if numbers else ():
        ink = "white" if abs(value) > 0.65 * reach else INK
        axes.text(column, row, f"{value:+z.2f}", ha="center", va="center", fontsize=SMALL - 1.5, color=ink)
    bar = figure.colorbar(
        drawn, ax=figure.axes, location="bottom", fraction=0.03, pad=0.01, aspect=30, shrink=0.7
    )
    bar.set_ticks(np.linspace(-reach, reach, 5).tolist())
    bar.set_label(label)


_BAR = 0.7
_VIF_REACH = 1.5
"""Length of the axis as a multiple of the largest finite factor."""


def draw_importance(analysis: EvaluatorAnalysis, path: Path) -> None:
    """Draw the importance of each feature and its weight to `path`."""
    table, scale, order = analysis.table, analysis.scale, analysis.by_importance
    pairs = analysis.judged.second_degree or analysis.judged.hidden_units > 0
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
            handles.append(Line2D([], [], label=f"SD of its contribution to {scale.raw}", **look))
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
        sd = "weight ± SD" if spread else "weight"
        weights.set_xlabel("dx/df ± SD" if pairs else sd)
        for axes in (bars, weights):
            name_rows(axes, [analysis.parameters.names[k] for k in order])
            axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        weights.tick_params(labelleft=False)
        figure.legend(handles=handles, loc="outside lower center", ncols=2)


def draw_sensitivity(analysis: EvaluatorAnalysis, path: Path) -> None:
    """Draw the derivative of the value with respect to each feature, over positions, to `path`."""
    scale, gains = analysis.scale, analysis.judged.sensitivities(analysis.scale)
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
        axes.set_xlabel(f"change in {scale.value_label} per unit of the feature")
        handles = [
            Line2D([], [], color=VERMILION, linestyle="", marker="o", markersize=3.5, label="median"),
            Patch(color=BLUE, alpha=0.45, label="middle half"),
            Line2D([], [], color=BLUE, linewidth=1, label="5 to 95 %"),
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=3)


def draw_inflation(analysis: EvaluatorAnalysis, path: Path) -> None:
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
                axes.text(1.15, row, "constant", va="center", fontsize=SMALL, color=FAINT, bbox=note)
            elif np.isinf(vif[k]):
                axes.barh(row, reach, height=_BAR, **MINUS)
                axes.text(1.15, row, "infinite", va="center", fontsize=SMALL, bbox=note)
            else:
                axes.barh(row, vif[k] - 0.9, left=0.9, height=_BAR, color=BLUE)
        axes.axvline(HIGH_VIF, color=INK, linewidth=0.8, linestyle="--")
        name_rows(axes, [names[k] for k in order])
        axes.xaxis.set_major_formatter("{x:,g}")
        axes.set_xlabel(f"variance inflation factor, log scale; dashed: {HIGH_VIF:g}")


def draw_effects(
    positions: Observed, effects: Sequence[EffectSummary], title: str, path: Path, language: str = LANGUAGE
) -> None:
    """Draw the curves of the first `DRAWN` effects, each above its histogram, to `path`."""
    drawn = effects[:DRAWN]
    rows = max(1, ceil(len(drawn) / 2))
    with picture(path, _CURVES_FRAME_HEIGHT + _CURVES_HEIGHT * rows, title) as figure:
        cells = np.ravel(np.asarray(figure.subfigures(rows, 2)))
        for place, (cell, effect) in enumerate(zip(cells, drawn, strict=False), 1):
            _draw_effect(cell, positions, effect, place)
        words, percent = phrases(language), "" if positions.head == "equity" else " in %"
        head = words.say("terms", "heads", positions.head)
        figure.supylabel(words.say("term_report", "picture_axis", head=head, unit=percent))


def effects_picture(
    positions: Observed, effects: Sequence[EffectSummary], name: str, language: str = LANGUAGE
) -> Picture:
    """Return the picture of `draw_effects` for the weights called `name`, with its caption."""
    title = phrases(language).say("term_report", "picture_title", weights=name)
    draw = partial(draw_effects, positions, effects, title, language=language)
    return drawn_picture(EFFECTS_HEADING, draw, effects_caption(positions, language))


def effects_caption(positions: Observed, language: str = LANGUAGE) -> str:
    """Describe the picture of `draw_effects`."""
    words = phrases(language)
    head, number = words.say("terms", "heads", positions.head), words.count(len(positions.values))
    return words.say("term_report", "picture_caption", head=head, number=number)


def _draw_effect(cell: SubFigure | Figure, positions: Observed, effect: EffectSummary, number: int) -> None:
    curve, spread = cell.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    curve.set_title(broken_name(f"{number}. {effect.name}", _LONG_EFFECT), fontsize=SMALL)
    factor = 1 if positions.head == "equity" else 100
    curve.plot([step.value for step in effect.curve], [factor * step.worth for step in effect.curve], **SOLID)
    curve.yaxis.set_major_locator(MaxNLocator(3))
    place = positions.parameters.names.index(effect.name)
    values = positions.features[:, place] / positions.parameters.parameters[place].scale
    edges = bins_of(values)
    spread.stairs(percentages(values, edges), edges, fill=True, color=BLUE, alpha=0.5)
    spread.set_yticks([])
    spread.grid(visible=False)
    spread.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    spread.tick_params(axis="x", color=FAINT)


CLUSTER_LOOKS = (
    (BLUE, "o"), (VERMILION, "s"), (GREEN, "^"), ("#CC79A7", "D"),
    ("#E69F00", "v"), ("#56B4E9", "P"), (INK, "X"), ("#8c8c00", "*"),
)  # fmt: skip
"""Colour and marker of each group."""
MAX_FEATURES = 14
"""Maximum number of features in the picture of clusters."""
_SCATTERED = 3000
_TALL = 5.6
"""Height in inches of a picture with two large panels."""
_SCATTER_HEIGHT = 3.6
_CLUSTER_REACH = 2.0
"""Number of standard deviations with full colour."""
_QUANTILES = 400


def draw_ranges(analysis: EvaluatorAnalysis, ranges: list[ValueRange], path: Path) -> None:
    """Draw the mean and SD of the value, and the share of positions, by range of the raw sum to `path`."""
    scale = analysis.scale
    with picture(path, _TALL, title_of(analysis, f"{scale.value} by range of {scale.raw}")) as figure:
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
        middles = [(span.low + span.high) / 2 for span in ranges]
        curve = np.linspace(ranges[0].low, ranges[-1].high, 200)
        upper.plot(curve, scale.values(curve), color=FAINT, linewidth=1.0, zorder=1)
        upper.errorbar(
            middles, [span.value for span in ranges], [span.value_sd for span in ranges],
            color=BLUE, marker="o", linestyle="", capsize=3,
        )  # fmt: skip
        upper.set_ylabel(scale.value_label)
        upper.axvline(0, color=FAINT, linewidth=0.8)
        edges = np.array([ranges[0].low, *(span.high for span in ranges)])
        widths = ranges[0].high - ranges[0].low
        lower.bar(middles, [100 * span.share for span in ranges], 0.92 * widths, color=BLUE, alpha=0.6)
        lower.set_ylabel("% of positions")
        lower.set_xlabel(f"{scale.raw}, in ranges of {widths:g}")
        lower.set_xlim(edges[0], edges[-1])
        figure.supxlabel("Points and bars: mean ± SD.  Line: the curve.")


def draw_clusters(analysis: EvaluatorAnalysis, clusters: PositionClusters, path: Path) -> None:
    """Draw positions on two principal components and feature means by cluster to `path`."""
    groups = clusters.groups
    shown = _telling(clusters)
    height = _SCATTER_HEIGHT + rows_height(len(shown))
    ratios = [_SCATTER_HEIGHT, rows_height(len(shown)) - 0.4]
    with picture(path, height, title_of(analysis, "clusters of positions")) as figure:
        upper, lower = figure.subplots(2, 1, height_ratios=ratios)
        _draw_scatter(upper, analysis, clusters)
        centres = np.array([group.centre[shown] for group in groups]).T
        heat_map(figure, lower, centres, "SD from the mean of all", reach=_CLUSTER_REACH)
        name_rows(lower, [analysis.parameters.names[k] for k in shown], lines=False)
        labels = [f"{group.number}\n{percent(group.share, 0)}" for group in groups]
        lower.set_xticks(range(len(groups)), labels)
        lower.set_xlabel("cluster, and its share of the positions")


def _telling(clusters: PositionClusters) -> list[int]:
    """Return the features that differ most between groups, in their own order."""
    centres = np.array([group.centre for group in clusters.groups])
    weights = np.array([group.share for group in clusters.groups])
    spread = (weights[:, None] * centres**2).sum(axis=0)
    return sorted(np.argsort(-spread, kind="stable")[:MAX_FEATURES].tolist())


def _draw_scatter(axes: Axes, analysis: EvaluatorAnalysis, clusters: PositionClusters) -> None:
    places = _projected(analysis)
    rows = spread_rows(len(places), _SCATTERED)
    for one, (colour, marker) in zip(clusters.groups, CLUSTER_LOOKS, strict=False):
        look: Look = {"color": colour, "marker": marker}
        here = rows[clusters.labels[rows] == one.number]
        axes.scatter(places[here, 0], places[here, 1], s=7, alpha=0.35, linewidths=0, **look)
        x, y = places[clusters.labels == one.number].mean(axis=0)
        axes.scatter([x], [y], s=130, edgecolors="white", linewidths=1.2, zorder=5, **look)
        axes.annotate(str(one.number), (x, y), xytext=(8, 6), textcoords="offset points", zorder=6,
                      bbox={"facecolor": "white", "edgecolor": colour, "pad": 1.5})  # fmt: skip
    axes.set_xlabel("principal component 1")
    axes.set_ylabel("component 2" if places.shape[1] > 1 else "")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(5))


def _projected(analysis: EvaluatorAnalysis) -> FloatArray:
    """Return the positions' scores on the first two principal components (n, 2)."""
    free, standard = varying(analysis.judged.features), standardised(analysis.judged.features)
    loadings = analysis.components.loadings[:2][:, free]
    axes = loadings / np.maximum(np.linalg.norm(loadings, axis=1, keepdims=True), np.finfo(float).tiny)
    places = standard @ axes.T
    # A single feature has only one component.
    return places if places.shape[1] > 1 else np.column_stack([places, np.zeros(len(places))])


def draw_normality(analysis: EvaluatorAnalysis, path: Path) -> None:
    """Draw the distribution of raw sums and its quantiles against a normal distribution to `path`."""
    from scipy.stats import norm

    raw, name = analysis.judged.raw, analysis.scale.raw
    mean, deviation = float(raw.mean()), float(raw.std()) or 1.0
    with picture(path, _TALL, title_of(analysis, f"is {name} normal?")) as figure:
        upper, lower = figure.subplots(2, 1)
        edges = bins_of(raw)
        upper.stairs(percentages(raw, edges), edges, fill=True, color=BLUE, alpha=0.5)
        expected = np.diff(norm.cdf(edges, mean, deviation)) * 100
        upper.plot((edges[:-1] + edges[1:]) / 2, expected, **DASHED | {"marker": ""})
        upper.set_xlabel(name)
        upper.set_ylabel("% of positions")
        shares = (np.arange(min(_QUANTILES, len(raw))) + 0.5) / min(_QUANTILES, len(raw))
        normal = norm.ppf(shares)
        standard = (np.quantile(raw, shares) - mean) / deviation
        lower.plot(normal, standard, **SOLID | {"linestyle": "", "markersize": 2.5})
        lower.plot(normal[[0, -1]], normal[[0, -1]], **DASHED | {"marker": ""})
        lower.set_xlabel("quantile of a normal distribution, in SD")
        lower.set_ylabel(f"quantile of {name}, in SD")
        skewness, kurtosis = moments(raw) if np.ptp(raw) > 0 else (0.0, 0.0)
        figure.legend(
            handles=[sample_line(SOLID | {"linestyle": ""}, "the positions"),
                     sample_line(DASHED | {"marker": ""}, "normal, same mean and SD")],
            loc="outside lower center", ncols=2,
            title=f"skewness {skewness:+z.2f}, excess kurtosis {kurtosis:+z.2f} (both 0 if normal)",
        )  # fmt: skip
