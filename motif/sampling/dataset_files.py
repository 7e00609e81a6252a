"""Datasets on disk: Parquet parts, and a manifest that lists the complete parts.

Each part is written under a temporary name, flushed and renamed, and contains the settings with which it
was made.  The manifest is replaced after each part, so it never lists a part that is not on disk.

A resumed run keeps a part if its checksum and its number of rows are those in the manifest.  Without a valid
manifest, a part is kept if its settings match, it can be read completely, and it contains the right games.
This check detects parts that are damaged, empty or misplaced; only checksums detect a single changed byte.
"""

import hashlib
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from motif.evaluators.known_players import without_plies
from motif.evaluators.probabilities import OUTPUTS
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.documents import Entry
from motif.runtime.errors import DatasetError, IncompleteDatasetWarning, plain_text, shown
from motif.runtime.files import check_regular, content_of, contents, parsed_json, reason, write_text
from motif.runtime.limits import JSON_FILE, PARQUET_FILE, PART_ROWS
from motif.runtime.parquet import bounded_parquet, write_parquet
from motif.sampling.origin import IS_WHOLE, LABEL_SETTINGS, OF_DATASETS, Origin

FORMAT = "motif-dataset/1"
MANIFEST = "_manifest.json"
"""Name of the manifest; Parquet readers ignore files whose names begin with _."""
_PLAIN_MANIFEST = "manifest.json"
"""Another name of the manifest, which is read too."""
_PART_NAME = re.compile(r"part-\d{5,}\.parquet", re.ASCII)
_CHECKSUM = re.compile(r"[0-9a-f]{64}")
_GAME = re.compile(r"[0-9a-f]{16}")
ROLLOUTS = "rollout"
"""Value of the setting `label` for labels from rollouts."""
PROVENANCE = b"motif"
"""Key in a part's metadata for its settings in JSON."""
ROWS_AT_ONCE = 1 << 16
"""Maximum number of positions of a part in memory while the part is read (about 20 MB)."""
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
"""Columns of `SCHEMA` that contain text of any length."""
_HASHES = {"player": "player_fingerprint", "label": "label_fingerprint"}
"""Names of players, which may be paths from any working folder, and what identifies the players."""
_MAX_SAID = 100
"""Maximum length of a text that a message quotes in full."""
_Value = TypeVar("_Value")
_Kept: TypeAlias = "tuple[dict[str, DatasetPart], Mapping[str, object]]"


class DamagedManifestError(DatasetError):
    """Raised for a manifest that cannot be read; the parts may still be complete."""


@dataclass(frozen=True)
class DatasetPart:
    """A complete part, as listed in the manifest."""

    name: str
    rows: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The manifest of a dataset."""

    settings: dict[str, object]
    """The settings with which the dataset was made."""
    parts: list[DatasetPart]
    complete: bool
    """Whether sampling has finished."""
    recorded_games: tuple[str, ...] = ()
    """Hash of the plays of each recorded game, by its number; empty for other games."""

    @property
    def positions(self) -> int:
        """Number of positions in the dataset."""
        return sum(part.rows for part in self.parts)

    @property
    def fingerprint(self) -> str:
        """Hash of the parts' checksums, which identifies the content of the dataset."""
        return "sha256:" + hashlib.sha256("".join(part.sha256 for part in self.parts).encode()).hexdigest()

    @property
    def games_key(self) -> str:
        """Key that datasets of the same games share, whatever was recorded of them and how often.

        The games are those of one player and seed, or the same recorded games.  A dataset without a record of
        its games shares its key only with copies of itself, and with what was read from it in Python.
        """
        settings = self.settings
        if isinstance(key := settings.get("games_key"), str):
            return key
        if "recorded" in settings:
            return json.dumps(settings["recorded"])
        if "seed" in settings:
            player = settings.get("player_fingerprint") or settings.get("player")
            return json.dumps([player, settings["seed"]])
        return self.fingerprint

    @property
    def origin(self) -> Origin:
        """The origin of a dataset in memory that is read from this one."""
        labels = {name: self.settings[name] for name in LABEL_SETTINGS if name in self.settings}
        if "player" in self.settings:
            labels = {"label": ROLLOUTS} | labels  # which datasets of early versions do not name
        datasets = self.settings.get(OF_DATASETS)
        read = [one for one in datasets if isinstance(one, str)] if isinstance(datasets, list) else []
        return Origin(
            self.games_key,
            self.recorded_games,
            labels,
            tuple(read) or (self.fingerprint,),
            self.settings.get(IS_WHOLE, True) is True,
        )

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """Fingerprints of the datasets that have exactly these positions."""
        return self.origin.datasets if self.origin.is_whole else (self.fingerprint,)


