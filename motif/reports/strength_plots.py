"""Plots of strength, with standard errors: versions of a run and players of a tournament."""

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes

from motif.contests.ratings import Ratings
from motif.contests.result import too_few
from motif.contests.tournament import TournamentResult
from motif.learning.version_summary import VersionSummary
from motif.reports.style import BLUE, FAINT, INK, SMALL, VERMILION, Look, picture
from motif.runtime.layout import encodable, plus_minus

_MAX_NUMBERED = 7
"""Maximum number of versions with numbers below the points."""
_LINE_LETTERS = 60


def plot_strength(summaries: Sequence[VersionSummary], path: Path, *, start: str) -> None:
    """Draw the versions' points per game against PubEval and the previous version to `path`.

    `summaries` are the summaries of `run_bootstrap`, in order; `start` is the name of the initial player.
    Raises `FileError` if the picture cannot be written.
    """
    names = [f"v{summary.version}" for summary in summaries]
    versus_pubeval = [(summary.ppg_vs_pubeval, summary.ppg_se) for summary in summaries]
    versus_previous = [(summary.ppg_vs_previous, summary.ppg_vs_previous_se) for summary in summaries]
    with picture(path, 5.6, "Strength by version") as figure:
        upper, lower = figure.subplots(2, 1)
        look: Look = {"color": BLUE, "marker": "o", "linestyle": "-"}
        _draw_points(upper, versus_pubeval, names, look)
        upper.set_title("against PubEval", fontweight="bold")
        # The opponents differ, so no line joins the points.
        look = {"color": VERMILION, "marker": "s", "linestyle": ""}
        _draw_points(lower, versus_previous, names, look)
        lower.set_title("against the previous version", fontweight="bold")
        duel = fill(encodable(f"Below, v0 is measured against {start}."), _LINE_LETTERS)
        figure.supxlabel(f"Bars and ±: one standard error.  0 is equal strength.\n{duel}")


def _draw_points(
    axes: Axes, measured: Sequence[tuple[float, float]], names: Sequence[str], look: Look
) -> None:
    """Draw one panel; `measured` are points per game and their standard errors."""
    points, errors = zip(*measured, strict=True)
    axes.axhline(0, color=FAINT, linewidth=1)
    axes.errorbar(range(len(points)), points, errors, capsize=7, markersize=3.5, **look)
    labels = list(names)
    if len(labels) <= _MAX_NUMBERED:
        labels = [
            f"{name}\n{point:+z.3f}\n± {se:.3f}" for name, (point, se) in zip(names, measured, strict=True)
        ]
    axes.set_xticks(range(len(points)), labels)
    axes.set_xlim(-0.5, len(points) - 0.5)
    axes.margins(y=0.2)
    axes.set_ylabel("points per game")
    axes.grid(axis="x", visible=False)


_NAME_LETTERS, _MAX_NAME = 20, 40
_ROW, _REST = 0.42, 1.5
"""Height in inches of a player's row and of everything else."""
_ROOM = 0.8
"""Share of a panel reserved for numbers at the right."""


def plot_ratings(result: TournamentResult, path: Path) -> None:
    """Draw the players' ratings in points and Elo, best first, to `path`.

    Raises `SettingError` for an invalid picture name, `FileError` if it cannot be written.
    """
    names = [_short(result.names[player]) for player in result.order]
    played = f"matches to {result.length}" if result.length else "games"
    title = f"Ratings, {result.games:,} {played} per pairing"
    with picture(path, _REST + _ROW * len(names), title) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        digits = 3 if result.judge else 2
        _draw_ratings(left, result.points, result.order, digits, {"color": BLUE, "marker": "o"})
        points = "share of matches won" if result.length else "points per game"
        left.set_xlabel(f"{points}, luck-adjusted" if result.judge else points)
        _draw_ratings(right, result.elo, result.order, 0, {"color": VERMILION, "marker": "s"})
        right.set_xlabel(f"Elo, from {'matches' if result.length else 'games'} won")
        left.set_yticks(range(len(names)), names)
        left.set_ylim(len(names) - 0.4, -0.6)
        few = f"{too_few(result.length).capitalize()}."
        errors = "±: one standard error; bars: two." if result.has_errors else few
        figure.supxlabel(f"0: mean of all players.  {errors}")


def _draw_ratings(axes: Axes, ratings: Ratings, order: tuple[int, ...], digits: int, look: Look) -> None:
    values, known = ratings.values[list(order)], ratings.se[list(order)]
    errors = np.nan_to_num(known)
    rows = np.arange(len(order))
    axes.axvline(0, color=FAINT, linewidth=1)
    axes.errorbar(values, rows, xerr=2 * known, linestyle="", capsize=3, **look)
    low, high = min((values - 2 * errors).min(), 0.0), max((values + 2 * errors).max(), 0.0)
    span = (high - low) or 1.0
    axes.set_xlim(low - 0.08 * span, high + (0.08 + _ROOM) * span)
    for row, value, error in zip(rows, values, errors, strict=True):
        axes.annotate(
            f"{value:+z.{digits}f}" + plus_minus(known[row], f".{digits}f"),
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
    """Return `name` on short lines; a long one is abbreviated in the middle."""
    name = encodable(name)
    if len(name) > _MAX_NAME:
        half = (_MAX_NAME - 1) // 2
        name = f"{name[:half]}…{name[-half:]}"
    return fill(name, _NAME_LETTERS)
