"""A raw sum written out: bias, linear and second-degree weights, point terms and patterns, in float64.

x = bias + sum w_i f_i + sum over i <= j of w_ij f_i f_j + what the checkers on each place add + what each
pattern adds, its amount times the squash of a sum of parameters and places.
Forms may be added and scaled, so that several heads, or the weights of two game plans, become one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from motif.evaluators.patterns import slopes_of_patterns, squash_patterns
from motif.evaluators.point_table import TABLE_SHAPE, tables_of
from motif.evaluators.weight_file import HeadWeights, Patterns

FloatArray = npt.NDArray[np.float64]
_SAME = 1e-9
"""Sums of a pattern nearer to each other than this are taken for the same: the secant becomes the tangent."""
_KEPT = 8
"""Patterns of so many classes are kept as they are computed with."""


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
    """(2, 25): the point terms by side and place."""
    patterns: tuple[FloatArray, ...]
    """(m,) of each class whose patterns the form has."""
    by_feature: FloatArray
    """(n,): everything but checkers on places, by the feature whose change makes it differ."""
    by_place: FloatArray
    """(2, 25): point terms, and what places bring through patterns; with `by_feature` all of the change."""
    table: FloatArray
    """(2, 25, 16): the point table that differs between the two positions as `by_place` does."""

    @property
    def total(self) -> float:
        """All of it."""
        by_patterns = sum(float(values.sum()) for values in self.patterns)
        return float(self.linear.sum() + self.quadratic.sum() + self.points.sum() + by_patterns)


@dataclass(frozen=True, eq=False)
class PatternTerms:
    """The m patterns of a class in a raw sum."""

    class_name: str
    names: tuple[str, ...]
    amounts: FloatArray
    """(m,)"""
    bias: FloatArray
    """(m,)"""
    inputs: FloatArray
    """(m, n)"""
    points: FloatArray
    """(2, 25, 16, m): by side, place and checkers there."""

    def sums(self, features: FloatArray, checkers: npt.NDArray[np.int64]) -> FloatArray:
        """The sums (rows, m), before they are squashed, of features (rows, n) and checkers (rows, 2, 25)."""
        # No matrix product: its last bits may depend on the machine's threads.
        sums = np.einsum("ri,mi->rm", features, self.inputs, optimize=False) + self.bias
        for side, place in np.argwhere(self.points.any(axis=(2, 3))).tolist():
            sums += self.points[side, place, checkers[:, side, place]]
        return sums

    def values(self, features: FloatArray, checkers: npt.NDArray[np.int64]) -> FloatArray:
        """What all of them add to the raw sums (rows,) of positions; arguments as those of `sums`."""
        return np.asarray((squash_patterns(self.sums(features, checkers)) * self.amounts).sum(axis=1))

    def secants(self, to: Seen, since: Seen) -> tuple[FloatArray, FloatArray]:
        """By how much each differs in the position `to` from the one in `since` (m,), and how much each rises
        for every unit of its sum (m,) on the way."""
        sums = self.sums(np.stack([to.features, since.features]), np.stack([to.checkers, since.checkers]))
        steps = sums[0] - sums[1]
        squashed = squash_patterns(sums)
        change = squashed[0] - squashed[1]
        near = np.abs(steps) < _SAME
        rises = np.where(near, slopes_of_patterns(sums.mean(axis=0)), change / np.where(near, 1, steps))
        return self.amounts * change, self.amounts * rises


@lru_cache(maxsize=_KEPT)
def pattern_terms(class_name: str, patterns: Patterns) -> PatternTerms:
    """The patterns of a class as a form has them."""
    return PatternTerms(
        class_name,
        patterns.names,
        patterns.amounts.astype(np.float64),
        patterns.bias.astype(np.float64),
        patterns.inputs.astype(np.float64),
        np.ascontiguousarray(np.moveaxis(tables_of(patterns.points), 0, -1), np.float64),
    )


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
    patterns: tuple[PatternTerms, ...] = ()
    """Those of a class, or of several."""

    @classmethod
    def of_head(cls, head: HeadWeights, *patterns: PatternTerms) -> "Form":
        """The weights of a head, as a weight file has them, and the patterns that add to it."""
        size = len(head.linear)
        quadratic = np.zeros((size, size))
        quadratic[head.pairs[:, 0], head.pairs[:, 1]] = head.quadratic
        points = np.zeros(TABLE_SHAPE) if head.points is None else tables_of(head.points)
        return cls(
            float(head.bias),
            head.linear.astype(np.float64),
            quadratic,
            np.asarray(points, np.float64),
            patterns,
        )

    def value(self, seen: Seen) -> float:
        """The raw sum of a position."""
        row = seen.features
        # Not matrix products: their last bits may depend on the machine's threads.
        by_features = (self.linear * row).sum() + (self.quadratic * np.outer(row, row)).sum()
        by_patterns = sum(float(of.values(row[None], seen.checkers[None])[0]) for of in self.patterns)
        places = _looked_up(self.points, seen).sum()
        return float(self.bias + by_features + places + by_patterns)

    def values(self, features: FloatArray, checkers: npt.NDArray[np.int64]) -> FloatArray:
        """The raw sums (n,) of positions with `features` (n, k) and `checkers` (n, 2, 25); see `Seen`."""
        # No matrix products here either; `optimize` would make some.
        pairs = np.einsum("ni,ij->nj", features, self.quadratic, optimize=False)
        places = np.take_along_axis(self.points[None], checkers[..., None], axis=-1)[..., 0]
        values = self.bias + (features * (self.linear + pairs)).sum(axis=1) + places.sum(axis=(1, 2))
        return np.asarray(sum((of.values(features, checkers) for of in self.patterns), values))

    def change(self, to: Seen, since: Seen) -> Change:
        """How every term differs in the position `to` from the one in `since`.

        The features' shares are exact: of a second-degree function the difference is the step times the
        slope half-way, so w f g - w f' g' = w (f - f') (g + g') / 2 + w (g - g') (f + f') / 2.  That of a
        squash is its secant times the difference of the sum, whose inputs so have their shares, each its
        weight times its step.
        """
        step, middle = to.features - since.features, (to.features + since.features) / 2
        slope = self.linear + ((self.quadratic + self.quadratic.T) * middle).sum(axis=1)
        products = np.outer(to.features, to.features) - np.outer(since.features, since.features)
        table, patterns = self.points, []
        for of in self.patterns:
            change, rises = of.secants(to, since)
            patterns.append(change)
            slope = slope + (rises[:, None] * of.inputs).sum(axis=0)
            table = table + (rises * of.points).sum(axis=-1)
        return Change(
            self.linear * step,
            self.quadratic * products,
            _looked_up(self.points, to) - _looked_up(self.points, since),
            tuple(patterns),
            slope * step,
            _looked_up(table, to) - _looked_up(table, since),
            table,
        )


def _looked_up(table: FloatArray, seen: Seen) -> FloatArray:
    """Entries (2, 25) of `table` (2, 25, 16) for the checkers there."""
    return np.take_along_axis(table, seen.checkers[..., None], axis=-1)[..., 0]


def combined(forms: Sequence[Form], factors: Sequence[float]) -> Form:
    """The sum of `forms`, each times its factor; there must be one at least."""
    pairs = list(zip(forms, factors, strict=True))
    patterns: dict[str, PatternTerms] = {}
    for form, factor in pairs:
        for of in form.patterns:
            known = patterns.get(of.class_name)
            amounts = factor * of.amounts + (0 if known is None else known.amounts)
            patterns[of.class_name] = replace(of, amounts=amounts)
    return Form(
        float(sum(factor * form.bias for form, factor in pairs)),
        np.sum([factor * form.linear for form, factor in pairs], axis=0),
        np.sum([factor * form.quadratic for form, factor in pairs], axis=0),
        np.sum([factor * form.points for form, factor in pairs], axis=0),
        tuple(patterns.values()),
    )
