"""The value of a position by a weight file: its source, weights and raw sum, in float64.

x = bias + sum w_i f_i + sum over i <= j of w_ij f_i f_j + the hidden units' contributions, each an output
weight times the activation (`squash_units`) of a sum of parameters and points.  Forms can be added and
scaled to combine several heads or the weights of two classes.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from motif.board.outcome import finished_points_many
from motif.board.packed import TABLE_SHAPE, Board, pack_many
from motif.board.position import Position
from motif.compiler.jit import kernel
from motif.evaluators import OUTPUTS, Evaluator, StaticEvaluator, WeightFile
from motif.evaluators.bearoff import covered_boards
from motif.evaluators.calibration import calibrated, calibrated_chances
from motif.evaluators.hidden_layer import secants_of_units, squash_units
from motif.evaluators.kernels import SOURCES
from motif.evaluators.point_table import checkers_by_place, tables_of
from motif.evaluators.probabilities import (
    EQUITY_BOUND,
    RANKING_HEAD,
    WIN,
    equity_of,
    equity_to_raw,
    probability_to_raw,
    write_consistent,
)
from motif.evaluators.static import weights_of
from motif.evaluators.weight_file import HeadWeights, HiddenLayer
from motif.fitting.problem import PROBABILITY
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES, RACE, classify_many
from motif.runtime.arrays import FloatArray, IntArray
from motif.runtime.errors import PlayerError

SOURCE_FINISHED, SOURCE_TABLES, SOURCE_WEIGHTS = SOURCES[:3]
"""Sources of a value."""
_WIN_NAME = OUTPUTS[WIN]

_KEPT = 8
"""Number of cached hidden layers."""


@dataclass(frozen=True, eq=False)
class FormInputs:
    """The inputs of a form for one position."""

    features: FloatArray
    """(n,): scaled features."""
    checkers: IntArray
    """(2, 25): checkers of the player on roll and the opponent by point, each in its own numbering."""


@dataclass(frozen=True, eq=False)
class TermChange:
    """The change of each term of a form between two positions."""

    linear: FloatArray
    """(n,)"""
    quadratic: FloatArray
    """(n, n): upper triangle."""
    units: tuple[FloatArray, ...]
    """(m,) for each hidden layer of the form."""
    by_feature: FloatArray
    """(n,): the changes due to each feature."""
    by_place: FloatArray
    """(2, 25): the changes due to points, through hidden units."""
    table: FloatArray
    """(2, 25, 16): the point table whose change is `by_place`."""

    @property
    def total(self) -> float:
        """The total change."""
        by_units = sum(float(values.sum()) for values in self.units)
        return float(self.linear.sum() + self.quadratic.sum() + by_units)


@dataclass(frozen=True, eq=False)
class UnitTerms:
    """The m hidden units of a class, as part of a raw sum."""

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

    @cached_property
    def places(self) -> list[tuple[int, int]]:
        """The sides and places whose points are not all 0."""
        return [(side, place) for side, place in np.argwhere(self.points.any(axis=(2, 3))).tolist()]

    def sums(self, features: FloatArray, checkers: IntArray) -> FloatArray:
        """Return the raw sums (rows, m) of features (rows, n) and checkers (rows, 2, 25)."""
        # Not a matrix product: its last bits may depend on the number of threads.
        sums = np.einsum("ri,mi->rm", features, self.inputs, optimize=False) + self.bias
        for side, place in self.places:
            sums += self.points[side, place, checkers[:, side, place]]
        return sums

    def values(self, features: FloatArray, checkers: IntArray) -> FloatArray:
        """Return the units' total contribution to raw sums (rows,); arguments as for `sums`."""
        return np.asarray((squash_units(self.sums(features, checkers)) * self.amounts).sum(axis=1))

    def secants(self, to: FormInputs, since: FormInputs) -> tuple[FloatArray, FloatArray]:
        """Return each unit's change (m,) from `since` to `to`, and its secant (m,)."""
        sums = self.sums(np.stack([to.features, since.features]), np.stack([to.checkers, since.checkers]))
        change = squash_units(sums[0]) - squash_units(sums[1])
        return self.amounts * change, self.amounts * secants_of_units(sums[0], sums[1])


