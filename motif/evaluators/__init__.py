"""Evaluation of positions: static evaluators, weight files and lookahead."""

from typing import TYPE_CHECKING

from motif.runtime.package import lazy_names

if TYPE_CHECKING:
    from motif.evaluators.evaluator import Evaluator
    from motif.evaluators.lookahead import LookaheadEvaluator
    from motif.evaluators.named import load_evaluator, load_static
    from motif.evaluators.probabilities import OUTPUTS, Probabilities
    from motif.evaluators.static import StaticEvaluator
    from motif.evaluators.weight_file import WeightFile
    from motif.evaluators.weight_reader import read_weight_file

# Listing the shipped weights must not wait for compiled code.
__getattr__ = lazy_names(
    __name__,
    {
        "motif.evaluators.evaluator": ("Evaluator",),
        "motif.evaluators.lookahead": ("LookaheadEvaluator",),
        "motif.evaluators.named": ("load_evaluator", "load_static"),
        "motif.evaluators.probabilities": ("OUTPUTS", "Probabilities"),
        "motif.evaluators.static": ("StaticEvaluator",),
        "motif.evaluators.weight_file": ("WeightFile",),
        "motif.evaluators.weight_reader": ("read_weight_file",),
    },
)

__all__ = [
    "OUTPUTS",
    "Evaluator",
    "LookaheadEvaluator",
    "Probabilities",
    "StaticEvaluator",
    "WeightFile",
    "load_evaluator",
    "load_static",
    "read_weight_file",
]
