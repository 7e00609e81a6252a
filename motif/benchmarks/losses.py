"""Losses of a player's choices: by group, as a distribution, and compared with another player's."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import accumulate, pairwise
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from motif.board.marks import MILLIPOINTS
from motif.parameters.position_class import CLASS_NAMES
from motif.rollouts.tally import error_over_groups
from motif.runtime.arrays import BoolArray, FloatArray, IntArray
from motif.runtime.errors import BenchmarkError

Rows = slice | npt.NDArray[np.intp]
"""Selection of some of several decisions."""
LIMITS = (0, 5, 20, 50, 100)
"""Upper limits, in millipoints, of the ranges of `LossDistribution`."""
# Losses in files have six digits: a loss written as 20 millipoints is not above 20.
_ROUNDING = 1e-9
_Rate = TypeVar("_Rate")


@dataclass(frozen=True)
class Losses:
    """A player's losses on the n decisions of a file or dataset, in order."""

    path: str
    losses: FloatArray
    """(n,): loss against the best play, in points; at least 0."""
    listed: BoolArray
    """(n,): whether the file lists the play."""
    classes: npt.NDArray[np.int8]
    """(n,): position classes, as in `motif.parameters.position_class`."""
    games: IntArray
    """(n,): number of each decision's game, from 0; standard errors are clustered by game."""
    is_pooled: bool = field(default=False, kw_only=True)
    """Whether the numbers of games are those of a pool, in which other files may have the same games."""


def joined_losses(parts: Sequence[Losses]) -> Losses:
    """Concatenate `parts`, with distinct games unless they are of a pool.

    Raises `BenchmarkError` if there are none.
    """
    if not parts:
        raise BenchmarkError("at least one benchmark file is needed")
    if not all(part.is_pooled for part in parts):
        firsts = accumulate((int(part.games.max()) + 1 for part in parts), initial=0)
        parts = [replace(one, games=one.games + first) for one, first in zip(parts, firsts, strict=False)]
    columns = ([getattr(part, name) for part in parts] for name in ("losses", "listed", "classes", "games"))
    return Losses("all", *map(np.concatenate, columns))


@dataclass(frozen=True)
class ByGroup(Generic[_Rate]):
    """A measure of several groups of decisions."""

    files: Mapping[str, _Rate] = field(hash=False)
    """Measures by path."""
    classes: Mapping[str, _Rate] = field(hash=False)
    """Measures by class over all files, for the classes that occur.

    The class is that of the position before the roll, or in datasets of the position after the best play.
    """
    overall: _Rate


def by_group(parts: Sequence[Losses], rate: Callable[[Rows], _Rate]) -> ByGroup[_Rate]:
    """Return `rate` for each group of decisions of all `parts`; raises `BenchmarkError` if there are none."""
    of_class = rows_of_classes(joined_losses(parts).classes)
    ends = np.cumsum([len(part.losses) for part in parts]).tolist()
    return ByGroup(
        {one.path: rate(slice(end - len(one.losses), end)) for one, end in zip(parts, ends, strict=True)},
        {name: rate(rows) for name, rows in of_class.items()},
        rate(slice(None)),
    )


def rows_of_classes(classes: npt.NDArray[np.int8]) -> dict[str, npt.NDArray[np.intp]]:
    """Return the rows of each class that occurs in `classes` (n,), by name."""
    return {CLASS_NAMES[code]: np.flatnonzero(classes == code) for code in np.unique(classes)}


def mean_in_millipoints(points: FloatArray, games: IntArray | None = None) -> tuple[float, float]:
    """Return the mean of `points` (n,) and its standard error (NaN for one game), in millipoints.

    Without `games`, each point counts as a game of its own.
    """
    games = np.arange(len(points)) if games is None else games
    return MILLIPOINTS * float(points.mean()), MILLIPOINTS * error_over_groups(points, games)


class LossRange(NamedTuple):
    """Share of the losses between two limits."""

    name: str
    """Range in millipoints, such as "5 to 20", without the lower limit."""
    decisions: float
    """Share of the decisions, 0 to 1."""
    lost: float
    """Share of the total loss, 0 to 1."""


@dataclass(frozen=True)
class LossDistribution:
    """Distribution of a player's losses, in millipoints per decision."""

    best_found: float
    """Share of decisions, 0 to 1, in which the player chose a listed play without loss."""
    at_most: dict[str, float] = field(hash=False)
    """Share of decisions with at most this loss, for each of `LIMITS`."""
    above: float
    """Share of decisions with a loss above the last of `LIMITS`."""
    lost: tuple[float, ...]
    """Share of the total loss between successive `LIMITS`, and above the last; sums to 1.

    All 0 for a player without losses.
    """
    median: float
    percentile_90: float
    percentile_99: float
    largest: float

    @property
    def ranges(self) -> list[LossRange]:
        """Shares of decisions without loss, with losses up to each of `LIMITS`, and with larger losses."""
        first, last = str(LIMITS[0]), f"above {LIMITS[-1]}"
        names = [first, *(f"{low} to {high}" for low, high in pairwise(LIMITS)), last]
        shares = [high - low for low, high in pairwise((0.0, *self.at_most.values(), 1.0))]
        return [LossRange(*row) for row in zip(names, shares, (0.0, *self.lost), strict=True)]

    def to_dict(self) -> dict[str, object]:
        """Return all fields by name; `above` is called "above_100", after the last of `LIMITS`."""
        fields = asdict(self)
        return {f"above_{LIMITS[-1]}" if name == "above" else name: it for name, it in fields.items()}


def loss_distribution(losses: FloatArray, listed: BoolArray) -> LossDistribution:
    """Return the distribution of `losses` (n,), in points; `listed` (n,) says which plays are listed."""
    millipoints = MILLIPOINTS * losses
    bounds = np.array(LIMITS) + _ROUNDING
    shares = (millipoints[:, None] <= bounds).mean(axis=0)
    above_first = millipoints[millipoints > bounds[0]]
    bins = np.bincount(np.searchsorted(bounds[1:], above_first), above_first, len(LIMITS))
    median, percentile_90, percentile_99 = np.percentile(millipoints, (50, 90, 99)).tolist()
    return LossDistribution(
        float((listed & (millipoints <= bounds[0])).mean()),
        {str(limit): float(share) for limit, share in zip(LIMITS, shares, strict=True)},
        1 - float(shares[-1]),
        tuple((bins / (math.fsum(bins) or 1.0)).tolist()),
        median,
        percentile_90,
        percentile_99,
        float(millipoints.max()),
    )


@dataclass(frozen=True)
class PairedRate:
    """Mean difference between the losses of two players."""

    difference: float
    """Millipoints per decision; negative if the first player loses less."""
    se: float
    """Standard error of `difference`, clustered by game; NaN for a single game."""
    decisions: int


def paired(one: Sequence[Losses], other: Sequence[Losses]) -> ByGroup[PairedRate]:
    """Compare the losses of two players on the same files, in the same order.

    The standard error is that of the differences, which is smaller than the two error rates suggest. Raises
    `BenchmarkError` if there is no file.
    """
    every = joined_losses(one)
    differences = every.losses - joined_losses(other).losses

    def rate(rows: Rows) -> PairedRate:
        group = differences[rows]
        return PairedRate(*mean_in_millipoints(group, every.games[rows]), len(group))

    return by_group(one, rate)
