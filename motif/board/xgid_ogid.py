"""XGIDs and OGIDs: one-line notations of a position and its match state.

XGIDs are used by eXtreme Gammon and gnubg:

``XGID=board:cube:owner:turn:dice:S1:S2:CJ:len:max``. The board has 26 characters, from the side of the
player written in capitals: the opponent's bar, points 1 to 24 and the player's own bar.  ``A`` to ``P`` are
1 to 16 checkers of that player, ``a`` to ``p`` are the opponent's, and ``-`` is empty.  cube and max are
exponents of two.  owner and turn are 1 for capitals and -1 for small letters (owner 0: the cube is
centred). dice is ``00`` before the roll and ``D`` when the player on roll has doubled.  S1 is the score of
the player in capitals.  CJ is 1 in the Crawford game of a match; in money play it is 1 for the Jacoby rule
plus 2 for beavers.

As in gnubg 1.07, the reader ignores max, and with turn -1 the board is still from the side of the player in
capitals.  motif always writes the player on roll in capitals (turn 1) and XG's usual max of 10. An XGID
cannot express resignations, finished games or beavered cubes.

OGIDs are used by OpenGammon, HedgeHog and GammonView:

``WHITE:BLACK:CUBE:DICE:COLOUR:STATE:SCORE_WHITE:SCORE_BLACK:LENGTH:MOVE[:CHECKERS]``. WHITE and BLACK have
one character per checker: 0 to 9 and a to p stand for 0 to 25, and q is a checker borne off.  0 is White's
bar, 25 is Black's bar, and 1 to 24 are Black's points, so that White's ace point is 24. CUBE is the owner
(W, B, or N for no owner), the base-2 logarithm of the value and the last action (O: offered, T: taken, P:
passed, N: none). COLOUR is the player who REACHED the position, and the other player is on roll.  There are
two exceptions: COLOUR is the doubler while a double is on offer, and White is on roll in a game that has
not begun (IW without dice). LENGTH is 0 for money play and is followed by C in the Crawford game and by L
in later games.  Everything after CUBE is optional.

motif always writes the player on roll as White.  An OGID cannot express the rules of money play, beavers or
resignations.

Source: the OGIDs that GammonView 3.1 and AnkiGammon read and write; OGIDs written by HedgeHog and
OpenGammon agree with them.
"""

import re
from collections.abc import Callable

import numpy as np

from motif.board.identifiers import quoted, whole_number
from motif.board.match_state import CubeOwner, GameState, MatchState
from motif.board.packed import BOARD_SIZE, CHECKERS, OPPONENT_BAR, OWN_BAR, Board
from motif.board.position import Position
from motif.board.rules import MAX_CUBE
from motif.runtime.errors import PositionError

XGID_PREFIX = "XGID="

_TURNS = {"1": 1, "-1": -1}
_XGID_FIELDS = ("board", "cube", "owner", "turn", "dice", "S1", "S2", "CJ", "len", "max")
_LETTERS = "ponmlkjihgfedcba-ABCDEFGHIJKLMNOP"
"""Letters of -16 to 16 checkers on a point."""
_EMPTY = _LETTERS.index("-")
_USUAL_MAX = 10
_XGID_OWNERS: dict[CubeOwner, int] = {"centre": 0, "me": 1, "opponent": -1}

OGID_PREFIX = "OGID="

_OGID_FIELDS = (
    "white", "black", "cube", "dice", "colour", "state", "white's score", "black's score", "length",
)  # fmt: skip
_MIN_FIELDS, _MAX_FIELDS = 3, 11
_PLACES = "0123456789abcdefghijklmnop"
_OFF = "q"
_SHAPE = re.compile(rf"[{_PLACES}{_OFF}]*:[{_PLACES}{_OFF}]*:[WBND?]\d", re.ASCII)
_CUBE = re.compile(r"(?P<owner>[WBND?])(?P<power>\d{1,2})(?P<action>[NOTP])", re.ASCII)
_LENGTH = re.compile(r"(?P<points>\d{1,9})(?P<kind>[CLG]?)\d{0,9}", re.ASCII)
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)
_ROLL = re.compile(r"[1-6][1-6]", re.ASCII)
_STATE = re.compile(r"[A-Z]{0,3}", re.ASCII)
_NOT_BEGUN, _ROLLED, _DOUBLED, _TO_ROLL = "IW", "R", "D", "C"
_OVER: dict[str, GameState] = {"G": "over", "M": "over", "F": "over", "RG": "resigned", "RM": "resigned"}
_PASSED = "P"


