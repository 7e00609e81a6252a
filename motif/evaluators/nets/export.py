"""A fitted evaluator as one ONNX graph: from features to consistent probabilities and the ranking equity.

Everything is computed in double precision, so that the graph is nearer to the weights than the
compiled evaluator, which adds up in single precision.  Rows of all classes go through the same
multiplication; then each row's own class is picked.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from motif.board.position import CHECKERS
from motif.evaluators.model import EQUITY_HEAD, HEADS
from motif.evaluators.nets.description import EVALUATOR_INPUTS, NetDescription, described
from motif.evaluators.nets.graph import GraphBuilder
from motif.evaluators.nets.graph_evaluator import (
    CLASS_INPUT,
    EQUITY_OUTPUT,
    FEATURES_INPUT,
    LAST_CLASS,
    OFF_INPUT,
    PROBABILITIES_OUTPUT,
)
from motif.evaluators.probabilities import (
    EQUITY_WEIGHTS,
    LOSE_BACKGAMMON,
    LOSE_GAMMON,
    OUTPUTS,
    WIN,
    WIN_BACKGAMMON,
    WIN_GAMMON,
)
from motif.evaluators.squash import EQUITY_BOUND
from motif.evaluators.weight_file import WeightFile
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.files import replacing

DEFAULT_FILE = "evaluator.onnx"

_ROWS = "positions"


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
    """The ONNX file of `weights`, which takes what `graph_inputs` gives.

    Outputs: ``probabilities`` float32 (n, 5), cumulative, of the player on roll, made consistent as
    everywhere; ``equity`` float64 (n,), by which plays are ranked: the equity head's where the class has
    one, the win chance's where the file has no head but ``win``, otherwise that of the probabilities.
    Raises `PlayerError` when the package onnx is missing.
    """
    graph = GraphBuilder()
    finished, points = _finished(graph)
    raw, present = _raw_sums(graph, weights)
    squashed = graph.add("Tanh", raw)
    chances = _consistent(graph, _chances(graph, squashed, present))
    certain = graph.cast(
        graph.add(
            "Greater",
            graph.add("Mul", points, graph.constant([[1.0, 1.0, 1.0, -1.0, -1.0]])),
            graph.constant([[0.0, 1.0, 2.0, 1.0, 2.0]]),
        ),
        np.float64,
    )
    graph.cast(graph.add("Where", finished, certain, chances), np.float32, PROBABILITIES_OUTPUT)
    if {head for heads in weights.classes.values() for head in heads} == {OUTPUTS[WIN]}:
        going, ended = graph.column(squashed, WIN), graph.add("Sign", points)
    else:
        going, ended = _ranking_equity(graph, squashed, present, chances), points
    equity = graph.add("Where", finished, ended, going)
    graph.add("Squeeze", equity, graph.constant([1]), output=EQUITY_OUTPUT)
    model = graph.model(
        "evaluator",
        {
            FEATURES_INPUT: (np.float32, (_ROWS, len(weights.parameters))),
            CLASS_INPUT: (np.int64, (_ROWS,)),
            OFF_INPUT: (np.int64, (_ROWS, 2)),
        },
        {
            PROBABILITIES_OUTPUT: (np.float32, (_ROWS, len(OUTPUTS))),
            EQUITY_OUTPUT: (np.float64, (_ROWS,)),
        },
    )
    return described(model, NetDescription(weights.name, EVALUATOR_INPUTS, weights.parameters))


def _finished(graph: GraphBuilder) -> tuple[str, str]:
    """Whether each game is finished, bool (n, 1), and then the points of the player on roll (n, 1)."""
    column = graph.constant([1])
    beyond = graph.add("Sub", CLASS_INPUT, graph.constant([LAST_CLASS]))
    lost_or_won = graph.add("Unsqueeze", beyond, column)
    won = graph.add("Equal", graph.column(OFF_INPUT, 0), graph.constant([[CHECKERS]]))
    points = graph.add("Where", won, lost_or_won, graph.add("Neg", lost_or_won))
    finished = graph.add("Greater", lost_or_won, graph.constant([[0]]))
    return finished, graph.cast(points, np.float64)


def _raw_sums(graph: GraphBuilder, weights: WeightFile) -> tuple[str, str]:
    """Raw sums of all heads (n, heads) by each row's class, and whether the class has the head, 0 or 1."""
    pairs, matrix, bias, present = _weight_matrix(weights)
    # Features in rows, positions in columns: picking whole rows is ten times as fast.
    values = graph.add("Transpose", graph.cast(FEATURES_INPUT, np.float64), perm=[1, 0])
    low, high = (graph.add("Gather", values, graph.constant(side), axis=0) for side in pairs.T)
    terms = graph.add("Concat", values, graph.add("Mul", low, high), axis=0)
    products = graph.add("MatMul", graph.constant(matrix), terms)
    sums = graph.add("Transpose", graph.add("Add", products, graph.constant(bias[:, None])), perm=[1, 0])
    by_class = graph.add("Reshape", sums, graph.constant([-1, len(CLASS_NAMES), len(HEADS)]))
    # A finished game takes the last class's weights; what comes of it is not used.
    chosen = graph.add("Min", CLASS_INPUT, graph.constant([LAST_CLASS]))
    place = graph.add("Unsqueeze", chosen, graph.constant([1]))
    raw = graph.add("GatherND", by_class, place, batch_dims=1)
    return raw, graph.add("Gather", graph.constant(present), chosen, axis=0)


def _weight_matrix(
    weights: WeightFile,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Pairs (m, 2) that any head has; weights (classes x heads, features + m); bias; heads present."""
    heads = [
        (code * len(HEADS) + HEADS.index(head), chosen)
        for code, class_name in enumerate(CLASS_NAMES)
        for head, chosen in weights.heads_of(class_name).items()
    ]
    size = len(weights.parameters)
    pairs = np.unique(np.concatenate([chosen.pairs for _, chosen in heads]), axis=0).astype(np.int64)
    place = {tuple(pair): size + k for k, pair in enumerate(pairs.tolist())}
    rows = len(CLASS_NAMES) * len(HEADS)
    matrix, bias, present = np.zeros((rows, size + len(pairs))), np.zeros(rows), np.zeros(rows)
    for row, chosen in heads:
        matrix[row, :size] = chosen.linear
        matrix[row, [place[tuple(pair)] for pair in chosen.pairs.tolist()]] = chosen.quadratic
        bias[row] = chosen.bias
        present[row] = 1
    return pairs, matrix, bias, present.reshape(len(CLASS_NAMES), len(HEADS))


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


def _ranking_equity(graph: GraphBuilder, squashed: str, present: str, chances: str) -> str:
    """The equity head's equity (n, 1) where there is one, otherwise that of the five `chances`."""
    by_chances = graph.add(
        "Sub",
        graph.add("MatMul", chances, graph.constant(EQUITY_WEIGHTS[:, None])),
        graph.constant(1.0),
    )
    by_head = graph.add("Mul", graph.column(squashed, EQUITY_HEAD), graph.constant(EQUITY_BOUND))
    has_head = graph.add("Greater", graph.column(present, EQUITY_HEAD), graph.constant(0.5))
    return graph.add("Where", has_head, by_head, by_chances)
