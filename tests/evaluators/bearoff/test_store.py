"""The file of the tables: valid, or rebuilt after any damage."""

import subprocess
import sys

import numpy as np
import pytest

from motif.evaluators.bearoff import tables as loading
from motif.evaluators.bearoff.table_files import keep_values
from motif.evaluators.bearoff.tables import (
    TABLES_FILE,
    TABLES_FORMAT,
    bearoff_tables,
    file_numbers,
    load_or_build,
    load_tables,
)

WRITES = 5


@pytest.fixture(scope="module")
def tables():
    return bearoff_tables()


@pytest.fixture(scope="module")
def sound(tables, tmp_path_factory):
    """The bytes of a valid file."""
    path = tmp_path_factory.mktemp("sound") / TABLES_FILE
    save_tables(path, tables)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "bearoff" / TABLES_FILE


def save_tables(path, tables) -> None:
    numbers = file_numbers(tables)
    assert keep_values(path, TABLES_FORMAT, numbers) is not numbers


def same(tables, others) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(tables, others, strict=True))


def test_what_is_saved_is_loaded(tables, path):
    save_tables(path, tables)
    loaded = load_tables(path)
    assert same(loaded, tables)
    assert [array.dtype for array in loaded] == [array.dtype for array in tables]
    assert all(array.flags.aligned and not array.flags.writeable for array in loaded)
    assert [file.name for file in path.parent.iterdir()] == [TABLES_FILE]


def test_the_same_tables_are_the_same_bytes(tables, sound, path):
    save_tables(path, tables)
    assert path.read_bytes() == sound


def test_a_file_is_built_once(path, monkeypatch):
    first = load_or_build(path)
    assert (first.file, first.built) == (path, True)
    monkeypatch.setattr(loading, "build_tables", None)
    second = load_or_build(path)
    assert (second.file, second.built) == (path, False)
    assert same(first.tables, second.tables)


@pytest.fixture
def builds_at_once(tables, monkeypatch):
    monkeypatch.setattr(loading, "build_tables", lambda: tables)


@pytest.mark.parametrize("length", [0, 1, 63, 64, 100, 600_000, 10_000_000, -1])
def test_a_torn_file_is_none(sound, path, length):
    path.parent.mkdir()
    path.write_bytes(sound[:length])
    assert load_tables(path) is None


@pytest.mark.parametrize("place", [0, 14, 20, 50, 57, 63, 64, 70, 5000, 558_220, 600_000, -1])
def test_a_file_with_a_changed_byte_is_none(sound, path, place):
    changed = bytearray(sound)
    changed[place] ^= 0x40
    path.parent.mkdir()
    path.write_bytes(changed)
    assert load_tables(path) is None


def test_other_files_are_none(sound, path):
    path.parent.mkdir()
    for contents in (b"\n" * len(sound), bytes(len(sound)), sound + bytes(8), TABLES_FORMAT):
        path.write_bytes(contents)
        assert load_tables(path) is None
    path.unlink()
    path.mkdir()
    assert load_tables(path) is None


def test_a_damaged_file_is_built_again_in_silence(builds_at_once, sound, path, capfd):
    path.parent.mkdir()
    path.write_bytes(sound[: len(sound) // 2])
    assert load_or_build(path).built
    assert path.read_bytes() == sound
    assert capfd.readouterr() == ("", "")


def test_a_folder_that_cannot_be_written_is_no_error(builds_at_once, tables, tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("in the way")
    numbers = file_numbers(tables)
    assert keep_values(blocker / TABLES_FILE, TABLES_FORMAT, numbers) is numbers
    assert not numbers.flags.writeable
    loaded = load_or_build(blocker / TABLES_FILE)
    assert (loaded.file, loaded.built) == (None, True)
    assert same(loaded.tables, tables)
    assert blocker.read_text() == "in the way"


def test_processes_may_write_and_read_at_once(sound, path, tmp_path):
    source = tmp_path / "sound"
    source.write_bytes(sound)
    code = (
        "import sys; from pathlib import Path; from motif.evaluators.bearoff.tables import *;"
        "source, path = map(Path, sys.argv[1:]); numbers = file_numbers(load_tables(source));"
        f"[keep_values(path, TABLES_FORMAT, numbers) for _ in range({WRITES})]"
    )
    words = [sys.executable, "-c", code, str(source), str(path)]
    writers = [subprocess.Popen(words) for _ in range(2)]
    found = []
    while any(writer.poll() is None for writer in writers):
        found.append(load_tables(path) is not None)
    assert [writer.wait() for writer in writers] == [0, 0]
    # The file is missing until the first process has written it, and complete from then on.
    assert found == sorted(found)
    assert path.read_bytes() == sound
    assert [file.name for file in path.parent.iterdir()] == [TABLES_FILE]


def test_the_file_is_in_the_cache_folder(builds_at_once, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    loaded = loading.loaded_tables()
    assert loaded.file == tmp_path / "bearoff" / TABLES_FILE
    assert bearoff_tables() is loaded.tables
