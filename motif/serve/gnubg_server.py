"""An external player for gnubg, and a replacement for gnubg's own ``external`` server.

gnubg (``set player 0 external localhost:PORT``) sends a FIBS board line in its dialect for each decision,
with a NUL after the line end, and reads one line: a play, ``roll``, ``double``, ``take``, ``drop``,
``beaver``, ``resign ...``, or an empty line if no play is legal. It treats an illegal play as none, and
1.07 crashes on an unreadable one. Anything but a board of an unfinished game is therefore answered with
``Error: ...``, which gnubg reports.

Clients of gnubg's server send standard FIBS lines, followed by options, and the commands ``version``,
``help``, ``set``, ``evaluation`` and ``exit``.  They get gnubg's answers.

Sources: gnubg's play.c (`ComputerTurn`), drawboard.c (`FIBSBoard`), external.c, external_l.l, external_y.y;
and traffic of gnubg 1.07.
"""

import os
import re
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from motif.board.fibs_board import PREFIX, FibsBoard, parse_fibs_board
from motif.board.identifiers import quoted
from motif.board.match_state import MatchState, Raise
from motif.board.moves import Play
from motif.board.outcome import outcome
from motif.board.position import Position
from motif.runtime.errors import MotifError, PositionError, SettingError
from motif.runtime.layout import complain
from motif.runtime.package import VERSION
from motif.serve.opponent import Opponent

_MAX_LINE = 4096
"""Maximum bytes of a line; gnubg's board lines have about 150."""
_MAX_ANSWER = 200
"""Maximum characters of an answer: gnubg reads 255, and takes the rest for the next answer."""
_SECONDS_TO_READ = 60.0
"""Time for a client to read an answer."""
_ERROR = "Error: "
_HTTP = re.compile(r"[A-Z]+ \S+ HTTP/|(?i:host):")
"""Lines before the text that a web page sends, as browsers allow to any port; the first may be too long."""
_Request = socket.socket | tuple[bytes, socket.socket]
"""A connection in socketserver."""
_SWITCHES = {**dict.fromkeys(("yes", "on", "true"), True), **dict.fromkeys(("no", "off", "false"), False)}


@dataclass(frozen=True)
class Rules:
    """Rules that board lines lack: those of money play, and whether matches have a Crawford game."""

    jacoby: bool = True
    beavers: bool = True
    crawford: bool = True


@dataclass(frozen=True)
class ConnectionLimits:
    """Maximum number of connections, and maximum seconds without a line or a pending answer."""

    connections: int = 64
    silent: float = 60.0
    """Until the first line of a connection."""
    idle: float = 3600.0
    """Between two lines of a connection."""
    silent_when_full: float = 5.0
    """Until a connection without a line may be replaced by a new one."""
    idle_when_full: float = 60.0
    """The same for a connection that has sent a line."""


class Options(NamedTuple):
    """Options after the board line of a client of gnubg's server."""

    rules: Rules
    resignation: int = 0
    """Points, in cubes, of a resignation by the player on turn; 0 for none."""
    plies: int | None = None
    """None for the player's own lookahead."""
    cubeful: bool = False


class Conversation:
    """The lines and answers of one connection."""

    def __init__(self, opponent: Opponent, rules: Rules = Rules()) -> None:
        self._opponent = opponent
        self._rules = rules
        self._is_gnubg = True
        """Whether the lines so far may come from gnubg."""
        self._side = 0
        """Sign of the player's checkers; 0 while unknown."""
        self._has_resigned = False
        """Whether the last answer was a resignation; if asked again, the player continues."""

    def answer(self, line: str) -> str | None:
        """Return the answer to one line, without its end; None to ``exit``, which ends the connection."""
        text = line.strip(" \t\r\n\0")
        try:
            return self._answer(text)
        except MotifError as error:
            return _short(f"{_ERROR}{error}")

    def _answer(self, text: str) -> str | None:
        words = text.split()
        if not words:
            return f"{_ERROR}no command given"
        command = words[0].lower()
        if command.startswith(f"{PREFIX}:"):
            return self._decide(text)
        if command in ("exit", "quit"):
            return None
        self._is_gnubg = False
        if command == "evaluation":
            return self._evaluate(text)
        if command == "version" and len(words) == 1:
            return f"Interface: 2\nRFBF: 0\nEngine: {self._opponent.name}\nSoftware: motif {VERSION}"
        if command == "help" and len(words) == 1:
            return "\tNo help information available"
        if command == "set":
            return _setting([word.lower() for word in words[1:]])
        raise SettingError(f"syntax error, unexpected {quoted(words[0])}")

    def _decide(self, text: str) -> str:
        line, words = _line_and_words(text)
        options = _options(words, self._rules)
        board, position, state = self._question(line, options.rules, request=not words)
        opponent = self._opponent
        if options.resignation:
            return "accept" if opponent.agrees(position, state, options.resignation) else "reject"
        if board.raised:
            raised: Raise = "beaver" if self._side in (0, board.turn) else "raccoon"
            return "accept" if opponent.answer(position, state, raised) == "take" else "drop"
        if board.doubled:
            return opponent.answer(position, state)
        self._side = board.turn
        # As a server gnubg never resigns.
        loss = opponent.resignation(position, board.roll, state) if self._is_gnubg else None
        was_declined, self._has_resigned = self._has_resigned, loss is not None
        if loss is not None and not was_declined:
            return f"resign {loss}"
        if board.roll is not None:
            return _in_numbers(opponent.play(position, board.roll, state))
        return "double" if opponent.cube(position, state).should_double else "roll"

    def _question(self, line: str, rules: Rules, *, request: bool) -> tuple[FibsBoard, Position, MatchState]:
        board = parse_fibs_board(line)
        # gnubg writes the roll to both players' dice, and knows one colour and one direction.
        as_gnubg = board.your_dice == board.opponent_dice and board.view[:2] == (1, -1)
        self._is_gnubg = self._is_gnubg and request and as_gnubg
        position = board.position
        if not board.turn or outcome(position):
            raise PositionError("the game is over")
        if not rules.crawford:
            board = replace(board, did_crawford=1)
        state = board.match_state(
            request=self._is_gnubg,
            # A beaver is a question to the player whose turn it is, a raccoon to the opponent.
            raises=1 if self._side in (0, board.turn) else 2,
            jacoby=rules.jacoby,
            beavers=rules.beavers,
        )
        return board, position, state

    def _evaluate(self, text: str) -> str:
        words = text.split(None, 2)
        if len(words) < 3 or words[1].lower() != "fibsboard":
            raise SettingError("syntax error: expected evaluation fibsboard BOARD")
        line, more = _line_and_words(words[2])
        options = _options(more, self._rules)
        _, position, state = self._question(line, options.rules, request=False)
        opponent = self._opponent if options.plies is None else self._opponent.at_plies(options.plies)
        numbers = opponent.evaluation(position, state, cubeful=options.cubeful)
        return " ".join(f"{number:f}" for number in numbers)


