"""Tournaments: a round robin with paired dice, and ratings by points per game and Elo."""

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.contests.matches import MATCHES
from motif.contests.money_games import GAMES
from motif.contests.pairs import Contest, blocks_of_pairs, joined, new_contest, play_pairs
from motif.contests.ratings import Ratings, elo_ratings, points_ratings, with_pseudocounts
from motif.contests.result import (
    ALL_PLAYED,
    EVEN_SHARE,
    MIN_PAIRS,
    TOO_FEW,
    ContestResult,
    ContestRules,
    PlayedPairs,
    contest_result,
    cubeless_figures,
    mean_of_pairs,
)
from motif.contests.sequential import ERROR_RATE, certain_interval
from motif.players.player import Player, PlayerLike, as_player
from motif.rollouts.rollout_settings import check_count
from motif.runtime.errors import SettingError, check_seed, shown
from motif.runtime.frames import Tabular
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import progress
from motif.runtime.streams import derive_states

_UNUSED_BITS = np.uint64(11)
"""Seeds of pairings have 53 bits, so that every program reads them back from JSON."""


@dataclass(frozen=True)
class Pairing:
    """The contest of two players in a tournament."""

    first: int
    second: int
    """Numbers of the players, in the order in which they were given."""
    seed: int
    """Seed with which `play_money_games` or `play_matches` plays the same again."""
    result: ContestResult
    """The first player's result."""
    ahead: float
    """Points per game of the first player, or share of matches won less one half; luck-adjusted or raw."""
    se: float | None
    """Standard error of `ahead`; None for too few games."""


