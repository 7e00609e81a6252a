"""Files are complete or absent."""

import errno
import os
import stat
import tempfile
from pathlib import Path

import pytest

from motif.runtime.errors import FileError, SettingError
from motif.runtime.files import (
    check_apart,
    check_target,
    clear_temporaries,
    is_temporary,
    make_folder,
    replacing,
    scratch_folder,
    write_text,
)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_is_written_with_its_folder(tmp_path):
    path = tmp_path / "runs" / "demo" / "weights.yaml"
    write_text(path, "Gänge: 1\n")
    assert path.read_bytes() == "Gänge: 1\n".encode()
    assert names(path.parent) == ["weights.yaml"]


def test_an_old_file_is_replaced(tmp_path):
    path = tmp_path / "history.csv"
    path.write_text("old")
    write_text(path, "new")
    assert path.read_text() == "new"
    assert names(tmp_path) == ["history.csv"]


def test_the_temporary_file_is_beside_the_file_with_the_same_suffix(tmp_path):
    path = tmp_path / "plot.png"
    with replacing(path) as temporary:
        assert temporary.parent == path.parent
        assert temporary.suffix == ".png"
        assert temporary.name != path.name
        temporary.write_bytes(b"image")
        assert not path.exists()
    assert names(tmp_path) == ["plot.png"]


@pytest.mark.parametrize("failure", [RuntimeError("disk full"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file_and_no_temporary_one(tmp_path, failure):
    path = tmp_path / "weights.yaml"
    path.write_text("old")

    def write_half():
        with replacing(path) as temporary:
            temporary.write_text("half of the n")
            raise failure

    with pytest.raises(type(failure)):
        write_half()
    assert path.read_text() == "old"
    assert names(tmp_path) == ["weights.yaml"]


def test_a_failure_before_anything_is_written(tmp_path):
    with pytest.raises(RuntimeError), replacing(tmp_path / "new.yaml"):
        raise RuntimeError
    assert names(tmp_path) == []


def test_a_block_that_writes_nothing_is_an_error_and_keeps_the_old_file(tmp_path):
    path = tmp_path / "weights.yaml"
    path.write_text("old")
    with pytest.raises(FileError, match=r"weights\.yaml: cannot be written: No such file"), replacing(path):
        pass
    assert path.read_text() == "old"


@pytest.mark.parametrize("number", [1, 2])
def test_what_the_system_refuses_names_the_file(tmp_path, monkeypatch, number):
    """1: the file cannot be flushed; 2: the folder cannot, when the new file exists already."""
    path = tmp_path / "history.csv"
    path.write_text("old")
    flush, flushed = os.fsync, []

    def refuse(descriptor):
        flushed.append(descriptor)
        if len(flushed) == number:
            raise OSError(errno.ENOSPC, "anything", "a temporary name")
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(FileError) as caught:
        write_text(path, "new")
    assert str(caught.value) == f"{path}: cannot be written: No space left on device"
    assert path.read_text() == ("old", "new")[number - 1]
    assert names(tmp_path) == ["history.csv"]


def test_a_file_is_flushed_before_it_has_its_name_and_its_folder_after(tmp_path, monkeypatch):
    flush, seen = os.fsync, []

    def watch(descriptor):
        folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        seen.append((folder, (tmp_path / "runs" / "demo" / "weights.yaml").exists()))
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", watch)
    write_text(tmp_path / "runs" / "demo" / "weights.yaml", "text")
    made_folders = [(True, False)] * 2
    assert seen == [*made_folders, (False, False), (True, True)]


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("no folder")
    for folder, why in ((tmp_path / "file", "File exists"), (tmp_path / "file" / "run", "Not a directory")):
        with pytest.raises(FileError) as caught:
            make_folder(folder)
        assert str(caught.value) == f"{folder}: cannot be created: {why}"
    with pytest.raises(FileError, match=r"file/run: cannot be created: Not a directory"):
        write_text(tmp_path / "file" / "run" / "weights.yaml", "text")


def test_only_temporary_files_are_cleared(tmp_path):
    kept = [".config.tmp.yaml", ".draft.tmp.docx", ".gitignore", ".notes.tmp", ".tmp", "a.tmp.yaml", "x.yaml"]
    for name in (*kept, ".two.dots.7.tmp.png", ".no_suffix.8.tmp", ".part-00000.99.tmp.parquet"):
        (tmp_path / name).write_text("half")
    clear_temporaries(tmp_path)
    assert names(tmp_path) == kept


def test_the_name_of_a_temporary_file_is_known_as_one(tmp_path):
    for name in ("manifest.json", "part-00000.parquet", "no_suffix", "two.dots.png"):
        with replacing(tmp_path / name) as temporary:
            assert is_temporary(temporary)
            temporary.touch()


def test_a_file_is_written_once(tmp_path):
    (tmp_path / "link.csv").symlink_to("rows.csv")
    (tmp_path / "here").symlink_to(".")
    rows = tmp_path / "rows.csv"
    check_apart([], rows, tmp_path / "others.csv", None, None)
    for other in (rows, tmp_path / "link.csv", tmp_path / "here" / "rows.csv"):
        with pytest.raises(SettingError, match=rf"{other}: would be written twice; name another file$"):
            check_apart([], rows, other)


def test_what_utf_8_cannot_represent_is_escaped(tmp_path):
    write_text(tmp_path / "page.html", "file " + os.fsdecode(b"q\xff"))
    assert (tmp_path / "page.html").read_bytes() == b"file q\\udcff"


def test_a_folder_is_no_file_to_write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    for path in (Path(), Path(".."), Path("runs")):
        with pytest.raises(FileError, match="cannot be written: Is a directory"):
            write_text(path, "")
    assert names(tmp_path) == ["runs"]


def test_a_symbolic_link_stays_and_its_file_is_replaced(tmp_path):
    link, target = tmp_path / "link.csv", tmp_path / "data" / "there.csv"
    link.symlink_to(target)
    for text in ("new", "newer"):
        check_target(link)
        write_text(link, text)
        assert link.is_symlink()
        assert target.read_text() == text
    assert names(tmp_path / "data") == ["there.csv"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_only_regular_files_are_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("pipe", "link", "loop"):
        path = tmp_path / name
        with pytest.raises(FileError, match=f"{name}: cannot be written: it is not a regular file"):
            write_text(path, "")
        with pytest.raises(SettingError, match=f"{name}: cannot be written: it is not a regular file"):
            check_target(path)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert names(tmp_path) == ["link", "loop", "pipe"]


@pytest.mark.parametrize("name", ["o" * 250 + ".sgf", "ä" * 120 + ".sgf", "o" * 255])
def test_a_name_of_the_greatest_length_is_written(tmp_path, name):
    write_text(tmp_path / name, "text")
    assert names(tmp_path) == [name]


def test_scratch_folders_of_killed_processes_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    killed, young, linked = (tmp_path / f"motif-try-{name}" for name in ("killed", "young", "linked"))
    other = tmp_path / "other"
    for folder in (killed, young, other):
        folder.mkdir()
        (folder / "rows").write_bytes(b"1")
    linked.symlink_to(other)
    with scratch_folder("motif-try-") as held:
        (held / "rows").write_bytes(b"1")
        for old in (killed, held, other):
            os.utime(old, (0, 0))
        with scratch_folder("motif-try-") as second:
            assert {held, young, linked, second} == set(tmp_path.glob("motif-try-*"))
        assert (held / "rows").exists()
    assert names(tmp_path) == ["motif-try-linked", "motif-try-young", "other"]
    assert names(other) == ["rows"]