def _line_and_words(text: str) -> tuple[str, list[str]]:
    """Split `text` into its board line, whose names may have spaces, and the words after it."""
    head, colon, last = text.rpartition(":")
    number, _, behind = last.partition(" ")
    return head + colon + number, behind.split()


def _options(words: list[str], rules: Rules) -> Options:
    """Parse the `words` after a board line by gnubg's grammar; raises `SettingError`."""
    options = Options(rules)
    waiting = [word.lower() for word in reversed(words)]
    while waiting:
        name = waiting.pop()
        if name in ("jacobyrule", "crawfordrule", "beavers"):
            rule = {name.removesuffix("rule"): _switch(name, waiting)}
            options = options._replace(rules=replace(options.rules, **rule))
        elif name == "cube":
            options = options._replace(cubeful=_switch(name, waiting))
        elif name in ("cubeful", "cubeless"):
            options = options._replace(cubeful=name == "cubeful")
        elif name == "resignation":
            options = options._replace(resignation=_digit(name, waiting))
        elif name == "plies":
            options = options._replace(plies=_digit(name, waiting))
        elif name in ("prune", "deterministic"):
            # motif has no nets to prune with, and is deterministic anyway.
            if waiting and waiting[-1] in _SWITCHES:
                waiting.pop()
        elif name == "noise":
            noise = waiting.pop() if waiting else ""
            if not noise or noise.strip("0.+-"):
                raise SettingError(f"noise must be 0, not {quoted(noise)}")
        else:
            raise SettingError(f"syntax error, unexpected {quoted(name)} after the board")
    return options


def _switch(name: str, waiting: list[str]) -> bool:
    word = waiting.pop() if waiting else ""
    if word not in _SWITCHES:
        raise SettingError(f"syntax error: {name} is on or off, not {quoted(word)}")
    return _SWITCHES[word]


def _digit(name: str, waiting: list[str]) -> int:
    word = waiting.pop() if waiting else ""
    most = 3
    if word not in map(str, range(most + 1)):
        raise SettingError(f"{name} must be 0 to {most}, not {quoted(word)}")
    return int(word)


def _setting(words: list[str]) -> str:
    """Answer ``set`` and `words`, which changes nothing."""
    name, value, *_ = [*words, "", ""]
    if name == "debug" and value in _SWITCHES:
        return f"Debug output {'ON' if _SWITCHES[value] else 'OFF'}"
    if name == "interface" and value in ("new", "old"):
        return f"New interface {'ON' if value == 'new' else 'OFF'}"
    raise SettingError(f"set option {quoted(name)} not supported")


def _in_numbers(play: Play) -> str:
    """Return the moves of a play, with 25 as the bar and 0 as off."""
    return " ".join(f"{start}/{end}" for start, end in play.moves)


def _short(text: str) -> str:
    """Return `text` as a line of ASCII that fits gnubg's buffer."""
    line = " ".join(text.encode("ascii", "backslashreplace").decode().split())
    return line if len(line) <= _MAX_ANSWER else line[: _MAX_ANSWER - 3] + "..."


