"""Why a play is better than another, and what makes up the value of a position."""

from motif.reports.explain.explanation import Explanation, explain_choice
from motif.reports.explain.single import PositionExplanation, explain_position

__all__ = ["Explanation", "PositionExplanation", "explain_choice", "explain_position"]
