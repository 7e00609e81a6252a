"""Kernels are compiled once per machine, and again only when something they depend on changes."""

import os
import pickle
import shutil
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from motif.compiler import background
from motif.compiler.kernel_cache import framed
from motif.runtime.parallel import worker_count

PACKAGE = Path(__file__).resolve().parent.parent.parent / "motif"

COUNTING = """
from numba.core import event

class Named(event.Listener):
    def on_start(self, started):
        kernel = started.data["dispatcher"]
        if kernel.__module__.startswith("motif"):
            print(kernel.__name__, flush=True)

    def on_end(self, ended):
        pass

event.register("numba:compile", Named())
from motif.board.outcome import finished_points_many
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators.cube_model import NO_CUBE, cubeful_values
from motif.parameters.phase_set import EARLY, mover_phases
from motif.parameters.position_class import classify_many
import numpy as np

packed = pack_many(Position.start().board[None])
assert finished_points_many(packed.view("int64")).tolist() == [0]
classify_many(packed)
assert mover_phases(packed).tolist() == [EARLY]
assert cubeful_values(NO_CUBE, 0, packed, np.array([[0.5, 0.0, 0.0, 0.0, 0.0]])).tolist() == [0.0]
"""
ALL = [
    "classify_many",
    "cubeful_values",
    "finished_points_many",
    "held_and_taken",
    "is_known",
    "mover_phases",
    "value_for_side",
]
LISTENING = COUNTING[: COUNTING.index("from motif.board.outcome")]
COUNTING_FEW = "".join(line for line in COUNTING.splitlines(True) if "cubeful" not in line)
FEW = ["classify_many", "finished_points_many", "mover_phases"]
"""Half of the time of `ALL`."""
AHEAD = (
    LISTENING
    + """
import numpy as np
from motif.evaluators.cube_model import NO_CUBE, cubeful_values, value_for_side
from motif.compiler.jit import compile_ahead

cubeful_values(NO_CUBE, 0, np.empty((0, 64), np.int8), np.empty((0, 5)))
print("ahead", flush=True)
compile_ahead(cubeful_values)
compile_ahead(value_for_side)
"""
)
SAMPLING = """
import sys
from motif.sampling.sample import SampleSettings, sample
sample(SampleSettings(games=2, trials=1, player="simple"), sys.argv[1], jobs=1)
"""
RUN = """
import sys
from dataclasses import replace
from motif.learning.bootstrap_config import load_preset
from motif.learning.bootstrap_run import run_bootstrap

config = load_preset("demo")
step = replace(config.versions[0], games=12, trials=1)
config = replace(config, versions=(step,), strength_games=60, fit={**config.fit, "terms": "linear"})
run_bootstrap(sys.argv[1], config, jobs=1)
"""
HELD = """
import sys
from filelock import FileLock

with FileLock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""
BESIDE = """
import sys
import time
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from motif.compiler.background import precompile_in_background

precompile_in_background("helper:help_out")
place = Path(sys.argv[1]) / "number"
while not place.is_file():
    time.sleep(0.01)
"""
HELPER = """
import os
import time
from pathlib import Path

