"""The distribution of a player's losses, drawn."""

from pathlib import Path

from matplotlib.axes import Axes

from motif.benchmark.losses import LossDistribution
from motif.reports.style import BLUE, INK, SMALL, VERMILION, picture

_ROOM = 1.3
"""Of the longest bar, for the number behind it."""


def plot_losses(distribution: LossDistribution, player: str, path: Path) -> None:
    """Draw how often `player` loses how much, and which losses weigh how much, to `path`.

    Raises `SettingError` for a name that is no picture's, `FileError` when it cannot be written.
    """
    ranges = distribution.ranges
    with picture(path, 3.0, f"What {player} loses a decision") as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        _bars(left, [it.decisions for it in ranges], BLUE, "% of decisions")
        _bars(right, [it.lost for it in ranges], VERMILION, "% of all that is lost")
        left.set_yticks(range(len(ranges)), [it.name for it in ranges])
        left.invert_yaxis()
        left.set_ylabel("millipoints lost", fontsize=SMALL)


def _bars(axes: Axes, shares: list[float], colour: str, label: str) -> None:
    per_cent = [100 * share for share in shares]
    bars = axes.barh(range(len(per_cent)), per_cent, color=colour)
    axes.bar_label(bars, [f"{share:.1f}" for share in per_cent], padding=3, fontsize=SMALL, color=INK)
    axes.set_xlim(0, _ROOM * max(*per_cent, 1.0))
    axes.set_xlabel(label)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
