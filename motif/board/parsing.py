"""Recognise and parse positions in all text formats.

The format is recognised by its shape; the module of the format then parses the text and explains faults.
"""

from collections.abc import Sequence

import numpy as np

from motif.board.identifiers import (
    ID_LENGTH,
    KEY_LENGTH,
    boards_from_gnubg_ids,
    position_from_gnubg_id,
    position_from_key,
    quoted,
)
from motif.board.match_state import MATCH_ID_LENGTH, MatchState, match_state_from_id
from motif.board.moves import parse_roll
from motif.board.packed import BOARD_SIZE, Board
from motif.board.position import Position
from motif.board.xgid_ogid import XGID_PREFIX, looks_like_ogid, position_from_ogid, position_from_xgid
from motif.runtime.errors import PositionError, shown
from motif.runtime.layout import counted

FORMS = (
    f"a GNUbg ID ({ID_LENGTH} characters), PositionID:MatchID ({ID_LENGTH}:{MATCH_ID_LENGTH}), "
    f"an XGID, an OGID, or a {KEY_LENGTH}-letter key"
)
"""Accepted formats of a position, for messages and help texts."""


def parse_position(text: str) -> tuple[Position, MatchState | None]:
    """Parse a position, with its match state if the text contains one.

    Parameters
    ----------
    text
        One of `FORMS`: a GNUbg ID, ``PositionID:MatchID``, an XGID, an OGID or a 20-letter key; XGID and OGID
        may lack their prefixes.

    Returns
    -------
    position : Position
        The position, as seen by the player on roll.
    state : MatchState or None
        Match, cube and dice.

    Raises
    ------
    PositionError
        If the text has none of these formats, or the position is impossible.
    """
    if not isinstance(text, str):
        raise PositionError(f"a position must be an ID, not {shown(text)}")
    position, match = _read(text.strip())
    return (position if match is None else Position(position.board, match)), match


def _read(text: str) -> tuple[Position, MatchState | None]:
    fields = text.split(":")
    if looks_like_ogid(text):
        return position_from_ogid(text)
    if text[: len(XGID_PREFIX)].upper() == XGID_PREFIX or len(fields) > 2 or len(fields[0]) == BOARD_SIZE:
        return position_from_xgid(text)
    if len(fields) == 2 and len(fields[0]) == ID_LENGTH:
        return position_from_gnubg_id(fields[0]), match_state_from_id(fields[1])
    if len(text) == ID_LENGTH:
        return position_from_gnubg_id(text), None
    if len(text) == KEY_LENGTH:
        return position_from_key(text), None
    raise PositionError(
        f"{_reason(text)}; a position must be {FORMS}", about=f"invalid position {quoted(text)}"
    )


def parse_boards(texts: Sequence[str]) -> Board:
    """Return the boards (n, 26) of position IDs in any format; GNUbg IDs are decoded in bulk.

    Raises `PositionError` without naming the invalid ID.
    """
    usual = np.array([len(text) == ID_LENGTH for text in texts], np.bool_)
    boards = np.empty((len(texts), BOARD_SIZE), np.int8)
    boards[usual] = boards_from_gnubg_ids([text for text in texts if len(text) == ID_LENGTH])
    for row in np.flatnonzero(~usual).tolist():
        boards[row] = parse_position(texts[row])[0].board
    return boards


def parse_decision(
    text: str, first: str | int | None = None, second: str | int | None = None
) -> tuple[Position, MatchState | None, tuple[int, int] | None]:
    """Parse a position with its match state, and a roll given as two dice or as one word.

    Without dice, the roll of the match state is used, if it has one.  Raises `PositionError` and
    `PlayError`.
    """
    position, match = parse_position(text)
    if first is not None:
        return position, match, parse_roll(first, second)
    return position, match, None if match is None else match.dice


def _reason(text: str) -> str:
    if not text:
        return "it is empty"
    if ":" in text:
        return f"it has {_characters(text.split(':')[0])} before the colon"
    if len(text) == MATCH_ID_LENGTH:
        return f"it has {_characters(text)}, like a Match ID, which contains no position"
    return f"it has {_characters(text)}"


def _characters(text: str) -> str:
    return counted(len(text), "character")
