"""Parallel execution.  The only module that imports joblib."""

import os
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from threadpoolctl import threadpool_limits

from motif.runtime.errors import SettingError
from motif.runtime.interruption import begin_worker, starting_workers

if TYPE_CHECKING:
    from motif.runtime.cluster import Cluster

_Result = TypeVar("_Result")

_cluster: ContextVar["Cluster | None"] = ContextVar("cluster", default=None)
"""Who works for `run_ordered`; None is this machine."""


@contextmanager
def working_on(cluster: str | None) -> Iterator[None]:
    """Within the block let long work be done by a dask cluster, or by this machine again for None.

    `cluster` is the address of its scheduler, ``tcp://HOST:PORT``; `jobs` then counts for nothing.
    Results have the same bytes as on this machine.  Raises `ClusterError` when dask is not installed,
    nobody answers, or a worker is of another version.
    """
    if cluster is None:
        with _handing_to(None):
            yield
        return
    from motif.runtime.cluster import connected

    with connected(cluster) as workers, _handing_to(workers):
        yield


@contextmanager
def _handing_to(cluster: "Cluster | None") -> Iterator[None]:
    token = _cluster.set(cluster)
    try:
        yield
    finally:
        _cluster.reset(token)


def worker_count(jobs: int | None) -> int:
    """Number of worker processes meant by `jobs`: None or -1 is every core of this machine."""
    if jobs is None or jobs == -1:
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else os.cpu_count() or 1
    if jobs < 1:
        raise SettingError(f"--jobs must be at least 1 (or -1 for every core), not {jobs}")
    return jobs


def run_ordered(
    function: Callable[..., _Result], calls: Iterable[tuple[Any, ...]], jobs: int | None = None
) -> Generator[_Result, None, None]:
    """Yield `function(*arguments)` for each of `calls`, in their order, as they become ready.

    With one worker everything runs in this process; in a block of `working_on` a cluster does it.
    What all calls share is bound to `function` (`functools.partial`): a cluster sends that once a worker.
    Who may leave before the end, by an error say, closes it (`contextlib.closing`), so that the work
    under way is called off at once.
    """
    workers = worker_count(jobs)
    if (cluster := _cluster.get()) is not None:
        yield from cluster.run_ordered(function, calls)
        return
    if workers == 1:
        for arguments in calls:
            yield function(*arguments)
        return
    import joblib
    from joblib.externals.loky.backend import resource_tracker

    # A worker whose memory has grown is replaced by a new one, which is as it should be.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
    runner = joblib.Parallel(
        n_jobs=workers,
        return_as="generator",
        pre_dispatch="2*n_jobs",
        initializer=begin_worker,
        initargs=(os.getpid(),),
    )
    resource_tracker.ensure_running()
    with starting_workers():
        results = runner(joblib.delayed(function)(*arguments) for arguments in calls)
    try:
        # Not `yield from`, which would close the results outside of the block below.
        for result in results:  # noqa: UP028
            yield result
    finally:
        with warnings.catch_warnings():
            # joblib warns of work that it calls off; here that is what the caller wants.
            warnings.simplefilter("ignore", UserWarning)
            results.close()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let numerical libraries use one thread in the block, so that sums have one order."""
    with threadpool_limits(1):
        yield