def part_name(number: int) -> str:
    """Return the file name of the part with this `number`."""
    return f"part-{number:05d}.parquet"


def checksum(path: Path) -> str:
    """Return the SHA-256 of a part, in hexadecimal; raises `DatasetError` as `check_regular` does."""
    check_regular(path, DatasetError, PARQUET_FILE)
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def write_manifest(
    folder: Path,
    settings: Mapping[str, object],
    parts: list[DatasetPart],
    complete: bool,
    recorded_games: Sequence[str] = (),
) -> None:
    """Write the manifest atomically; raise `FileError` if this fails."""
    document = {
        "format": FORMAT,
        "complete": complete,
        "positions": sum(part.rows for part in parts),
        "settings": dict(settings),
        "parts": [vars(part) for part in parts],
        **({"recorded_games": list(recorded_games)} if recorded_games else {}),
    }
    write_text(folder / MANIFEST, json.dumps(document, indent=1) + "\n")
    (folder / _PLAIN_MANIFEST).unlink(missing_ok=True)


def manifest_of(folder: Path) -> Path:
    """Return the path of a dataset's manifest, by either name."""
    plain = folder / _PLAIN_MANIFEST
    return plain if plain.exists() and not (folder / MANIFEST).exists() else folder / MANIFEST


def is_dataset(folder: Path) -> bool:
    """Return whether there is a manifest in `folder`."""
    return manifest_of(folder).exists()


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of the dataset in `folder`.

    Raises `DatasetError` if there is no manifest or it has another format, and its subclass
    `DamagedManifestError` if the manifest is invalid.
    """
    path = manifest_of(folder)
    if not path.exists():
        raise DatasetError(f"{folder}: not a dataset (there is no {MANIFEST})")
    content = content_of(path, DatasetError, JSON_FILE)
    try:
        document = parsed_json(content)
    except (ValueError, RecursionError) as error:
        raise DamagedManifestError(f"{path}: damaged: not JSON: {error}") from None
    manifest = Entry(document, f"{path}: damaged", DamagedManifestError, "the document")
    manifest.mapping(wanted="an object")
    if (found := _of(manifest["format"], str)) != FORMAT:
        raise DatasetError(f"{path}: format must be {FORMAT!r}, not {shown(found)}")
    settings = _of(manifest["settings"], dict)
    parts = [_part(entry) for entry in manifest["parts"].entries(wanted="of type list")]
    if len({part.name for part in parts}) < len(parts):
        manifest["parts"].fail("a part is listed twice")
    games = manifest.get("recorded_games", []).entries(wanted="of type list")
    return Manifest(settings, parts, _of(manifest["complete"], bool), tuple(map(_game, games)))


def _of(entry: Entry, kind: type[_Value]) -> _Value:
    return entry.of(kind, wanted=f"of type {kind.__name__}")


def _game(entry: Entry) -> str:
    value = _of(entry, str)
    if not _GAME.fullmatch(value):
        entry.fail(f"{shown(value)} is not the hash of a game")
    return value


def _part(entry: Entry) -> DatasetPart:
    entry.mapping(wanted="an object")
    name, rows, sha256 = entry["name"], entry["rows"], entry["sha256"]
    part = DatasetPart(_of(name, str), _of(rows, int), _of(sha256, str))
    if not _PART_NAME.fullmatch(part.name):
        name.fail(f"{shown(part.name)} is not the name of a part")
    if not 0 <= part.rows <= PART_ROWS.size:
        rows.fail(f"must be 0 to {PART_ROWS.size}, not {shown(part.rows)}")
    if not _CHECKSUM.fullmatch(part.sha256):
        sha256.fail(f"{shown(part.sha256)} is not a checksum")
    return part


def _warn_if_incomplete(folder: Path, manifest: Manifest) -> None:
    """Warn if sampling has not finished; without the number of parts in the settings, it is assumed."""
    games, together = manifest.settings.get("games"), manifest.settings.get("games_a_part")
    if manifest.complete or not (isinstance(games, int) and isinstance(together, int) and together > 0):
        return
    if len(manifest.parts) < (wanted := -(-games // together)):
        warnings.warn(
            f"{plain_text(str(folder))} has {len(manifest.parts)} of {wanted} parts because the sample was "
            "interrupted; `motif sample ... --resume` completes it",
            IncompleteDatasetWarning,
            stacklevel=2,
        )


def write_part(
    folder: Path, number: int, columns: Mapping[str, object], provenance: Mapping[str, object]
) -> DatasetPart:
    """Write one part atomically; `columns` are arrays by their names in `SCHEMA`.

    Raises `FileError` if the part cannot be written.
    """
    codes = pa.array(columns["cls"], pa.int8())
    arrays = {**columns, "cls": pa.DictionaryArray.from_arrays(codes, pa.array(CLASS_NAMES))}
    schema = SCHEMA.with_metadata({PROVENANCE: json.dumps(dict(provenance), sort_keys=True)})
    table = pa.table([arrays[name] for name in SCHEMA.names], schema=schema)
    path = folder / part_name(number)
    write_parquet(path, table)
    return DatasetPart(path.name, table.num_rows, checksum(path))


def read_column(folder: Path, name: str) -> npt.NDArray[np.generic]:
    """Return one numeric column (n,) of the whole dataset without reading other columns."""
    batches = (batch for path, part in whole_parts(folder) for batch in batches_of(path, part, [name]))
    return np.concatenate([numbers_of(batch, name) for batch in batches])


def whole_parts(folder: Path) -> Iterator[tuple[Path, DatasetPart]]:
    """Yield the path and the manifest entry of each part.

    Raises `DatasetError` if there are no rows, and warns if sampling has not finished.
    """
    manifest = read_manifest(folder)
    if not manifest.positions:
        raise DatasetError(f"{folder}: the dataset is empty")
    _warn_if_incomplete(folder, manifest)
    for part in manifest.parts:
        yield folder / part.name, part


def batches_of(path: Path, part: DatasetPart, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one part in batches, with all columns or only the named `columns`."""
    try:
        if checksum(path) != part.sha256:
            raise DatasetError(f"{path}: damaged: its checksum differs from {MANIFEST}")
        with bounded_parquet(path, TEXTS, PART_ROWS, DatasetError) as (file, schema):
            if not schema.equals(SCHEMA) or file.metadata.num_rows != part.rows:
                raise DatasetError(
                    f"{path}: damaged: it does not contain {part.rows} rows of the expected columns"
                )
            rows = 0
            for batch in file.iter_batches(ROWS_AT_ONCE, columns=columns):
                # Examples are text that is not UTF-8, and offsets beyond the end.
                batch.validate(full=True)
                if any(column.null_count for column in batch.columns):
                    raise DatasetError(f"{path}: damaged: a value is missing")
                rows += batch.num_rows
                yield batch
            # In a damaged file, the number in the metadata may differ from the sum of the row groups.
            if rows != part.rows:
                raise DatasetError(f"{path}: damaged: it contains {rows} rows, not {part.rows}")
    except FileNotFoundError:
        raise DatasetError(f"{path}: missing, although the manifest lists it") from None
    except (OSError, ValueError, pa.ArrowException) as error:
        raise DatasetError(f"{path}: damaged: {' '.join(str(error).split())}") from None


