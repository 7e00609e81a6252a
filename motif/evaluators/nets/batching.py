"""Making a model that was stored for one position take many."""

from typing import Any

from motif.evaluators.nets.packages import onnx_package

_ROWS = "positions"


def freed_batch(model: bytes) -> bytes:
    """The ONNX file `model` with a first dimension of any size, wherever it says one.

    That is in the shapes of inputs and outputs, in shapes noted in between, and in the constant shapes
    of Reshape.  Raises `PlayerError` when the package onnx is missing.
    """
    onnx = onnx_package()
    proto = onnx.load_model_from_string(model)
    graph = proto.graph
    del graph.value_info[:]  # only notes, which the runtime makes anew
    for value in (*graph.input, *graph.output):
        dimensions = value.type.tensor_type.shape.dim
        if len(dimensions):
            dimensions[0].dim_param = _ROWS
    shapes = {node.input[1] for node in graph.node if node.op_type == "Reshape" and len(node.input) > 1}
    for tensor in graph.initializer:
        if tensor.name in shapes:
            tensor.CopyFrom(_freed(onnx, tensor))
    for node in graph.node:
        if node.op_type == "Constant" and node.output[0] in shapes:
            for attribute in node.attribute:
                if attribute.name == "value":
                    attribute.t.CopyFrom(_freed(onnx, attribute.t))
    return bytes(proto.SerializeToString())


def _freed(onnx: Any, tensor: Any) -> Any:
    """The constant shape `tensor` with 0, which copies the size of the input, for a first size of 1."""
    shape = onnx.numpy_helper.to_array(tensor).copy()
    if shape.size and shape[0] == 1:
        shape[0] = 0
    return onnx.numpy_helper.from_array(shape, tensor.name)
