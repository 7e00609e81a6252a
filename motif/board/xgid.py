"""XGIDs: position and match state in one line, as eXtreme Gammon and gnubg exchange them.

``XGID=board:cube:owner:turn:dice:S1:S2:CJ:len:max``.  The board has 26 characters, seen by the
player who is written in capitals: his opponent's bar, his points 1 to 24, his bar; ``A`` to ``P``
are 1 to 16 checkers of his, ``a`` to ``p`` the opponent's, ``-`` is empty.  cube and max are powers
of two; owner and turn are 1 for capitals, -1 for small letters (0: the cube is centred); dice are
``00`` before the roll, ``D`` when the player on roll has doubled; S1 is the capitals' score; CJ is
1 in the Crawford game of a match, and in money play 1 for the Jacoby rule plus 2 for beavers.

Read as gnubg 1.07 reads it: max has no effect, and turn -1 leaves the board in the capitals' view.
Always written with the player on roll in capitals (turn 1) and XG's usual max of 10; resignations,
finished games and beavered cubes have no form in an XGID.
"""

import numpy as np

from motif.board.identifiers import quoted
from motif.board.match_state import LARGEST_CUBE, CubeOwner, MatchState
from motif.board.packed import BOARD_SIZE, OPPONENT_BAR, OWN_BAR, Board
from motif.board.position import Position
from motif.runtime.errors import PositionError

PREFIX = "XGID="

_FIELDS = ("board", "cube", "owner", "turn", "dice", "S1", "S2", "CJ", "len", "max")
_OWN_LETTERS = "ABCDEFGHIJKLMNOP"
_OPPONENT_LETTERS = _OWN_LETTERS.lower()
_USUAL_MAX = 10
_LONGEST_NUMBER = 9


def xgid(position: Position, match: MatchState | None = None) -> str:
    """The XGID, with its prefix, of `position` and `match` (None: money play, the cube in the centre)."""
    state = match or MatchState()
    board = "".join(_letter(int(count)) for count in position.board)
    owner = {"centre": 0, "me": 1, "opponent": -1}[state.cube_owner]
    dice = "D" if state.doubled else "".join(map(str, state.dice or (0, 0)))
    rules = int(state.crawford) if state.length else state.jacoby + 2 * state.beavers
    cube = state.cube.bit_length() - 1
    scores = f"{state.own_score}:{state.opponent_score}"
    return f"{PREFIX}{board}:{cube}:{owner}:1:{dice}:{scores}:{rules}:{state.length}:{_USUAL_MAX}"


def position_from_xgid(text: str) -> tuple[Position, MatchState]:
    """The position and the match state, both seen by the player on roll, that an XGID holds.

    The prefix may be missing.  Raises `PositionError` naming the field that is wrong.
    """
    try:
        return _read(text[len(PREFIX) :] if text[: len(PREFIX)].upper() == PREFIX else text)
    except PositionError as error:
        reason = str(error).removeprefix("no position: ").removeprefix("no match state: ")
        raise PositionError(f"no position in {quoted(text)}: {reason}") from None


def _read(text: str) -> tuple[Position, MatchState]:
    """`position_from_xgid` without the prefix; error messages do not repeat `text`."""
    parts = text.split(":")
    if len(parts) != len(_FIELDS):
        names = ":".join(_FIELDS)
        raise PositionError(f"an XGID has {len(_FIELDS)} fields ({names}), this has {len(parts)}")
    fields = dict(zip(_FIELDS, parts, strict=True))
    board = _read_board(fields["board"])
    cube = _number(fields, "cube", 0, LARGEST_CUBE.bit_length() - 1)
    turn = _number(fields, "turn", -1, 1)
    if not turn:
        raise PositionError("the turn is '0', not 1 or -1")
    owner = _number(fields, "owner", -1, 1) * turn
    scores = _number(fields, "S1", 0), _number(fields, "S2", 0)
    length = _number(fields, "len", 0)
    rules = _number(fields, "CJ", 0, 1 if length else 3)
    _number(fields, "max", 0)
    doubled = fields["dice"] == "D"
    owners: dict[int, CubeOwner] = {0: "centre", 1: "me", -1: "opponent"}
    state = MatchState(
        length=length,
        own_score=scores[0] if turn == 1 else scores[1],
        opponent_score=scores[1] if turn == 1 else scores[0],
        cube=1 << cube,
        cube_owner=owners[owner],
        crawford=bool(length and rules),
        dice=None if doubled else _dice(fields["dice"]),
        doubled=doubled,
        jacoby=not length and bool(rules & 1),
        beavers=not length and bool(rules & 2),
        decision="opponent" if doubled else "me",
        player=1 if turn == 1 else 0,
    )
    return Position(board if turn == 1 else -board[::-1]), state


def _letter(count: int) -> str:
    if count == 0:
        return "-"
    return _OWN_LETTERS[count - 1] if count > 0 else _OPPONENT_LETTERS[-count - 1]


def _read_board(text: str) -> Board:
    if len(text) != BOARD_SIZE:
        raise PositionError(f"the board of an XGID has {BOARD_SIZE} characters, this has {len(text)}")
    board = np.zeros(BOARD_SIZE, np.int8)
    for place, letter in enumerate(text):
        if letter in _OWN_LETTERS and place != OPPONENT_BAR:
            board[place] = 1 + _OWN_LETTERS.index(letter)
        elif letter in _OPPONENT_LETTERS and place != OWN_BAR:
            board[place] = -1 - _OPPONENT_LETTERS.index(letter)
        elif letter != "-":
            allowed = {OPPONENT_BAR: "a to p or -", OWN_BAR: "A to P or -"}.get(place, "A to P, a to p or -")
            raise PositionError(f"character {place + 1} of the board, {quoted(letter)}, is not {allowed}")
    return board


def _number(fields: dict[str, str], name: str, lowest: int, highest: int | None = None) -> int:
    text = fields[name]
    digits = text.removeprefix("-")
    # Limited, because a number of thousands of digits is refused by int() itself.
    if digits.isascii() and digits.isdigit() and len(digits) <= _LONGEST_NUMBER:
        value = int(text)
        if value >= lowest and (highest is None or value <= highest):
            return value
    allowed = f"{lowest} to {highest}" if highest is not None else f"a number from {lowest} on"
    raise PositionError(f"the field {name} is {quoted(text)}, not {allowed}")


def _dice(text: str) -> tuple[int, int] | None:
    if text == "00":
        return None
    if len(text) == 2 and all(die in "123456" for die in text):
        return int(text[0]), int(text[1])
    hint = " (beavers and raccoons cannot be read)" if text in ("B", "R") else ""
    raise PositionError(f"the dice are {quoted(text)}, not two of 1 to 6, 00 or D{hint}")