@lru_cache(maxsize=_KEPT)
def unit_terms(class_name: str, head: str, layer: HiddenLayer) -> UnitTerms:
    """Return the hidden units of a class in the raw sum of `head`, a probability."""
    outputs = layer.added_to(head)
    assert outputs is not None
    return UnitTerms(
        class_name,
        layer.names,
        outputs.astype(np.float64),
        layer.bias.astype(np.float64),
        layer.inputs.astype(np.float64),
        np.ascontiguousarray(np.moveaxis(tables_of(layer.points), 0, -1), np.float64),
    )


@dataclass(frozen=True, eq=False)
class Form:
    """One raw sum of n features."""

    bias: float
    linear: FloatArray
    """(n,)"""
    quadratic: FloatArray
    """(n, n): upper triangle."""
    layers: tuple[UnitTerms, ...] = ()
    """Hidden units by class."""

    @classmethod
    def of_head(cls, head: HeadWeights, *layers: UnitTerms) -> "Form":
        """Return the raw sum of a head with its hidden units."""
        size = len(head.linear)
        quadratic = np.zeros((size, size))
        quadratic[head.pairs[:, 0], head.pairs[:, 1]] = head.quadratic
        return cls(float(head.bias), head.linear.astype(np.float64), quadratic, layers)

    def value(self, inputs: FormInputs) -> float:
        """Return the raw sum of a position."""
        return float(self.values(inputs.features[None], inputs.checkers[None])[0])

    def values(self, features: FloatArray, checkers: IntArray) -> FloatArray:
        """Return the raw sums (n,) of `features` (n, k) and `checkers` (n, 2, 25); see `FormInputs`."""
        # Not a matrix product, which `optimize` would use: its last bits may depend on the number of threads.
        pairs = np.einsum("ni,ij->nj", features, self.quadratic, optimize=False)
        values = self.bias + (features * (self.linear + pairs)).sum(axis=1)
        return np.asarray(sum((of.values(features, checkers) for of in self.layers), values))

    def change(self, to: FormInputs, since: FormInputs) -> TermChange:
        """Return the change of every term from `since` to `to`.

        The shares of features are exact.  For a pair, w f g - w f' g' = w (f - f') (g + g') / 2 +
        w (g - g') (f + f') / 2.  For a hidden unit, an input's share is secant times weight times step.
        """
        step, middle = to.features - since.features, (to.features + since.features) / 2
        slope = self.linear + ((self.quadratic + self.quadratic.T) * middle).sum(axis=1)
        products = np.outer(to.features, to.features) - np.outer(since.features, since.features)
        table, units = np.zeros(TABLE_SHAPE), []
        for of in self.layers:
            change, rises = of.secants(to, since)
            units.append(change)
            slope = slope + (rises[:, None] * of.inputs).sum(axis=0)
            table = table + (rises * of.points).sum(axis=-1)
        return TermChange(
            self.linear * step,
            self.quadratic * products,
            tuple(units),
            slope * step,
            looked_up(table, to.checkers) - looked_up(table, since.checkers),
            table,
        )


def looked_up(table: FloatArray, checkers: IntArray) -> FloatArray:
    """Return the entries (..., 2, 25) of a `table` (2, 25, 16) for the numbers of `checkers` (..., 2, 25).

    Further axes of the table come last.
    """
    sides, places = np.ogrid[: TABLE_SHAPE[0], : TABLE_SHAPE[1]]
    return np.asarray(table[sides, places, checkers])


