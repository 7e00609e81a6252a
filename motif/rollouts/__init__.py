"""Rollouts: mean results of many trials from a position, with standard errors."""

from motif.rollouts.comparison import ComparedPlay, Comparison, compare_plays
from motif.rollouts.rollout_evaluator import RolloutEvaluator, load_rollout
from motif.rollouts.rollout_settings import RolloutSettings
from motif.rollouts.trials import RolloutResult, rollout

__all__ = [
    "ComparedPlay",
    "Comparison",
    "RolloutEvaluator",
    "RolloutResult",
    "RolloutSettings",
    "compare_plays",
    "load_rollout",
    "rollout",
]
