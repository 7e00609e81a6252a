"""A full disk ends a command with one line, damages nothing, and the command resumes when space is free."""

import re
import resource
import subprocess
from functools import partial
from pathlib import Path
from random import Random

import pytest

from motif.cli.main import main
from motif.compiler.kernel_cache import cached_kernel_count, kernel_folder, load_or_make
from motif.evaluators import read_weight_file
from motif.learning.bootstrap_config import CONFIG
from motif.learning.bootstrap_run import run_bootstrap
from motif.reports.convergence import plot_convergence
from motif.reports.run_report import draw_run, draw_version
from motif.runtime.errors import FileError, MotifError
from motif.runtime.files import write_text
from motif.serve.database import StorageError
from motif.serve.game_store import GameStore
from tests.evaluators.made_weights import made_weights
from tests.faults.made_runs import TINY, bootstrapping, check_readable, sampling, temporaries, unlike
from tests.reports.made_run import made_rows
from tests.sampling.folders import QUICK, differences, files, made
from tests.serve.kept_games import begun, decided

WHY = "cannot be written: No space left on device"


def test_sampling_at_every_fill_level(disk, tmp_path):
    folder, whole = disk.folder / "samples", made(tmp_path / "whole")
    refused = set()
    for pages in range(200):
        disk.leave(pages)
        try:
            made(folder, resume=True)
        except FileError as error:
            path, why = str(error).split(": ", 1)
            assert (why, Path(path).parent) in ((WHY, folder), (WHY, disk.folder))
            refused.add(Path(path).stem.rstrip("0123456789"))
            assert temporaries(disk.folder) == []
            if folder.exists():
                check_readable(folder)
                assert set(differences(folder, whole)) <= set(files(whole))
        else:
            break
    assert {"_manifest", "part-"} <= refused
    assert differences(folder, whole) == []


def test_existing_files_are_kept(disk, tmp_path):
    folder, whole = made(disk.folder / "samples"), made(tmp_path / "whole")
    for number in (2, 4):
        (folder / f"part-{number:05d}.parquet").unlink()
    (folder / "part-00005.parquet").write_bytes(b"torn")
    kept = {name: content for name, content in files(folder).items() if content != b"torn"}
    disk.leave(2)
    with pytest.raises(FileError, match=WHY):
        made(folder, resume=True)
    left = files(folder)
    assert {name: left.get(name) for name in kept if name != "_manifest.json"} == {
        name: content for name, content in kept.items() if name != "_manifest.json"
    }
    disk.free()
    made(folder, resume=True)
    assert differences(folder, whole) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_command_prints_one_line(disk, tmp_path, capsys, jobs):
    def run(folder):
        capsys.readouterr()
        return main([str(word) for word in sampling(folder, jobs)]), *capsys.readouterr()

    folder = disk.folder / "samples"
    disk.leave(12)
    code, out, err = run(folder)
    assert (code, out) == (2, "")
    named = rf"motif: error: {re.escape(str(folder))}/(_manifest\.json|part-\d+\.parquet): {WHY}\n"
    assert re.fullmatch(named, err)
    disk.free()
    assert run(folder)[0] == run(tmp_path / "whole")[0] == 0
    assert unlike(folder, tmp_path / "whole") == []


def test_a_fit_whose_plot_cannot_be_written_says_that_its_weights_are(disk, tmp_path, capsys):
    folder, out, plot = made(tmp_path / "samples"), tmp_path / "some.yaml", disk.folder / "some.png"
    disk.leave(0)
    capsys.readouterr()
    quick = ["--parameters", "keith", "--terms", "linear"]
    code = main(["fit", str(folder), *quick, "--out", str(out), "--plot", str(plot)])
    said, err = capsys.readouterr()
    assert (code, err.splitlines()[-1]) == (2, f"motif: error: {plot}: {WHY}")
    assert said.splitlines()[-1].startswith(f"{out}: ")
    assert read_weight_file(out).name == "some"
    assert temporaries(disk.folder) == []


def test_a_kernel_that_cannot_be_stored_is_compiled_and_stored_later(disk, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(disk.folder / "cache"))
    code = bytes(range(256)) * 64

    def loaded() -> tuple[bytes, bool]:
        made = []
        compiled = partial(load_or_make, "one-0123", bytes, lambda: (code, made.append(1) or code))
        return compiled(), bool(made)

    folder = kernel_folder()
    for pages in range(4):
        disk.leave(pages)
        assert loaded() == (code, True)
        assert cached_kernel_count() == 0
        assert [path for path in folder.iterdir() if path.suffix != ".lock"] == []
    disk.free()
    assert [loaded(), loaded()] == [(code, True), (code, False)]
    disk.close()
    assert loaded() == (code, False)
    (kept,) = folder.glob("*.kernel")
    disk.open()
    kept.unlink()
    disk.close()
    assert [loaded(), loaded()] == [(code, True), (code, True)]


