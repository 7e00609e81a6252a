"""Games and matches as they were played: sequences of rolls, plays and cube actions, and of games.

The two players are 0 and 1, in the order of `MatchRecord.players`.  The records know nothing of files
and of screens.  `GameProgress` follows a game: how it stands after some of its actions, and which may
come next.
"""

from dataclasses import dataclass
from typing import Literal

from motif.board.match_state import LARGEST_CUBE
from motif.board.moves import Play
from motif.board.outcome import outcome
from motif.board.position import Position
from motif.runtime.errors import RecordError

CubeKind = Literal["double", "beaver", "raccoon", "take", "drop"]
_RAISES: tuple[CubeKind, ...] = ("double", "beaver", "raccoon")
"""Each may answer the one before it."""


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


class GameProgress:
    """Follows one game; either player may begin."""

    def __init__(self) -> None:
        self.position = Position.start()
        """Seen by the player whose turn it is."""
        self.turn: int | None = None
        """Who plays next, or has doubled; None before the first action."""
        self.cube = 1
        self.cube_owner: int | None = None
        self.result: GameResult | None = None
        """Set when checkers are borne off or a double is dropped."""
        self.waiting: Turn | None = None
        """A roll without a play: nothing but the end of the game can follow it."""
        self._raised: CubeAction | None = None
        """The double, beaver or raccoon that has not been answered."""

    def apply(self, action: Action) -> None:
        """Go on by one action, whose play is taken to be legal; raises `RecordError` where it cannot come."""
        self._check_going()
        if isinstance(action, Turn):
            self._roll(action)
        elif action.kind in _RAISES:
            self._raise(action)
        else:
            self._answer(action)

    def check_turn(self, player: int) -> None:
        """Raise `RecordError` unless `player` may roll now."""
        self._check_going()
        # A beaver or raccoon is taken by playing on; a first double is not.
        if self._raised is not None and self._raised.kind == "double":
            raise RecordError("the double is neither taken nor dropped")
        if self.turn not in (None, player):
            raise RecordError("the other player is on roll")

    def _check_going(self) -> None:
        if self.result is not None:
            raise RecordError("the game is over")
        if self.waiting is not None:
            raise RecordError("the roll {}{} before it was not played".format(*self.waiting.roll))

    def _roll(self, turn: Turn) -> None:
        self.check_turn(turn.player)
        self.turn = turn.player
        if self._raised is not None:
            self._accept()
        if turn.play is None:
            self.waiting = turn
            return
        self.position, self.turn = turn.play.position, 1 - turn.player
        if points := outcome(self.position):
            self.result = GameResult(turn.player, self.cube * abs(points))

    def _raise(self, action: CubeAction) -> None:
        if self.cube * (2 if self._raised is None else 4) > LARGEST_CUBE:
            raise RecordError(f"the cube goes up to {LARGEST_CUBE}")
        if action.kind == "double":
            self.check_turn(action.player)
            if self._raised is not None:
                raise RecordError(f"no double can follow a {self._raised.kind}")
            if self.cube_owner not in (None, action.player):
                raise RecordError("the other player owns the cube")
            self.turn = action.player
        else:
            question = _RAISES[_RAISES.index(action.kind) - 1]
            if self._raised != CubeAction(1 - action.player, question):
                raise RecordError(f"a {action.kind} answers the other player's {question}")
            self._accept()
        self._raised = action

    def _answer(self, action: CubeAction) -> None:
        if self._raised is None or self._raised.player == action.player:
            raise RecordError(f"there is no double to {action.kind}")
        if action.kind == "take":
            self._accept()
        else:
            self.result = GameResult(1 - action.player, self.cube)

    def _accept(self) -> None:
        """Double the cube; it goes, or stays, with the player who was doubled first."""
        assert self.turn is not None
        self.cube *= 2
        self.cube_owner = 1 - self.turn
        self._raised = None
