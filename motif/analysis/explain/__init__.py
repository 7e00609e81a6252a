"""Why a play is better than another, and what makes up the value of a position."""

from motif.analysis.explain.explanation import (
    Explanation,
    PositionExplanation,
    explain_play,
    explain_position,
)

__all__ = ["Explanation", "PositionExplanation", "explain_play", "explain_position"]
