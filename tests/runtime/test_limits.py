"""Reading within limits: what is unpacked, cut into lines and taken from pipes and devices."""

import bz2
import gzip
import lzma
import os
import threading
import zlib
from io import BytesIO
from pathlib import Path

import pytest

from motif.runtime.errors import FileError
from motif.runtime.files import content_of, json_of, text_of
from motif.runtime.limits import (
    Limit,
    lines_of,
    lines_within,
    pieces_of,
    read_within,
    unpacked,
    unpacked_pieces,
)

SMALL = Limit(1, "KB", 1000)
MANY = Limit(50, "MB unpacked", 1 << 20)
PACK = {"gzip": gzip.compress, "xz": lzma.compress, "zlib": zlib.compress}


def refusal(function, *given) -> str:
    with pytest.raises(FileError) as caught:
        function(*given)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("kind", PACK)
@pytest.mark.parametrize("size", [0, 1, 1000, 3_000_000])
def test_what_is_packed_is_unpacked(kind, size):
    content = os.urandom(size // 2) + bytes(size - size // 2)
    assert unpacked(PACK[kind](content), kind, MANY, "some", FileError) == content


def test_files_of_several_members():
    content = gzip.compress(b"a" * 10) + gzip.compress(b"b") + bytes(20)
    assert unpacked(content, "gzip", MANY, "some", FileError) == b"a" * 10 + b"b"


@pytest.mark.parametrize("kind", PACK)
def test_the_limit_is_met_exactly(kind):
    assert len(unpacked(PACK[kind](bytes(1000)), kind, SMALL, "some", FileError)) == 1000
    said = refusal(unpacked, PACK[kind](bytes(1001)), kind, SMALL, "some", FileError)
    assert said == "some: the file holds more than 1 KB, the limit"


@pytest.mark.parametrize("kind", PACK)
def test_no_more_than_the_limit_is_unpacked(kind):
    content = PACK[kind](bytes(80 << 20))
    pieces = unpacked_pieces(content, kind, MANY, "some", FileError)
    sizes = []
    with pytest.raises(FileError):
        sizes.extend(len(piece) for piece in pieces)
    assert max(sizes) <= 1 << 20
    assert sum(sizes) <= 50 << 20


@pytest.mark.parametrize("kind", PACK)
def test_damaged_compression(kind):
    whole = PACK[kind](os.urandom(5000))
    for cut in (0, 1, 5, 20, len(whole) // 2, len(whole) - 1):
        if cut or kind != "gzip":
            said = refusal(unpacked, whole[:cut], kind, MANY, "some", FileError)
            assert said.startswith(("some: truncated", "some: damaged compressed data"))
    for other in (b"no compression at all", bz2.compress(b"a"), whole[:30] + bytes(30) + whole[60:]):
        assert refusal(unpacked, other, kind, MANY, "some", FileError).startswith("some: ")


def test_lines():
    def lines(content: bytes) -> list[tuple[int, bytes]]:
        return list(lines_of(pieces_of(BytesIO(content)), Limit(3, "characters"), "some", FileError))

    assert lines(b"") == []
    assert lines(b"a") == lines(b"a\n") == [(1, b"a")]
    assert lines(b"\xef\xbb\xbfa\n\xef\xbb\xbf\n") == [(1, b"a"), (2, b"\xef\xbb\xbf")]
    assert lines(b"\n\nabc\nd") == [(1, b""), (2, b""), (3, b"abc"), (4, b"d")]
    for content in (b"a\nbcde\n", b"a\nbcde", b"a\n" + bytes(5 << 20)):
        assert refusal(lines, content) == "some: line 2: the file holds more than 3 characters, the limit"


def test_lines_over_the_ends_of_pieces():
    pieces = [b"a", b"b\n", b"", b"\nc", b"d", b"\n"]
    assert list(lines_of(pieces, SMALL, "some", FileError)) == [(1, b"ab"), (2, b""), (3, b"cd")]


@pytest.mark.parametrize("is_gzip", [False, True])
def test_lines_of_a_file_that_may_be_compressed(is_gzip):
    def lines(content: bytes) -> list[tuple[int, bytes]]:
        limits = Limit(12, "bytes unpacked"), Limit(3, "lines"), Limit(4, "characters")
        packed = gzip.compress(content) if is_gzip else content
        return list(lines_within(packed, is_gzip, limits, "some", FileError))

    assert lines(b"a\n\nbcde\n") == [(1, b"a"), (2, b""), (3, b"bcde")]
    assert refusal(lines, b"a\n\n\n\n") == "some: the file holds more than 3 lines, the limit"
    assert refusal(lines, b"a\nbcdef") == "some: line 2: the file holds more than 4 characters, the limit"
    if is_gzip:
        assert refusal(lines, b"a\n" * 7) == "some: the file holds more than 12 bytes unpacked, the limit"


def test_sizes_of_files(tmp_path):
    path = tmp_path / "some"
    path.write_bytes(bytes(1000))
    assert content_of(path, FileError, SMALL) == bytes(1000)
    path.write_bytes(bytes(1001))
    assert refusal(content_of, path, FileError, SMALL) == (
        f"{path}: the file holds more than 1 KB, the limit"
    )
    # It has a size but no data: reading ten gigabytes of zeros would take too long.
    os.truncate(path, 10 << 30)
    assert "more than 1 KB" in refusal(content_of, path, FileError, SMALL)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero")
def test_a_device_without_an_end():
    assert "more than 50 MB" in refusal(content_of, Path("/dev/zero"), FileError, MANY)
    with open("/dev/zero", "rb") as stream:
        assert "more than 1 KB" in refusal(read_within, stream, SMALL, "some", FileError)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_without_an_end(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)

    def write() -> None:
        try:
            with open(path, "wb", buffering=0) as pipe:
                while True:
                    pipe.write(b"a\n" * 1000)
        except BrokenPipeError:
            pass

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    assert "more than 1 KB" in refusal(content_of, path, FileError, SMALL)
    writer.join(60)
    assert not writer.is_alive()


def test_pipes_that_end_are_read(tmp_path):
    reader, writer = os.pipe()
    os.write(writer, b"some text")
    os.close(writer)
    assert content_of(Path(f"/dev/fd/{reader}"), FileError, SMALL) == b"some text"
    os.close(reader)


def test_texts_and_documents(tmp_path):
    path = tmp_path / "some"
    path.write_bytes(b'{"a": [1]}')
    assert text_of(path, FileError, SMALL) == '{"a": [1]}'
    assert json_of(path, FileError) == {"a": [1]}
    path.write_bytes(b"\xff")
    assert refusal(text_of, path, FileError, SMALL).startswith(f"{path}: cannot be read: ")
    for content in (
        b"{",
        b"\xff",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b"1" * 5000,
    ):
        path.write_bytes(content)
        assert refusal(json_of, path, FileError).startswith(f"{path}: cannot be read: ")
    path.write_text('{"a": 1, "a": 2}')
    assert refusal(json_of, path, FileError) == f"{path}: cannot be read: duplicate key 'a'"
    assert (
        refusal(json_of, tmp_path / "none", FileError, "no such thing")
        == f"{tmp_path / 'none'}: no such thing"
    )
