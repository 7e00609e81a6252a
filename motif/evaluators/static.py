"""Static evaluators, which use a compiled model without lookahead, and their creation from weight files."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import local
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.movegen import ROLLS
from motif.board.moves import PlayBatch
from motif.board.outcome import finished_points_many
from motif.board.packed import TABLE_SHAPE, Board, pack_many
from motif.board.position import Position, PositionLike, as_boards
from motif.compiler.simd import GROUP, WIDTH, aligned
from motif.evaluators.bearoff import bearoff_tables, covered_boards, no_tables
from motif.evaluators.bearoff.lookup import TWO_SIDED_CHECKERS
from motif.evaluators.calibration import knot_tables
from motif.evaluators.cube_model import CubeModel
from motif.evaluators.evaluator import Evaluator
from motif.evaluators.filter_units import FilterTables, no_filter_units
from motif.evaluators.hidden_layer import HiddenTables, no_hidden_layers, read_only, squash_units
from motif.evaluators.kernels import (
    NO_ROWS,
    NO_SCORES,
    SOURCES,
    WEIGHTS_MODEL,
    best_equities,
    cube_pairs_packed,
    evaluate_packed,
    score_by_tables,
    trace_packed,
)
from motif.evaluators.model import (
    MAX_KEPT,
    MeasuredSet,
    Model,
    Workspace,
    new_workspace,
    own_set_of,
    table_model,
    with_own_set,
)
from motif.evaluators.point_table import pubeval_tables, simple_tables, tables_of
from motif.evaluators.probabilities import EQUITY_BOUND, EQUITY_HEAD, HEADS, OUTPUTS, WIN, switched_equities
from motif.evaluators.quadratic_forms import ABSENT, FormTables
from motif.evaluators.weight_file import FilterWeights, HeadWeights, WeightFile
from motif.evaluators.weight_reader import read_weight_file
from motif.parameters.named_sets import OwnSet, features
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.parameters.sets import code_of, of_player_on_roll
from motif.runtime.arrays import BoolArray, Float32Array, FloatArray, IntArray
from motif.runtime.errors import PlayerError, SettingError

BEAROFF_SUFFIX = "+bearoff"
_thread = local()
# Intercept and slope of win = squash(intercept + slope * score) by class (contact, crashed, race), by least
# squares on 36 rollouts each of 25,000 positions of the player's own games. The RMSE of the win probability
# of ``simple`` is .14, .12 and .14. PubEval was made to rank plays: its score predicts probabilities poorly
# in contact positions (RMSE .22) and not at all in others, so the contact line is used for all classes.
_PUBEVAL_CALIBRATION = np.array([[0.8374, 0.0523]] * len(CLASS_NAMES))
_SIMPLE_CALIBRATION = np.array([[0.0729, 0.2468], [0.0931, 0.3825], [0.2634, 1.02]])
_NO_MARGIN = 1 << 60
"""A margin that no two scores of a move filter exceed."""


def thread_workspace() -> Workspace:
    """Return the calling thread's working memory for kernels."""
    space = getattr(_thread, "workspace", None)
    if space is None:
        space = _thread.workspace = new_workspace()
    return space


class Trace(NamedTuple):
    """Trace of the evaluation of one position."""

    source: str
    """Source of the value, one of `motif.evaluators.kernels.SOURCES`."""
    class_name: str
    raws: dict[str, float]
    """Raw sums of the heads that were read, in single precision."""
    probabilities: FloatArray
    """The five probabilities (5,) of the player on roll, before rounding to float32."""


