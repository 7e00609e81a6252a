"""A fitted evaluator as one ONNX graph: from features to consistent probabilities and the ranking equity.

Everything is computed in double precision, so that the graph is nearer to the weights than the
compiled evaluator, which adds up in single precision.  Rows of all classes go through the same
multiplication; then each row's own class is picked.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.board.packed import CHECKERS
from motif.evaluators.kernels import ABSENT
from motif.evaluators.nets.net import (
    BY_EQUITY,
    BY_WIN,
    EVALUATOR_INPUTS,
    PLANNED_INPUTS,
    NetDescription,
    described,
    onnx_package,
)
from motif.evaluators.nets.net_evaluators import (
    CHECKERS_INPUT,
    CHECKERS_WIDTH,
    CLASS_INPUT,
    EQUITY_OUTPUT,
    FEATURES_INPUT,
    LAST_CLASS,
    OFF_INPUT,
    PLAN_INPUT,
    PROBABILITIES_OUTPUT,
)
from motif.evaluators.patterns import PATTERN_LIMIT
from motif.evaluators.probabilities import (
    EQUITY_BOUND,
    EQUITY_HEAD,
    EQUITY_WEIGHTS,
    HEADS,
    LOSE_BACKGAMMON,
    LOSE_GAMMON,
    OUTPUTS,
    WIN,
    WIN_BACKGAMMON,
    WIN_GAMMON,
)
from motif.evaluators.static import forms_of, slots_of
from motif.evaluators.weight_file import FILTER_STEPS, HeadWeights, Patterns, WeightFile
from motif.parameters.position_class import CLASS_NAMES, NO_PLAN
from motif.runtime.errors import PlayerError
from motif.runtime.files import replacing

OPSET, IR_VERSION = 13, 7
"""Old enough for any runtime of the last years, new enough for GatherND with batches."""


class GraphBuilder:
    """Collects nodes; values are known by their names."""

    def __init__(self) -> None:
        self._onnx = onnx_package()
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}

    def constant(self, array: npt.ArrayLike) -> str:
        """The name of a value that never changes, whole numbers as int64; equal ones are kept once."""
        values = np.asarray(array)
        if values.dtype.kind == "i":
            values = values.astype(np.int64)
        key = f"{values.dtype.str}{values.shape}{values.tobytes()!r}"
        if key not in self._constants:
            name = f"constant{len(self._constants)}"
            self._constants[key] = self._onnx.numpy_helper.from_array(values, name)
        return str(self._constants[key].name)

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add one node with one output; return the output's name."""
        name = output or f"{operator.lower()}{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def cast(self, value: str, dtype: npt.DTypeLike, output: str | None = None) -> str:
        """`value` as numbers of the type `dtype`."""
        return self.add("Cast", value, output=output, to=self._element(dtype))

    def column(self, values: str, index: int) -> str:
        """One column (n, 1) of `values` (n, m)."""
        return self.add("Gather", values, self.constant([index]), axis=1)

    def model(
        self,
        name: str,
        inputs: dict[str, tuple[npt.DTypeLike, tuple[Any, ...]]],
        outputs: dict[str, tuple[npt.DTypeLike, tuple[Any, ...]]],
    ) -> bytes:
        """The checked ONNX file; `inputs` and `outputs` are type and shape by name, a text for any size."""
        helper = self._onnx.helper
        ends = [
            [helper.make_tensor_value_info(key, self._element(dtype), shape) for key, (dtype, shape) in side]
            for side in (inputs.items(), outputs.items())
        ]
        graph = helper.make_graph(self._nodes, name, *ends, initializer=list(self._constants.values()))
        model = helper.make_model(
            graph,
            producer_name="motif",
            ir_version=IR_VERSION,
            opset_imports=[helper.make_opsetid("", OPSET)],
        )
        self._onnx.checker.check_model(model)
        return bytes(model.SerializeToString())

    def _element(self, dtype: npt.DTypeLike) -> int:
        return int(self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


DEFAULT_FILE = "evaluator.onnx"
_ROWS = "positions"
_POINT_TERMS = CHECKERS_WIDTH * FILTER_STEPS


def write_exported(weights: WeightFile, out: Path | str) -> Path:
    """Write the graph of `weights` to the file `out`, whole or not at all; return where it lies.

    In a folder that exists it is called ``evaluator.onnx``.  Raises `FileError` where that cannot be
    written, `PlayerError` when the package onnx is missing.
    """
    model = exported(weights)
    path = Path(out)
    if path.is_dir():
        path /= DEFAULT_FILE
    with replacing(path) as temporary:
        temporary.write_bytes(model)
    return path


def exported(weights: WeightFile) -> bytes:
    """The ONNX file of `weights`, which takes what `graph_inputs` gives for the inputs in its description:
    `EVALUATOR_INPUTS`, or `PLANNED_INPUTS` for weights of game plans or points.

    Outputs: ``probabilities`` float32 (n, 5), cumulative, of the player on roll, made consistent as
    everywhere; ``equity`` float64 (n,), by which plays are ranked: the equity head's where the class has
    one, the win chance's where the file has no head but ``win``, otherwise that of the probabilities.
    Bearoff tables have no room in a graph: where the file asks for them the graph gives what its weights
    say, and the description tells programs to put the tables' values in its place, as motif does.
    Raises `PlayerError` when the package onnx is missing, and for weights with a calibration, which has no
    place in the graph.
    """
    if weights.calibration:
        raise PlayerError(
            f"{weights.name}: a calibration cannot be exported; export the weight file without it"
        )
    graph = GraphBuilder()
    form, heads = forms_of(weights)
    planned = bool(weights.plans or weights.patterns) or any(one.points is not None for one in heads)
    win_only = weights.head_names() == (OUTPUTS[WIN],)
    finished, points = _finished(graph)
    raw, present = _raw_sums(graph, form, _form_sums(graph, heads, len(weights.parameters), planned))
    if weights.patterns:
        raw = graph.add("Add", raw, _pattern_sums(graph, weights, len(form)))
    squashed = graph.add("Tanh", raw)
    chances = _consistent(graph, _chances(graph, squashed, present))
    if win_only:
        going, ended = graph.column(squashed, WIN), graph.add("Sign", points)
    else:
        by_chances = _equity_of(graph, chances)
        going, ended = _ranking_equity(graph, squashed, present, by_chances), points
        chances = _agreeing(graph, chances, graph.add("Sub", going, by_chances))
    certain = graph.cast(
        graph.add(
            "Greater",
            graph.add("Mul", points, graph.constant([[1.0, 1.0, 1.0, -1.0, -1.0]])),
            graph.constant([[0.0, 1.0, 2.0, 1.0, 2.0]]),
        ),
        np.float64,
    )
    graph.cast(graph.add("Where", finished, certain, chances), np.float32, PROBABILITIES_OUTPUT)
    equity = graph.add("Where", finished, ended, going)
    graph.add("Squeeze", equity, graph.constant([1]), output=EQUITY_OUTPUT)
    inputs: dict[str, tuple[npt.DTypeLike, tuple[Any, ...]]] = {
        FEATURES_INPUT: (np.float32, (_ROWS, len(weights.parameters))),
        CLASS_INPUT: (np.int64, (_ROWS,)),
        OFF_INPUT: (np.int64, (_ROWS, 2)),
    }
    if planned:
        inputs |= {PLAN_INPUT: (np.int64, (_ROWS,)), CHECKERS_INPUT: (np.int64, (_ROWS, CHECKERS_WIDTH))}
    model = graph.model(
        "evaluator",
        inputs,
        {
            PROBABILITIES_OUTPUT: (np.float32, (_ROWS, len(OUTPUTS))),
            EQUITY_OUTPUT: (np.float64, (_ROWS,)),
        },
    )
    kind = PLANNED_INPUTS if planned else EVALUATOR_INPUTS
    bearoff = (BY_WIN if win_only else BY_EQUITY) if weights.bearoff else None
    return described(model, NetDescription(weights.name, kind, weights.parameters, bearoff))


def _finished(graph: GraphBuilder) -> tuple[str, str]:
    """Whether each game is finished, bool (n, 1), and then the points of the player on roll (n, 1)."""
    column = graph.constant([1])
    beyond = graph.add("Sub", CLASS_INPUT, graph.constant([LAST_CLASS]))
    lost_or_won = graph.add("Unsqueeze", beyond, column)
    won = graph.add("Equal", graph.column(OFF_INPUT, 0), graph.constant([[CHECKERS]]))
    points = graph.add("Where", won, lost_or_won, graph.add("Neg", lost_or_won))
    finished = graph.add("Greater", lost_or_won, graph.constant([[0]]))
    return finished, graph.cast(points, np.float64)


def _form_sums(graph: GraphBuilder, forms: Sequence[HeadWeights], size: int, planned: bool) -> str:
    """Raw sums of all forms (n, forms)."""
    pairs, matrix = _weight_matrix(forms, size, planned)
    # Features in rows, positions in columns: picking whole rows is ten times as fast.
    values = graph.add("Transpose", graph.cast(FEATURES_INPUT, np.float64), perm=[1, 0])
    low, high = (graph.add("Gather", values, graph.constant(side), axis=0) for side in pairs.T)
    parts = [values, graph.add("Mul", low, high), *(_point_terms(graph) if planned else ())]
    terms = graph.add("Concat", *parts, axis=0)
    bias = np.array([one.bias for one in forms])
    products = graph.add("MatMul", graph.constant(matrix), terms)
    return graph.add("Transpose", graph.add("Add", products, graph.constant(bias[:, None])), perm=[1, 0])


def _pattern_sums(graph: GraphBuilder, weights: WeightFile, slots: int) -> str:
    """What the patterns of each row's class add to the raw sums of all heads (n, heads), of so many slots."""
    places, patterns = (-1, CHECKERS_WIDTH, FILTER_STEPS), weights.patterns_by_class
    rows = [
        np.column_stack(
            [of.inputs, of.points.reshape(places).swapaxes(1, 2).reshape(len(of.names), _POINT_TERMS)]
        )
        for of in patterns.values()
    ]
    bias = np.concatenate([of.bias for of in patterns.values()]).astype(np.float64)
    amounts = np.zeros((slots, len(bias)))
    ends = dict(zip(patterns, accumulate(len(of.names) for of in patterns.values()), strict=True))
    for row, (class_name, plan) in zip(amounts, slots_of(weights), strict=True):
        if of_slot := weights.patterns_at(class_name, plan):
            row[ends[class_name] - len(of_slot.names) : ends[class_name]] = of_slot.amounts
    values = graph.add("Transpose", graph.cast(FEATURES_INPUT, np.float64), perm=[1, 0])
    terms = graph.add("Concat", values, *_point_terms(graph), axis=0)
    products = graph.add("MatMul", graph.constant(np.concatenate(rows).astype(np.float64)), terms)
    sums = graph.add("Add", products, graph.constant(bias[:, None]))
    x = graph.add("Clip", sums, graph.constant(-PATTERN_LIMIT), graph.constant(PATTERN_LIMIT))
    square, whole = graph.add("Mul", x, x), graph.constant(27.0)
    above = graph.add("Mul", x, graph.add("Add", square, whole))
    below = graph.add("Add", graph.add("Mul", square, graph.constant(9.0)), whole)
    squashed = graph.add("Transpose", graph.add("Div", above, below), perm=[1, 0])
    if any(of.outputs is not None for of in patterns.values()):
        return _output_sums(graph, patterns, squashed)
    of_slot_rows = graph.add("Gather", graph.constant(amounts), _slot(graph, slots), axis=0)
    added = graph.add("Mul", squashed, of_slot_rows)
    total = graph.add("ReduceSum", added, graph.constant([1]), keepdims=1)
    return graph.add("Mul", total, graph.constant(np.eye(len(HEADS))[[EQUITY_HEAD]]))


def _output_sums(graph: GraphBuilder, patterns: Mapping[str, Patterns], squashed: str) -> str:
    """What squashed patterns (n, all of them), each of which counts in its own class, add to the heads."""
    own = np.concatenate([np.full(len(of.names), CLASS_NAMES.index(name)) for name, of in patterns.items()])
    outputs = np.zeros((len(own), len(HEADS)))
    outputs[:, : len(OUTPUTS)] = np.concatenate(
        [of.outputs.T for of in patterns.values() if of.outputs is not None]
    )
    classes = (own[None] == np.arange(len(CLASS_NAMES))[:, None]).astype(np.float64)
    known = graph.add("Min", CLASS_INPUT, graph.constant([LAST_CLASS]))
    counts = graph.add("Mul", squashed, graph.add("Gather", graph.constant(classes), known, axis=0))
    return graph.add("MatMul", counts, graph.constant(outputs))


def _point_terms(graph: GraphBuilder) -> list[str]:
    """What the numbers of a head's points multiply, (50, n) each: whether a place has exactly 1, exactly 2,
    at least 3 checkers, and how many above 3."""
    counts = graph.add("Transpose", CHECKERS_INPUT, perm=[1, 0])
    three = graph.constant(3)
    counted = [graph.add("Equal", counts, graph.constant(number)) for number in (1, 2)]
    counted.append(graph.add("Greater", counts, graph.constant(2)))
    counted.append(graph.add("Sub", graph.add("Max", counts, three), three))
    return [graph.cast(each, np.float64) for each in counted]


def _weight_matrix(
    forms: Sequence[HeadWeights], size: int, planned: bool
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Pairs (m, 2) that any form has, and weights (forms, features + m), or + 200 more for the points."""
    pairs = np.unique(np.concatenate([one.pairs for one in forms]), axis=0).astype(np.int64)
    place = {tuple(pair): size + k for k, pair in enumerate(pairs.tolist())}
    points = size + len(pairs)
    matrix = np.zeros((len(forms), points + (_POINT_TERMS if planned else 0)))
    for row, one in enumerate(forms):
        matrix[row, :size] = one.linear
        matrix[row, [place[tuple(pair)] for pair in one.pairs.tolist()]] = one.quadratic
        if one.points is not None:
            matrix[row, points:] = one.points.reshape(CHECKERS_WIDTH, FILTER_STEPS).T.ravel()
    return pairs, matrix


def _raw_sums(graph: GraphBuilder, form: npt.NDArray[np.int16], sums: str) -> tuple[str, str]:
    """Raw sums of all heads (n, heads) by each row's slot, and whether the slot has the head, 0 or 1."""
    slot = _slot(graph, len(form))
    numbers = graph.add("Gather", graph.constant(np.maximum(form, 0)), slot, axis=0)
    raw = graph.add("GatherElements", sums, numbers, axis=1)
    present = graph.constant((form != ABSENT).astype(np.float64))
    return raw, graph.add("Gather", present, slot, axis=0)


def _slot(graph: GraphBuilder, slots: int) -> str:
    """Each row's slot (n,), of as many as `forms_of` knows."""
    # A finished game takes the last class's weights; what comes of it is not used.
    slot = graph.add("Min", CLASS_INPUT, graph.constant([LAST_CLASS]))
    if slots == len(CLASS_NAMES):
        return slot
    has_plan = graph.add("Greater", PLAN_INPUT, graph.constant([NO_PLAN]))
    of_plan = graph.add("Add", PLAN_INPUT, graph.constant([len(CLASS_NAMES)]))
    return graph.add("Where", has_plan, of_plan, slot)


def _chances(graph: GraphBuilder, squashed: str, present: str) -> str:
    """The heads as probabilities (n, heads), 0 for those that are absent."""
    half = graph.constant(0.5)
    return graph.add("Mul", graph.add("Mul", graph.add("Add", squashed, graph.constant(1.0)), half), present)


def _consistent(graph: GraphBuilder, chances: str) -> str:
    """What `motif.evaluators.probabilities.make_consistent` does, for probabilities within 0 and 1."""
    none = graph.constant(0.0)

    def unless_off(side: int, head: int) -> str:
        off = graph.add("Greater", graph.column(OFF_INPUT, side), graph.constant([[0]]))
        return graph.add("Where", off, none, graph.column(chances, head))

    win = graph.column(chances, WIN)
    lose = graph.add("Sub", graph.constant(1.0), win)
    win_gammon = graph.add("Min", unless_off(1, WIN_GAMMON), win)
    lose_gammon = graph.add("Min", unless_off(0, LOSE_GAMMON), lose)
    five = dict.fromkeys(range(len(OUTPUTS)), "") | {
        WIN: win,
        WIN_GAMMON: win_gammon,
        WIN_BACKGAMMON: graph.add("Min", graph.column(chances, WIN_BACKGAMMON), win_gammon),
        LOSE_GAMMON: lose_gammon,
        LOSE_BACKGAMMON: graph.add("Min", graph.column(chances, LOSE_BACKGAMMON), lose_gammon),
    }
    return graph.add("Concat", *five.values(), axis=1)


def _equity_of(graph: GraphBuilder, chances: str) -> str:
    """Equity (n, 1) of the five `chances`."""
    total = graph.add("MatMul", chances, graph.constant(EQUITY_WEIGHTS[:, None]))
    return graph.add("Sub", total, graph.constant(1.0))


def _ranking_equity(graph: GraphBuilder, squashed: str, present: str, by_chances: str) -> str:
    """The equity head's equity (n, 1) where there is one, otherwise that of the chances."""
    by_head = graph.add("Mul", graph.column(squashed, EQUITY_HEAD), graph.constant(EQUITY_BOUND))
    has_head = graph.add("Greater", graph.column(present, EQUITY_HEAD), graph.constant(0.5))
    return graph.add("Where", has_head, by_head, by_chances)


def _agreeing(graph: GraphBuilder, chances: str, missing: str) -> str:
    """What `motif.evaluators.probabilities.agree_with_equity` does for chances that lack `missing` equity."""
    win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = (
        graph.column(chances, k) for k in range(len(OUTPUTS))
    )
    moved = graph.add("Add", win, graph.add("Mul", missing, graph.constant(0.5)))
    highest = graph.add("Sub", graph.constant(1.0), lose_gammon)
    win = graph.add("Min", highest, graph.add("Max", win_gammon, moved))
    return graph.add("Concat", win, win_gammon, win_backgammon, lose_gammon, lose_backgammon, axis=1)
