"""The manifest of a dataset: which parts are whole, and the settings that made them.

It is replaced after each part that is written, so it never names one that is not on disk.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from motif.runtime.errors import DatasetError, shown
from motif.runtime.files import reason, write_text

FORMAT = "motif-dataset/1"
MANIFEST = "manifest.json"

_PART_NAME = re.compile(r"part-\d{5,}\.parquet")
_CHECKSUM = re.compile(r"[0-9a-f]{64}")


class DamagedManifestError(DatasetError):
    """A manifest that cannot be understood, though the parts beside it may be whole."""


@dataclass(frozen=True)
class Part:
    """One whole part, as the manifest names it."""

    name: str
    rows: int
    sha256: str


def part_name(number: int) -> str:
    """File name of the part with that number."""
    return f"part-{number:05d}.parquet"


def checksum(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def write_manifest(folder: Path, settings: dict[str, Any], parts: list[Part], complete: bool) -> None:
    """Write the manifest, whole or not at all; raises `FileError` when it cannot be written."""
    document = {
        "format": FORMAT,
        "complete": complete,
        "positions": sum(part.rows for part in parts),
        "settings": settings,
        "parts": [vars(part) for part in parts],
    }
    write_text(folder / MANIFEST, json.dumps(document, indent=1) + "\n")


def read_manifest(folder: Path) -> tuple[dict[str, Any], list[Part], bool]:
    """Settings, parts and whether the dataset is complete.

    Raises `DatasetError` when there is no manifest, or one of another format, and its subclass
    `DamagedManifestError` when it makes no sense.
    """
    path = folder / MANIFEST
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise DatasetError(f"{folder}: no dataset (there is no {MANIFEST})") from None
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read: {reason(error)}") from None
    except (ValueError, RecursionError) as error:
        raise DamagedManifestError(f"{path}: damaged: no JSON: {error}") from None
    fields = _Fields(path, document)
    if fields.take("format", str) != FORMAT:
        raise DatasetError(f"{path}: format must be {FORMAT!r}, not {shown(document['format'])}")
    settings = fields.take("settings", dict)
    listed = fields.take("parts", list)
    parts = [_part(_Fields(path, entry, f"parts[{k}].")) for k, entry in enumerate(listed)]
    if len({part.name for part in parts}) < len(parts):
        raise fields.damage("parts", "one is listed twice")
    return settings, parts, fields.take("complete", bool)


class _Fields:
    """The values of a JSON object by name, each of the type that it must have."""

    def __init__(self, path: Path, document: Any, prefix: str = "") -> None:
        self._path, self._document, self._prefix = path, document, prefix
        if not isinstance(document, dict):
            raise self.damage("", f"must be an object, not {shown(document)}")

    def take(self, name: str, kind: type) -> Any:
        if name not in self._document:
            raise self.damage(name, "missing")
        value = self._document[name]
        # Not isinstance, for which True is a number.
        if type(value) is not kind:
            raise self.damage(name, f"must be of type {kind.__name__}, not {shown(value)}")
        return value

    def damage(self, name: str, problem: str) -> DamagedManifestError:
        where = f"{self._prefix}{name}".rstrip(".")
        return DamagedManifestError(f"{self._path}: damaged: {where or 'the document'}: {problem}")


def _part(fields: _Fields) -> Part:
    name, rows, sha256 = fields.take("name", str), fields.take("rows", int), fields.take("sha256", str)
    if not _PART_NAME.fullmatch(name):
        raise fields.damage("name", f"{shown(name)} is not the name of a part")
    if rows < 0:
        raise fields.damage("rows", f"must be at least 0, not {shown(rows)}")
    if not _CHECKSUM.fullmatch(sha256):
        raise fields.damage("sha256", f"{shown(sha256)} is no checksum")
    return Part(name, rows, sha256)


def read_manifest_positions(folder: Path) -> int:
    """Number of positions in a dataset."""
    return sum(part.rows for part in read_manifest(folder)[1])


def dataset_fingerprint(folder: Path) -> str:
    """Identifies the content of a dataset: a hash over its parts' checksums."""
    _, parts, _ = read_manifest(folder)
    return "sha256:" + hashlib.sha256("".join(part.sha256 for part in parts).encode()).hexdigest()
