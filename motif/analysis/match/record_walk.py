"""All rolls and chances to double of a match in order of play, with position and state."""

from dataclasses import dataclass, field, replace
from functools import lru_cache

from motif.board.game_record import (
    CubeKind,
    GameProgress,
    GameRecord,
    MatchRecord,
    Turn,
    crawford_game,
    jacoby_rule,
)
from motif.board.identifiers import gnubg_id
from motif.board.mat_file import move_numbers
from motif.board.match_ids import xgid
from motif.board.match_state import MatchState, match_id, owner_seen_by
from motif.board.moves import Play
from motif.board.position import Position
from motif.board.rules import is_double_useful
from motif.doubling.equities import scale
from motif.runtime.errors import PositionError, RecordError

_ANSWERS = ("take", "drop", "beaver")


@lru_cache(maxsize=1024)
def unit_of(state: MatchState) -> float:
    """Return the value of a normalised equity of 1: the cube in money play, MWC in a match."""
    return scale(state).half if state.length else float(state.cube)


@dataclass(frozen=True)
class Moment:
    """A decision point; `position` and `state` are seen by the player on roll."""

    game: int
    """Counted from 1."""
    move: int
    """Line number in a .mat file."""
    player: int
    """The player on roll."""
    position: Position
    state: MatchState
    action: int = field(default=0, kw_only=True)
    """Index of the action in its game; for a double not made, the index of the roll."""

    @property
    def unit(self) -> float:
        """Value of a normalised equity of 1; see `unit_of`."""
        return unit_of(self.state)

    @property
    def id(self) -> str:
        """GNUbg's position and match ID."""
        return f"{gnubg_id(self.position)}:{match_id(self.state)}"

    @property
    def xgid(self) -> str:
        """The position and state as an XGID."""
        return xgid(self.position, self.state)

    def heading(self, name: str) -> str:
        """Return the game, the move and the `name` of the player."""
        return f"game {self.game}, move {self.move}, {name}"

    def to_dict(self, name: str) -> dict[str, object]:
        """Return the JSON record, with the `name` of the player."""
        place = {"game": self.game, "move": self.move, "player": name}
        return {**place, "position": self.id, "xgid": self.xgid}


@dataclass(frozen=True)
class PlayedRoll(Moment):
    """A roll and its play; the state includes the dice."""

    roll: tuple[int, int]
    """The higher die first."""
    play: Play | None
    """None if the game or record ended before the play."""
    opening: bool
    """Whether it is the opening roll of its game."""


@dataclass(frozen=True)
class CubeChance(Moment):
    """A turn on which the player on roll could double, with the actions taken."""

    doubled: bool
    answer: CubeKind | None = None
    """``take``, ``drop`` or ``beaver``; None without a double or an answer."""


@dataclass(frozen=True)
class Walk:
    """The decisions of a match."""

    rolls: tuple[PlayedRoll, ...]
    chances: tuple[CubeChance, ...]


def walk(record: MatchRecord, *, jacoby: bool | None = None) -> Walk:
    """Return all rolls and chances to double of `record`.

    There is no chance to double before the first roll of a game, in the Crawford game, if the opponent owns
    the cube, if the cube already wins the match, or after a take on the same turn.  `jacoby` is the rule in
    money play, by default as recorded (see `jacoby_rule`).  Raises `RecordError` for a game after the end of
    the match, a double in the Crawford game, and an impossible sequence of actions.
    """
    rule = jacoby_rule(record) if jacoby is None else jacoby
    crawford = crawford_game(record)
    rolls: list[PlayedRoll] = []
    chances: list[CubeChance] = []
    for number, game in enumerate(record.games, 1):
        _GameWalk(record.length, number, game, number - 1 == crawford, rule).follow(rolls, chances)
    return Walk(tuple(rolls), tuple(chances))


class _GameWalk:
    """Walks through one game."""

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
                # After `apply`, because rolling accepts a beaver.
                state = replace(self._state(action.player), dice=action.roll)
                rolls.append(PlayedRoll(*moment, state, action.roll, action.play, opening, action=place))
                has_rolled, has_doubled = True, False
                continue
            if action.kind == "double":
                if self._crawford:
                    where = f"game {self._number}, move {line}"
                    raise RecordError(f"{where}: a double is not allowed in the Crawford game")
                chances.append(CubeChance(*moment, self._state(action.player), doubled=True, action=place))
                has_doubled = True
            elif action.kind in _ANSWERS:
                chances[-1] = replace(chances[-1], answer=action.kind)
            progress.apply(action)

    def _state(self, player: int) -> MatchState:
        progress, score = self._progress, self._game.score
        try:
            return MatchState(
                length=self._length,
                own_score=score[player] if self._length else 0,
                opponent_score=score[1 - player] if self._length else 0,
                cube=progress.cube,
                cube_owner=owner_seen_by(progress.cube_owner, player),
                crawford=self._crawford,
                jacoby=self._jacoby,
                player=1 if player else 0,
            )
        except PositionError as error:
            raise RecordError(f"game {self._number}: {error}") from None
