"""The state of a session: a match or money games between two players, each a person or a program.

Players are numbered 0 and 1, as in a `MatchRecord`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import cast, get_args

from motif.board.game_record import (
    NO_CUBE_TAG,
    Action,
    CubeAction,
    CubeKind,
    GameProgress,
    GameRecord,
    GameResult,
    MatchRecord,
    Turn,
)
from motif.board.match_state import CubelessMatchState, GameState, MatchState, owner_seen_by
from motif.board.moves import Play, checked_roll, legal_plays
from motif.board.position import Position
from motif.board.rules import (
    MAX_CUBE_PLAYED,
    MAX_SCORE,
    RESIGNATIONS,
    check_match_length,
    gammons_count,
    is_crawford_game,
    is_match_point,
    match_winner,
    may_beaver_in_play,
    may_double_in_play,
)
from motif.players.player import Player
from motif.runtime.errors import RecordError, SettingError
from motif.runtime.settings import SettingFields, check_types


@dataclass(frozen=True)
class SessionRules(SettingFields):
    """Rules of a session.

    Raises `SettingError` for incompatible rules.
    """

    length: int = 0
    """Match length in points; 0 for money play."""
    cube: bool = True
    jacoby: bool = False
    """Money play: gammons count only after a double is taken."""
    beavers: bool = False
    """Money play: the doubled player may immediately double again and keep the cube."""
    raccoons: bool = False
    """Money play: a beaver may be doubled again; the beavering player keeps the cube. Allows beavers too."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_types(self, SettingError)
        check_match_length(self.length, with_money=True)
        if self.raccoons:
            object.__setattr__(self, "beavers", True)
        for name, is_on, verbs in (
            ("the Jacoby rule", self.jacoby, ("is", "needs")),
            ("raccoons", self.raccoons, ("are", "need")),
            ("beavers", self.beavers, ("are", "need")),
        ):
            if is_on and self.length:
                raise SettingError(f"{name} {verbs[0]} for money play, not for a match")
            if is_on and not self.cube:
                raise SettingError(f"{name} {verbs[1]} the cube")


def record_tags(rules: SessionRules, day: date) -> list[tuple[str, str]]:
    """Return the tags of a record: the date, whether there is no cube and, in money play, the Jacoby rule."""
    tags = [("EventDate", f"{day:%Y.%m.%d}"), *[NO_CUBE_TAG] * (not rules.cube)]
    return tags if rules.length else [*tags, ("Jacoby", "On" if rules.jacoby else "Off")]


@dataclass(frozen=True)
class Seat:
    """One of the two players."""

    name: str
    player: Player | None = None
    """None for a person."""

    @property
    def is_person(self) -> bool:
        """Whether a person has the seat."""
        return self.player is None


