"""What every evaluator is: something that gives a position its probabilities."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.board.moves import PlayBatch
from motif.board.position import Board, Position
from motif.evaluators.probabilities import Probabilities, equities, turned_equities
from motif.runtime.errors import PlayerError


class Evaluator(ABC):
    """Gives positions their values for the player on roll, before the roll."""

    name: str
    """The player name that loads it."""

    @property
    def without_lookahead(self) -> "Evaluator":
        """The evaluator that this one looks ahead with; itself where it does not."""
        return self

    @abstractmethod
    def evaluate_many(self, positions: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Five cumulative probabilities float32 (n, 5) of `positions` int8 (n, 26).

        Raises `PositionError` naming the first row that is no position.
        """

    def evaluate(self, position: Position) -> Probabilities:
        """The five probabilities of one position."""
        return Probabilities(*map(float, self.evaluate_many(position.board[None])[0]))

    def equity_many(self, boards: Board) -> npt.NDArray[np.float64]:
        """The equities float64 (n,) by which it ranks positions; an equity head's where it has one."""
        return equities(self.evaluate_many(boards).astype(np.float64))

    def play_equities(self, before: Board, plays: PlayBatch) -> npt.NDArray[np.float64]:
        """What each of `plays` (m in all) of the decisions on `before` (n, 26) is worth to its mover: (m,).

        This is how plays are ranked everywhere.
        """
        return turned_equities(self.equity_many(plays.boards))

    def details(self, position: Position) -> dict[str, Any]:
        """What it sees in one position, by name: ``features`` (name -> value), raw sums, scores.

        Raises `PlayerError` where there is nothing to see.
        """
        raise PlayerError(f"the player {self.name!r} has no details to show")