def xgid(position: Position, match: MatchState | None = None) -> str:
    """Return the XGID, with its prefix, of `position` and `match` (None: money play, a centred cube)."""
    state = match or MatchState()
    board = "".join(_LETTERS[_EMPTY + count] for count in position.board.tolist())
    owner = _XGID_OWNERS[state.cube_owner]
    dice = "D" if state.doubled else "".join(map(str, state.dice or (0, 0)))
    rules = int(state.crawford) if state.length else state.jacoby + 2 * state.beavers
    cube = state.cube.bit_length() - 1
    scores = f"{state.own_score}:{state.opponent_score}"
    return f"{XGID_PREFIX}{board}:{cube}:{owner}:1:{dice}:{scores}:{rules}:{state.length}:{_USUAL_MAX}"


def position_from_xgid(text: str) -> tuple[Position, MatchState]:
    """Parse an XGID, with or without its prefix; both results are from the side of the player on roll.

    Raises `PositionError` naming the invalid field.
    """
    return _without_prefix(text, XGID_PREFIX, _read_xgid)


def _without_prefix(
    text: str, prefix: str, read: Callable[[str], tuple[Position, MatchState]]
) -> tuple[Position, MatchState]:
    """Read an ID, with or without `prefix`; errors quote the whole ID."""
    begun = text[: len(prefix)].upper() == prefix
    try:
        return read(text[len(prefix) :] if begun else text)
    except PositionError as error:
        raise PositionError(error.reason, about=f"invalid position {quoted(text)}") from None


def _read_xgid(text: str) -> tuple[Position, MatchState]:
    parts = text.split(":")
    if len(parts) != len(_XGID_FIELDS):
        names = ":".join(_XGID_FIELDS)
        raise PositionError(f"an XGID must have {len(_XGID_FIELDS)} fields ({names}), not {len(parts)}")
    fields = dict(zip(_XGID_FIELDS, parts, strict=True))
    board = _read_board(fields["board"])
    cube = _xgid_number(fields, "cube", 0, MAX_CUBE.bit_length() - 1)
    turn = _TURNS.get(fields["turn"])
    if turn is None:
        raise PositionError(f"the field turn must be 1 or -1, not {quoted(fields['turn'])}")
    owner = _xgid_number(fields, "owner", -1, 1) * turn
    own_score, opponent_score = [_xgid_number(fields, name, 0) for name in ("S1", "S2")][::turn]
    length = _xgid_number(fields, "len", 0)
    rules = _xgid_number(fields, "CJ", 0, 1 if length else 3)
    _xgid_number(fields, "max", 0)
    doubled = fields["dice"] == "D"
    state = MatchState(
        length=length,
        own_score=own_score,
        opponent_score=opponent_score,
        cube=1 << cube,
        cube_owner=next(side for side, code in _XGID_OWNERS.items() if code == owner),
        crawford=bool(length and rules),
        dice=None if doubled else _xgid_dice(fields["dice"]),
        doubled=doubled,
        jacoby=not length and bool(rules & 1),
        beavers=not length and bool(rules & 2),
        decision="opponent" if doubled else "me",
        player=1 if turn == 1 else 0,
    )
    return Position(turn * board[::turn]), state


