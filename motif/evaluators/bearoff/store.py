"""The tables in one file, mapped into memory: whole and sound, or not there.

The file is a header of 64 bytes (format, length of the values, a CRC-32 of all the rest), the rows, and
from the next multiple of 64 bytes on the values.  Whatever does not fit is no such file, and the tables
are built again; so a change of what the tables hold needs a new format.
"""

import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from motif.evaluators.bearoff.tables import CHANCES, ROWS, BearoffTables, frozen
from motif.runtime.files import replacing

FILE_NAME = "tables-v1.bin"
_FORMAT = b"motif-bearoff/1"
_HEADER = np.dtype([("format", "S48"), ("values", np.int64), ("crc", np.uint64)])
_ROWS_END = _HEADER.itemsize + (ROWS + 1) * 2 * np.dtype(np.int32).itemsize
_VALUES_START = -(-_ROWS_END // 64) * 64

_Bytes = npt.NDArray[np.uint8]


def save_tables(path: Path, tables: BearoffTables) -> None:
    """Write `tables` to `path`, whole or not at all; raises `FileError`."""
    contents = np.zeros(_VALUES_START + tables.values.nbytes, np.uint8)
    contents[_HEADER.itemsize : _ROWS_END].view(np.int32)[:] = tables.rows.reshape(-1)
    contents[_VALUES_START:].view(np.float64)[:] = tables.values
    header = contents[: _HEADER.itemsize].view(_HEADER)
    header[0] = _FORMAT, len(tables.values), 0
    header["crc"] = _checksum(contents)
    with replacing(path) as temporary:
        temporary.write_bytes(contents.data)


def load_tables(path: Path) -> BearoffTables | None:
    """The tables in the file `path`, mapped; None where there is no such file, or not a sound one."""
    try:
        contents = np.asarray(np.memmap(path, np.uint8, "r"))
    except (OSError, ValueError):  # no file that can be read; an empty one
        return None
    if len(contents) < _VALUES_START + CHANCES * np.dtype(np.float64).itemsize:
        return None
    header = contents[: _HEADER.itemsize].view(_HEADER)[0]
    size = _VALUES_START + int(header["values"]) * np.dtype(np.float64).itemsize
    if header["format"] != _FORMAT or size != len(contents) or header["crc"] != _checksum(contents):
        return None
    rows = contents[_HEADER.itemsize : _ROWS_END].view(np.int32).reshape(ROWS + 1, 2)
    return frozen(rows, contents[_VALUES_START:].view(np.float64))


def _checksum(contents: _Bytes) -> int:
    """CRC-32 of all but the checksum itself, which ends the header."""
    header, rest = contents[: _HEADER.itemsize], contents[_HEADER.itemsize :]
    return zlib.crc32(rest.data, zlib.crc32(header[: -_HEADER["crc"].itemsize].data))
