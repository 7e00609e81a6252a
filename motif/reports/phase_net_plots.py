"""Pictures of the phase network's training: its errors, and how it plays from round to round."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from motif.reports.style import (
    BLUE,
    FAINT,
    GREEN,
    SMALL,
    TRAINING,
    VALIDATION,
    VERMILION,
    error_scale,
    marked,
    picture,
    sample_line,
)

LOSS, WIN_RATE, IMPROVEMENT = "loss.png", "win-rate.png", "improvement.png"

_EVEN = 50.0
_LEAST_REACH, _MARGIN = 2.0, 0.05
"""The y axis of games won reaches so many per cent at least either way of 50, and a share of it beyond."""


def draw_training(epochs: Sequence[Sequence[Any]], summary: Mapping[str, Any], folder: Path) -> None:
    """Draw the three pictures of a run to `folder`; `epochs` and `summary` are those of the run.

    A row of `epochs` is round (0 for stage 1), epoch, boards, RMSE in training and in validation.
    Raises `FileError` when a picture cannot be written.
    """
    _plot_loss(epochs, folder / LOSS)
    rounds, best = summary["stage_2"]["rounds"], summary["stage_2"]["chosen_round"]
    games = summary["settings"]["test_games"]
    note = f"{games} games a round ± standard error.  Green: the net that is kept."
    _plot_shares(
        rounds, "versus_heuristic", folder / WIN_RATE, "Games won against the heuristic", note, BLUE, best
    )
    note = f"{games} games a round ± standard error.  Round 1: against stage 1."
    _plot_shares(
        rounds,
        "versus_previous",
        folder / IMPROVEMENT,
        "Games won against the round before",
        note,
        VERMILION,
    )


def _plot_loss(epochs: Sequence[Sequence[Any]], path: Path) -> None:
    with picture(path, 6.0, "Error of the phase network") as figure:
        upper, lower = figure.subplots(2, 1)
        first = [(row[1], *row[3:]) for row in epochs if row[0] == 0]
        _draw_errors(upper, first)
        upper.set_title("stage 1: the heuristic's score", fontweight="bold")
        upper.set_xlabel("epoch")
        last = {row[0]: (row[0], *row[3:]) for row in epochs if row[0] > 0}
        _draw_errors(lower, list(last.values()))
        lower.set_title("stage 2: who won, 1 or 0", fontweight="bold")
        lower.set_xlabel("round (its last epoch)")
        lines = [sample_line(TRAINING, "training"), sample_line(VALIDATION, "validation")]
        figure.legend(handles=lines, loc="outside lower center", ncols=2)
        figure.supylabel("root mean square error of scores, 0 to 1", fontsize=SMALL)


def _draw_errors(axes: Axes, points: Sequence[tuple[int, float, float]]) -> None:
    places, train, validation = zip(*points, strict=True)
    axes.plot(places, train, **marked(TRAINING, len(places)))
    axes.plot(places, validation, **marked(VALIDATION, len(places)))
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    error_scale(axes, (*train, *validation))


def _plot_shares(
    rounds: Sequence[Mapping[str, Any]],
    key: str,
    path: Path,
    title: str,
    note: str,
    colour: str,
    best: int | None = None,
) -> None:
    """Per cent of the games won in each round, with error bars; the round `best` in another colour."""
    places = [measured["round"] for measured in rounds]
    shares = [100 * measured[key]["win_share"] for measured in rounds]
    errors = [100 * measured[key]["win_share_se"] for measured in rounds]
    with picture(path, 3.6, title) as figure:
        axes = figure.subplots()
        axes.axhline(_EVEN, color=FAINT, linewidth=1)
        look: dict[str, Any] = {"capsize": 3, "linestyle": "-", "linewidth": 1.0, "marker": "o"}
        axes.errorbar(places, shares, errors, color=colour, **look)
        if best is not None:
            kept = places.index(best)
            axes.plot(places[kept], shares[kept], color=GREEN, marker="D", markersize=8, zorder=5)
        ends = [s + side * e for s, e in zip(shares, errors, strict=True) for side in (-1, 1)]
        low, high = min(*ends, _EVEN - _LEAST_REACH), max(*ends, _EVEN + _LEAST_REACH)
        margin = _MARGIN * (high - low)
        axes.set_ylim(low - margin, high + margin)
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        axes.set_xlabel("round")
        figure.supxlabel(note, fontsize=SMALL)
        axes.set_ylabel("% of games won")