def _read_board(text: str) -> Board:
    if len(text) != BOARD_SIZE:
        raise PositionError(f"the board of an XGID must have {BOARD_SIZE} characters, not {len(text)}")
    board = np.zeros(BOARD_SIZE, np.int8)
    for place, letter in enumerate(text):
        count = _LETTERS.find(letter) - _EMPTY
        if (
            letter not in _LETTERS
            or (place == OPPONENT_BAR and count > 0)
            or (place == OWN_BAR and count < 0)
        ):
            allowed = {OPPONENT_BAR: "a to p or -", OWN_BAR: "A to P or -"}.get(place, "A to P, a to p or -")
            raise PositionError(f"character {place + 1} of the board must be {allowed}, not {quoted(letter)}")
        board[place] = count
    return board


def _xgid_number(fields: dict[str, str], name: str, lowest: int, highest: int | None = None) -> int:
    text = fields[name]
    value = whole_number(text)
    if value is not None and value >= lowest and (highest is None or value <= highest):
        return value
    allowed = f"{lowest} to {highest}" if highest is not None else f"a number of at least {lowest}"
    raise PositionError(f"the field {name} must be {allowed}, not {quoted(text)}")


def _xgid_dice(text: str) -> tuple[int, int] | None:
    if text == "00":
        return None
    if len(text) == 2 and all(die in "123456" for die in text):
        return int(text[0]), int(text[1])
    hint = " (beavers and raccoons cannot be read)" if text in ("B", "R") else ""
    raise PositionError(f"the dice must be two digits 1 to 6, 00 or D, not {quoted(text)}{hint}")


def looks_like_ogid(text: str) -> bool:
    """Return whether `text` seems to be an OGID, valid or not: it has the prefix or begins like an OGID."""
    return text[: len(OGID_PREFIX)].upper() == OGID_PREFIX or bool(_SHAPE.match(text))


def ogid(position: Position, match: MatchState | None = None) -> str:
    """Return the OGID, without a prefix, of `position` and `match` (None: money play, a centred cube)."""
    state = match or MatchState()
    places = list(zip(_PLACES, position.board[::-1].tolist(), strict=True))
    # A text repeated a negative number of times is empty.
    both = ("".join(place * (sign * count) for place, count in places) for sign in (1, -1))
    owner = {"centre": "N", "me": "W", "opponent": "B"}[state.cube_owner]
    action = "O" if state.doubled else _PASSED if state.game_state == "dropped" else "N"
    if state.game_state in ("over", "resigned", "dropped"):
        kind = "RG" if state.game_state == "resigned" else "G"
    else:
        kind = _DOUBLED if state.doubled else _ROLLED if state.dice else _TO_ROLL
    dice = "".join(map(str, sorted(state.dice or ())))
    cube, colour = f"{owner}{state.cube.bit_length() - 1}{action}", "W" if state.doubled else "B"
    score = f"{state.own_score}:{state.opponent_score}:{state.length}{'C' * state.crawford}"
    return ":".join([*both, cube, dice, colour, kind, score, "0"])


def position_from_ogid(text: str) -> tuple[Position, MatchState]:
    """Parse an OGID, with or without its prefix; both results are from the side of the player on roll.

    Raises `PositionError` naming the invalid field.
    """
    return _without_prefix(text, OGID_PREFIX, _read_ogid)