def combined(forms: Sequence[Form], factors: Sequence[float]) -> Form:
    """Return the weighted sum of one or more `forms`."""
    pairs = list(zip(forms, factors, strict=True))
    layers: dict[str, UnitTerms] = {}
    for form, factor in pairs:
        for of in form.layers:
            known = layers.get(of.class_name)
            amounts = factor * of.amounts + (0 if known is None else known.amounts)
            layers[of.class_name] = replace(of, amounts=amounts)
    return Form(
        float(sum(factor * form.bias for form, factor in pairs)),
        np.sum([factor * form.linear for form, factor in pairs], axis=0),
        np.sum([factor * form.quadratic for form, factor in pairs], axis=0),
        tuple(layers.values()),
    )


@dataclass(frozen=True, eq=False)
class ValuedPosition:
    """A position and its value, as seen by the player on roll."""

    position: Position
    inputs: FormInputs
    class_name: str
    source: str
    """`SOURCE_WEIGHTS`, `SOURCE_TABLES` or `SOURCE_FINISHED`."""
    x: float
    """The raw sum that ranks plays: that of the head ``equity``, or of ``win`` if it is the only head;
    otherwise artanh of the equity of all probabilities, or of a table's value."""
    value: float
    """The inverse link function of x: equity, -3 to 3, or 2 win - 1 for weights with only a win head."""
    forms: Mapping[str, Form]
    """The raw sums that make up x, by head; empty if the value does not come from weights."""
    direct: bool
    """Whether x is the raw sum of one form, possibly calibrated."""
    knots: FloatArray
    """(k, 2): calibration of the win chance (`motif.evaluators.calibration`); none if k is 0."""


def explainable(evaluator: Evaluator) -> StaticEvaluator:
    """Return the evaluator, which has weights; raises `PlayerError` if its values cannot be explained."""
    if isinstance(evaluator, StaticEvaluator) and evaluator.weights is not None:
        return evaluator
    raise PlayerError(
        f"{evaluator.name!r} has no named terms to explain; weight files, bras and phase can be explained"
    )


def bound_of(evaluator: StaticEvaluator) -> float:
    """Return the largest value of a play: 3 points, or 1 for weights with only a win head."""
    return 1.0 if evaluator.model.win_only else EQUITY_BOUND


def both_races(first: ValuedPosition, second: ValuedPosition) -> bool:
    """Return whether both positions are races."""
    return first.class_name == second.class_name == CLASS_NAMES[RACE]


def valued_position(evaluator: StaticEvaluator, position: Position) -> ValuedPosition:
    """Return the value of `position` and how it is computed; raises `PlayerError` without weights."""
    weights = weights_of(evaluator)
    trace = evaluator.trace(position)
    packed = pack_many(position.board[None])
    inputs = FormInputs(
        features(weights.parameters, position.board[None])[0].astype(np.float64),
        checkers_by_place(packed)[0].astype(np.int64),
    )
    win_only, direct = evaluator.model.win_only, False
    forms: dict[str, Form] = {}
    knots = _knots(evaluator, trace.class_name)
    if trace.source != SOURCE_WEIGHTS:
        x = float(_raws(trace.probabilities[None], win_only)[0])
    else:
        heads = weights.heads_of(trace.class_name)
        ranking = _ranking_heads(evaluator, heads)
        direct = ranking == (_WIN_NAME if win_only else RANKING_HEAD,)
        forms = {
            name: _form(weights, trace.class_name, name) for name in ranking if direct or name in trace.raws
        }
        raws = {name: np.array([form.value(inputs)]) for name, form in forms.items()}
        x = float(_ranked_by(evaluator, raws, packed, knots)[0])
    value = bound_of(evaluator) * math.tanh(x)
    return ValuedPosition(position, inputs, trace.class_name, trace.source, x, value, forms, direct, knots)


