"""Matches of cubeless money games with paired dice, and when a difference between two players is certain.

Every sequence of dice is played twice, with the seats swapped, so that luck cancels where both
players would play alike; the standard error is taken over pairs, which are independent, and not
over games, which are not.

What is certain holds whenever one looks.  A gambler bets on each pair that the first player's mean is not m:
of his money K he stakes a part, and has K (1 + b (x - m)) after a pair of mean x.  If m is the true
mean, no stakes win in the long run, and his money ever reaches 1 / a with chance a at most (Ville's
inequality).  So one may look after every pair, stop when one likes, and still be wrong at most as
often as stated; the interval holds every m against which he has not won that much yet.  That is exact:
all it asks is that pairs are independent and that points lie between -3 and 3.

Source: I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting",
Journal of the Royal Statistical Society B 86 (2024).  The money starts in equal parts on stakes b from
tiny to the largest allowed, for either player, because the size of the difference is not known.
"""

import math
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import logsumexp

from motif.board.outcome import Outcome
from motif.evaluators import Evaluator
from motif.evaluators.probabilities import turned_equities
from motif.players.player import Player, as_player
from motif.rollout.games import Dice, SeededDice, lockstep, luck_of_rolls, starts
from motif.rollout.playout import MAX_PLIES
from motif.rollout.rollout_settings import check_count, check_error_rate
from motif.rollout.tally import p_value
from motif.runtime.errors import SettingError, check_seed
from motif.runtime.frames import Tabular
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import progress

ERROR_RATE = 0.05
"""Share of matches between equal players that may end with a difference called certain."""
_MOST = int(Outcome.WIN_BACKGAMMON)
"""Points a game at most."""
_SUMS = 4 * _MOST + 1
"""Points of a pair of games are -6 to 6."""
_PAIR_MEANS = np.arange(_SUMS) / 2 - _MOST
# x - m is -6 to 6, and the stakes may not lose more than all.
_LARGEST_STAKE = 0.16
_SIZES = 8
_ONE_WAY = _LARGEST_STAKE / 2.0 ** np.arange(_SIZES)
_STAKES = np.concatenate([_ONE_WAY, -_ONE_WAY])


class SequentialTest:
    """Looks at pairs of games one after the other, until the better player is certain."""

    def __init__(self, error_rate: float = ERROR_RATE) -> None:
        """`error_rate` is the chance that equal players are ever told apart; raises `SettingError`."""
        check_error_rate(error_rate)
        self._limit = -math.log(error_rate)
        self._money = np.zeros(len(_STAKES))
        self._most = 0.0
        self._growth = _log_growth(0.0)

    @property
    def certain(self) -> bool:
        """Whether one player is better for certain, at the error rate."""
        return self._most >= self._limit

    @property
    def p_value(self) -> float:
        """Chance, at most, that equal players look so different at any time until now: 0 to 1."""
        return math.exp(-self._most)

    def add(self, points: npt.NDArray[np.integer]) -> int:
        """Look at `points` (pairs, 2) of the first player; return how many pairs were looked at.

        These are all of them, or those up to the pair that made it certain.
        """
        if self.certain or not len(points):
            return 0
        steps = self._growth[_sums(points)]
        # Added one after the other, so that it does not matter in which blocks pairs come.
        steps[0] += self._money
        money = steps.cumsum(axis=0)
        whole = _whole(money)
        over = whole >= self._limit
        looked = int(over.argmax()) + 1 if over.any() else len(points)
        self._money = money[looked - 1]
        self._most = max(self._most, float(whole[:looked].max()))
        return looked


def certain_interval(points: npt.NDArray[np.integer], error_rate: float = ERROR_RATE) -> tuple[float, float]:
    """Lowest and highest points a game of the first player that `points` (pairs, 2) leave possible.

    Whenever one looks, and however often, it holds the true mean, but for a share `error_rate` of
    matches.  It also holds the mean of the games played, because no stakes gain against that.
    """
    check_error_rate(error_rate)
    ends = (-float(_MOST), float(_MOST))
    if not len(points):
        return ends
    counts = np.bincount(_sums(points), minlength=_SUMS)

    def over(mean: float) -> float:
        return float(_whole(counts @ _log_growth(mean))) + math.log(error_rate)

    # The money is convex in the mean, and crosses the limit at most once on either side.
    middle = float(counts @ _PAIR_MEANS) / len(points)
    low, high = (brentq(over, middle, end) if over(end) > 0 else end for end in ends)
    return float(low), float(high)


