"""Convergence plots of fits and of the phase network: training and validation errors by pass."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator

from motif.evaluators.weight_file import HEAD_WORDS
from motif.reports.style import (
    BLUE,
    FAINT,
    GREEN,
    GRID,
    INK,
    NOISE,
    SMALL,
    TRAINING,
    VALIDATION,
    VERMILION,
    Look,
    error_scale,
    marked,
    picture,
    sample_line,
)
from motif.runtime.errors import SettingError

if TYPE_CHECKING:
    # Slow imports.
    from motif.phase_net.phase_training import Epoch, GameFigures, PhaseNetTraining

HistoryRows = Sequence[Mapping[str, Any]]
"""Rows of `FittedWeights.history_rows` or of a history.csv."""


_RUN_HEADS = ("win", "equity")
_LINE_LETTERS = 66
"""Maximum number of letters of the last errors of all versions in a row, and of the spaces between them."""
_MIN_WIDTH = 0.25
"""Minimum width of a fit, relative to the longest, for which both its first and its last pass have labels."""
_GAP = 0.3
_MANY_PASSES = 100
"""Maximum number of passes on a linear scale."""
_WHOLE_SECONDS = 10.0
_NOTE_LETTERS = 64
_NO_NOISE = (
    "No dotted line if the noise is unknown: truncated or stratified rollouts have no standard error for "
    "probabilities, and single trials have none at all."
)
_PENALTY = "A training error can rise: a fit minimises the error plus a penalty for large weights."
_RISE = 1.01
"""Ratio of the last training error to the lowest one from which `_PENALTY` is shown."""

_AGAINST = "Games won against the heuristic"
_STAGE_HEIGHT = 3.0
_LOOKS: tuple[Look, ...] = (
    {"color": BLUE, "linestyle": "-", "marker": "o"},
    {"color": VERMILION, "linestyle": "--", "marker": "s"},
    {"color": INK, "linestyle": ":", "marker": "^"},
    {"color": "#CC79A7", "linestyle": "-.", "marker": "v"},
)
"""Looks of the lines of several contests."""
LOSS, WIN_RATE, IMPROVEMENT = "loss.png", "win-rate.png", "improvement.png"

_EVEN = 50.0
_MIN_REACH, _MARGIN = 2.0, 0.05
"""Minimum reach of the y axis around 50 per cent, and its relative margin."""


@dataclass(frozen=True)
class _Curve:
    """Errors of one fit by pass; NaN without validation."""

    passes: list[int]
    train: list[float]
    validation: list[float]
    seconds: list[float]
    """Seconds since the start of the fit."""
    noise: list[float]
    """Noise of the labels, the same for every pass; NaN if unknown."""

    def last(self, kinds: Sequence[str]) -> str:
        """Return the last errors of these `kinds` (`_known_kinds`), with a dash for one that is unknown."""
        last = [getattr(self, kind)[-1] for kind in kinds]
        return " / ".join(f"{one:.3f}".removeprefix("0") if math.isfinite(one) else "–" for one in last)

    @property
    def is_noisy(self) -> bool:
        """Whether there is noise to draw."""
        return self.noise[-1] > 0

    @property
    def is_timed(self) -> bool:
        """Whether there are seconds to show."""
        return len(self.passes) > 1 and self.seconds[-1] > 0


_KINDS = {"train": "training", "validation": "validation", "noise": "noise"}
"""Fields of `_Curve` whose last values are shown, in words."""
_Curves = dict[tuple[str, str], _Curve]
"""Curves by class and head."""


def plot_convergence(history_rows: HistoryRows, path: Path | None, *, title: str = "Error by pass") -> Figure:
    """Draw every fit of a weight file, to `path` if given: a row per head, a column per class.

    Raises `SettingError` for rows without a pass or column.
    """
    curves = _curves(history_rows, str(path or title))
    classes, heads = (list(dict.fromkeys(names)) for names in zip(*curves, strict=True))
    height = 1.75 + (1.55 if len(heads) > 1 else 2.6) * len(heads)
    kinds = _known_kinds(curves.values())
    with picture(path, height, title) as figure:
        grid = figure.subplots(len(heads), len(classes), sharex="col", sharey="row", squeeze=False)
        for head, row in zip(heads, grid, strict=True):
            for class_name, axes in zip(classes, row, strict=True):
                _draw_fit(axes, curves.get((class_name, head)), kinds)
            error_scale(row[0], _values(curve for key, curve in curves.items() if key[1] == head))
            row[0].set_ylabel(HEAD_WORDS.get(head, head).replace(" ", "\n"))
        for class_name, axes in zip(classes, grid[0], strict=True):
            axes.annotate(
                class_name, (0.5, 1), (0, 30), "axes fraction", "offset points",
                ha="center", va="bottom", fontweight="bold",
            )  # fmt: skip
        for axes in grid[-1]:
            axes.set_xlabel("pass")
        figure.align_ylabels(grid[:, 0])
        _explain(figure, curves.values(), "Above each panel: last errors, {numbers}.")
    return figure


def plot_run_convergence(version_rows: Mapping[str, HistoryRows], path: Path) -> None:
    """Draw the win and equity fits of all versions to `path`: a panel per fit, versions from left to right.

    `version_rows` maps the versions' names, in order, to their rows.  Raises `SettingError`.
    """
    versions = {name: _curves(rows, f"{path}: {name}") for name, rows in version_rows.items()}
    keys = {key: None for curves in versions.values() for key in curves}
    shown = [key for class_name in dict.fromkeys(k[0] for k in keys) for key in keys if key[0] == class_name]
    shown = [key for key in shown if key[1] in _RUN_HEADS]
    if not shown:
        raise SettingError(f"{path}: no fit of a win probability or equity to draw")
    every = [curve for curves in versions.values() for curve in curves.values()]
    kinds = _known_kinds(every)
    longest = max(len(curve.last(kinds)) for curve in every)
    # More numbers would overlap.
    numbered = len(versions) * (longest + 2) <= _LINE_LETTERS
    with picture(path, 1.3 + 1.55 * len(shown), "Error by pass, all versions") as figure:
        grid = figure.subplots(len(shown), 1, squeeze=False)[:, 0]
        for key, axes in zip(shown, grid, strict=True):
            fits = {name: curves.get(key) for name, curves in versions.items()}
            _draw_versions(axes, fits, kinds if numbered else [])
            axes.set_ylabel(f"{key[0]}\n{HEAD_WORDS[key[1]]}")
        grid[-1].set_xlabel("passes of each version's fit; below: seconds")
        note = "Above the panels: last errors, {numbers}." if numbered else ""
        _explain(figure, every, note)


def _curves(rows: HistoryRows, where: str) -> _Curves:
    curves: _Curves = {}
    try:
        for row in rows:
            curve = curves.setdefault((row["class"], row["head"]), _Curve([], [], [], [], []))
            curve.passes.append(int(row["pass"]))
            curve.train.append(float(row["rmse_train"]))
            curve.validation.append(_number(row["rmse_validation"]))
            curve.seconds.append(float(row["seconds"]))
            curve.noise.append(_number(row["label_noise"]))
    except (KeyError, TypeError, ValueError) as error:
        raise SettingError(f"{where}: not the history of a fit: {type(error).__name__} {error}") from None
    if not curves:
        raise SettingError(f"{where}: the history of the fit is empty")
    return curves


def _number(value: Any) -> float:
    """Return a number of a row; NaN if it is unknown: None in memory, empty in a file."""
    return math.nan if value in (None, "") else float(value)


def _known(series: Iterable[float]) -> bool:
    return any(map(math.isfinite, series))


def _known_kinds(curves: Collection[_Curve]) -> list[str]:
    """Return those of `_KINDS` that are known of a curve."""
    return [kind for kind in _KINDS if any(_known(getattr(curve, kind)) for curve in curves)]


def _values(curves: Iterable[_Curve]) -> list[float]:
    series = [(*curve.train, *curve.validation, *(curve.noise if curve.is_noisy else ())) for curve in curves]
    return [value for values in series for value in values]


def _draw_fit(axes: Axes, curve: _Curve | None, kinds: Sequence[str]) -> None:
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    if curve is None:
        axes.set_title("not fitted", fontsize=SMALL, color=FAINT)
        return
    seconds = f"\n{_seconds_text(curve.seconds[-1])} s" if curve.is_timed else ""
    axes.set_title(f"{curve.last(kinds)}{seconds}", fontsize=SMALL)
    _draw_curve(axes, curve, 0)
    if curve.passes[-1] > _MANY_PASSES:
        # Most of the decrease is in the first passes.
        axes.set_xscale("symlog", linthresh=1, linscale=0.5)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter("{x:g}")


def _draw_curve(axes: Axes, curve: _Curve, shift: float) -> None:
    places = [shift + number for number in curve.passes]
    _draw_errors(axes, places, curve.train, curve.validation)
    if curve.is_noisy:
        axes.plot([places[0], places[-1]], [curve.noise[-1]] * 2, **NOISE)


def _draw_errors(
    axes: Axes, places: Sequence[float], train: Sequence[float], validation: Sequence[float]
) -> None:
    axes.plot(places, train, **marked(TRAINING, len(places)))
    if _known(validation):
        axes.plot(places, validation, **marked(VALIDATION, len(places)))


def _draw_versions(axes: Axes, versions: Mapping[str, _Curve | None], kinds: Sequence[str]) -> None:
    """Draw the versions side by side in one panel, each as wide as the longest.

    The last errors of these `kinds`, if any, are above, and units below.
    """
    present = [curve for curve in versions.values() if curve is not None]
    longest = max(curve.passes[-1] for curve in present)
    stretch = longest + max(1.0, _GAP * longest)
    edge = (stretch - longest) / 2
    ticks: dict[float, str] = {}
    for k, (name, curve) in enumerate(versions.items()):
        text = name
        if curve is not None:
            _draw_curve(axes, curve, k * stretch)
            unit = " s" if kinds else ""
            seconds = f"\n{_seconds_text(curve.seconds[-1])}{unit}" if curve.is_timed else ""
            ticks[k * stretch + curve.passes[-1]] = f"{curve.passes[-1]}{seconds}"
            if kinds:
                text += f"\n{curve.last(kinds)}"
                if curve.passes[-1] > _MIN_WIDTH * longest:
                    ticks[k * stretch] = "0"
        axes.text(
            k * stretch + longest / 2, 1.02, text,
            transform=axes.get_xaxis_transform(), ha="center", va="bottom", fontsize=SMALL,
        )  # fmt: skip
        if k:
            axes.axvline(k * stretch - edge, color=FAINT, linewidth=0.8)
    axes.set_xlim(-edge, len(versions) * stretch - edge)
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.grid(axis="x", visible=False)
    axes.tick_params(axis="x", color=GRID)
    error_scale(axes, _values(present))


def _seconds_text(seconds: float) -> str:
    if seconds >= _WHOLE_SECONDS:
        return f"{seconds:.0f}"
    digits = 1 if seconds >= 1 else 2 if seconds >= 0.1 else 3 if seconds >= 0.01 else 4
    text = f"{seconds:.{digits}f}".removeprefix("0")
    return text if float(text) else "0"


def _explain(figure: Figure, curves: Iterable[_Curve], note: str) -> None:
    """Add a legend and a note, in which {numbers} stands for the numbers of `_Curve.last`."""
    curves = list(curves)
    lines, kinds = [sample_line(TRAINING, "training")], _known_kinds(curves)
    if "validation" in kinds:
        lines.append(sample_line(VALIDATION, "validation (held-out games)"))
    if noisy := [curve for curve in curves if curve.is_noisy]:
        lines.append(sample_line(NOISE, "noise of the labels (remains even for true values)"))
    sentences = [note.format(numbers=" / ".join(_KINDS[kind] for kind in kinds))] if note else []
    if any(not _known(curve.noise) for curve in curves):
        sentences.append(_NO_NOISE)
    if any(curve.train[-1] > _RISE * min(curve.train) for curve in curves):
        sentences.append(_PENALTY)
    title = "\n".join(fill(sentence, _NOTE_LETTERS) for sentence in sentences) or None
    columns = 1 if noisy else 2
    figure.legend(handles=lines, loc="outside lower center", ncols=columns, title=title, alignment="left")
    figure.supylabel("RMSE (probabilities 0 to 1, equity in points)")


def draw_training(training: "PhaseNetTraining", folder: Path) -> None:
    """Draw the pictures of a training of the phase net to `folder`.

    They show the errors and, for stage 2, the games won against the heuristic, the opponents and the previous
    round.  Raises `FileError` if a picture cannot be written.
    """
    _plot_loss(training.epochs, folder / LOSS)
    if (stage := training.stage_2) is None:
        return
    games, others = training.settings.test_games, list(stage.rounds[0].versus_opponents)
    series = {"phase": [played.versus_heuristic for played in stage.rounds]}
    series |= {name: [played.versus_opponents[name] for played in stage.rounds] for name in others}
    title = f"Games won against {', '.join(others)} and the heuristic" if others else _AGAINST
    note = f"{games:,} games per round ± standard error.  Green diamond: the chosen net."
    _plot_shares(series, folder / WIN_RATE, title, note, stage.chosen_round)
    note = f"{games:,} games per round ± standard error.  Round 1: against the initial net."
    previous = {"": [played.versus_previous for played in stage.rounds]}
    _plot_shares(previous, folder / IMPROVEMENT, "Games won against the previous round", note)


def _plot_loss(epochs: Sequence["Epoch"], path: Path) -> None:
    first = [(epoch.epoch, epoch.rmse_train, epoch.rmse_validation) for epoch in epochs if epoch.round == 0]
    later = [epoch for epoch in epochs if epoch.round > 0]
    last = {epoch.round: (epoch.round, epoch.rmse_train, epoch.rmse_validation) for epoch in later}
    stages = [
        (first, "stage 1: the heuristic's score", "epoch"),
        (list(last.values()), "stage 2: who won, 1 or 0", "round (its last epoch)"),
    ]
    stages = [stage for stage in stages if stage[0]]
    with picture(path, _STAGE_HEIGHT * len(stages), "Error of the phase network") as figure:
        panels = figure.subplots(len(stages), 1, squeeze=False).ravel()
        for axes, (points, title, label) in zip(panels, stages, strict=True):
            places, train, validation = zip(*points, strict=True)
            _draw_errors(axes, places, train, validation)
            axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
            error_scale(axes, (*train, *validation))
            axes.set_title(title, fontweight="bold")
            axes.set_xlabel(label)
        lines = [sample_line(TRAINING, "training"), sample_line(VALIDATION, "validation")]
        figure.legend(handles=lines, loc="outside lower center", ncols=2)
        figure.supylabel("root mean square error, 0 to 1")


def _plot_shares(
    series: Mapping[str, Sequence["GameFigures"]],
    path: Path,
    title: str,
    note: str,
    best: int | None = None,
) -> None:
    """Draw the percentage of games won by round, with error bars and a line for each of the `series`.

    The round `best` is marked.
    """
    ends = [_EVEN - _MIN_REACH, _EVEN + _MIN_REACH]
    with picture(path, 3.6, title) as figure:
        axes = figure.subplots()
        axes.axhline(_EVEN, color=FAINT, linewidth=1)
        for look, (name, contests) in zip(cycle(_LOOKS), series.items(), strict=False):
            shares = [100 * figures.win_share for figures in contests]
            errors = [100 * figures.win_share_se for figures in contests]
            places = range(1, len(shares) + 1)
            axes.errorbar(places, shares, errors, capsize=3, linewidth=1.0, label=name, **look)
            if best is not None:
                axes.plot(best, shares[best - 1], color=GREEN, marker="D", markersize=8, zorder=5)
            ends += [s + side * e for s, e in zip(shares, errors, strict=True) for side in (-1, 1)]
        margin = _MARGIN * (max(ends) - min(ends))
        axes.set_ylim(min(ends) - margin, max(ends) + margin)
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        axes.set_xlabel("round")
        axes.set_ylabel("% of games won")
        if len(series) > 1:
            figure.legend(loc="outside lower center", ncols=3, title=note)
        else:
            figure.supxlabel(note)
