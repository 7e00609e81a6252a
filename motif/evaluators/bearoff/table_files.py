"""Files of numbers in the cache folder, which are mapped, so that processes share their memory.

A file consists of a 64-byte header (format, number of values, CRC-32 of the rest) and the values.  An invalid
file counts as missing, so that its contents are computed again; a change of the contents needs a new format.
"""

import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt

from motif.runtime.arrays import FloatArray
from motif.runtime.errors import FileError
from motif.runtime.files import replacing

_HEADER = np.dtype([("format", "S48"), ("values", np.int64), ("crc", np.uint64)])


def keep_values(path: Path, kind: bytes, values: FloatArray) -> FloatArray:
    """Write `values` (n,) to the file `path`, atomically, and return them mapped from it, read only.

    The file starts with a header that contains `kind`. If it cannot be written, `values` are returned.
    """
    contents = np.zeros(_HEADER.itemsize + values.nbytes, np.uint8)
    contents[_HEADER.itemsize :].view(np.float64)[:] = values
    header = contents[: _HEADER.itemsize].view(_HEADER)
    header[0] = kind, len(values), 0
    header["crc"] = _checksum(contents)
    with suppress(FileError), replacing(path) as temporary:
        temporary.write_bytes(contents.data)
    mapped = kept_values(path, kind)
    if mapped is None:
        values.setflags(write=False)
        return values
    return mapped


def kept_values(path: Path, kind: bytes) -> FloatArray | None:
    """Return the mapped values that `keep_values` wrote to `path`; None if it is missing or invalid."""
    try:
        contents = np.asarray(np.memmap(path, np.uint8, "r"))
    except (OSError, ValueError):  # unreadable or empty
        return None
    if len(contents) < _HEADER.itemsize:
        return None
    header = contents[: _HEADER.itemsize].view(_HEADER)[0]
    size = _HEADER.itemsize + int(header["values"]) * np.dtype(np.float64).itemsize
    if header["format"] != kind or size != len(contents) or header["crc"] != _checksum(contents):
        return None
    return contents[_HEADER.itemsize :].view(np.float64)


def _checksum(contents: npt.NDArray[np.uint8]) -> int:
    """Return the CRC-32 of everything except the checksum itself, which is at the end of the header."""
    header, rest = contents[: _HEADER.itemsize], contents[_HEADER.itemsize :]
    return zlib.crc32(rest.data, zlib.crc32(header[: -_HEADER["crc"].itemsize].data))
