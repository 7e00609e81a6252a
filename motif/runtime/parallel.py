"""Parallel execution.  The only module that imports joblib."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from motif.runtime.errors import SettingError

_Result = TypeVar("_Result")


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
) -> Iterator[_Result]:
    """Yield `function(*arguments)` for each of `calls`, in their order, as they become ready.

    With one worker everything runs in this process.
    """
    workers = worker_count(jobs)
    if workers == 1:
        for arguments in calls:
            yield function(*arguments)
        return
    import joblib

    runner = joblib.Parallel(n_jobs=workers, return_as="generator", pre_dispatch="2*n_jobs")
    yield from runner(joblib.delayed(function)(*arguments) for arguments in calls)


@contextmanager
def one_thread() -> Iterator[None]:
    """Let numerical libraries use one thread in the block, so that sums have one order."""
    with threadpool_limits(1):
        yield
