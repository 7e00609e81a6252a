"""The squash between a raw prediction x and a predicted value y, its slope and its inverse.

y = low + (high - low) (tanh(x) + 1) / 2.  Source: Tom Keith, "How Motif Works" (2004), with
low = 0 and high = 1.  The oracle of the tests is `numpy.tanh`.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motif.runtime.errors import FitError
from motif.runtime.jit import inline_kernel

FloatArray = npt.NDArray[np.float64]

INVERSE_MARGIN = 1e-4
"""`Link.inverse` first moves a value this fraction of the range away from both bounds."""

# tanh(x) = x P(x^2) / Q(x^2): our own fit of least maximal error on |x| <= 11 (Lawson's method:
# least squares, reweighted by the error until the error is level).  Error below 1e-9 for every x.
_TANH_END = 11.0
_P0, _P1, _P2 = 0.9999999980137678, 0.14019297588181193, 0.004320104545534787
_P3, _P4, _P5 = 3.960278697506042e-05, 9.651177900116487e-08, 2.8229579517751938e-11
_Q1, _Q2, _Q3 = 0.4735263007016712, 0.028828882068148497, 0.0004806370580075586
_Q4, _Q5 = 2.3603672052996284e-06, 2.4250811873614855e-09


@inline_kernel
def fast_tanh(x):
    """The hyperbolic tangent within 1e-9: no branch and no call, so loops over it vectorise."""
    x = min(max(x, -_TANH_END), _TANH_END)
    s = x * x
    numerator = _P0 + s * (_P1 + s * (_P2 + s * (_P3 + s * (_P4 + s * _P5))))
    return x * numerator / (1.0 + s * (_Q1 + s * (_Q2 + s * (_Q3 + s * (_Q4 + s * _Q5)))))


@dataclass(frozen=True)
class Link:
    """The squash of one head; `low` and `high` are the bounds of its values.

    Raises `FitError` unless both are finite and low < high.
    """

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise FitError(f"the bounds of a link must be finite and rising, not {self.low} and {self.high}")

    @property
    def half_range(self) -> float:
        """Half the distance between the bounds: the slope at x = 0."""
        return (self.high - self.low) / 2

    @property
    def middle(self) -> float:
        """The value at x = 0."""
        return (self.high + self.low) / 2

    def predict(self, raw: npt.ArrayLike) -> FloatArray:
        """Values y of raw predictions, in their shape."""
        return self.middle + self.half_range * np.tanh(np.asarray(raw, np.float64))

    def slope(self, raw: npt.ArrayLike) -> FloatArray:
        """dy/dx at raw predictions, in their shape."""
        return self.half_range * (1 - np.tanh(np.asarray(raw, np.float64)) ** 2)

    def inverse(self, values: npt.ArrayLike) -> FloatArray:
        """Raw predictions whose values are `values`, always finite.

        Values beyond `INVERSE_MARGIN` of the range from a bound count as that far from it (a label
        of exactly 0 or 1 would be infinite otherwise), so |x| <= 4.61.
        """
        tangent = (np.asarray(values, np.float64) - self.middle) / self.half_range
        end = 1 - 2 * INVERSE_MARGIN
        return np.arctanh(np.clip(tangent, -end, end))


PROBABILITY = Link(0.0, 1.0)
"""The link of a chance."""
EQUITY = Link(-3.0, 3.0)
"""The link of cubeless money equity, in points."""
