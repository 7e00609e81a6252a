"""Matches that were played, analysed: error rates, luck, cube mistakes, and the worst decisions explained."""

from motif.reports.match_analysis.analysis import WORST, MatchAnalysis, analyse_match
from motif.reports.match_analysis.page import match_page, write_match_page
from motif.reports.match_analysis.rows import opening, reading, sections, title
from motif.reports.match_analysis.text import worst_lines
from motif.reports.match_analysis.totals import PlayerAnalysis

__all__ = [
    "WORST",
    "MatchAnalysis",
    "PlayerAnalysis",
    "analyse_match",
    "match_page",
    "opening",
    "reading",
    "sections",
    "title",
    "worst_lines",
    "write_match_page",
]
