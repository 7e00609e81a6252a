"""A raw sum written out: bias, linear weights, second-degree weights and point terms, in float64.

x = bias + sum w_i f_i + sum over i <= j of w_ij f_i f_j + what the checkers on each place add.
Forms may be added and scaled, so that several heads, or the weights of two game plans, become one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motif.evaluators.point_table import TABLE_SHAPE, tables_of
from motif.evaluators.weight_file import HeadWeights

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Seen:
    """What a form reads of one position."""

    features: FloatArray
    """(n,) scaled features."""
    checkers: npt.NDArray[np.int64]
    """(2, 25) checkers of the player on roll and of the other by place, each in his own numbering."""


@dataclass(frozen=True, eq=False)
class Change:
    """By how much each term of a form differs between two positions."""

    linear: FloatArray
    """(n,)"""
    quadratic: FloatArray
    """(n, n), in the upper triangle."""
    points: FloatArray
    """(2, 25): by side and place."""
    by_feature: FloatArray
    """(n,): the linear and second-degree terms by the feature whose change makes them differ."""

    @property
    def total(self) -> float:
        """All of it."""
        return float(self.linear.sum() + self.quadratic.sum() + self.points.sum())


@dataclass(frozen=True, eq=False)
class Form:
    """One raw sum of n features."""

    bias: float
    linear: FloatArray
    """(n,)"""
    quadratic: FloatArray
    """(n, n): zero below the diagonal."""
    points: FloatArray
    """(2, 25, 16): by side, place and checkers there; zero for none."""

    @classmethod
    def of_head(cls, head: HeadWeights) -> "Form":
        """The weights of a head, as a weight file has them."""
        size = len(head.linear)
        quadratic = np.zeros((size, size))
        quadratic[head.pairs[:, 0], head.pairs[:, 1]] = head.quadratic
        points = np.zeros(TABLE_SHAPE) if head.points is None else tables_of(head.points)
        return cls(
            float(head.bias), head.linear.astype(np.float64), quadratic, np.asarray(points, np.float64)
        )

    def value(self, seen: Seen) -> float:
        """The raw sum of a position."""
        row = seen.features
        # Not matrix products: their last bits may depend on the machine's threads.
        by_features = (self.linear * row).sum() + (self.quadratic * np.outer(row, row)).sum()
        return float(self.bias + by_features + self._places(seen).sum())

    def values(self, features: FloatArray, checkers: npt.NDArray[np.int64]) -> FloatArray:
        """The raw sums (n,) of positions with `features` (n, k) and `checkers` (n, 2, 25); see `Seen`."""
        # No matrix products here either; `optimize` would make some.
        pairs = np.einsum("ni,ij->nj", features, self.quadratic, optimize=False)
        places = np.take_along_axis(self.points[None], checkers[..., None], axis=-1)[..., 0]
        return np.asarray(
            self.bias + (features * (self.linear + pairs)).sum(axis=1) + places.sum(axis=(1, 2))
        )

    def change(self, to: Seen, since: Seen) -> Change:
        """How every term differs in the position `to` from the one in `since`.

        The features' shares are exact: of a second-degree function the difference is the step times the
        slope half-way, so w f g - w f' g' = w (f - f') (g + g') / 2 + w (g - g') (f + f') / 2.
        """
        step, middle = to.features - since.features, (to.features + since.features) / 2
        slope = self.linear + ((self.quadratic + self.quadratic.T) * middle).sum(axis=1)
        products = np.outer(to.features, to.features) - np.outer(since.features, since.features)
        return Change(
            self.linear * step,
            self.quadratic * products,
            self._places(to) - self._places(since),
            slope * step,
        )

    def _places(self, seen: Seen) -> FloatArray:
        """What the checkers on each place add (2, 25)."""
        return np.take_along_axis(self.points, seen.checkers[..., None], axis=-1)[..., 0]


def combined(forms: Sequence[Form], factors: Sequence[float]) -> Form:
    """The sum of `forms`, each times its factor; there must be one at least."""
    pairs = list(zip(forms, factors, strict=True))
    return Form(
        float(sum(factor * form.bias for form, factor in pairs)),
        np.sum([factor * form.linear for form, factor in pairs], axis=0),
        np.sum([factor * form.quadratic for form, factor in pairs], axis=0),
        np.sum([factor * form.points for form, factor in pairs], axis=0),
    )
