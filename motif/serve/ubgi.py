"""UBGI, the Universal Backgammon Interface: an engine that answers line by line with plays and cube actions.

It speaks version 0.2, and understands what clients of earlier ones send: ``setoption``, ``newsession``,
``setscore``, ``setcube``, ``setturn`` and ``go role ...`` of 0.1; bare XGIDs and board lines of FIBS of the
draft of 2025, which get a bare answer, or ``sorry``.

Positions are seen by the player on roll.  Without a match state, from an ID or from commands of 0.1, plays
are chosen for money without a cube, and the cube is that of money play, in the centre.  ``engine.ply`` counts
the root: 1 is the static evaluation, motif's and gnubg's 0-ply.

Sources: bgci's specification of 0.1 and its checks, gnubg-ubgi's ubgi.c, oysteijo's draft 0.01; for 0.2
what the engines that speak it send.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TextIO

from motif.board.fibs_board import PREFIX as FIBS_PREFIX
from motif.board.fibs_board import parse_fibs_board
from motif.board.identifiers import quoted
from motif.board.match_state import MatchState, owner_seen_by
from motif.board.moves import Play, parse_roll
from motif.board.notation import OFF
from motif.board.packed import OWN_BAR
from motif.board.parsing import parse_position
from motif.board.position import Position
from motif.board.rules import is_crawford_game, is_match_point
from motif.board.xgid_ogid import XGID_PREFIX
from motif.evaluators.lookahead import MAX_PLIES
from motif.runtime.errors import MotifError, SettingError
from motif.runtime.package import VERSION
from motif.runtime.settings import SEED_LIMIT
from motif.serve.opponent import Opponent

BAD_COMMAND, BAD_VALUE, BAD_STATE, UNSUPPORTED = "bad_command", "bad_value", "bad_state", "unsupported"
_VARIANT = "backgammon"
_FIXED = "engine.threads"
"""The key whose value cannot be changed."""
_SIDES = {"p0": 0, "p1": 1}
_OWNERS = {"center": None, "centre": None, **_SIDES}
_SWITCHES = {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}
_ROLES = ("chequer", "cube", "turn")
_LIMITS = ("movetime", "depth", "nodes", "trials")
_MAX_DIGITS = len(str(SEED_LIMIT))
MAX_LINE = 4096
"""Characters, with the end of the line; usual lines have about 200."""
_AUTHOR = "the authors of motif"
_NAMES = {OWN_BAR: "bar", OFF: "off"}


class RefusalError(Exception):
    """An invalid command: the code of the error and the reason."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(f"error {code} {why}")


@dataclass(frozen=True)
class Session:
    """The match as commands of version 0.1 describe it; players are 0 and 1."""

    length: int = 0
    jacoby: bool = False
    crawford: bool = False
    """Whether the Crawford rule is on: the game at the first score with one player at match point."""
    score: tuple[int, int] = (0, 0)
    was_crawford: bool = False
    """Whether the Crawford game was at an earlier score."""
    cube: int = 1
    owner: int | None = None

    def state(self, turn: int) -> MatchState:
        """Return the match state, seen by player `turn`, on roll; raises `PositionError` without one."""
        return MatchState(
            length=self.length,
            own_score=self.score[turn],
            opponent_score=self.score[1 - turn],
            cube=self.cube,
            cube_owner=owner_seen_by(self.owner, turn),
            crawford=self.crawford and is_crawford_game(self.length, self.score, played=self.was_crawford),
            jacoby=self.jacoby and not self.length,
        )

    def at_score(self, score: tuple[int, int]) -> "Session":
        """Return the session at a `score`; the score after that of the Crawford game ends it."""
        if score == self.score:
            return self
        both = is_match_point(self.length, self.score) and is_match_point(self.length, score)
        return replace(self, score=score, was_crawford=both)


@dataclass(frozen=True)
class Task:
    """The requested decision."""

    position: Position | None = None
    sent: tuple[int, int] | None = None
    """The last dice that the command ``dice`` gave."""
    dice: tuple[int, int] | None = None
    """`sent`, or those of an ID that came later."""
    state: MatchState | None = None
    """Match state of the ID, if it has one."""
    session: Session | None = None
    """None until a command of version 0.1 sets one."""
    turn: int = 0
    """The session's player on roll; positions are always seen by the player on roll."""

    @property
    def known_state(self) -> MatchState | None:
        """The match state, from an ID or from commands; None without either."""
        if self.state is not None or self.session is None:
            return self.state
        return self.session.state(self.turn)


