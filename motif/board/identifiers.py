"""GNUbg position IDs and 20-letter keys, for single positions and for arrays of boards.

Both encode the same 80 bits: the player NOT on roll, followed by the player on roll.  For each point from
the player's ace point to the 24 point, and then for the bar, there is a one bit per checker followed by a
zero bit.  Each byte is filled from its lowest bit.  The ID is the ten bytes in base64 without padding (14
characters); the key has two letters from A to P for each byte, the high half first (20 letters).

Source: gnubg's manual, "A technical description of the position ID"; gnubg's benchmark files use the key.
Functions for one position are plain Python and explain faults; functions for arrays are compiled, and call
the plain functions to explain a fault.
"""

import base64
import string
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from motif.board.packed import BOARD_SIZE, CHECKERS, OWN_BAR, Board
from motif.board.position import Position, as_boards, faults, first_bad_board
from motif.compiler.jit import inline_kernel, kernel
from motif.runtime.errors import MotifError, PositionError

ID_LENGTH = 14
KEY_LENGTH = 20

_BYTES = 10
_BITS = 8 * _BYTES
_PLACES = 25
"""Entries of one player: 24 points and the bar."""

_ALPHABET = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
_CHARACTERS = np.frombuffer(_ALPHABET.encode(), np.uint8)
_NOT_BASE64 = 64
_VALUES = np.full(256, _NOT_BASE64, np.uint8)
_VALUES[_CHARACTERS] = np.arange(len(_ALPHABET))

_KEY_LETTERS = "ABCDEFGHIJKLMNOP"
_MAX_QUOTE = 80


def whole_number(text: str, digits: int = 9) -> int | None:
    """Parse `text` as an integer of at most `digits` digits; return None if it is not one.

    The limit is needed because int() raises an error for thousands of digits.
    """
    shown = text.removeprefix("-")
    return int(text) if shown.isascii() and shown.isdigit() and len(shown) <= digits else None


def quoted(text: str) -> str:
    """Quote `text` for an error message, on one line and shortened if long."""
    return repr(text) if len(text) <= _MAX_QUOTE else repr(text[:_MAX_QUOTE]) + "..."


def gnubg_id(position: Position) -> str:
    """Return the 14-character GNUbg position ID of `position`."""
    return base64_text(_octets(position.board))


def position_from_gnubg_id(text: str) -> Position:
    """Decode a GNUbg position ID; raise `PositionError` if it is invalid."""
    octets = octets_from_base64(text, ID_LENGTH, "position", "GNUbg ID")
    return _position_from_octets(octets, text)


def position_key(position: Position) -> str:
    """Return the 20-letter key of `position`."""
    return "".join(_KEY_LETTERS[octet >> 4] + _KEY_LETTERS[octet & 15] for octet in _octets(position.board))


def position_from_key(text: str) -> Position:
    """Decode a 20-letter key; raise `PositionError` if it is invalid."""
    _check_characters(text, KEY_LENGTH, _KEY_LETTERS, "A to P", "position", "20-letter key")
    values = [_KEY_LETTERS.index(letter) for letter in text]
    octets = bytes(high << 4 | low for high, low in zip(values[::2], values[1::2], strict=True))
    return _position_from_octets(octets, text)


def gnubg_ids(boards: npt.ArrayLike) -> list[str]:
    """Return the GNUbg position ID of each of `boards`, int8 (n, 26).

    Raises `PositionError` naming the first invalid row, counted from 0.
    """
    characters = _encode_boards(as_boards(boards))
    return characters.view(f"S{ID_LENGTH}").ravel().astype(str).tolist()


