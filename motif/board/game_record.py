"""Match records: games with their rolls, plays and cube actions.

Players are 0 and 1, in the order of `MatchRecord.players`.  `GameProgress` replays a game and checks the
order of its actions; `GameRecorder` builds a record; `game_facts` summarises a finished game.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Integral
from typing import Literal, NamedTuple

from motif.board.identifiers import quoted
from motif.board.marks import Mark
from motif.board.moves import Play, check_legal, illegal_play, legal_plays, parse_roll, recorded_play
from motif.board.outcome import Outcome, outcome
from motif.board.position import Position
from motif.board.rules import CUBE_RULE, MAX_CUBE, MAX_SCORE, RESIGNATIONS, is_cube_value, is_match_point
from motif.runtime.errors import MotifError, PlayError, RecordError, shown
from motif.runtime.layout import counted
from motif.runtime.limits import GAME_MOVES

CubeKind = Literal["double", "beaver", "raccoon", "take", "drop"]
_RAISES: tuple[CubeKind, ...] = ("double", "beaver", "raccoon")
"""Actions that double the cube; each may answer the previous one."""


@dataclass(frozen=True)
class Turn:
    """A roll and how it was played."""

    player: int
    roll: tuple[int, int]
    """The higher die first."""
    play: Play | None
    """None if the game or the record ended before the play."""

    @property
    def is_illegal(self) -> bool:
        """Whether the rules forbid the play."""
        return self.play is not None and not self.play.is_legal


@dataclass(frozen=True)
class CubeAction:
    """A double, or the answer to one."""

    player: int
    kind: CubeKind


Action = Turn | CubeAction


@dataclass(frozen=True)
class GameResult:
    """Result of a game."""

    winner: int
    points: int
    """Points won, cube included; at least 1."""
    resigned: bool = False


@dataclass(frozen=True)
class GameRecord:
    """One game, possibly unfinished."""

    score: tuple[int, int] = (0, 0)
    """Score before the game."""
    actions: tuple[Action, ...] = ()
    result: GameResult | None = None
    """None if the game is unfinished."""
    crawford: bool | None = None
    """Whether this is the Crawford game; None if the record does not say so (see `crawford_game`)."""
    first_cube: int = 1
    """Value of the cube when the game begins; in money play, automatic doubles make it more than 1."""

    @property
    def score_after(self) -> tuple[int, int]:
        """Score after the game, or before it if it is unfinished."""
        points = [0, 0]
        if self.result is not None:
            points[self.result.winner] = self.result.points
        return self.score[0] + points[0], self.score[1] + points[1]


@dataclass(frozen=True, repr=False)
class MatchRecord:
    """Games between two players."""

    players: tuple[str, str]
    length: int = 0
    """Match length in points; 0 for money play."""
    games: tuple[GameRecord, ...] = ()
    tags: tuple[tuple[str, str], ...] = ()
    """Names and values of further tags, such as EventDate."""

    def __repr__(self) -> str:
        kind = f"{self.length}-point match" if self.length else "money games"
        return f"<{kind} {' v '.join(self.players)}: {counted(len(self.games), 'game')}>"


@dataclass(frozen=True)
class Annotation:
    """A comment on an action."""

    text: str
    """One line or several."""
    mark: Mark = ""


Annotations = Mapping[tuple[int, int], Annotation]
"""Annotations by game number and action number, both from 0."""

_JACOBY_TAG, _ON = "jacoby", ("1", "on", "true", "yes")
NO_CUBE_TAG = "Cube", "Off"
"""motif's own tag of games without a cube."""
NO_WORDS = ("0", "off", "false", "no")
SET_UP = "a position was set up here; a record must begin at the starting position"
"""Message for any format that can say so."""
_BACKGAMMON = ("", "backgammon", "standard")
"""Names of the only variation that is supported."""


def check_variation(name: str) -> None:
    """Raise `RecordError` if `name` is that of a variation, such as Nackgammon."""
    if name.strip().lower() not in _BACKGAMMON:
        raise RecordError(f"the variation {quoted(name)} is not supported: the game must be backgammon")


