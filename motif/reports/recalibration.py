"""Win chances before and after a calibration, against what rollouts found on games that it never saw."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from motif.learning.recalibration import ALL, Calibration, StatedChances
from motif.parameters.position_class import CLASS_NAMES
from motif.reports.calibration import draw_counts, prepare_chances
from motif.reports.reliability import FEWEST_GAMES, Reliability, reliability
from motif.reports.style import BLUE, SMALL, VERMILION, picture

_LOOKS: dict[str, dict[str, Any]] = {
    "before": {"color": VERMILION, "marker": "s", "linestyle": "--", "markerfacecolor": "white"},
    "after": {"color": BLUE, "marker": "o", "linestyle": "-"},
}
_PANEL_HEIGHT, _NOTES_HEIGHT = 3.1, 1.6


def plot_recalibration(calibration: Calibration, player: str, path: Path) -> None:
    """Draw to `path` how the win chances of `player` agree with rollouts before and after `calibration`.

    A panel for each class of the held-out positions.  Raises `FileError` when the picture cannot be
    written.
    """
    held = calibration.held
    codes = np.unique(held.position_class)
    height = _NOTES_HEIGHT + _PANEL_HEIGHT * len(codes)
    with picture(path, height, f"{player}: win chances, calibrated") as figure:
        _explain(figure, held, calibration)
        grid = figure.subplots(2 * len(codes), squeeze=False, sharex=True, height_ratios=[4, 1] * len(codes))
        for code, curves, counts in zip(codes, grid[::2, 0], grid[1::2, 0], strict=True):
            rows = held.rows(held.position_class == code)
            found = {
                name: reliability(getattr(rows, name), rows.won, rows.trials, rows.game) for name in _LOOKS
            }
            _draw_curves(curves, found, calibration, CLASS_NAMES[code])
            draw_counts(counts, found, _LOOKS)
            curves.set_ylabel("won in rollouts")
            counts.set_ylabel("positions")
        grid[-1, 0].set_xlabel("stated win chance")


def _draw_curves(
    axes: Axes, found: Mapping[str, Reliability], calibration: Calibration, class_name: str
) -> None:
    prepare_chances(axes, class_name)
    losses = calibration.groups[class_name].log_loss
    for name, result in found.items():
        label = f"{name}: log-loss {getattr(losses, name):.4f}"
        axes.errorbar(
            result.fitted, result.rollout, result.se, label=label, capsize=2, elinewidth=1, **_LOOKS[name]
        )
    axes.legend(loc="upper left")


def _explain(figure: Figure, held: StatedChances, calibration: Calibration) -> None:
    every = calibration.groups[ALL]
    note = (
        f"Measured on {len(held):,} positions of {every.games:,} games;\n"
        f"fitted on {len(calibration.fitted):,} positions of other games.\n"
        f"Bars: one standard error over games; no point below {FEWEST_GAMES} games."
    )
    figure.supxlabel(note, fontsize=SMALL)