def numbers_of(batch: pa.RecordBatch, name: str) -> npt.NDArray[np.generic]:
    """Return a column of numbers, (n,)."""
    return np.asarray(batch.column(name).to_numpy(zero_copy_only=False))


def kept_parts(folder: Path, provenance: Mapping[str, object], firsts: range, resume: bool) -> _Kept:
    """Return the complete parts of an earlier run with the same settings, keyed by name, and its settings.

    `firsts` are the first games of all parts.  The settings are `provenance`, with the earlier run's names
    of the same players.

    Raises `DatasetError` if `folder` contains a dataset and `resume` is not set, if the dataset was made
    with other settings, or if the folder contains other files.
    """
    files = contents(folder)
    if not files:
        return {}, provenance
    games = {part_name(number): range(first, first + firsts.step) for number, first in enumerate(firsts)}
    try:
        manifest = read_manifest(folder)
    except DatasetError as error:
        paths = [path for path in files if path.name in games]
        lost = bool(paths) and not is_dataset(folder)
        if resume and (lost or isinstance(error, DamagedManifestError)):
            return _adopted(paths, provenance, games)
        if is_dataset(folder):
            raise
        raise DatasetError(
            f"{folder}: not a dataset: the folder is not empty and has no {MANIFEST}"
        ) from None
    if not resume:
        raise DatasetError(f"{folder}: already contains a dataset; {{resume}} continues it", "resume")
    provenance = _compared(folder, manifest.settings, provenance)
    parts = (part for part in manifest.parts if part.name in games and _is_whole(folder, part))
    return {part.name: part for part in parts}, provenance