class Occasion(NamedTuple):
    """Where and when a match was played, as far as a record's tags say it."""

    event: str | None
    site: str | None
    date: str | None
    """Such as ``2026-11-20``."""

    def __str__(self) -> str:
        return ", ".join(filter(None, self))


def occasion_of(record: MatchRecord) -> Occasion:
    """Return event, site and date of a record; question marks, as in PGN, stand for unknown values."""
    tags = {name.lower(): value.strip() for name, value in record.tags if value.strip(" ?.-")}
    date = tags.get("eventdate")
    return Occasion(tags.get("event"), tags.get("site"), date and date.replace(".", "-"))


def jacoby_rule(record: MatchRecord) -> bool:
    """Return whether the record is money play with the Jacoby rule.

    A tag decides; without one, the rule is inferred from a gammon that won only 1 point.
    """
    if record.length:
        return False
    tags = [value.lower() for name, value in record.tags if name.lower() == _JACOBY_TAG]
    return any(tag in _ON for tag in tags) if tags else any(map(_lost_gammon_counts_one, record.games))


def uses_cube(record: MatchRecord) -> bool:
    """Return whether the games have a cube; only a tag can say that they do not."""
    name = NO_CUBE_TAG[0].lower()
    return not any(key.lower() == name and value.lower() in NO_WORDS for key, value in record.tags)


def _lost_gammon_counts_one(game: GameRecord) -> bool:
    last = game.actions[-1] if game.actions else None
    if not isinstance(last, Turn) or last.play is None or game.result is None:
        return False
    return abs(outcome(last.play.position)) > 1 and game.result.points == game.first_cube


def crawford_game(record: MatchRecord) -> int | None:
    """Return the index of the Crawford game; None if there is none.

    If the record does not say it, the Crawford game is the first at match point, unless that has a cube
    action.
    """
    late = [index for index, game in enumerate(record.games) if is_match_point(record.length, game.score)]
    if any(record.games[index].crawford is not None for index in late):
        return next((index for index in late if record.games[index].crawford), None)
    if not late:
        return None
    first = record.games[late[0]]
    both = first.score[0] == first.score[1]
    return None if both or any(isinstance(action, CubeAction) for action in first.actions) else late[0]


def with_crawford(record: MatchRecord, stated: Iterable[bool | None]) -> MatchRecord:
    """Return `record` with what its file says of each game: whether it is the Crawford game.

    Only games at match point are marked, and none if `crawford_game` infers the same without the marks, so
    that a match is equal to itself in another format.
    """
    games = tuple(
        replace(game, crawford=is_crawford) for game, is_crawford in zip(record.games, stated, strict=True)
    )
    crawford = crawford_game(replace(record, games=games))
    if crawford == crawford_game(record):
        return record
    games = tuple(
        replace(game, crawford=index == crawford) if is_match_point(record.length, game.score) else game
        for index, game in enumerate(record.games)
    )
    return replace(record, games=games)


class ScoreJump(NamedTuple):
    """A game that does not begin at the score at which the previous game ended."""

    game: int
    """Its number, from 1."""
    begins: tuple[int, int]
    ended: tuple[int, int]


def score_jumps(record: MatchRecord) -> list[ScoreJump]:
    """Return the jumps of the score between the games of a match."""
    games = record.games if record.length else ()
    return [
        ScoreJump(number, game.score, before.score_after)
        for number, (before, game) in enumerate(pairwise(games), 2)
        if before.result is not None and game.score != before.score_after
    ]


def move_numbers(actions: Sequence[Action]) -> list[int]:
    """Return the number of the .mat line of each of a game's `actions`, from 1."""
    numbers, last_player = list[int](), 1
    for action in actions:
        # If a player acts twice in a row, the other column stays empty.
        begins = not numbers or action.player == 0 or last_player == 1
        numbers.append((numbers[-1] if numbers else 0) + begins)
        last_player = action.player
    return numbers


class IllegalPlay(NamedTuple):
    """A play that the rules forbid."""

    game: int
    """Its number, from 1."""
    move: int
    """Number of its line in a .mat file."""
    player: str
    roll: str
    play: str

    def __str__(self) -> str:
        return f"game {self.game}, move {self.move}, {self.player}, {self.roll}: {self.play}"


