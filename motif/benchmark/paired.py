"""Two players on the same decisions: how much more the one loses than the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from motif.benchmark.losses import ByGroup, Losses, Rows, by_group, joined, mean_and_error


@dataclass(frozen=True)
class PairedRate:
    """Mean difference of the losses of two players on some decisions."""

    difference: float
    """In millipoints a decision; below 0 where the first player loses less."""
    se: float
    """Standard error of `difference`, from the differences of single decisions; NaN for one decision."""
    decisions: int


def paired(one: Sequence[Losses], other: Sequence[Losses]) -> ByGroup[PairedRate]:
    """Losses of the one player less those of the other, whose choices are on the same files in that order.

    Choices that are alike in both differ by nothing, and so the standard error is that of what remains:
    less than those of the two error rates suggest.  Raises `BenchmarkError` for no file.
    """
    differences = joined(one).losses - joined(other).losses

    def rate(rows: Rows) -> PairedRate:
        found = differences[rows]
        return PairedRate(*mean_and_error(found), len(found))

    return by_group(one, rate)
