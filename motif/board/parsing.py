"""Whatever people and programs hand over as a position or as a roll.

Each form is recognised by its looks; then its own module reads it and says what is wrong with it.
"""

import re

from motif.board.identifiers import (
    ID_LENGTH,
    KEY_LENGTH,
    position_from_gnubg_id,
    position_from_key,
    quoted,
)
from motif.board.match_state import MATCH_ID_LENGTH, MatchState, match_state_from_id
from motif.board.moves import checked_roll
from motif.board.packed import BOARD_SIZE
from motif.board.position import Position
from motif.board.xgid import PREFIX, position_from_xgid
from motif.runtime.errors import PlayError, PositionError, shown

FORMS = (
    f"a GNUbg ID ({ID_LENGTH} characters), PositionID:MatchID ({ID_LENGTH}:{MATCH_ID_LENGTH}), "
    f"an XGID, or a {KEY_LENGTH}-letter key"
)
"""The accepted forms of a position, for messages and help texts."""

_ROLL = re.compile(r"([0-9])([0-9])|([0-9]+)[\s,/-]+([0-9]+)")
_LONGEST_DIE = 9


def parse_position(text: str) -> tuple[Position, MatchState | None]:
    """The position in `text`, and the match state where its form holds one.

    The forms are those of `FORMS`; an XGID may lack its prefix.  Raises `PositionError`: for a text
    that looks like one of the forms the message says what is wrong with it, for any other it lists them.
    """
    text = text.strip()
    fields = text.split(":")
    if text[: len(PREFIX)].upper() == PREFIX or len(fields) > 2 or len(fields[0]) == BOARD_SIZE:
        return position_from_xgid(text)
    if len(fields) == 2 and len(fields[0]) == ID_LENGTH:
        return position_from_gnubg_id(fields[0]), match_state_from_id(fields[1])
    if len(text) == ID_LENGTH:
        return position_from_gnubg_id(text), None
    if len(text) == KEY_LENGTH:
        return position_from_key(text), None
    raise PositionError(f"no position in {quoted(text)}: {_reason(text)}; a position is {FORMS}")


def _reason(text: str) -> str:
    if not text:
        return "it is empty"
    if ":" in text:
        return f"{_characters(text.split(':')[0])} stand before the colon"
    if len(text) == MATCH_ID_LENGTH:
        return f"it has {_characters(text)}, like a Match ID, which holds no position"
    return f"it has {_characters(text)}"


def _characters(text: str) -> str:
    return f"{len(text)} character" + "s" * (len(text) != 1)


def parse_roll(first: str | int, second: str | int | None = None) -> tuple[int, int]:
    """The roll of two dice, the higher first.

    Two dice, or one text such as ``31``, ``3-1`` or ``3 1``.  Raises `PlayError` for anything else.
    """
    if second is not None:
        return checked_roll(_die(first), _die(second))
    text = first.strip() if isinstance(first, str) else shown(int(first))
    match = _ROLL.fullmatch(text)
    if not match:
        raise PlayError(f"no roll in {quoted(text)}: two dice are needed, such as 31 or 3 1")
    one, two = (group for group in match.groups() if group is not None)
    return checked_roll(_die(one), _die(two))


def _die(die: str | int) -> int:
    text = die.strip() if isinstance(die, str) else shown(int(die))
    digits = text.removeprefix("-")
    # Limited, because a number of thousands of digits is refused by int() itself.
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _LONGEST_DIE):
        raise PlayError(f"no roll: {quoted(text)} is not a die (1 to 6)")
    return int(text)
