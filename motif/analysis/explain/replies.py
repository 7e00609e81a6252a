"""What lookahead saw in the replies: the rolls that make two plays differ, and how many of them hit."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.analysis.explain.form import FloatArray
from motif.board.movegen import ROLL_COUNTS, ROLLS
from motif.board.moves import Play
from motif.board.notation import NO_MOVE
from motif.board.packed import OPPONENT_BAR, OWN_BAR, Board
from motif.evaluators import LookaheadEvaluator
from motif.evaluators.stakes import Stakes

THROWS = int(ROLL_COUNTS.sum())
_NAMED = 3
"""Rolls that are named."""
_WORTH_NAMING = 0.05
"""Equity by which a roll must make the plays differ to be named."""


@dataclass(frozen=True, eq=False)
class Replies:
    """The opponent's best replies to two plays, roll by roll; values are those of the plays' player."""

    evaluator: str
    values: FloatArray
    """(2, 21): after the reply to each of `motif.board.movegen.ROLLS`, by play."""
    hits: tuple[int, int]
    """How many of the 36 throws hit after each play."""
    hit_rolls: npt.NDArray[np.bool_] = field(repr=False)
    """(2, 21): which rolls do."""

    @property
    def differences(self) -> FloatArray:
        """(21,): by how much each roll is better for the first play."""
        return np.asarray(self.values[0] - self.values[1])

    @property
    def difference(self) -> float:
        """By how much the first play is better over all rolls."""
        return float(self.differences @ ROLL_COUNTS) / THROWS

    @property
    def of_hits(self) -> float:
        """The part of `difference` that comes from rolls that hit after either play."""
        either = self.hit_rolls.any(axis=0)
        return float((self.differences * either) @ ROLL_COUNTS) / THROWS

    def sentences(self, better: Play, worse: Play) -> tuple[str, ...]:
        """The replies that matter, in words."""
        names = [play.notation or NO_MOVE for play in (better, worse)]
        lines = []
        if self.hits != (0, 0):
            first, second = (_throws(count) for count in self.hits)
            lines.append(
                f"The opponent hits with {first} after {names[0]}, with {second} after {names[1]}; "
                f"these rolls make {self.of_hits:+.3f} of the difference."
            )
        parts = self.differences * ROLL_COUNTS / THROWS
        for sign, name in ((1, names[0]), (-1, names[1])):
            order = np.argsort(-sign * parts)[:_NAMED]
            rolls = [k for k in order if sign * self.differences[k] > _WORTH_NAMING]
            if rolls:
                told = ", ".join(
                    f"{ROLLS[k, 0]}-{ROLLS[k, 1]} ({self.differences[k]:+.2f})" for k in sorted(rolls)
                )
                lines.append(f"Rolls after which {name} stands better: {told}.")
        return tuple(lines)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        rolls = {
            f"{high}{low}": float(value)
            for (high, low), value in zip(ROLLS.tolist(), self.differences, strict=True)
        }
        return {
            "player": self.evaluator,
            "difference": self.difference,
            "hits": list(self.hits),
            "of_hits": self.of_hits,
            "rolls": rolls,
        }


def replies(evaluator: LookaheadEvaluator, better: Play, worse: Play, stakes: Stakes) -> Replies:
    """The best replies to two plays of the player who is side 0 of the `stakes`."""
    after = np.array([better.position.board, worse.position.board])
    boards: Board = np.repeat(after, len(ROLLS), axis=0)
    replied = evaluator.without_lookahead.staked(stakes, side=1).best_plays(boards, np.tile(ROLLS, (2, 1)))
    values = evaluator.below.staked(stakes, side=0).equity_many(replied.boards).reshape(2, len(ROLLS))
    # The opponent was on roll before the reply: whose bar is whose changes with the view.
    before = -boards[:, OPPONENT_BAR]
    hit = (replied.boards[:, OWN_BAR] > before).reshape(2, len(ROLLS))
    first, second = (hit @ ROLL_COUNTS).tolist()
    return Replies(evaluator.name, values, (first, second), hit)


def _throws(count: int) -> str:
    return "no roll" if count == 0 else f"{count} of {THROWS} rolls"
