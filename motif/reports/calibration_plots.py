"""Calibration plots: predicted probabilities against labels on held-out games."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator, PercentFormatter

from motif.benchmarks.losses import rows_of_classes
from motif.evaluators import OUTPUTS
from motif.evaluators.weight_file import HEAD_WORDS
from motif.learning.heads import possible
from motif.learning.label_noise import root_mean
from motif.learning.recalibration import Calibration, by_class
from motif.parameters.position_class import ALL, CLASS_NAMES
from motif.reports.style import DASHED, FAINT, GREEN, MEDIUM, SOLID, Look, picture
from motif.rollouts.tally import error_over_groups
from motif.runtime.arrays import FloatArray, IntArray
from motif.runtime.layout import encodable, listed
from motif.sampling.dataset import Dataset

_Floats = npt.NDArray[np.floating]
_Integers = npt.NDArray[np.integer]
BINS = 10
"""Number of equal bins of probabilities from 0 to 1."""
MIN_GAMES = 3
"""Minimum number of games for a mean with a usable error."""


@dataclass(frozen=True)
class Reliability:
    """Fitted probabilities and labels of one kind in one position class."""

    counts: IntArray
    """(BINS,): number of positions by fitted probability."""
    fitted: FloatArray
    """(BINS,): mean fitted probability; NaN for bins with too few games."""
    label: FloatArray
    """(BINS,): mean label."""
    se: FloatArray
    """(BINS,): standard error of `label`; positions of one game count as one observation."""
    rmse: float
    noise: float | None
    """Estimate of the part of `rmse` due to noise of the labels; None if unknown."""


def reliability(
    fitted: _Floats, labels: _Floats, game: _Integers, variances: _Floats | None = None
) -> Reliability:
    """Compare `fitted` with `labels`, both (n,), n > 0; `game` (n,) groups the positions.

    `variances` (n,) are those of the labels, NaN if unknown.
    """
    places = np.minimum((fitted * BINS).astype(np.int64), BINS - 1)
    means = np.full((3, BINS), np.nan)
    for place in np.unique(places):
        inside = places == place
        means[:, place] = _means(fitted[inside], labels[inside], game[inside])
    return Reliability(
        counts=np.bincount(places, minlength=BINS),
        fitted=means[0],
        label=means[1],
        se=means[2],
        rmse=math.sqrt(np.mean((fitted - labels) ** 2)),
        noise=None if variances is None else root_mean([variances]),
    )


def _means(fitted: _Floats, labels: _Floats, game: _Integers) -> tuple[float, float, float]:
    """Return the mean fitted probability, the mean label and its standard error; NaN for too few games."""
    if len(np.unique(game)) < MIN_GAMES:
        return math.nan, math.nan, math.nan
    # Positions of a game resemble each other.
    return float(fitted.mean()), float(labels.mean()), error_over_groups(labels - fitted, game)


_LOOKS: dict[str, Look] = {
    "win": SOLID,
    "win_gammon": DASHED,
    "lose_gammon": {"color": GREEN, "marker": "^", "linestyle": ":"},
}
_COLUMNS = {"win": ("win",), "gammons": ("win_gammon", "lose_gammon")}
_PANEL_HEIGHT, _NOTES_HEIGHT, _EMPTY_HEIGHT = 3.6, 1.75, 0.9
_MARGIN = 0.03
_NOTE_LETTERS = 70


def plot_calibration(
    samples: Dataset,
    fitted: _Floats,
    path: Path,
    *,
    title: str = "Calibration",
    outputs: Sequence[str] = OUTPUTS,
    variances: _Floats,
    sources: Sequence[str],
) -> None:
    """Draw `fitted` probabilities (n, 5) against the labels of the held-out `samples` to `path`.

    There is a row of panels for each position class; `outputs` names the fitted probabilities.  `variances`
    (n, 6) are those of the labels (`label_variances`), and `sources` say in words where these come from.
    Raises `FileError` if the picture cannot be written.
    """
    columns = [chances for chances in _COLUMNS.items() if set(chances[1]) & set(outputs)]
    codes = np.unique(samples.position_class)
    height = _NOTES_HEIGHT + _PANEL_HEIGHT * len(codes) if len(codes) else _EMPTY_HEIGHT
    with picture(path, height, title) as figure:
        figure.supxlabel(_note(samples, variances, sources))
        if not len(codes):
            return
        panels = _panels(figure, len(codes), len(columns), "mean label", "fitted probability")
        for code, curves, counts in zip(codes, *panels, strict=True):
            for column, (kind, chances) in enumerate(columns):
                results = {
                    output: _compared(samples, fitted, variances, int(code), output)
                    for output in chances
                    if output in outputs
                }
                known = {output: result for output, result in results.items() if result is not None}
                labels = {output: _label(output, result) for output, result in known.items()}
                heading = f"{CLASS_NAMES[code]}: {kind}"
                _draw_panel(curves[column], counts[column], heading, known, labels, _LOOKS)


def _compared(
    samples: Dataset, fitted: _Floats, variances: _Floats, code: int, output: str
) -> Reliability | None:
    rows = (samples.position_class == code) & possible(output, samples.boards)
    if not rows.any():
        return None
    column = OUTPUTS.index(output)
    return reliability(
        fitted[rows, column], samples.probabilities[rows, column], samples.game[rows], variances[rows, column]
    )


def _panels(
    figure: Figure, rows: int, columns: int, curves_label: str, x_label: str
) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.object_]]:
    """Return panels (rows, columns) for curves, and strips below them for the numbers of positions."""
    grid = figure.subplots(2 * rows, columns, squeeze=False, sharex=True, height_ratios=[4, 1] * rows)
    for curves, counts in zip(grid[::2, 0], grid[1::2, 0], strict=True):
        curves.set_ylabel(curves_label)
        counts.set_ylabel("positions")
    for axes in grid[-1]:
        axes.set_xlabel(x_label)
    return grid[::2], grid[1::2]


def _draw_panel(
    curves: Axes,
    counts: Axes,
    heading: str,
    results: Mapping[str, Reliability],
    labels: Mapping[str, str],
    looks: Mapping[str, Look],
) -> None:
    """Draw labelled curves and the numbers of positions."""
    _prepare_chances(curves)
    drawn = [
        curves.errorbar(
            result.fitted, result.label, result.se, label=labels[name], capsize=2, elinewidth=1, **looks[name]
        )
        for name, result in results.items()
    ]
    # Above the panel, where it hides no point.
    legend = curves.legend(handles=drawn, loc="lower center", bbox_to_anchor=(0.5, 1), title=heading)
    legend.get_title().set(fontsize=MEDIUM, fontweight="bold")
    _draw_counts(counts, results, looks)


def _label(output: str, result: Reliability) -> str:
    noise = f", noise ≈ {result.noise:.3f}" if result.noise else ""
    return f"{HEAD_WORDS[output]}\nRMSE {result.rmse:.3f}{noise}"


def _prepare_chances(axes: Axes) -> None:
    """Set a panel's axes in per cent, and the diagonal."""
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1)
    axes.set(xlim=(-_MARGIN, 1 + _MARGIN), ylim=(-_MARGIN, 1 + _MARGIN))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MultipleLocator(0.25))
        axis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))