def _compared(
    where: Path, settings: Mapping[str, object], provenance: Mapping[str, object]
) -> Mapping[str, object]:
    """Return `provenance` with the names in `settings` of the same players.

    Raises `DatasetError` if another setting differs.
    """
    same = {
        name: settings[name]
        for name, hashed in _HASHES.items()
        if provenance.get(hashed)
        and provenance[hashed] == settings.get(hashed)
        and _plies(provenance[name]) == _plies(settings.get(name))
    }
    provenance = {**provenance, **same}
    for key in {**provenance, **settings}:
        before, value = settings.get(key), provenance.get(key)
        if before != value:
            raise DatasetError(
                f"{where}: cannot be resumed: made with {key} = {_said(before)}, not {value!r}"
            )
    return provenance


def _plies(player: object) -> str:
    """Return the lookahead in the name of a player, such as @2, which the hash of a labeller lacks."""
    return str(player).removeprefix(without_plies(str(player)))


def _said(value: object) -> str:
    """Return `value` as text, shortened only if it is longer than a fingerprint."""
    return repr(value) if isinstance(value, str) and len(value) <= _MAX_SAID else shown(value)


def _is_whole(folder: Path, part: DatasetPart) -> bool:
    path = folder / part.name
    try:
        if checksum(path) != part.sha256:
            return False
        with bounded_parquet(path, TEXTS, PART_ROWS, DatasetError) as (file, _):
            return bool(file.metadata.num_rows == part.rows)
    except (FileNotFoundError, DatasetError, ValueError, pa.ArrowException):
        return False
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read: {reason(error)}") from None


def _adopted(paths: list[Path], provenance: Mapping[str, object], games: Mapping[str, range]) -> _Kept:
    """Return the parts among `paths` that are complete and were made with these settings, and the settings.

    Raises `DatasetError` for a part made with other settings, because it may be the only copy.
    """
    adopted = {}
    for path in paths:
        try:
            with bounded_parquet(path, TEXTS, PART_ROWS, DatasetError) as (file, schema):
                said = json.loads((schema.metadata or {}).get(PROVENANCE, b"{}"))
                rows, found = _rows_and_games(file, schema)
        except (OSError, ValueError, RecursionError, pa.ArrowException, DatasetError):
            continue
        provenance = _compared(path, said if isinstance(said, dict) else {}, provenance)
        if found <= set(games[path.name]):
            adopted[path.name] = DatasetPart(path.name, rows, checksum(path))
    return adopted, provenance


def _rows_and_games(file: pq.ParquetFile, schema: pa.Schema) -> tuple[int, set[int]]:
    """Read a part completely; return its number of rows (-1 if its columns differ) and its games."""
    rows, games = 0, set[int]()
    for batch in file.iter_batches(ROWS_AT_ONCE):
        rows += batch.num_rows
        games.update(batch.column("game").to_pylist() if schema.equals(SCHEMA) else [-1])
    return rows, games
