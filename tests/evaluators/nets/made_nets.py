"""Small hand-made ONNX nets, for tests of loading and of errors."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from motif.board.moves import legal_plays
from motif.board.position import Position
from motif.evaluators import Evaluator
from motif.parameters.phase_set import PHASE_SET


def made_model(
    nodes: Sequence[Any],
    constants: dict[str, np.ndarray],
    inputs: Sequence[tuple[str, Sequence[Any]]],
    output_shape: Sequence[Any],
    element: int = TensorProto.FLOAT,
) -> bytes:
    """A model with the output ``y``; its `inputs` and ``y`` have the same number type."""
    graph = helper.make_graph(
        list(nodes),
        "made",
        [helper.make_tensor_value_info(name, element, shape) for name, shape in inputs],
        [helper.make_tensor_value_info("y", element, output_shape)],
        [numpy_helper.from_array(values, name) for name, values in constants.items()],
    )
    model = helper.make_model(graph, ir_version=7, opset_imports=[helper.make_opsetid("", 13)])
    onnx.checker.check_model(model)
    return model.SerializeToString()


def linear_net(width: int, outputs: int, rows: Any = "n", scale: float = 0.1, seed: int = 0) -> bytes:
    """y = x A + b, for `rows` rows."""
    rng = np.random.default_rng(seed)
    constants = {
        "A": (scale * rng.normal(size=(width, outputs))).astype(np.float32),
        "b": np.linspace(0.4, 0.6, outputs, dtype=np.float32),
    }
    nodes = [helper.make_node("Gemm", ["x", "A", "b"], ["y"])]
    return made_model(nodes, constants, [("x", [rows, width])], [rows, outputs])


def linear_parts(model: bytes) -> tuple[np.ndarray, np.ndarray]:
    """A and b of such a net."""
    constants = {
        part.name: numpy_helper.to_array(part)
        for part in onnx.load_model_from_string(model).graph.initializer
    }
    return constants["A"], constants["b"]


def softmax_net(width: int, rows: Any = "n", seed: int = 0) -> bytes:
    """Six probabilities that add up to 1."""
    rng = np.random.default_rng(seed)
    constants = {"A": rng.normal(size=(width, 6)).astype(np.float32)}
    nodes = [
        helper.make_node("MatMul", ["x", "A"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["y"], axis=1),
    ]
    return made_model(nodes, constants, [("x", [rows, width])], [rows, 6])


def score_net(scale: float = 0.1, seed: int = 0) -> bytes:
    """One number for the features of the set ``phase``."""
    return linear_net(len(PHASE_SET), 1, scale=scale, seed=seed)


def one_ply_equity(base: Evaluator, position: Position) -> float:
    """The 1-ply equity of a position by `base`, over all 36 rolls."""
    equity = 0.0
    for first in range(1, 7):
        for second in range(1, 7):
            after = [play.position.board for play in legal_plays(position, (first, second))]
            equity += max(-base.equity_many(np.array(after))) / 36
    return equity
