"""Calls on a cluster of real processes, as in `tests/runtime/test_parallel.py` on this machine."""

import itertools
import os
from functools import partial

import distributed
import pytest
from distributed import Client

from motif.runtime import cluster as cluster_module
from motif.runtime import parallel
from motif.runtime.errors import PlayError
from motif.runtime.parallel import StopRequest, run_ordered, run_until, working_on
from tests.cluster.work import (
    Counted,
    arrivals,
    calls_held,
    leave_a_mark,
    met,
    napping,
    process_of,
    refuse,
    time_out,
    wait_until,
)
from tools.local_cluster import machines
from tools.relay import relay


@pytest.fixture
def on_cluster(cluster):
    with working_on(cluster):
        yield


@pytest.mark.usefixtures("on_cluster")
def test_results_come_in_the_order_of_the_calls():
    calls = [(number, 0.3 if number == 0 else 0.0) for number in range(20)]
    assert list(run_ordered(napping, calls)) == list(range(20))
    assert list(run_ordered(napping, [])) == []


@pytest.mark.usefixtures("on_cluster")
def test_both_workers_work_and_the_client_does_not(tmp_path):
    workers = set(run_ordered(met, ((tmp_path, 2) for _ in range(10)), 1))
    assert len(workers) == 2
    assert os.getpid() not in workers
    with working_on(None):
        assert set(run_ordered(process_of, [(0,)], 1)) == {os.getpid()}


def test_more_than_one_first_message_of_the_scheduler_is_not_an_error(cluster, monkeypatch):
    """dask asserts that there is only one message, which is not true on a busy machine."""
    attempts = []

    def client(*words, **more):
        attempts.append(words)
        if len(attempts) == 1:
            raise AssertionError
        return Client(*words, **more)

    monkeypatch.setattr(distributed, "Client", client)
    with working_on(cluster):
        assert list(run_ordered(process_of, [(0,)])) != [os.getpid()]
    assert len(attempts) == 2


def test_work_after_the_block_is_local(cluster):
    with working_on(cluster):
        pass
    assert list(run_ordered(process_of, [(0,)], 1)) == [os.getpid()]


@pytest.mark.usefixtures("on_cluster")
@pytest.mark.parametrize(("function", "kind"), [(refuse, PlayError), (time_out, TimeoutError)])
def test_an_error_in_a_call_reaches_the_caller(function, kind):
    with pytest.raises(kind, match=": 7"):
        list(run_ordered(function, [(7,)]))


@pytest.mark.usefixtures("on_cluster")
def test_calls_are_handed_out_as_they_are_needed():
    taken = itertools.count()
    endless = run_ordered(napping, ((number,) for number in taken))
    assert [next(endless) for _ in range(30)] == list(range(30))
    endless.close()
    assert next(taken) <= 30 + 3 * 2 + 1


@pytest.mark.usefixtures("on_cluster")
def test_a_stop_abandons_outstanding_work(tmp_path, monkeypatch):
    monkeypatch.setattr(parallel, "SECONDS_TO_FINISH", 0.0)
    stop = StopRequest()
    results = run_until(stop, partial(leave_a_mark, tmp_path), ((number,) for number in itertools.count()))
    next(results)
    stop.make()
    assert set(results) <= {None, 1, 2}
    (tmp_path / "go").touch()


@pytest.mark.usefixtures("on_cluster")
def test_closing_cancels_outstanding_work(cluster, tmp_path, monkeypatch):
    def most_held() -> int:
        return max(client.run(calls_held).values())

    monkeypatch.setattr(cluster_module, "_CALLS_A_THREAD", 20)
    results = run_ordered(partial(leave_a_mark, tmp_path), ((number,) for number in range(100)))
    next(results)
    # At most two calls are in progress; they wait for the message that is sent after this call has returned.
    results.close()
    with cluster_module.client_of(cluster) as client:
        wait_until(lambda: most_held() <= 2)
        before = len(list(tmp_path.glob("mark-*")))
        (tmp_path / "go").touch()
        wait_until(lambda: most_held() == 0)
    assert len(list(tmp_path.glob("mark-*"))) <= before + 2  # of the 40 handed out
    assert list(run_ordered(napping, [(1,)])) == [1]


def test_shared_data_are_sent_once_per_worker(cluster, tmp_path):
    size, calls = 300_000, 60
    with relay(cluster) as between, working_on(between.address):
        before = between.sent
        found = set(run_ordered(partial(arrivals, Counted(size)), ((tmp_path,) for _ in range(calls))))
        sent = between.sent - before
    assert sorted(found) == sorted((pid, size, 1) for pid in {pid for pid, _, _ in found})
    assert len(found) == 2
    assert size < sent < size + calls * 2_500


@pytest.mark.slow
def test_a_call_comes_back_although_dask_gives_it_up():
    # With its default setting, dask gives up a task as soon as one worker dies with it.
    with (
        machines(2, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0") as started,
        working_on(started.address),
    ):
        started.add_worker()
        results = run_ordered(process_of, ((number, 0.1) for number in range(24)))
        found = [next(results)]
        started.workers[0].kill()
        found += itertools.islice(results, 12)
        started.workers[1].kill()
        found += results
    assert len(found) == 24
    assert found[-1] == started.workers[2].pid
