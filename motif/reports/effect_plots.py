"""Pictures of what more of a parameter is worth: curves, and how often each value occurs."""

import tempfile
from collections.abc import Sequence
from math import ceil
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator

from motif.analysis.observed_effects import Observed
from motif.analysis.term_report import ToldEffect
from motif.evaluators.weight_file import HEAD_NAMES
from motif.reports.analysis_plots import bins_of, broken_name
from motif.reports.document import Picture
from motif.reports.style import BLUE, FAINT, SMALL, SOLID, picture

DRAWN = 8
"""Parameters of a picture at most."""
_ROW_HEIGHT, _FRAME_HEIGHT = 1.75, 0.7
_LONG_NAME = 24
_PERCENT = 100


def draw_effects(positions: Observed, effects: Sequence[ToldEffect], path: Path, title: str) -> None:
    """Draw the curves of the first `DRAWN` of `effects`, each over the spread of `positions`, to `path`."""
    drawn = effects[:DRAWN]
    rows = max(1, ceil(len(drawn) / 2))
    with picture(path, _FRAME_HEIGHT + _ROW_HEIGHT * rows, title) as figure:
        cells = np.ravel(np.asarray(figure.subfigures(rows, 2)))
        for place, (cell, effect) in enumerate(zip(cells, drawn, strict=False), 1):
            _draw_effect(cell, positions, effect, place)
        percent = "" if positions.head == "equity" else " in %"
        figure.supylabel(f"{HEAD_NAMES[positions.head]}{percent}, and below how often", fontsize=SMALL)


def effects_picture(positions: Observed, effects: Sequence[ToldEffect], title: str) -> Picture:
    """The picture of `draw_effects`, with what it shows."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "effects.png"
        draw_effects(positions, effects, path, title)
        return effects_shown(path, positions)


def effects_shown(path: Path, positions: Observed) -> Picture:
    """The picture at `path`, with what it shows."""
    caption = (
        f"The {HEAD_NAMES[positions.head]} of the player on roll by the value of each parameter, with what "
        "is held still at its average, and below how often each value occurs; numbers are those of the list. "
        f"From {len(positions.values):,} positions: where few of them lie, a curve says little."
    )
    return Picture("What more of it is worth", path.read_bytes(), f"Plot: {caption}", caption)


def _draw_effect(cell: SubFigure | Figure, positions: Observed, effect: ToldEffect, number: int) -> None:
    curve, spread = cell.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    curve.set_title(broken_name(f"{number}. {effect.name}", _LONG_NAME), fontsize=SMALL)
    factor = 1 if positions.head == "equity" else _PERCENT
    curve.plot([step.value for step in effect.curve], [factor * step.worth for step in effect.curve], **SOLID)
    curve.yaxis.set_major_locator(MaxNLocator(3))
    place = positions.parameters.names.index(effect.name)
    values = positions.features[:, place] / positions.parameters.parameters[place].scale
    edges = bins_of(values)
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)
    spread.stairs(counts, edges, fill=True, color=BLUE, alpha=0.5)
    spread.set_yticks([])
    spread.grid(visible=False)
    spread.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    spread.tick_params(axis="x", color=FAINT)