def illegal_plays(record: MatchRecord) -> list[IllegalPlay]:
    """Return the illegal plays of a match, in order."""
    return [
        IllegalPlay(number, row, record.players[turn.player], "{}{}".format(*turn.roll), str(turn.play))
        for number, game in enumerate(record.games, 1)
        for row, turn in zip(move_numbers(game.actions), game.actions, strict=True)
        if isinstance(turn, Turn) and turn.is_illegal
    ]


class GameProgress:
    """Replays one game; either player may begin."""

    def __init__(self, first_cube: int = 1) -> None:
        self._first_cube = first_cube
        self.position = Position.start()
        """Position from the side of the player whose turn it is."""
        self.turn: int | None = None
        """Player who plays next or who has doubled; None before the first action."""
        self.cube = first_cube
        self.cube_owner: int | None = None
        self.result: GameResult | None = None
        """Result, once a player has borne off all checkers or dropped a double."""
        self.waiting: Turn | None = None
        """A roll without a play; only the end of the game can follow it."""
        self._raised: CubeAction | None = None
        """The unanswered double, beaver or raccoon."""

    def apply(self, action: Action) -> None:
        """Apply an action, whose play must be possible; raise `RecordError` if the action is out of order."""
        self._check_going()
        if isinstance(action, Turn):
            self._roll(action)
        elif action.kind in _RAISES:
            self._raise(action)
        else:
            self._answer(action)

    @property
    def raised(self) -> CubeKind | None:
        """The double, beaver or raccoon on offer, or None."""
        return None if self._raised is None else self._raised.kind

    @property
    def is_beavered(self) -> bool:
        """Whether a beaver or raccoon is on offer, which a roll accepts."""
        return self.raised in _RAISES[1:]

    def check_turn(self, player: int) -> None:
        """Raise `RecordError` unless `player` may roll now."""
        self._check_going()
        # A roll does not accept an initial double.
        if self.raised == "double":
            raise RecordError("the double has not been taken or dropped")
        if self.turn not in (None, player):
            raise RecordError("the other player is on roll")

    def answer_to(self, player: int) -> CubeKind:
        """Return what a double by `player` would be: a double, or a beaver or raccoon if it answers one."""
        if self._raised is None or self._raised.player == player:
            return "double"
        return _RAISES[min(_RAISES.index(self._raised.kind) + 1, len(_RAISES) - 1)]

    def _check_going(self) -> None:
        if self.result is not None:
            raise RecordError("the game is over")
        if self.waiting is not None:
            roll = "{}{}".format(*self.waiting.roll)
            raise RecordError(f"the previous roll {roll} was not played, although it has legal plays")

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
        if self.cube * (2 if self._raised is None else 4) > MAX_CUBE:
            raise RecordError(f"the cube cannot exceed {MAX_CUBE}")
        if action.kind == "double":
            self.check_turn(action.player)
            if self._raised is not None:
                raise RecordError(f"no double can follow a {self._raised.kind}")
            if self.cube_owner not in (None, action.player):
                raise RecordError("the other player owns the cube")
            self.turn = action.player
        else:
            if self.raised == _RAISES[-1]:
                raise RecordError("only a take or a drop can answer a raccoon")
            question = _RAISES[_RAISES.index(action.kind) - 1]
            if self._raised != CubeAction(1 - action.player, question):
                raise RecordError(f"a {action.kind} must answer the other player's {question}")
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
        """Double the cube and give it to the opponent of the player who doubled first."""
        assert self.turn is not None
        self.cube *= 2
        self.cube_owner = 1 - self.turn
        self._raised = None


