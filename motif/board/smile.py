"""Check Smile documents, the binary JSON in .bgf files, without building them.

Tokens are interpreted as in gammonview's reader, which accepts lists of any size, and numbers of any length
in quadratic time.  Both are therefore checked before gammonview reads a document.

Sources: the specification of the format (github.com/FasterXML/smile-format-specification), and
`gvformat/bgf.py` of gammonview 3.1.
"""

import re

from motif.runtime.errors import MotifError
from motif.runtime.limits import BGF_VALUES

MAGIC = b":)\n"
_HEADER = 4
_SHARES_NAMES = 1
"""Flag in the byte after the magic bytes: key names are written once and then referred to by number."""
_MAX_NUMBER_BYTES = 11
"""Maximum number of bytes in a whole number of 64 bits."""
_END_OF_TEXT = b"\xfc"
_OBJECT, _LIST = 0xFA, 0xF8
_ENDS_OF_OBJECT, _ENDS_OF_LIST = (0xFB, 0xFF), (0xF9, 0xFF)
_NUMBERS = (0x24, 0x25)
_IN_OBJECT, _IN_LIST, _IN_SMALL = -3, -2, -1
"""Kinds of open containers; a list under the wanted key has its index instead."""
_SMALL_LISTS = (b"points", b"from", b"to")
"""Keys of lists of checkers or points, for whose numbers gammonview allocates memory."""
_MAX_SMALL = 30
_MOVES = (b"move", b"notation")
"""Keys of moves as text; gammonview also parses the points in them."""
_LONG_NUMBER = re.compile(rb"[0-9]{3}")


class SmileError(ValueError):
    """Raised for bytes that gammonview cannot read as Smile in bounded time; the message is one line."""


def list_lengths(content: bytes, wanted: str, where: str, error: type[MotifError]) -> list[int]:
    """Return the length of each list under the key `wanted` in the Smile document `content`.

    Raises `SmileError` for an invalid document, and `error`, whose message begins with `where`, for too
    many values.
    """
    if not content.startswith(MAGIC) or len(content) < _HEADER:
        raise SmileError("its payload is not in Smile format")
    walk = _Walk(content, wanted.encode())
    try:
        while walk.step():
            if walk.values > BGF_VALUES.size:
                BGF_VALUES.check(walk.values, where, error)
    except (IndexError, ValueError) as fault:
        raise SmileError(f"damaged at byte {walk.at} of its payload: {fault}") from None
    return walk.lengths


class _Walk:
    """Reads a document token by token."""

    def __init__(self, content: bytes, wanted: bytes) -> None:
        self.lengths: list[int] = []
        self.values = 0
        self.at = _HEADER
        self._content, self._wanted = content, wanted
        self._shares_names = bool(content[_HEADER - 1] & _SHARES_NAMES)
        self._names: list[bytes] = []
        self._open: list[int] = []
        self._key = b""

    def step(self) -> bool:
        """Read a value or the end of a container; return whether a container is still open."""
        token = self._next()
        if self._open and self._open[-1] == _IN_OBJECT:
            if token in _ENDS_OF_OBJECT:
                return self._close()
            self._key = self._key_of(token)
            token = self._next()
        elif self._open:
            if token in _ENDS_OF_LIST:
                return self._close()
            if self._open[-1] >= 0:
                self.lengths[self._open[-1]] += 1
            self._key = b""
            if self._open[-1] == _IN_SMALL and not self._is_small(token):
                raise ValueError(f"checkers and points must be whole numbers up to {_MAX_SMALL}")
        self.values += 1
        start = self.at
        self._skip(token)
        if self._key in _MOVES and _LONG_NUMBER.search(self._content, start, self.at):
            raise ValueError("a move contains a point of more than two digits")
        return bool(self._open)

    def _next(self) -> int:
        token = self._content[self.at]
        self.at += 1
        return token

    def _close(self) -> bool:
        self._open.pop()
        return bool(self._open)

    def _key_of(self, token: int) -> bytes:
        if 0x40 <= token <= 0x7F:
            return self._names[token - 0x40]
        if token == 0x30:
            return self._names[self._next()]
        if not 0x80 <= token <= 0xBF:
            raise ValueError(f"no key begins with {token:#x}")
        start = self.at
        self.at += (token & 0x3F) + 1
        key = self._content[start : self.at]
        if self._shares_names:
            self._names.append(key)
        return key

    def _skip(self, token: int) -> None:
        """Skip the value that begins with `token`, or enter the list or object."""
        if 0xC0 <= token <= 0xDF or 0x20 <= token <= 0x23 or token in _ENDS_OF_LIST:
            return
        if token == _OBJECT:
            self._open.append(_IN_OBJECT)
        elif token == _LIST:
            self._open_list()
        elif token in _NUMBERS:
            self._skip_number()
        elif token == 0x28:
            self.at += 4
        elif token == 0x29:
            self.at += 10
        elif 0x40 <= token <= 0x5F:
            self.at += token - 0x3F
        elif 0x60 <= token <= 0x7F:
            self.at += token - 0x5E
        elif 0xE0 <= token <= 0xEF:
            self.at = self._content.index(_END_OF_TEXT, self.at) + 1
        else:
            raise ValueError(f"no value begins with {token:#x}")

    def _open_list(self) -> None:
        if self._key == self._wanted:
            self._open.append(len(self.lengths))
            self.lengths.append(0)
        else:
            self._open.append(_IN_SMALL if self._key in _SMALL_LISTS else _IN_LIST)

    def _is_small(self, token: int) -> bool:
        """Return whether the value that begins with `token` is a small whole number."""
        if token in _NUMBERS:
            # The whole number is one byte: six bits, the last of which is the sign.
            last = self._content[self.at]
            return last >= 0x80 and (last & 0x3F) >> 1 <= _MAX_SMALL
        return 0xC0 <= token <= 0xDF

    def _skip_number(self) -> None:
        end = self.at + _MAX_NUMBER_BYTES
        while self._next() < 0x80:
            if self.at >= end:
                raise ValueError(f"a whole number has more than {_MAX_NUMBER_BYTES} bytes")
