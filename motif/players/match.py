"""Matches of cubeless money games with paired dice.

Every sequence of dice is played twice, with the seats swapped, so that luck cancels where both
players would play alike; the standard error is taken over pairs, which are independent, and not
over games, which are not.
"""

import math
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.board.outcome import finished_points_many
from motif.board.position import Board, Position, pack_many
from motif.evaluators.probabilities import turned_equities
from motif.players.dice import rolls_of_games
from motif.players.player import Player
from motif.players.sequential import ERROR_RATE, SequentialTest, certain_interval, check_error_rate
from motif.rollout.playout import MAX_PLIES
from motif.rollout.settings import check_count
from motif.rollout.statistics import p_value
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import progress
from motif.runtime.seeds import check_seed

CERTAIN, ALL_PLAYED = "certain", "all games played"
"""Why a match ended."""

_PAIRS_AT_ONCE = 256
_BLOCKS, _FEWEST_AT_ONCE = 16, 4
"""Short matches, as slow players play them, are cut into so many blocks, for all workers."""


@dataclass(frozen=True)
class MatchResult:
    """How the first player did against the second."""

    games: int
    ppg: float
    """Points a game won by the first player, cubeless money."""
    se: float
    """Standard error of `ppg`, over pairs of games with the same dice."""
    wins: int
    gammons: int
    """Games won by a gammon or backgammon."""
    backgammons: int
    losses: int
    gammons_lost: int
    backgammons_lost: int
    p_value: float
    """Chance of a difference at least this large between two players who are equally good.

    For all games of a match of fixed length; in one that could end early at most this chance, at any
    time of it."""
    interval: tuple[float, float]
    """Lowest and highest points a game that are possible: true at any time, see `certain_interval`."""
    error_rate: float
    """Chance that `interval` is wrong, and that equal players are told apart."""
    stopped: str
    """Why the match ended: `CERTAIN` or `ALL_PLAYED`."""

    def as_dict(self) -> dict[str, Any]:
        """All fields by name, as JSON has them."""
        return asdict(self) | {"interval": list(self.interval)}


def play_match(
    first: Player,
    second: Player,
    games: int,
    *,
    seed: int = 0,
    jobs: int | None = None,
    until_certain: bool = False,
    error_rate: float = ERROR_RATE,
) -> MatchResult:
    """Play `games` cubeless money games (rounded up to an even number) between two players.

    With `until_certain` the match ends after the pair of games that makes it certain which of them is
    better; equal players are told apart in a share `error_rate` of such matches at most.  The same
    `seed` gives the same games for any number of `jobs`.  Raises `SettingError` for fewer than 2 games,
    for a seed that is none, and for an error rate that is not between 0 and 1.
    """
    check_seed(seed)
    check_count("games", games, 2)
    check_error_rate(error_rate)
    test = SequentialTest(error_rate) if until_certain else None
    return match_result(match_points(first, second, games, seed, jobs, test), error_rate, test)


def match_points(
    first: Player,
    second: Player,
    games: int,
    seed: int,
    jobs: int | None = None,
    test: SequentialTest | None = None,
) -> npt.NDArray[np.int64]:
    """Points of `first` (pairs, 2) in a match, up to the pair that makes it certain for `test`."""
    pairs = (games + 1) // 2
    points = []
    play = partial(play_pairs, first, second, seed)
    with (
        progress(f"{first.name} against {second.name}", 2 * pairs) as advance,
        closing(run_ordered(play, blocks_of_pairs(pairs), jobs)) as played,
    ):
        for block in played:
            points.append(block[: test.add(block)] if test else block)
            advance(block.size)
            if test and test.certain:
                break
    return np.concatenate(points)


def blocks_of_pairs(pairs: int) -> Iterator[tuple[int, int]]:
    """First pair and number of pairs of each block that a worker plays at a time."""
    size = min(max(pairs // _BLOCKS, _FEWEST_AT_ONCE), _PAIRS_AT_ONCE)
    return ((start, min(size, pairs - start)) for start in range(0, pairs, size))


def match_result(
    points: npt.NDArray[np.integer], error_rate: float = ERROR_RATE, test: SequentialTest | None = None
) -> MatchResult:
    """Result of (pairs, 2) points of the first player, and of the `test` that could end the match."""
    means = points.mean(axis=1)
    ppg = float(means.mean())
    se = float(means.std(ddof=1) / math.sqrt(len(means))) if len(means) > 1 else math.nan
    # A single pair tells nothing.
    fixed = 1.0 if math.isnan(se) else p_value(ppg, se)
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


def play_pairs(first: Player, second: Player, seed: int, start: int, count: int) -> npt.NDArray[np.int64]:
    """Points of `first` in the pairs start .. start + count - 1: (count, 2), he moves first in column 0."""
    pairs = np.tile(np.arange(start, start + count), 2)
    boards = np.repeat(Position.start().board[None], 2 * count, axis=0)
    # Who is on roll: `first` (True) in the first half of the games, `second` in the other half.
    first_on_roll = np.arange(2 * count) < count
    points = np.zeros(2 * count, np.int64)
    going = np.arange(2 * count)
    for ply in range(MAX_PLIES):
        rolls, states = rolls_of_games(seed, pairs[going], ply)
        boards[going] = _one_ply(first, second, boards[going], first_on_roll[going], rolls, states)
        first_on_roll[going] = ~first_on_roll[going]
        result = finished_points_many(pack_many(boards[going]).view(np.int64)).astype(np.int64)
        points[going] = np.where(first_on_roll[going], result, turned_equities(result))
        going = going[result == 0]
        if not len(going):
            break
    return points.reshape(2, count).T


def _one_ply(
    first: Player,
    second: Player,
    boards: Board,
    first_on_roll: npt.NDArray[np.bool_],
    rolls: npt.NDArray[np.int64],
    states: npt.NDArray[np.uint64],
) -> Board:
    results = np.empty_like(boards)
    for player, his in ((first, first_on_roll), (second, ~first_on_roll)):
        if his.any():
            results[his] = player.choose_many(boards[his], rolls[his], states[his])
    return results
