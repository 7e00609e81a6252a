"""What the decisions of one player come to: error rates, luck, and the kinds of mistakes with the cube.

A word says how strong a player is who makes so many millipoints of errors a decision.  Words and
thresholds are gnubg's (analysis.c, `aszRating`, `arThrsRating`), so that ratings can be
compared; they take the analysing player's word for what an error is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.benchmark.losses import MILLIPOINTS

THRESHOLDS: tuple[tuple[float, str], ...] = (
    (2, "supernatural"),
    (5, "world class"),
    (8, "expert"),
    (12, "advanced"),
    (18, "intermediate"),
    (26, "casual player"),
    (35, "beginner"),
)
"""Millipoints a decision below which a word holds, ascending."""
WORST = "awful"
BLUNDER = 0.08
"""Normalised equity from which on an error counts as a blunder; gnubg calls such a play bad."""


@dataclass(frozen=True)
class Errors:
    """Errors of one kind, or of several together."""

    decisions: int
    total: float
    """Normalised equity lost."""
    cost: float
    """Points lost in money play, match winning chances (0 to 1) in a match."""
    blunders: int
    rate: float | None
    """Millipoints of normalised equity a decision; None where nothing was decided."""
    se: float | None
    """Standard error of `rate`, as if decisions were independent; None for fewer than two."""


@dataclass(frozen=True)
class Sum:
    """The luck of rolls, or what mistakes of one kind with the cube lost."""

    count: int
    """How many rolls or mistakes."""
    total: float
    """Normalised equity."""
    result: float
    """Points in money play, match winning chances in a match."""


@dataclass(frozen=True)
class PlayerAnalysis:
    """How one player did."""

    name: str
    chequer: Errors
    cube: Errors
    overall: Errors
    forced: int
    """Rolls that could be played in one way only; they are no decisions."""
    luck: Sum
    mistakes: dict[str, Sum]
    """By kind, in the order of `motif.analysis.match.decision_errors.KINDS`."""
    is_analyst: bool = False
    """Whether he judges himself, at whatever depth: then he is not rated."""

    @property
    def rating(self) -> str | None:
        """A word for the overall error rate; None where nothing was decided, and for who judges himself."""
        return None if self.overall.rate is None or self.is_analyst else rating(self.overall.rate)

    def as_dict(self, in_match: bool) -> dict[str, Any]:
        """For JSON; costs are named by their unit."""
        unit = "mwc" if in_match else "points"
        return {
            "name": self.name,
            "rating": self.rating,
            "error_rate": self.overall.rate,
            "error_rate_se": self.overall.se,
            **{kind: _errors_dict(getattr(self, kind), unit) for kind in ("chequer", "cube", "overall")},
            "forced": self.forced,
            "luck": {"rolls": self.luck.count, "total": self.luck.total, unit: self.luck.result},
            "mistakes": {
                kind: {"count": mistakes.count, "total": mistakes.total, unit: mistakes.result}
                for kind, mistakes in self.mistakes.items()
            },
        }


def rating(error_rate: float) -> str:
    """The word for `error_rate`, in millipoints a decision."""
    return next((word for limit, word in THRESHOLDS if error_rate < limit), WORST)


def errors_of(losses: npt.NDArray[np.float64], units: npt.NDArray[np.float64]) -> Errors:
    """Sum up decisions that cost `losses` (n,) of normalised equity, 1 of which is worth `units` (n,)."""
    count = len(losses)
    return Errors(
        decisions=count,
        total=float(losses.sum()),
        cost=float((losses * units).sum()),
        blunders=int((losses >= BLUNDER).sum()),
        rate=MILLIPOINTS * float(losses.mean()) if count else None,
        se=MILLIPOINTS * float(losses.std(ddof=1)) / math.sqrt(count) if count > 1 else None,
    )


def luck_of(luck: npt.NDArray[np.float64], units: npt.NDArray[np.float64]) -> Sum:
    """Sum up the luck (n,) of rolls, in normalised equity, 1 of which is worth `units` (n,)."""
    return Sum(len(luck), float(luck.sum()), float((luck * units).sum()))


def mistakes_of(losses: Sequence[float], units: Sequence[float]) -> Sum:
    """Sum up mistakes of one kind."""
    cost = sum(loss * unit for loss, unit in zip(losses, units, strict=True))
    return Sum(len(losses), sum(losses), cost)


def _errors_dict(errors: Errors, unit: str) -> dict[str, Any]:
    return {
        "decisions": errors.decisions,
        "error_rate": errors.rate,
        "se": errors.se,
        "total": errors.total,
        unit: errors.cost,
        "blunders": errors.blunders,
    }