class GameRecorder(GameProgress):
    """Builds a record action by action; every method may raise `RecordError` or `PlayError`."""

    def __init__(self, *, money: bool, first_cube: int = 1) -> None:
        super().__init__(first_cube)
        if not (is_cube_value(first_cube) if money else first_cube == 1):
            rule = CUBE_RULE if money else "1 in a match"
            raise RecordError(f"the first cube must be {rule}")
        self._money = money
        self._actions: list[Action] = []
        self._final: GameResult | None = None

    def add(self, action: Action) -> None:
        """Append an action, except a take of a beaver or raccoon, since rolling accepts these."""
        self.forfeit_before(action.player)
        is_implied = self.is_beavered and action == CubeAction(action.player, "take")
        self.apply(action)
        if is_implied:
            return
        self._actions.append(action)
        if len(self._actions) > GAME_MOVES.size:
            raise RecordError(GAME_MOVES.refusal)

    def add_roll(self, player: int, dice: str, moves: str) -> None:
        """Append a roll such as ``31`` and its `moves` in notation.

        As in gnubg, a roll without moves is a dance or the only legal play; if there are several legal
        plays, the roll was never played, or the player forfeited it.  An illegal play is recorded as it was
        made.
        """
        self.forfeit_before(player)
        self.check_turn(player)
        roll = parse_roll(dice)
        plays = legal_plays(self.position, roll)
        only = plays[0] if len(plays) == 1 else None
        play = self._play_of(moves, plays) if moves else only
        self.add(Turn(player, roll, play))

    def forfeit_before(self, player: int) -> None:
        """Record the last roll, if `player` is the opponent and it was not played, as illegally forfeited."""
        turn = self.waiting
        if turn is None or turn.player == player or self._final is not None:
            return
        play = illegal_play((), self.position, legal_plays(self.position, turn.roll))
        assert play is not None
        self.waiting, self._actions[-1] = None, replace(turn, play=play)
        self.position, self.turn = play.position, player

    def _play_of(self, moves: str, plays: Sequence[Play]) -> Play:
        """Return `recorded_play`; an error names an earlier illegal play, which may be its cause."""
        try:
            return recorded_play(moves, self.position, plays)
        except PlayError as error:
            illegal = (action for action in self._actions if isinstance(action, Turn) and action.is_illegal)
            if (earlier := next(illegal, None)) is None:
                raise
            roll = "{}{}".format(*earlier.roll)
            said = f"{error}; an earlier play of the game is illegal, {roll}: {earlier.play}"
            raise PlayError(said) from None

    @property
    def costs_of_resigning(self) -> list[int]:
        """Points that a resignation can cost now."""
        # A resignation accepts a pending beaver or raccoon.
        cubes = (self.cube, 2 * self.cube) if self.is_beavered else (self.cube,)
        return [factor * cube for cube in cubes for factor in RESIGNATIONS.values()]

    def win(self, winner: int, points: int) -> None:
        """Record that `winner` won `points`, by resignation if the game is not over."""
        if self._final is not None:
            raise RecordError("the game is over")
        over = self.result
        if over is None:
            if points not in self.costs_of_resigning:
                raise RecordError(f"a resignation cannot cost {points} points with the cube at {self.cube}")
            self._final = GameResult(winner, points, resigned=True)
            return
        if over.winner != winner:
            raise RecordError("the record names the loser as the winner")
        # Jacoby rule: in money play a gammon without a double wins one point.
        jacoby = self._money and self.cube_owner is None
        if points != over.points and not (jacoby and points == self.cube):
            raise RecordError(f"the game is worth {over.points} points, not {points}")
        self._final = GameResult(winner, points)

    def record(self, score: tuple[int, int]) -> GameRecord:
        """Return the record of the game, which began at `score`."""
        result = self._final or self.result
        return GameRecord(score, tuple(self._actions), result, first_cube=self._first_cube)

    def _raise(self, action: CubeAction) -> None:
        if action.kind != "double" and not self._money:
            raise RecordError(f"{action.kind}s are for money play")
        super()._raise(action)

    def _check_going(self) -> None:
        if self._final is not None:
            raise RecordError("the game is over")
        super()._check_going()


def check_scores(record: MatchRecord) -> None:
    """Raise `RecordError` if a game begins after the end of the match."""
    ended = (0, 0)
    for number, game in enumerate(record.games, 1):
        for score, when in ((game.score, ""), (ended, f" after game {number - 1}")):
            if 0 < record.length <= max(score):
                over = f"the match to {record.length} points is over{when} at {score[0]} to {score[1]}"
                if score != game.score:
                    over += f", but this game begins at {game.score[0]} to {game.score[1]}"
                raise RecordError(f"game {number}: {over}")
        ended = game.score_after


