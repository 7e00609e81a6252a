"""Tournaments: everyone against everyone, with paired dice, and ratings by points a game and Elo.

They are of money games or of whole matches, whose points are the share of matches won above one half.

Both ratings are fitted to all pairings at once and have mean zero.  Their standard errors come from the
scatter of pairs of games with the same dice, since the two games of a pair are not independent.

A pairing counts as if half a pair of games more had been played, half of it won by either side with a
single game each: half a win for each side.  Without that a player who wins every game would have an infinite
Elo, and results without any spread infinite weight.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import chdtrc, expit

from motif.evaluators import Evaluator
from motif.evaluators.probabilities import turned_equities
from motif.players.match import (
    EVEN_SHARE,
    FEWEST_PAIRS,
    TOO_FEW,
    MatchResult,
    Played,
    blocks_of_pairs,
    joined,
    match_result,
    mean_of_pairs,
    play_pairs,
    without_luck,
)
from motif.players.player import Player, as_player
from motif.rollout.rollout_settings import check_count
from motif.runtime.errors import SettingError, check_seed, shown
from motif.runtime.frames import Tabular
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import progress
from motif.runtime.streams import derive_states

Pairings = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]
ELO_A_LOGIT = 400 / math.log(10)
"""Elo points of one unit of the logarithm of the odds."""
_ADDED = 0.5


@dataclass(frozen=True)
class Ratings:
    """The table of k players."""

    values: Values
    """(k,): their mean is 0."""
    se: Values
    """(k,): standard errors, of the distance from the mean of all; NaN for too few games."""


def softened(values: npt.ArrayLike, low: float, high: float) -> tuple[float, float]:
    """Mean of `values` (n,) and its standard error, with half a value added: `low` and `high` by halves."""
    known = np.asarray(values, np.float64)
    count = len(known) + _ADDED
    mean = float(known.sum() + _ADDED * (low + high) / 2) / count
    added = _ADDED * ((low - mean) ** 2 + (high - mean) ** 2) / 2
    squares = float(((known - mean) ** 2).sum()) + added
    return mean, math.sqrt(squares / (count * len(known)))


def points_ratings(players: int, pairings: Pairings, ppg: Values, se: Values) -> tuple[Ratings, float]:
    """Ratings whose differences are nearest to the points a game of the pairings, and how well they fit.

    `pairings` (p, 2) are numbers of players, `ppg` (p,) points a game of the first of them, `se` their
    standard errors, which weigh them: weighted least squares.  The second value is the chance of a fit
    as bad as this where points do add up (chi-square of the residuals); NaN where nothing is left over.
    """
    design = _differences(players, pairings)
    weights = se**-2.0
    covariance = _inverse(design, weights)
    values = covariance @ (design.T @ (weights * ppg))
    left_over = float((weights * (ppg - design @ values) ** 2).sum())
    freedom = len(pairings) - (players - 1)
    fit = float(chdtrc(freedom, left_over)) if freedom > 0 else math.nan
    return Ratings(values, _errors(covariance)), fit


def elo_ratings(players: int, pairings: Pairings, share: Values, se: Values) -> Ratings:
    """Elo by maximum likelihood in the model of Bradley and Terry (Biometrika 39, 1952).

    `share` (p,) are shares of games won by the first player of each of `pairings` (p, 2), which all have
    the same number of games, and `se` their standard errors.  Errors are those of White (Econometrica
    50, 1982): the inverse information around the variance of the score, because it is not that of
    independent games.
    """
    design = _differences(players, pairings)
    # The first player's is held at zero; all are centred afterwards.
    free = design[:, 1:]

    def cost(logits: Values) -> tuple[float, Values]:
        odds = free @ logits
        return float((np.logaddexp(0.0, odds) - share * odds).sum()), free.T @ (expit(odds) - share)

    def curvature(logits: Values) -> Values:
        chance = expit(free @ logits)
        return free.T @ ((chance * (1 - chance))[:, None] * free)

    options: dict[str, Any] = {"gtol": 1e-10}
    start = np.zeros(players - 1)
    found = minimize(cost, start, jac=True, hess=curvature, method="trust-exact", options=options).x
    logits = np.concatenate([[0.0], found])
    logits -= logits.mean()
    chance = expit(design @ logits)
    inverse = _inverse(design, chance * (1 - chance))
    covariance = inverse @ (design.T @ ((se**2)[:, None] * design)) @ inverse
    return Ratings(ELO_A_LOGIT * logits, ELO_A_LOGIT * _errors(covariance))


def _differences(players: int, pairings: Pairings) -> Values:
    """Return the matrix (p, players) that makes of ratings what the first is ahead of the second."""
    rows = np.arange(len(pairings))
    design = np.zeros((len(pairings), players))
    design[rows, pairings[:, 0]] = 1
    design[rows, pairings[:, 1]] = -1
    return design


def _inverse(design: Values, weights: Values) -> Values:
    """Pseudo-inverse of the information (players, players): adding to all ratings alike changes nothing."""
    information = design.T @ (weights[:, None] * design)
    return np.asarray(np.linalg.pinv(information, hermitian=True), np.float64)


def _errors(covariance: Values) -> Values:
    # Rounding can leave a hair below zero.
    return np.sqrt(np.maximum(np.diag(covariance), 0.0))


_UNUSED_BITS = np.uint64(11)
"""Seeds of pairings have 53 bits, so that every program reads them back from JSON."""


class Result(Protocol):
    """How the first player of a pairing did: a `MatchResult`, or a result of matches."""

    @property
    def wins(self) -> int:
        """Games, or matches, that he won."""

    @property
    def losses(self) -> int:
        """Those that he lost."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""


