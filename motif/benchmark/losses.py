"""What a player's choices lose, decision by decision, and which decisions are counted together."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.errors import BenchmarkError

MILLIPOINTS = 1000
"""In a point."""

Rows = slice | npt.NDArray[np.intp]
"""Some of several decisions."""
_Rate = TypeVar("_Rate")


@dataclass(frozen=True)
class Losses:
    """What a player's plays lose on the n decisions of a file or a dataset, in its order."""

    path: str
    losses: npt.NDArray[np.float64]
    """(n,): what each loses against the best, in points; 0 or more."""
    listed: npt.NDArray[np.bool_]
    """(n,): whether the file lists the play."""
    classes: npt.NDArray[np.int8]
    """(n,): class of each decision, as in `motif.parameters.position_class`."""


def joined(parts: Sequence[Losses]) -> Losses:
    """The decisions of all `parts`, one after the other; raises `BenchmarkError` for no part."""
    if not parts:
        raise BenchmarkError("there is no benchmark file to measure on")
    columns = ([getattr(one, name) for one in parts] for name in ("losses", "listed", "classes"))
    return Losses("all", *map(np.concatenate, columns))


@dataclass(frozen=True)
class ByGroup(Generic[_Rate]):
    """The same measure of several groups of decisions."""

    files: Mapping[str, _Rate]
    """By path."""
    classes: Mapping[str, _Rate]
    """By class, over all files; only classes that occur.

    The class of the position before the roll; of a dataset, which lacks it, that after the best play.
    """
    overall: _Rate


def by_group(parts: Sequence[Losses], rate: Callable[[Rows], _Rate]) -> ByGroup[_Rate]:
    """What `rate` finds for each group of the decisions of all `parts`, which stand one after the other.

    Raises `BenchmarkError` for no part.
    """
    of_class = rows_of_classes(joined(parts).classes)
    ends = np.cumsum([len(one.losses) for one in parts]).tolist()
    return ByGroup(
        {one.path: rate(slice(end - len(one.losses), end)) for one, end in zip(parts, ends, strict=True)},
        {name: rate(rows) for name, rows in of_class.items()},
        rate(slice(None)),
    )


def rows_of_classes(classes: npt.NDArray[np.int8]) -> dict[str, npt.NDArray[np.intp]]:
    """Which of `classes` (n,) are each class, by its name; only classes that occur."""
    return {CLASS_NAMES[code]: np.flatnonzero(classes == code) for code in np.unique(classes)}


def mean_and_error(points: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Mean of `points` (n,) and its standard error, NaN for n = 1: both in millipoints."""
    count = len(points)
    error = float(points.std(ddof=1) / math.sqrt(count)) if count > 1 else math.nan
    return MILLIPOINTS * float(points.mean()), MILLIPOINTS * error
