"""Evaluation of positions: static evaluators, weight files and lookahead."""

from typing import TYPE_CHECKING

from motif.runtime.lazy_imports import lazy_names

if TYPE_CHECKING:
    from motif.evaluators.evaluator import Evaluator as Evaluator
    from motif.evaluators.known_players import load_evaluator as load_evaluator
    from motif.evaluators.known_players import load_static as load_static
    from motif.evaluators.lookahead import LookaheadEvaluator as LookaheadEvaluator
    from motif.evaluators.probabilities import OUTPUTS as OUTPUTS
    from motif.evaluators.probabilities import Probabilities as Probabilities
    from motif.evaluators.static import StaticEvaluator as StaticEvaluator
    from motif.evaluators.weight_file import WeightFile as WeightFile
    from motif.evaluators.weight_reader import read_weight_file as read_weight_file

# Listing the shipped weights must not wait for compiled code.
__getattr__, __dir__ = lazy_names(__name__, __file__)
