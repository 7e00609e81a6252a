"""Positions played to their end: many trials, their mean and its standard error.

The package is also the function: `motif.rollout(position, evaluator)` is `motif.rollout.rollout`.
"""

import sys
from types import ModuleType
from typing import Any

from motif.rollout.comparison import ComparedPlay, Comparison, compare_plays
from motif.rollout.rollout_evaluator import RolloutEvaluator, load_rollout
from motif.rollout.rollout_settings import RolloutSettings
from motif.rollout.trials import RESULT_NAMES, RolloutResult, rollout


class _CallablePackage(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> RolloutResult:
        return rollout(*arguments, **options)


# The import system binds the package to `motif.rollout`, the name that the library gives the function.
sys.modules[__name__].__class__ = _CallablePackage

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
