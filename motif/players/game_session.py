"""Cubeless money games between two players, of whom any may be a person, one game after another.

Nothing here asks or prints: whoever runs the session throws its dice and makes the persons' plays.
Players are 0 and 1, as in a `MatchRecord`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from motif.board.dice import checked_roll
from motif.board.game_progress import GameProgress
from motif.board.game_record import GameRecord, GameResult, MatchRecord, Turn
from motif.board.moves import Play, legal_plays, play_batches
from motif.board.outcome import Outcome
from motif.board.position import Position
from motif.evaluators import Evaluator
from motif.evaluators.probabilities import turned_equities
from motif.players.player import Player
from motif.runtime.errors import RecordError

RESIGNATIONS = {"single": 1, "gammon": 2, "backgammon": 3}
"""What can be lost, and its points."""

_ROUNDING = 1e-6
"""Probabilities are float32: a lost single game may seem to be worth a little more than a point."""


@dataclass(frozen=True)
class Seat:
    """One side of the table."""

    name: str
    player: Player | None = None
    """None for a person."""

    @property
    def is_person(self) -> bool:
        """Whether somebody must be asked."""
        return self.player is None


class GameSession:
    """Where the games stand: what has been played, whose turn it is, what can be taken back."""

    def __init__(self, seats: tuple[Seat, Seat], tags: Sequence[tuple[str, str]] = ()) -> None:
        self.seats = seats
        self.plays: list[Play] = []
        """Legal plays of the roll; empty before it and after the game."""
        self._tags = tuple(tags)
        self._finished: list[GameRecord] = []
        self._score = (0, 0)
        self._rolls: list[tuple[int, int]] = []
        """Every roll of the game, those too whose plays were taken back."""
        self._turns: list[Turn] = []
        self._chosen: list[bool] = []
        """For each turn, whether a person had a choice."""
        self._progress = GameProgress()
        self._result: GameResult | None = None

    @property
    def games(self) -> int:
        """How many games have ended."""
        return len(self._finished)

    @property
    def score(self) -> tuple[int, int]:
        """Points of the two players in the games that have ended."""
        return self._score

    @property
    def on_roll(self) -> int:
        """Whose turn it is."""
        return self._progress.turn or 0

    @property
    def position(self) -> Position:
        """Seen by the player whose turn it is; after the game, by the one who did not play last."""
        return self._progress.position

    @property
    def ply(self) -> int:
        """Turns played in this game."""
        return len(self._turns)

    @property
    def roll(self) -> tuple[int, int] | None:
        """The roll to play; None where the dice are still to be thrown, and after the game."""
        return self._rolls[self.ply] if self.plays else None

    @property
    def result(self) -> GameResult | None:
        """How the game ended; None while it goes on."""
        return self._result

    def begin(self, dice: tuple[int, int]) -> None:
        """Start the next game: each player throws one die, the higher plays both.

        Raises `PlayError` for dice that are none, `RecordError` for equal ones.
        """
        roll = checked_roll(*dice)
        if roll[0] == roll[1]:
            raise RecordError("equal dice start no game: both throw again")
        self._rolls, self._turns, self._chosen = [], [], []
        self._progress, self._result = GameProgress(), None
        self._progress.turn = int(dice[1] > dice[0])
        self.throw(roll)

    def throw(self, roll: tuple[int, int]) -> None:
        """Let the player whose turn it is have rolled `roll`.

        Where a play was taken back `known_roll` is that roll, and nothing else can be.
        """
        if self.known_roll is None:
            self._rolls.append(checked_roll(*roll))
        self.plays = legal_plays(self.position, self._rolls[self.ply])

    @property
    def known_roll(self) -> tuple[int, int] | None:
        """The roll of this turn where it was thrown before the last play was taken back."""
        return self._rolls[self.ply] if self.ply < len(self._rolls) else None

    def play(self, play: Play) -> None:
        """Make one of the legal `plays`."""
        turn = Turn(self.on_roll, self._rolls[self.ply], play)
        self._chosen.append(len(self.plays) > 1 and self.seats[self.on_roll].is_person)
        self._progress.apply(turn)
        self._turns.append(turn)
        self.plays = []
        if self._progress.result is not None:
            self._end(self._progress.result)

    @property
    def can_undo(self) -> bool:
        """Whether a person has made a choice in this game."""
        return any(self._chosen)

    def undo(self) -> None:
        """Go back to the last choice that a person made; the dice stay as they fell.

        Raises `RecordError` where there is none.
        """
        if not self.can_undo:
            raise RecordError("there is nothing to take back in this game")
        last = max(ply for ply, chosen in enumerate(self._chosen) if chosen)
        begun_by = self._turns[0].player
        del self._turns[last:], self._chosen[last:]
        self._progress = GameProgress()
        self._progress.turn = begun_by
        for turn in self._turns:
            self._progress.apply(turn)
        self.throw(self._rolls[last])

    def resignations(self) -> list[str]:
        """What the player on roll can offer to lose, the least first: no gammon with checkers off."""
        return list(RESIGNATIONS) if self.position.own_off == 0 else ["single"]

    def resign(self, offered: str) -> None:
        """End the game: the player on roll loses what was `offered`, and accepted."""
        self._end(GameResult(1 - self.on_roll, RESIGNATIONS[offered], resigned=True))

    def expected_loss(self, evaluator: Evaluator) -> float:
        """The points that the player who is to play his roll loses on average, says `evaluator`."""
        board, roll = self.position.board[None], np.array([self._rolls[self.ply]])
        equities = evaluator.play_equities(board, next(play_batches(board, roll)))
        return float(turned_equities(equities).min())

    def accepts(self, evaluator: Evaluator, offered: str) -> bool:
        """Whether a resignation is worth at least what playing on is, to the other player."""
        return self.expected_loss(evaluator) <= RESIGNATIONS[offered] + _ROUNDING

    def record(self) -> MatchRecord:
        """All that was played, the game that goes on included."""
        games = self._finished if self._result is not None else [*self._finished, self._game()]
        first, second = (seat.name for seat in self.seats)
        return MatchRecord((first, second), 0, tuple(games), self._tags)

    def _game(self) -> GameRecord:
        # A roll that leaves no choice counts as played in a file; so it is not recorded before it is.
        waiting = [Turn(self.on_roll, self._rolls[self.ply], None)] if len(self.plays) > 1 else []
        return GameRecord(self._score, (*self._turns, *waiting), self._result)

    def _end(self, result: GameResult) -> None:
        self._result = result
        self._finished.append(self._game())
        score = list(self._score)
        score[result.winner] += result.points
        self._score = (score[0], score[1])
        self.plays = []


def result_in_words(result: GameResult) -> str:
    """``a gammon``, say: what was won, the cube being at 1."""
    kind = Outcome(result.points).name.removeprefix("WIN_").lower()
    return "a single game" if kind == "single" else f"a {kind}"
