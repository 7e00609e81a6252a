"""Two runs never work in one folder, and a dead run never blocks another."""

import os
import re
import signal
import socket
import time
from dataclasses import replace

import pytest

from motif.cli.main import main
from motif.learning.bootstrap_run import run_bootstrap
from motif.runtime.errors import FileError
from motif.runtime.files import LOCK, working_in
from tests.faults.made_runs import TINY, bootstrapping, sampling
from tests.faults.processes import Stop, done, ending, running, wait_until
from tests.sampling.folders import files, made


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_second_run_is_refused_while_the_first_works(tmp_path):
    with working_in(tmp_path / "run"):
        said = rf"run: another run \(process {os.getpid()} on {re.escape(socket.gethostname())}\) is working"
        with pytest.raises(FileError, match=said + " in this folder$"), working_in(tmp_path / "run"):
            pass
        # The refusal has not released the folder.
        with pytest.raises(FileError, match="another run"), working_in(tmp_path / "run"):
            pass
    with working_in(tmp_path / "run"):
        assert names(tmp_path / "run") == [LOCK]
    assert list(tmp_path.iterdir()) == []


def test_a_lock_is_freed_by_an_error(tmp_path):
    with pytest.raises(ZeroDivisionError), working_in(tmp_path):
        raise ZeroDivisionError
    with working_in(tmp_path):
        pass


def test_one_folder_of_many_is_held(tmp_path):
    with working_in(tmp_path), working_in(tmp_path / "v0" / "samples"), working_in(tmp_path / "v1"):
        pass


def test_a_lock_file_left_behind_is_ignored(tmp_path):
    for name in ("sample", "bootstrap"):
        (tmp_path / name).mkdir()
        (tmp_path / name / LOCK).write_text("process 1 on earth")
    made(tmp_path / "sample")
    assert files(tmp_path / "sample") == files(made(tmp_path / "whole"))
    run_bootstrap(tmp_path / "bootstrap", replace(TINY, versions=TINY.versions[:1]), jobs=1)
    assert names(tmp_path / "bootstrap") == ["config.yaml", "v0"]


@pytest.mark.parametrize("content", [b"l\n", b"process 1 on earth\nmine", b"\xff", None])
def test_a_file_with_the_name_of_a_lock_is_not_overwritten(content, tmp_path):
    lock = tmp_path / LOCK
    if content is None:
        lock.mkdir()
    else:
        lock.write_bytes(content)
    refused = rf"{re.escape(str(tmp_path))}: its file \.lock is not a lock of motif; choose another folder$"
    with pytest.raises(FileError, match=refused), working_in(tmp_path):
        pass
    assert lock.is_dir() if content is None else lock.read_bytes() == content


def test_a_link_with_the_name_of_a_lock_is_not_overwritten(tmp_path):
    (tmp_path / "empty").touch()
    (tmp_path / LOCK).symlink_to("empty")
    with pytest.raises(FileError, match="is not a lock of motif"), working_in(tmp_path):
        pass
    assert names(tmp_path) == [LOCK, "empty"]


@pytest.mark.parametrize("foreign", [".notes.tmp", ".draft.tmp.docx", "keep.txt"])
def test_nothing_is_removed_from_a_folder_that_is_refused(foreign, tmp_path, capsys):
    for name in (foreign, ".weights.77.tmp.yaml"):
        (tmp_path / name).write_text("mine")
    before = names(tmp_path)
    labels = tmp_path.with_name(f"{tmp_path.name}.csv")
    labels.write_text("position_id,win,win_g,win_bg,lose_g,lose_bg\n4HPwATDgc/ABMA,0.5,0,0,0,0\n")
    out = ["--out", str(tmp_path)]
    for command in (
        ["sample", "--games", "1", *out],
        ["bootstrap", *out],
        ["train-phase-net", *out],
        ["convert", str(labels), str(tmp_path)],
    ):
        code, err = main(command), capsys.readouterr().err
        assert (code, err.count("\n")) == (2, 1), err
        assert "the folder is not empty" in err
        assert names(tmp_path) == before


def test_a_folder_in_use_is_reported_by_sample_and_bootstrap(tmp_path):
    with working_in(tmp_path / "s"), working_in(tmp_path / "b"):
        for command in (sampling(tmp_path / "s"), bootstrapping(tmp_path / "b")):
            code, out, err = done(*command)
            assert (code, out) == (2, "")
            who = f"process {os.getpid()} on {socket.gethostname()}"
            assert err == f"motif: error: {command[2]}: another run ({who}) is working in this folder\n"


def test_a_killed_run_leaves_its_folder_free(tmp_path, monkeypatch):
    folder, stop = tmp_path / "b" / "run", Stop(tmp_path / "stop", "motif.sampling.sample:sample_games")
    with running(*bootstrapping(folder), stop=stop) as process:
        wait_until(lambda: stop.reached, process)
        for held in (folder, folder / "v0" / "samples"):
            said = rf"another run \(process {process.pid} on "
            with pytest.raises(FileError, match=said), working_in(held):
                pass
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        # Immediately, without waiting.
        monkeypatch.setattr(time, "sleep", None)
        for held in (folder, folder / "v0" / "samples"):
            assert LOCK in names(held)
            with working_in(held):
                pass
        monkeypatch.undo()
        assert ending(process)[0] == -signal.SIGKILL
