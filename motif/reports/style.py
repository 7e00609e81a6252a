"""The common style of all pictures.

Pictures use matplotlib's object API, not pyplot.  They are narrow with large letters, to be readable on
phones; the colours are Okabe and Ito's, which colour-blind readers can distinguish, each with its own line
style and marker.
"""

import math
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from threading import RLock
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from matplotlib import style as matplotlib_style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from motif.runtime.arrays import FloatArray
from motif.runtime.errors import SettingError
from motif.runtime.files import replacing
from motif.runtime.layout import encodable

_WIDTH = 5.4
"""Width of every picture in inches."""
DPI = 200

INK, FAINT, GRID = "#222222", "#767676", "#dddddd"
BLUE, VERMILION, GREEN = "#0072B2", "#D55E00", "#009E73"

Look: TypeAlias = dict[str, Any]
"""Keyword arguments of matplotlib's drawing functions."""
SOLID: Look = {"color": BLUE, "linestyle": "-", "marker": "o"}
DASHED: Look = {"color": VERMILION, "linestyle": "--", "marker": "s", "markerfacecolor": "white"}
"""Looks of the first and second of two lines."""
TRAINING, VALIDATION = SOLID, DASHED
"""Looks of errors."""
NOISE: Look = {"color": INK, "linestyle": ":", "linewidth": 1.2}
"""Look of label noise."""

SMALL, MEDIUM = 9.0, 10.0
_STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": MEDIUM,
    "axes.titlesize": MEDIUM,
    "axes.labelsize": MEDIUM,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "legend.title_fontsize": SMALL,
    "figure.labelsize": SMALL,
    "figure.titlesize": 12,
    "figure.titleweight": "bold",
    # Names are text, dollar signs included.
    "text.parse_math": False,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "lines.markersize": 4,
    "lines.markeredgewidth": 1.2,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "legend.handletextpad": 0.5,
    "legend.borderaxespad": 0.2,
    "savefig.dpi": DPI,
    # Otherwise, names inside an SVG are random.
    "svg.hashsalt": "motif",
}
# Removed, so that drawings of the same data are identical.
_METADATA = {".png": {"Software": None}, ".svg": {"Creator": None, "Date": None}}

_ONE_AT_A_TIME = RLock()
"""matplotlib's style is global."""
_TITLE_LETTERS = 46
_MAX_MARKED = 25
_MAX_TICKS = 4
_LOG_FROM = 2.5


def check_picture(path: Path) -> None:
    """Raise `SettingError` unless `path` ends in .png or .svg."""
    if path.suffix not in _METADATA:
        raise SettingError(f"{path}: the name of a picture must end in {' or '.join(_METADATA)}")


@contextmanager
def picture(path: Path | None, height: float, title: str) -> Iterator[Figure]:
    """Provide a figure of `height` inches; afterwards, save it to `path`, if given, as a complete file.

    Only one thread draws at a time.  Raises `SettingError` for an invalid picture name, `FileError` if it
    cannot be written.
    """
    if path is not None:
        check_picture(path)
    with _ONE_AT_A_TIME, matplotlib_style.context(["default", _STYLE]):
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        canvas = FigureCanvasAgg(figure)
        figure.suptitle(fill(encodable(title), _TITLE_LETTERS))
        yield figure
        if path is not None:
            with replacing(path) as temporary:
                _save(figure, canvas, temporary)


def _save(figure: Figure, canvas: FigureCanvasAgg, path: Path) -> None:
    metadata = _METADATA[path.suffix]
    with warnings.catch_warnings():
        # Letters that no font has, as in names, are drawn as boxes.
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        if path.suffix == ".png":
            # `savefig` draws twice, which takes a quarter longer for the same bytes.
            figure.set_dpi(DPI)
            canvas.print_png(path, metadata=metadata)
        else:
            figure.savefig(path, metadata=metadata)


def marked(look: Look, count: int) -> Look:
    """Return the `look` for a line of `count` points, without markers if there are many."""
    return look if count <= _MAX_MARKED else look | {"marker": ""}


def sample_line(look: Look, label: str) -> Line2D:
    """Return a legend line."""
    return Line2D([], [], label=label, **look)


def percentages(values: npt.NDArray[np.generic], edges: npt.ArrayLike) -> FloatArray:
    """Return the percentage of `values` in each bin; the outermost bins include everything beyond them."""
    limits = np.asarray(edges)
    counts, _ = np.histogram(np.clip(values, limits[0], limits[-1]), limits)
    return np.asarray(100 * counts / len(values))


def error_scale(axes: Axes, values: Iterable[float]) -> None:
    """Set the y axis to the range of `values`, on a logarithmic scale if they vary by a large factor."""
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return
    low, high = min(known), max(known)
    if low <= 0 or high < _LOG_FROM * low:
        margin = 0.1 * (high - low) or 0.1 * high or 1.0
        axes.set_ylim(max(low - margin, 0.0), high + margin)
        axes.yaxis.set_major_locator(MaxNLocator(_MAX_TICKS))
        return
    margin = (high / low) ** 0.08
    axes.set_yscale("log")
    axes.set_ylim(low / margin, high * margin)
    axes.yaxis.set_major_locator(FixedLocator(_log_ticks(low / margin, high * margin)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter("{x:g}")


def _log_ticks(low: float, high: float) -> list[float]:
    """Return round numbers from `low` to `high`, at most `_MAX_TICKS`."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    best: list[float] = []
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        ticks = [step * 10.0**decade for decade in decades for step in steps]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if not best or len(ticks) <= _MAX_TICKS:
            best = ticks
    return best[:: math.ceil(len(best) / _MAX_TICKS)]