class StaticEvaluator(Evaluator):
    """An evaluator that uses a compiled model."""

    def __init__(
        self, name: str, model: Model, weights: WeightFile | None = None, *, gives_chances: bool = True
    ) -> None:
        self.name = name
        self._gives_chances = gives_chances
        self.model = model
        self.weights = weights
        """The weight file of the model, if there is one."""

    def __repr__(self) -> str:
        if self.weights is None:
            return f"<static evaluator {self.name}>"
        heads = [head for of_class in self.weights.classes.values() for head in of_class.values()]
        pairs = " and their pairs" if any(len(head.pairs) for head in heads) else ""
        return f"<static evaluator {self.name}: {len(self.weights.parameters)} parameters{pairs}>"

    @property
    def fingerprint(self) -> str:
        """See `Evaluator.fingerprint`."""
        return model_fingerprint(self.model)

    @property
    def gives_chances(self) -> bool:
        """See `Evaluator.gives_chances`."""
        return self._gives_chances

    def with_model(self, model: Model, name: str = "") -> "StaticEvaluator":
        """Return the evaluator with a changed `model` and, if given, another name."""
        return StaticEvaluator(name or self.name, model, self.weights, gives_chances=self._gives_chances)

    def evaluate_many(self, positions: npt.ArrayLike) -> Float32Array:
        """See `Evaluator.evaluate_many`."""
        packed = pack_many(as_boards(positions))
        rows = np.empty((len(packed), len(OUTPUTS)), np.float32)
        model, space = prepared(self.model)
        evaluate_packed(model, packed, space, NO_SCORES, rows)
        return rows

    def equity_many(self, boards: Board) -> FloatArray:
        """See `Evaluator.equity_many`."""
        if self.model.kind != WEIGHTS_MODEL:
            return super().equity_many(boards)
        scores = np.empty(len(boards))
        model, space = prepared(self.model)
        evaluate_packed(model, pack_many(as_boards(boards)), space, scores, NO_ROWS)
        if model.scores_equities:
            return scores
        return np.tanh(scores) * (1 if model.win_only else EQUITY_BOUND)

    def play_equities(self, before: Board, plays: PlayBatch) -> FloatArray:
        """See `Evaluator.play_equities`.  The point table is that of the class before the play."""
        if self.model.kind == WEIGHTS_MODEL:
            return super().play_equities(before, plays)
        classes = classify_many(pack_many(before))[plays.decision]
        after, scores = pack_many(plays.boards), np.empty(len(plays.boards))
        score_by_tables(self.model, after, classes, scores)
        intercept, slope = self.model.calibration[classes].T
        points = finished_points_many(after.view(np.int64)).astype(np.float64)
        # As in `trace_value`: the next player's score, squashed and converted to the mover's equity.
        chances = np.tanh(intercept + slope * switched_equities(scores))
        return switched_equities(np.where(points, points, chances))

    def roll_equities(self, boards: Board) -> FloatArray:
        """See `Evaluator.roll_equities`; the best plays are those that the move filter lets through."""
        model, space = prepared(filtered(self).model)
        values = np.empty((len(boards), len(ROLLS)))
        best_equities(model, pack_many(boards), space, values)
        return values

    def is_exact(self, boards: Board) -> BoolArray:
        """See `Evaluator.is_exact`: the two-sided bearoff tables are exact for few checkers."""
        if not len(self.model.bearoff.rows):
            return super().is_exact(boards)
        own, opponent = np.maximum(boards, 0).sum(axis=1), np.maximum(-boards, 0).sum(axis=1)
        exact = (own == 0) | (opponent == 0)
        few = np.flatnonzero(np.maximum(own, opponent) <= TWO_SIDED_CHECKERS)
        if len(few):  # The kernel takes a while to compile.
            exact[few] |= covered_boards(self.model.bearoff, boards[few])
        return exact

    def with_cube(self, cube_model: CubeModel, side: int = 0) -> Evaluator:
        """See `Evaluator.with_cube`; point tables, whose ranking ignores the cube, are unchanged."""
        return super().with_cube(cube_model, side) if self.model.kind == WEIGHTS_MODEL else self

    def cube_equities(self, boards: Board, cube_model: CubeModel, side: int) -> FloatArray:
        """See `Evaluator.cube_equities`."""
        pairs = np.empty((len(boards), 2))
        model, space = prepared(self.model)
        cube_pairs_packed(model, cube_model, side, pack_many(as_boards(boards)), space, pairs)
        return pairs

    def trace(self, position: Position) -> Trace:
        """Return the trace of the evaluation of `position`."""
        model, space = prepared(self.model)
        space.raws[:] = np.nan
        source, position_class = trace_packed(model, pack_many(position.board[None]), space)
        return Trace(
            SOURCES[source],
            CLASS_NAMES[position_class],
            {head: raw for head, raw in zip(HEADS, space.raws.tolist(), strict=True) if raw == raw},
            space.row.copy(),
        )

    def details(self, position: PositionLike) -> dict[str, object]:
        """Return the features of a weight file, raw sums and hidden units; see `Evaluator.details`."""
        position = Position.of(position)
        if self.weights is None:
            return super().details(position)
        parameters, trace = self.weights.parameters, self.trace(position)
        row = features(parameters, position.board[None])[0]
        facts: dict[str, Any] = {"features": dict(zip(parameters.names, row.tolist(), strict=True))}
        facts["raw"] = trace.raws
        hidden = self.weights.hidden_of(trace.class_name)
        if hidden is not None:
            units = squash_units(hidden.sums(row[None], pack_many(position.board[None]))[0])
            facts["hidden_units"] = dict(zip(hidden.names, units.tolist(), strict=True))
        return facts


