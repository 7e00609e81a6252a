"""The dataset on disk: Parquet parts, and the manifest that says which of them are whole.

Each part is written to a temporary name, flushed and renamed, and carries the settings that made it.  The
manifest is replaced after each part that is written, so it never names one that is not on disk.

A run that is resumed keeps a part when its bytes are those that the manifest names.  Without a manifest
that can be understood, parts speak for themselves: each carries the settings that made it, and is kept when
it can be read to its end and holds games that belong into it.  That finds a part that is torn, empty or
in another's place; a single byte that has changed within it may go unseen, which only checksums find.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from motif.evaluators.probabilities import OUTPUTS
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.documents import Entry
from motif.runtime.errors import DatasetError, shown
from motif.runtime.files import content_of, contents, reason, replacing, write_text
from motif.runtime.limits import JSON_FILE, PART_ROWS
from motif.runtime.parquet import bounded_parquet

FORMAT = "motif-dataset/1"
MANIFEST = "_manifest.json"
"""Readers of Parquet pass over files that begin with _."""
_FORMER_MANIFEST = "manifest.json"
_PART_NAME = re.compile(r"part-\d{5,}\.parquet")
_CHECKSUM = re.compile(r"[0-9a-f]{64}")


class DamagedManifestError(DatasetError):
    """A manifest that cannot be understood, though the parts beside it may be whole."""


@dataclass(frozen=True)
class DatasetPart:
    """One whole part, as the manifest names it."""

    name: str
    rows: int
    sha256: str


def part_name(number: int) -> str:
    """Return the file name of the part with that number."""
    return f"part-{number:05d}.parquet"


def checksum(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def write_manifest(folder: Path, settings: dict[str, Any], parts: list[DatasetPart], complete: bool) -> None:
    """Write the manifest, whole or not at all; raises `FileError` when it cannot be written."""
    document = {
        "format": FORMAT,
        "complete": complete,
        "positions": sum(part.rows for part in parts),
        "settings": settings,
        "parts": [vars(part) for part in parts],
    }
    write_text(folder / MANIFEST, json.dumps(document, indent=1) + "\n")
    (folder / _FORMER_MANIFEST).unlink(missing_ok=True)


def manifest_of(folder: Path) -> Path:
    """Return the path of the manifest of a dataset, which may be called as it was in motif 0.1.0."""
    former = folder / _FORMER_MANIFEST
    return former if former.exists() and not (folder / MANIFEST).exists() else folder / MANIFEST


def is_dataset(folder: Path) -> bool:
    """Return whether there is a manifest in `folder`."""
    return manifest_of(folder).exists()


def read_manifest(folder: Path) -> tuple[dict[str, Any], list[DatasetPart], bool]:
    """Return settings, parts and whether the dataset is complete.

    Raises `DatasetError` when there is no manifest, or one of another format, and its subclass
    `DamagedManifestError` when it makes no sense.
    """
    path = manifest_of(folder)
    if not path.exists():
        raise DatasetError(f"{folder}: no dataset (there is no {MANIFEST})")
    content = content_of(path, DatasetError, JSON_FILE)
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DamagedManifestError(f"{path}: damaged: no JSON: {error}") from None
    manifest = Entry(document, f"{path}: damaged", DamagedManifestError, "the document")
    manifest.mapping(wanted="an object")
    if _of(manifest["format"], str) != FORMAT:
        raise DatasetError(f"{path}: format must be {FORMAT!r}, not {shown(document['format'])}")
    settings = _of(manifest["settings"], dict)
    parts = [_part(entry) for entry in manifest["parts"].entries(wanted="of type list")]
    if len({part.name for part in parts}) < len(parts):
        manifest["parts"].fail("one is listed twice")
    return settings, parts, _of(manifest["complete"], bool)


def _of(entry: Entry, kind: type) -> Any:
    return entry.of(kind, wanted=f"of type {kind.__name__}")


def _part(entry: Entry) -> DatasetPart:
    entry.mapping(wanted="an object")
    name, rows, sha256 = entry["name"], entry["rows"], entry["sha256"]
    part = DatasetPart(_of(name, str), _of(rows, int), _of(sha256, str))
    if not _PART_NAME.fullmatch(part.name):
        name.fail(f"{shown(part.name)} is not the name of a part")
    if part.rows < 0:
        rows.fail(f"must be at least 0, not {shown(part.rows)}")
    if not _CHECKSUM.fullmatch(part.sha256):
        sha256.fail(f"{shown(part.sha256)} is no checksum")
    return part


def read_manifest_positions(folder: Path) -> int:
    """Return the number of positions in a dataset."""
    return sum(part.rows for part in read_manifest(folder)[1])


def parts_there(folder: Path) -> tuple[int, int]:
    """Return how many parts a dataset has, and how many it would have if its sampling had not been stopped.

    Both are the same where it was not, or where its settings do not say how many there are to be.
    Raises `DatasetError` as `read_manifest` does.
    """
    settings, parts, complete = read_manifest(folder)
    games, together = settings.get("games"), settings.get("games_a_part")
    if complete or not (isinstance(games, int) and isinstance(together, int) and together > 0):
        return len(parts), len(parts)
    return len(parts), -(-games // together)


def dataset_fingerprint(folder: Path) -> str:
    """Identify the content of a dataset: a hash over its parts' checksums."""
    _, parts, _ = read_manifest(folder)
    return "sha256:" + hashlib.sha256("".join(part.sha256 for part in parts).encode()).hexdigest()


