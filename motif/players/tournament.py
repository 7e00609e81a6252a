"""Tournaments: everyone against everyone, money games with paired dice."""

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.evaluators.probabilities import turned_equities
from motif.players.match import MatchResult, blocks_of_pairs, match_result, play_pairs
from motif.players.player import Player
from motif.players.ratings import Ratings, elo_ratings, points_ratings, softened
from motif.rollout.settings import check_count
from motif.runtime.errors import SettingError, shown
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import progress
from motif.runtime.seeds import check_seed
from motif.runtime.streams import derive_states

_UNUSED_BITS = np.uint64(11)
"""Seeds of pairings have 53 bits, so that every program reads them back from JSON."""


@dataclass(frozen=True)
class Pairing:
    """One match of a tournament."""

    first: int
    second: int
    """Numbers of the players, in the order in which they were given."""
    seed: int
    """That of `play_match`, which plays the same games again."""
    result: MatchResult
    """Of the first player."""


@dataclass(frozen=True)
class TournamentResult:
    """How everyone did against everyone."""

    names: tuple[str, ...]
    games: int
    """Of each pairing."""
    seed: int
    pairings: tuple[Pairing, ...]
    points: Ratings
    """In points a game."""
    elo: Ratings
    """From games won."""
    fit: float
    """Chance that points fit the ratings so badly if they add up; NaN with two players."""

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Numbers of the players, the best by points first."""
        return tuple(sorted(range(len(self.names)), key=lambda player: -self.points.values[player]))

    @cached_property
    def cross(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Points a game (k, k) of the row's player against the column's, and their standard errors."""
        ppg, se = np.full((2, len(self.names), len(self.names)), math.nan)
        for pairing in self.pairings:
            first, second, result = pairing.first, pairing.second, pairing.result
            ppg[first, second] = result.ppg
            se[first, second] = se[second, first] = result.se
        # 0.0 more, because -0.0 would show as -0.
        return np.where(np.isnan(ppg), turned_equities(ppg.T) + 0.0, ppg), se

    def totals(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Points a game (k,) against all others together, and their standard errors."""
        ppg, se = self.cross
        others = len(self.names) - 1
        np.fill_diagonal(own := ppg.copy(), 0.0)
        np.fill_diagonal(errors := se.copy(), 0.0)
        return own.sum(axis=1) / others, np.sqrt((errors**2).sum(axis=1)) / others

    def won(self) -> npt.NDArray[np.int64]:
        """Games won (k,)."""
        games = np.zeros(len(self.names), np.int64)
        for pairing in self.pairings:
            games[pairing.first] += pairing.result.wins
            games[pairing.second] += pairing.result.losses
        return games

    def as_dict(self) -> dict[str, Any]:
        """``table``: a row for each player, the best first; ``pairings``: all matches."""
        return {
            "players": list(self.names),
            "games": self.games,
            "seed": self.seed,
            "table": [self._row(player) for player in self.order],
            "points_fit_p_value": self.fit,
            "pairings": [
                {
                    "players": [self.names[it.first], self.names[it.second]],
                    "seed": it.seed,
                    **it.result.as_dict(),
                }
                for it in self.pairings
            ],
        }

    def _row(self, player: int) -> dict[str, Any]:
        ppg, se = self.cross
        total, total_se = self.totals()
        return {
            "player": self.names[player],
            "ppg": float(total[player]),
            "se": float(total_se[player]),
            "wins": int(self.won()[player]),
            "games": self.games * (len(self.names) - 1),
            "points_rating": float(self.points.values[player]),
            "points_rating_se": float(self.points.se[player]),
            "elo": float(self.elo.values[player]),
            "elo_se": float(self.elo.se[player]),
            "against": {
                self.names[other]: {"ppg": float(ppg[player, other]), "se": float(se[player, other])}
                for other in self.order
                if other != player
            },
        }


def play_tournament(
    players: Sequence[Player], games: int, *, seed: int = 0, jobs: int | None = None
) -> TournamentResult:
    """Let each of `players` play `games` money games (rounded up to an even number) against each other.

    The same `seed` gives the same result for any number of `jobs`.  Raises `SettingError` for fewer than
    2 players, one who is named twice, fewer than 2 games, and a seed that is none.
    """
    check_seed(seed)
    check_count("games", games, 2)
    names = tuple(player.name for player in players)
    if len(names) < 2:
        raise SettingError(f"a tournament needs at least 2 players, not {len(names)}")
    for name in names:
        if names.count(name) > 1:
            raise SettingError(f"the player {shown(name)} is named {names.count(name)} times")
    pairs = (games + 1) // 2
    meetings = [(*pair, pairing_seed(seed, *pair)) for pair in combinations(range(len(names)), 2)]

    def calls() -> Iterator[tuple[Player, Player, int, int, int]]:
        for first, second, chosen in meetings:
            for start, count in blocks_of_pairs(pairs):
                yield players[first], players[second], chosen, start, count

    found = []
    with (
        progress(f"{len(names)} players", 2 * pairs * len(meetings)) as advance,
        closing(run_ordered(play_pairs, calls(), jobs)) as played,
    ):
        for _ in meetings:
            points = []
            # A block of each pairing was asked for in this order.
            for _, block in zip(blocks_of_pairs(pairs), played, strict=False):
                points.append(block)
                advance(block.size)
            found.append(np.concatenate(points))
    return _result(names, seed, meetings, found)


def pairing_seed(seed: int, first: int, second: int) -> int:
    """The seed of `play_match` for the players with these numbers; other players do not change it."""
    return int(derive_states(seed, first, 1, second)[0] >> _UNUSED_BITS)


def _result(
    names: tuple[str, ...],
    seed: int,
    meetings: Sequence[tuple[int, int, int]],
    found: Sequence[npt.NDArray[np.int64]],
) -> TournamentResult:
    """From the points (pairs, 2) of the first player of each meeting."""
    players = np.array([meeting[:2] for meeting in meetings])
    points = np.array([softened(it.mean(axis=1), -1, 1) for it in found])
    share = np.array([softened((it > 0).mean(axis=1), 0, 1) for it in found])
    in_points, fit = points_ratings(len(names), players, *points.T)
    return TournamentResult(
        names,
        found[0].size,
        seed,
        tuple(Pairing(*meeting, match_result(it)) for meeting, it in zip(meetings, found, strict=True)),
        in_points,
        elo_ratings(len(names), players, *share.T),
        fit,
    )
