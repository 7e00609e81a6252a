"""Batch files, which have one position, or one position and roll, per line."""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TypeVar

import numpy as np

from motif.analysis.position_records import Decisions
from motif.board.identifiers import ID_LENGTH
from motif.board.match_state import MatchState
from motif.board.moves import check_all_go_on, check_goes_on, parse_roll
from motif.board.packed import Board
from motif.board.parsing import parse_boards, parse_decision, parse_position
from motif.board.position import Position
from motif.runtime.errors import MotifError, SettingError, plain_text
from motif.runtime.files import STDIN, content_of
from motif.runtime.layout import counted
from motif.runtime.limits import BATCH_FILE, BATCH_LINES, TEXT_LINE, lines_of, pieces_of, read_within

_COMMENT = "#"
_DICE = 2
_roll = lru_cache(parse_roll)

_Result = TypeVar("_Result")


class _BatchFile:
    """The numbered non-empty lines of a file; can be iterated repeatedly."""

    def __init__(self, path: str) -> None:
        """Read the file at `path`, or standard input; raises `SettingError`."""
        self.name = "standard input" if path == STDIN else plain_text(path)
        if path == STDIN:
            self._content = read_within(sys.stdin.buffer, BATCH_FILE, self.name, SettingError)
        else:
            self._content = content_of(Path(path), SettingError, BATCH_FILE)
        BATCH_LINES.check(self._content.count(b"\n"), self.name, SettingError)

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        pieces = pieces_of(BytesIO(self._content))
        for number, line in lines_of(pieces, TEXT_LINE, self.name, SettingError):
            words = line.decode("utf-8", "replace").split()
            if words and not words[0].startswith(_COMMENT):
                yield number, words


def read_positions(path: str) -> Board:
    """Read the boards (n, 26) from a file with one position per line; ``-`` is standard input.

    Empty lines and lines starting with # are skipped.  Raises a `MotifError` naming the file and line of an
    invalid position.
    """
    return _read(path, lambda lines: parse_boards([_only_word(words) for _, words in lines]), _parse_state)


def read_states(path: str) -> list[tuple[Position, MatchState | None]]:
    """Read positions like `read_positions`, with the match state of each ID that has one."""
    return _read(path, lambda lines: [_parse_state(words) for _, words in lines], _parse_state)


def read_decisions(path: str) -> Decisions:
    """Read decisions from lines ``ID D1 D2``, or ``ID`` if the ID holds the roll.

    Otherwise like `read_positions`.
    """

    def read(lines: _BatchFile) -> Decisions:
        texts, rolls = list[str](), list[tuple[int, int]]()
        matches: list[MatchState | None] = []
        for _, words in lines:
            texts.append(words[0])
            if len(words) > 1 and len(words[0]) == ID_LENGTH:  # decoded in bulk
                rolls.append(_roll(*_dice(words)))
                matches.append(None)
            else:
                _, match, roll = _parse_decision(words)
                rolls.append(roll)
                matches.append(match)
        boards = parse_boards(texts)
        check_all_go_on(boards)
        return Decisions(boards, np.array(rolls, np.int64).reshape(-1, _DICE), matches)

    return _read(path, read, _parse_decision)


def _read(path: str, read: Callable[[_BatchFile], _Result], parse: Callable[[list[str]], object]) -> _Result:
    """Return what `read` makes of a file; an error names the first line that `parse` rejects."""
    lines = _BatchFile(path)
    try:
        return read(lines)
    except MotifError:
        for number, words in lines:
            try:
                parse(words)
            except MotifError as fault:
                raise type(fault)(f"{lines.name}: line {number}: {fault}") from None
        raise


def _parse_state(words: Sequence[str]) -> tuple[Position, MatchState | None]:
    return parse_position(_only_word(words))


def _only_word(words: Sequence[str]) -> str:
    if len(words) != 1:
        raise SettingError(f"expected one position, got {len(words)} words")
    return words[0]


def _dice(words: Sequence[str]) -> Sequence[str]:
    if not 1 < len(words) <= 1 + _DICE:
        raise SettingError(f"expected a position and two dice, got {counted(len(words), 'word')}")
    return words[1:]


def _parse_decision(words: Sequence[str]) -> tuple[Position, MatchState | None, tuple[int, int]]:
    """Return the position, match state and roll of a line."""
    position, match, roll = parse_decision(words[0])
    if roll is None or len(words) > 1:
        roll = parse_roll(*_dice(words))
    check_goes_on(position)
    return position, match, roll
