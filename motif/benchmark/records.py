"""What GNUbg benchmark files hold beside the decisions: rollouts, positions for the cube, settings."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from motif.board.position import Board

CubeAction = Literal["ND", "D/T", "D/D", "TG"]
"""No double; double, take; double, drop; too good to double."""
CUBE_ACTIONS: tuple[str, ...] = get_args(CubeAction)

NO_SEED = -1
"""Where a file names no seed."""


@dataclass(frozen=True)
class RolledOut:
    """Positions with their chances by rollout."""

    boards: Board
    """(n, 26), seen by the player on roll."""
    probabilities: npt.NDArray[np.float64]
    """(n, 5): those of the player on roll, in the order of `motif.evaluators.Probabilities`."""
    seeds: npt.NDArray[np.int64]
    """(n,): of the rollout, or `NO_SEED`."""
    lines: npt.NDArray[np.int64]
    """(n,): where they stand in the file, counted from 1."""

    def __len__(self) -> int:
        return len(self.boards)


@dataclass(frozen=True)
class CubeRollouts:
    """Positions rolled out with the cube: whether to double, and to take."""

    boards: Board
    """(n, 26), seen by the player who may double."""
    no_double: npt.NDArray[np.float64]
    """(n,): his chance to win the match without a double, in per cent."""
    double_take: npt.NDArray[np.float64]
    """(n,): the same after a double and a take."""
    actions: tuple[CubeAction, ...]
    lines: npt.NDArray[np.int64]
    """(n,)"""

    def __len__(self) -> int:
        return len(self.boards)


class Note(NamedTuple):
    """A line that says nothing of a position, as it stands."""

    line: int
    text: str


@dataclass(frozen=True)
class Record:
    """What a benchmark file holds beside the decisions, and where those stand."""

    lines: npt.NDArray[np.int64]
    """(n,): of each decision."""
    equities: npt.NDArray[np.float64]
    """(n,): of the best play, for the mover, in points."""
    seeds: npt.NDArray[np.int64]
    """(n,): of the rollouts of each decision, or `NO_SEED`."""
    rollouts: RolledOut
    """Positions after plays, seen by the next player on roll."""
    rollout_of: npt.NDArray[np.int64]
    """(m,): for each listed play its row of `rollouts`, or -1 where the file has none."""
    cube_positions: RolledOut
    """Positions for decisions with the cube, at whatever score."""
    cube_rollouts: CubeRollouts
    notes: tuple[Note, ...]
    """Settings, comments and everything that no other field has."""

    @property
    def cube_decisions(self) -> int:
        """How many positions are there for the cube."""
        return len(self.cube_positions) + len(self.cube_rollouts)

    @property
    def settings(self) -> dict[str, str]:
        """What the file says of its making, by name ("version", "nRollOutGames"); the last word counts."""
        words = [note.text.split()[1:] for note in self.notes if note.text.split()[0] == "s"]
        return {name: value for pairs in words for name, value in zip(pairs[::2], pairs[1::2], strict=False)}
