"""Error rates: what a player's choices lose on the decisions of a benchmark file."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.benchmark.files import BenchmarkFile
from motif.board.position import Board
from motif.players.player import Player
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import progress
from motif.runtime.seeds import check_seed
from motif.runtime.streams import derive_states

_DECISIONS_AT_ONCE = 500
_MILLIPOINTS = 1000


@dataclass(frozen=True)
class ErrorRate:
    """Mean loss of a player on one file."""

    er: float
    """Mean loss a decision in millipoints."""
    se: float
    """Standard error of `er`."""
    decisions: int
    unlisted: int
    """Choices that the file does not list; each costs the largest loss listed for its decision."""

    def as_dict(self) -> dict[str, Any]:
        """All fields by name."""
        return asdict(self)


def error_rate(
    player: Player, benchmark: BenchmarkFile, *, seed: int = 0, jobs: int | None = None
) -> ErrorRate:
    """Let `player` choose a play for every decision of `benchmark` and compare with the listed losses."""
    losses, listed = decision_losses(player, benchmark, seed=seed, jobs=jobs)
    count = len(losses)
    se = float(losses.std(ddof=1) / math.sqrt(count)) if count > 1 else math.nan
    return ErrorRate(_MILLIPOINTS * float(losses.mean()), _MILLIPOINTS * se, count, int(count - listed.sum()))


def decision_losses(
    player: Player, benchmark: BenchmarkFile, *, seed: int = 0, jobs: int | None = None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """For each decision what the player's choice loses, in points, and whether the file lists it.

    Raises `SettingError` for a seed that is none.
    """
    check_seed(seed)
    chosen = np.concatenate(list(_choices(player, benchmark, seed, jobs)))
    decision = np.repeat(np.arange(len(benchmark)), np.diff(benchmark.offsets))
    same = (benchmark.listed == chosen[decision]).all(axis=1)
    losses = np.maximum.reduceat(benchmark.losses, benchmark.offsets[:-1])
    losses[decision[same]] = benchmark.losses[same]
    listed = np.zeros(len(benchmark), np.bool_)
    listed[decision[same]] = True
    return losses, listed


def _choices(player: Player, benchmark: BenchmarkFile, seed: int, jobs: int | None) -> Iterator[Board]:
    starts = range(0, len(benchmark), _DECISIONS_AT_ONCE)
    states = derive_states(seed, 0, len(benchmark), 0)
    parts = (slice(start, start + _DECISIONS_AT_ONCE) for start in starts)
    calls = ((benchmark.boards[part], benchmark.rolls[part], states[part]) for part in parts)
    with progress(f"{player.name} on {benchmark.path}", len(benchmark)) as advance:
        for chosen in run_ordered(player.choose_many, calls, jobs):
            advance(len(chosen))
            yield chosen
