"""Export of a fitted evaluator as an ONNX graph, from features to consistent probabilities and equity.

Everything is computed in double precision, so the graph is more accurate than the compiled evaluator, which
sums in single precision. Rows of all classes go through the same multiplication; then each row's own class is
selected.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.board.packed import CHECKERS
from motif.compiler.simd import SQUASH_LIMIT
from motif.evaluators.nets.net import (
    BY_EQUITY,
    BY_WIN,
    CHECKERS_INPUTS,
    EVALUATOR_INPUTS,
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
    PROBABILITIES_OUTPUT,
)
from motif.evaluators.point_table import POINT_STEPS
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
from motif.evaluators.weight_file import HeadWeights, HiddenLayer, WeightFile
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.arrays import FloatArray, IntArray
from motif.runtime.errors import PlayerError
from motif.runtime.files import replacing

OPSET, IR_VERSION = 13, 7
"""Old enough for any recent runtime, new enough for GatherND with batches."""


class GraphBuilder:
    """An ONNX graph under construction; values are identified by name."""

    def __init__(self) -> None:
        self._onnx = onnx_package()
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}

    def constant(self, array: npt.ArrayLike) -> str:
        """Return the name of a constant; whole numbers are int64, and equal constants are stored once."""
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
        """Return `value` as numbers of the type `dtype`."""
        return self.add("Cast", value, output=output, to=self._element(dtype))

    def column(self, values: str, index: int) -> str:
        """Return one column (n, 1) of `values` (n, m)."""
        return self.add("Gather", values, self.constant([index]), axis=1)

    def model(
        self,
        name: str,
        inputs: dict[str, tuple[npt.DTypeLike, tuple[int | str, ...]]],
        outputs: dict[str, tuple[npt.DTypeLike, tuple[int | str, ...]]],
    ) -> bytes:
        """Return the checked ONNX file.

        `inputs` and `outputs` map names to type and shape; a text in a shape is a dimension of any size.
        """
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
_POINT_TERMS = CHECKERS_WIDTH * POINT_STEPS


def write_exported(weights: WeightFile, out: Path | str) -> Path:
    """Write the graph of `weights` to the file `out` atomically; return its path.

    In an existing folder the file is called ``evaluator.onnx``. Raises `FileError` if it cannot be written,
    `PlayerError` if the package onnx is missing.
    """
    model = exported(weights)
    path = Path(out)
    if path.is_dir():
        path /= DEFAULT_FILE
    with replacing(path) as temporary:
        temporary.write_bytes(model)
    return path


def exported(weights: WeightFile) -> bytes:
    """Return the ONNX file of `weights`.

    Its inputs are those of `graph_inputs`: `EVALUATOR_INPUTS`, or `CHECKERS_INPUTS` for weights with a hidden
    layer.

    Its outputs are ``probabilities`` float32 (n, 5), the consistent cumulative probabilities of the player on
    roll, and ``equity`` float64 (n,), which ranks plays: the equity of the equity head if the class has one,
    of the win head if the file has no other head, otherwise of the probabilities. A graph cannot contain the
    bearoff tables: if the file uses them, the graph returns the values of the weights, and the description
    says that programs must use the tables' values instead, as motif does. Raises `PlayerError` if the package
    onnx is missing, and for weights with a calibration, which a graph does not support.
    """
    if weights.calibration:
        raise PlayerError(
            f"{weights.name}: a calibration cannot be exported; export the weight file without it"
        )
    graph = GraphBuilder()
    numbers, heads = _numbered_heads(weights)
    reads_checkers = bool(weights.hidden_layers)
    win_only = weights.head_names() == (OUTPUTS[WIN],)
    finished, points = _finished(graph)
    raw, present = _raw_sums(graph, numbers, _head_sums(graph, heads, len(weights.parameters)))
    if reads_checkers:
        raw = graph.add("Add", raw, _hidden_sums(graph, weights))
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
    model = graph.model(
        "evaluator",
        _inputs(weights),
        {PROBABILITIES_OUTPUT: (np.float32, (_ROWS, len(OUTPUTS))), EQUITY_OUTPUT: (np.float64, (_ROWS,))},
    )
    kind = CHECKERS_INPUTS if reads_checkers else EVALUATOR_INPUTS
    bearoff = (BY_WIN if win_only else BY_EQUITY) if weights.bearoff else None
    return described(model, NetDescription(weights.name, kind, weights.parameters, bearoff))


def _numbered_heads(weights: WeightFile) -> tuple[npt.NDArray[np.int16], list[HeadWeights]]:
    """Return the number of each head by class (classes, heads), -1 if absent, and the heads.

    Classes may share heads.
    """
    numbers = np.full((len(CLASS_NAMES), len(HEADS)), -1, np.int16)
    known: dict[int, int] = {}
    heads: list[HeadWeights] = []
    for code, class_name in enumerate(CLASS_NAMES):
        for name, head in weights.heads_of(class_name).items():
            if id(head) not in known:
                known[id(head)] = len(heads)
                heads.append(head)
            numbers[code, HEADS.index(name)] = known[id(head)]
    return numbers, heads


def _inputs(weights: WeightFile) -> dict[str, tuple[npt.DTypeLike, tuple[int | str, ...]]]:
    inputs: dict[str, tuple[npt.DTypeLike, tuple[int | str, ...]]] = {
        FEATURES_INPUT: (np.float32, (_ROWS, len(weights.parameters))),
        CLASS_INPUT: (np.int64, (_ROWS,)),
        OFF_INPUT: (np.int64, (_ROWS, 2)),
    }
    if weights.hidden_layers:
        inputs |= {CHECKERS_INPUT: (np.int64, (_ROWS, CHECKERS_WIDTH))}
    return inputs


def _finished(graph: GraphBuilder) -> tuple[str, str]:
    """Return whether each game is finished, bool (n, 1), and the points of the player on roll (n, 1)."""
    column = graph.constant([1])
    beyond = graph.add("Sub", CLASS_INPUT, graph.constant([LAST_CLASS]))
    lost_or_won = graph.add("Unsqueeze", beyond, column)
    won = graph.add("Equal", graph.column(OFF_INPUT, 0), graph.constant([[CHECKERS]]))
    points = graph.add("Where", won, lost_or_won, graph.add("Neg", lost_or_won))
    finished = graph.add("Greater", lost_or_won, graph.constant([[0]]))
    return finished, graph.cast(points, np.float64)


def _head_sums(graph: GraphBuilder, heads: Sequence[HeadWeights], size: int) -> str:
    """Return the raw sums of all numbered heads (n, numbers)."""
    pairs, matrix = _weight_matrix(heads, size)
    # Features in rows, positions in columns: selecting whole rows is much faster.
    values = graph.add("Transpose", graph.cast(FEATURES_INPUT, np.float64), perm=[1, 0])
    low, high = (graph.add("Gather", values, graph.constant(side), axis=0) for side in pairs.T)
    terms = graph.add("Concat", values, graph.add("Mul", low, high), axis=0)
    bias = np.array([head.bias for head in heads])
    products = graph.add("MatMul", graph.constant(matrix), terms)
    return graph.add("Transpose", graph.add("Add", products, graph.constant(bias[:, None])), perm=[1, 0])


def _hidden_sums(graph: GraphBuilder, weights: WeightFile) -> str:
    """Return the contribution of each row's hidden layer to the raw sums of all heads (n, heads)."""
    points = (-1, CHECKERS_WIDTH, POINT_STEPS)
    layers = {name: of for name in CLASS_NAMES if (of := weights.hidden_of(name)) is not None}
    rows = [
        np.column_stack(
            [of.inputs, of.points.reshape(points).swapaxes(1, 2).reshape(len(of.names), _POINT_TERMS)]
        )
        for of in layers.values()
    ]
    bias = np.concatenate([of.bias for of in layers.values()]).astype(np.float64)
    values = graph.add("Transpose", graph.cast(FEATURES_INPUT, np.float64), perm=[1, 0])
    terms = graph.add("Concat", values, *_point_terms(graph), axis=0)
    products = graph.add("MatMul", graph.constant(np.concatenate(rows).astype(np.float64)), terms)
    sums = graph.add("Add", products, graph.constant(bias[:, None]))
    x = graph.add("Clip", sums, graph.constant(-SQUASH_LIMIT), graph.constant(SQUASH_LIMIT))
    square, whole = graph.add("Mul", x, x), graph.constant(27.0)
    above = graph.add("Mul", x, graph.add("Add", square, whole))
    below = graph.add("Add", graph.add("Mul", square, graph.constant(9.0)), whole)
    return _output_sums(graph, layers, graph.add("Transpose", graph.add("Div", above, below), perm=[1, 0]))