@dataclass(frozen=True, repr=False)
class TournamentResult(Tabular):
    """Results and ratings of a round robin."""

    names: tuple[str, ...]
    games: int
    """Games, or matches, of each pairing."""
    length: int
    """Points of the matches; 0 for money games."""
    seed: int
    pairings: tuple[Pairing, ...]
    points: Ratings
    """In points per game; of matches in the share won."""
    elo: Ratings
    """From games, or matches, won."""
    fit: float
    """P-value of how well points fit the ratings, small where they do not add up; NaN with two players or too
    few games."""
    judge: str | None = None
    """Name of the player that valued the rolls, where points are adjusted for luck; else None."""

    @property
    def has_errors(self) -> bool:
        """Whether there are enough games for standard errors."""
        return self.games >= 2 * MIN_PAIRS

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Numbers of the players, the best by points first."""
        return tuple(sorted(range(len(self.names)), key=lambda player: -self.points.values[player]))

    @cached_property
    def cross(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return points per game (k, k) of the row's player against the column's, and their standard errors.

        These are NaN for too few games.
        """
        ppg, se = np.full((2, len(self.names), len(self.names)), math.nan)
        for pairing in self.pairings:
            first, second = pairing.first, pairing.second
            ppg[first, second] = pairing.ahead
            if pairing.se is not None:
                se[first, second] = se[second, first] = pairing.se
        # 0.0 more, because -0.0 would show as -0.
        return np.where(np.isnan(ppg), -ppg.T + 0.0, ppg), se

    def totals(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return points per game (k,) against all others together, and their standard errors."""
        ppg, se = self.cross
        others = len(self.names) - 1
        np.fill_diagonal(own := ppg.copy(), 0.0)
        np.fill_diagonal(errors := se.copy(), 0.0)
        return own.sum(axis=1) / others, np.sqrt((errors**2).sum(axis=1)) / others

    def won(self) -> npt.NDArray[np.int64]:
        """Count the games won (k,)."""
        games = np.zeros(len(self.names), np.int64)
        for pairing in self.pairings:
            games[pairing.first] += pairing.result.wins
            games[pairing.second] += pairing.result.losses
        return games

    def to_dict(self) -> dict[str, Any]:
        """Return the results, as JSON has them.

        The ``table`` has a row for each player, the best first; ``without_luck`` names the judge, where
        points and their ratings are adjusted for luck.
        """
        played = {"matches": self.games, "length": self.length} if self.length else {"games": self.games}
        return {
            "players": list(self.names),
            **played,
            "seed": self.seed,
            **({"without_luck": self.judge} if self.judge else {}),
            "table": [self._row(player) for player in self.order],
            "points_fit_p_value": _known(self.fit),
            **({} if self.has_errors else {"note": TOO_FEW}),
            "pairings": [
                {
                    "players": [self.names[it.first], self.names[it.second]],
                    "seed": it.seed,
                    **it.result.to_dict(),
                }
                for it in self.pairings
            ],
        }

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each player, the best first."""
        rows = [self._row(player) for player in self.order]
        return [{name: value for name, value in row.items() if name != "against"} for row in rows]

    def _row(self, player: int) -> dict[str, Any]:
        ppg, se = self.cross
        total, total_se = self.totals()
        what, played, even = ("mwc", "matches", EVEN_SHARE) if self.length else ("ppg", "games", 0.0)
        rating = f"{'mwc' if self.length else 'points'}_rating"
        return {
            "player": self.names[player],
            what: float(total[player]) + even,
            "se": _known(total_se[player]),
            "wins": int(self.won()[player]),
            played: self.games * (len(self.names) - 1),
            rating: float(self.points.values[player]),
            f"{rating}_se": _known(self.points.se[player]),
            "elo": float(self.elo.values[player]),
            "elo_se": _known(self.elo.se[player]),
            "against": {
                self.names[other]: {what: float(ppg[player, other]) + even, "se": _known(se[player, other])}
                for other in self.order
                if other != player
            },
        }


def _known(value: float) -> float | None:
    """Return `value` as JSON has it; None for NaN."""
    return None if math.isnan(value) else float(value)


def play_tournament(
    players: Sequence[PlayerLike],
    games: int | None = None,
    *,
    length: int = 0,
    cube: bool | None = None,
    jacoby: bool = True,
    luck_adjusted: bool | PlayerLike = False,
    seed: int = 0,
    jobs: int | None = None,
) -> TournamentResult:
    """Play a round robin of money games or matches.

    Parameters
    ----------
    players
        At least 2 players in any form, each with a name of its own.
    games
        Number of money games of each pairing, by default 1000, or of matches, by default 100; rounded up to
        an even number.
    length
        Points of a match; 0: money games.
    cube
        Whether there is a doubling cube; by default in matches alone.
    jacoby
        Money games with a cube: whether gammons count only after a double.
    luck_adjusted
        Whether points, and their ratings, are adjusted for luck: by the newest weights, or by this player.
    seed
        Seed from which each pairing has its own; other players do not change it.
    jobs
        Number of processes; the result does not depend on it.

    Returns
    -------
    TournamentResult
        The pairings and the ratings of all players.

    Raises
    ------
    PlayerError
        For an unknown player.
    SettingError
        For fewer than 2 players, one that is named twice, fewer than 2 games, or an invalid seed.

    Examples
    --------
    >>> import motif
    >>> motif.play_tournament(["random", "pubeval"], games=60, jobs=1).order
    (1, 0)
    """
    if isinstance(players, str) or not isinstance(players, Sequence):
        raise SettingError("players is a list of at least 2, such as ['latest', 'pubeval']")
    check_seed(seed)
    count = (MATCHES if length else GAMES) if games is None else games
    check_count("games", count, 2)
    seats = [as_player(player) for player in players]
    names = [player.name for player in seats]
    if len(names) < 2:
        raise SettingError(f"a tournament needs at least 2 players, not {len(names)}")
    for name in names:
        if names.count(name) > 1:
            raise SettingError(f"the player {shown(name)} is named {names.count(name)} times")
    rules = ContestRules(length, bool(length) if cube is None else cube, jacoby)
    contest = new_contest(rules, luck_adjusted)
    meetings = [(*pair, pairing_seed(seed, *pair)) for pair in combinations(range(len(names)), 2)]
    played = list(_play_meetings(contest, seats, meetings, (count + 1) // 2, jobs))
    return _tournament_result(contest, names, seed, meetings, played)


def _play_meetings(
    contest: Contest,
    seats: Sequence[Player],
    meetings: Sequence[tuple[int, int, int]],
    pairs: int,
    jobs: int | None,
) -> Iterator[PlayedPairs]:
    def calls() -> Iterator[tuple[Player, Player, int, int, int]]:
        for first, second, chosen in meetings:
            for start, count in blocks_of_pairs(pairs):
                yield seats[first], seats[second], chosen, start, count

    with (
        progress(f"{len(seats)} players", 2 * pairs * len(meetings)) as advance,
        closing(run_ordered(partial(play_pairs, contest), calls(), jobs)) as parts,
    ):
        for _ in meetings:
            # A block of each pairing was asked for in this order.
            blocks = []
            for _, block in zip(blocks_of_pairs(pairs), parts, strict=False):
                blocks.append(block)
                advance(block.values.size)
            yield joined(blocks)


def pairing_seed(seed: int, first: int, second: int) -> int:
    """Return the seed of the pairing of the players with these numbers; other players do not change it."""
    return int(derive_states(seed, first, 1, second)[0] >> _UNUSED_BITS)


def _tournament_result(
    contest: Contest,
    names: Sequence[str],
    seed: int,
    meetings: Sequence[tuple[int, int, int]],
    played: Sequence[PlayedPairs],
) -> TournamentResult:
    rules = contest.rules
    ahead = [pairs.values - rules.even - pairs.luck for pairs in played]
    won = [pairs.values > rules.even for pairs in played]
    pairings = tuple(
        Pairing(*meeting, _pairing_result(contest, pairs), *mean_of_pairs(values)[:2])
        for meeting, pairs, values in zip(meetings, played, ahead, strict=True)
    )
    players = np.array([(pairing.first, pairing.second) for pairing in pairings])
    single = EVEN_SHARE if rules.length else 1.0
    points = np.array([with_pseudocounts(it.mean(axis=1), -single, single) for it in ahead])
    share = np.array([with_pseudocounts(it.mean(axis=1), 0, 1) for it in won])
    in_points, fit = points_ratings(len(names), players, *points.T)
    elo = elo_ratings(len(names), players, *share.T)
    if len(ahead[0]) < MIN_PAIRS:
        fit, unknown = math.nan, np.full(len(names), math.nan)
        in_points, elo = replace(in_points, se=unknown), replace(elo, se=unknown)
    judge = None if contest.judge is None else contest.judge.name
    games = ahead[0].size
    return TournamentResult(tuple(names), games, rules.length, seed, pairings, in_points, elo, fit, judge)


def _pairing_result(contest: Contest, played: PlayedPairs) -> ContestResult:
    figures = None
    if not contest.rules.length and not contest.rules.cube:
        interval = certain_interval(played.values, ERROR_RATE)
        figures = cubeless_figures(played.values, interval, ERROR_RATE, ALL_PLAYED)
    return contest_result(contest.rules, played, contest.judge, figures)