def weights_model(weights: WeightFile) -> Model:
    """Return the compiled form of a weight file; the parameters' scales are folded into the weights."""
    classes, scales = [weights.heads_of(name) for name in CLASS_NAMES], weights.parameters.scales
    win_only = weights.head_names() == (OUTPUTS[WIN],) and not weights.hidden_layers
    model = Model()
    if weights.move_filter is not None:
        model = table_model(weights.move_filter.tables(), weights.move_filter.largest_output())
    steady = of_player_on_roll(weights.parameters)
    # The sums of the steady parameters are rarely added up. In the triangle of pairs, the last rows are the
    # longest, so these are theirs.
    leading = int(np.max(np.flatnonzero(steady), initial=-1)) + 1
    order = np.roll(np.arange(len(steady)), -leading)
    model = model._replace(
        kind=WEIGHTS_MODEL,
        measured=MeasuredSet(
            code_of(weights.parameters),
            places=weights.parameters.places,
            leading=leading,
            steady=steady_bits(steady[order]),
        ),
        win_only=win_only,
        scores_equities=not win_only and not any(HEADS[EQUITY_HEAD] in heads for heads in classes),
        ranking=form_tables(classes, OUTPUTS[:1] if win_only else HEADS[EQUITY_HEAD:], scales, order),
        chances=form_tables(classes, OUTPUTS, scales, order),
        knots=knot_tables(weights.calibration),
        bearoff=bearoff_tables() if weights.bearoff else no_tables(),
        hidden=hidden_tables(weights, order),
        filter_units=filter_tables(weights.move_filter, model.unit),
    )
    return with_own_set(model, weights.parameters) if isinstance(weights.parameters, OwnSet) else model


