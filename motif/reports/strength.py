"""How strong each version plays, in points a game."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

from matplotlib.axes import Axes

from motif.reports.style import BLUE, FAINT, SMALL, VERMILION, picture

_MAX_NUMBERED = 7
"""Versions up to which there is room for numbers below the points."""
_LETTERS, _FEWEST_LETTERS = 60, 6
"""What fits on a line below all points together, and what one point gets at least."""


def plot_strength(summaries: Sequence[Mapping[str, Any]], path: Path, *, start: str) -> None:
    """Draw the versions' points a game, against PubEval and against what came before, to `path`.

    `summaries` are those of `run_bootstrap`, in order; `start` names the player before version zero.
    Raises `FileError` when the picture cannot be written.
    """
    names = [f"v{summary['version']}" for summary in summaries]
    duels = [f"{name} against {other}" for name, other in zip(names, [start, *names], strict=False)]
    with picture(path, 5.6, "Strength by version") as figure:
        upper, lower = figure.subplots(2, 1)
        look: dict[str, Any] = {"color": BLUE, "marker": "o", "linestyle": "-"}
        _draw(upper, summaries, names, ("ppg_vs_pubeval", "ppg_se"), look)
        upper.set_title("against PubEval", fontweight="bold")
        # Each of these has an opponent of its own: no line joins them.
        look = {"color": VERMILION, "marker": "s", "linestyle": ""}
        _draw(lower, summaries, duels, ("ppg_vs_previous", "ppg_vs_previous_se"), look)
        lower.set_title("against the version before", fontweight="bold")
        figure.supxlabel("Bars and ±: one standard error.  0 is equal strength.", fontsize=SMALL)


def _draw(
    axes: Axes,
    summaries: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    keys: tuple[str, str],
    look: Mapping[str, Any],
) -> None:
    """One panel; `keys` are those of the points and of their standard errors."""
    points, errors = ([float(summary[key]) for summary in summaries] for key in keys)
    axes.axhline(0, color=FAINT, linewidth=1)
    axes.errorbar(range(len(points)), points, errors, capsize=7, markersize=3.5, **look)
    letters = max(_LETTERS // len(names), _FEWEST_LETTERS)
    labels = [fill(name, letters) for name in names]
    if len(labels) <= _MAX_NUMBERED:
        numbers = [f"{point:+.3f}\n± {se:.3f}" for point, se in zip(points, errors, strict=True)]
        labels = [f"{label}\n{number}" for label, number in zip(labels, numbers, strict=True)]
    axes.set_xticks(range(len(points)), labels)
    axes.set_xlim(-0.5, len(points) - 0.5)
    axes.margins(y=0.2)
    axes.set_ylabel("points a game")
    axes.grid(axis="x", visible=False)
