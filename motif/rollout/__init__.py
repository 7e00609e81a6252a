"""Rollouts: playing a position to its end many times."""

from motif.rollout.rollout import RESULT_NAMES, RolloutResult, RolloutSettings, rollout

__all__ = ["RESULT_NAMES", "RolloutResult", "RolloutSettings", "rollout"]
