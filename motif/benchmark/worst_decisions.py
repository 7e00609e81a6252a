"""The decisions of benchmark files that cost a player most."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from motif.benchmark.choices import Choices
from motif.benchmark.losses import MILLIPOINTS
from motif.board.identifiers import gnubg_id, position_key
from motif.board.match_state import MatchState
from motif.board.moves import Play, legal_plays
from motif.board.position import Position
from motif.board.xgid import xgid
from motif.parameters.position_class import CLASS_NAMES


@dataclass(frozen=True)
class JudgedPlay:
    """A play, and what it loses in millipoints against the best."""

    notation: str
    """The play as players write it; empty for a dance.  What a file lists and cannot be played is its key."""
    loss: float
    moves: tuple[tuple[int, int], ...]
    """Moves of single dice (from, to)."""


@dataclass(frozen=True)
class WorstDecision:
    """A decision, and what was played."""

    path: str
    line: int | None
    """Where it stands in the file, counted from 1; None where the decisions come from no file."""
    position: Position
    roll: tuple[int, int]
    """The higher die first."""
    class_name: str
    played: JudgedPlay
    is_listed: bool
    """Whether the file lists the play; if not, it may lose more than the worst one listed, which counts."""
    listed: tuple[JudgedPlay, ...]
    """The file's plays, the best one first."""

    @property
    def state(self) -> MatchState:
        """Money play with the roll on the board."""
        return MatchState(dice=self.roll)

    @property
    def best(self) -> tuple[JudgedPlay, ...]:
        """The plays that lose nothing."""
        return tuple(play for play in self.listed if play.loss == 0)

    def as_dict(self) -> dict[str, Any]:
        """For JSON: places, identifiers and plays."""
        return {
            "file": self.path,
            "line": self.line,
            "position": gnubg_id(self.position),
            "xgid": xgid(self.position, self.state),
            "roll": list(self.roll),
            "class": self.class_name,
            "play": self.played.notation,
            "loss": self.played.loss,
            "is_listed": self.is_listed,
            "listed": [{"play": play.notation, "loss": play.loss} for play in self.listed],
        }


def worst_decisions(choices: Sequence[Choices], count: int) -> list[WorstDecision]:
    """The `count` decisions that cost most, or fewer if fewer cost anything; the first of equal ones."""
    losses = np.concatenate([one.losses for one in choices])
    ends = np.cumsum([len(one.losses) for one in choices])
    worst = np.argsort(-losses, kind="stable")[:count]
    decisions = []
    for row in worst[losses[worst] > 0].tolist():
        number = int(np.searchsorted(ends, row, side="right"))
        decisions.append(_decision(choices[number], row - int(ends[number]) + len(choices[number].losses)))
    return decisions


def _decision(choices: Choices, row: int) -> WorstDecision:
    benchmark = choices.benchmark
    position = Position(benchmark.boards[row])
    high, low = benchmark.rolls[row].tolist()
    plays = {play.position: play for play in legal_plays(position, (high, low))}
    part = slice(*benchmark.offsets[row : row + 2].tolist())
    listed = [
        _judged(Position(board), plays, loss)
        for board, loss in zip(benchmark.listed[part], benchmark.losses[part].tolist(), strict=True)
    ]
    return WorstDecision(
        benchmark.path,
        int(benchmark.record.lines[row]) if benchmark.record else None,
        position,
        (high, low),
        CLASS_NAMES[choices.classes[row]],
        _judged(Position(choices.chosen[row]), plays, float(choices.losses[row])),
        bool(choices.listed[row]),
        tuple(listed),
    )


def _judged(after: Position, plays: dict[Position, Play], loss: float) -> JudgedPlay:
    play = plays.get(after)
    if play is None:
        return JudgedPlay(f"{position_key(after)} (not a legal play)", MILLIPOINTS * loss, ())
    return JudgedPlay(play.notation, MILLIPOINTS * loss, play.moves)