class UbgiEngine:
    """An engine that answers lines of UBGI with the decisions of `opponent`."""

    def __init__(self, opponent: Opponent) -> None:
        self.has_quit = False
        self._opponent = opponent
        self._task = Task()
        self._is_ready = False
        self._is_cubeful = False
        """Whether plays are chosen for money with the cube where no match state is known."""
        self._commands: dict[str, Callable[[list[str]], Sequence[str] | None]] = {
            "ubgi": self._introduce,
            "isready": self._get_ready,
            "quit": self._quit,
            "stop": lambda words: None,
            "newgame": self._new_game,
            "position": self._set_position,
            "dice": self._set_dice,
            "go": self._go,
            "set": self._set,
            "get": self._get,
            "keys": self._keys,
            "setoption": self._set_option,
            "newsession": self._new_session,
            "setscore": self._set_score,
            "setcube": self._set_cube,
            "setturn": self._set_turn,
        }

    def answers(self, line: str) -> Sequence[str]:
        """Return the lines that answer `line`; none for commands without an answer."""
        if len(line) > MAX_LINE:
            return (f"error {BAD_COMMAND} the line is longer than {MAX_LINE} characters",)
        text = line.strip()
        words = text.split()
        if not words:
            return ()
        if text.upper().startswith(XGID_PREFIX) or text.startswith(f"{FIBS_PREFIX}:"):
            return self._answer_of_draft(text)
        command = self._commands.get(words[0])
        if command is None:
            return (f"error {BAD_COMMAND} {quoted(words[0])}",)
        try:
            return command(words[1:]) or ()
        except RefusalError as error:
            return (str(error),)
        except MotifError as error:
            return (f"error {BAD_STATE if words[0] == 'go' else BAD_VALUE} {error}",)

    def _introduce(self, words: list[str]) -> Sequence[str]:
        name = f"motif {self._opponent.name_without_plies}"
        ids = (f"id name {name}", f"id author {_AUTHOR}", f"id version {VERSION}", "proto 0.2")
        return *ids, *self._keys([]), "ubgiok"

    def _get_ready(self, words: list[str]) -> Sequence[str]:
        if not self._is_ready:
            self._opponent.warm_up()
            self._is_ready = True
        return ("readyok",)

    def _quit(self, words: list[str]) -> None:
        self.has_quit = True

    def _new_game(self, words: list[str]) -> None:
        session = self._task.session
        # A match goes on; the task does not.
        self._task = Task(session=session and replace(session, cube=1, owner=None))

    def _set_position(self, words: list[str]) -> None:
        # After an invalid position, `go` must not decide in the position before it.
        self._task = replace(self._task, position=None, state=None)
        if len(words) != 2 or words[0] not in ("gnubgid", "xgid"):
            raise RefusalError(BAD_VALUE, "expected position gnubgid ID, or position xgid XGID")
        position, state = parse_position(words[1])
        # The order of `position` and `dice` is free.
        dice = (state and state.dice) or self._task.sent
        self._task = replace(self._task, position=position, state=state, dice=dice)

    def _set_dice(self, words: list[str]) -> None:
        # After invalid dice, `go` must not play the dice before them.
        self._task = replace(self._task, sent=None, dice=None)
        if len(words) != 2:
            raise RefusalError(BAD_VALUE, f"dice are two numbers from 1 to 6, not {quoted(' '.join(words))}")
        roll = parse_roll(*words)
        self._task = replace(self._task, sent=roll, dice=roll)

    def _go(self, words: list[str]) -> Sequence[str]:
        role = _role(words)
        task = self._task
        if task.position is None:
            raise RefusalError(BAD_STATE, "no position")
        state = task.known_state
        if role == "cube":
            return (f"bestcube {self._cube_action(task.position)}",)
        if task.dice is None:
            raise RefusalError(BAD_STATE, "no dice")
        money = MatchState() if self._is_cubeful else None
        play = self._opponent.play(task.position, task.dice, state or money)
        moves = _steps(play) or "pass"
        if role == "turn":
            return (f"bestturn cube={self._cube_action(task.position)} move={moves}",)
        return (f"bestmove {moves}",)

    def _cube_action(self, position: Position) -> str:
        state = self._task.known_state or MatchState()
        if state.doubled:
            return self._opponent.answer(position, replace(state, beavers=False))
        return "double" if self._opponent.cube(position, state).should_double else "nodouble"

    def _plies(self) -> range:
        """Return the possible lookahead of the player, where 0 is the static evaluation."""
        plies = self._opponent.plies
        return range(MAX_PLIES + 1) if self._opponent.looks_ahead else range(plies, plies + 1)

    def _at_plies(self, key: str, value: str, static: int) -> Opponent:
        """Return the player with the lookahead `value`, which is `static` for the static evaluation."""
        number, plies = _number(value), self._plies()
        low, high = plies[0] + static, plies[-1] + static
        if not low <= number <= high:
            span = f"{low} to {high}" if low < high else f"{low} with {self._opponent.name_without_plies}"
            raise RefusalError(BAD_VALUE, f"{key} must be {span}, not {number}")
        return self._opponent.at_plies(number - static)

    def _settings(self) -> dict[str, tuple[str, object]]:
        """Return the range and the value of each key."""
        opponent, plies = self._opponent, self._plies()
        return {
            "game.variant": (f"enum {_VARIANT}", _VARIANT),
            "engine.ply": (f"int {1 + plies[0]}..{1 + plies[-1]}", 1 + opponent.plies),
            _FIXED: ("int 1..1", 1),
            "engine.seed": (f"int 0..{SEED_LIMIT - 1}", opponent.seed),
        }

    def _keys(self, words: list[str]) -> Sequence[str]:
        return [
            f"key {name} {known} {value}{' !' * (name == _FIXED)}"
            for name, (known, value) in self._settings().items()
        ]

    def _get(self, words: list[str]) -> Sequence[str]:
        if len(words) != 1:
            raise RefusalError(BAD_VALUE, "expected get KEY")
        settings = self._settings()
        if words[0] not in settings:
            raise RefusalError(UNSUPPORTED, quoted(words[0]))
        return (f"value {words[0]} {settings[words[0]][1]}",)

    def _set(self, words: list[str]) -> None:
        if len(words) != 2:
            raise RefusalError(BAD_VALUE, "expected set KEY VALUE")
        key, value = words
        if key == "game.variant":
            _check_one_of(value, (_VARIANT,))
        elif key == _FIXED:
            _check_one_of(value, ("1",))
        elif key == "engine.ply":
            self._opponent = self._at_plies(key, value, 1)
        elif key == "engine.seed":
            self._opponent = self._opponent.seeded(_number(value))
        else:
            raise RefusalError(UNSUPPORTED, quoted(key))

    def _set_option(self, words: list[str]) -> None:
        """Set an option of version 0.1, which counts plies as gnubg does."""
        if len(words) != 4 or (words[0], words[2]) != ("name", "value"):
            raise RefusalError(BAD_VALUE, "expected setoption name NAME value VALUE")
        name, value = words[1].lower(), words[3]
        if name in ("ply", "evalplies"):
            self._opponent = self._at_plies(words[1], value, 0)
        elif name in ("variant", "threads", "seed"):
            self._set([f"{'game' if name == 'variant' else 'engine'}.{name}", value])
        elif name == "evalmode":
            _check_one_of(value, ("cubeless", "cubeful"))
            self._is_cubeful = value == "cubeful"
        elif name == "deterministic":
            _switch(value)  # motif is always deterministic
        else:
            raise RefusalError(UNSUPPORTED, quoted(words[1]))

    def _new_session(self, words: list[str]) -> None:
        named = _pairs(words, ("type", "length", "jacoby", "crawford"))
        kind = _check_one_of(named.get("type", "money"), ("money", "match"))
        length = _number(named.get("length", "1" if kind == "match" else "0"))
        if bool(length) != (kind == "match") and "type" in named:
            needed = "at least 1" if kind == "match" else "0"
            raise RefusalError(BAD_VALUE, f"the length of a {kind} session must be {needed}, not {length}")
        jacoby, crawford = (_switch(named.get(name, "off")) for name in ("jacoby", "crawford"))
        self._task = replace(self._task, session=Session(length, jacoby, crawford))

    def _set_score(self, words: list[str]) -> None:
        if len(words) != 2:
            raise RefusalError(BAD_VALUE, "expected setscore P0 P1")
        score = _number(words[0]), _number(words[1])
        session = self._task.session or Session()
        self._task = replace(self._task, session=session.at_score(score))

    def _set_cube(self, words: list[str]) -> None:
        named = _pairs(words, ("value", "owner"))
        if len(named) != 2:
            raise RefusalError(BAD_VALUE, "expected setcube value N owner WHO")
        owner = _OWNERS[_check_one_of(named["owner"], tuple(_OWNERS))]
        cube = MatchState(cube=_number(named["value"], 1)).cube  # refuses other values
        session = replace(self._task.session or Session(), cube=cube, owner=owner)
        self._task = replace(self._task, session=session)

    def _set_turn(self, words: list[str]) -> None:
        self._task = replace(self._task, turn=_SIDES[_check_one_of(" ".join(words), tuple(_SIDES))])

    def _answer_of_draft(self, text: str) -> Sequence[str]:
        try:
            return (self._decided(text),)
        except MotifError:
            return ("sorry",)

    def _decided(self, text: str) -> str:
        if text.startswith(FIBS_PREFIX):
            board = parse_fibs_board(text)
            if not board.turn:
                raise SettingError("the game is over")
            position, roll, state = board.position, board.roll, board.match_state()
        else:
            position, known = parse_position(text)
            state = replace(known or MatchState(), beavers=False)
            roll = state.dice
        if state.doubled:
            return self._opponent.answer(position, state)
        if roll is not None:
            return _steps(self._opponent.play(position, roll, state))
        return "double" if self._opponent.cube(position, state).should_double else "roll"


