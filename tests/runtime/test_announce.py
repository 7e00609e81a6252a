"""Compiling is announced once, by the main process alone, and excluded from every timing."""

import sys
import time
from pathlib import Path

import pytest

from motif.runtime import parallel, progress
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import COMPILATION, ON_COMPILING, Compilation, Stopwatch


@pytest.fixture
def loud(monkeypatch):
    """A process that has not announced anything yet, and does so at once."""
    monkeypatch.setattr(progress, "_QUIET_SECONDS", 0.0)
    monkeypatch.setattr(COMPILATION, "is_said", False)
    monkeypatch.setattr(COMPILATION, "spans", [])


def _compile(compilation: Compilation) -> None:
    """A compilation that includes the compilation of what it calls."""
    compilation.begin()
    compilation.begin()
    if compilation._timer is not None:
        compilation._timer.join()
    compilation.end()
    compilation.end()


def _compiling_worker(number: int) -> tuple[int, bool]:
    """A worker with a kernel to compile: the number, and whether it wrote anything."""
    progress._QUIET_SECONDS = 0.0
    _compile(COMPILATION)
    COMPILATION.spans[-1] = COMPILATION.spans[-1][0], time.monotonic() + 1000.0
    return number, COMPILATION.say is progress.say_that_kernels_compile


def test_a_long_compilation_is_announced_once_also_to_a_file(loud, capsys):
    compilation = Compilation()
    for _ in range(2):
        _compile(compilation)
    assert capsys.readouterr() == ("", f"{ON_COMPILING}\n")


def test_many_short_compilations_are_as_long_as_one(capsys, monkeypatch):
    compilation = Compilation()
    monkeypatch.setattr(progress, "_QUIET_SECONDS", 0.05)
    while not compilation.is_said:
        compilation.begin()
        time.sleep(0.01)
        compilation.end()
    assert capsys.readouterr().err.count("compiling") == 1


def test_quick_compilations_stay_quiet(capsys):
    compilation = Compilation()
    compilation.begin()
    timer = compilation._timer
    compilation.end()
    timer.join()  # it announces nothing later
    assert capsys.readouterr() == ("", "")


def test_what_workers_compile_the_main_process_says_once(loud, capsys, monkeypatch):
    monkeypatch.setattr(parallel, "_SECONDS_BETWEEN_LOOKS", 0.001)
    results = list(run_ordered(_patient, [(number,) for number in range(6)], 2))
    assert results == [(number, False) for number in range(6)]
    assert capsys.readouterr() == ("", f"{ON_COMPILING}\n")


def _patient(number: int) -> tuple[int, bool]:
    """Long enough for the main process to notice."""
    result = _compiling_worker(number)
    time.sleep(0.2)
    return result


def test_a_closed_stderr_is_no_fault(loud, monkeypatch, tmp_path):
    with open(tmp_path / "nobody", "w") as nobody:
        pass
    monkeypatch.setattr(sys, "stderr", nobody)
    _compile(Compilation())


def test_a_mark_without_a_waiting_process_is_not_an_error():
    parallel._touch(Path("no such folder") / "mark")


def test_spans_that_overlap_count_once(monkeypatch):
    compilation = Compilation()
    compilation.spans = [(4.0, 6.0), (1.0, 3.0), (2.0, 3.5), (5.0, 5.5), (9.0, 20.0)]
    assert compilation.seconds(0.0, 10.0) == 2.5 + 2.0 + 1.0
    assert compilation.seconds(2.5, 5.25) == 1.0 + 1.25
    assert compilation.seconds(7.0, 8.0) == 0.0


def test_a_stopwatch_stops_while_kernels_are_compiled(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress, "COMPILATION", compilation := Compilation())
    compilation.is_said = True
    stopwatch = Stopwatch()
    now[0] += 2.0
    compilation.begin()
    now[0] += 50.0
    assert stopwatch.seconds == 2.0
    compilation.end()
    now[0] += 1.0
    assert stopwatch.seconds == 3.0


def test_what_a_worker_compiles_is_left_out(loud):
    stopwatch = Stopwatch()
    list(run_ordered(_compiling_worker, [(1,), (2,)], 2))
    shown = stopwatch.seconds
    time.sleep(0.01)
    assert stopwatch.seconds == pytest.approx(shown, abs=1e-6)  # the worker reports that it continues
    assert len(COMPILATION.spans) == 2


def _worker_with_workers(number: int) -> int:
    """Compilations reported to a worker more than once, after its own workers compiled."""
    _compile(COMPILATION)
    list(run_ordered(_compiling_worker, [(number,)] * 3, 2))
    return len(COMPILATION.spans) - len(set(COMPILATION.spans))


def test_workers_of_a_worker_are_heard_of_once(loud):
    assert list(run_ordered(_worker_with_workers, [(1,), (2,)], 2)) == [0, 0]
    assert len(COMPILATION.spans) == len(set(COMPILATION.spans)) == 2 * 4
