"""A plot of BRAS's doubling windows: decisions by score, windows, early zone and number of positions."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from scipy.stats import binned_statistic

from motif.doubling.bras_windows import DROP_FROM, EARLY_FROM, LIVE_FROM, DoublingSet, ScoreWindow
from motif.evaluators.bras import BrasFormula
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
    picture,
    sample_line,
)
from motif.runtime.arrays import FloatArray

_BIN = 2.5
"""Width of a bin, in S."""
_MIN_POSITIONS = 20
"""Minimum number of positions in a bin that is drawn."""
_LOW, _HIGH = 25.0, 95.0
"""Range of scores; no decision changes beyond it."""
_EDGES = np.arange(_LOW, _HIGH + _BIN, _BIN)
_HEIGHT = 6.4
_PERCENT = 100
_MAX_TICKS = 12
_WINS: Look = {"color": GREEN, "linestyle": ":", "marker": "^"}


def draw_windows(positions: DoublingSet, window: ScoreWindow, path: Path) -> None:
    """Draw how cube decisions change with the score S to `path`.

    Above: the shares of doubles and passes, the mean win probability, the article's windows as bands and the
    measured ones as lines.  Below: a histogram of the scores.
    """
    with picture(path, _HEIGHT, f"When {window.player} doubles, by BRAS's S") as figure:
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[2.4, 1])
        _draw_shares(upper, positions)
        bands = _draw_article(upper, positions.early_from)
        for place, error, look, side in (
            (window.double_from, window.double_se, SOLID, -1),
            (window.drop_from, window.drop_se, DASHED, 1),
        ):
            upper.axvline(place, color=look["color"], linewidth=1.2, linestyle=look["linestyle"])
            upper.annotate(
                f"half at\n{place:.1f}\n±{error:.1f}", (place, 97), xytext=(4 * side, 0),
                textcoords="offset points", color=look["color"], fontsize=SMALL, va="top",
                ha="left" if side > 0 else "right",
            )  # fmt: skip
        upper.set_ylabel("% of positions")
        upper.set_ylim(-2, 102)
        _add_raw_axis(upper, positions.formula)
        _draw_counts(lower, positions)
        lower.set_xlabel("S of the player on roll")
        lower.set_xlim(_LOW, _HIGH)
        lines = [
            sample_line(SOLID, "doubled"),
            sample_line(DASHED, "double passed"),
            sample_line(_WINS, "mean win probability"),
        ]
        figure.legend(
            handles=[*lines, *bands], loc="outside lower center", ncols=2,
            title=_note(positions),
        )  # fmt: skip


def _draw_shares(axes: Axes, positions: DoublingSet) -> None:
    series = [positions.doubles, positions.drops, positions.chances]
    counts, _ = np.histogram(positions.scores, _EDGES)
    means = binned_statistic(positions.scores, series, bins=_EDGES).statistic
    shown = np.flatnonzero(counts >= _MIN_POSITIONS)
    for shares, look in zip(_PERCENT * means[:, shown], (SOLID, DASHED, _WINS), strict=True):
        axes.plot(_EDGES[shown] + _BIN / 2, shares, **look | {"markersize": 3})


def _draw_article(axes: Axes, early: float) -> list[Patch]:
    """Draw the article's zones as bands and return their legend entries."""
    live, live_to = LIVE_FROM
    zones = [
        (early, live, "#f5d9a8", "...", f"early zone, D from {EARLY_FROM}"),
        (live, DROP_FROM, "#bcdcf0", "", f"the article: live from {live:.0f} to {live_to:.0f}"),
        (DROP_FROM, _HIGH, "#f3c6b4", "//", f"the article: pass from {DROP_FROM:.0f}"),
    ]
    patches = []
    for low, high, colour, hatch, label in zones:
        look: Look = {"facecolor": colour, "edgecolor": FAINT, "alpha": 0.6, "hatch": hatch, "linewidth": 0}
        axes.axvspan(low, high, **look, zorder=0)
        patches.append(Patch(**look, label=label))
    return patches


def _add_raw_axis(axes: Axes, formula: BrasFormula) -> None:
    """Add an axis for D at the top."""

    def raw(scores: npt.ArrayLike) -> FloatArray:
        return formula.sigma * np.arctanh(np.clip((np.asarray(scores) - 50) / 50, -0.999999, 0.999999))

    secondary = axes.secondary_xaxis("top", functions=(raw, formula.squashed))
    secondary.xaxis.set_major_locator(MaxNLocator(_MAX_TICKS, steps=[1, 2, 5, 10]))
    secondary.set_xlabel("D")


def _draw_counts(axes: Axes, positions: DoublingSet) -> None:
    doubled = positions.scores[positions.doubles]
    for values, colour, hatch, label in (
        (positions.scores, BLUE, "", "all"),
        (doubled, VERMILION, "////", "those doubled"),
    ):
        counts, _ = np.histogram(values, _EDGES)
        shares = _PERCENT * counts / len(positions.raw)
        axes.stairs(
            shares,
            _EDGES,
            fill=True,
            facecolor=colour,
            edgecolor=INK,
            hatch=hatch,
            linewidth=0,
            alpha=0.5,
            label=label,
        )
        axes.stairs(shares, _EDGES, color=colour, linewidth=0.8)
    axes.axvline(positions.early_from, color=FAINT, linewidth=1)
    axes.text(positions.early_from + 0.6, 0.9, f"D = {EARLY_FROM}", transform=axes.get_xaxis_transform(),
              fontsize=SMALL, color=INK, va="top")  # fmt: skip
    axes.set_ylabel("% of all")
    axes.legend(loc="upper right")


def _note(positions: DoublingSet) -> str:
    facts = positions.to_dict()
    return (
        f"{len(positions.raw):,} positions with contact, each game up to its first double.\n"
        f"Mean of p {facts['score_mean']:.3f}, SD {facts['score_sd']:.3f} by S / 100; "
        f"{facts['chance_mean']:.3f}, SD {facts['chance_sd']:.3f} by {positions.player}\n"
        "±: one standard error"
    )
