"""A match of two players, as the share of games won, which is what the source reports."""

import math
from typing import Any

from motif.players import Player
from motif.players.match import match_points, match_result


def duel(first: Player, second: Player, games: int, *, seed: int, jobs: int | None) -> dict[str, Any]:
    """How `first` did: ``games``, ``wins``, ``win_share``, ``ppg`` and standard errors of the last two.

    Dice are paired, as in `play_match`; the errors are taken over pairs of games.
    """
    points = match_points(first, second, games, seed, jobs)
    result = match_result(points)
    shares = (points > 0).mean(axis=1)
    return {
        "games": result.games,
        "wins": result.wins,
        "win_share": float(shares.mean()),
        "win_share_se": float(shares.std(ddof=1) / math.sqrt(len(shares))),
        "ppg": result.ppg,
        "ppg_se": result.se,
    }
