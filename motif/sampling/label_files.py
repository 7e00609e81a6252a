"""Labelled positions in the files of other projects: wildbg's CSV and gnubg-nn's training lines.

Both have one position per line, from the side of the player on roll before the roll, with this player's
five cumulative probabilities.  wildbg's CSV contains GNUbg IDs and begins with the names of its columns,
which may be in any order, among others, and called as in motif's data frames.  gnubg-nn's training lines
contain a 20-letter key and numbers separated by blanks, and # begins a comment.  The first line determines
the format.

Older files of wildbg lack the opponent's checkers on the bar, so that the position and the label do not
match.  This can be detected if the opponent has fewer than 15 checkers, but too many outside the home board
to have borne any off.  `is_doubtful` finds these positions; other cases cannot be detected.

Sources: the files of wildbg-training, and gnubg-nn's training data as read by bgsage.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from motif.board.identifiers import (
    boards_of_lines,
    gnubg_ids,
    position_from_gnubg_id,
    position_from_key,
    position_key,
    quoted,
)
from motif.board.packed import CHECKERS, HOME, POINTS, Board
from motif.evaluators.probabilities import OUTPUTS, probability_fault
from motif.runtime.arrays import BoolArray, Float32Array
from motif.runtime.errors import DatasetError, PositionError, SettingError
from motif.runtime.files import decoded, reading, replacing
from motif.runtime.limits import TEXT_LINE, lines_of, pieces_of
from motif.runtime.settings import number_in
from motif.sampling.dataset import (
    ROWS_A_PART,
    Dataset,
    joined,
    labelled,
    read_parts,
    write_pieces,
)
from motif.sampling.dataset_files import read_manifest

LabelFormat = Literal["wildbg", "gnubg-nn"]
HEADER = "position_id,win,win_g,win_bg,lose_g,lose_bg"
"""First line of a CSV."""
_COLUMNS = HEADER.split(",")
_OTHER_NAMES = dict(zip(("position", *OUTPUTS), _COLUMNS, strict=True))
"""Columns by their names in motif's data frames."""
SUFFIXES: dict[str, LabelFormat] = {".csv": "wildbg", ".txt": "gnubg-nn"}
"""Format of written files for each suffix."""
OUTSIDE = 3
"""Number of checkers outside the home board with which no checker can have been borne off."""

_NUMBERS = len(OUTPUTS)
_COMMENT = "#"
_LINES_AT_ONCE = 4096


def is_doubtful(boards: Board) -> BoolArray:
    """Return which of `boards` (n, 26) lack opposing checkers that cannot have been borne off: (n,)."""
    opponents = -np.minimum(boards, 0)
    # The opponent's home board is the player's points 19 to 24.
    outside = opponents[:, : POINTS - HOME + 1].sum(axis=1)
    return np.asarray((opponents.sum(axis=1) < CHECKERS) & (outside >= OUTSIDE))


def label_format(path: Path) -> LabelFormat | None:
    """Return the format of the labelled positions in `path`; None for other files."""
    first = ""
    if path.is_file():
        with suppress(DatasetError):  # a line that is too long
            first = next((line for _, line in _meant(path)), "")
    words = first.split()
    with suppress(PositionError):
        position_from_key(words[0] if words else "")
        return "gnubg-nn"
    is_csv = _COLUMNS[0] in _names(first) or (path.suffix.lower() == ".csv" and path.is_file())
    return "wildbg" if is_csv else None


def read_labels(path: Path) -> Iterator[Dataset]:
    """Yield the labelled positions of a file in either format, in pieces.

    Raises `DatasetError`, naming the file and line, if the header or a line is invalid or too long, and for a
    file without positions.
    """
    kind, meant = label_format(path), _meant(path)
    first = next(meant, None)  # raises the error of an unreadable file
    if kind is None or first is None:
        raise DatasetError(
            f"{path}: no labelled positions: wildbg's CSV begins with {HEADER}, and gnubg-nn's "
            "training lines begin with a 20-letter key"
        )
    header = _header(path, *first) if kind == "wildbg" else None
    lines = meant if header else chain([first], meant)
    chunk = list(islice(lines, _LINES_AT_ONCE))
    if not chunk:
        raise DatasetError(f"{path}: no labelled positions after the names of the columns")
    while chunk:
        yield _rows(path, header, chunk)
        chunk = list(islice(lines, _LINES_AT_ONCE))


def _values(line: str) -> list[str]:
    """Return the values of a line of a CSV, which contain no commas, without quotes."""
    return [value.strip().strip('"').strip() for value in line.split(",")]


def _names(line: str) -> list[str]:
    """Return the names of columns in the first line of a CSV, as in `HEADER`."""
    names = [name.lower() for name in _values(line)]
    return [_OTHER_NAMES.get(name, name) for name in names]


class _Header(NamedTuple):
    width: int
    """Number of columns."""
    columns: list[int]
    """Indexes of the columns of `HEADER`."""


def _header(path: Path, number: int, line: str) -> _Header:
    """Return the header in the first line of a CSV; raises `DatasetError` for any other line."""
    names, where = _names(line), f"{path}: line {number}"
    with suppress(PositionError):
        position_from_gnubg_id(_values(line)[0])
        raise DatasetError(f"{where}: the header is missing: the first line must be {HEADER}")
    for name in _COLUMNS:
        if names.count(name) != 1:
            fault = f"lacks the column {name}" if name not in names else f"has two columns {name}"
            raise DatasetError(f"{where}: the header {fault}: it must be {HEADER}, in any order")
    return _Header(len(names), list(map(names.index, _COLUMNS)))


