"""Limits on the size of input files, and functions that read within them.

A file of unknown origin must not exhaust memory or time, whatever it expands to.  A file beyond a limit is
refused, with a message that names the limit, before it is read, unpacked or parsed completely.  Genuine files
stay far below the limits.
"""

import codecs
import gzip
import io
import lzma
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Literal

from motif.runtime.errors import MotifError

_MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Limit:
    """An upper limit on a quantity in a file."""

    most: int
    what: str
    """What is counted, in the plural, such as ``games``."""
    unit: int = 1

    @property
    def size(self) -> int:
        """The limit as a plain number, `most` times `unit`."""
        return self.most * self.unit

    @property
    def refusal(self) -> str:
        """Message for a file beyond the limit."""
        return f"the file holds more than {self.most:,} {self.what}, the limit"

    def check(self, count: int, where: str, error: type[MotifError]) -> None:
        """Raise `error`, whose message begins with `where`, if `count` is beyond the limit."""
        if count > self.size:
            raise error(f"{where}: {self.refusal}")


def _megabytes(most: int, what: str = "MB") -> Limit:
    return Limit(most, what, _MEGABYTE)


MATCH_FILE = _megabytes(32)
MATCH_UNPACKED = _megabytes(64, "MB unpacked")
MATCH_LINES = Limit(500_000, "lines")
MATCH_LINE = Limit(10_000, "characters in a line")
MATCH_GAMES = Limit(1_000, "games")
GAME_MOVES = Limit(1_000, "moves in a game")
"""Rolls, doubles and responses."""
MATCH_MOVES = Limit(50_000, "moves")
SGF_PARTS = Limit(500_000, "nodes, properties and values")
CONVERTED_MOVES = Limit(20_000, "moves")
"""For a file that gammonview converts, which takes more time and memory."""
BGF_VALUES = Limit(3_000_000, "values")
"""In BGBlitz's binary JSON."""

YAML_FILE = _megabytes(32)
YAML_UNPACKED = _megabytes(32, "MB unpacked")
YAML_BREAKS = Limit(500_000, "lines and commas")
YAML_VALUES = Limit(600_000, "values")
"""Lists, mappings, keys and scalars; the largest weight file has 424,000."""

PARAMETER_FILE = _megabytes(1)
BENCHMARK_FILE = _megabytes(128)
BENCHMARK_UNPACKED = _megabytes(128, "MB unpacked")
BENCHMARK_LINES = Limit(1_000_000, "lines")
BENCHMARK_LINE = Limit(100_000, "characters in a line")

BATCH_FILE = _megabytes(64)
BATCH_LINES = Limit(5_000_000, "lines")
TEXT_LINE = Limit(10_000, "characters in a line")
"""In a file of positions or of labels."""

OUTCOMES_FILE = _megabytes(64)
OUTCOMES_UNPACKED = _megabytes(128, "MB unpacked")
OUTCOMES_LINES = Limit(2_000_000, "lines")
"""In a CSV of positions or scores with outcomes."""

JSON_FILE = _megabytes(8)
HISTORY_FILE = _megabytes(8)
HISTORY_LINES = Limit(100_000, "lines")
MAX_HISTORY_COLUMNS = Limit(50, "columns")
EQUITY_TABLE_FILE = _megabytes(1)

PARQUET_FILE = _megabytes(256)
PARQUET_UNPACKED = _megabytes(256, "MB unpacked")
PARQUET_PAGE = _megabytes(64, "MB in a page")
PARQUET_GROUPS = Limit(100_000, "column chunks")
PARQUET_PAGES = Limit(200_000, "pages")
PARQUET_TEXT = Limit(500, "bytes in a text")
PART_ROWS = Limit(1_000_000, "rows")
"""In one file of a dataset."""
TERMS_ROWS = Limit(500_000, "rows")

NET_FILE = _megabytes(64)
NET_NODES = Limit(100_000, "nodes")
NET_NUMBERS = Limit(50_000_000, "numbers in one tensor")

