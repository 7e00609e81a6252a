"""Parallel execution.  The only module that imports joblib."""

import os
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
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
) -> Generator[_Result, None, None]:
    """Yield `function(*arguments)` for each of `calls`, in their order, as they become ready.

    With one worker everything runs in this process.  Who may leave before the end, by an error say,
    closes it (`contextlib.closing`), so that the work under way is called off at once.
    """
    workers = worker_count(jobs)
    if workers == 1:
        for arguments in calls:
            yield function(*arguments)
        return
    import joblib

    runner = joblib.Parallel(n_jobs=workers, return_as="generator", pre_dispatch="2*n_jobs")
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