class GameSession:
    """The state of a session's games: actions, turn and undo."""

    def __init__(
        self,
        seats: tuple[Seat, Seat],
        tags: Sequence[tuple[str, str]] = (),
        rules: SessionRules = SessionRules(),
    ) -> None:
        self.seats = seats
        self.rules = rules
        self.plays: list[Play] = []
        """Legal plays of the roll; empty before the roll and after the game."""
        self._tags = tuple(tags)
        self._finished: list[GameRecord] = []
        self.score = (0, 0)
        """Points of both players in the finished games."""
        self._crawford = False
        self._clear(0)

    def _clear(self, begun_by: int) -> None:
        """Set up a game started by player `begun_by`."""
        self._actions: list[Action] = []
        self._by_person: list[bool] = []
        """Whether a person chose each action."""
        self._rolls: list[tuple[int, int]] = []
        """All rolls of the game, including those of undone plays."""
        self.result: GameResult | None = None
        """Result of the game; None during the game."""
        self._begun_by = begun_by
        self._replay()

    def _replay(self) -> None:
        self._progress = GameProgress()
        self._progress.turn = self._begun_by
        for action in self._actions:
            self._progress.apply(action)

    @property
    def _cube_kind(self) -> CubeKind | None:
        """The last action, if it was a cube action."""
        last = self._actions[-1] if self._actions else None
        return last.kind if isinstance(last, CubeAction) else None

    @property
    def is_going(self) -> bool:
        """Whether a game is in progress."""
        return self.result is None and bool(self._rolls)

    @property
    def games(self) -> int:
        """Number of finished games."""
        return len(self._finished)

    @property
    def match_winner(self) -> int | None:
        """The winner of the match; None during the match and in money play."""
        return match_winner(self.rules.length, self.score)

    @property
    def on_roll(self) -> int:
        """The player on roll, who may have doubled."""
        return self._progress.turn or 0

    @property
    def to_decide(self) -> int:
        """The player to decide: the doubled player, or else the player on roll."""
        return 1 - self.on_roll if self.doubled else self.on_roll

    @property
    def position(self) -> Position:
        """The position seen by the player on roll, or by the next one after the last play."""
        return self._progress.position

    @property
    def ply(self) -> int:
        """Number of turns played in this game."""
        return sum(isinstance(action, Turn) for action in self._actions)

    @property
    def roll(self) -> tuple[int, int] | None:
        """The roll to play; None before the roll and after the game."""
        return self.known_roll if self.plays else None

    @property
    def cube(self) -> int:
        """The value of the cube before a double on offer, including a beaver or raccoon."""
        return self._progress.cube << (self._cube_kind in ("beaver", "raccoon"))

    @property
    def doubled(self) -> bool:
        """Whether a double is on offer."""
        return self.result is None and self._cube_kind == "double"

    @property
    def can_double(self) -> bool:
        """Whether the player on roll may double and can gain by it."""
        before_roll = self.result is None and not self.plays and self.ply > 0
        if not (before_roll and self.rules.cube and self._cube_kind is None):
            return False
        return may_double_in_play(self.state())

    @property
    def answers(self) -> tuple[CubeKind, ...]:
        """Possible answers to the double on offer; empty without one."""
        if not self.doubled:
            return ()
        return ("take", "drop", "beaver") if may_beaver_in_play(self.state()) else ("take", "drop")

    @property
    def can_raccoon(self) -> bool:
        """Whether the player on roll, who was beavered, may double again."""
        was_beavered = self.result is None and not self.plays and self._cube_kind == "beaver"
        return self.rules.raccoons and was_beavered and 2 * self.cube <= MAX_CUBE_PLAYED

    @property
    def gammons_count(self) -> bool:
        """Whether gammons count, which they do not under the Jacoby rule before a double."""
        return gammons_count(self.state())

    def state(self) -> MatchState:
        """Return score, cube and dice, seen as `position` is."""
        side = self.on_roll
        kind = MatchState if self.rules.cube else CubelessMatchState
        return kind(
            length=self.rules.length,
            own_score=min(self.score[side], MAX_SCORE),
            opponent_score=min(self.score[1 - side], MAX_SCORE),
            cube=self.cube,
            cube_owner=owner_seen_by(self._progress.cube_owner, side),
            crawford=self._crawford,
            dice=self.roll,
            doubled=self.doubled,
            jacoby=self.rules.jacoby,
            beavers=self.rules.beavers,
            raccoons=self.rules.raccoons,
            game_state=self._game_state(),
            decision="me" if self.to_decide == side else "opponent",
            player=1 if side else 0,
        )

    def valued_state(self) -> MatchState:
        """Return the state in which plays are valued: that of the player on roll, without the dice."""
        return replace(self.state(), dice=None)

    def begin(self, dice: tuple[int, int]) -> None:
        """Start the next game: each player rolls one die, and the higher one plays both.

        Raises `PlayError` for invalid dice, `RecordError` for equal dice, during a game and after a match.
        """
        if self.is_going:
            raise RecordError("a game is in progress")
        if self.match_winner is not None:
            raise RecordError("the match is over")
        roll = checked_roll(*dice)
        if roll[0] == roll[1]:
            raise RecordError("the opening dice are equal: both players roll again")
        self._clear(int(dice[1] > dice[0]))
        length = self.rules.length
        played = any(is_match_point(length, game.score) for game in self._finished)
        self._crawford = is_crawford_game(length, self.score, played=played)
        self.set_dice(roll)

    def set_dice(self, roll: tuple[int, int]) -> None:
        """Set the roll of the player on roll; after an undo, it is `known_roll`.

        Raises `RecordError` if a double is on offer or the last roll has not been played, `PlayError` for
        invalid dice.
        """
        if self.roll is not None:
            raise RecordError("the roll {}{} has not been played yet".format(*self.roll))
        self._progress.check_turn(self.on_roll)
        if self.known_roll is None:
            self._rolls.append(checked_roll(*roll))
        self.plays = legal_plays(self.position, self._rolls[self.ply])

    @property
    def known_roll(self) -> tuple[int, int] | None:
        """The roll of this turn, even if it was undone; None before it."""
        return self._rolls[self.ply] if self.ply < len(self._rolls) else None

    def play(self, play: Play) -> None:
        """Make one of the legal `plays`."""
        assert self.roll is not None
        self._act(Turn(self.on_roll, self.roll, play), had_choice=len(self.plays) > 1)

    def turn_cube(self, kind: str) -> None:
        """Double, answer or raccoon; raises `RecordError` if that is not possible.

        A beaver cannot be passed, because gnubg could not read the record.
        """
        if kind not in get_args(CubeKind):
            raise RecordError(f"unknown cube action {kind!r}")
        if kind == "double" and not self.can_double:
            raise RecordError("you cannot double now")
        if kind == "raccoon" and not self.can_raccoon:
            raise RecordError("there is no beaver to raccoon")
        if kind not in ("double", "raccoon", *self.answers):
            raise RecordError(f"there is no double to {kind}")
        self._act(CubeAction(self.to_decide, cast("CubeKind", kind)))

    @property
    def can_undo(self) -> bool:
        """Whether a person has made a decision in this game."""
        return any(self._by_person)

    def undo(self) -> None:
        """Take back everything since a person's last decision; the rolls stay the same.

        Raises `RecordError` if there is none.
        """
        if not self.can_undo:
            raise RecordError("there is nothing to undo in this game")
        last = max(place for place, by_person in enumerate(self._by_person) if by_person)
        taken_back = self._actions[last]
        del self._actions[last:], self._by_person[last:]
        self._replay()
        self.plays = []
        if isinstance(taken_back, Turn):
            self.set_dice(taken_back.roll)

    def resignations(self) -> list[str]:
        """Return the losses the player on roll can offer, smallest first."""
        # A player who has borne a checker off cannot lose a gammon.
        can_lose_gammon = self.gammons_count and self.position.own_off == 0
        return list(RESIGNATIONS) if can_lose_gammon else ["single"]

    @property
    def why_single(self) -> str:
        """Why only a single game can be resigned; empty if more can."""
        if not self.gammons_count:
            return "under the Jacoby rule, gammons do not count before a double"
        return "" if len(self.resignations()) > 1 else "with a checker borne off, no gammon can be lost"

    def resign(self, offered: str, by: int | None = None) -> None:
        """End the game with an accepted resignation, `offered` by a player (default: the player on roll)."""
        loser = self.on_roll if by is None else by
        self._end(GameResult(1 - loser, RESIGNATIONS[offered] * self.cube, resigned=True))

    def record(self) -> MatchRecord:
        """Return the record, including the current game."""
        current = [self._game()] * (self.result is None)
        first, second = (seat.name for seat in self.seats)
        return MatchRecord((first, second), self.rules.length, (*self._finished, *current), self._tags)

    def _act(self, action: Action, *, had_choice: bool = True) -> None:
        """Apply `action`; without `had_choice` it was forced.

        It is recorded first, so that an interruption leaves a record that can be read.
        """
        before = self._actions, self._by_person, self.plays
        by_person = [*self._by_person, had_choice and self.seats[action.player].is_person]
        self._actions, self._by_person, self.plays = [*self._actions, action], by_person, []
        try:
            self._progress.apply(action)
        except RecordError:
            self._actions, self._by_person, self.plays = before
            raise
        if (result := self._progress.result) is not None:
            most = result.points if self.gammons_count else self._progress.cube
            self._end(replace(result, points=min(result.points, most)))

    def _game(self) -> GameRecord:
        # In a file, a forced roll counts as played, so it is recorded only after the play.
        waiting = [Turn(self.on_roll, self.roll, None)] if self.roll and len(self.plays) > 1 else []
        return GameRecord(self.score, (*self._actions, *waiting), self.result)

    def _game_state(self) -> GameState:
        if self.result is None:
            return "playing"
        if self.result.resigned:
            return "resigned"
        return "dropped" if self._cube_kind == "drop" else "over"

    def _end(self, result: GameResult) -> None:
        game = replace(self._game(), result=result)
        finished, score = [*self._finished, game], game.score_after
        # At once: an interruption must not find the game both finished and in progress, or neither.
        self._finished, self.score, self.result, self.plays = finished, score, result, []
