"""Rules and results of a contest between two players.

Standard errors are computed over pairs of games with the same dice, which are independent; the games of a
pair are not.
"""

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.rules import check_match_length
from motif.contests.sequential import SequentialTest, certain_interval
from motif.evaluators import Evaluator
from motif.rollouts.tally import p_value
from motif.runtime.arrays import FloatArray
from motif.runtime.frames import Row, Tabular, frame
from motif.runtime.settings import SIGNIFICANCE, SettingFields, check_flag

if TYPE_CHECKING:
    from pandas import DataFrame

EVEN_SHARE = 0.5
"""Share of matches won by each of two equal players."""
MIN_PAIRS = 30
"""Minimum number of pairs for a standard error and a p-value (rule of thumb for Student's t distribution)."""
CERTAIN, ALL_PLAYED = "certain", "all games played"
"""Reasons why a contest ended."""
PairValues = npt.NDArray[np.int64 | np.float64]


def too_few(length: int) -> str:
    """Return the note on results without standard errors, of matches to `length` points or, for 0, games."""
    return f"fewer than {2 * MIN_PAIRS} {'matches' if length else 'games'} are too few for a standard error"


@dataclass(frozen=True)
class ContestRules(SettingFields):
    """Rules of a contest: money games, or matches with the Crawford rule."""

    length: int = 0
    """Match length; 0 for money games."""
    cube: bool = False
    """Whether there is a doubling cube."""
    jacoby: bool = True
    """Whether gammons count only after a double, in money games with a cube."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_match_length(self.length, with_money=True)
        check_flag("cube", self.cube)
        check_flag("jacoby", self.jacoby)

    @property
    def even(self) -> float:
        """Mean result of equal players: points per game or share of matches won."""
        return EVEN_SHARE if self.length else 0.0


class PlayedPairs(NamedTuple):
    """Results of pairs of games or matches; the first player starts those in column 0."""

    values: PairValues
    """(n, 2): the first player's points; for matches 1 or 0."""
    luck: FloatArray
    """(n, 2): the first player's luck, estimated by a judge; 0 without one."""
    games: int
    """Total number of games."""

    def first(self, pairs: int) -> "PlayedPairs":
        """Return the first `pairs` of money games."""
        return PlayedPairs(self.values[:pairs], self.luck[:pairs], 2 * pairs)


@dataclass(frozen=True)
class LuckAdjusted:
    """The first player's luck-adjusted result.

    The luck of a roll is the equity of its best play minus the mean over all rolls, both by a judge.  Its
    expectation is 0 for any judge, so the adjusted result is unbiased, with less variance if the judge is
    good (a control variate, as in `motif.rollouts.playout`).
    """

    judge: str
    """Name of the player that estimates luck."""
    mean: float
    """Points per game, or share of matches won."""
    se: float | None
    """Standard error of `mean` over pairs; None for fewer than `MIN_PAIRS`."""
    p_value: float | None
    """Probability of at least this difference between equal players; None if `se` is None."""


@dataclass(frozen=True)
class CubelessFigures:
    """Figures of cubeless money games only."""

    gammons: int
    """Games won by a gammon or backgammon."""
    backgammons: int
    gammons_lost: int
    backgammons_lost: int
    interval: tuple[float, float]
    """Confidence sequence of the points per game: see `certain_interval`."""
    significance: float
    """Probability that `interval` is wrong or that equal players are called different."""
    stopped: str
    """Why the contest ended: `CERTAIN` or `ALL_PLAYED`."""


