"""Board lines of FIBS, the First Internet Backgammon Server, a format that gnubg's sockets also use.

A line is ``board:`` and 52 fields separated by colons: two names, the match length, two scores, 26 points,
the turn, two dice of each player, the cube, and sixteen numbers that `FibsBoard` names.

"You" is the player named first; the line shows the board from that player's side.  Your checkers have the
sign of `colour`, bars included.  With `direction` -1 you move from 24 to 1, your home is 0 and your bar is
25; with 1 it is the reverse.  A line with colour 1 and direction -1 has the board layout of
`motif.board.position`.

gnubg reads these lines as a server.  As the client of an external player it writes a dialect: its player 1
always has the positive checkers, the colour is 1 and the direction -1, both pairs of dice contain the roll,
and only `turn` says whose turn it is.  The first name and score belong to gnubg's player 0, or to its
player 1 when it asks whether to take.  Its money games have length 0; on FIBS they have `UNLIMITED`.

Sources: the FIBS client protocol, and the lines that gnubg 1.07 writes and reads.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from motif.board.identifiers import quoted, whole_number
from motif.board.match_state import CubeOwner, MatchState
from motif.board.packed import BOARD_SIZE, CHECKERS, OPPONENT_BAR, OWN_BAR, Board
from motif.board.position import Position
from motif.board.rules import is_crawford_game, is_power_of_two
from motif.runtime.arrays import IntArray
from motif.runtime.errors import PositionError

PREFIX = "board"
UNLIMITED = 9999
"""Match length that marks a money game on FIBS; gnubg writes 0."""

_SEPARATOR = ":"
_NAMES = 2
_FIELDS = 52
_NO_DICE = (0, 0)
_NO_OR_YES = (0, 1)
_EITHER_WAY = (-1, 1)
_WHOSE_TURN = (-1, 0, 1)
_HOME_AND_BAR = ((OPPONENT_BAR, OWN_BAR), (OWN_BAR, OPPONENT_BAR))
_COUNTS = range(CHECKERS + 1)
_LENGTHS = range(UNLIMITED + 1)
_PLAYER_1 = 1
"""Sign of player 1's checkers in gnubg's dialect."""


class FibsCube(NamedTuple):
    """The cube fields of a board line."""

    value: int
    you_may_double: int
    opponent_may_double: int
    was_doubled: int
    """1 while a double is on offer."""


class FibsView(NamedTuple):
    """Numbering and signs of a board line."""

    colour: int
    """Sign of your checkers."""
    direction: int
    home: int
    bar: int


class FibsCounts(NamedTuple):
    """Numbers of checkers borne off, on the bar and able to move (0 to 4)."""

    your_off: int
    opponent_off: int
    your_bar: int
    opponent_bar: int
    can_move: int
    forced: int


@dataclass(frozen=True)
class FibsBoard:
    """A board line; invalid fields raise a `PositionError` that lists every fault."""

    you: str
    opponent: str
    length: int
    """Points of the match; 0 or `UNLIMITED` for a money game."""
    your_score: int
    opponent_score: int
    points: tuple[int, ...]
    """The 24 points and two bars in the order of the line, with its signs."""
    turn: int
    """Colour of the player whose turn it is (the doubler while a double is on offer); 0 after the game."""
    your_dice: tuple[int, int]
    """0 and 0 before the roll."""
    opponent_dice: tuple[int, int]
    cube: FibsCube
    view: FibsView
    counts: FibsCounts
    did_crawford: int
    """1 after the Crawford game."""
    redoubles: int
    """Number of redoubles still allowed; gnubg writes 0 in the Crawford game and 1 otherwise."""

    def __post_init__(self) -> None:
        if found := _faults(self):
            raise PositionError("; ".join(found), about="invalid FIBS board")

    @property
    def position(self) -> Position:
        """The position from the side of the player whose turn it is, or from your side after the game.

        Raises `PositionError` if the points and bars are not a valid position.
        """
        upright = self.points if self.view.direction == -1 else self.points[::-1]
        yours = Position([self.view.colour * count for count in upright])
        return yours if self.turn in (0, self.view.colour) else yours.switch_sides()

    @property
    def roll(self) -> tuple[int, int] | None:
        """The dice of the player whose turn it is, the higher first; None before the roll."""
        dice = self.your_dice if self.turn == self.view.colour else self.opponent_dice
        return None if dice == _NO_DICE else (max(dice), min(dice))

    @property
    def doubled(self) -> bool:
        """Whether a double is on offer, made by the player whose turn it is.

        In some FIBS lines the only sign of a double is that neither player may double.
        """
        return bool(self.cube.was_doubled) or not any(self._rights)

    @property
    def raised(self) -> bool:
        """Whether the opponent has beavered the double of the player whose turn it is.

        The beaver, or a raccoon, is then on offer.  Only gnubg's requests show this: in them the opponent
        already owns the cube.
        """
        mine, theirs = self._rights
        return bool(self.cube.was_doubled) and theirs > mine

    @property
    def _rights(self) -> tuple[int, int]:
        """Whether the player whose turn it is, and the opponent, may double."""
        rights = self.cube.you_may_double, self.cube.opponent_may_double
        return rights if self.turn == self.view.colour else rights[::-1]

    def match_state(
        self, *, request: bool = False, raises: int = 1, jacoby: bool = False, beavers: bool = False
    ) -> MatchState:
        """Return the score, cube and decision from the same side as `position`; the dice are in `roll`.

        If the double was `raised`, the result is the state before the double: `raises` must be 1 for a
        beaver and 2 for a raccoon, because a line does not distinguish them.  `request` marks gnubg's
        dialect.  `jacoby` and `beavers` are the rules of money play, which a line does not contain.  Raises
        `PositionError` for an impossible state.
        """
        first = self.view.colour if not request else _PLAYER_1 if self.doubled else -_PLAYER_1
        scores = self.your_score, self.opponent_score
        own_score, opponent_score = scores if self.turn == first else scores[::-1]
        length = 0 if self.length == UNLIMITED else self.length
        is_offered = self.doubled and not self.raised
        cube = self.cube.value >> (raises if self.raised else 0)
        return MatchState(
            length=length,
            own_score=own_score,
            opponent_score=opponent_score,
            cube=cube,
            cube_owner=self._owner_of(cube),
            crawford=is_crawford_game(length, scores, played=bool(self.did_crawford or self.redoubles)),
            doubled=is_offered,
            jacoby=jacoby and not length,
            beavers=beavers and not length,
            decision="opponent" if is_offered else "me",
            player=1 if self.turn == _PLAYER_1 else 0,
        )

    def _owner_of(self, cube: int) -> CubeOwner:
        """Return the owner of the `cube`, before the double if there was one."""
        mine, theirs = self._rights
        if mine != theirs and not self.raised:
            return "me" if mine else "opponent"
        # The doubler had access to the cube, so a cube above 1 was the doubler's.
        has_doubled = self.raised or not mine
        return "me" if has_doubled and cube > 1 else "centre"


def fibs_lines(boards: Board, rolls: IntArray | None = None) -> Iterator[str]:
    """Yield lines of money games for `boards` (n, 26) and optional `rolls` (n, 2), without checking them.

    The player on roll is "you".  A gnubg server answers such a line with a play.
    """
    off = np.stack([np.maximum(boards, 0).sum(axis=1), -np.minimum(boards, 0).sum(axis=1)], axis=1)
    dice = np.zeros((len(boards), 2), np.int64) if rolls is None else rolls
    for points, roll, both_off in zip(boards.tolist(), dice.tolist(), (CHECKERS - off).tolist(), strict=True):
        numbers = (0, 0, 0, *points, 1, *roll, 0, 0, 1, 1, 1, 0, 1, -1, OPPONENT_BAR, OWN_BAR, *both_off)
        yield ":".join(map(str, ("board", "you", "opponent", *numbers, 0, 0, 0, 0, 0, 0)))


def parse_fibs_board(text: str) -> FibsBoard:
    """Parse a board line; surrounding spaces, line ends and NUL bytes are ignored.

    Raises `PositionError` with the reason.
    """
    fields = text.strip(" \t\r\n\0").split(_SEPARATOR)
    if fields[0] != PREFIX:
        raise PositionError(f"invalid FIBS board {quoted(text)}: it must start with '{PREFIX}{_SEPARATOR}'")
    if len(fields) != 1 + _FIELDS:
        raise PositionError(
            f"invalid FIBS board {quoted(text)}: it must have {_FIELDS} fields, not {len(fields) - 1}"
        )
    first = 1 + _NAMES
    numbers = iter([_number(field, index, text) for index, field in enumerate(fields[first:], first)])

    def following(count: int) -> tuple[int, ...]:
        return tuple(islice(numbers, count))

    values: list[Any] = [*fields[1:first], *following(3), following(BOARD_SIZE), *following(1)]
    values += [following(2), following(2), FibsCube(*following(4)), FibsView(*following(4))]
    values += [FibsCounts(*following(6)), *following(2)]
    try:
        return FibsBoard(*values)
    except PositionError as error:
        raise PositionError(error.reason, about=f"invalid FIBS board {quoted(text)}") from None


def _number(field: str, index: int, text: str) -> int:
    number = whole_number(field)
    if number is None:
        raise PositionError(
            f"invalid FIBS board {quoted(text)}: field {index} must be a number, not {quoted(field)}"
        )
    return number


def _faults(board: FibsBoard) -> list[str]:
    """List every invalid field, without checking whether the points and bars are a valid position."""
    found = [
        f"the name {quoted(name)} must not be empty or contain a colon or a control character"
        for name in (board.you, board.opponent)
        if not name.strip() or _SEPARATOR in name or not name.isprintable()
    ]
    if len(board.points) != BOARD_SIZE:
        found.append(f"the points and bars must be {BOARD_SIZE} numbers, not {len(board.points)}")
    for dice in (board.your_dice, board.opponent_dice):
        if dice != _NO_DICE and not (1 <= dice[0] <= 6 and 1 <= dice[1] <= 6):
            found.append(f"the dice must be both 1 to 6 or both 0, not {dice[0]} and {dice[1]}")
    cube, view, counts = board.cube, board.view, board.counts
    if not is_power_of_two(cube.value):
        found.append(f"the cube must be a power of two, not {cube.value}")
    for what, value, allowed in (
        ("turn", board.turn, _WHOSE_TURN),
        ("colour", view.colour, _EITHER_WAY),
        ("direction", view.direction, _EITHER_WAY),
        ("home and bar", (view.home, view.bar), _HOME_AND_BAR),
        ("may-double", cube.you_may_double, _NO_OR_YES),
        ("opponent-may-double", cube.opponent_may_double, _NO_OR_YES),
        ("was-doubled", cube.was_doubled, _NO_OR_YES),
        ("the match length", board.length, _LENGTHS),
        ("your checkers off", counts.your_off, _COUNTS),
        ("the opponent's checkers off", counts.opponent_off, _COUNTS),
        ("your checkers on the bar", counts.your_bar, _COUNTS),
        ("the opponent's checkers on the bar", counts.opponent_bar, _COUNTS),
    ):
        if value not in allowed:
            choice = (
                f"{allowed[0]} to {allowed[-1]}"
                if isinstance(allowed, range)
                else " or ".join(map(str, allowed))
            )
            found.append(f"{what} must be {choice}, not {value}")
    return found
