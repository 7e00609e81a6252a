"""Labelled positions as other projects keep them: wildbg's CSV and gnubg-nn's training lines.

Either has a position a line, seen by the player on roll before the roll, and his five cumulative chances.  A
CSV of wildbg's begins with the names of its columns and has GNUbg IDs; a training line has a 20-letter key
and numbers between blanks, and # begins a comment.  A file is known by its first line.

Older files of wildbg's lost the checkers that the opponent of the player on roll had on the bar: what is left
is another position, whose label is wrong.  That shows where the opponent has fewer than 15 checkers, though
so many of them stand outside his home board that he cannot have borne off any: whoever bears off has all of
them at home before, and few are hit later.  `is_doubtful` tells which positions these are; where fewer stand
outside nothing shows.

Source: the files of wildbg-training; gnubg-nn's training data, as bgsage reads it.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.identifiers import (
    boards_from_gnubg_ids,
    boards_from_keys,
    gnubg_ids,
    position_from_gnubg_id,
    position_from_key,
    position_key,
    quoted,
)
from motif.board.packed import BOARD_SIZE, CHECKERS, HOME, POINTS, Board, pack_many
from motif.board.position import Position
from motif.evaluators.probabilities import equities
from motif.parameters.position_class import classify_many
from motif.runtime.errors import DatasetError, PositionError, SettingError, plain_text
from motif.runtime.files import decoded, reason, replacing, working_in
from motif.runtime.limits import TEXT_LINE, lines_of, pieces_of
from motif.runtime.package import VERSION
from motif.sampling.dataset import (
    OUTPUTS,
    DatasetPart,
    kept_parts,
    read_manifest,
    write_manifest,
    write_part,
)
from motif.sampling.samples import read_parts

LabelFormat = Literal["wildbg", "gnubg-nn"]
HEADER = "position_id,win,win_g,win_bg,lose_g,lose_bg"
"""The first line of a CSV."""
SUFFIXES: dict[str, LabelFormat] = {".csv": "wildbg", ".txt": "gnubg-nn"}
"""As what a file is written that is called so."""
OUTSIDE = 3
"""So many checkers outside his home board nobody has who has borne one off."""

_NUMBERS = len(OUTPUTS)
_COMMENT = "#"
_ROUNDING = 1e-3
"""By which a chance may be outside what is possible: files round, and nets are not consistent."""
_ROWS_A_PART = 50_000
_LINES_AT_ONCE = 4096


class LabelRows(NamedTuple):
    """Some labelled positions."""

    boards: Board
    """(n, 26), seen by the player on roll."""
    probabilities: npt.NDArray[np.float32]
    """(n, 5)"""


def is_doubtful(boards: Board) -> npt.NDArray[np.bool_]:
    """Which of `boards` (n, 26) lack checkers of the opponent that he cannot have borne off: (n,)."""
    opponents = -np.minimum(boards, 0)
    # His home board is the player's 19 to 24 points.
    outside = opponents[:, : POINTS - HOME + 1].sum(axis=1)
    doubtful: npt.NDArray[np.bool_] = (opponents.sum(axis=1) < CHECKERS) & (outside >= OUTSIDE)
    return doubtful


def label_format(path: Path) -> LabelFormat | None:
    """Return what kind of file of labelled positions `path` is; None where it is none."""
    if not path.is_file():
        return None
    with open(path, "rb") as file:
        begun = decoded(file.read(2 * len(HEADER) + 512))
    lines = [line.strip() for line in begun.splitlines()]
    first = next((line for line in lines if line and not line.startswith(_COMMENT)), "")
    if first.replace(" ", "").lower().startswith(HEADER.partition(",")[0]):
        return "wildbg"
    words = first.split()
    try:
        position_from_key(words[0] if words else "")
    except PositionError:
        return None
    return "gnubg-nn"


def read_labels(path: Path) -> Iterator[LabelRows]:
    """Yield the labelled positions in a file of either kind, some at a time.

    Raises `DatasetError` that names the file and the line for one that is none, or that is too long.
    """
    kind, pieces = label_format(path), _pieces(path)
    if kind is None:
        # Says what is wrong with a file that cannot be read at all.
        next(pieces, None)
        raise DatasetError(
            f"{path}: no labelled positions: a CSV of wildbg's begins with {HEADER}, a training line of "
            "gnubg-nn's with a 20-letter key"
        )
    lines = ((number, decoded(line)) for number, line in lines_of(pieces, TEXT_LINE, str(path), DatasetError))
    meant = (
        (number, line) for number, line in lines if line.strip() and not line.lstrip().startswith(_COMMENT)
    )
    if kind == "wildbg":
        next(meant)
    while some := list(islice(meant, _LINES_AT_ONCE)):
        yield _rows(path, kind, some)


def _pieces(path: Path) -> Iterator[bytes]:
    try:
        with open(path, "rb") as file:
            yield from pieces_of(file)
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read: {reason(error)}") from None
    # A name with a zero byte in it.
    except ValueError as error:
        raise DatasetError(f"{plain_text(str(path))}: cannot be read: {error}") from None


def _rows(path: Path, kind: LabelFormat, lines: Sequence[tuple[int, str]]) -> LabelRows:
    mark = "," if kind == "wildbg" else None
    words = [line.split(mark) for _, line in lines]
    for (number, line), some in zip(lines, words, strict=True):
        if len(some) != 1 + _NUMBERS:
            raise DatasetError(
                f"{path}: line {number}: {quoted(line.strip())} is not a position and five chances"
            )
    names = [some[0].strip() for some in words]
    one, many = (
        (position_from_gnubg_id, boards_from_gnubg_ids)
        if kind == "wildbg"
        else (position_from_key, boards_from_keys)
    )
    try:
        boards = many(names)
    except PositionError:
        for (number, _), name in zip(lines, names, strict=True):
            try:
                one(name)
            except PositionError as error:
                raise DatasetError(f"{path}: line {number}: {error}") from None
        raise
    return LabelRows(boards, _chances(path, lines, words))


def _chances(
    path: Path, lines: Sequence[tuple[int, str]], words: Sequence[list[str]]
) -> npt.NDArray[np.float32]:
    try:
        numbers = np.array([some[1:] for some in words], np.float64)
    except ValueError:
        numbers = np.full((len(words), _NUMBERS), np.nan)
        for row, some in enumerate(words):
            try:
                numbers[row] = [float(word) for word in some[1:]]
            except ValueError:
                break
    win, gammon, backgammon, lose_gammon, lose_backgammon = numbers.T
    with np.errstate(invalid="ignore"):
        possible = (
            (win <= 1 + _ROUNDING)
            & (gammon <= win + _ROUNDING)
            & (backgammon <= gammon + _ROUNDING)
            & (lose_gammon <= 1 - win + _ROUNDING)
            & (lose_backgammon <= lose_gammon + _ROUNDING)
            & (numbers >= -_ROUNDING).all(axis=1)
        )
    if not possible.all():
        number, line = lines[int(np.argmin(possible))]
        raise DatasetError(
            f"{path}: line {number}: {quoted(line.strip())}: the chances must be numbers, those of a gammon "
            "among those of a win or a loss"
        )
    return np.clip(numbers, 0, 1).astype(np.float32)


class Imported(NamedTuple):
    """What has become of files of labelled positions."""

    rows: int
    """Positions taken."""
    doubtful: int
    """Among those read, see `is_doubtful`."""


def import_labels(paths: Sequence[Path], folder: Path, *, drop_doubtful: bool = False) -> Imported:
    """Make a dataset in `folder` of the files `paths`; with `drop_doubtful` without positions that are.

    Every position is a game and a decision of its own, which holds positions, not games, out for validation.
    Raises `DatasetError` for a line that is none, and where `folder` holds something; `FileError`.
    """
    provenance = {
        "source": [path.name for path in paths],
        "format": sorted({str(label_format(path)) for path in paths}),
        "drop_doubtful": drop_doubtful,
        "games": 0,
        "games_a_part": 1,
        "motif": VERSION,
    }
    with working_in(folder):
        kept_parts(folder, provenance, resume=False)
        parts, first, doubtful = list[DatasetPart](), 0, 0
        for rows in _in_parts(chain.from_iterable(map(read_labels, paths)), drop_doubtful):
            kept, out = rows
            doubtful += out
            if len(kept.boards):
                parts.append(write_part(folder, len(parts), _columns(kept, first), provenance))
                first += len(kept.boards)
        write_manifest(folder, provenance, parts, complete=True)
    return Imported(first, doubtful)


def _in_parts(pieces: Iterable[LabelRows], drop_doubtful: bool) -> Iterator[tuple[LabelRows, int]]:
    """Yield the rows of a part, and how many of those that were read for it are doubtful."""
    waiting, doubtful = list[LabelRows](), 0
    for piece in pieces:
        bad = is_doubtful(piece.boards)
        doubtful += int(bad.sum())
        kept = ~bad if drop_doubtful else slice(None)
        waiting.append(LabelRows(piece.boards[kept], piece.probabilities[kept]))
        if sum(len(one.boards) for one in waiting) >= _ROWS_A_PART:
            yield _joined(waiting), doubtful
            waiting, doubtful = [], 0
    yield _joined(waiting), doubtful


def _joined(pieces: Sequence[LabelRows]) -> LabelRows:
    boards = [np.empty((0, BOARD_SIZE), np.int8), *(piece.boards for piece in pieces)]
    chances = [np.empty((0, _NUMBERS), np.float32), *(piece.probabilities for piece in pieces)]
    return LabelRows(np.concatenate(boards), np.concatenate(chances))


def _columns(rows: LabelRows, first: int) -> dict[str, Any]:
    """Return the columns of a part whose first position has the number `first`."""
    count = len(rows.boards)
    numbers = np.arange(first, first + count)
    return {
        "position": gnubg_ids(rows.boards),
        **dict(zip(OUTPUTS, rows.probabilities.T, strict=True)),
        "equity": equities(rows.probabilities.astype(np.float64)).astype(np.float32),
        "equity_se": np.full(count, np.nan, np.float32),
        "trials": np.ones(count, np.int32),
        "game": numbers.astype(np.int32),
        "ply": np.zeros(count, np.int32),
        "decision": numbers.astype(np.int64),
        "chosen": np.ones(count, np.bool_),
        "cls": classify_many(pack_many(rows.boards)),
    }


def export_labels(folders: Sequence[Path], path: Path) -> int:
    """Write the positions of the datasets in `folders` to `path`, as its suffix says; return how many.

    Raises `DatasetError` for data that cannot be read, `FileError`, and `SettingError` for another suffix.
    """
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise SettingError(f"{path}: labelled positions are written as {' or '.join(SUFFIXES)}")
    for folder in folders:
        read_manifest(folder)
    rows = (LabelRows(part.boards, part.probabilities) for folder in folders for part in read_parts(folder))
    return _write(path, kind, rows)


def rewrite_labels(paths: Sequence[Path], path: Path, *, drop_doubtful: bool = False) -> Imported:
    """Write the labelled positions of the files `paths` to `path`, as its suffix says."""
    doubtful = 0

    def kept() -> Iterator[LabelRows]:
        nonlocal doubtful
        for rows, out in _in_parts(chain.from_iterable(map(read_labels, paths)), drop_doubtful):
            doubtful += out
            yield rows

    return Imported(_write(path, SUFFIXES[path.suffix.lower()], kept()), doubtful)


def _write(path: Path, kind: LabelFormat, pieces: Iterable[LabelRows]) -> int:
    count = 0
    with replacing(path) as temporary, open(temporary, "w", encoding="ascii", newline="\n") as file:
        mark = "," if kind == "wildbg" else " "
        if kind == "wildbg":
            file.write(f"{HEADER}\n")
        for boards, probabilities in pieces:
            names = (
                gnubg_ids(boards) if kind == "wildbg" else [position_key(Position(board)) for board in boards]
            )
            # The shortest text that is read as the same number again.
            texts = probabilities.astype(str)
            file.writelines(f"{mark.join((name, *row))}\n" for name, row in zip(names, texts, strict=True))
            count += len(names)
    return count
