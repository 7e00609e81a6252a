"""Shapes that the pictures of an analysis share: a row a feature, a look a class."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from motif.parameters.position_class import CLASS_NAMES
from motif.reports.analysis.analysis import Analysis
from motif.reports.analysis.statistics import Floats
from motif.reports.style import BLUE, FAINT, GREEN, INK, VERMILION

CLASS_LOOKS: dict[str, dict[str, Any]] = dict(
    zip(
        CLASS_NAMES,
        (
            {"color": BLUE, "linestyle": "-"},
            {"color": VERMILION, "linestyle": "--"},
            {"color": GREEN, "linestyle": ":"},
        ),
        strict=True,
    )
)
PLUS: dict[str, Any] = {"color": BLUE}
MINUS: dict[str, Any] = {"facecolor": "white", "edgecolor": VERMILION, "hatch": "//////", "linewidth": 0.8}
"""Bars of features that are good for the player on roll, and of those that are bad for him."""

BETTER, WORSE = "good for the player on roll", "bad for him"

_ROW_HEIGHT = 0.185
_FRAME_HEIGHT = 1.75
_OWN_LINE = 3
_BINS = 24
_MOST_VALUES = 40


def title_of(analysis: Analysis, what: str) -> str:
    """A picture's title."""
    kind = f", {analysis.class_name}" if analysis.class_name else ""
    head = "" if analysis.head == "win" else f", {analysis.head}"
    return f"{analysis.name}{kind}{head}: {what}"


def rows_height(count: int) -> float:
    """Inches of a picture of `count` rows."""
    return _FRAME_HEIGHT + _ROW_HEIGHT * max(count, 3)


def name_rows(axes: Axes, names: Sequence[str], *, lines: bool = True) -> None:
    """A row for each name, the first at the top, every few of them parted by thin lines."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    if not lines:
        return
    # They lead the eye from a name to its bar.
    for place in range(_OWN_LINE, len(names), _OWN_LINE):
        axes.axhline(place - 0.5, color=FAINT, linewidth=0.25, zorder=0)


def zero_line(axes: Axes) -> None:
    """Where plus and minus part."""
    axes.axvline(0, color=INK, linewidth=0.8, zorder=1)


def bins_of(values: Floats) -> Floats:
    """Edges of equal bins over almost all of `values`: one for each of few values, and one about 0."""
    known = np.unique(values)
    if len(known) == 1:
        return np.array([known[0] - 0.5, known[0] + 0.5])
    step = np.diff(known).min()
    places = (known - known[0]) / step
    if places[-1] < _MOST_VALUES and np.allclose(places, np.round(places), atol=1e-3):
        return known[0] + step * (np.arange(round(float(places[-1])) + 2) - 0.5)
    low, high = np.percentile(values, [0.2, 99.8])
    if low == high:
        low, high = float(known[0]), float(known[-1])
    width = (high - low) / _BINS
    return np.asarray(width * np.arange(round(low / width) - 0.5, round(high / width) + 1))
