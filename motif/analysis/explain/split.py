"""The exact split of a value difference over the terms of the weights.

Two positions may be evaluated by different weights (of another class) or by bearoff tables.  The difference
of x is then R(first) - R(second), which is split over terms, plus a rest due to the change of weights.  R is
the mean of both positions' weights, which makes the split antisymmetric.  If only one of the positions is a
race, R is the other's weights, because race weights ignore contact.  If only one is evaluated by weights, R
is its weights; if neither is, the whole difference is rest.

If plays are ranked by an equity made of probabilities, several heads are combined: x = artanh(E / 3) with
E = 2 win - 1 + gammons, each probability being the inverse link function of its own (for
wins, calibrated) raw sum.  Differences pass through these curves by their secants, which keeps the split
exact.

The change of a hidden unit, output weight times the change of its value, is one term.  An input's share is
output weight times secant times weight times step; the shares add up to the term.

Points and parameters overlap: "home points made" is also a sum over points, so weight can move between them
without changing any value.  To avoid large opposite amounts, the part of the point weights that parameters
can express is moved to the parameters, by least squares over points and numbers of checkers.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from motif.analysis.explain.valued_position import (
    SOURCE_FINISHED,
    SOURCE_TABLES,
    SOURCE_WEIGHTS,
    Form,
    FormInputs,
    TermChange,
    ValuedPosition,
    calibrated_raw,
    combined,
    looked_up,
)
from motif.board.packed import BOARD_SIZE, CHECKERS, OPPONENT_BAR, OWN_BAR, POINTS, TABLE_SHAPE, pack_many
from motif.evaluators import OUTPUTS
from motif.evaluators.hidden_unit_words import unit_term
from motif.evaluators.point_table import checkers_by_place
from motif.evaluators.probabilities import EQUITY_BOUND, EQUITY_WEIGHTS, RANKING_HEAD, WIN, switched_equities
from motif.evaluators.weight_file import PAIR, WeightFile
from motif.fitting.problem import PROBABILITY
from motif.parameters import ParameterSet
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES, RACE
from motif.runtime.arrays import FloatArray, IntArray

NamedTerms = tuple[tuple[str, float], ...]
_SAME = 1e-9
"""Difference of raw sums below which the secant is replaced by the tangent."""
_STEP = 1e-4
_INSIDE = EQUITY_BOUND * (1 - 1e-6)
"""Limit for equities of inconsistent probabilities, which may be out of bounds."""
_PROBES = 400
_TOLERANCE = 1e-4
_RARER = 0.6
"""Factor of the weight in the fit per further checker on a point."""
_RIDGE = 0.05
"""Ridge against large opposite weights of correlated parameters."""
CLASS = "class of position"
END, PROBABILITY_LIMITS = "end of the game", "limits of the chances"
"""Causes of a rest other than bearoff tables: another class, a finished game, limits of the probabilities."""
_NOTHING = 1e-12


@dataclass(frozen=True, eq=False)
class Split:
    """A split difference of x; `terms` add up to it, as do `by_parameter`, `places` and `rest`."""

    terms: NamedTerms
    """Name and contribution of every term that differs; pairs are ``blots*pip_lead``, hidden units
    ``contact unit NAME``; the effect of a change of weights comes last."""
    by_parameter: FloatArray
    """(n,): contributions by parameter, including shares of hidden units."""
    places: FloatArray
    """(2, 25): contributions by point, through hidden units, beyond the parameters."""
    rest: float
    cause: str
    """Cause of the rest."""

    @property
    def difference(self) -> float:
        """The sum of the terms."""
        return float(sum(value for _, value in self.terms))

    def converted(self, convert: Callable[[FloatArray], FloatArray]) -> "Split":
        """Return the split with all contributions converted by a linear function."""
        values = convert(np.array([value for _, value in self.terms])).tolist()
        terms = tuple((name, value) for (name, _), value in zip(self.terms, values, strict=True))
        rest = float(convert(np.array([self.rest]))[0])
        return Split(terms, convert(self.by_parameter), convert(self.places), rest, self.cause)


def split(
    weights: WeightFile, first: ValuedPosition, second: ValuedPosition, *, of_other_player: bool
) -> Split:
    """Split the difference of x of `first` and `second`, for the player on roll or for the other player."""
    judges = _judges(first, second)
    difference = first.x - second.x
    size = len(weights.parameters)
    terms: list[tuple[str, float]] = []
    by_parameter, places, total = np.zeros(size), np.zeros(TABLE_SHAPE[:2]), 0.0
    if judges:
        form = combined([_form(judge, first, second) for judge in judges], [1 / len(judges)] * len(judges))
        change = form.change(first.inputs, second.inputs)
        total = change.total
        terms += _named(change, form, weights)
        shared, shared_places = moved_to_parameters(
            change.table, weights.parameters, first.inputs, second.inputs
        )
        by_parameter, places = change.by_feature + shared, change.by_place - shared_places
    rest, cause = difference - total, _cause(first, second)
    if abs(rest) < _NOTHING:  # a rounding error
        rest = 0.0
    else:
        terms += _rest_terms(judges, rest, cause)
    pieces = Split(tuple(terms), by_parameter, places, rest, cause)
    return pieces.converted(switched_equities) if of_other_player else pieces


def effective_form(
    judge: ValuedPosition, forms: Mapping[str, Form], first: FormInputs, second: FormInputs
) -> Form:
    """Return the form whose value differs between two positions as x does, unless probabilities are limited.

    `forms` are the raw sums of the judge's heads that count in both positions.
    """
    raws = {head: (form.value(first), form.value(second)) for head, form in forms.items()}
    if judge.direct:
        ((head, form),) = forms.items()
        return form if head == RANKING_HEAD else combined([form], [secant(_calibration(judge), *raws[head])])
    factors, equities = {}, np.full(2, -1.0)
    for head, two in raws.items():
        weight = EQUITY_WEIGHTS[OUTPUTS.index(head)]
        before = _calibration(judge) if head == OUTPUTS[WIN] else float

        def chance(raw: float, before: Callable[[float], float] = before) -> float:
            return float(PROBABILITY.inverse_link(before(raw)))

        factors[head] = weight * secant(chance, *two)
        equities += weight * np.array([chance(raw) for raw in two])
    xs = np.arctanh(np.clip(equities, -_INSIDE, _INSIDE) / EQUITY_BOUND)
    outer = secant(lambda x: EQUITY_BOUND * math.tanh(x), *xs.tolist())
    return combined(list(forms.values()), [factors[head] / outer for head in forms])


def secant(curve: Callable[[float], float], first: float, second: float) -> float:
    """Return the slope of a curve between two points."""
    if abs(first - second) < _SAME:
        first, second = first - _STEP, second + _STEP
    return (curve(first) - curve(second)) / (first - second)


def _calibration(judge: ValuedPosition) -> Callable[[float], float]:
    return lambda raw: float(calibrated_raw(judge.knots, raw))


def _judges(first: ValuedPosition, second: ValuedPosition) -> list[ValuedPosition]:
    """Return the positions whose weights are used for both; see the module."""
    if SOURCE_FINISHED in (first.source, second.source):
        return []
    by_weights = [one for one in (first, second) if one.source == SOURCE_WEIGHTS]
    if len(by_weights) < 2 or first.class_name == second.class_name:
        return by_weights[:1]
    return [one for one in by_weights if one.class_name != CLASS_NAMES[RACE]] or by_weights


def _form(judge: ValuedPosition, first: ValuedPosition, second: ValuedPosition) -> Form:
    """Return the combined form of a judge between the two positions."""
    other = second if judge is first else first
    # A probability that is ruled out in one position does not depend on terms.
    both = judge.forms if judge.direct or other.direct or not other.forms else other.forms
    shared = {head: form for head, form in judge.forms.items() if head in both}
    return effective_form(judge, shared, first.inputs, second.inputs)


def _named(change: TermChange, form: Form, weights: WeightFile) -> Sequence[tuple[str, float]]:
    linear, pairs, names = change.linear, change.quadratic, weights.parameters.names
    terms = [(names[k], float(linear[k])) for k in np.flatnonzero(linear)]
    terms += [(f"{names[i]}{PAIR}{names[j]}", float(pairs[i, j])) for i, j in np.argwhere(pairs)]
    for of, part in zip(form.layers, change.units, strict=True):
        terms += [(unit_term(of.class_name, of.names[k]), float(part[k])) for k in np.flatnonzero(part)]
    return terms


def _cause(first: ValuedPosition, second: ValuedPosition) -> str:
    if SOURCE_FINISHED in (first.source, second.source):
        return END
    if SOURCE_TABLES in (first.source, second.source):
        return SOURCE_TABLES
    return CLASS if first.class_name != second.class_name else PROBABILITY_LIMITS


def _rest_terms(judges: list[ValuedPosition], rest: float, cause: str) -> list[tuple[str, float]]:
    """Return the rest as terms: biases and other weights, if both positions have one raw sum."""
    if len(judges) == 2 and all(judge.direct for judge in judges):
        first, second = (next(iter(judge.forms.values())).bias for judge in judges)
        bias = first - second
        return [(f"{cause}: bias", bias), (f"{cause}: weights", rest - bias)]
    return [(cause, rest)]


@dataclass(frozen=True, eq=False)
class _Sums:
    """The parameters of a set that are sums over the points."""

    numbers: IntArray
    """(k,): indices of the features."""
    tables: FloatArray
    """(2, 25, 16, k): contribution of the checkers on a point to each feature."""
    shares: FloatArray
    """(k, 800): matrix that maps a point table to the nearest weights."""


def moved_to_parameters(
    table: FloatArray, parameters: ParameterSet, to: FormInputs, since: FormInputs
) -> tuple[FloatArray, FloatArray]:
    """Return the change of the part of a point table (2, 25, 16) that parameters can express.

    Both results have the same sum: the change by parameter (n,), and by side and point (2, 25).
    """
    sums = _sums(parameters)
    by_parameter = np.zeros(len(parameters))
    if not table.any() or not len(sums.numbers):
        return by_parameter, np.zeros(table.shape[:2])
    # Not a matrix product: its last bits may depend on the machine's threads.
    weights = (sums.shares * table.ravel()).sum(axis=1)
    steps = looked_up(sums.tables, to.checkers) - looked_up(sums.tables, since.checkers)
    shared = weights * steps
    by_parameter[sums.numbers] = shared.sum(axis=(0, 1))
    return by_parameter, shared.sum(axis=-1)


@cache
def _sums(parameters: ParameterSet) -> _Sums:
    """Find the features that are sums over points, by measuring stacks and then whole boards."""
    sides, places, most = TABLE_SHAPE
    stacks = np.zeros((sides, places, most, BOARD_SIZE), np.int8)
    for place in range(places):
        stacks[0, place, :, place + 1] = np.arange(most)
        stacks[1, place, :, OWN_BAR - 1 - place] = -np.arange(most)
    empty = features(parameters, np.zeros((1, BOARD_SIZE), np.int8))[0].astype(np.float64)
    values = features(parameters, stacks.reshape(-1, BOARD_SIZE)).astype(np.float64)
    tables = (values - empty).reshape(*TABLE_SHAPE, len(parameters))
    boards = _probes()
    counts = checkers_by_place(pack_many(boards)).astype(np.int64)
    sums = looked_up(tables, counts).sum(axis=(1, 2))
    errors = np.abs(empty + sums - features(parameters, boards)).max(axis=0)
    numbers = np.flatnonzero(errors < _TOLERANCE)
    return _Sums(numbers, tables[..., numbers], _shares(tables[..., numbers]))


def _shares(tables: FloatArray) -> FloatArray:
    """Return the least squares solution for fitting a point table by `tables`, as a matrix."""
    rarity = _RARER ** (np.arange(CHECKERS + 1) / 2)
    rarity[0] = 0
    count = tables.shape[-1]
    rows = np.concatenate([(tables * rarity[:, None]).reshape(-1, count), _RIDGE * np.eye(count)])
    by_place = np.broadcast_to(rarity, TABLE_SHAPE).ravel()
    return np.asarray(np.linalg.pinv(rows)[:, : len(by_place)] * by_place)


def _probes() -> npt.NDArray[np.int8]:
    """Return random boards (n, 26)."""
    random = np.random.default_rng(0)
    boards = np.zeros((_PROBES, BOARD_SIZE), np.int8)
    for board in boards:
        points = 1 + random.permutation(POINTS)
        half = POINTS // 2
        for places, sign in (([*points[:half], OWN_BAR], 1), ([*points[half:], OPPONENT_BAR], -1)):
            stacks = random.choice(places[: random.integers(1, half + 1)], random.integers(1, CHECKERS + 1))
            np.add.at(board, stacks, np.int8(sign))
    return boards
