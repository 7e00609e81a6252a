"""Results of games: positions or another program's scores, with the winner of the game.

The results come from a dataset, match files or your own CSV. The first line of a CSV contains the names of
the columns: `outcome` (1 if the player on roll won the game, 0 if the opponent won); one of `position` (a
GNUbg ID, from the side of the player on roll), `score` (0 to 100) and `chance` (0 to 1), both for the
player on roll; and optionally `game`, which is the same for all positions of a game.  Other columns are
ignored.  Without `game`, every line counts as a separate game.
"""

import csv
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.identifiers import boards_of_lines, quoted
from motif.board.match_file import READ_SUFFIXES, match_paths
from motif.board.outcome import finished_points_many
from motif.board.packed import unpack_many
from motif.evaluators.probabilities import OUTPUTS, WIN
from motif.runtime.arrays import FloatArray, IntArray
from motif.runtime.errors import DatasetError, RecordError, SettingError, plain_text
from motif.runtime.files import content_of, contents, decoded
from motif.runtime.limits import (
    OUTCOMES_FILE,
    OUTCOMES_LINES,
    OUTCOMES_UNPACKED,
    TEXT_LINE,
    lines_within,
)
from motif.runtime.settings import number_in
from motif.sampling.dataset import Dataset, joined, labelled, read_parts
from motif.sampling.dataset_files import is_dataset, read_manifest
from motif.sampling.recorded_games import (
    RecordedGame,
    finished,
    games_fingerprint,
    outcome_labels,
    read_games,
)

CSV_SUFFIXES = (".csv", ".csv.gz")
"""Suffixes of files of results; the second suffix is for compressed files."""
POSITION, SCORE, CHANCE, OUTCOME, GAME = "position", "score", "chance", "outcome", "game"
_NAMES = {
    "position": POSITION,
    "position_id": POSITION,
    "score": SCORE,
    "s_me": SCORE,
    "chance": CHANCE,
    "outcome": OUTCOME,
    "game": GAME,
}
"""Kind of column for each name, in lower case; BRAS's own files use S_me."""
_HIGHEST = {SCORE: 100.0, CHANCE: 1.0}
_COLUMNS_RULE = (
    "the first line must name the columns: outcome, and one of position, score (0 to 100) and chance (0 to 1)"
)
_LINES_AT_ONCE = 4096


@dataclass(frozen=True)
class PositionResults:
    """Positions with the results of their games for the player on roll."""

    name: str
    """Name of the source, for messages."""
    fingerprint: str
    """Hash that identifies the content."""
    positions: int
    parts: Iterable[Dataset]
    """The labelled positions, in pieces."""


@dataclass(frozen=True, eq=False)
class ScoreResults:
    """Another program's win probabilities for n unknown positions, with the winner of the game."""

    name: str
    fingerprint: str
    chances: FloatArray
    """Win probabilities (n,), from 0 to 1."""
    won: FloatArray
    """Outcomes (n,), 1 or 0."""
    game: IntArray
    """Game of each position (n,)."""


Results = PositionResults | ScoreResults


def read_results(paths: Sequence[Path]) -> Results:
    """Read results from one dataset, one .csv or .csv.gz file, or match files and folders of match files.

    A CSV without positions gives scores; match files give the positions after every play of the finished
    games. Raises `SettingError` if the paths are of several kinds, or there are several datasets or CSVs;
    `DatasetError`, which names the line, if a dataset or CSV cannot be read; and `RecordError` if a file is
    not a match, or no game was finished.
    """
    source = next((path for path in paths if _is_dataset(path) or _is_csv(path)), None)
    if source is None:
        return match_results(paths)
    if len(paths) > 1:
        raise SettingError(f"{source}: a dataset or a CSV is read alone, not with other sources")
    return csv_results(source) if _is_csv(source) else dataset_results(source)


def _is_csv(path: Path) -> bool:
    return path.name.lower().endswith(CSV_SUFFIXES) and not path.is_dir()


def _is_dataset(path: Path) -> bool:
    """Return whether `path` is the folder of a dataset, or can only be meant as one."""
    if not path.is_dir():
        return not path.exists() and not path.suffix
    return is_dataset(path) or not any(file.suffix.lower() in READ_SUFFIXES for file in contents(path))


def dataset_results(folder: Path) -> PositionResults:
    """Read the labels of a dataset as results; raise `DatasetError` if there is no dataset."""
    manifest = read_manifest(folder)
    return PositionResults(str(folder), manifest.fingerprint, manifest.positions, read_parts(folder))


def match_results(paths: Sequence[Path]) -> PositionResults:
    """Read the finished games in match files; raise `RecordError` if there are none."""
    games = finished(read_games(paths))
    samples = outcome_samples(games)
    if not len(samples):
        raise RecordError("the match files contain no finished game with a play")
    count = sum(1 for _ in match_paths(paths))
    name = str(paths[0]) if len(paths) == 1 else f"{count} match files"
    return PositionResults(name, games_fingerprint(games), len(samples), [samples])


