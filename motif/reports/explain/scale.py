"""In what a difference is told: points of equity, or per cent of winning chances."""

from dataclasses import dataclass

from motif.reports.explain.judged import Judged


@dataclass(frozen=True)
class Scale:
    """Turns parts of a difference of x into parts of the difference of values that it makes."""

    per_x: float
    """Points of equity (twice the winning chance, for a file that knows no gammons) for each unit of x."""
    win_only: bool

    @classmethod
    def between(cls, first: Judged, second: Judged, bound: float) -> "Scale":
        """The secant of the squash between two positions, so that the parts add up there too.

        `bound` is that of the values, 3 or 1.
        """
        step = first.x - second.x
        if abs(step) > _SAME:
            slope = (first.value - second.value) / step
        else:
            slope = bound * (1 - (first.value / bound) ** 2)
        return cls(slope, bound == 1)

    @property
    def unit(self) -> str:
        """Of told amounts."""
        return "% of winning chances" if self.win_only else "points"

    def amount(self, x: float) -> float:
        """A part of a difference of x in `unit`."""
        return x * self.per_x * (50 if self.win_only else 1)

    def told(self, x: float, *, sign: bool = True) -> str:
        """The same as text, as ``+0.042`` or ``-1.3``."""
        value = self.amount(x)
        digits = 1 if self.win_only else 3
        text = f"{value:+.{digits}f}" if sign else f"{abs(value):.{digits}f}"
        return text if float(text) else text.lstrip("+-")

    def counts(self, x: float) -> bool:
        """Whether a part is large enough to be seen in the digits that are shown."""
        return abs(self.amount(x)) >= (0.05 if self.win_only else 0.0005)


_SAME = 1e-9