def _read_ogid(text: str) -> tuple[Position, MatchState]:
    parts = text.split(":")
    if not _MIN_FIELDS <= len(parts) <= _MAX_FIELDS:
        names = ":".join(_OGID_FIELDS)
        raise PositionError(
            f"an OGID must have {_MIN_FIELDS} to {_MAX_FIELDS} fields ({names}:move:checkers), "
            f"not {len(parts)}"
        )
    if len(parts) == _MAX_FIELDS and parts[-1] != str(CHECKERS):
        raise PositionError(f"the number of checkers per side must be {CHECKERS}, not {quoted(parts[-1])}")
    if len(parts) >= _MAX_FIELDS - 1:
        _matched(_NUMBER, parts[_MAX_FIELDS - 2], "the move number", "a number")
    fields = dict(zip(_OGID_FIELDS, [*parts, *[""] * _MAX_FIELDS], strict=False))
    wanted = "an owner (W, B or N), an exponent and an action (N, O, T or P)"
    cube = _matched(_CUBE, fields["cube"], "the cube", wanted)
    dice = _ogid_dice(fields["dice"])
    kind = _matched(_STATE, fields["state"], "the state", "letters such as R or IW")[0]
    doubled = cube["action"] == "O"
    on_roll = _on_roll(fields["colour"], doubled, kind in ("", _NOT_BEGUN) and dice is None)
    white, black = _ogid_number(fields["white's score"]), _ogid_number(fields["black's score"])
    length = _matched(
        _LENGTH, fields["length"] or "0", "the length", "a number, followed by C in the Crawford game"
    )
    power = int(cube["power"])
    if power >= MAX_CUBE.bit_length():
        raise PositionError(f"the exponent of the cube must be 0 to {MAX_CUBE.bit_length() - 1}, not {power}")
    owners: dict[str, CubeOwner] = {on_roll: "me", "WB".replace(on_roll, ""): "opponent"}
    dropped = cube["action"] == _PASSED
    state = MatchState(
        length=int(length["points"]),
        own_score=white if on_roll == "W" else black,
        opponent_score=black if on_roll == "W" else white,
        cube=1 << power,
        # A cube marked as dead (D) or unknown (?) has no owner.
        cube_owner=owners.get(cube["owner"], "centre"),
        crawford=length["kind"] == "C",
        dice=None if doubled else dice,
        doubled=doubled,
        game_state="dropped" if dropped else _OVER.get(kind, "playing"),
        decision="opponent" if doubled else "me",
        player=1 if on_roll == "W" else 0,
    )
    return Position(_board(fields["white"], fields["black"], on_roll == "W")), state


def _board(white: str, black: str, white_on_roll: bool) -> Board:
    """Return the board from the side of the player on roll."""
    board = np.zeros(BOARD_SIZE, np.int64)
    sides = ((white, "white", white_on_roll), (black, "black", not white_on_roll))
    for letters, colour, is_own in sides:
        if len(letters) > CHECKERS:
            raise PositionError(f"{colour} has {len(letters)} checkers (maximum {CHECKERS})")
        for letter in letters:
            if letter == _OFF:
                continue
            number = _PLACES.find(letter)
            if number < 0:
                allowed = "0 to 9, a to p, or q for a checker borne off"
                raise PositionError(f"each of {colour}'s checkers must be {allowed}, not {quoted(letter)}")
            place = OWN_BAR - number if white_on_roll else number
            if place == (OPPONENT_BAR if is_own else OWN_BAR):
                raise PositionError(f"a {colour} checker is on the other player's bar")
            if board[place] and (board[place] > 0) != is_own:
                raise PositionError(f"both players have checkers on point {quoted(letter)}")
            board[place] += 1 if is_own else -1
    return board.astype(np.int8)


def _on_roll(colour: str, doubled: bool, has_not_begun: bool) -> str:
    """Return the player on roll, W or B; while a double is on offer, this is the doubler."""
    if colour not in ("", "W", "B"):
        raise PositionError(f"the colour must be W or B, not {quoted(colour)}")
    if has_not_begun or not colour:
        return "W" if not (doubled and colour) else colour
    return colour if doubled else "WB".replace(colour, "")


def _matched(form: re.Pattern[str], text: str, what: str, wanted: str) -> re.Match[str]:
    match = form.fullmatch(text)
    if not match:
        raise PositionError(f"{what} must be {wanted}, not {quoted(text)}")
    return match


def _ogid_number(text: str) -> int:
    return int(_matched(_NUMBER, text or "0", "a score", "a number")[0])


def _ogid_dice(text: str) -> tuple[int, int] | None:
    if not text:
        return None
    _matched(_ROLL, text, "the roll", "two dice from 1 to 6, or empty")
    return int(text[0]), int(text[1])
