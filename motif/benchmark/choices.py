"""What a player chooses for the decisions of a benchmark file, and what each choice loses there."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from motif.benchmark.files import BenchmarkFile
from motif.benchmark.losses import Losses
from motif.board.position import Board, pack_many
from motif.parameters.position_class import classify_many
from motif.players.player import Player
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import progress
from motif.runtime.seeds import check_seed
from motif.runtime.streams import derive_states

_DECISIONS_AT_ONCE = 500


@dataclass(frozen=True)
class Choices(Losses):
    """A player's plays for every decision of a file, in its order.

    A play that the file does not list loses what its worst one does.  Classes are those of the positions
    before the roll.
    """

    benchmark: BenchmarkFile
    chosen: Board
    """Boards after the chosen plays (n, 26)."""


def player_choices(
    player: Player, benchmark: BenchmarkFile, *, seed: int = 0, jobs: int | None = None
) -> Choices:
    """Let `player` choose a play for every decision of `benchmark`.

    Raises `SettingError` for a seed that is none.
    """
    check_seed(seed)
    chosen = np.concatenate(list(_chosen(player, benchmark, seed, jobs)))
    decision = np.repeat(np.arange(len(benchmark)), np.diff(benchmark.offsets))
    same = (benchmark.listed == chosen[decision]).all(axis=1)
    losses = np.maximum.reduceat(benchmark.losses, benchmark.offsets[:-1])
    losses[decision[same]] = benchmark.losses[same]
    listed = np.zeros(len(benchmark), np.bool_)
    listed[decision[same]] = True
    classes = classify_many(pack_many(benchmark.boards))
    return Choices(benchmark.path, losses, listed, classes, benchmark, chosen)


def _chosen(player: Player, benchmark: BenchmarkFile, seed: int, jobs: int | None) -> Iterator[Board]:
    starts = range(0, len(benchmark), _DECISIONS_AT_ONCE)
    states = derive_states(seed, 0, len(benchmark), 0)
    parts = (slice(start, start + _DECISIONS_AT_ONCE) for start in starts)
    calls = ((benchmark.boards[part], benchmark.rolls[part], states[part]) for part in parts)
    with progress(f"{player.name} on {benchmark.path}", len(benchmark)) as advance:
        for chosen in run_ordered(player.choose_many, calls, jobs):
            advance(len(chosen))
            yield chosen
