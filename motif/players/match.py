"""Matches of cubeless money games with paired dice.

Every sequence of dice is played twice, with the seats swapped, so that luck cancels where both
players would play alike; the standard error is taken over pairs, which are independent, and not
over games, which are not.
"""

import math
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.board.outcome import finished_points_many
from motif.board.position import Board, Position, pack_many
from motif.evaluators.probabilities import turned_equities
from motif.players.player import Player
from motif.rollout.playout import MAX_PLIES
from motif.rollout.statistics import p_value
from motif.runtime.errors import SettingError
from motif.runtime.jit import kernel
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import progress
from motif.runtime.seeds import check_seed
from motif.runtime.streams import derive, next_roll

_PAIRS_AT_ONCE = 256


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
    """Chance of a difference at least this large between two players who are equally good."""

    def as_dict(self) -> dict[str, Any]:
        """All fields by name."""
        return asdict(self)


def play_match(
    first: Player, second: Player, games: int, *, seed: int = 0, jobs: int | None = None
) -> MatchResult:
    """Play `games` cubeless money games (rounded up to an even number) between two players.

    The same `seed` gives the same games for any number of `jobs`.  Raises `SettingError` for fewer than
    2 games, and for a seed that is none.
    """
    check_seed(seed)
    if games < 2:
        raise SettingError(f"a match needs at least 2 games, not {games}")
    pairs = (games + 1) // 2
    blocks = [(start, min(_PAIRS_AT_ONCE, pairs - start)) for start in range(0, pairs, _PAIRS_AT_ONCE)]
    points = []
    with progress(f"{first.name} against {second.name}", 2 * pairs) as advance:
        for block in run_ordered(partial(_play_pairs, first, second, seed), blocks, jobs):
            points.append(block)
            advance(block.size)
    return _summary(np.concatenate(points))


def _summary(points: npt.NDArray[np.int64]) -> MatchResult:
    """Result of (pairs, 2) points of the first player."""
    means = points.mean(axis=1)
    ppg = float(means.mean())
    se = float(means.std(ddof=1) / math.sqrt(len(means))) if len(means) > 1 else math.nan
    # A single pair tells nothing.
    chance = 1.0 if math.isnan(se) else p_value(ppg, se)
    count = [int((points >= k).sum()) for k in (1, 2, 3)]
    lost = [int((points <= -k).sum()) for k in (1, 2, 3)]
    return MatchResult(points.size, ppg, se, count[0], count[1], count[2], lost[0], lost[1], lost[2], chance)


def _play_pairs(first: Player, second: Player, seed: int, start: int, count: int) -> npt.NDArray[np.int64]:
    """Points of `first` in the pairs start .. start + count - 1: (count, 2), he moves first in column 0."""
    pairs = np.tile(np.arange(start, start + count), 2)
    boards = np.repeat(Position.start().board[None], 2 * count, axis=0)
    # Who is on roll: `first` (True) in the first half of the games, `second` in the other half.
    first_on_roll = np.arange(2 * count) < count
    points = np.zeros(2 * count, np.int64)
    going = np.arange(2 * count)
    for ply in range(MAX_PLIES):
        rolls, states = _dice(seed, pairs[going], ply)
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


@kernel
def _dice(seed, pairs, ply):
    """Rolls (n, 2) of a ply in each of `pairs`, no double at the start, and states for random choices."""
    rolls = np.empty((pairs.shape[0], 2), np.int64)
    states = np.empty(pairs.shape[0], np.uint64)
    stream = np.zeros(1, np.uint64)
    for k in range(pairs.shape[0]):
        stream[0] = derive(np.uint64(seed), np.uint64(pairs[k]), np.uint64(ply))
        high, low = next_roll(stream)
        while ply == 0 and high == low:
            high, low = next_roll(stream)
        rolls[k, 0], rolls[k, 1] = high, low
        states[k] = stream[0]
    return rolls, states
