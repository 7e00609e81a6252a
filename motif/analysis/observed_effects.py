"""The effect of a parameter on an evaluator's value, over positions from play.

Parameters overlap, so single weights may offset each other.  An effect is therefore the coefficient in a
regression of the evaluator's value on the parameter, with a frame of simple board facts held constant: the
number of each side's checkers in each quarter of the board and on the bar, both pip counts and each side's
home points, each with its square.  Everything else varies with the parameter as usual.  If the narrowest
frame determines the parameter (a pip lead, for example), a wider one is used.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from motif.analysis.evaluator_analysis import EvaluatorAnalysis, Judgement, judgement
from motif.board.packed import HOME, OWN_BAR, POINTS, Board
from motif.evaluators import WeightFile
from motif.evaluators.probabilities import bounds
from motif.fitting.problem import Link
from motif.parameters import ParameterSet
from motif.runtime.arrays import BoolArray, FloatArray, IntArray
from motif.runtime.parallel import one_thread

FRAMES = ("quarters", "both pip counts", "one pip count", "nothing")
"""What is held constant, narrowest frame first; keys in the phrase files."""
_DETERMINED = 0.9
"""Maximum share of a parameter's variance that a frame may explain."""
_ITSELF = 0.995
"""Minimum correlation at which a fact of the frame counts as the parameter itself and is not held
constant."""
_GROUPS = 12
"""Maximum number of steps of a curve."""
_MIN_POSITIONS = 40
"""Minimum number of positions of a step."""
_SINGULAR, _TINY = 1e-9, 1e-30
_QUARTERS = tuple(range(1, POINTS, HOME))
_SIDES = ("own", "opponent's")
_WIDE = tuple(f"{side} {fact}" for side in _SIDES for fact in ("bar", "home points"))
_BOTH_PIPS = tuple(f"{side} pips" for side in _SIDES)
_ALL_PIPS = "all pips"
_OTHER_PIPS = {"own": "opponent's pips", "opponent": "own pips"}


def _held(side: str) -> tuple[tuple[str, ...], ...]:
    """Return the facts that each of `FRAMES` holds constant for a parameter of `side`."""
    return (
        (*(f"{one} quarter {first}" for one in _SIDES for first in _QUARTERS), *_WIDE, *_BOTH_PIPS),
        (*_WIDE, *_BOTH_PIPS),
        (*_WIDE, _OTHER_PIPS.get(side, _ALL_PIPS)),
        (),
    )


@dataclass(frozen=True)
class Frame:
    """The board facts held constant."""

    number: int
    """Index into `FRAMES`."""
    held: tuple[str, ...]
    """Names of the facts."""

    @property
    def name(self) -> str:
        """Name of the frame in the phrase files."""
        return FRAMES[self.number]

    @property
    def pips(self) -> str:
        """Name of the pip count held constant, in the phrase files."""
        return next((name for name in (_ALL_PIPS, *_BOTH_PIPS) if name in self.held), "no pips")


@dataclass(frozen=True)
class CurveStep:
    """Positions with similar values of a parameter."""

    value: float
    """Mean of the feature."""
    worth: float
    """Mean value of the head with the frame held constant, in the head's unit."""
    share: float
    """Share of all positions."""