@dataclass(frozen=True)
class Pairing:
    """One match of a tournament."""

    first: int
    second: int
    """Numbers of the players, in the order in which they were given."""
    seed: int
    """The seed for `play_match`, or for `play_match_play`, which play the same again."""
    result: Result
    """What the first player won."""
    ppg: float
    """By how many points a game he won, without luck where a judge told it; of matches the share above one
    half."""
    se: float | None
    """Standard error of `ppg`; None for too few games."""


@dataclass(frozen=True, repr=False)
class TournamentResult(Tabular):
    """How everyone did against everyone."""

    names: tuple[str, ...]
    games: int
    """Games, or matches, of each pairing."""
    length: int
    """Points of the matches; 0 for money games."""
    seed: int
    pairings: tuple[Pairing, ...]
    points: Ratings
    """In points a game."""
    elo: Ratings
    """From games won."""
    fit: float
    """Chance that points fit the ratings so badly if they add up; NaN with two players or too few games."""
    judge: str | None = None
    """Who told the luck of the dice, which points are without; None where they are as they fell."""

    @property
    def has_errors(self) -> bool:
        """Whether there are games enough for standard errors."""
        return self.games >= 2 * FEWEST_PAIRS

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
            ppg[first, second] = pairing.ppg
            if pairing.se is not None:
                se[first, second] = se[second, first] = pairing.se
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

    def to_dict(self) -> dict[str, Any]:
        """Return the results: ``table``, ``pairings`` and ``without_luck``.

        The table has a row for each player, the best first; pairings are all matches;
        ``without_luck`` names the judge, where points and ratings are without luck.
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
    """`value` as JSON has it; None for NaN."""
    return None if math.isnan(value) else float(value)


def play_tournament(
    players: Sequence[Player | str],
    games: int,
    *,
    seed: int = 0,
    jobs: int | None = None,
    judge: Evaluator | None = None,
) -> TournamentResult:
    """Let each of `players`, or of those named so, play `games` money games against each other.

    The number is rounded up to an even one.  With a `judge` points are without the luck of the dice, as
    `play_match` has it.  The same `seed` gives the same result for any number of `jobs`.  Raises
    `SettingError` for fewer than 2 players, one who is named twice, fewer than 2 games, and a seed that is
    none.
    """
    play, result = partial(play_pairs, judge=judge), partial(_money_result, judge)
    return everyone_plays(players, games, play, result, seed=seed, jobs=jobs, judge=judge)


def _money_result(judge: Evaluator | None, played: Played) -> MatchResult:
    return replace(match_result(played.values), without_luck=without_luck(played, judge))


def everyone_plays(
    players: Sequence[Player | str],
    games: int,
    play: Callable[[Player, Player, int, int, int], Played],
    result: Callable[[Played], Result],
    *,
    length: int = 0,
    seed: int = 0,
    jobs: int | None = None,
    judge: Evaluator | None = None,
) -> TournamentResult:
    """Yield a tournament of `play`, which gives some pairs of two players, from a seed and a first pair on.

    `games` are those of each pairing, or its matches to `length` points; `result` says what all pairs of a
    pairing came to.  Ratings by points are without the luck that `play` tells, by the `judge`.  Raises
    `SettingError` as `play_tournament` does.
    """
    check_seed(seed)
    check_count("games", games, 2)
    seats = [as_player(player) for player in players]
    names = tuple(player.name for player in seats)
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
                yield seats[first], seats[second], chosen, start, count

    met: list[Played] = []
    with (
        progress(f"{len(names)} players", 2 * pairs * len(meetings)) as advance,
        closing(run_ordered(play, calls(), jobs)) as parts,
    ):
        for _ in meetings:
            # A block of each pairing was asked for in this order.
            blocks = []
            for _, block in zip(blocks_of_pairs(pairs), parts, strict=False):
                blocks.append(block)
                advance(block.values.size)
            met.append(joined(blocks))
    even = EVEN_SHARE if length else 0.0
    ahead = [played.values - even - played.luck for played in met]
    pairings = tuple(
        Pairing(*meeting, result(played), *mean_of_pairs(values)[:2])
        for meeting, played, values in zip(meetings, met, ahead, strict=True)
    )
    won = [played.values > even for played in met]
    return _result(names, seed, pairings, ahead, won, length, None if judge is None else judge.name)


def pairing_seed(seed: int, first: int, second: int) -> int:
    """Return the seed of `play_match` for the players with these numbers; other players do not change it."""
    return int(derive_states(seed, first, 1, second)[0] >> _UNUSED_BITS)


def _result(
    names: tuple[str, ...],
    seed: int,
    pairings: tuple[Pairing, ...],
    ahead: Sequence[Values],
    won: Sequence[npt.NDArray[np.bool_]],
    length: int,
    judge: str | None,
) -> TournamentResult:
    """From what the first player of each pairing is `ahead` (pairs, 2) by, and which games he has `won`."""
    players = np.array([(pairing.first, pairing.second) for pairing in pairings])
    single = EVEN_SHARE if length else 1.0
    points = np.array([softened(it.mean(axis=1), -single, single) for it in ahead])
    share = np.array([softened(it.mean(axis=1), 0, 1) for it in won])
    in_points, fit = points_ratings(len(names), players, *points.T)
    elo = elo_ratings(len(names), players, *share.T)
    if len(ahead[0]) < FEWEST_PAIRS:
        fit, unknown = math.nan, np.full(len(names), math.nan)
        in_points, elo = replace(in_points, se=unknown), replace(elo, se=unknown)
    return TournamentResult(names, ahead[0].size, length, seed, pairings, in_points, elo, fit, judge)