def outcome_samples(games: Sequence[RecordedGame]) -> Dataset:
    """Label the position after every play of finished games with the result of the game.

    The rows are the same as from `motif.sampling.sample.sample` with the label `outcome` and a rate of 1.
    """
    return joined(_outcomes(number, game) for number, game in enumerate(games))


def _outcomes(number: int, game: RecordedGame) -> Dataset:
    over = finished_points_many(game.after.view(np.int64)) != 0
    plies = np.flatnonzero(~over).astype(np.int32) + 1
    labels = outcome_labels(game, plies).astype(np.float32)
    return labelled(unpack_many(game.after[plies - 1]), labels, np.full(len(plies), number), plies)


class _CsvHeader(NamedTuple):
    """Header of a CSV: its first line."""

    width: int
    columns: dict[str, int]
    """Index of the column of each kind."""
    value: str
    """Kind of the column that describes a position."""


def csv_results(path: Path) -> Results:
    """Read a CSV of results; see the module docstring.

    Raises `DatasetError` that names the line and the rule.
    """
    where = plain_text(str(path))
    content = content_of(path, DatasetError, OUTCOMES_FILE)
    limits = OUTCOMES_UNPACKED, OUTCOMES_LINES, TEXT_LINE
    is_gzip = path.suffix.lower() == ".gz"
    rows = _csv_rows(where, lines_within(content, is_gzip, limits, where, DatasetError))
    number, names = next(rows, (1, []))
    header = _header(f"{where}: line {number}", names)
    games = dict[str, int]()
    pieces_read = list[tuple[npt.NDArray[Any], FloatArray, IntArray]]()
    while lines := list(islice(rows, _LINES_AT_ONCE)):
        pieces_read.append(_read_rows(where, header, lines, games))
    if not pieces_read:
        raise DatasetError(f"{where}: no results follow the column names")
    values, won, game = (np.concatenate(column) for column in zip(*pieces_read, strict=True))
    if header.columns.get(GAME) is None:
        game = np.arange(len(won))
    fingerprint = f"sha256:{hashlib.sha256(content).hexdigest()}"
    if header.value != POSITION:
        return ScoreResults(str(path), fingerprint, values, won, game)
    labels = np.zeros((len(won), len(OUTPUTS)), np.float32)
    labels[:, WIN] = won
    return PositionResults(str(path), fingerprint, len(won), [labelled(values, labels, game)])


def _csv_rows(where: str, lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the values of each line that is not empty."""
    for number, line in lines:
        text = decoded(line).strip()
        if not text:
            continue
        try:
            yield number, [value.strip() for value in next(csv.reader([text], strict=True))]
        except csv.Error as error:
            raise DatasetError(f"{where}: line {number}: not valid CSV: {error}") from None


def _header(where: str, names: Sequence[str]) -> _CsvHeader:
    kinds = [_NAMES.get(name.lower()) for name in names]
    columns = {kind: column for column, kind in enumerate(kinds) if kind is not None}
    doubled = next((kind for kind in columns if kinds.count(kind) > 1), None)
    if doubled is not None:
        raise DatasetError(f"{where}: the column {doubled} occurs twice")
    values = [kind for kind in (POSITION, SCORE, CHANCE) if kind in columns]
    if len(values) != 1 or OUTCOME not in columns:
        raise DatasetError(f"{where}: {quoted(','.join(names))}: {_COLUMNS_RULE}")
    return _CsvHeader(len(names), columns, values[0])


def _read_rows(
    where: str, header: _CsvHeader, lines: Sequence[tuple[int, list[str]]], games: dict[str, int]
) -> tuple[npt.NDArray[Any], FloatArray, IntArray]:
    """Return the values, outcomes and game indices of some lines; add new games to `games`."""
    for number, words in lines:
        if len(words) != header.width:
            raise DatasetError(
                f"{where}: line {number}: there must be {header.width} values, not {len(words)}"
            )
    won = np.empty(len(lines))
    for row, (number, words) in enumerate(lines):
        outcome = words[header.columns[OUTCOME]]
        won[row] = number_in(outcome)
        if won[row] not in (0, 1):
            raise DatasetError(f"{where}: line {number}: outcome must be 0 or 1, not {quoted(outcome)}")
    names = [words[header.columns[GAME]] for _, words in lines] if GAME in header.columns else []
    game = np.array([games.setdefault(name, len(games)) for name in names] or [0] * len(lines), np.int64)
    texts = [(number, words[header.columns[header.value]]) for number, words in lines]
    if header.value != POSITION:
        return _chances(where, header.value, texts), won, game
    return boards_of_lines(texts, where, DatasetError, are_keys=False), won, game


def _chances(where: str, kind: str, texts: Sequence[tuple[int, str]]) -> FloatArray:
    highest, chances = _HIGHEST[kind], np.empty(len(texts))
    for row, (number, text) in enumerate(texts):
        value = number_in(text)
        if not 0 <= value <= highest:
            raise DatasetError(
                f"{where}: line {number}: {kind} must be a number from 0 to {highest:.0f}, not {quoted(text)}"
            )
        chances[row] = value / highest
    return chances