@dataclass(frozen=True, eq=False)
class Observed:
    """Positions from play, with the values of one head of an evaluator."""

    parameters: ParameterSet
    head: str
    boards: Board
    features: FloatArray
    """(n, p), scaled."""
    values: FloatArray
    """(n,), in the head's unit: points of equity, or a chance from 0 to 1."""
    gradient: FloatArray
    """(p,): mean derivative of the value with respect to each feature."""

    @cached_property
    def deviations(self) -> FloatArray:
        """Standard deviations of the features (p,)."""
        return np.asarray(self.features.std(axis=0))

    @cached_property
    def pips(self) -> FloatArray:
        """Pip counts of the player on roll (n,)."""
        return _pips(_own(self.boards))

    @cached_property
    def stages(self) -> tuple["Observed", "Observed"]:
        """The thirds of the positions with the highest and the lowest pip counts of the player on roll."""
        few, many = np.quantile(self.pips, [1 / 3, 2 / 3])
        return self._part(self.pips >= many), self._part(self.pips <= few)

    def gain(self, column: FloatArray, beside: Sequence[FloatArray]) -> float:
        """Return the effect of a unit of `column` (n,) on the value, with the columns `beside` held constant.

        The frame is chosen for the columns `beside`.
        """
        return self._gain(column, beside, self.frame(beside))

    def feature_gain(self, feature: int) -> float:
        """Return the effect of a unit of a feature on the value."""
        return self._gain(self.features[:, feature], (), self.feature_frame(feature))

    def feature_frame(self, feature: int) -> Frame:
        """Return the frame of a feature, which is the same for both sides."""
        parameter, names = self.parameters.parameters[feature], self.parameters.names
        column, least = self.features[:, feature], 0
        if parameter.twin in names:
            twin = names.index(parameter.twin)
            side = self.parameters.parameters[twin].side
            least = self.frame([self.features[:, twin]], side).number
        return self.frame([column], parameter.side, least)

    def frame(self, columns: Sequence[FloatArray], side: str = "both", least: int = 0) -> Frame:
        """Return the narrowest frame, from number `least` on, that determines none of the `columns`."""
        whole = [max(float(column.var()), _TINY) for column in columns]
        for number, names in list(enumerate(_held(side)))[least:]:
            frame = Frame(number, tuple(name for name in names if not self._among(name, columns)))
            left = self._left(np.column_stack(columns), frame)
            if not names or (left.var(axis=0) / whole >= 1 - _DETERMINED).all():
                return frame
        raise AssertionError("the last frame holds nothing")

    def _gain(self, column: FloatArray, beside: Sequence[FloatArray], frame: Frame) -> float:
        if np.ptp(column) == 0:
            return 0.0
        # Regression on the residuals has the same coefficient: Frisch and Waugh (1933), Lovell (1963).
        left = self._left(np.column_stack([column, *beside]), frame)
        return float(_least_squares(left, self.values[:, None])[0, 0])

    def companions(self, feature: int) -> FloatArray:
        """Return the change of the value through each feature (p,) when `feature` grows by a unit."""
        left = self._left(self.features[:, feature][:, None], self.feature_frame(feature))
        return np.asarray(self.gradient * _least_squares(left, self.features)[0])

    def curve(self, feature: int) -> tuple[CurveStep, ...]:
        """Return the mean value by steps of a feature, with the frame held constant."""
        column = self.features[:, feature]
        few = len(np.unique(column)) <= _GROUPS
        full = max(0 if few else len(column) / _GROUPS, min(_MIN_POSITIONS, len(column) / 2))
        groups = value_groups(column, full, min(_MIN_POSITIONS, full))
        member = np.equal.outer(groups, np.arange(groups.max() + 1)).astype(np.float64)
        left = self._left(member, self.feature_frame(feature))
        # The residuals of all groups add up to 0, so the others are measured from one of them.
        above = _least_squares(left[:, 1:], self.values[:, None])[:, 0]
        shares = member.mean(axis=0)
        worth = np.concatenate([[0.0], above])
        worth += self.values.mean() - shares @ worth
        means = member.T @ column / len(column) / shares
        return tuple(map(CurveStep, means.tolist(), worth.tolist(), shares.tolist()))

    @cached_property
    def _facts(self) -> dict[str, FloatArray]:
        """Standardised board facts by name, without constant ones."""
        facts: dict[str, FloatArray] = {}
        for side, boards in zip(_SIDES, (self.boards, -self.boards[:, ::-1]), strict=True):
            checkers = _own(boards)
            for first in _QUARTERS:
                facts[f"{side} quarter {first}"] = checkers[:, first : first + HOME].sum(axis=1)
            facts[f"{side} bar"] = checkers[:, OWN_BAR]
            facts[f"{side} pips"] = _pips(checkers)
            facts[f"{side} home points"] = (checkers[:, 1 : HOME + 1] > 1).sum(axis=1).astype(np.float64)
        facts[_ALL_PIPS] = facts["own pips"] + facts["opponent's pips"]
        return {name: (fact - fact.mean()) / fact.std() for name, fact in facts.items() if np.ptp(fact) > 0}

    def _among(self, name: str, columns: Sequence[FloatArray]) -> bool:
        """Whether a fact is constant or one of the `columns` itself."""
        fact = self._facts.get(name)
        if fact is None:
            return True
        centred = [column - column.mean() for column in columns]
        return any(
            abs(fact @ column) > _ITSELF * math.sqrt(len(fact) * float(column @ column) + _TINY)
            for column in centred
        )

    def _left(self, columns: FloatArray, frame: Frame) -> FloatArray:
        """Return the residuals of `columns` (n, c) regressed on the frame's facts and their squares."""
        basis = self._bases.get(frame.held)
        if basis is None:
            facts = [self._facts[name] for name in frame.held]
            held = np.column_stack([np.ones(len(self.values)), *facts, *(fact**2 - 1 for fact in facts)])
            # The small matrix of products is fast; linearly dependent facts are left out.
            sizes, vectors = np.linalg.eigh(held.T @ held)
            free = sizes > _SINGULAR * sizes[-1]
            basis = self._bases[frame.held] = held @ (vectors[:, free] / np.sqrt(sizes[free]))
        return np.asarray(columns - basis @ (basis.T @ columns))

    @cached_property
    def _bases(self) -> dict[tuple[str, ...], FloatArray]:
        """Orthonormal bases of frames by the facts they hold constant."""
        return {}

    def _part(self, rows: BoolArray) -> "Observed":
        return replace(self, boards=self.boards[rows], features=self.features[rows], values=self.values[rows])