def _output_sums(graph: GraphBuilder, layers: Mapping[str, HiddenLayer], units: str) -> str:
    """Return the contributions of `units` (n, units of all classes) to the heads, each in its own class."""
    own = np.concatenate([np.full(len(of.names), CLASS_NAMES.index(name)) for name, of in layers.items()])
    outputs = np.zeros((len(own), len(HEADS)))
    outputs[:, : len(OUTPUTS)] = np.concatenate([of.outputs.T for of in layers.values()])
    classes = (own[None] == np.arange(len(CLASS_NAMES))[:, None]).astype(np.float64)
    counts = graph.add("Mul", units, graph.add("Gather", graph.constant(classes), _class(graph), axis=0))
    return graph.add("MatMul", counts, graph.constant(outputs))


def _point_terms(graph: GraphBuilder) -> list[str]:
    """Return the inputs that the weights of points apply to, (50, n) each.

    The inputs are whether a point has exactly 1, exactly 2 or at least 3 checkers, and the number above 3.
    """
    counts = graph.add("Transpose", CHECKERS_INPUT, perm=[1, 0])
    three = graph.constant(3)
    counted = [graph.add("Equal", counts, graph.constant(number)) for number in (1, 2)]
    counted.append(graph.add("Greater", counts, graph.constant(2)))
    counted.append(graph.add("Sub", graph.add("Max", counts, three), three))
    return [graph.cast(each, np.float64) for each in counted]