WRITERS = {
    "weights.yaml": lambda path: made_weights("keith", seed=1).save(path),
    "config.yaml": lambda path: TINY.save(path.parent),
    "history.csv": lambda path: write_text(path, "class,head\n" * 1000),
    "plot.png": lambda path: plot_convergence(made_rows([("contact", "win")]), path),
    "plot.svg": lambda path: plot_convergence(made_rows([("contact", "win")]), path),
}


@pytest.mark.parametrize(
    ("name", "pages"), [*((name, 0) for name in WRITERS), *((name, 1) for name in WRITERS if name != CONFIG)]
)
def test_every_kind_of_file_is_written_completely_or_not_at_all(disk, name, pages):
    path, write = disk.folder / name, WRITERS[name]
    path.write_text("what was there before")
    disk.leave(pages)
    with pytest.raises(MotifError) as caught:
        write(path)
    assert str(caught.value) == f"{path}: {WHY}"
    assert path.read_text() == "what was there before"
    assert temporaries(disk.folder) == []
    disk.free()
    write(path)
    assert path.stat().st_size > len("what was there before")


def test_a_file_size_limit_has_the_same_result(tmp_path):
    """This test needs no root: it uses the system's limit on file sizes."""
    path, whole = tmp_path / "weights.yaml", made(tmp_path / "whole", QUICK)
    path.write_text("before")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, before[1]))
    try:
        with pytest.raises(FileError) as caught:
            made_weights("keith", seed=1).save(path)
        with pytest.raises(FileError, match=r"part-00000\.parquet: cannot be written: File too large$"):
            made(tmp_path / "samples", QUICK)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert str(caught.value) == f"{path}: cannot be written: File too large"
    assert path.read_text() == "before"
    made_weights("keith", seed=1).save(path)
    read_weight_file(path)
    made(tmp_path / "samples", QUICK, resume=True)
    assert differences(tmp_path / "samples", whole) == []


@pytest.mark.slow
def test_a_bootstrap_prints_one_line_and_resumes(disk, tmp_path, capfd):
    def run(words):
        capfd.readouterr()
        return main([str(word) for word in words]), *capfd.readouterr()

    folder, whole = disk.folder / "b" / "run", tmp_path / "a" / "whole"
    words, named = bootstrapping(folder), set()
    for pages in (0, 10, 40, 100):
        disk.leave(pages)
        code, out, err = run(words)
        assert (code, out) == (2, "")
        (line,) = (line for line in err.splitlines() if "error" in line)
        path, why = line.removeprefix("motif: error: ").split(": ", 1)
        assert (why, folder in Path(path).parents or Path(path) == folder) == (WHY, True)
        assert temporaries(disk.folder) == []
        named.add(Path(path).name)
    assert len(named) >= 2
    disk.grow()
    for again in (words, bootstrapping(whole)):
        code, _, err = run(again)
        assert code == 0, err
    assert unlike(folder, whole) == []


def whole_run(folder: Path) -> None:
    run_bootstrap(folder, TINY, jobs=1, on_version=draw_version)
    draw_run(folder)


def test_games_at_every_fill_level(disk):
    """Each answer is one line, and accepted decisions are stored."""
    folder, state, refusals = disk.folder / "games", None, set()
    for pages in range(0, 60, 3):
        disk.leave(pages)
        store = GameStore(folder)
        try:
            state = begun(store) if state is None else decided(store, state, Random(pages))[0]
        except StorageError as error:
            refusals.add(str(error))
        if state is not None:
            del store
            disk.leave(60)
            again = GameStore(folder).state(state["game"])
            if again["revision"] != state["revision"]:  # stored, and the reply was refused
                assert refusals
            state = again
    assert state["revision"] > 5
    assert any("full" in refusal or "No space" in refusal for refusal in refusals)
    assert all(refusal.isprintable() and str(disk.folder) not in refusal for refusal in refusals)


def test_games_on_a_disk_that_cannot_be_written(disk):
    folder = disk.folder / "games"
    store = GameStore(folder)
    state = begun(store)

    def remount(how: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{how}", str(disk.folder)], check=True)

    del store
    remount("ro")
    try:
        store = GameStore(folder)
        for ask in (
            lambda: begun(store),
            lambda: decided(store, state, Random(1)),
            lambda: store.delete(state["game"]),
        ):
            with pytest.raises(StorageError) as caught:
                ask()
            assert str(caught.value).isprintable()
            assert str(disk.folder) not in str(caught.value)
    finally:
        remount("rw")
    assert decided(store, state, Random(1))[0]["revision"] > state["revision"]


@pytest.mark.slow
def test_a_bootstrap_on_a_disk_that_grows(disk, tmp_path):
    whole_run(tmp_path / "whole")
    folder, refused = disk.folder / "run", []
    for pages in range(0, disk.pages, 32):
        disk.leave(pages)
        try:
            whole_run(folder)
        except FileError as error:
            path, why = str(error).split(": ", 1)
            assert why == WHY
            refused.append(Path(path).name)
            assert temporaries(disk.folder) == []
        else:
            break
    assert refused[0] == "config.yaml"
    assert {"png", "html"} <= {name.rpartition(".")[2] for name in refused}
    assert unlike(folder, tmp_path / "whole") == []