def _draw_counts(axes: Axes, results: Mapping[str, Reliability], looks: Mapping[str, Look]) -> None:
    edges = np.linspace(0, 1, BINS + 1)
    for name, result in results.items():
        look = {key: looks[name][key] for key in ("color", "linestyle")}
        axes.stairs(result.counts, edges, linewidth=1.3, fill=False, **look)
    highest = max((int(result.counts.max()) for result in results.values()), default=0)
    axes.set_ylim(0, 1.15 * highest or 1)
    axes.set_yticks([0, highest] if highest else [0])
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.grid(visible=False)


_BARS = f"Bars: one standard error over games; points need at least {MIN_GAMES} games."


def _note(samples: Dataset, variances: _Floats, sources: Sequence[str]) -> str:
    if not len(samples):
        return "No positions were held out for comparison."
    games = ", ".join(
        f"{name} {len(np.unique(samples.game[rows])):,}"
        for name, rows in rows_of_classes(samples.position_class).items()
    )
    labels = fill(encodable(f"Labels by {listed(list(dict.fromkeys(sources)))}."), _NOTE_LETTERS)
    lines = [f"{len(samples):,} held-out positions.", f"Games: {games}.", _BARS, labels]
    of_chances = variances[:, : len(OUTPUTS)]
    if np.isnan(of_chances).any():
        lines.append("Part of the RMSE is noise of the labels, of unknown size.")
    elif of_chances.any():
        lines.append("Noise: an estimate of the part of the RMSE that is luck in the labels.")
    return "\n".join(lines)


_BEFORE_AND_AFTER = {"before": DASHED, "after": SOLID}
_CURVES_HEIGHT, _HELD_OUT_HEIGHT = 3.5, 1.6


def plot_recalibration(calibration: Calibration, player: str, path: Path | None) -> Figure:
    """Draw the win probabilities of `player` against results, before and after `calibration`.

    The picture is written to `path`, if given.  There is a panel for each class of the held-out positions.
    Raises `FileError` if the picture cannot be written.
    """
    held = calibration.held
    classes = list(by_class(held))
    height = _HELD_OUT_HEIGHT + _CURVES_HEIGHT * len(classes)
    with picture(path, height, f"{player}: calibrated win probabilities") as figure:
        figure.supxlabel(
            f"Measured on {len(held):,} positions of {calibration.groups[ALL].games:,} games;\n"
            f"fitted on {len(calibration.fitted):,} positions of other games.\n{_BARS}"
        )
        panels = _panels(figure, len(classes), 1, "share of games won", "predicted win probability")
        for (name, where), (curves,), (counts,) in zip(classes, *panels, strict=True):
            rows = held.rows(where)
            results = {
                when: reliability(getattr(rows, when), rows.won, rows.game) for when in _BEFORE_AND_AFTER
            }
            losses = calibration.groups[name].log_loss
            labels = {when: f"{when}: log-loss {getattr(losses, when):.4f}" for when in results}
            _draw_panel(curves, counts, name, results, labels, _BEFORE_AND_AFTER)
    return figure
