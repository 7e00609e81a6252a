"""Parquet files whose footers are damaged; a crash of pyarrow would end the process that reads them."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from motif.runtime.errors import DatasetError, FileError
from motif.runtime.limits import PART_ROWS
from motif.runtime.parquet import _Header, bounded_parquet, write_parquet

TABLE = pa.table(
    {"position": ["4HPwATDgc/ABMA", "sGfwATDgc/ABMA", None], "equity": [0.5, None, -1.0], "game": [1, 2, 2]}
)


def read_damaged(path: Path) -> None:
    """Read the file with each byte of its footer changed; print how many were readable and how many not."""
    content = path.read_bytes()
    footer = int.from_bytes(content[-8:-4], "little")
    readable = refused = 0
    for place in range(len(content) - 8 - footer, len(content) - 4):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x7D]) + content[place + 1 :])
        try:
            with bounded_parquet(path, ["position"], PART_ROWS, DatasetError) as (file, _):
                file.read()
            readable += 1
        except (DatasetError, pa.ArrowException, OSError, ValueError, TypeError, OverflowError):
            refused += 1
    print(readable, refused)


def test_no_damage_of_a_footer_ends_the_process(tmp_path):
    path = tmp_path / "part.parquet"
    write_parquet(path, TABLE)
    command = f"from tests.runtime.test_parquet import *; read_damaged(Path({str(path)!r}))"
    ended = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    readable, refused = map(int, ended.stdout.split())
    assert readable > 10
    assert refused > 300


def test_a_footer_of_a_false_length(tmp_path):
    path = tmp_path / "part.parquet"
    write_parquet(path, TABLE)
    content = path.read_bytes()
    for size in (0, 1, len(content), 2**31, 2**32 - 1):
        path.write_bytes(content[:-8] + size.to_bytes(4, "little") + b"PAR1")
        with (
            pytest.raises((pa.ArrowException, OSError, ValueError)),
            bounded_parquet(path, [], PART_ROWS, DatasetError),
        ):
            pass


@pytest.mark.parametrize(
    ("header", "fault"),
    [
        (b"\x19\xf1\x80\x80\x04" + b"\1" * 65536 + b"\0", "too many values"),
        (b"\x19" + b"\x19" * 50 + b"\x15\2\0", "nested too deeply"),
        (b"\x19\xf1\x10\0", "no size"),
    ],
)
def test_a_header_with_lists(header, fault, tmp_path):
    path = tmp_path / "part.parquet"
    write_parquet(path, pa.table({"game": range(100_000)}))
    content = path.read_bytes()
    path.write_bytes(content[:4] + header + content[4 + len(header) :])
    with (
        pytest.raises(ValueError, match=fault),
        bounded_parquet(path, [], PART_ROWS, DatasetError),
    ):
        pass


def test_booleans_in_the_list_of_a_header_are_bytes():
    # A list of three booleans in field 1, and the boolean field 2.
    header = _Header(b"\x19\x31\1\2\1\x12\0rest", 10)
    assert header.struct() == {1: [True, False, True], 2: False}
    assert header.at == 7


def test_a_name_that_is_not_utf_8(tmp_path):
    path = tmp_path / os.fsdecode(b"q\xff.parquet")
    try:
        write_parquet(path, TABLE)
    except FileError:
        pytest.skip("this file system refuses such names")
    with bounded_parquet(path, ["position"], PART_ROWS, DatasetError) as (file, _):
        assert file.read().num_rows == 3
