"""Decisions of which some plays are recorded with labels: what choices among these lose by the labels.

The best label of several is the best partly by luck, and so even perfect choices lose something: the
level of these losses says little.  The labels are the same for everyone, though, so that differences
between players on the same decisions say much.  Weights that were fitted to a dataset know its labels,
and have an advantage there: they are measured on another one.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motif.benchmark.losses import Losses
from motif.evaluators.probabilities import turned_equities


@dataclass(frozen=True)
class RecordedDecisions:
    """The n decisions of a dataset that have two recorded plays or more, m plays together."""

    path: str
    rows: npt.NDArray[np.intp]
    """(m,): which positions of the dataset the plays lead to, decision after decision."""
    gains: npt.NDArray[np.float64]
    """(m,): labels of the plays for their mover, in points."""
    classes: npt.NDArray[np.int8]
    """(m,): of the positions that they lead to, as in `motif.parameters.position_class`."""
    starts: npt.NDArray[np.intp]
    """(n,): the first play of each decision."""

    def __len__(self) -> int:
        return len(self.starts)

    def losses(self, values: npt.NDArray[np.float64]) -> Losses:
        """What it loses to choose the play of each decision with the highest of `values` (m,), the mover's.

        Of equal plays the first one counts, also of those with equal labels.  A decision is of the class
        that its best play leads to.  Without decisions there is no loss.
        """
        best, chosen = self._first_highest(self.gains), self._first_highest(values)
        lost = self.gains[best] - self.gains[chosen]
        return Losses(self.path, lost, np.ones(len(self), np.bool_), self.classes[best])

    def _first_highest(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
        """The play with the highest value of each decision, (n,)."""
        if not len(self):
            return np.empty(0, np.intp)
        peaks = np.maximum.reduceat(values, self.starts)
        highest = np.flatnonzero(values == np.repeat(peaks, np.diff(self.starts, append=len(values))))
        return highest[np.searchsorted(highest, self.starts)]


def recorded_decisions(
    path: str,
    decisions: npt.NDArray[np.int64],
    equities: npt.NDArray[np.floating],
    classes: npt.NDArray[np.int8],
) -> RecordedDecisions:
    """The decisions in which there is something to choose, by ascending id.

    Each position has the id of its decision, its labelled equity in points for the player on roll there,
    who is the mover's opponent, and its class: three arrays (positions,).
    """
    order = np.argsort(decisions, kind="stable")
    _, plays = np.unique(decisions, return_counts=True)
    rows = order[np.repeat(plays > 1, plays)]
    starts = np.cumsum(plays[plays > 1]) - plays[plays > 1]
    gains = turned_equities(equities[rows].astype(np.float64))
    return RecordedDecisions(path, rows, gains, classes[rows], starts)
