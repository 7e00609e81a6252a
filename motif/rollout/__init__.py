"""Rollouts: positions played to their end in many trials, their mean and its standard error.

The package is also the function: `motif.rollout(position, evaluator)` is `motif.rollout.rollout`.
"""

from motif.rollout.comparison import ComparedPlay, Comparison, compare_plays
from motif.rollout.rollout_evaluator import RolloutEvaluator, load_rollout
from motif.rollout.rollout_settings import RolloutSettings
from motif.rollout.trials import RESULT_NAMES, RolloutResult, rollout
from motif.runtime.package import callable_package

callable_package(__name__)

__all__ = [
    "RESULT_NAMES",
    "ComparedPlay",
    "Comparison",
    "RolloutEvaluator",
    "RolloutResult",
    "RolloutSettings",
    "compare_plays",
    "load_rollout",
    "rollout",
]
