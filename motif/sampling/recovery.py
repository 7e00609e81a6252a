"""What an earlier run has left in a dataset's folder, and which of its parts a resumed one keeps.

A part is kept when its bytes are those that the manifest names.  Without a manifest that can be
understood, parts speak for themselves: each carries the settings that made it, and is kept when it
can be read to its end and holds games that belong into it.  That finds a part that is torn, empty or
in another's place; a single byte that has changed within it may go unseen, which only checksums find.
"""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from motif.runtime.errors import DatasetError, shown
from motif.runtime.files import contents, reason
from motif.sampling.dataset import PROVENANCE, SCHEMA
from motif.sampling.manifest import MANIFEST, DamagedManifestError, Part, checksum, part_name, read_manifest

_LONGEST_SAID = 100


def kept_parts(folder: Path, provenance: dict[str, Any], resume: bool) -> dict[str, Part]:
    """The whole parts of an earlier run with the same settings, by name.

    Raises `DatasetError` when `folder` holds a dataset and `resume` is not set, when that was made
    with other settings, and when the folder holds something else.
    """
    found = contents(folder)
    if not found:
        return {}
    games = range(0, provenance["games"], provenance["games_a_part"])
    first_games = {part_name(number): first for number, first in enumerate(games)}
    try:
        settings, parts, _ = read_manifest(folder)
    except DatasetError as error:
        paths = [path for path in found if path.name in first_games]
        lost = bool(paths) and not (folder / MANIFEST).exists()
        if resume and (lost or isinstance(error, DamagedManifestError)):
            return _adopted(paths, provenance, first_games)
        raise
    if not resume:
        raise DatasetError(f"{folder}: holds a dataset already; --resume continues it")
    _compare(folder, settings, provenance)
    return {part.name: part for part in parts if part.name in first_games and _is_whole(folder, part)}


def _compare(where: Path, settings: dict[str, Any], provenance: dict[str, Any]) -> None:
    for key, value in provenance.items():
        if settings.get(key) != value:
            raise DatasetError(
                f"{where}: was made with {key} = {_said(settings.get(key))}, not {value!r}: cannot be resumed"
            )


def _said(value: Any) -> str:
    """`value` in full where it is one that a run writes: a fingerprint is longer than `shown` lets be."""
    return repr(value) if isinstance(value, str) and len(value) <= _LONGEST_SAID else shown(value)


def _is_whole(folder: Path, part: Part) -> bool:
    path = folder / part.name
    try:
        return checksum(path) == part.sha256
    except (FileNotFoundError, IsADirectoryError):
        return False
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read: {reason(error)}") from None


def _adopted(paths: list[Path], provenance: dict[str, Any], first_games: dict[str, int]) -> dict[str, Part]:
    """Those of `paths` that are whole parts made with these settings.

    Raises `DatasetError` for a part made with others: it may be the only one of its kind.
    """
    adopted = {}
    for path in paths:
        try:
            table = pq.read_table(path)
            said = json.loads((table.schema.metadata or {}).get(PROVENANCE, b"{}"))
        except (OSError, ValueError, pa.ArrowException):
            continue
        _compare(path, said if isinstance(said, dict) else {}, provenance)
        first = first_games[path.name]
        games = set(table["game"].to_pylist()) if table.schema.equals(SCHEMA) else {-1}
        if games <= set(range(first, first + provenance["games_a_part"])):
            adopted[path.name] = Part(path.name, table.num_rows, checksum(path))
    return adopted
