"""Contests with paired dice: money games, matches and tournaments."""

from motif.contests.contest import play_matches, play_money_games
from motif.contests.result import ContestResult, ContestRules
from motif.contests.tournament import TournamentResult, play_tournament

__all__ = [
    "ContestResult",
    "ContestRules",
    "TournamentResult",
    "play_matches",
    "play_money_games",
    "play_tournament",
]