def boards_from_gnubg_ids(ids: Sequence[str]) -> Board:
    """Decode GNUbg position IDs to boards, int8 (n, 26).

    Raises `PositionError` naming the first row, counted from 0, with an invalid ID.
    """
    # All IDs before the first with a wrong length fit a rectangular array of characters.
    rows = next((row for row, text in enumerate(ids) if len(text) != ID_LENGTH), len(ids))
    # Non-ASCII characters become "?", which is also invalid and keeps the length.
    characters = "".join(ids[:rows]).encode("ascii", "replace")
    boards = _decoded(np.frombuffer(characters, np.uint8).reshape(rows, ID_LENGTH))
    if len(boards) < len(ids):
        try:
            position_from_gnubg_id(ids[len(boards)])
        except PositionError as error:
            raise PositionError(f"row {len(boards)}: {error}") from None
    return boards


def boards_from_keys(keys: Sequence[str]) -> Board:
    """Decode 20-letter keys to boards, int8 (n, 26); raise `PositionError` for the first invalid key."""
    if any(len(key) != KEY_LENGTH or key.strip(_KEY_LETTERS) for key in keys):
        for key in keys:
            position_from_key(key)
    letters = np.frombuffer("".join(keys).encode("ascii"), np.uint8).reshape(-1, KEY_LENGTH) - ord("A")
    octets = np.zeros((len(keys), _BYTES + 1), np.uint8)
    octets[:, :_BYTES] = letters[:, ::2] << 4 | letters[:, 1::2]
    # A base64 character holds six bits, the highest first.
    bits = np.unpackbits(octets, axis=1)[:, : 6 * ID_LENGTH].reshape(len(keys), ID_LENGTH, 6)
    boards = _decoded(_CHARACTERS[np.packbits(bits, axis=2)[:, :, 0] >> 2])
    if len(boards) < len(keys):
        position_from_key(keys[len(boards)])
    return boards


def boards_of_lines(
    lines: Sequence[tuple[int, str]], where: str, error: type[MotifError], *, are_keys: bool
) -> Board:
    """Return the boards int8 (n, 26) of the keys, or else IDs, in numbered lines.

    Raises `error` with the number of the first invalid line.
    """
    try:
        texts = [text for _, text in lines]
        return boards_from_keys(texts) if are_keys else boards_from_gnubg_ids(texts)
    except PositionError:
        for number, text in lines:
            try:
                position_from_key(text) if are_keys else position_from_gnubg_id(text)
            except PositionError as fault:
                raise error(f"{where}: line {number}: {fault}") from None
        raise


def _decoded(characters: npt.NDArray[np.uint8]) -> Board:
    """Return the boards (m, 26) of the IDs in `characters` (n, 14), up to the first invalid ID."""
    boards = np.zeros((len(characters), BOARD_SIZE), np.int8)
    boards = boards[: _decode_boards(characters, boards)]
    bad = first_bad_board(boards)
    return boards if bad < 0 else boards[:bad]


def base64_text(octets: bytes) -> str:
    """Return `octets` in base64 without padding."""
    return base64.b64encode(octets).rstrip(b"=").decode()


def octets_from_base64(text: str, length: int, what: str, form: str) -> bytes:
    """Decode the base64 `text`, which must have `length` characters.

    Raises `PositionError`; its message describes the text as a `form` ("GNUbg ID") of a `what`
    ("position").
    """
    _check_characters(text, length, _ALPHABET, "A-Z, a-z, 0-9, + or /", what, form)
    octets = base64.b64decode(text + "=" * (-length % 4))
    if base64_text(octets) != text:
        spare = 6 * length - 8 * len(octets)
        raise PositionError(
            f"invalid {what} {quoted(text)}: the last {spare} bits of a {form} must be zero, "
            f"but the last character is {quoted(text[-1])}"
        )
    return octets


def _check_characters(text: str, length: int, alphabet: str, allowed: str, what: str, form: str) -> None:
    if len(text) != length:
        raise PositionError(
            f"invalid {what} {quoted(text)}: a {form} must have {length} characters, not {len(text)}"
        )
    for index, character in enumerate(text):
        if character not in alphabet:
            raise PositionError(
                f"invalid {what} {quoted(text)}: character {index + 1} must be {allowed}, "
                f"not {quoted(character)}"
            )


