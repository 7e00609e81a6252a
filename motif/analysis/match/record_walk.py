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
    move_numbers,
)
from motif.board.identifiers import gnubg_id
from motif.board.match_state import MatchState, match_id, owner_seen_by
from motif.board.moves import Play
from motif.board.position import Position
from motif.board.rules import is_double_useful
from motif.board.xgid_ogid import xgid
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

    @property
    def is_judged(self) -> bool:
        """Whether there is a play to judge: an illegal play is not judged."""
        return self.play is not None and self.play.is_legal


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

    def with_beavers(self, beavers: bool, raccoons: bool) -> "Walk":
        """Return the decisions with the rules on beavers, which a record does not contain."""

        def ruled(state: MatchState) -> MatchState:
            return replace(state, beavers=beavers, raccoons=raccoons)

        return Walk(
            tuple(replace(roll, state=ruled(roll.state)) for roll in self.rolls),
            tuple(replace(chance, state=ruled(chance.state)) for chance in self.chances),
        )


def walk(record: MatchRecord, *, jacoby: bool | None = None) -> Walk:
    """Return all rolls and chances to double of `record`.

    There is no chance to double before the first roll of a game, in the Crawford game, if the opponent owns
    the cube, if the cube already wins the match, or after a take on the same turn.  `jacoby` is the rule in
    money play, by default as recorded (see `jacoby_rule`).  Raises `RecordError` for a game after the end of
    the match, a double in the Crawford game, and an impossible sequence of actions.
    """
    rule = jacoby_rule(record) if jacoby is None else jacoby
    crawford = crawford_game(record)
    walks = [
        _walk_game(record.length, number, game, crawford=number - 1 == crawford, jacoby=rule)
        for number, game in enumerate(record.games, 1)
    ]
    return Walk(
        tuple(roll for walked in walks for roll in walked.rolls),
        tuple(chance for walked in walks for chance in walked.chances),
    )


def _walk_game(length: int, number: int, game: GameRecord, *, crawford: bool, jacoby: bool) -> Walk:
    progress = GameProgress(game.first_cube)

    def state(player: int) -> MatchState:
        try:
            return MatchState(
                length=length,
                own_score=game.score[player] if length else 0,
                opponent_score=game.score[1 - player] if length else 0,
                cube=progress.cube,
                cube_owner=owner_seen_by(progress.cube_owner, player),
                crawford=crawford,
                jacoby=jacoby,
                player=1 if player else 0,
            )
        except PositionError as error:
            raise RecordError(f"game {number}: {error}") from None

    rolls: list[PlayedRoll] = []
    chances: list[CubeChance] = []
    has_doubled = False
    for place, (line, action) in enumerate(zip(move_numbers(game.actions), game.actions, strict=True)):
        moment = (number, line, action.player, progress.position)
        if isinstance(action, Turn):
            opening = not rolls and action.roll[0] != action.roll[1]
            if rolls and not has_doubled and is_double_useful(state(action.player)):
                chances.append(CubeChance(*moment, state(action.player), doubled=False, action=place))
            progress.apply(action)
            # After `apply`, because rolling accepts a beaver.
            rolled = replace(state(action.player), dice=action.roll)
            rolls.append(PlayedRoll(*moment, rolled, action.roll, action.play, opening, action=place))
            has_doubled = False
            continue
        if action.kind == "double":
            if crawford:
                raise RecordError(f"game {number}, move {line}: a double is not allowed in the Crawford game")
            chances.append(CubeChance(*moment, state(action.player), doubled=True, action=place))
            has_doubled = True
        elif action.kind in _ANSWERS and chances[-1].answer is None:
            # A later take or drop answers a beaver or raccoon; these are not judged.
            chances[-1] = replace(chances[-1], answer=action.kind)
        progress.apply(action)
    return Walk(tuple(rolls), tuple(chances))
