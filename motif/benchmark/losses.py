"""What a player's choices lose, decision by decision, and which decisions are counted together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.errors import BenchmarkError

MILLIPOINTS = 1000
"""In a point."""


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


def of_files(parts: Sequence[Losses]) -> dict[str, slice]:
    """Which decisions of all `parts`, one after the other, are those of each, by path.

    Raises `BenchmarkError` for no part.
    """
    if not parts:
        raise BenchmarkError("there is no benchmark file to measure on")
    ends = np.cumsum([len(one.losses) for one in parts]).tolist()
    return {one.path: slice(end - len(one.losses), end) for one, end in zip(parts, ends, strict=True)}


def of_classes(parts: Sequence[Losses]) -> dict[str, npt.NDArray[np.intp]]:
    """Which decisions of all `parts`, one after the other, are of each class; only classes that occur."""
    classes = np.concatenate([one.classes for one in parts])
    return {CLASS_NAMES[code]: np.flatnonzero(classes == code) for code in np.unique(classes)}


def mean_and_error(points: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Mean of `points` (n,) and its standard error, NaN for n = 1: both in millipoints."""
    count = len(points)
    error = float(points.std(ddof=1) / math.sqrt(count)) if count > 1 else math.nan
    return MILLIPOINTS * float(points.mean()), MILLIPOINTS * error
