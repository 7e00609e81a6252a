"""What a player chooses among the recorded plays of a dataset's decisions.

A dataset holds the positions after the plays, but neither the roll nor the position before it: choices
are made by the values of the positions.  Losses are by the labels: see `motif.benchmark.recorded`.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from motif.benchmark.losses import Losses
from motif.benchmark.recorded import RecordedDecisions, recorded_decisions
from motif.board.position import Board
from motif.evaluators import Evaluator
from motif.evaluators.probabilities import turned_equities
from motif.players.player import CompiledPlayer, EvaluatorPlayer, Player
from motif.runtime.errors import BenchmarkError, PlayerError
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import progress

_POSITIONS_AT_ONCE = 2048


class LabelledPositions(Protocol):
    """The columns of a dataset, or of a part of one, that matter here; all of one length."""

    @property
    def boards(self) -> Board:
        """After the recorded plays, seen by the next player (positions, 26)."""

    @property
    def equity(self) -> npt.NDArray[np.float32]:
        """Labels in points, for that player."""

    @property
    def decision(self) -> npt.NDArray[np.int64]:
        """Ids."""

    @property
    def position_class(self) -> npt.NDArray[np.int8]:
        """As in `motif.parameters.position_class`."""


@dataclass(frozen=True)
class DatasetDecisions:
    """The decisions of a dataset that have two recorded plays or more."""

    recorded: RecordedDecisions
    boards: Board
    """After the plays, seen by the next player (m, 26)."""

    def __len__(self) -> int:
        return len(self.recorded)


def dataset_decisions(path: str, parts: Iterable[LabelledPositions]) -> DatasetDecisions:
    """The decisions of the dataset at `path`, whose `parts` `motif.sampling.read_parts` reads.

    Raises `BenchmarkError` where no decision has two recorded plays, and for a label that is no number.
    """
    columns = ((part.boards, part.decision, part.equity, part.position_class) for part in parts)
    boards, *rest = (np.concatenate(column) for column in zip(*columns, strict=True))
    recorded = recorded_decisions(path, *rest)
    if not len(recorded):
        raise BenchmarkError(f"{path}: no decision has two recorded plays to choose between")
    if not np.isfinite(recorded.gains).all():
        raise BenchmarkError(f"{path}: the equity of a position is not a finite number")
    return DatasetDecisions(recorded, boards[recorded.rows])


def choosing_by_value(player: Player) -> Evaluator:
    """The evaluator whose values of positions decide what `player` plays.

    Raises `PlayerError` for one who chooses in another way, as ``random``, ``best-of-four`` and ``gnubg``.
    """
    if player.evaluator is None or not isinstance(player, CompiledPlayer | EvaluatorPlayer):
        raise PlayerError(
            f"the player {player.name!r} does not choose by values of positions; a dataset has no rolls to "
            "ask for plays with"
        )
    return player.evaluator


def dataset_losses(evaluator: Evaluator, decisions: DatasetDecisions, *, jobs: int | None = None) -> Losses:
    """What the plays lose that `evaluator` values highest.

    A point table is that of the class of the position after the play, not of the one before it, which
    the dataset does not hold.
    """
    values = turned_equities(np.concatenate(list(_equities(evaluator, decisions, jobs))))
    return decisions.recorded.losses(values)


def _equities(
    evaluator: Evaluator, decisions: DatasetDecisions, jobs: int | None
) -> Iterator[npt.NDArray[np.float64]]:
    boards = decisions.boards
    starts = range(0, len(boards), _POSITIONS_AT_ONCE)
    calls = ((boards[start : start + _POSITIONS_AT_ONCE],) for start in starts)
    title = f"{evaluator.name} on {decisions.recorded.path}"
    with (
        progress(title, len(boards)) as advance,
        closing(run_ordered(evaluator.equity_many, calls, jobs)) as found,
    ):
        for part in found:
            advance(len(part))
            yield part
