"""Two players on the same decisions: how much more the one loses than the other."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from motif.benchmark.losses import Losses, mean_and_error, of_classes, of_files


@dataclass(frozen=True)
class PairedRate:
    """Mean difference of the losses of two players on some decisions."""

    difference: float
    """In millipoints a decision; below 0 where the first player loses less."""
    se: float
    """Standard error of `difference`, from the differences of single decisions; NaN for one decision."""
    decisions: int


@dataclass(frozen=True)
class PairedRates:
    """Mean differences on several files."""

    files: Mapping[str, PairedRate]
    """By path."""
    classes: Mapping[str, PairedRate]
    """By class, over all files; only classes that occur."""
    overall: PairedRate

    def as_dict(self) -> dict[str, Any]:
        """All fields by name."""
        return asdict(self)


def paired(one: Sequence[Losses], other: Sequence[Losses]) -> PairedRates:
    """Losses of the one player less those of the other, whose choices are on the same files in that order.

    Choices that are alike in both differ by nothing, and so the standard error is that of what remains:
    less than those of the two error rates suggest.  Raises `BenchmarkError` for no file.
    """
    files = of_files(one)
    difference = np.concatenate([a.losses - b.losses for a, b in zip(one, other, strict=True)])

    def rate(rows: Any) -> PairedRate:
        return PairedRate(*mean_and_error(difference[rows]), len(difference[rows]))

    return PairedRates(
        {path: rate(rows) for path, rows in files.items()},
        {name: rate(rows) for name, rows in of_classes(one).items()},
        rate(slice(None)),
    )
