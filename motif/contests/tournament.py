"""Round-robin tournaments with paired dice, and ratings by points per game and Elo."""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from typing import ClassVar

import numpy as np

from motif.contests.contest import GAMES, MATCHES
from motif.contests.pairs import Contest, blocks_of_pairs, joined_pairs, new_contest, play_pairs
from motif.contests.ratings import Ratings, elo_ratings, points_ratings, with_pseudocounts
from motif.contests.result import (
    EVEN_SHARE,
    MIN_PAIRS,
    ContestResult,
    ContestRules,
    PlayedPairs,
    contest_result,
    mean_of_pairs,
    too_few,
)
from motif.players.player import Player, PlayerLike, load_player
from motif.runtime.arrays import FloatArray, IntArray
from motif.runtime.errors import SettingError, shown
from motif.runtime.frames import Tabular
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import progress
from motif.runtime.settings import check_count, check_seed, given_items
from motif.runtime.streams import derive_states

_UNUSED_BITS = np.uint64(11)
"""Seeds of pairings have 53 bits, so that any JSON reader preserves them."""


@dataclass(frozen=True)
class Pairing:
    """The contest of two players in a tournament."""

    first: int
    second: int
    """Player numbers, in the order given."""
    seed: int
    """Seed that reproduces the contest with `play_money_games` or `play_matches`."""
    result: ContestResult
    """The first player's result."""
    ahead: float
    """The first player's points per game, or share of matches won minus 0.5; luck-adjusted if requested."""
    se: float | None
    """Standard error of `ahead`; None for too few games."""