def _meant(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines that are neither empty nor comments."""
    with reading(path, DatasetError), open(path, "rb") as file:
        for number, line in lines_of(pieces_of(file), TEXT_LINE, str(path), DatasetError):
            text = decoded(line).strip()
            if text and not text.startswith(_COMMENT):
                yield number, text


def _rows(path: Path, header: _Header | None, lines: Sequence[tuple[int, str]]) -> Dataset:
    words = [line.split() if header is None else _values(line) for _, line in lines]
    width = 1 + _NUMBERS if header is None else header.width
    for (number, line), row in zip(lines, words, strict=True):
        if len(row) != width:
            wanted = f"{width} values" if width > 1 + _NUMBERS else "a position with five chances"
            raise DatasetError(f"{path}: line {number}: {quoted(line.strip())} is not {wanted}")
    if header is not None:
        words = [[row[column] for column in header.columns] for row in words]
    names = [(number, row[0]) for (number, _), row in zip(lines, words, strict=True)]
    boards = boards_of_lines(names, str(path), DatasetError, are_keys=header is None)
    return labelled(boards, _chances(path, lines, words))


def _chances(path: Path, lines: Sequence[tuple[int, str]], words: Sequence[list[str]]) -> Float32Array:
    numbers = np.array([[number_in(word) for word in row[1:]] for row in words])
    if fault := probability_fault(numbers):
        number, line = lines[fault[0]]
        raise DatasetError(
            f"{path}: line {number}: {quoted(line.strip())}: the chances must be numbers from 0 to 1, "
            "and gammons must be part of the wins or losses"
        )
    return np.clip(numbers, 0, 1).astype(np.float32)


def import_labels(paths: Sequence[Path], folder: Path, *, drop_doubtful: bool = False) -> tuple[int, int]:
    """Import the files `paths` to a dataset in `folder`; `drop_doubtful` leaves out doubtful positions.

    Returns the numbers of imported positions, and of doubtful ones that were read (see `is_doubtful`). Every
    position counts as a separate game and decision, so validation holds out positions, not games. Raises
    `DatasetError` if a line is invalid or `folder` is not empty, and `FileError` if writing fails.
    """
    kept = _KeptLabels(paths, drop_doubtful)

    def pieces() -> Iterator[Dataset]:
        first = 0
        for data in kept:
            numbers = np.arange(first, first + len(data))
            yield replace(data, game=numbers.astype(np.int32), decision=numbers)
            first += len(data)

    formats = sorted({str(label_format(path)) for path in paths})
    names = [path.name for path in paths]
    count = write_pieces(folder, pieces(), source=names, format=formats, drop_doubtful=drop_doubtful)
    return count, kept.doubtful


class _KeptLabels:
    """Positions of label files, without dropped ones, in pieces of about `ROWS_A_PART`."""

    def __init__(self, paths: Sequence[Path], drop_doubtful: bool) -> None:
        self._paths, self._drop_doubtful = paths, drop_doubtful
        self.doubtful = 0
        """Number of doubtful positions so far."""

    def __iter__(self) -> Iterator[Dataset]:
        waiting: list[Dataset] = []
        for data in chain.from_iterable(map(read_labels, self._paths)):
            doubtful = is_doubtful(data.boards)
            self.doubtful += int(doubtful.sum())
            waiting.append(data.rows(~doubtful) if self._drop_doubtful else data)
            if sum(map(len, waiting)) >= ROWS_A_PART:
                yield joined(waiting)
                waiting = []
        if waiting:
            yield joined(waiting)


def export_labels(folders: Sequence[Path], path: Path) -> int:
    """Write the positions of the datasets in `folders` to `path`; return their number.

    The suffix gives the format.  Raises `DatasetError` if data cannot be read, `FileError` if writing
    fails, and `SettingError` for an unsupported suffix.
    """
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise SettingError(f"{path}: the suffix of labelled positions must be {' or '.join(SUFFIXES)}")
    for folder in folders:
        read_manifest(folder)
    return _write(path, kind, chain.from_iterable(map(read_parts, folders)))


def rewrite_labels(paths: Sequence[Path], path: Path, *, drop_doubtful: bool = False) -> tuple[int, int]:
    """Do the same as `import_labels` to a file `path`, whose suffix gives the format."""
    kept = _KeptLabels(paths, drop_doubtful)
    return _write(path, SUFFIXES[path.suffix.lower()], kept), kept.doubtful


def _write(path: Path, kind: LabelFormat, pieces: Iterable[Dataset]) -> int:
    count = 0
    with replacing(path) as temporary, open(temporary, "w", encoding="ascii", newline="\n") as file:
        mark = "," if kind == "wildbg" else " "
        if kind == "wildbg":
            file.write(f"{HEADER}\n")
        for data in pieces:
            names = gnubg_ids(data.boards) if kind == "wildbg" else list(map(position_key, data.positions))
            # Write the shortest text that reproduces the number.
            texts = data.probabilities.astype(str)
            file.writelines(f"{mark.join((name, *row))}\n" for name, row in zip(names, texts, strict=True))
            count += len(names)
    return count
