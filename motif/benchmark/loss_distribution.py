"""How the losses of many decisions are spread."""

import math
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motif.benchmark.losses import MILLIPOINTS

LIMITS = (0, 5, 20, 50, 100)
"""Losses in millipoints up to which decisions are counted."""

# Losses are written with six digits; what is written 20 millipoints is not above 20.
_ROUNDING = 1e-9


class LossRange(NamedTuple):
    """Losses between two limits."""

    name: str
    """Such as "5 to 20": millipoints, the lower limit not among them."""
    decisions: float
    """Its share of the decisions, 0 to 1."""
    lost: float
    """Its share of all that is lost, 0 to 1."""


@dataclass(frozen=True)
class LossDistribution:
    """Losses of a player's plays, in millipoints a decision."""

    best_found: float
    """Share of decisions, 0 to 1, for which the play is listed as the best or loses nothing against it."""
    at_most: dict[str, float]
    """Share of decisions that lose at most so many millipoints, for each of `LIMITS`."""
    above: float
    """Share of decisions that lose more than the last of `LIMITS`."""
    lost: tuple[float, ...]
    """Share of all that is lost by decisions between two of `LIMITS`, and above the last; it adds up to 1.

    0 everywhere for a player who loses nothing.
    """
    median: float
    percentile_90: float
    percentile_99: float
    largest: float

    @property
    def ranges(self) -> list[LossRange]:
        """No loss, losses up to each of `LIMITS`, and those above."""
        first, last = str(LIMITS[0]), f"above {LIMITS[-1]}"
        names = [first, *(f"{low} to {high}" for low, high in pairwise(LIMITS)), last]
        shares = [high - low for low, high in pairwise((0.0, *self.at_most.values(), 1.0))]
        return [LossRange(*row) for row in zip(names, shares, (0.0, *self.lost), strict=True)]

    def as_dict(self) -> dict[str, Any]:
        """All fields by name; `above` is called "above_100", by the last of `LIMITS`."""
        fields = asdict(self)
        return {f"above_{LIMITS[-1]}" if name == "above" else name: it for name, it in fields.items()}


def loss_distribution(losses: npt.NDArray[np.float64], listed: npt.NDArray[np.bool_]) -> LossDistribution:
    """The distribution of `losses` (n,), in points, of plays of which the file lists some, `listed` (n,)."""
    lost = MILLIPOINTS * losses
    bounds = np.array(LIMITS) + _ROUNDING
    shares = (lost[:, None] <= bounds).mean(axis=0)
    above_first = lost[lost > bounds[0]]
    bins = np.bincount(np.searchsorted(bounds[1:], above_first), above_first, len(LIMITS))
    median, percentile_90, percentile_99 = np.percentile(lost, (50, 90, 99)).tolist()
    return LossDistribution(
        float((listed & (lost <= bounds[0])).mean()),
        {str(limit): float(share) for limit, share in zip(LIMITS, shares, strict=True)},
        1 - float(shares[-1]),
        tuple((bins / (math.fsum(bins) or 1.0)).tolist()),
        median,
        percentile_90,
        percentile_99,
        float(lost.max()),
    )