def values_of(
    evaluator: StaticEvaluator,
    boards: Board,
    mixed: Callable[[FloatArray], FloatArray] = lambda rows: rows,
) -> FloatArray:
    """Return `ValuedPosition.value` of each of `boards` (n, 26): (n,).

    `mixed` may change the features (n, k), except for bearoff tables and finished games.  Raises
    `PlayerError` as `valued_position` does.
    """
    weights = weights_of(evaluator)
    packed = pack_many(boards)
    values = np.empty(len(boards))
    covered = covered_boards(evaluator.model.bearoff, boards)
    by_weights = ~covered & (finished_points_many(packed.view(np.int64)) == 0)
    for row in np.flatnonzero(~by_weights):
        values[row] = valued_position(evaluator, Position(boards[row])).value
    rows = mixed(features(weights.parameters, boards).astype(np.float64))
    checkers = checkers_by_place(packed).astype(np.int64)
    classes = classify_many(packed)
    for code in np.unique(classes[by_weights]).tolist():
        of_class = np.flatnonzero(by_weights & (classes == code))
        class_name = CLASS_NAMES[code]
        raws = {
            name: _form(weights, class_name, name).values(rows[of_class], checkers[of_class])
            for name in _ranking_heads(evaluator, weights.heads_of(class_name))
        }
        xs = _ranked_by(evaluator, raws, packed[of_class], _knots(evaluator, class_name))
        values[of_class] = [bound_of(evaluator) * math.tanh(x) for x in xs.tolist()]
    return values


def _form(weights: WeightFile, class_name: str, name: str) -> Form:
    """Return the raw sum of the head `name` in a class, with its hidden layer."""
    head, layer = weights.heads_of(class_name)[name], weights.hidden_of(class_name)
    if layer is None or name == RANKING_HEAD:
        return Form.of_head(head)
    return Form.of_head(head, unit_terms(class_name, name, layer))


def _knots(evaluator: StaticEvaluator, class_name: str) -> FloatArray:
    """Return the calibration (k, 2) of the win chance in a class."""
    tables = evaluator.model.knots
    return tables[CLASS_NAMES.index(class_name)] if len(tables) else np.zeros((0, 2))


def _ranking_heads(evaluator: StaticEvaluator, heads: Collection[str]) -> tuple[str, ...]:
    """Return the `heads` that determine x."""
    alone = _WIN_NAME if evaluator.model.win_only else RANKING_HEAD
    return (alone,) if alone in heads else tuple(name for name in OUTPUTS if name in heads)


def _ranked_by(
    evaluator: StaticEvaluator,
    raws: Mapping[str, FloatArray],
    packed: npt.NDArray[np.int8],
    knots: FloatArray,
) -> FloatArray:
    """Return x (n,) of the boards `packed` (n, 64) from the ranking heads' raw sums (n,)."""
    win_only = evaluator.model.win_only
    if set(raws) == {RANKING_HEAD}:
        return raws[RANKING_HEAD]
    if win_only and set(raws) == {_WIN_NAME}:
        return np.array([calibrated_raw(knots, raw) for raw in raws[_WIN_NAME].tolist()])
    rows = np.zeros((len(packed), len(OUTPUTS)))
    for head, sums in raws.items():
        rows[:, OUTPUTS.index(head)] = PROBABILITY.inverse_link(sums)
    write_consistent(packed, rows)
    if len(knots):
        rows[:, WIN] = calibrated_chances(knots, np.ascontiguousarray(rows[:, WIN]))
        write_consistent(packed, rows)
    return np.asarray(_raws(rows, win_only))


@kernel
def calibrated_raw(knots, raw):
    """Return the calibrated raw sum of a win chance; unchanged if k is 0."""
    return calibrated(knots, raw) if knots.shape[0] > 0 else raw


@kernel
def _raws(rows, win_only):
    """Return the raw sums (n,) of the value of five probabilities (n, 5)."""
    results = np.empty(rows.shape[0])
    for k in range(rows.shape[0]):
        results[k] = probability_to_raw(rows[k, WIN]) if win_only else equity_to_raw(equity_of(rows[k]))
    return results