def steady_bits(steady: BoolArray) -> IntArray:
    """Return ``MeasuredSet.steady`` of a set."""
    bits = np.zeros_like(MeasuredSet().steady)
    for place in np.flatnonzero(steady).tolist():
        bits[place // GROUP] |= 1 << place % GROUP
    return bits


def form_tables(
    heads: Sequence[Mapping[str, HeadWeights]],
    names: Sequence[str],
    scales: npt.NDArray[np.floating[Any]],
    order: IntArray,
) -> FormTables:
    """Return the forms of the heads `names` of each class, for features multiplied by `scales` (n,)."""
    size, classes = len(scales), range(len(CLASS_NAMES))
    place = np.argsort(order)
    blocks, wide = -(-size // GROUP), WIDTH // GROUP
    bias = np.zeros((len(classes), len(names)))
    first, stride = np.full(bias.shape, ABSENT), np.zeros(bias.shape, np.int64)
    ends = []
    for code in classes:
        present = [head for head, name in enumerate(names) if name in heads[code]]
        paired = [head for head in present if len(heads[code][names[head]].pairs)]
        linear = [head for head in present if head not in paired]
        end = 0
        for kind in (paired, linear):
            first[code, kind] = end + np.arange(len(kind))
            stride[code, kind] = len(kind)
            end += wide * -(-blocks * len(kind) // wide)
        ends.append(end)
    groups = max(ends)
    tables = FormTables(
        bias,
        first,
        stride,
        np.zeros((len(classes), 1, groups * GROUP), np.float32),
        aligned(np.zeros((len(classes), groups, size, GROUP), np.float32)),
        np.full((len(classes), groups), blocks),
    )
    for code in classes:
        for head, name in enumerate(names):
            if first[code, head] == ABSENT:
                continue
            weights = heads[code][name]
            own = first[code, head] + stride[code, head] * np.arange(blocks)
            columns = (own[:, None] * GROUP + np.arange(GROUP)).reshape(-1)[:size]
            one, other = weights.pairs[:, 0], weights.pairs[:, 1]
            low, high = np.minimum(place[one], place[other]), np.maximum(place[one], place[other])
            bias[code, head] = np.float32(weights.bias)
            tables.linear[code, 0, columns] = (weights.linear * scales)[order]
            tables.rows[code, columns[low] // GROUP, high, columns[low] % GROUP] = (
                weights.quadratic * scales[one] * scales[other]
            )
            if len(low):
                tables.begins[code, own] = np.arange(blocks)
    return tables


def hidden_tables(weights: WeightFile, order: IntArray) -> HiddenTables:
    """Return the hidden layers of a weight file for kernels."""
    if not weights.hidden_layers:
        return no_hidden_layers()
    size, classes = len(weights.parameters), len(CLASS_NAMES)
    layers = {name: of for name in CLASS_NAMES if (of := weights.hidden_of(name)) is not None}
    counts = {name: WIDTH * -(-len(of.names) // WIDTH) for name, of in layers.items()}
    longest = max(counts.values())
    padded = np.zeros(classes, np.int64)
    bias = np.zeros((classes, longest), np.float32)
    inputs = np.zeros((classes, longest // GROUP, size, GROUP), np.float32)
    points = np.zeros((classes, *TABLE_SHAPE, longest), np.float32)
    outputs = np.zeros((classes, len(OUTPUTS), longest), np.float32)
    for class_name, layer in layers.items():
        code, own = CLASS_NAMES.index(class_name), slice(len(layer.names))
        padded[code] = counts[class_name]
        bias[code, own] = layer.bias
        units = np.arange(len(layer.names))
        inputs[code, units // GROUP, :, units % GROUP] = (layer.inputs * weights.parameters.scales)[:, order]
        points[code, ..., own] = np.moveaxis(tables_of(layer.points), 0, -1)
        outputs[code, :, own] = layer.outputs
    begins = np.zeros(longest // GROUP, np.int64)
    return read_only(padded, bias, inputs, begins, points, outputs)


def filter_tables(move_filter: FilterWeights | None, unit: float) -> FilterTables:
    """Return the hidden units of a move filter for kernels, whose scores are in a `unit`."""
    if move_filter is None or not move_filter.units:
        return no_filter_units()
    classes, contact = len(CLASS_NAMES), CLASS_NAMES[0]
    bias = np.zeros((classes, GROUP), np.float32)
    points = np.zeros((classes, *TABLE_SHAPE, GROUP), np.float32)
    outputs = np.zeros((classes, GROUP), np.float32)
    margins = np.full(classes, _NO_MARGIN)
    for code, name in enumerate(CLASS_NAMES):
        units = move_filter.units.get(name if name in move_filter.steps else contact)
        if units is not None:
            own = slice(len(units.bias))
            bias[code, own], outputs[code, own] = units.bias, units.outputs / unit
            margins[code] = int(min(units.margin / unit, _NO_MARGIN))
            # In kernels, the side that moved is the opponent of the player on roll.
            points[code, ..., own] = np.moveaxis(tables_of(units.points), 0, -1)[::-1]
    return FilterTables(bias, aligned(points), outputs, margins)


def prepared(model: Model) -> tuple[Model, Workspace]:
    """Return `model` with aligned arrays, even after pickling, and this thread's working memory."""
    ranking, chances = (form._replace(rows=aligned(form.rows)) for form in (model.ranking, model.chances))
    return model._replace(ranking=ranking, chances=chances), thread_workspace()


def model_fingerprint(model: Model) -> str:
    """Return a hash of the arrays and numbers of a model, which determine how it plays."""
    digest = hashlib.sha256()
    for name, value in model._asdict().items():
        # Bearoff tables, if present, are always the same.
        known = len(value.rows) > 0 if name == "bearoff" else value
        if name in ("ranking", "chances", "hidden", "filter_units"):
            # Layers without units add nothing to the hash.
            for array in value if len(value[0]) else ():
                digest.update(np.ascontiguousarray(array).tobytes())
            continue
        if name == "measured":
            # Parameters added to the set since the fit do not change how the model plays.
            known = value.code
            if (own_set := own_set_of(model)) is not None:
                digest.update(own_set.fingerprint.encode())
        digest.update(np.ascontiguousarray(known).tobytes())
    return "sha256:" + digest.hexdigest()


def filtered(evaluator: StaticEvaluator, kept: int | None = None, *, share: float = 1.0) -> StaticEvaluator:
    """Return the evaluator with its move filter switched on.

    It keeps at most `kept` plays, by default the file's own number times `share`, rounded up (see
    `motif.evaluators.kernels.filtered_plays`). An evaluator without a move filter is returned unchanged.
    Raises `SettingError` for a number out of range.
    """
    weights = evaluator.weights
    if weights is None or weights.move_filter is None:
        return evaluator
    if kept is None:
        kept = min(math.ceil(share * weights.move_filter.kept), MAX_KEPT)
    if not 1 <= kept <= MAX_KEPT:
        raise SettingError(f"a move filter keeps 1 to {MAX_KEPT} plays, not {kept}")
    return evaluator.with_model(evaluator.model._replace(kept=kept))


def weights_of(evaluator: Evaluator) -> WeightFile:
    """Return the weights of a static evaluator; raises `PlayerError` for an evaluator without weights."""
    weights = evaluator.weights if isinstance(evaluator, StaticEvaluator) else None
    if weights is None:
        raise no_weights(evaluator.name)
    return weights


def no_weights(name: str) -> PlayerError:
    """Return the error for a player without weights, where weights are needed."""
    return PlayerError(f"the player {name!r} has no weights: name a weight file, bras or phase")


def with_bearoff(evaluator: StaticEvaluator) -> StaticEvaluator:
    """Return the evaluator with exact values from the bearoff tables, called ``NAME+bearoff``.

    Raises `PlayerError` for a point table, whose scores cannot be compared with values.
    """
    if evaluator.model.kind != WEIGHTS_MODEL:
        raise PlayerError(f"{evaluator.name!r} ranks plays by a score: bearoff tables need a weight file")
    model = evaluator.model._replace(bearoff=bearoff_tables())
    return evaluator.with_model(model, evaluator.name + BEAROFF_SUFFIX)


def without_calibration(evaluator: StaticEvaluator) -> StaticEvaluator:
    """Return the evaluator without its calibration; the evaluator itself if it has none."""
    if not len(evaluator.model.knots):
        return evaluator
    model = evaluator.model._replace(knots=knot_tables({}))
    return evaluator.with_model(model)


def pubeval() -> StaticEvaluator:
    """Gerald Tesauro's PubEval (1993)."""
    model = table_model(pubeval_tables())._replace(calibration=_PUBEVAL_CALIBRATION)
    return StaticEvaluator("pubeval", model, gives_chances=False)


def simple() -> StaticEvaluator:
    """Return the hand-made start player."""
    model = table_model(simple_tables())._replace(calibration=_SIMPLE_CALIBRATION)
    return StaticEvaluator("simple", model, gives_chances=False)


def from_weight_file(path: Path | str, name: str | None = None) -> StaticEvaluator:
    """Return the evaluator of a weight file, called `name` or by its path; raises `WeightFileError`."""
    return from_weights(read_weight_file(path), name or str(path))


def from_weights(weights: WeightFile, name: str | None = None) -> StaticEvaluator:
    """Return the evaluator that plays by `weights`, called `name` or by the weights' own name."""
    return StaticEvaluator(name or weights.name, weights_model(weights), weights)
