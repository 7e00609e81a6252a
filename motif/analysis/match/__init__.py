"""Match analysis: error rates, luck, cube mistakes and the worst decisions with reasons."""

from motif.analysis.match.decisions import PlayerAnalysis
from motif.analysis.match.match_analysis import (
    WORST,
    MatchAnalysis,
    analyse_match,
    check_jacoby,
    over_all,
)

__all__ = [
    "WORST",
    "MatchAnalysis",
    "PlayerAnalysis",
    "analyse_match",
    "check_jacoby",
    "over_all",
]
