"""The ratings of a tournament, with their errors."""

from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from motif.players.tournament import Ratings, TournamentResult
from motif.reports.style import BLUE, FAINT, INK, SMALL, VERMILION, picture

_NAME_LETTERS, _LONGEST_NAME = 20, 40
_ROW, _REST = 0.42, 1.5
"""Height of a player's row, and of everything else, in inches."""
_ROOM = 0.8
"""Of a panel, on the right, for the numbers."""


def plot_ratings(result: TournamentResult, path: Path) -> None:
    """Draw the players' ratings in points and in Elo, the best on top, to `path`.

    Raises `SettingError` for a name that is no picture's, `FileError` when it cannot be written.
    """
    names = [_short(result.names[player]) for player in result.order]
    title = f"Ratings, {result.games:,} games a pairing"
    with picture(path, _REST + _ROW * len(names), title) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        _draw(left, result.points, result.order, 2, {"color": BLUE, "marker": "o"})
        left.set_xlabel("points a game")
        _draw(right, result.elo, result.order, 0, {"color": VERMILION, "marker": "s"})
        right.set_xlabel("Elo, from games won")
        left.set_yticks(range(len(names)), names)
        left.set_ylim(len(names) - 0.4, -0.6)
        figure.supxlabel("0: the mean of all.  ±: one standard error; bars: two.", fontsize=SMALL)


def _draw(axes: Axes, ratings: Ratings, order: tuple[int, ...], digits: int, look: dict[str, Any]) -> None:
    values, errors = ratings.values[list(order)], ratings.se[list(order)]
    rows = np.arange(len(order))
    axes.axvline(0, color=FAINT, linewidth=1)
    axes.errorbar(values, rows, xerr=2 * errors, linestyle="", capsize=3, **look)
    low, high = min((values - 2 * errors).min(), 0.0), max((values + 2 * errors).max(), 0.0)
    span = (high - low) or 1.0
    axes.set_xlim(low - 0.08 * span, high + (0.08 + _ROOM) * span)
    for row, value, error in zip(rows, values, errors, strict=True):
        axes.annotate(
            f"{value:+.{digits}f} ± {error:.{digits}f}",
            (value + 2 * error, row),
            (5, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
            color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)


def _short(name: str) -> str:
    """`name` on lines that leave room for the panels; a long one loses its middle."""
    if len(name) > _LONGEST_NAME:
        half = (_LONGEST_NAME - 3) // 2
        name = f"{name[:half]}...{name[-half:]}"
    return fill(name, _NAME_LETTERS)
