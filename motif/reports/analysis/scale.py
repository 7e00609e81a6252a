"""How raw sums and values are called and measured: x and a chance in percent, or BRAS's D and S."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motif.evaluators import StaticEvaluator
from motif.evaluators.bras import SIGMA, BrasEvaluator
from motif.evaluators.probabilities import bounds
from motif.reports.analysis.statistics import Floats
from motif.reports.style import HEAD_WORDS

_PERCENT = 100
_FEW_UNITS = 10


@dataclass(frozen=True)
class Scale:
    """Names and units of what an evaluator computes."""

    raw: str
    """What the raw sum is called."""
    raw_factor: float
    """Raw sum in its own unit, a unit of x."""
    value: str
    """What the squashed value is called."""
    unit: str
    """Unit of the value, empty where it has none."""
    low: float
    high: float
    """The value's bounds, in its unit."""

    @property
    def value_label(self) -> str:
        """For an axis."""
        return f"{self.value} ({self.unit})" if self.unit else self.value

    @property
    def named(self) -> str:
        """The value in the middle of a sentence."""
        return self.value if len(self.value) == 1 else f"the {self.value}"

    def shown(self, value: float) -> str:
        """A value with the digits that it deserves."""
        # The range of values is 100 percent, or 6 points.
        return format(value, ".1f" if self.high - self.low > _FEW_UNITS else ".2f")

    def values(self, raw: npt.ArrayLike) -> Floats:
        """The value that each raw sum is squashed to."""
        half = (self.high - self.low) / 2
        return np.asarray(self.low + half * (1 + np.tanh(np.asarray(raw) / self.raw_factor)))

    def steepness(self, raw: npt.ArrayLike) -> Floats:
        """What the value gains a unit of the raw sum, there."""
        half = (self.high - self.low) / 2
        return np.asarray(half / self.raw_factor / np.cosh(np.asarray(raw) / self.raw_factor) ** 2)


def scale_of(evaluator: StaticEvaluator, head: str) -> Scale:
    """How the sums of one of an evaluator's heads are shown."""
    if isinstance(evaluator, BrasEvaluator):
        return Scale("D", SIGMA, "S", "", 0.0, 100.0)
    low, high = bounds(head)
    if head == "equity":
        return Scale("x", 1.0, "equity", "points", low, high)
    return Scale("x", 1.0, f"{HEAD_WORDS[head]} chance", "%", _PERCENT * low, _PERCENT * high)