@dataclass(frozen=True, repr=False, eq=False)
class TournamentResult(Tabular):
    """Results and ratings of a round robin."""

    names: tuple[str, ...]
    games: int
    """Games or matches per pairing."""
    length: int
    """Match length; 0 for money games."""
    seed: int
    pairings: tuple[Pairing, ...]
    points: Ratings
    """Ratings in points per game, or in the share of matches won."""
    elo: Ratings
    """Elo ratings from games or matches won."""
    fit: float
    """P-value of the fit of `points`, small if results are not transitive; NaN for two players or too few
    games."""
    judge: str | None = None
    """Name of the player that estimated luck, for luck-adjusted points."""

    @property
    def has_errors(self) -> bool:
        """Whether there are enough games for standard errors."""
        return self.games >= 2 * MIN_PAIRS

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Player numbers by points, best first."""
        return tuple(sorted(range(len(self.names)), key=lambda player: -self.points.values[player]))

    @cached_property
    def cross(self) -> tuple[FloatArray, FloatArray]:
        """Points per game (k, k) of each row's player against each column's, and their standard errors.

        Standard errors are NaN for too few games.
        """
        ppg, se = np.full((2, len(self.names), len(self.names)), math.nan)
        for pairing in self.pairings:
            first, second = pairing.first, pairing.second
            ppg[first, second] = pairing.ahead
            if pairing.se is not None:
                se[first, second] = se[second, first] = pairing.se
        # Adding 0.0 turns -0.0 into 0.0.
        return np.where(np.isnan(ppg), -ppg.T + 0.0, ppg), se

    _decimals: ClassVar = {
        **dict.fromkeys(("elo", "elo_se"), 1),
        **dict.fromkeys(
            ("ppg", "mwc", "se", "points_rating", "points_rating_se", "mwc_rating", "mwc_rating_se"), 4
        ),
    }

    def totals(self) -> tuple[FloatArray, FloatArray]:
        """Return points per game (k,) against all others, and their standard errors."""
        ppg, se = self.cross
        others = len(self.names) - 1
        np.fill_diagonal(own := ppg.copy(), 0.0)
        np.fill_diagonal(errors := se.copy(), 0.0)
        return own.sum(axis=1) / others, np.sqrt((errors**2).sum(axis=1)) / others

    def won(self) -> IntArray:
        """Return the number of games won (k,)."""
        games = np.zeros(len(self.names), np.int64)
        for pairing in self.pairings:
            games[pairing.first] += pairing.result.wins
            games[pairing.second] += pairing.result.losses
        return games

    def to_dict(self) -> dict[str, object]:
        """Return the results, for JSON.

        The ``table`` has one row per player, best first; ``luck_adjusted`` names the judge of luck-adjusted
        points.
        """
        played = {"matches": self.games, "length": self.length} if self.length else {"games": self.games}
        return {
            "players": list(self.names),
            **played,
            "seed": self.seed,
            **({"luck_adjusted": self.judge} if self.judge else {}),
            "table": [self._row(player) for player in self.order],
            "points_fit_p_value": _or_none(self.fit),
            **({} if self.has_errors else {"note": too_few(self.length)}),
            "pairings": [
                {
                    "players": [self.names[it.first], self.names[it.second]],
                    "seed": it.seed,
                    **it.result.to_dict(),
                }
                for it in self.pairings
            ],
        }

    def records(self) -> list[dict[str, object]]:
        """Return one row per player, best first."""
        rows = [self._row(player) for player in self.order]
        return [{name: value for name, value in row.items() if name != "against"} for row in rows]

    def _row(self, player: int) -> dict[str, object]:
        ppg, se = self.cross
        total, total_se = self.totals()
        what, played, even = ("mwc", "matches", EVEN_SHARE) if self.length else ("ppg", "games", 0.0)
        rating = f"{'mwc' if self.length else 'points'}_rating"
        return {
            "player": self.names[player],
            what: float(total[player]) + even,
            "se": _or_none(total_se[player]),
            "wins": int(self.won()[player]),
            played: self.games * (len(self.names) - 1),
            rating: float(self.points.values[player]),
            f"{rating}_se": _or_none(self.points.se[player]),
            "elo": float(self.elo.values[player]),
            "elo_se": _or_none(self.elo.se[player]),
            "against": {
                self.names[other]: {what: float(ppg[player, other]) + even, "se": _or_none(se[player, other])}
                for other in self.order
                if other != player
            },
        }


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def play_tournament(
    players: Iterable[PlayerLike],
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
        At least 2 players with different names.
    games
        Games (default 1000) or matches (default 100) per pairing, rounded up to an even number.
    length
        Match length; 0 for money games.
    cube
        Whether to use a doubling cube; by default only in matches.
    jacoby
        Whether gammons count only after a double, in money games with a cube.
    luck_adjusted
        Whether to adjust points and ratings for luck, by the newest weights or by this player.
    seed
        Seed; the seed of a pairing does not depend on the other players.
    jobs
        Number of processes; does not affect the result.

    Returns
    -------
    TournamentResult
        Ratings with their standard errors, and the result of each pairing.

    Raises
    ------
    PlayerError, WeightFileError
        For an unknown player.
    SettingError
        For fewer than 2 players, duplicate names, or invalid numbers.

    Examples
    --------
    >>> import motif
    >>> motif.play_tournament(["random", "pubeval"], games=60, jobs=1).order
    (1, 0)
    """
    seed = check_seed(seed)
    count = check_count("games", (MATCHES if length else GAMES) if games is None else games, 2)
    seats, names = _seats(players)
    rules = ContestRules(length, bool(length) if cube is None else cube, jacoby)
    contest = new_contest(rules, luck_adjusted)
    meetings = [(*pair, pairing_seed(seed, *pair)) for pair in combinations(range(len(names)), 2)]
    played = list(_play_meetings(contest, seats, meetings, (count + 1) // 2, jobs))
    return _tournament_result(contest, names, seed, meetings, played)


def _seats(players: Iterable[PlayerLike]) -> tuple[list[Player], list[str]]:
    """Return the players and their names; raise `SettingError` for too few players or for duplicate names."""
    given = given_items(players)
    if given and given[0] is players:
        raise SettingError("players must be a list of at least 2, such as ['latest', 'pubeval']")
    seats = [load_player(player) for player in given]
    names = [player.name for player in seats]
    if len(names) < 2:
        raise SettingError(f"a tournament needs at least 2 players, not {len(names)}")
    if twice := [name for name in names if names.count(name) > 1]:
        named = all(isinstance(player, str | Player) for player in given)
        hint = "" if named else "; fit and from_sklearn take name="
        raise SettingError(f"duplicate player {shown(twice[0])}: each player may be listed once{hint}")
    return seats, names


def _play_meetings(
    contest: Contest,
    seats: Sequence[Player],
    meetings: Sequence[tuple[int, int, int]],
    pairs: int,
    jobs: int | None,
) -> Iterator[PlayedPairs]:
    calls = (
        (seats[first], seats[second], chosen, start, count)
        for first, second, chosen in meetings
        for start, count in blocks_of_pairs(pairs)
    )
    with (
        progress(f"{len(seats)} players", 2 * pairs * len(meetings)) as advance,
        closing(run_ordered(partial(play_pairs, contest), calls, jobs)) as parts,
    ):
        for _ in meetings:
            # The arguments of the calls are in this order.
            blocks = []
            for _, block in zip(blocks_of_pairs(pairs), parts, strict=False):
                blocks.append(block)
                advance(block.values.size)
            yield joined_pairs(blocks)


def pairing_seed(seed: int, first: int, second: int) -> int:
    """Return the seed of a pairing, which does not depend on other players."""
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
        Pairing(*meeting, contest_result(rules, pairs, contest.judge), *mean_of_pairs(values)[:2])
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
