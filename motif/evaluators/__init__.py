"""What a position is worth: static evaluators, weight files, lookahead."""

from motif.evaluators.evaluator import Evaluator
from motif.evaluators.lookahead import LookaheadEvaluator
from motif.evaluators.named import load_evaluator, load_static
from motif.evaluators.probabilities import OUTPUTS, Probabilities
from motif.evaluators.static import StaticEvaluator
from motif.evaluators.weight_file import WeightFile
from motif.evaluators.weight_reader import read_weight_file

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