@dataclass(frozen=True, repr=False)
class ContestResult(Tabular):
    """The first player's result against the second, in money games or matches."""

    rules: ContestRules
    matches: int
    """Matches played; 0 for money games."""
    games: int
    """Total number of games."""
    wins: int
    """Games or matches won by the first player."""
    losses: int
    """Games or matches lost by the first player."""
    mean: float
    """The first player's points per game, or share of matches won."""
    se: float | None
    """Standard error of `mean` over pairs; None for fewer than `MIN_PAIRS`."""
    p_value: float | None
    """Probability of at least this difference between equal players.

    For a fixed number of games, None if `se` is None. For a sequential test, an upper bound that holds at any
    time.
    """
    stake: float
    """Mean points won or lost per game; 1 for matches."""
    cubeless: CubelessFigures | None = None
    """Figures of cubeless money games; otherwise None."""
    luck_adjusted: LuckAdjusted | None = None
    """The luck-adjusted result, if requested."""

    @property
    def ppg(self) -> float:
        """The first player's points per game; NaN for matches."""
        return math.nan if self.rules.length else self.mean

    @property
    def mwc(self) -> float:
        """Share of matches won by the first player; NaN for money games."""
        return self.mean if self.rules.length else math.nan

    @property
    def count(self) -> int:
        """Number of matches or money games."""
        return self.matches or self.games

    def to_frame(self) -> "DataFrame":
        """Return a data frame of one row.

        Its columns depend only on the kind of contest: figures of too few games are NaN, and the note on them
        is otherwise empty.
        """
        (row,) = self.records()
        luck = [f"luck_adjusted_{name}" for name in ("se", "p_value")] * (self.luck_adjusted is not None)
        last = {name: row.pop(name, math.nan) for name in ("se", "p_value", *luck)}
        note = row.pop("note", "")
        return frame({name: [value] for name, value in {**row, **last, "note": note}.items()})

    def to_dict(self) -> Row:
        """Return all figures by name, for JSON.

        ``luck_adjusted`` is present only if requested; a ``note`` marks results of too few games.
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
            fields["luck_adjusted"] = asdict(self.luck_adjusted)
        return fields if self.se is not None else {**fields, "note": too_few(self.rules.length)}


def mean_of_pairs(
    values: npt.NDArray[np.generic], even: float = 0.0
) -> tuple[float, float | None, float | None]:
    """Return the mean of pairs (n, 2), its standard error, and the p-value of its distance from `even`.

    The last two are None for fewer than `MIN_PAIRS` pairs.  If all pairs have the same result, the standard
    error is that with one more pair, of the result `even`: it is 0 only if all pairs are even.
    """
    means: FloatArray = np.asarray(values.mean(axis=1), np.float64)
    mean = float(means.mean())
    if len(means) < MIN_PAIRS:
        return mean, None, None
    if not np.ptp(means):
        means = np.append(means, even)
    se = float(means.std(ddof=1) / math.sqrt(len(means)))
    return mean, se, p_value(mean - even, se, len(means))


def contest_result(
    rules: ContestRules,
    played: PlayedPairs,
    judge: Evaluator | None = None,
    significance: float = SIGNIFICANCE,
    test: SequentialTest | None = None,
) -> ContestResult:
    """Return the result of a contest; `significance` and `test` are for cubeless money games."""
    values, adjusted, cubeless = played.values, None, None
    if judge is not None:
        adjusted = LuckAdjusted(judge.name, *mean_of_pairs(values - played.luck, rules.even))
    if not rules.length and not rules.cube:
        stopped = CERTAIN if test is not None and test.certain else ALL_PLAYED
        cubeless = _cubeless_figures(values, significance, stopped)
    mean, se, p_value = mean_of_pairs(values, rules.even)
    wins = int((values > 0).sum())
    return ContestResult(
        rules,
        values.size if rules.length else 0,
        played.games,
        wins,
        values.size - wins if rules.length else int((values < 0).sum()),
        mean,
        se,
        p_value if test is None else test.p_value,
        1.0 if rules.length else float(np.abs(values).mean()),
        cubeless,
        adjusted,
    )


def _cubeless_figures(points: PairValues, significance: float, stopped: str) -> CubelessFigures:
    """Count the gammons in the first player's points (pairs, 2)."""
    won, won_more, lost, lost_more = (int((side >= k).sum()) for side in (points, -points) for k in (2, 3))
    interval = certain_interval(points, significance)
    return CubelessFigures(won, won_more, lost, lost_more, interval, significance, stopped)
