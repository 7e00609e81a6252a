"""Explanations of plays and of position values."""

from motif.analysis.explain.explanation import (
    Explanation,
    PositionExplanation,
    explain_play,
    explain_position,
)

__all__ = ["Explanation", "PositionExplanation", "explain_play", "explain_position"]
