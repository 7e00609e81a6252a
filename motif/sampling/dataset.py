"""The dataset on disk: Parquet parts and a manifest.

Each part is written to a temporary name, flushed and renamed; the manifest names the parts that are
whole, with their rows and checksums, and the settings that made them.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
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
from motif.runtime.errors import DatasetError, PositionError
from motif.runtime.files import replacing, write_text

FORMAT = "motif-dataset/1"
MANIFEST = "manifest.json"

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
class Part:
    """One whole part, as the manifest names it."""

    name: str
    rows: int
    sha256: str


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
    game: npt.NDArray[np.int32]
    ply: npt.NDArray[np.int32]
    decision: npt.NDArray[np.int64]
    chosen: npt.NDArray[np.bool_]
    position_class: npt.NDArray[np.int8]
    """Index into `CLASS_NAMES`."""

    def __len__(self) -> int:
        return len(self.boards)


def part_name(number: int) -> str:
    """File name of the part with that number."""
    return f"part-{number:05d}.parquet"


def write_part(folder: Path, number: int, columns: dict[str, Any], provenance: dict[str, Any]) -> Part:
    """Write one part whole or not at all; `columns` are arrays by the names of `SCHEMA`."""
    codes = pa.array(columns["cls"], pa.int8())
    arrays = dict(columns, cls=pa.DictionaryArray.from_arrays(codes, pa.array(CLASS_NAMES)))
    schema = SCHEMA.with_metadata({"motif": json.dumps(provenance, sort_keys=True)})
    table = pa.table([arrays[name] for name in SCHEMA.names], schema=schema)
    path = folder / part_name(number)
    try:
        with replacing(path) as temporary:
            pq.write_table(table, temporary, compression="zstd")
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{path}: cannot be written: {error}") from None
    return Part(path.name, table.num_rows, checksum(path))


def checksum(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def write_manifest(folder: Path, settings: dict[str, Any], parts: list[Part], complete: bool) -> None:
    """Write the manifest, whole or not at all."""
    document = {
        "format": FORMAT,
        "complete": complete,
        "positions": sum(part.rows for part in parts),
        "settings": settings,
        "parts": [vars(part) for part in parts],
    }
    try:
        write_text(folder / MANIFEST, json.dumps(document, indent=1) + "\n")
    except OSError as error:
        raise DatasetError(f"{folder / MANIFEST}: cannot be written: {error}") from None


def read_manifest(folder: Path) -> tuple[dict[str, Any], list[Part], bool]:
    """Settings, parts and whether the dataset is complete; raises `DatasetError` when there is none."""
    path = folder / MANIFEST
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DatasetError(f"{folder}: no dataset (there is no {MANIFEST})") from None
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path}: cannot be read: {error}") from None
    try:
        if document["format"] != FORMAT:
            raise DatasetError(f"{path}: format must be {FORMAT!r}, not {document['format']!r}")
        parts = [Part(str(p["name"]), int(p["rows"]), str(p["sha256"])) for p in document["parts"]]
        return dict(document["settings"]), parts, bool(document["complete"])
    except (KeyError, TypeError, ValueError) as error:
        raise DatasetError(f"{path}: damaged: {type(error).__name__} {error}") from None


def read_manifest_positions(folder: Path) -> int:
    """Number of positions in a dataset."""
    return sum(part.rows for part in read_manifest(folder)[1])


def dataset_fingerprint(folder: Path) -> str:
    """Identifies the content of a dataset: a hash over its parts' checksums."""
    _, parts, _ = read_manifest(folder)
    return "sha256:" + hashlib.sha256("".join(part.sha256 for part in parts).encode()).hexdigest()


def read_parts(folder: Path) -> Iterator[Samples]:
    """The dataset part by part; raises `DatasetError` naming a part that is missing or damaged."""
    _, parts, _ = read_manifest(folder)
    if not any(part.rows for part in parts):
        raise DatasetError(f"{folder}: the dataset is empty")
    for part in parts:
        yield _read_part(folder / part.name, part)


def read_dataset(folder: Path | str) -> Samples:
    """The whole dataset in memory."""
    parts = list(read_parts(Path(folder)))
    fields = Samples.__dataclass_fields__
    return Samples(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in fields})


def _read_part(path: Path, part: Part) -> Samples:
    try:
        if checksum(path) != part.sha256:
            raise DatasetError(f"{path}: damaged: its checksum is not the one in the {MANIFEST}")
        table = pq.read_table(path)
    except FileNotFoundError:
        raise DatasetError(f"{path}: missing, although the manifest names it") from None
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{path}: damaged: {' '.join(str(error).split())}") from None
    if table.schema.names != SCHEMA.names or table.num_rows != part.rows:
        raise DatasetError(f"{path}: damaged: it does not hold {part.rows} rows of the columns it should")
    try:
        boards = boards_from_gnubg_ids(table["position"].to_pylist())
    except PositionError as error:
        raise DatasetError(f"{path}: {error}") from None

    def column(name: str) -> npt.NDArray[Any]:
        return table[name].to_numpy()

    classes = table["cls"].cast(pa.string()).to_pylist()
    codes = {name: code for code, name in enumerate(CLASS_NAMES)}
    if unknown := set(classes) - codes.keys():
        raise DatasetError(f"{path}: unknown position class {min(map(str, unknown))!r}")
    return Samples(
        boards,
        np.stack([column(name) for name in OUTPUTS], axis=1),
        column("equity"),
        column("equity_se"),
        column("trials"),
        column("game"),
        column("ply"),
        column("decision"),
        column("chosen"),
        np.array([codes[name] for name in classes], np.int8),
    )
