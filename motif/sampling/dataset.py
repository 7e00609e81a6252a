"""The dataset on disk: Parquet parts, and the manifest that says which of them are whole.

Each part is written to a temporary name, flushed and renamed, and carries the settings that made it.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from motif.board.identifiers import boards_from_gnubg_ids
from motif.board.position import Board
from motif.evaluators.probabilities import OUTPUTS
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.errors import DatasetError, PositionError, shown
from motif.runtime.files import replacing
from motif.sampling.manifest import MANIFEST, Part, checksum, part_name, read_manifest

PROVENANCE = b"motif"
"""Key of a part's metadata under which its settings stand, as JSON."""
ROWS_AT_ONCE = 1 << 16
"""Most positions of a part that are in memory at a time while it is read: about 20 MB."""
_PLAIN_COLUMNS = ("equity", "equity_se", "trials", "game", "ply", "decision", "chosen")
"""Columns of `SCHEMA` that are fields of `Samples` as they are."""

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


@dataclass(frozen=True)
class Samples:
    """Labelled positions in memory."""

    boards: Board
    """(n, 26), seen by the player on roll."""
    probabilities: npt.NDArray[np.float32]
    """(n, 5) means of the rollouts."""
    equity: npt.NDArray[np.float32]
    equity_se: npt.NDArray[np.float32]
    """Standard error of `equity`; NaN for a single trial."""
    trials: npt.NDArray[np.int32]
    game: npt.NDArray[np.integer]
    ply: npt.NDArray[np.int32]
    decision: npt.NDArray[np.int64]
    chosen: npt.NDArray[np.bool_]
    position_class: npt.NDArray[np.int8]
    """Index into `CLASS_NAMES`."""

    def __len__(self) -> int:
        return len(self.boards)

    def rows(self, which: slice | npt.NDArray[np.bool_] | npt.NDArray[np.integer]) -> "Samples":
        """Some of the rows: a slice, those of a mask (n,), or those with the given numbers."""
        return Samples(**{field.name: getattr(self, field.name)[which] for field in fields(self)})


def joined(pieces: Iterable[Samples]) -> Samples:
    """At least one piece, and those that follow, put together."""
    pieces = list(pieces)
    names = [field.name for field in fields(Samples)]
    return Samples(**{name: np.concatenate([getattr(piece, name) for piece in pieces]) for name in names})


def write_part(folder: Path, number: int, columns: dict[str, Any], provenance: dict[str, Any]) -> Part:
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
    return Part(path.name, table.num_rows, checksum(path))


def read_parts(folder: Path) -> Iterator[Samples]:
    """The dataset part by part, large parts in pieces of at most `ROWS_AT_ONCE` positions.

    Raises `DatasetError` naming a part that is missing or damaged.
    """
    for path, part in _parts(folder):
        start = 0
        for batch in _batches(path, part):
            yield _samples(batch, f"{path}: counted from row {start}" if start else str(path))
            start += batch.num_rows


def read_column(folder: Path, name: str) -> npt.NDArray[Any]:
    """One of the columns of numbers, (n,), of the whole dataset; nothing else is read."""
    batches = (batch for path, part in _parts(folder) for batch in _batches(path, part, [name]))
    return np.concatenate([_numbers(batch, name) for batch in batches])


def read_dataset(folder: Path | str) -> Samples:
    """The whole dataset in memory."""
    return joined(read_parts(Path(folder)))


def _parts(folder: Path) -> Iterator[tuple[Path, Part]]:
    _, parts, _ = read_manifest(folder)
    if not any(part.rows for part in parts):
        raise DatasetError(f"{folder}: the dataset is empty")
    for part in parts:
        yield folder / part.name, part


def _batches(path: Path, part: Part, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """The rows of one part, a bounded number at a time; all columns, or those named."""
    try:
        if checksum(path) != part.sha256:
            raise DatasetError(f"{path}: damaged: its checksum is not the one in the {MANIFEST}")
        with pq.ParquetFile(path) as file:
            if not file.schema_arrow.equals(SCHEMA) or file.metadata.num_rows != part.rows:
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


def _numbers(batch: pa.RecordBatch, name: str) -> npt.NDArray[Any]:
    numbers: npt.NDArray[Any] = batch.column(name).to_numpy(zero_copy_only=False)
    return numbers


def _samples(batch: pa.RecordBatch, where: str) -> Samples:
    try:
        boards = boards_from_gnubg_ids(batch.column("position").to_pylist())
    except PositionError as error:
        raise DatasetError(f"{where}: {error}") from None
    classes = batch.column("cls").cast(pa.string()).dictionary_encode("encode")
    names = classes.dictionary.to_pylist()
    if unknown := set(names) - set(CLASS_NAMES):
        raise DatasetError(f"{where}: unknown position class {shown(min(map(str, unknown)))}")
    codes = np.array([CLASS_NAMES.index(name) for name in names], np.int8)
    return Samples(
        boards=boards,
        probabilities=np.stack([_numbers(batch, name) for name in OUTPUTS], axis=1),
        position_class=codes[classes.indices.to_numpy()],
        **{name: _numbers(batch, name) for name in _PLAIN_COLUMNS},
    )