_PIECE = 1 << 20
_XZ_MEMORY = 128 << 20
"""Memory that an .xz file may require, in bytes; xz -9 requires 65 MB."""

Compression = Literal["gzip", "xz", "zlib"]


def read_within(stream: BinaryIO, limit: Limit, where: str, error: type[MotifError]) -> bytes:
    """Return all bytes of `stream`; raises `error` beyond the limit."""
    content = stream.read(limit.size + 1)
    limit.check(len(content), where, error)
    return content


def unpacked(content: bytes, kind: Compression, limit: Limit, where: str, error: type[MotifError]) -> bytes:
    """Return the decompressed `content`; raises `error` if it is damaged or beyond the limit."""
    return b"".join(unpacked_pieces(content, kind, limit, where, error))


def unpacked_pieces(
    content: bytes, kind: Compression, limit: Limit, where: str, error: type[MotifError]
) -> Iterator[bytes]:
    """Like `unpacked`, in pieces of at most 1 MB."""
    size = 0
    try:
        for piece in _PIECES[kind](content):
            size += len(piece)
            limit.check(size, where, error)
            yield piece
    except EOFError:
        raise error(f"{where}: truncated") from None
    except (OSError, lzma.LZMAError, zlib.error) as fault:
        raise error(f"{where}: damaged compressed data: {fault}") from None


def _of_gzip(content: bytes) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
        yield from pieces_of(stream)


def _of_xz(content: bytes) -> Iterator[bytes]:
    decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
    rest = content
    while not decompressor.eof:
        yield decompressor.decompress(rest, _PIECE)
        rest = b""
        if decompressor.needs_input:
            raise EOFError
    if decompressor.unused_data:
        raise lzma.LZMAError("bytes follow its end")


def _of_zlib(content: bytes) -> Iterator[bytes]:
    decompressor = zlib.decompressobj()
    rest = content
    while not decompressor.eof:
        piece = decompressor.decompress(rest, _PIECE)
        rest = decompressor.unconsumed_tail
        if not piece and not rest and not decompressor.eof:
            raise EOFError
        yield piece


_PIECES = {"gzip": _of_gzip, "xz": _of_xz, "zlib": _of_zlib}


def lines_of(
    pieces: Iterable[bytes], limit: Limit, where: str, error: type[MotifError]
) -> Iterator[tuple[int, bytes]]:
    """Yield the line numbers, from 1, and the lines of a file in `pieces`, without their line ends.

    A byte order mark before the first line is dropped.  Raises `error`, which names the line, for a line
    beyond the limit, without reading all of it.
    """
    number, rest, mark = 1, b"", codecs.BOM_UTF8
    for piece in pieces:
        *lines, rest = (rest + piece.removeprefix(mark)).split(b"\n")
        mark = b""
        for line in lines:
            limit.check(len(line), f"{where}: line {number}", error)
            yield number, line
            number += 1
        limit.check(len(rest), f"{where}: line {number}", error)
    if rest:
        yield number, rest


def lines_within(
    content: bytes, is_gzip: bool, limits: tuple[Limit, Limit, Limit], where: str, error: type[MotifError]
) -> Iterator[tuple[int, bytes]]:
    """Return the numbered lines of a text file, perhaps compressed, as `lines_of` does.

    The `limits` are those of its unpacked size, of its number of lines and of a line.  Raises `error` for too
    many lines before any of them is read.
    """
    size, count, length = limits

    def pieces() -> Iterator[bytes]:
        if is_gzip:
            return unpacked_pieces(content, "gzip", size, where, error)
        return pieces_of(io.BytesIO(content))

    # Unpacked twice, so that a file that is too large is refused before it fills the memory.
    count.check(sum(piece.count(b"\n") for piece in pieces()), where, error)
    return lines_of(pieces(), length, where, error)


def pieces_of(stream: BinaryIO | gzip.GzipFile) -> Iterator[bytes]:
    """Yield the bytes of `stream` in pieces of at most 1 MB."""
    while piece := stream.read(_PIECE):
        yield piece
