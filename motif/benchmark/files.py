"""GNUbg-style benchmark files: decisions with the cost of each listed play.

``m KEY d1 d2 BEST EQ SECOND DIFF THIRD DIFF ...``: positions after the play are seen by the next
player on roll; DIFF is what the play loses against the best.  Only ``m`` lines count for the error
rate; cube decisions (``o``), rollouts (``#R``) and settings are passed over.  Files ending in .gz
are read as gzip.
"""

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from motif.board.identifiers import boards_from_keys, position_from_key
from motif.board.position import Board
from motif.runtime.errors import BenchmarkError, PositionError
from motif.runtime.shown import plain_text, shown

_DECISION_MARK = "m"


@dataclass(frozen=True)
class BenchmarkFile:
    """The decisions of a file, in order."""

    path: str
    boards: Board
    """Before the roll (n, 26)."""
    rolls: npt.NDArray[np.int64]
    """(n, 2), the higher die first."""
    offsets: npt.NDArray[np.int64]
    """(n + 1,): the listed plays of decision k are rows offsets[k]:offsets[k + 1]."""
    listed: Board
    """Boards after the listed plays (m, 26), the best one first."""
    losses: npt.NDArray[np.float64]
    """(m,): what each loses, in points; 0 for the best."""

    def __len__(self) -> int:
        return len(self.boards)


def read_benchmark(path: Path | str) -> BenchmarkFile:
    """Read a benchmark file; raises `BenchmarkError` naming the file and the line."""
    path = Path(path)
    keys: list[str] = []
    listed: list[str] = []
    lines: list[int] = []
    rolls: list[tuple[int, int]] = []
    losses: list[float] = []
    offsets = [0]
    try:
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="ascii") as handle:
            for number, line in enumerate(handle, 1):
                words = line.split()
                if words and words[0] == _DECISION_MARK:
                    _read_decision(words, f"{path}: line {number}", keys, rolls, listed, losses)
                    offsets.append(len(listed))
                    lines.append(number)
    except FileNotFoundError:
        raise BenchmarkError(f"{path}: no such benchmark file") from None
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise BenchmarkError(f"{path}: cannot be read: {error}") from None
    if not keys:
        raise BenchmarkError(f"{path}: holds no decision (no line that starts with 'm')")
    boards = _decoded(keys, path, lines)
    play_lines = [line for line, count in zip(lines, np.diff(offsets), strict=True) for _ in range(count)]
    return BenchmarkFile(
        str(path),
        boards,
        np.array(rolls, np.int64),
        np.array(offsets, np.int64),
        _decoded(listed, path, play_lines),
        np.array(losses),
    )


def _read_decision(
    words: list[str],
    where: str,
    keys: list[str],
    rolls: list[tuple[int, int]],
    listed: list[str],
    losses: list[float],
) -> None:
    if len(words) < 6 or len(words) % 2:
        raise BenchmarkError(
            f"{where}: expected 'm KEY die die PLAY EQUITY [PLAY LOSS]...', got {len(words)} words"
        )
    dice = words[2:4]
    if not all(die in "123456" and len(die) == 1 for die in dice):
        raise BenchmarkError(f"{where}: no roll: {plain_text(' '.join(dice))}")
    high, low = sorted(map(int, dice), reverse=True)
    _number(words[5], where)
    numbers = [0.0, *(_number(word, where) for word in words[7::2])]
    if not np.isfinite(numbers).all():
        raise BenchmarkError(f"{where}: a loss is not a finite number")
    keys.append(words[1])
    rolls.append((high, low))
    listed.extend(words[4::2])
    losses.extend(numbers)


def _number(word: str, where: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise BenchmarkError(f"{where}: {shown(word)} is no number") from None


def _decoded(keys: list[str], path: Path, lines: list[int]) -> Board:
    try:
        return boards_from_keys(keys)
    except PositionError:
        for key, line in zip(keys, lines, strict=True):
            try:
                position_from_key(key)
            except PositionError as error:
                raise BenchmarkError(f"{path}: line {line}: {error}") from None
        raise
