"""Analysed matches for other programs: the record with comments, or a table of every decision."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from motif.analysis.match import MatchAnalysis
from motif.board.match_file import WRITTEN_SUFFIXES, write_match
from motif.runtime.errors import SettingError
from motif.runtime.files import csv_text, replacing, write_text

TABLE_SUFFIXES = (".csv", ".parquet")
COLUMNS = (
    "file", "match", "analyst", "game", "move", "player", "kind", "position", "xgid", "roll", "done", "best",
    "error", "error_se", "mark", "counts", "lost", "unit", "luck", "candidates",
)  # fmt: skip
"""Of a table; `error` and `error_se` are in millipoints, `lost` in points or MWC, `luck` is an equity."""


def check_export(path: Path, matches: int) -> None:
    """Raise `SettingError` unless so many analysed matches can be written to a file that is called so."""
    suffix = path.suffix.lower()
    if suffix not in (*WRITTEN_SUFFIXES, *TABLE_SUFFIXES):
        known = ", ".join((*WRITTEN_SUFFIXES, *TABLE_SUFFIXES))
        raise SettingError(f"{path}: an analysis is written as one of {known}")
    if suffix in WRITTEN_SUFFIXES and matches > 1:
        raise SettingError(f"{path}: a {suffix} file holds one match, not {matches}")


def write_export(path: Path, analyses: Sequence[tuple[str, MatchAnalysis]]) -> None:
    """Write `analyses`, each with the name of its file, to `path`, as the suffix says.

    A .mat or .sgf file is the record with comments and, in .sgf, gnubg's marks; .csv and .parquet have a row
    for every decision.  Raises `FileError`, and `SettingError` as `check_export` does.
    """
    check_export(path, len(analyses))
    suffix = path.suffix.lower()
    if suffix in WRITTEN_SUFFIXES:
        analysis = analyses[0][1]
        write_match(path, analysis.record, analysis.notes())
        return
    rows: list[dict[str, Any]] = [{"file": name, **row} for name, one in analyses for row in one.rows()]
    if suffix == ".csv":
        cells = ([_cell(row[column]) for column in COLUMNS] for row in rows)
        write_text(path, csv_text(COLUMNS, cells))
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({column: [row[column] for row in rows] for column in COLUMNS})
    with replacing(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def _cell(value: Any) -> Any:
    """`value` for a CSV: nothing for None, numbers with six digits."""
    if isinstance(value, bool):
        return int(value)
    return f"{value:.6g}" if isinstance(value, float) else value