def input_lines(stream: TextIO) -> Iterator[str]:
    """Yield the lines of `stream`; of one that is longer than `MAX_LINE` only the beginning is kept."""
    while line := stream.readline(MAX_LINE + 1):
        yield line
        while len(line) > MAX_LINE and not line.endswith("\n"):
            line = stream.readline(MAX_LINE + 1)


def _steps(play: Play) -> str:
    """Return a play step by step, without stars and repetitions; empty for no move."""
    return " ".join(f"{_NAMES.get(start, start)}/{_NAMES.get(end, end)}" for start, end in play.moves)


def _role(words: list[str]) -> str:
    """Return the request of ``go`` and `words`; limits of time and depth, which motif lacks, are ignored."""
    is_named = words[:1] == ["role"]
    rest = words[is_named:]
    role = rest.pop(0) if rest and rest[0] in _ROLES else ""
    if is_named and not role:
        raise RefusalError(BAD_VALUE, f"a role is one of {', '.join(_ROLES)}")
    for value in _pairs(rest, _LIMITS).values():
        _number(value)
    return role or "chequer"


def _pairs(words: list[str], known: Sequence[str]) -> dict[str, str]:
    """Return names and the values that follow them."""
    if len(words) % 2 or not set(words[::2]) <= set(known):
        said = quoted(" ".join(words))
        raise RefusalError(BAD_VALUE, f"expected {', '.join(known)}, each followed by a value, not {said}")
    return dict(zip(words[::2], words[1::2], strict=True))


def _number(word: str, least: int = 0) -> int:
    is_number = word.isascii() and word.isdigit() and len(word) <= _MAX_DIGITS
    if not (is_number and least <= int(word) < SEED_LIMIT):
        span = f"{least} to {SEED_LIMIT - 1}"
        raise RefusalError(BAD_VALUE, f"{quoted(word)} must be a whole number from {span}")
    return int(word)


def _switch(word: str) -> bool:
    return _SWITCHES[_check_one_of(word.lower(), tuple(_SWITCHES))]


def _check_one_of(word: str, known: Sequence[str]) -> str:
    if word not in known:
        raise RefusalError(BAD_VALUE, f"{quoted(word)} is not {' or '.join(known)}")
    return word