def check_record(record: MatchRecord) -> None:
    """Raise `RecordError` unless `record` has at least one game and all its actions are possible."""
    names = record.players
    if len(names) != 2 or not all(isinstance(name, str) for name in names):
        raise RecordError(f"a record must have the names of two players, not {shown(names)}")
    if not isinstance(record.length, Integral) or not 0 <= record.length <= MAX_SCORE:
        raise RecordError(f"a match must have 0 to {MAX_SCORE} points, not {shown(record.length)}")
    if not record.games:
        raise RecordError("the record contains no game")
    for number, game in enumerate(record.games, 1):
        try:
            recorder = GameRecorder(money=not record.length, first_cube=game.first_cube)
            for action in game.actions:
                if isinstance(action, Turn):
                    recorder.check_turn(action.player)
                    if action.play is not None:
                        _check_play(action.play, recorder.position, action.roll)
                recorder.add(action)
            if game.result is not None:
                recorder.win(game.result.winner, game.result.points)
        except MotifError as error:
            raise RecordError(f"game {number}: {error}") from None
    check_scores(record)


def _check_play(play: Play, position: Position, roll: tuple[int, int]) -> None:
    """Raise `PlayError` unless `play` is legal, or illegal but made as its moves say."""
    plays = legal_plays(position, roll)
    if play.is_legal or play != illegal_play(play.moves, position, plays):
        check_legal(play, plays, roll)


@dataclass(frozen=True)
class GameFacts:
    """Summary of a finished game."""

    result: GameResult
    cube: int
    """Final value of the cube; a dropped double does not count."""
    doubles: int
    """Number of doubles, beavers and raccoons offered."""
    dropped: bool
    turns: int
    """Number of rolls played."""
    kind: str | None
    """``single``, ``gammon`` or ``backgammon``; None after a dropped double."""
    jacoby: bool
    """Whether a gammon counted as a single game under the Jacoby rule."""

    def to_dict(self, players: tuple[str, str]) -> dict[str, object]:
        """Return a dict for JSON, with the winner's name from `players`."""
        return {
            "winner": players[self.result.winner],
            "points": self.result.points,
            "resigned": self.result.resigned,
            "turns": self.turns,
            "cube": self.cube,
            "doubles": self.doubles,
            "dropped": self.dropped,
        }

    def in_words(self, loser: str) -> str:
        """Describe the result, as in ``a gammon with the cube at 2: 4 points``."""
        points = counted(self.result.points, "point")
        if self.kind is None:
            return f"{points}: {loser} passed the double"
        words = "a single game" if self.kind == "single" else f"a {self.kind}"
        if self.cube > 1:
            words += f" with the cube at {self.cube}: {points}"
        if self.jacoby:
            words += f", which counts as {points} without a double (Jacoby rule)"
        if self.result.resigned:
            words += f"{',' if self.cube > 1 else ':'} {loser} resigned"
        return words


def game_facts(game: GameRecord) -> GameFacts | None:
    """Summarise `game`; return None if it is unfinished."""
    if game.result is None:
        return None
    progress = GameProgress(game.first_cube)
    for action in game.actions:
        progress.apply(action)
    cube_actions = [action.kind for action in game.actions if isinstance(action, CubeAction)]
    is_dropped = "drop" in cube_actions
    won = 1 if is_dropped or game.result.resigned else abs(outcome(progress.position))
    jacoby = not game.result.resigned and game.result.points < won * progress.cube
    cube = progress.cube
    if game.result.resigned and progress.is_beavered and game.result.points % (2 * cube) == 0:
        # A resignation accepts a pending beaver or raccoon.
        cube *= 2
    size = won if jacoby else game.result.points // cube
    return GameFacts(
        result=game.result,
        cube=cube,
        doubles=sum(kind not in ("take", "drop") for kind in cube_actions),
        dropped=is_dropped,
        turns=sum(isinstance(action, Turn) and action.play is not None for action in game.actions),
        kind=None if is_dropped else Outcome(size).name.removeprefix("WIN_").lower(),
        jacoby=jacoby,
    )
