"""Parquet files, whose sizes are checked before anything is unpacked.

A column of a few bytes can expand to any number of values of any length: by compression, by runs of one
dictionary entry, or by texts that share prefixes.  Sizes in the file's metadata may be wrong, but readers
allocate memory by the sizes in page headers, so these are added up.

Sources: parquet.thrift of github.com/apache/parquet-format; Thrift's compact protocol.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from motif.runtime.errors import MotifError
from motif.runtime.files import check_regular, replacing
from motif.runtime.limits import (
    PARQUET_FILE,
    PARQUET_GROUPS,
    PARQUET_PAGE,
    PARQUET_PAGES,
    PARQUET_TEXT,
    PARQUET_UNPACKED,
    Limit,
)

_ROW_GROUPS, _COLUMNS, _COLUMN_FACTS = 4, 1, 3
"""Field numbers of the footer, of a row group and of a column."""
_TOTAL_UNPACKED, _TOTAL_PACKED, _PAGE_OFFSETS = 6, 7, (9, 11)
"""Field numbers of the facts about a column."""
_AFTER_FOOTER = 8
"""Bytes at the end of a file: the length of the footer, and the name of the format."""
_MAX_FOOTER = 1 << 22
_UNPACKED_SIZE, _PACKED_SIZE, _DATA_PAGE, _DICTIONARY_PAGE, _DATA_PAGE_2 = 2, 3, 5, 7, 8
"""Field numbers of a page's header."""
_ENCODING = {_DATA_PAGE: 2, _DICTIONARY_PAGE: 2, _DATA_PAGE_2: 4}
"""Field number of the encoding in the header of each kind of page."""
_DELTA_BYTE_ARRAY = 7
"""Encoding of texts by shared prefixes, which can expand to any size."""
_MAX_HEADER, _MAX_VALUES = 1 << 16, 100
"""Bytes and values that the header of a page may have; pyarrow writes up to 30 values."""
_STOP, _TRUE, _FALSE, _BYTE, _I64, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 0, 1, 2, 3, 6, 7, 8, 9, 10, 12
"""Types of Thrift's compact protocol; those between `_BYTE` and `_I64` are integers, too."""
_MAX_DEPTH = 8
"""Levels of structures and lists within each other."""


@contextmanager
def bounded_parquet(
    path: Path, texts: Sequence[str], rows: Limit, error: type[MotifError]
) -> Iterator[tuple[pq.ParquetFile, pa.Schema]]:
    """Yield a Parquet file, with its columns `texts` read as dictionaries, and its schema.

    Raises `error` for a file beyond the limits, and pyarrow's exceptions for a damaged one.
    """
    where = str(path)
    check_regular(path, error, PARQUET_FILE)
    # Files are given to pyarrow open, because it refuses names that are not UTF-8.
    with open(path, "rb") as handle, open(path, "rb") as read, pq.ParquetFile(read) as plain:
        schema = plain.schema_arrow
        metadata = plain.metadata
        PARQUET_GROUPS.check(metadata.num_row_groups * metadata.num_columns, where, error)
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        rows.check(max(metadata.num_rows, sum(max(group.num_rows, 0) for group in groups)), where, error)
        chunks = _chunks(handle)
        PARQUET_UNPACKED.check(sum(chunk.unpacked for chunk in chunks), where, error)
        size = pages = 0
        for chunk in chunks:
            for page in _pages(handle, chunk):
                size, pages = size + page, pages + 1
                PARQUET_PAGE.check(page, where, error)
                PARQUET_UNPACKED.check(size, where, error)
                PARQUET_PAGES.check(pages, where, error)
        # pyarrow does not find a column by the name of its group.
        leaves = {plain.schema.column(k).path for k in range(metadata.num_columns)}
    there = [name for name in texts if name in leaves]
    with open(path, "rb") as read, pq.ParquetFile(read, read_dictionary=there) as file:
        yield file, schema


def write_parquet(path: Path, table: pa.Table) -> None:
    """Write a compressed `table` to `path` completely or not at all; raises `FileError`."""
    # Open, because pyarrow refuses names that are not UTF-8.
    with replacing(path) as temporary, open(temporary, "wb") as handle:
        pq.write_table(table, handle, compression="zstd")