def _sums(points: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Which row of `_PAIR_MEANS` each pair of (pairs, 2) is."""
    return points.sum(axis=1, dtype=np.int64) + 2 * _MOST


def _log_growth(mean: float) -> npt.NDArray[np.float64]:
    """Return what a pair of each sum does to the money on each stake, against `mean`: (sums, stakes)."""
    return np.log1p(_STAKES * (_PAIR_MEANS[:, None] - mean))


def _whole(money: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """All the money, from logarithms (..., stakes) of what each stake has made of its part."""
    return logsumexp(money, axis=-1) - math.log(len(_STAKES))


CERTAIN, ALL_PLAYED = "certain", "all games played"
"""Why a match ended."""
_PAIRS_AT_ONCE = 256
_BLOCKS, _FEWEST_AT_ONCE = 16, 4
"""Short matches, as slow players play them, are cut into so many blocks, for all workers."""


@dataclass(frozen=True)
class WithoutLuck:
    """How the first player did, less the luck of the dice.

    The luck of a roll is what its best play is worth above the mean of all rolls, in the opinion of a judge.
    Its mean is 0 whatever the judge thinks: so what is left has the same mean, and a smaller error where he
    is any good (a control variate, as in `motif.rollout.playout`).
    """

    judge: str
    mean: float
    """Points a game; of matches the share won."""
    se: float | None
    """Standard error of `mean`, over pairs with the same dice; None for fewer than `FEWEST_PAIRS`."""
    p_value: float | None
    """Chance of a difference at least this large between two players who are equally good; None as `se`."""


EVEN_SHARE = 0.5
"""Of the matches between two players who are equally good."""
FEWEST_PAIRS = 30
"""Pairs of games from which their mean is taken to be normally distributed, the textbooks' rule of thumb: the
standard error and the p-value of fewer pairs mean nothing and are not stated."""
TOO_FEW = f"fewer than {2 * FEWEST_PAIRS} are too few for a standard error"
"""Said of games, or of matches, where no errors are stated."""


def fields_known(result: Any) -> dict[str, Any]:
    """Return the fields of a result by name, as JSON has them, with a note where the games are too few.

    What is `without_luck` is left out where no judge told it.
    """
    fields = {
        name: value for name, value in asdict(result).items() if value is not None or name != "without_luck"
    }
    return fields if result.se is not None else {**fields, "note": TOO_FEW}


@dataclass(frozen=True, repr=False)
class MatchResult(Tabular):
    """How the first player did against the second."""

    games: int
    ppg: float
    """Points a game won by the first player, cubeless money."""
    se: float | None
    """Standard error of `ppg`, over pairs of games with the same dice; None for fewer than `FEWEST_PAIRS`."""
    wins: int
    gammons: int
    """Games won by a gammon or backgammon."""
    backgammons: int
    losses: int
    gammons_lost: int
    backgammons_lost: int
    p_value: float | None
    """Chance of a difference at least this large between two players who are equally good.

    For all games of a match of fixed length, None as `se`; in one that could end early at most this chance,
    at any time of it, which holds for any number of games."""
    interval: tuple[float, float]
    """Lowest and highest points a game that are possible: true at any time, see `certain_interval`."""
    error_rate: float
    """Chance that `interval` is wrong, and that equal players are told apart."""
    stopped: str
    """Why the match ended: `CERTAIN` or `ALL_PLAYED`."""
    without_luck: WithoutLuck | None = None
    """What is left without the luck of the dice; None where no judge told it."""

    def to_dict(self) -> dict[str, Any]:
        """All fields by name, as JSON has them."""
        return fields_known(self) | {"interval": list(self.interval)}


def play_match(
    first: Player | str,
    second: Player | str,
    games: int = 1000,
    *,
    seed: int = 0,
    jobs: int | None = None,
    until_certain: bool = False,
    error_rate: float = ERROR_RATE,
    judge: Evaluator | None = None,
) -> MatchResult:
    """Play `games` cubeless money games (rounded up to an even number) between two players, or two named so.

    With `until_certain` the match ends after the pair of games that makes it certain which of them is
    better; equal players are told apart in a share `error_rate` of such matches at most.  A `judge` tells
    what is left without the luck of the dice, which has a smaller error; it looks at every roll of each
    position, and so should be static.  The same `seed` gives the same games for any number of `jobs`.  Raises
    `SettingError` for fewer than 2 games, for a seed that is none, for an error rate that is not between 0
    and 1, and for a judge of a match that may end early.
    """
    check_seed(seed)
    check_count("games", games, 2)
    check_error_rate(error_rate)
    first, second = as_player(first), as_player(second)
    if until_certain:
        if judge is not None:
            raise SettingError(
                "luck can be taken off a match of so many games only, not of one until_certain"
            )
        test = SequentialTest(error_rate)
        return match_result(match_points(first, second, games, seed, jobs, test), error_rate, test)
    played = joined(_blocks(first, second, games, seed, jobs, judge))
    return replace(match_result(played.values, error_rate), without_luck=without_luck(played, judge))


def match_points(
    first: Player,
    second: Player,
    games: int,
    seed: int,
    jobs: int | None = None,
    test: SequentialTest | None = None,
) -> npt.NDArray[np.int64]:
    """Points of `first` (pairs, 2) in a match, up to the pair that makes it certain for `test`."""
    points = []
    with closing(_blocks(first, second, games, seed, jobs)) as blocks:
        for block in blocks:
            points.append(block.values[: test.add(block.values)] if test else block.values)
            if test and test.certain:
                break
    return np.concatenate(points)


class Played(NamedTuple):
    """What came of some pairs of games, or of matches; the first player has the first move in column 0."""

    values: npt.NDArray[Any]
    """(n, 2): his points; 1 for a match that he won and 0 for one that he lost."""
    luck: npt.NDArray[np.float64]
    """(n, 2): how much of that the rolls gained him in the opinion of a judge; 0 without one."""
    games: int
    """Of all matches together."""


def joined(blocks: Iterable[Played]) -> Played:
    """All the pairs of `blocks`, in their order."""
    values, luck, games = zip(*blocks, strict=True)
    return Played(np.concatenate(values), np.concatenate(luck), sum(games))


def _blocks(
    first: Player, second: Player, games: int, seed: int, jobs: int | None, judge: Evaluator | None = None
) -> Generator[Played]:
    play = partial(play_pairs, first, second, seed, judge=judge)
    return played_blocks(play, f"{first.name} against {second.name}", games, jobs)


def played_blocks(
    play: Callable[[int, int], Played], label: str, games: int, jobs: int | None
) -> Generator[Played]:
    """Yield what `play` gives for the pairs of `games`, rounded up to an even number, block by block.

    It gets the first pair of a block and how many they are.
    """
    pairs = (games + 1) // 2
    with (
        progress(label, 2 * pairs) as advance,
        closing(run_ordered(play, blocks_of_pairs(pairs), jobs)) as blocks,
    ):
        for block in blocks:
            yield block
            advance(block.values.size)


def blocks_of_pairs(pairs: int) -> Iterator[tuple[int, int]]:
    """First pair and number of pairs of each block that a worker plays at a time."""
    size = min(max(pairs // _BLOCKS, _FEWEST_AT_ONCE), _PAIRS_AT_ONCE)
    return ((start, min(size, pairs - start)) for start in range(0, pairs, size))


def mean_of_pairs(values: npt.NDArray[Any], even: float = 0.0) -> tuple[float, float | None, float | None]:
    """Mean of pairs (n, 2), its standard error, and the chance of being so far from `even` by luck.

    The last two are None for fewer than `FEWEST_PAIRS`.
    """
    means = values.mean(axis=1)
    mean = float(means.mean())
    if len(means) < FEWEST_PAIRS:
        return mean, None, None
    se = float(means.std(ddof=1) / math.sqrt(len(means)))
    return mean, se, p_value(mean - even, se)


def without_luck(played: Played, judge: Evaluator | None, even: float = 0.0) -> WithoutLuck | None:
    """How the first player did without the luck that `judge` tells; None where there is no judge."""
    if judge is None:
        return None
    return WithoutLuck(judge.name, *mean_of_pairs(played.values - played.luck, even))


def match_result(
    points: npt.NDArray[np.integer], error_rate: float = ERROR_RATE, test: SequentialTest | None = None
) -> MatchResult:
    """Return the result of (pairs, 2) points of the first player and of the `test`, if any."""
    ppg, se, fixed = mean_of_pairs(points)
    count, lost = ([int((side >= k).sum()) for k in (1, 2, 3)] for side in (points, turned_equities(points)))
    return MatchResult(
        points.size,
        ppg,
        se,
        count[0],
        count[1],
        count[2],
        lost[0],
        lost[1],
        lost[2],
        test.p_value if test else fixed,
        certain_interval(points, error_rate),
        error_rate,
        CERTAIN if test and test.certain else ALL_PLAYED,
    )


def play_pairs(
    first: Player, second: Player, seed: int, start: int, count: int, *, judge: Evaluator | None = None
) -> Played:
    """Return the pairs start .. start + count - 1."""
    dice = SeededDice(seed).of(np.arange(start, start + count))
    begun, answered = (_played(*seats, dice, count, judge) for seats in ((first, second), (second, first)))
    points, luck = (
        np.stack([one, turned_equities(other)], axis=1) for one, other in zip(begun, answered, strict=True)
    )
    return Played(points, luck, points.size)


def _played(
    first: Player, second: Player, dice: Dice, count: int, judge: Evaluator | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Points and luck of `first`, (count,) each, in games that he begins; none in one that does not end."""
    points, luck = np.zeros(count, np.int64), np.zeros(count)
    for ply in lockstep(first.choose_many, dice, starts(count), second.choose_many):
        points[ply.games] = ply.points
        going = ply.points == 0
        if judge is not None and going.any() and ply.number < MAX_PLIES:
            games = ply.games[going]
            rolls, _ = dice(games, ply.number)
            gains = luck_of_rolls(judge, ply.boards[going], rolls, opening=ply.number == 0)
            luck[games] += gains if ply.number % 2 == 0 else turned_equities(gains)
    return points, luck
