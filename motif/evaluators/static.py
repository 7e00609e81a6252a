"""Static evaluators: a compiled model, with no lookahead, and how a weight file becomes one."""

import hashlib
from pathlib import Path
from threading import local
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.moves import PlayBatch
from motif.board.outcome import finished_points_many
from motif.board.packed import Board, pack_many
from motif.board.position import Position, as_boards
from motif.evaluators.bearoff import bearoff_tables, no_tables
from motif.evaluators.calibration import knot_tables
from motif.evaluators.evaluator import Evaluator
from motif.evaluators.kernels import (
    ABSENT,
    SOURCES,
    WEIGHTS,
    evaluate_packed,
    score_by_tables,
    score_packed,
    stake_packed,
    trace_packed,
)
from motif.evaluators.model import (
    LEAST_ROW,
    MAX_KEPT,
    Model,
    Workspace,
    aligned,
    new_workspace,
    own_set_of,
    table_model,
    with_own_set,
)
from motif.evaluators.patterns import PatternTables, no_patterns, squash_patterns
from motif.evaluators.point_table import TABLE_SHAPE, pubeval_tables, simple_tables, tables_of
from motif.evaluators.probabilities import (
    EQUITY_BOUND,
    EQUITY_HEAD,
    HEADS,
    OUTPUTS,
    WIN,
    turned_equities,
)
from motif.evaluators.stakes import Stakes
from motif.evaluators.weight_file import HeadWeights, WeightFile
from motif.evaluators.weight_reader import read_weight_file
from motif.parameters.named_sets import OwnSet, features
from motif.parameters.position_class import CLASS_NAMES, PLAN_CLASS, PLANS, classify_many
from motif.parameters.sets import code_of
from motif.runtime.errors import PlayerError, SettingError
from motif.runtime.simd import LANES, WIDTH, blocks_of, tile_floats, tile_places


class Forms(NamedTuple):
    """Weights by number."""

    form: npt.NDArray[np.int16]
    """(slots, heads): number of a head's weights, or ABSENT; the slots are those of `slots_of`."""
    weights: tuple[HeadWeights, ...]
    """Each once, however many slots share them."""


def slots_of(weights: WeightFile) -> list[tuple[str, str | None]]:
    """Class and game plan of each slot: the classes, without a plan, then the plans where any has weights."""
    slots: list[tuple[str, str | None]] = [(class_name, None) for class_name in CLASS_NAMES]
    if weights.plans:
        slots += [(CLASS_NAMES[code], plan) for code, plan in zip(PLAN_CLASS, PLANS, strict=True)]
    return slots


def forms_of(weights: WeightFile) -> Forms:
    """The forms of a weight file: those of a class go to all its plans that have none of their own."""
    slots = slots_of(weights)
    form = np.full((len(slots), len(HEADS)), ABSENT, np.int16)
    numbers: dict[int, int] = {}
    heads: list[HeadWeights] = []
    for slot, (class_name, plan) in enumerate(slots):
        for head, form_weights in weights.heads_at(class_name, plan).items():
            if id(form_weights) not in numbers:
                numbers[id(form_weights)] = len(heads)
                heads.append(form_weights)
            form[slot, HEADS.index(head)] = numbers[id(form_weights)]
    return Forms(form, tuple(heads))


BEAROFF_SUFFIX = "+bearoff"
_thread = local()
# Intercept and slope of win = squash(intercept + slope * score) by class (contact, crashed, race), by
# least squares on 36 rollouts each of 25,000 positions of the player's own games.  RMSE of the win
# chance: simple .14, .12, .14.  PubEval was made to rank plays: on contact positions its score says a
# little of the chances (RMSE .22), elsewhere nothing, so that the contact line has to serve there.
_PUBEVAL_CALIBRATION = np.array([[0.8374, 0.0523]] * len(CLASS_NAMES))
_SIMPLE_CALIBRATION = np.array([[0.0729, 0.2468], [0.0931, 0.3825], [0.2634, 1.02]])