def _weight_matrix(heads: Sequence[HeadWeights], size: int) -> tuple[IntArray, FloatArray]:
    """Return the pairs (m, 2) of all heads, and the weights (numbers, features + m)."""
    pairs = np.unique(np.concatenate([head.pairs for head in heads]), axis=0).astype(np.int64)
    place = {tuple(pair): size + k for k, pair in enumerate(pairs.tolist())}
    matrix = np.zeros((len(heads), size + len(pairs)))
    for row, head in enumerate(heads):
        matrix[row, :size] = head.linear
        matrix[row, [place[tuple(pair)] for pair in head.pairs.tolist()]] = head.quadratic
    return pairs, matrix


def _raw_sums(graph: GraphBuilder, numbers: npt.NDArray[np.int16], sums: str) -> tuple[str, str]:
    """Return the raw sums of all heads (n, heads) of each row's class, and 1 where it has the head."""
    own = _class(graph)
    own_numbers = graph.add("Gather", graph.constant(np.maximum(numbers, 0)), own, axis=0)
    raw = graph.add("GatherElements", sums, own_numbers, axis=1)
    present = graph.constant((numbers >= 0).astype(np.float64))
    return raw, graph.add("Gather", present, own, axis=0)


def _class(graph: GraphBuilder) -> str:
    """Return each row's class (n,); a finished game has the last class, and its result is not used."""
    return graph.add("Min", CLASS_INPUT, graph.constant([LAST_CLASS]))


def _chances(graph: GraphBuilder, squashed: str, present: str) -> str:
    """Return the heads as probabilities (n, heads), 0 for missing heads."""
    half = graph.constant(0.5)
    return graph.add("Mul", graph.add("Mul", graph.add("Add", squashed, graph.constant(1.0)), half), present)


def _consistent(graph: GraphBuilder, chances: str) -> str:
    """Apply `motif.evaluators.probabilities.make_consistent` to probabilities of 0 to 1."""
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
    """Return the equity (n, 1) of the five `chances`."""
    total = graph.add("MatMul", chances, graph.constant(EQUITY_WEIGHTS[:, None]))
    return graph.add("Sub", total, graph.constant(1.0))


def _ranking_equity(graph: GraphBuilder, squashed: str, present: str, by_chances: str) -> str:
    """Return the equity head's equity (n, 1) if there is one, otherwise that of the probabilities."""
    by_head = graph.add("Mul", graph.column(squashed, EQUITY_HEAD), graph.constant(EQUITY_BOUND))
    has_head = graph.add("Greater", graph.column(present, EQUITY_HEAD), graph.constant(0.5))
    return graph.add("Where", has_head, by_head, by_chances)


def _agreeing(graph: GraphBuilder, chances: str, missing: str) -> str:
    """Change the equity of `chances` by `missing` if possible, like `probabilities.agree_with_equity`."""
    win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = (
        graph.column(chances, k) for k in range(len(OUTPUTS))
    )
    moved = graph.add("Add", win, graph.add("Mul", missing, graph.constant(0.5)))
    highest = graph.add("Sub", graph.constant(1.0), lose_gammon)
    win = graph.add("Min", highest, graph.add("Max", win_gammon, moved))
    return graph.add("Concat", win, win_gammon, win_backgammon, lose_gammon, lose_backgammon, axis=1)
