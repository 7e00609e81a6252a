"""What is played in a contest of two players, and its result: means over pairs with the same dice.

The standard error is taken over pairs, which are independent, and not over games, which are not.
"""

import math
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.rules import check_match_length
from motif.evaluators import Evaluator
from motif.rollouts.tally import p_value
from motif.runtime.frames import Row, Tabular

EVEN_SHARE = 0.5
"""Share of matches won between equal players."""
MIN_PAIRS = 30
"""Pairs of games from which their mean is taken to be normally distributed, the textbooks' rule of thumb: the
standard error and the p-value of fewer pairs mean nothing and are not stated."""
TOO_FEW = f"fewer than {2 * MIN_PAIRS} are too few for a standard error"
"""Said of games, or of matches, where no errors are stated."""
CERTAIN, ALL_PLAYED = "certain", "all games played"
"""Why a contest ended."""
PairValues = npt.NDArray[np.int64 | np.float64]


@dataclass(frozen=True)
class ContestRules:
    """What two players play: money games, or matches with the Crawford rule."""

    length: int = 0
    """Points of a match; 0: money games."""
    cube: bool = False
    """Whether there is a doubling cube."""
    jacoby: bool = True
    """Money games with a cube: whether gammons count only after a double."""

    def __post_init__(self) -> None:
        check_match_length(self.length, with_money=True)

    @property
    def even(self) -> float:
        """Mean result between equal players: points per game, or share of matches won."""
        return EVEN_SHARE if self.length else 0.0


class PlayedPairs(NamedTuple):
    """Some pairs of games, or of matches; the first player moves first in column 0."""

    values: PairValues
    """(n, 2): points of the first player; of a match 1 if it was won and 0 if it was lost."""
    luck: npt.NDArray[np.float64]
    """(n, 2): how much of that the rolls gained, by a judge; 0 without one."""
    games: int
    """Of all matches together."""


@dataclass(frozen=True)
class LuckAdjusted:
    """The first player's result, adjusted for luck.

    The luck of a roll is the equity of its best play less the mean over all rolls, both by a judge.  Its mean
    is 0 for any judge: the adjusted result has the same mean, and a smaller error where the judge is any good
    (a control variate, as in `motif.rollouts.playout`).
    """

    judge: str
    """Name of the player that values the rolls."""
    mean: float
    """Points per game; of matches the share won."""
    se: float | None
    """Standard error of `mean`, over pairs with the same dice; None for fewer than `MIN_PAIRS`."""
    p_value: float | None
    """Probability of a difference at least this large between two equal players; None as `se`."""


@dataclass(frozen=True)
class CubelessFigures:
    """What a contest of cubeless money games has beyond other contests."""

    gammons: int
    """Games won by a gammon or backgammon."""
    backgammons: int
    gammons_lost: int
    backgammons_lost: int
    interval: tuple[float, float]
    """Lowest and highest points per game that are possible, at any time: see `certain_interval`."""
    error_rate: float
    """Probability that `interval` is wrong, and that equal players are called different."""
    stopped: str
    """Why the contest ended: `CERTAIN` or `ALL_PLAYED`."""


@dataclass(frozen=True, repr=False)
class ContestResult(Tabular):
    """The first player's result against the second, in money games or matches."""

    rules: ContestRules
    """What was played."""
    matches: int
    """Matches played; 0 for money games."""
    games: int
    """Games played, of all matches together."""
    wins: int
    """Games, or matches, won by the first player."""
    losses: int
    """Games, or matches, lost."""
    mean: float
    """Points per game won by the first player; of matches the share won."""
    se: float | None
    """Standard error of `mean`, over pairs with the same dice; None for fewer than `MIN_PAIRS`."""
    p_value: float | None
    """Probability of a difference at least this large between two equal players.

    For a fixed number of games, None as `se`; for a contest that may end early at most this, at any time of
    it, which holds for any number of games."""
    stake: float
    """Points by which a game is won or lost, on average; 1 for matches."""
    cubeless: CubelessFigures | None = None
    """Gammons and the sequential test of cubeless money games; None for other contests."""
    luck_adjusted: LuckAdjusted | None = None
    """The result adjusted for luck; None where that was not asked for."""

    @property
    def ppg(self) -> float:
        """Points per game won by the first player; NaN for matches."""
        return math.nan if self.rules.length else self.mean

    @property
    def mwc(self) -> float:
        """Share of the matches that the first player won; NaN for money games."""
        return self.mean if self.rules.length else math.nan

    @property
    def count(self) -> int:
        """Matches played, or money games."""
        return self.matches or self.games

    def to_dict(self) -> Row:
        """Return all figures by name, as JSON has them.

        ``without_luck`` is left out where it is unknown, and a ``note`` says that games are too few.
        """
        won: Row = {"wins": self.wins, "losses": self.losses}
        sure: Row = {"se": self.se, "p_value": self.p_value}
        if self.rules.length:
            kind: Row = {"matches": self.matches, "length": self.rules.length, "cube": self.rules.cube}
            fields = {**kind, **won, "mwc": self.mean, **sure, "games": self.games}
        elif self.cubeless is None:
            kind = {"stake": self.stake, "jacoby": self.rules.jacoby}
            fields = {"games": self.games, "ppg": self.mean, **won, **kind, **sure, "cube": True}
        else:
            more = {**asdict(self.cubeless), "interval": list(self.cubeless.interval)}
            fields = {"games": self.games, "ppg": self.mean, **won, **more, **sure}
        if self.luck_adjusted is not None:
            fields["without_luck"] = asdict(self.luck_adjusted)
        return fields if self.se is not None else {**fields, "note": TOO_FEW}


def mean_of_pairs(
    values: npt.NDArray[np.generic], even: float = 0.0
) -> tuple[float, float | None, float | None]:
    """Return the mean of pairs (n, 2), its standard error, and the p-value of its distance from `even`.

    The last two are None for fewer than `MIN_PAIRS`.
    """
    means = values.mean(axis=1)
    mean = float(means.mean())
    if len(means) < MIN_PAIRS:
        return mean, None, None
    se = float(means.std(ddof=1) / math.sqrt(len(means)))
    return mean, se, p_value(mean - even, se)


def contest_result(
    rules: ContestRules,
    played: PlayedPairs,
    judge: Evaluator | None = None,
    cubeless: CubelessFigures | None = None,
) -> ContestResult:
    """Return the result of all pairs of a contest."""
    values, adjusted = played.values, None
    if judge is not None:
        adjusted = LuckAdjusted(judge.name, *mean_of_pairs(values - played.luck, rules.even))
    wins = int((values > 0).sum())
    return ContestResult(
        rules,
        values.size if rules.length else 0,
        played.games,
        wins,
        values.size - wins if rules.length else int((values < 0).sum()),
        *mean_of_pairs(values, rules.even),
        1.0 if rules.length else float(np.abs(values).mean()),
        cubeless,
        adjusted,
    )


def cubeless_figures(
    points: PairValues, interval: tuple[float, float], error_rate: float, stopped: str
) -> CubelessFigures:
    """Count the gammons in (pairs, 2) points of the first player."""
    won, won_more, lost, lost_more = (int((side >= k).sum()) for side in (points, -points) for k in (2, 3))
    return CubelessFigures(won, won_more, lost, lost_more, interval, error_rate, stopped)
