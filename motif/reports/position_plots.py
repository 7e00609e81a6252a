"""Pictures of an analysis's positions: values by range, clusters, and normality of raw sums."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from motif.analysis.evaluator_analysis import EvaluatorAnalysis, Floats, spread_rows, standardised, varying
from motif.analysis.position_clusters import PositionClusters
from motif.analysis.position_table import ValueRange
from motif.analysis.score_tests import moments
from motif.reports.analysis_plots import bins_of, heat_map, name_rows, rows_height, title_of
from motif.reports.style import (
    BLUE,
    DASHED,
    FAINT,
    GREEN,
    INK,
    SOLID,
    VERMILION,
    Look,
    percentages,
    picture,
    sample_line,
)

CLUSTER_LOOKS = (
    (BLUE, "o"), (VERMILION, "s"), (GREEN, "^"), ("#CC79A7", "D"),
    ("#E69F00", "v"), ("#56B4E9", "P"), (INK, "X"), ("#8c8c00", "*"),
)  # fmt: skip
"""Colour and marker of each group."""
MAX_FEATURES = 14
"""Maximum number of features in the picture of clusters."""
_DRAWN = 3000
_HEIGHT = 5.6
_SCATTER_HEIGHT = 3.6
_REACH = 2.0
"""Number of standard deviations with full colour."""
_PERCENT = 100
_QUANTILES = 400


def draw_ranges(analysis: EvaluatorAnalysis, ranges: list[ValueRange], path: Path) -> None:
    """Draw the mean and SD of the value, and the share of positions, by range of the raw sum to `path`."""
    scale = analysis.scale
    with picture(path, _HEIGHT, title_of(analysis, f"{scale.value} by range of {scale.raw}")) as figure:
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
        middles = [(one.low + one.high) / 2 for one in ranges]
        curve = np.linspace(ranges[0].low, ranges[-1].high, 200)
        upper.plot(curve, scale.values(curve), color=FAINT, linewidth=1.0, zorder=1)
        upper.errorbar(
            middles, [one.value for one in ranges], [one.value_sd for one in ranges],
            color=BLUE, marker="o", linestyle="", capsize=3,
        )  # fmt: skip
        upper.set_ylabel(scale.value_label)
        upper.axvline(0, color=FAINT, linewidth=0.8)
        edges = np.array([ranges[0].low, *(one.high for one in ranges)])
        widths = ranges[0].high - ranges[0].low
        lower.bar(middles, [_PERCENT * one.share for one in ranges], 0.92 * widths, color=BLUE, alpha=0.6)
        lower.set_ylabel("% of positions")
        lower.set_xlabel(f"{scale.raw}, in ranges of {widths:g}")
        lower.set_xlim(edges[0], edges[-1])


def draw_clusters(analysis: EvaluatorAnalysis, clusters: PositionClusters, path: Path) -> None:
    """Draw positions on two principal components and feature means by cluster to `path`."""
    groups = clusters.groups
    shown = _telling(clusters)
    height = _SCATTER_HEIGHT + rows_height(len(shown))
    ratios = [_SCATTER_HEIGHT, rows_height(len(shown)) - 0.4]
    with picture(path, height, title_of(analysis, "clusters of positions")) as figure:
        upper, lower = figure.subplots(2, 1, height_ratios=ratios)
        _draw_scatter(upper, analysis, clusters)
        centres = np.array([one.centre[shown] for one in groups]).T
        heat_map(figure, lower, centres, "SD from the mean of all", reach=_REACH)
        name_rows(lower, [analysis.parameters.names[k] for k in shown], lines=False)
        lower.set_xticks(range(len(groups)), [f"{one.number}\n{one.share:.0%}" for one in groups])
        lower.set_xlabel("cluster, and its share of the positions")


def _telling(clusters: PositionClusters) -> list[int]:
    """Return the features that differ most between groups, in their own order."""
    centres = np.array([one.centre for one in clusters.groups])
    weights = np.array([one.share for one in clusters.groups])
    spread = (weights[:, None] * centres**2).sum(axis=0)
    return sorted(np.argsort(-spread, kind="stable")[:MAX_FEATURES].tolist())


def _draw_scatter(axes: Axes, analysis: EvaluatorAnalysis, clusters: PositionClusters) -> None:
    places = _projected(analysis)
    rows = spread_rows(len(places), _DRAWN)
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


def _projected(analysis: EvaluatorAnalysis) -> Floats:
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
    with picture(path, _HEIGHT, title_of(analysis, f"is {name} normal?")) as figure:
        upper, lower = figure.subplots(2, 1)
        edges = bins_of(raw)
        upper.stairs(percentages(raw, edges), edges, fill=True, color=BLUE, alpha=0.5)
        expected = np.diff(norm.cdf(edges, mean, deviation)) * _PERCENT
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
            title=f"skewness {skewness:+.2f}, excess kurtosis {kurtosis:+.2f} (both 0 if normal)",
        )  # fmt: skip