def help_out():
    place = Path(__file__).parent / "number"
    print("to nobody")
    place.with_suffix(".new").write_text(str(os.getpid()))
    place.with_suffix(".new").replace(place)
    time.sleep(600)
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A folder with a copy of the package, which stays as it is."""
    return copied(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="module")
def kept(package, tmp_path_factory):
    """A cache folder with all kernels of `COUNTING`, and the kernels compiled for it."""
    folder = tmp_path_factory.mktemp("kept")
    return folder, compiled(package, folder)


@pytest.fixture(scope="module")
def ahead(package, tmp_path_factory):
    """A cache folder with the kernels of `AHEAD`, and what was said meanwhile."""
    folder = tmp_path_factory.mktemp("ahead")
    return folder, said_by(package, folder, AHEAD)


def copied(folder: Path) -> Path:
    shutil.copytree(PACKAGE, folder / "motif", ignore=shutil.ignore_patterns("__pycache__", "data"))
    return folder


def started(folder: Path, cache: Path, script: str = COUNTING, *words: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", script, *words]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)


def compiled(folder: Path, cache: Path, script: str = COUNTING) -> list[str]:
    """The kernels that a new process compiles, sorted by name."""
    return sorted(said_by(folder, cache, script))


def said_by(folder: Path, cache: Path, script: str, *words: str) -> list[str]:
    with started(folder, cache, script, *words) as process:
        said, _ = process.communicate()
    assert process.returncode == 0
    return said.split()


def changed(folder: Path, module: str, old: str, new: str) -> None:
    path = folder / "motif" / module
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def changed_and_compiled(
    kept: tuple[Path, list[str]], folder: Path, module: str, old: str, new: str
) -> list[str]:
    """The kernels compiled by a copy of the package after `module` has changed, and all that were in the
    cache.
    """
    shutil.copytree(kept[0], folder / "cache")
    changed(copied(folder), module, old, new)
    return compiled(folder, folder / "cache")


def test_an_empty_cache_is_filled_with_what_is_reached(kept):
    assert kept[1] == ALL


def test_words_and_plain_functions_compile_nothing(kept, tmp_path):
    cache = shutil.copytree(kept[0], tmp_path / "cache")
    folder = copied(tmp_path)
    changed(folder, "runtime/errors.py", "class PositionError", "# reworded\nclass PositionError")
    changed(folder, "parameters/position_class.py", '"""Position classes: ', '"""Other words: ')
    changed(folder, "parameters/position_class.py", "@kernel\n", "def plain():\n    return 1\n\n\n@kernel\n")
    changed(folder, "parameters/position_class.py", '"""Return the index', '"""Return that index')
    assert compiled(folder, cache) == []


@pytest.mark.parametrize(
    ("module", "old", "new", "again"),
    [
        (
            "parameters/position_class.py",
            "_CONTACT_SUM = 24",
            "_CONTACT_SUM = 25",
            [name for name in ALL if name not in ("finished_points_many", "is_known", "mover_phases")],
        ),
        ("parameters/phase_set.py", "if out_of_home < ", "if out_of_home <= ", ["mover_phases"]),
        (
            "evaluators/cube_model.py",
            "x = 0.0 if",
            "x = 0.5 if",
            ["cubeful_values", "held_and_taken", "value_for_side"],
        ),
        ("board/outcome.py", "return 3 if occupied", "return 4 if occupied", ["finished_points_many"]),
    ],
)
def test_a_constant_or_a_callee_compiles_its_callers_alone(kept, tmp_path, module, old, new, again):
    assert changed_and_compiled(kept, tmp_path, module, old, new) == again


def test_three_processes_compile_each_kernel_once(package, tmp_path):
    processes = [started(package, tmp_path / "cache", COUNTING_FEW) for _ in range(3)]
    said = [process.communicate()[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert sorted(chain.from_iterable(said)) == FEW


def test_no_folder_is_no_error(package, tmp_path):
    (tmp_path / "file").write_text("no folder")
    assert compiled(package, tmp_path / "file", COUNTING_FEW) == FEW


def file_of(kernel: str, cache: Path) -> Path:
    (path,) = (cache / "kernels").glob(f"{kernel}-*.kernel")
    return path


def with_a_bit_flipped(content: bytes, share: float) -> bytes:
    place = int(share * len(content))
    return content[:place] + bytes([content[place] ^ 16]) + content[place + 1 :]


def test_no_damage_ends_the_process(kept, package, tmp_path):
    """Damaged machine code would; test_kernel_cache.py flips every bit."""
    cache = shutil.copytree(kept[0], tmp_path / "cache")
    for kernel, share in zip(ALL, (0.0, 0.01, 0.3, 0.5, 0.7, 0.9, 0.999), strict=True):
        damaged = file_of(kernel, cache)
        damaged.write_bytes(with_a_bit_flipped(damaged.read_bytes(), share))
    assert compiled(package, cache) == ALL
    assert compiled(package, cache) == []


def test_cut_and_swapped_kernels_and_those_of_another_shape_are_compiled_again(kept, package, tmp_path):
    cache = shutil.copytree(kept[0], tmp_path / "cache")
    cut = file_of("finished_points_many", cache)
    cut.write_bytes(cut.read_bytes()[:1000])
    one, other = file_of("classify_many", cache), file_of("mover_phases", cache)
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    shapeless = file_of("is_known", cache)
    shapeless.write_bytes(framed(shapeless.stem, pickle.dumps(([], (1, 2, 3)))))
    # A valid file of this kernel that calls a kernel it should not call.
    astray = file_of("cubeful_values", cache)
    astray.write_bytes(framed(astray.stem, pickle.dumps(([("kernel.cell.x", "motif.x", ())], ()))))
    assert compiled(package, cache) == sorted([*FEW, "cubeful_values", "is_known"])
    assert compiled(package, cache) == []


@pytest.mark.skipif(sys.platform == "win32", reason="modes of folders are POSIX's")
def test_a_folder_that_others_can_write_is_not_used(kept, package, tmp_path):
    cache = shutil.copytree(kept[0], tmp_path / "cache")
    cache.chmod(0o777)
    before = {path.name: path.read_bytes() for path in (cache / "kernels").iterdir()}
    assert compiled(package, cache, COUNTING_FEW) == FEW
    assert {path.name: path.read_bytes() for path in (cache / "kernels").iterdir()} == before
    cache.chmod(0o700)
    assert compiled(package, cache, COUNTING_FEW) == []


def test_what_is_compiled_ahead_is_there_before_it_is_reached(ahead, package):
    cache, said = ahead
    assert said == ["cubeful_values", "ahead", "value_for_side"]
    assert said_by(package, cache, AHEAD) == ["ahead"]


def test_what_another_process_compiles_is_not_compiled_ahead(ahead, package, tmp_path):
    cache = shutil.copytree(ahead[0], tmp_path / "cache")
    (kept,) = (cache / "kernels").glob("value_for_side-*.kernel")
    kept.unlink()
    command = [sys.executable, "-c", HELD, f"{kept}.lock"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        assert said_by(package, cache, AHEAD) == ["ahead"]
        holder.stdin.close()
    assert said_by(package, cache, AHEAD) == ["ahead", "value_for_side"]


@pytest.mark.skipif(worker_count(None) == 1, reason="this machine has one core")
def test_a_process_that_fills_an_empty_cache_ends_with_the_one_beside_it(package, tmp_path):
    (tmp_path / "helper.py").write_text(HELPER)
    assert said_by(package, tmp_path / "cache", BESIDE, str(tmp_path)) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "number").read_text()), 0)


def test_nothing_is_started_beside_where_kernels_are_kept(monkeypatch, tmp_path):
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "one.kernel").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(background, "_is_started", False)
    monkeypatch.setattr(background, "_core_count", lambda: 2)
    monkeypatch.setattr(background.subprocess, "Popen", lambda *_, **__: pytest.fail("started"))
    background.precompile_in_background("helper:help_out")


def test_nothing_is_started_beside_where_nothing_can_be_kept(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setattr(background, "_is_started", False)
    monkeypatch.setattr(background, "_core_count", lambda: 2)
    monkeypatch.setattr(background.subprocess, "Popen", lambda *_, **__: pytest.fail("started"))
    background.precompile_in_background("helper:help_out")


def test_one_process_is_started_beside_and_no_other(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(background, "_is_started", False)
    monkeypatch.setattr(background, "_core_count", lambda: 2)
    monkeypatch.setattr(background.atexit, "register", lambda *_: None)
    started = []
    monkeypatch.setattr(background.subprocess, "Popen", lambda words, **_: started.append(words[-1]))
    background.precompile_in_background("run:all_of_it")
    background.precompile_in_background("step:part_of_it")
    assert [call.rpartition("; ")[2] for call in started] == ["all_of_it()"]


@pytest.mark.slow
def test_lookahead_compiles_in_advance_what_a_hint_needs(tmp_path):
    folder = copied(tmp_path)
    shutil.copytree(PACKAGE / "data", folder / "motif" / "data")
    shutil.copytree(PACKAGE.parent / "weights", folder / "weights")
    beside = LISTENING + "from motif.evaluators.lookahead import warm_up\nwarm_up()\n"
    compiled_beside = said_by(folder, tmp_path / "cache", beside)
    ahead = ["score_boards", "look_ahead", "trace_value"]
    assert compiled_beside == [*ahead, "first_bad_board", "evaluate_packed"]
    hint = LISTENING + "import sys\nfrom motif.cli.main import main\nmain(sys.argv[1:])\n"
    said = said_by(folder, tmp_path / "cache", hint, "hint", "4HPwATDgc/ABMA", "3", "1", "--json")
    assert "generate_with_steps" in said
    assert not set(ahead) & set(said)


@pytest.mark.slow
def test_sampling_compiles_in_advance_what_its_workers_need(tmp_path):
    folder = copied(tmp_path)
    shutil.copytree(PACKAGE / "data", folder / "motif" / "data")
    beside = LISTENING + "from motif.sampling.sample import warm_up\nwarm_up()\n"
    compiled_beside = said_by(folder, tmp_path / "cache", beside)
    ready = ["play_out", "first_bad_board", "_encode_boards", "classify_many"]
    assert compiled_beside == ["board_trials", *ready]
    said = said_by(folder, tmp_path / "cache", LISTENING + SAMPLING, str(tmp_path / "data"))
    # The caller of the trials is a different kernel for kernels than for Python.
    assert {"self_play", "choose", "board_trials"} <= set(said)
    assert not set(ready) & set(said)


@pytest.mark.slow
def test_a_run_compiles_in_advance_what_its_later_steps_need(tmp_path):
    folder = copied(tmp_path)
    shutil.copytree(PACKAGE / "data", folder / "motif" / "data")
    beside = LISTENING + "from motif.learning.bootstrap_run import warm_up\nwarm_up()\n"
    compiled_beside = said_by(folder, tmp_path / "cache", beside)
    of_fits = {"measure_motif", "_raw_chunk", "_sums_chunk", "_expand", "evaluate_packed"}
    assert {"board_trials", *of_fits, "choose_boards"} <= set(compiled_beside)
    said = said_by(folder, tmp_path / "cache", LISTENING + RUN, str(tmp_path / "run"))
    assert "self_play" in said
    # Some that it calls from other kernels differ for Python.
    assert not {*of_fits, "choose_boards", "score_boards", "rolls_of_games"} & set(said)