def texts_of(column: pa.Array | pa.ChunkedArray, where: str, error: type[MotifError]) -> list[str]:
    """Return the texts of a column of `bounded_parquet`; raises `error` for texts that are too long."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    texts: list[str] = []
    for chunk in chunks:
        if isinstance(chunk.type, pa.DictionaryType):
            PARQUET_TEXT.check(pc.max(pc.binary_length(chunk.dictionary)).as_py() or 0, where, error)
            words = chunk.dictionary.to_pylist()
            texts += [words[index] for index in chunk.indices.to_pylist()]
        else:
            texts += chunk.to_pylist()
    return texts


class _Chunk(NamedTuple):
    """A column of a row group."""

    start: int
    """Place of its first page in the file; 0 without pages."""
    packed: int
    unpacked: int
    """Sizes in bytes."""


def _chunks(handle: BinaryIO) -> list[_Chunk]:
    """Return the columns of all row groups; raises `ValueError` for a bad footer.

    The footer is parsed here, because pyarrow ends the process if a column's statistics are inconsistent.
    """
    end = handle.seek(-_AFTER_FOOTER, os.SEEK_END)
    size = int.from_bytes(handle.read(4), "little")
    if size > min(end, _MAX_FOOTER):
        raise ValueError("the footer is too long")
    handle.seek(end - size)
    groups = _Header(handle.read(size), size).struct().get(_ROW_GROUPS)
    return [_chunk(column) for group in _structs(groups) for column in _structs(group.get(_COLUMNS))]


def _chunk(column: dict[int, Any]) -> _Chunk:
    facts = column.get(_COLUMN_FACTS)
    if not isinstance(facts, dict):
        raise ValueError("a column of the footer is incomplete")
    numbers = [facts.get(number, 0) for number in (*_PAGE_OFFSETS, _TOTAL_PACKED, _TOTAL_UNPACKED)]
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError("a column of the footer has an invalid size")
    *offsets, packed, unpacked = numbers
    return _Chunk(min(filter(None, offsets), default=0), packed, unpacked)


def _structs(value: Any) -> list[dict[int, Any]]:
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise ValueError("the footer is damaged")
    return value


def _pages(handle: BinaryIO, chunk: _Chunk) -> Iterator[int]:
    """Yield the unpacked sizes of the pages of a column in bytes; raises `ValueError` for bad headers."""
    place, end = chunk.start, chunk.start + chunk.packed
    while place < end:
        handle.seek(place)
        header = _Header(handle.read(_MAX_HEADER), _MAX_VALUES)
        fields = header.struct()
        unpacked, packed = fields.get(_UNPACKED_SIZE), fields.get(_PACKED_SIZE)
        if not (isinstance(unpacked, int) and isinstance(packed, int) and unpacked >= 0 and packed >= 0):
            raise ValueError("a page has no size")
        for kind, encoding in _ENCODING.items():
            about = fields.get(kind)
            if isinstance(about, dict) and about.get(encoding) == _DELTA_BYTE_ARRAY:
                raise ValueError("texts are encoded as DELTA_BYTE_ARRAY, which is not accepted")
        yield max(unpacked, packed)
        place += header.at + packed


class _Header:
    """A parser of the Thrift structure at the beginning of some bytes, with at most `most` values."""

    def __init__(self, content: bytes, most: int) -> None:
        self.at = 0
        self._content = content
        self._left = most

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Return the fields of a structure by their numbers."""
        fields: dict[int, Any] = {}
        number = 0
        while (head := self._byte()) != _STOP:
            number = number + (head >> 4) if head >> 4 else self._whole()
            kind = head & 15
            # The type of a field is also the value of a boolean; in a list, the value is a byte.
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        self._left -= 1
        if self._left < 0:
            raise ValueError("a structure has too many values")
        if depth > _MAX_DEPTH:
            raise ValueError("a structure is nested too deeply")
        if kind in (_TRUE, _FALSE):
            return self._byte() == _TRUE
        if kind == _BYTE:
            return self._byte()
        if kind < _DOUBLE:
            return self._whole()
        if kind == _DOUBLE:
            return self._skip(8)
        if kind == _BINARY:
            return self._skip(self._varint())
        if kind in (_LIST, _SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._varint()
            return [self._value(head & 15, depth + 1) for _ in range(count)]
        if kind == _STRUCT:
            return self.struct(depth + 1)
        raise ValueError("a structure is damaged")

    def _byte(self) -> int:
        if self.at >= len(self._content):
            raise ValueError("a structure is truncated")
        self.at += 1
        return self._content[self.at - 1]

    def _skip(self, count: int) -> None:
        self.at += count

    def _varint(self) -> int:
        number = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
        raise ValueError("a structure has a number that is too large")

    def _whole(self) -> int:
        number = self._varint()
        return number >> 1 ^ -(number & 1)
