"""Neural nets as players, with onnxruntime, and fitted evaluators as ONNX graphs."""

from motif.evaluators.nets.export import exported, write_exported
from motif.evaluators.nets.net import CHECKERS_INPUTS, EVALUATOR_INPUTS, NetDescription, described
from motif.evaluators.nets.net_evaluators import graph_inputs, load_net, load_wildbg

__all__ = [
    "CHECKERS_INPUTS",
    "EVALUATOR_INPUTS",
    "NetDescription",
    "described",
    "exported",
    "graph_inputs",
    "load_net",
    "load_wildbg",
    "write_exported",
]