PROVENANCE = b"motif"
"""Key of a part's metadata under which its settings stand, as JSON."""
ROWS_AT_ONCE = 1 << 16
"""Most positions of a part that are in memory at a time while it is read: about 20 MB."""
SCHEMA = pa.schema(
    [
        ("position", pa.string()),
        *((name, pa.float32()) for name in OUTPUTS),
        ("equity", pa.float32()),
        ("equity_se", pa.float32()),
        ("trials", pa.int32()),
        ("game", pa.int32()),
        ("ply", pa.int32()),
        ("decision", pa.int64()),
        ("chosen", pa.bool_()),
        ("cls", pa.dictionary(pa.int8(), pa.string())),
    ]
)

TEXTS = ("position",)
"""Columns of `SCHEMA` that are texts of any length."""


def write_part(folder: Path, number: int, columns: dict[str, Any], provenance: dict[str, Any]) -> DatasetPart:
    """Write one part whole or not at all; `columns` are arrays by the names of `SCHEMA`.

    Raises `FileError` when it cannot be written.
    """
    codes = pa.array(columns["cls"], pa.int8())
    arrays = dict(columns, cls=pa.DictionaryArray.from_arrays(codes, pa.array(CLASS_NAMES)))
    schema = SCHEMA.with_metadata({PROVENANCE: json.dumps(provenance, sort_keys=True)})
    table = pa.table([arrays[name] for name in SCHEMA.names], schema=schema)
    path = folder / part_name(number)
    with replacing(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")
    return DatasetPart(path.name, table.num_rows, checksum(path))


def read_column(folder: Path, name: str) -> npt.NDArray[Any]:
    """One of the columns of numbers, (n,), of the whole dataset; nothing else is read."""
    batches = (batch for path, part in whole_parts(folder) for batch in batches_of(path, part, [name]))
    return np.concatenate([numbers_of(batch, name) for batch in batches])


def whole_parts(folder: Path) -> Iterator[tuple[Path, DatasetPart]]:
    """Yield the path of each part, and what the manifest says of it; raises `DatasetError` for no rows."""
    _, parts, _ = read_manifest(folder)
    if not any(part.rows for part in parts):
        raise DatasetError(f"{folder}: the dataset is empty")
    for part in parts:
        yield folder / part.name, part


def batches_of(path: Path, part: DatasetPart, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one part, a bounded number at a time; all columns, or those named."""
    try:
        if checksum(path) != part.sha256:
            raise DatasetError(f"{path}: damaged: its checksum is not the one in the {MANIFEST}")
        with bounded_parquet(path, TEXTS, PART_ROWS, DatasetError) as (file, schema):
            if not schema.equals(SCHEMA) or file.metadata.num_rows != part.rows:
                raise DatasetError(
                    f"{path}: damaged: it does not hold {part.rows} rows of the columns it should"
                )
            rows = 0
            for batch in file.iter_batches(ROWS_AT_ONCE, columns=columns):
                # Texts that are no UTF-8, say, and offsets that point behind the end.
                batch.validate(full=True)
                if any(column.null_count for column in batch.columns):
                    raise DatasetError(f"{path}: damaged: a value is missing")
                rows += batch.num_rows
                yield batch
            # The number in the file's metadata is not what its row groups add up to, where it is damaged.
            if rows != part.rows:
                raise DatasetError(f"{path}: damaged: it holds {rows} rows, not {part.rows}")
    except FileNotFoundError:
        raise DatasetError(f"{path}: missing, although the manifest names it") from None
    except (OSError, ValueError, pa.ArrowException) as error:
        raise DatasetError(f"{path}: damaged: {' '.join(str(error).split())}") from None


def numbers_of(batch: pa.RecordBatch, name: str) -> npt.NDArray[Any]:
    """Return a column of numbers, (n,)."""
    numbers: npt.NDArray[Any] = batch.column(name).to_numpy(zero_copy_only=False)
    return numbers


_LONGEST_SAID = 100
ROLLOUTS = "rollout"
"""What labels a dataset where no evaluator does."""
_UNSAID = {"label": ROLLOUTS}
"""Settings that datasets do not say which were made before there was a choice."""


def kept_parts(folder: Path, provenance: dict[str, Any], resume: bool) -> dict[str, DatasetPart]:
    """Return the whole parts of an earlier run with the same settings, by name.

    Raises `DatasetError` when `folder` holds a dataset and `resume` is not set, when that was made
    with other settings, and when the folder holds something else.
    """
    files = contents(folder)
    if not files:
        return {}
    games = range(0, provenance["games"], provenance["games_a_part"])
    first_games = {part_name(number): first for number, first in enumerate(games)}
    try:
        settings, parts, _ = read_manifest(folder)
    except DatasetError as error:
        paths = [path for path in files if path.name in first_games]
        lost = bool(paths) and not is_dataset(folder)
        if resume and (lost or isinstance(error, DamagedManifestError)):
            return _adopted(paths, provenance, first_games)
        raise
    if not resume:
        raise DatasetError(f"{folder}: holds a dataset already; {{resume}} continues it", "resume")
    _compare(folder, settings, provenance)
    return {part.name: part for part in parts if part.name in first_games and _is_whole(folder, part)}


def _compare(where: Path, settings: dict[str, Any], provenance: dict[str, Any]) -> None:
    for key, value in provenance.items():
        before = settings.get(key, _UNSAID.get(key))
        if before != value:
            raise DatasetError(
                f"{where}: was made with {key} = {_said(before)}, not {value!r}: cannot be resumed"
            )


def _said(value: Any) -> str:
    """Return `value` as text, in full up to the length of a fingerprint."""
    return repr(value) if isinstance(value, str) and len(value) <= _LONGEST_SAID else shown(value)


def _is_whole(folder: Path, part: DatasetPart) -> bool:
    path = folder / part.name
    try:
        return checksum(path) == part.sha256
    except (FileNotFoundError, IsADirectoryError):
        return False
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read: {reason(error)}") from None


def _adopted(
    paths: list[Path], provenance: dict[str, Any], first_games: dict[str, int]
) -> dict[str, DatasetPart]:
    """Return the parts among `paths` that are whole and made with these settings.

    Raises `DatasetError` for a part made with others: it may be the only one of its kind.
    """
    adopted = {}
    for path in paths:
        try:
            with bounded_parquet(path, TEXTS, PART_ROWS, DatasetError) as (file, schema):
                said = json.loads((schema.metadata or {}).get(PROVENANCE, b"{}"))
                rows, games = _rows_and_games(file, schema)
        except (OSError, ValueError, RecursionError, pa.ArrowException, DatasetError):
            continue
        _compare(path, said if isinstance(said, dict) else {}, provenance)
        first = first_games[path.name]
        if games <= set(range(first, first + provenance["games_a_part"])):
            adopted[path.name] = DatasetPart(path.name, rows, checksum(path))
    return adopted


def _rows_and_games(file: pq.ParquetFile, schema: pa.Schema) -> tuple[int, set[int]]:
    """Read all rows of a part: return their number, and its games, -1 where it has other columns."""
    rows, games = 0, set[int]()
    for batch in file.iter_batches(ROWS_AT_ONCE):
        rows += batch.num_rows
        games.update(batch.column("game").to_pylist() if schema.equals(SCHEMA) else [-1])
    return rows, games
