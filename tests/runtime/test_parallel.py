"""The same calls in one process and in several."""

import itertools
import os
import time

import pytest

from motif.runtime.errors import PlayError, SettingError
from motif.runtime.parallel import run_ordered, worker_count


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


def test_every_core():
    assert worker_count(None) == worker_count(-1) >= 1
    assert worker_count(3) == 3


@pytest.mark.parametrize("jobs", [0, -2])
def test_a_bad_number_of_jobs_is_an_error(jobs):
    with pytest.raises(SettingError, match=f"jobs must be at least 1 .* not {jobs}"):
        list(run_ordered(square, [(1,)], jobs))
