"""The same calls in one process and in several."""

import io
import itertools
import os
import signal
import sys
import threading
import time

import joblib
import pytest
from joblib import Parallel

from motif.runtime import parallel
from motif.runtime import progress as progress_module
from motif.runtime.errors import PlayError, SettingError, WorkerError
from motif.runtime.parallel import (
    StopRequest,
    check_stop,
    run_ordered,
    run_until,
    threads_here,
    worker_count,
)


def square(number, pause=0.0):
    time.sleep(pause)
    return number * number


def refuse(number):
    raise PlayError(f"no roll: {number}")


def process_of(_):
    return os.getpid()


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_come_in_the_order_of_the_calls(jobs):
    calls = [(number, 0.05 if number == 0 else 0.0) for number in range(20)]
    assert list(run_ordered(square, calls, jobs)) == [number * number for number in range(20)]


def bar_of_a_step(_):
    """Return what a step shows on a terminal."""
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", terminal)
        patch.setattr(progress_module, "_QUIET_SECONDS", 0.0)
        patch.setenv("TERM", "xterm")
        with progress_module.progress("a step", 1) as advance:
            time.sleep(0.3)
            advance()
    return terminal.getvalue()


def test_only_the_main_process_shows_progress():
    assert "a step" in bar_of_a_step(0)
    assert list(run_ordered(bar_of_a_step, [(0,), (1,)], 2)) == ["", ""]


@pytest.mark.parametrize("jobs", [1, 2])
def test_no_calls_no_results(jobs):
    assert list(run_ordered(square, [], jobs)) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_in_a_call_reaches_the_caller(jobs):
    with pytest.raises(PlayError, match="no roll: 7"):
        list(run_ordered(refuse, [(7,)], jobs))


def test_one_job_runs_here_and_lazily():
    endless = run_ordered(square, ((number,) for number in itertools.count()), 1)
    assert [next(endless) for _ in range(3)] == [0, 1, 4]
    assert set(run_ordered(process_of, [(0,), (1,)], 1)) == {os.getpid()}


def test_two_jobs_run_elsewhere():
    assert os.getpid() not in set(run_ordered(process_of, [(0,), (1,)], 2))


def test_workers_that_would_have_nothing_to_do_are_not_started(monkeypatch):
    started = []

    def parallel_of(n_jobs, **settings):
        started.append(n_jobs)
        return Parallel(n_jobs=n_jobs, **settings)

    monkeypatch.setattr(joblib, "Parallel", parallel_of)
    monkeypatch.setattr(parallel.os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    for count in (1, 3, 5):
        results = run_ordered(square, ((number,) for number in range(count)), 4)
        assert list(results) == [number * number for number in range(count)]
    assert started == [2, 3, 4]


def test_every_core():
    assert worker_count(None) == worker_count(-1) >= 1
    assert worker_count(3) == 3


def threads_beside(number, folder):
    """The threads that the first of two busy workers may use while the other one waits."""
    (folder / f"begun-{number}").touch()
    wait_for(folder / f"begun-{1 - number}")
    if number == 1:
        wait_for(folder / "asked-0")
        return 0
    threads = threads_here()
    (folder / "asked-0").touch()
    return threads


def wait_for(path):
    end = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < end, f"nobody made {path.name}"
        time.sleep(0.01)


def test_busy_workers_share_the_cores(tmp_path):
    cores = worker_count(None)
    assert threads_here() == cores
    assert list(run_ordered(threads_beside, [(0, tmp_path), (1, tmp_path)], 2)) == [max(1, cores // 2), 0]


def test_a_worker_on_its_own_uses_every_core():
    assert list(run_ordered(_threads, [(0,)], 2)) == [worker_count(None)]


def _threads(_):
    return threads_here()


def test_where_no_notice_board_can_be_made_work_goes_on(monkeypatch, tmp_path):
    monkeypatch.setattr(parallel, "gettempdir", lambda: str(tmp_path / "nowhere"))
    assert list(run_ordered(square, [(2,), (3,)], 2)) == [4, 9]


def test_nothing_is_left_in_the_temporary_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(parallel, "gettempdir", lambda: str(tmp_path))
    assert list(run_ordered(square, [(2,), (3,)], 2)) == [4, 9]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("jobs", [0, -2])
def test_a_bad_number_of_jobs_is_an_error(jobs):
    with pytest.raises(SettingError, match=f"jobs must be at least 1, .* not {jobs}"):
        list(run_ordered(square, [(1,)], jobs))


@pytest.mark.parametrize("jobs", [1, 2])
def test_without_a_stop_everything_is_done(jobs):
    assert list(run_until(StopRequest(), square, [(number,) for number in range(5)], jobs)) == [
        0,
        1,
        4,
        9,
        16,
    ]


def begun_and_waiting(number, folder):
    (folder / f"begun-{number}").touch()
    wait_for(folder / "go")
    return number


def test_work_in_progress_is_finished_and_queued_work_is_not_started(tmp_path):
    stop = StopRequest()

    def ask():
        for number in (0, 1):
            wait_for(tmp_path / f"begun-{number}")
        stop.make()
        (tmp_path / "go").touch()

    asking = threading.Thread(target=ask)
    asking.start()
    calls = ((number, tmp_path) for number in itertools.count())
    results = list(run_until(stop, begun_and_waiting, calls, 2))
    asking.join()
    # Two calls are handed out in advance to each worker.
    assert results[:2] == [0, 1]
    assert set(results[2:]) == {None}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["begun-0", "begun-1", "go"]


def never_done(folder, number):
    (folder / f"begun-{number}").touch()
    while True:
        check_stop()
        time.sleep(0.01)


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_takes_too_long_is_given_up(tmp_path, monkeypatch, jobs):
    # In this process; workers have their own copy of the module.
    monkeypatch.setattr(parallel, "SECONDS_TO_FINISH", 0.5)
    stop = StopRequest()

    def ask():
        for number in range(jobs):
            wait_for(tmp_path / f"begun-{number}")
        stop.make()

    asking = threading.Thread(target=ask)
    asking.start()
    results = list(run_until(stop, never_done, ((tmp_path, number) for number in itertools.count()), jobs))
    asking.join()
    assert set(results) == {None}
    assert len(list(tmp_path.iterdir())) == jobs


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_stop_that_comes_first_lets_nothing_begin(jobs):
    stop = StopRequest()
    stop.make()
    assert list(run_until(stop, square, [(2,), (3,)], jobs)) == []


def test_where_no_stop_can_be_asked_for_work_goes_on():
    check_stop()


def end_of_a_worker(number, folder, how):
    if number == 1:
        os.kill(os.getpid(), how)
    wait_for(folder / "never")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX systems")
@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("SIGKILL", "a worker process was killed, probably for lack of memory; fewer jobs need less memory"),
        ("SIGABRT", "a worker process crashed (SIGABRT): a fault in motif or in one of its libraries"),
    ],
)
def test_the_end_of_a_worker_is_an_error_and_others_come_in_its_place(tmp_path, how, said):
    calls = [(number, tmp_path, getattr(signal, how)) for number in range(4)]
    with pytest.raises(WorkerError) as caught:
        list(run_ordered(end_of_a_worker, calls, 2))
    assert str(caught.value) == said
    assert list(run_ordered(square, [(2,), (3,)], 2)) == [4, 9]