class _Handler(socketserver.BaseRequestHandler):
    server: "GnubgServer"

    def handle(self) -> None:
        conversation = Conversation(self.server.opponent, self.server.rules)
        visit = self.server.visit_of(self.request)
        # A client that leaves at any moment, or is idle for too long, is not an error.
        with suppress(OSError):
            for line in _lines(self.request, visit.seconds_left):
                visit.is_idle = False
                if is_web := line is not None and _HTTP.match(line) is not None:
                    answer: str | None = f"{_ERROR}this is no web server"
                elif line is None:
                    answer = f"{_ERROR}a line must have at most {_MAX_LINE} bytes"
                else:
                    answer = self.server.ask(conversation, line)
                if answer is None:
                    return
                visit.rest()
                self.request.settimeout(_SECONDS_TO_READ)
                self.request.sendall(answer.encode() + b"\n")
                if is_web:
                    return


class _Visit:
    """A connection and its idle time."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._since = time.monotonic()
        self.has_spoken = False
        """Whether it has sent a line."""
        self.is_idle = True

    def rest(self) -> None:
        """Be idle after a line."""
        self._since, self.has_spoken, self.is_idle = time.monotonic(), True, True

    @property
    def seconds(self) -> float:
        """Seconds for which it has been idle."""
        return time.monotonic() - self._since

    def seconds_left(self) -> float:
        """Seconds for which it may still be idle."""
        return (self._limits.idle if self.has_spoken else self._limits.silent) - self.seconds

    @property
    def makes_room(self) -> bool:
        """Whether a new connection may replace it."""
        limits = self._limits
        most = limits.idle_when_full if self.has_spoken else limits.silent_when_full
        return self.is_idle and self.seconds >= most


def _lines(connection: socket.socket, seconds_left: Callable[[], float]) -> Iterator[str | None]:
    """Yield lines without their ends; None for one that is too long.

    Raises `TimeoutError` if no line ends while there are `seconds_left`.
    """
    held, overlong = b"", False
    while part := _received(connection, seconds_left()):
        *ended, held = (held + part).split(b"\n")
        for line in ended:
            if not overlong:
                yield None if len(line) > _MAX_LINE else line.decode("utf-8", "replace")
            overlong = False
        if len(held) > _MAX_LINE:
            if not overlong:
                yield None
            held, overlong = b"", True


def _received(connection: socket.socket, seconds: float) -> bytes:
    if seconds <= 0:
        raise TimeoutError
    connection.settimeout(seconds)
    return connection.recv(_MAX_LINE)


class GnubgServer(socketserver.ThreadingTCPServer):
    """A server at `host` and `port` (0: a free one) for programs that ask `opponent`.

    Each connection has a thread; questions are answered one after the other.  If the `limits` allow no more
    connections, a new one replaces the one that has been idle longest, preferably one without a line; if none
    has been idle long enough, the new one is closed.  Raises `SettingError` if it cannot listen.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = os.name == "posix"
    request_queue_size = 32

    def __init__(
        self,
        opponent: Opponent,
        host: str,
        port: int,
        rules: Rules = Rules(),
        limits: ConnectionLimits = ConnectionLimits(),
    ) -> None:
        self.opponent = opponent
        self.rules = rules
        self.limits = limits
        self._thinking = threading.Lock()
        self._visits: dict[_Request, _Visit] = {}
        self._door = threading.Lock()
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise SettingError(f"cannot listen on {host}:{port}: {reason}") from None

    @property
    def address(self) -> str:
        """``HOST:PORT``, as it is."""
        host, port = self.server_address[:2]
        return f"{host!s}:{port}"

    def ask(self, conversation: Conversation, line: str) -> str | None:
        """Return the answer of `conversation` to `line`."""
        with self._thinking:
            try:
                return conversation.answer(line)
            except Exception as error:  # an error of motif ends no game, and shows no traceback
                return _short(f"{_ERROR}internal error: {type(error).__name__}: {error}")

    def handle_error(self, request: object, client_address: object) -> None:
        """Print why a connection failed."""
        complain(f"motif: a connection was lost: {sys.exc_info()[1]!r}")

    def visit_of(self, connection: socket.socket) -> _Visit:
        """Return the visit of a connection; that of a dropped one is over."""
        with self._door:
            return self._visits.get(connection) or _Visit(replace(self.limits, silent=0.0))

    def verify_request(self, request: _Request, client_address: object) -> bool:
        """Admit a connection if there is room, or if an idle one makes room."""
        with self._door:
            if len(self._visits) >= self.limits.connections and not self._drop_idlest():
                return False
            self._visits[request] = _Visit(self.limits)
            return True

    def _drop_idlest(self) -> bool:
        """Drop the connection that makes room first, and return whether there is one."""
        idle = [connection for connection, visit in self._visits.items() if visit.makes_room]
        if not idle:
            return False
        connection = min(idle, key=lambda one: (self._visits[one].has_spoken, -self._visits[one].seconds))
        del self._visits[connection]
        assert isinstance(connection, socket.socket)
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)  # its thread hears the end, and closes it
        return True

    def shutdown_request(self, request: _Request) -> None:
        """Close a connection, even one that was not admitted."""
        with self._door:
            self._visits.pop(request, None)
        super().shutdown_request(request)