def _octets(board: Board) -> bytes:
    own, opponent = board[1:], -board[OWN_BAR - 1 :: -1]
    bits = "".join("1" * int(count) + "0" for half in (opponent, own) for count in half)
    return int(bits[::-1], 2).to_bytes(_BYTES, "little")


def _position_from_octets(octets: bytes, text: str) -> Position:
    bits = f"{int.from_bytes(octets, 'little'):0{_BITS}b}"[::-1]
    runs = [len(run) for run in bits.split("0")]
    opponent, own, rest = runs[:_PLACES], runs[_PLACES : 2 * _PLACES], runs[2 * _PLACES :]
    reasons = [
        f"the {side} has {sum(half)} checkers (maximum {CHECKERS})"
        for side, half in (("player on roll", own), ("opponent", opponent))
        if sum(half) > CHECKERS
    ]
    board = np.zeros(BOARD_SIZE, np.int64)
    for place, count in enumerate(own, start=1):
        board[place] = count
    for place, count in enumerate(opponent, start=1):
        if count and board[OWN_BAR - place]:
            reasons.append(f"both players have checkers on point {OWN_BAR - place}")
        board[OWN_BAR - place] -= count
    if any(rest):
        reasons.append(f"the unused bits at the end must be zero ({sum(rest)} set)")
    if reasons or (reasons := faults(board)):
        raise PositionError("; ".join(reasons), about=f"invalid position {quoted(text)}")
    return Position(board)


@kernel
def _encode_boards(boards):
    """Return the IDs of `boards` (n, 26) as characters, uint8 (n, 14)."""
    characters = np.empty((boards.shape[0], ID_LENGTH), np.uint8)
    # The extra byte lets the loop read the last character like the others.
    octets = np.empty(_BYTES + 1, np.int64)
    for row in range(boards.shape[0]):
        octets[:] = 0
        bit = 0
        for place in range(2 * _PLACES):
            count = -boards[row, OWN_BAR - 1 - place] if place < _PLACES else boards[row, place - _PLACES + 1]
            for _ in range(count):
                octets[bit >> 3] |= 1 << (bit & 7)
                bit += 1
            bit += 1
        for index in range(ID_LENGTH):
            first = 6 * index
            window = octets[first >> 3] << 8 | octets[(first >> 3) + 1]
            characters[row, index] = _CHARACTERS[window >> (10 - (first & 7)) & 63]
    return characters


@inline_kernel
def _fill_octets(characters, octets):
    """Decode an ID's characters (n,) to `octets`; return whether all are valid."""
    window, width, index = np.int64(0), 0, 0
    for k in range(ID_LENGTH):
        value = np.int64(_VALUES[characters[k]])
        if value == _NOT_BASE64:
            return False
        window = (window << 6 | value) & 0xFFFF
        width += 6
        if width >= 8:
            width -= 8
            octets[index] = window >> width & 0xFF
            index += 1
    return window & ((1 << width) - 1) == 0


@kernel
def _decode_boards(characters, boards):
    """Decode the IDs in `characters` (n, 14) to `boards` (n, 26), which must be all zero.

    Returns the index of the first invalid row, or n; the numbers of checkers are not checked.
    """
    octets = np.empty(_BYTES, np.int64)
    for row in range(characters.shape[0]):
        if not _fill_octets(characters[row], octets):
            return row
        place, count = 0, 0
        for bit in range(_BITS):
            if octets[bit >> 3] >> (bit & 7) & 1:
                if place == 2 * _PLACES:
                    return row
                count += 1
                continue
            if count and place < _PLACES:
                boards[row, OWN_BAR - 1 - place] = -count
            elif count:
                target = place - _PLACES + 1
                if boards[row, target] != 0:
                    return row
                boards[row, target] = count
            count = 0
            place = min(place + 1, 2 * _PLACES)
        if place < 2 * _PLACES:
            return row
    return characters.shape[0]
