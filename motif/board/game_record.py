"""What was played: games as sequences of rolls, plays and cube actions; and matches as sequences of games.

The two players are 0 and 1, in the order of `MatchRecord.players`.  The types know nothing of files
and of screens; `motif.board.game_progress` knows which actions may follow which.
"""

from dataclasses import dataclass
from typing import Literal

from motif.board.moves import Play

CubeKind = Literal["double", "beaver", "raccoon", "take", "drop"]


@dataclass(frozen=True)
class Turn:
    """A roll and what was played with it."""

    player: int
    roll: tuple[int, int]
    """The higher die first."""
    play: Play | None
    """None when the game ended, or the record does, before a choice was made."""


@dataclass(frozen=True)
class CubeAction:
    """A double, or the answer to one."""

    player: int
    kind: CubeKind


Action = Turn | CubeAction


@dataclass(frozen=True)
class GameResult:
    """How a game ended."""

    winner: int
    points: int
    """With the cube; at least 1."""
    resigned: bool = False


@dataclass(frozen=True)
class GameRecord:
    """One game from its first roll on; it may be unfinished."""

    score: tuple[int, int] = (0, 0)
    """Points of the players before the game."""
    actions: tuple[Action, ...] = ()
    result: GameResult | None = None
    """None while the game goes on."""


@dataclass(frozen=True)
class MatchRecord:
    """Games between two players."""

    players: tuple[str, str]
    length: int = 0
    """Points that the match is played to; 0 is money play."""
    games: tuple[GameRecord, ...] = ()
    tags: tuple[tuple[str, str], ...] = ()
    """Names and values of what else is known, such as EventDate."""