def thread_workspace() -> Workspace:
    """The calling thread's own memory for kernels."""
    space = getattr(_thread, "workspace", None)
    if space is None:
        space = _thread.workspace = new_workspace()
    return space


class Trace(NamedTuple):
    """How the value of one position came about, as the compiled evaluator recorded it."""

    source: str
    """One of `motif.evaluators.kernels.SOURCES`."""
    class_name: str
    plan: str | None
    """The game plan whose weights were read, if any has weights of its own."""
    raws: dict[str, float]
    """Raw sums of the heads that were read, in single precision."""
    probabilities: npt.NDArray[np.float64]
    """The five of the player on roll (5,), before they are rounded to float32."""


class StaticEvaluator(Evaluator):
    """Evaluates with a compiled model."""

    def __init__(self, name: str, model: Model, weights: WeightFile | None = None) -> None:
        self.name = name
        self.model = model
        self.weights = weights
        """The weight file behind the model, where there is one."""

    def __repr__(self) -> str:
        made_of = f": {len(self.weights.parameters)} parameters and their pairs" if self.weights else ""
        return f"<static evaluator {self.name}{made_of}>"

    def evaluate_many(self, positions: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """See `Evaluator.evaluate_many`."""
        packed = pack_many(as_boards(positions))
        rows = np.empty((len(packed), len(OUTPUTS)), np.float32)
        model, space = prepared(self.model)
        evaluate_packed(model, packed, space, rows)
        return rows

    def equity_many(self, boards: Board) -> npt.NDArray[np.float64]:
        """See `Evaluator.equity_many`."""
        if self.model.kind != WEIGHTS:
            return super().equity_many(boards)
        scores = np.empty(len(boards))
        model, space = prepared(self.model)
        score_packed(model, pack_many(as_boards(boards)), space, scores)
        return np.tanh(scores) * (1 if self.model.win_only else EQUITY_BOUND)

    def play_equities(self, before: Board, plays: PlayBatch) -> npt.NDArray[np.float64]:
        """See `Evaluator.play_equities`.  A point table is that of the class BEFORE the play."""
        if self.model.kind == WEIGHTS:
            return super().play_equities(before, plays)
        classes = classify_many(pack_many(before))[plays.decision]
        after, scores = pack_many(plays.boards), np.empty(len(plays.boards))
        score_by_tables(self.model, after, classes, scores)
        intercept, slope = self.model.calibration[classes].T
        points = finished_points_many(after.view(np.int64)).astype(np.float64)
        # As `trace_value` has it: the next player's score, squashed, and turned back to the mover.
        chances = np.tanh(intercept + slope * turned_equities(scores))
        return turned_equities(np.where(points, points, chances))

    def staked(self, stakes: Stakes, side: int = 0) -> Evaluator:
        """See `Evaluator.staked`.  A point table has one score for everything: it stays as it is."""
        return super().staked(stakes, side) if self.model.kind == WEIGHTS else self

    def cube_equities(self, boards: Board, stakes: Stakes, side: int) -> npt.NDArray[np.float64]:
        """See `Evaluator.cube_equities`."""
        pairs = np.empty((len(boards), 2))
        model, space = prepared(self.model)
        stake_packed(model, stakes, side, pack_many(as_boards(boards)), space, pairs)
        return pairs

    def trace(self, position: Position) -> Trace:
        """How the value of `position` comes about."""
        model, space = prepared(self.model)
        space.raws[:] = np.nan
        source, slot = trace_packed(model, pack_many(position.board[None]), space)
        plan = slot - len(CLASS_NAMES)
        return Trace(
            SOURCES[source],
            CLASS_NAMES[slot if plan < 0 else PLAN_CLASS[plan]],
            None if plan < 0 else PLANS[plan],
            {head: raw for head, raw in zip(HEADS, space.raws.tolist(), strict=True) if raw == raw},
            space.row.copy(),
        )

    def details(self, position: Position) -> dict[str, Any]:
        """The features of a weight file, the raw sums of the heads that it reads of them, the game plan whose
        weights these are and the squashed patterns, where the file has any; see `Evaluator.details`."""
        if self.weights is None:
            return super().details(position)
        parameters, trace = self.weights.parameters, self.trace(position)
        row = features(parameters, position.board[None])[0]
        facts: dict[str, Any] = {"features": dict(zip(parameters.names, row.tolist(), strict=True))}
        facts["raw"] = trace.raws
        patterns = self.weights.patterns_at(trace.class_name, trace.plan)
        if patterns is not None and (patterns.outputs is not None or HEADS[EQUITY_HEAD] in trace.raws):
            sums = patterns.sums(row[None], pack_many(position.board[None]))[0]
            facts["patterns"] = dict(zip(patterns.names, squash_patterns(sums).tolist(), strict=True))
        return {**facts, "plan": trace.plan} if trace.plan else facts


def weights_model(weights: WeightFile) -> Model:
    """The compiled form of a weight file; the parameters' scales are folded into the weights."""
    size, (form, forms) = len(weights.parameters), forms_of(weights)
    pointed = np.array([head.points is not None for head in forms])
    linear = np.zeros((len(forms), max(LEAST_ROW, LANES * blocks_of(size))), np.float32)
    tiles = np.zeros((len(forms), tile_floats(size)), np.float32)
    points = np.zeros((len(forms) if pointed.any() else 0, *TABLE_SHAPE), np.float32)
    scales = weights.parameters.scales
    for k, head in enumerate(forms):
        linear[k, :size] = head.linear * scales
        low, high = head.pairs[:, 0], head.pairs[:, 1]
        tiles[k, tile_places(high, low)] = head.quadratic * scales[low] * scales[high]
        if head.points is not None:
            points[k] = tables_of(head.points)
    model = Model() if weights.pre_filter is None else table_model(weights.pre_filter.tables())
    model = model._replace(
        kind=WEIGHTS,
        set_code=code_of(weights.parameters),
        blocks=blocks_of(size),
        win_only=weights.head_names() == (OUTPUTS[WIN],),
        form=form,
        quadratic=np.array([len(head.pairs) > 0 for head in forms]),
        pointed=pointed,
        bias=np.array([head.bias for head in forms], np.float32),
        linear=aligned(linear),
        tiles=aligned(tiles),
        points=aligned(points),
        knots=knot_tables(weights.calibration, [class_name for class_name, _ in slots_of(weights)]),
        bearoff=bearoff_tables() if weights.bearoff else no_tables(),
        places=weights.parameters.places,
        patterns=pattern_tables(weights),
    )
    return with_own_set(model, weights.parameters) if isinstance(weights.parameters, OwnSet) else model


def pattern_tables(weights: WeightFile) -> PatternTables:
    """The patterns of a weight file for kernels."""
    if not weights.patterns:
        return no_patterns()
    size, classes = len(weights.parameters), len(CLASS_NAMES)
    counts = {name: WIDTH * -(-len(of.names) // WIDTH) for name, of in weights.patterns_by_class.items()}
    longest = max(counts.values())
    padded = np.zeros(classes, np.int64)
    slots = slots_of(weights)
    amounts = np.zeros((len(slots) if weights.plan_amounts else classes, longest), np.float32)
    bias = np.zeros((classes, longest), np.float32)
    inputs = np.zeros((classes, size, longest), np.float32)
    points = np.zeros((classes, *TABLE_SHAPE, longest), np.float32)
    has_outputs = any(of.outputs is not None for of in weights.patterns.values())
    outputs = np.zeros((classes if has_outputs else 0, len(OUTPUTS), longest), np.float32)
    for class_name, patterns in weights.patterns_by_class.items():
        code, own = CLASS_NAMES.index(class_name), slice(len(patterns.names))
        padded[code] = counts[class_name]
        bias[code, own] = patterns.bias
        inputs[code, :, own] = (patterns.inputs * weights.parameters.scales).T
        points[code, ..., own] = np.moveaxis(tables_of(patterns.points), 0, -1)
        if patterns.outputs is not None:
            outputs[code, :, own] = patterns.outputs
    for row, (class_name, plan) in zip(amounts, slots, strict=False):
        if of := weights.patterns_at(class_name, plan):
            row[: len(of.names)] = of.amounts
    arrays = map(aligned, (amounts, bias, inputs, points, outputs))
    return PatternTables(padded, *arrays)


def prepared(model: Model) -> tuple[Model, Workspace]:
    """What kernels need to be fast: `model` with its arrays aligned, and this thread's memory."""
    linear, tiles, points = aligned(model.linear), aligned(model.tiles), aligned(model.points)
    return model._replace(linear=linear, tiles=tiles, points=points), thread_workspace()


def model_fingerprint(model: Model) -> str:
    """Identifies what a model plays: a hash over its arrays and numbers."""
    digest = hashlib.sha256()
    for name, value in model._asdict().items():
        # What the set has learned to measure since the fit changes nothing.
        if name == "places":
            continue
        # Bearoff tables are the same wherever there are any.
        known = len(value.rows) > 0 if name == "bearoff" else value
        if name == "patterns":
            # Models without any are called as before there were any.
            for array in value if len(value.counts) else ():
                digest.update(np.ascontiguousarray(array).tobytes())
            continue
        if name == "own_functions" and (own_set := own_set_of(model)) is not None:
            known = np.frombuffer(own_set.fingerprint.encode(), np.uint8)
        digest.update(np.ascontiguousarray(known).tobytes())
    return "sha256:" + digest.hexdigest()


def filtered(evaluator: StaticEvaluator, kept: int | None = None) -> StaticEvaluator:
    """The evaluator with its pre-filter of plays switched on (`kept` plays, or the file's own number).

    An evaluator without a pre-filter stays as it is.  Raises `SettingError` for a number out of range.
    """
    weights = evaluator.weights
    if weights is None or weights.pre_filter is None:
        return evaluator
    kept = weights.pre_filter.kept if kept is None else kept
    if not 1 <= kept <= MAX_KEPT:
        raise SettingError(f"a pre-filter keeps 1 to {MAX_KEPT} plays, not {kept}")
    return StaticEvaluator(evaluator.name, evaluator.model._replace(kept=kept), weights)


def with_bearoff(evaluator: StaticEvaluator) -> StaticEvaluator:
    """The evaluator with exact values wherever the bearoff tables reach, called ``NAME+bearoff``.

    Raises `PlayerError` for a point table, whose scores cannot be compared with values.
    """
    if evaluator.model.kind != WEIGHTS:
        raise PlayerError(f"{evaluator.name!r} ranks plays by a score; bearoff tables go with a weight file")
    model = evaluator.model._replace(bearoff=bearoff_tables())
    return StaticEvaluator(evaluator.name + BEAROFF_SUFFIX, model, evaluator.weights)


def without_calibration(evaluator: StaticEvaluator) -> StaticEvaluator:
    """The evaluator with the chances as its weights have them; itself where they are that already."""
    if not len(evaluator.model.knots):
        return evaluator
    model = evaluator.model._replace(knots=knot_tables({}, ()))
    return StaticEvaluator(evaluator.name, model, evaluator.weights)


def pubeval() -> StaticEvaluator:
    """Gerald Tesauro's PubEval (1993)."""
    return StaticEvaluator(
        "pubeval", table_model(pubeval_tables())._replace(calibration=_PUBEVAL_CALIBRATION)
    )


def simple() -> StaticEvaluator:
    """The hand-made start player."""
    return StaticEvaluator("simple", table_model(simple_tables())._replace(calibration=_SIMPLE_CALIBRATION))


def from_weight_file(path: Path | str, name: str | None = None) -> StaticEvaluator:
    """The evaluator of a weight file, called `name` or as its path; raises `WeightFileError`."""
    return from_weights(read_weight_file(path), name or str(path))


def from_weights(weights: WeightFile, name: str | None = None) -> StaticEvaluator:
    """The evaluator that plays by `weights`, called `name` or as they are."""
    return StaticEvaluator(name or weights.name, weights_model(weights), weights)
