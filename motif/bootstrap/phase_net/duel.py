"""A match of two players, as the share of games won, which is what the source reports."""

import math
from contextlib import closing
from functools import partial
from typing import Any

import numpy as np

from motif.players import Player
from motif.players.match import blocks_of_pairs, match_result, play_pairs
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import progress


def duel(first: Player, second: Player, games: int, *, seed: int, jobs: int | None) -> dict[str, Any]:
    """How `first` did: ``games``, ``wins``, ``win_share``, ``ppg`` and standard errors of the last two.

    Dice are paired, as in `play_match`; the errors are taken over pairs of games.
    """
    pairs = (games + 1) // 2
    with (
        progress(f"{first.name} against {second.name}", 2 * pairs) as advance,
        closing(
            run_ordered(partial(play_pairs, first, second, seed), blocks_of_pairs(pairs), jobs)
        ) as played,
    ):
        blocks = []
        for block in played:
            blocks.append(block)
            advance(block.size)
    points = np.concatenate(blocks)
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