@one_thread()
def observed(weights: WeightFile, boards: Board, head: str) -> Observed:
    """Return the values of `head` of `weights` on `boards` (n, 26)."""
    return _observed(weights.parameters, head, boards, judgement(weights, head, boards), 1.0)


@one_thread()
def observed_in(analysis: EvaluatorAnalysis) -> Observed:
    """Return the positions and values of an analysis."""
    factor = analysis.scale.raw_factor
    return _observed(analysis.parameters, analysis.head, analysis.boards, analysis.judged, factor)


def _observed(
    parameters: ParameterSet, head: str, boards: Board, judged: Judgement, raw_factor: float
) -> Observed:
    link, xs = Link(*bounds(head)), judged.raw / raw_factor
    gradient = (judged.slopes * (link.slope(xs) / raw_factor)[:, None]).mean(axis=0)
    return Observed(parameters, head, boards, judged.features, link.inverse_link(xs), gradient)


def _own(boards: Board) -> FloatArray:
    """Return the checkers of the positive side (n, 26)."""
    return np.asarray(np.maximum(boards, 0), np.float64)


def _pips(checkers: FloatArray) -> FloatArray:
    return np.asarray(checkers @ np.arange(checkers.shape[1]))


def _least_squares(design: FloatArray, targets: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.lstsq(design, targets, rcond=1e-9)[0])


def value_groups(column: FloatArray, full: float, least: float, *, frequent_apart: bool = False) -> IntArray:
    """Return the group of each position: successive values of `column` (n,), until a group is `full`.

    A last group of fewer than `least` positions joins the one before.  With `frequent_apart`, a value of
    `full` or more positions begins a new group.
    """
    _, which, counts = np.unique(column, return_inverse=True, return_counts=True)
    groups, held = np.zeros(len(counts), np.int64), 0
    for k, count in enumerate(counts.tolist()):
        begins = k > 0 and (held >= full or (frequent_apart and count >= full))
        if begins:
            groups[k:] += 1
            held = 0
        held += count
    if held < least and groups[-1] > 0:
        groups[groups == groups[-1]] -= 1
    return np.asarray(groups[which])
