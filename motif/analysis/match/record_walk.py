"""Every roll and every chance to double of a match, in the order of play, with all that they depend on."""

from dataclasses import dataclass, field, replace

from motif.board.game_record import (
    CubeKind,
    GameProgress,
    GameRecord,
    MatchRecord,
    Turn,
    crawford_game,
    jacoby_rule,
)
from motif.board.mat_file import move_numbers
from motif.board.match_state import CubeOwner, MatchState
from motif.board.moves import Play
from motif.board.position import Position
from motif.board.rules import is_double_useful
from motif.runtime.errors import PositionError, RecordError

_ANSWERS = ("take", "drop", "beaver")


@dataclass(frozen=True)
class Moment:
    """Where something was decided; `position` and `state` are seen by the player on roll."""

    game: int
    """Counted from 1."""
    move: int
    """The number of its line in a .mat file."""
    player: int
    """Who was on roll."""
    position: Position
    state: MatchState
    action: int = field(default=0, kw_only=True)
    """The action's number in its game, counted from 0; for a double that was not made that of the roll."""


@dataclass(frozen=True)
class PlayedRoll(Moment):
    """A roll and what was made of it; the state shows the dice."""

    roll: tuple[int, int]
    """The higher die first."""
    play: Play | None
    """None where the game ended, or the record does, before a choice was made."""
    opening: bool
    """Whether it is the first roll of its game, which is no double and decides who begins."""


@dataclass(frozen=True)
class CubeChance(Moment):
    """A turn on which the player on roll might double, and what came of it."""

    doubled: bool
    answer: CubeKind | None = None
    """``take``, ``drop`` or ``beaver``; None where nobody doubled or nobody answered."""


@dataclass(frozen=True)
class Walk:
    """The decisions of a match."""

    rolls: tuple[PlayedRoll, ...]
    chances: tuple[CubeChance, ...]


def walk(record: MatchRecord, *, jacoby: bool | None = None) -> Walk:
    """Follow `record` from its first roll to its last.

    There is no chance to double before the first roll of a game, in the Crawford game, with a cube that the
    other player owns or that already wins the match for the player who could double, nor again on a turn on
    which a double was taken.  `jacoby` is the rule in money play; None: as the record itself shows (see
    `jacoby_rule`).  Raises `RecordError` for a game after the end of the match, and for actions that cannot
    follow one another.
    """
    rule = jacoby_rule(record) if jacoby is None else jacoby
    crawford = crawford_game(record)
    rolls: list[PlayedRoll] = []
    chances: list[CubeChance] = []
    for number, game in enumerate(record.games, 1):
        _GameWalk(record.length, number, game, number - 1 == crawford, rule).follow(rolls, chances)
    return Walk(tuple(rolls), tuple(chances))


class _GameWalk:
    """Follows one game."""

    def __init__(self, length: int, number: int, game: GameRecord, crawford: bool, jacoby: bool) -> None:
        self._length, self._number, self._game = length, number, game
        self._crawford, self._jacoby = crawford, jacoby
        self._progress = GameProgress()

    def follow(self, rolls: list[PlayedRoll], chances: list[CubeChance]) -> None:
        """Append the game's rolls and chances to double."""
        progress, actions = self._progress, self._game.actions
        has_rolled, has_doubled = False, False
        for place, (line, action) in enumerate(zip(move_numbers(actions), actions, strict=True)):
            moment = (self._number, line, action.player, progress.position)
            if isinstance(action, Turn):
                opening = not has_rolled and action.roll[0] != action.roll[1]
                if has_rolled and not has_doubled and is_double_useful(self._state(action.player)):
                    chances.append(
                        CubeChance(*moment, self._state(action.player), doubled=False, action=place)
                    )
                progress.apply(action)
                # Behind `apply`: a beaver is taken by rolling.
                state = replace(self._state(action.player), dice=action.roll)
                rolls.append(PlayedRoll(*moment, state, action.roll, action.play, opening, action=place))
                has_rolled, has_doubled = True, False
                continue
            if action.kind == "double":
                chances.append(CubeChance(*moment, self._state(action.player), doubled=True, action=place))
                has_doubled = True
            elif action.kind in _ANSWERS:
                chances[-1] = replace(chances[-1], answer=action.kind)
            progress.apply(action)

    def _state(self, player: int) -> MatchState:
        progress, score = self._progress, self._game.score
        owner: CubeOwner = "centre"
        if progress.cube_owner is not None:
            owner = "me" if progress.cube_owner == player else "opponent"
        try:
            return MatchState(
                length=self._length,
                own_score=score[player] if self._length else 0,
                opponent_score=score[1 - player] if self._length else 0,
                cube=progress.cube,
                cube_owner=owner,
                crawford=self._crawford,
                jacoby=self._jacoby,
                player=1 if player else 0,
            )
        except PositionError as error:
            raise RecordError(f"game {self._number}: {error}") from None
