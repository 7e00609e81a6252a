"""Batch files: one position, or one position and roll, a line."""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.identifiers import ID_LENGTH, boards_from_gnubg_ids
from motif.board.parsing import parse_position, parse_roll
from motif.board.position import BOARD_SIZE, Board
from motif.runtime.errors import MotifError, SettingError

STDIN = "-"
_COMMENT = "#"
_DICE = 2

Rolls = npt.NDArray[np.int64]

_roll = lru_cache(parse_roll)


class _Line(NamedTuple):
    number: int
    words: list[str]


def read_positions(path: str) -> Board:
    """The boards (n, 26) in a file of one position a line; ``-`` is standard input.

    Empty lines and those that start with # are passed over.  Raises a `MotifError` that names the file
    and the line for one that holds no position.
    """
    lines = list(_lines(path))
    try:
        return _boards([_only_word(line.words) for line in lines])
    except MotifError as error:
        raise _located(path, lines, lambda words: parse_position(_only_word(words)), error) from None


def read_decisions(path: str) -> tuple[Board, Rolls]:
    """The boards (n, 26) and rolls (n, 2), higher die first, in a file of ``ID D1 D2`` a line.

    Otherwise like `read_positions`.
    """
    lines = list(_lines(path))
    try:
        rolls = [_roll(*_dice(line.words)) for line in lines]
        boards = _boards([line.words[0] for line in lines])
        return boards, np.array(rolls, np.int64).reshape(-1, _DICE)
    except MotifError as error:
        raise _located(path, lines, _parse_decision, error) from None


def _lines(path: str) -> Iterator[_Line]:
    """Numbered lines that hold something."""
    try:
        if path == STDIN:
            content = sys.stdin.buffer.read()
        else:
            with open(path, "rb") as handle:
                content = handle.read()
    except OSError as error:
        raise SettingError(f"{path}: cannot be read: {error.strerror}") from None
    for number, line in enumerate(content.decode("utf-8-sig", "replace").split("\n"), 1):
        words = line.split()
        if words and not words[0].startswith(_COMMENT):
            yield _Line(number, words)


def _boards(texts: Sequence[str]) -> Board:
    """The boards of positions in any form; GNUbg IDs, the usual form, are decoded all at once."""
    usual = np.array([len(text) == ID_LENGTH for text in texts], np.bool_)
    boards = np.empty((len(texts), BOARD_SIZE), np.int8)
    boards[usual] = boards_from_gnubg_ids([text for text in texts if len(text) == ID_LENGTH])
    for row in np.flatnonzero(~usual).tolist():
        boards[row] = parse_position(texts[row])[0].board
    return boards


def _only_word(words: Sequence[str]) -> str:
    if len(words) != 1:
        raise SettingError(f"expected a position alone, got {len(words)} words")
    return words[0]


def _dice(words: Sequence[str]) -> Sequence[str]:
    if not 1 < len(words) <= 1 + _DICE:
        raise SettingError(f"expected a position and two dice, got {len(words)} word{'s' * (len(words) > 1)}")
    return words[1:]


def _parse_decision(words: Sequence[str]) -> None:
    parse_roll(*_dice(words))
    parse_position(words[0])


def _located(
    path: str, lines: Sequence[_Line], read: Callable[[list[str]], object], error: MotifError
) -> MotifError:
    """The `error` of the first line that `read` cannot read, saying which one that is."""
    for number, words in lines:
        try:
            read(words)
        except MotifError as fault:
            name = "standard input" if path == STDIN else path
            return type(fault)(f"{name}: line {number}: {fault}")
    return error
