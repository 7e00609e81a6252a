"""Matches that were played, analysed: error rates, luck, cube mistakes, and the worst decisions explained."""

from motif.analysis.match.match_analysis import WORST, MatchAnalysis, analyse_match, over_all
from motif.analysis.match.totals import PlayerAnalysis

__all__ = [
    "WORST",
    "MatchAnalysis",
    "PlayerAnalysis",
    "analyse_match",
    "over_all",
]
