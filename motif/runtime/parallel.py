"""Parallel execution on the cores of this machine or on a cluster, and its interruption.

A terminal sends SIGINT to every process of the group, and a supervisor may send SIGTERM to all of them.  Only
the main process reacts; workers ignore signals and end when the main process cancels their work or has ended.

Resumable work (`run_until`) stops on request: calls in progress finish within a few seconds or are abandoned,
and calls that are only submitted are not started.
"""

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from functools import lru_cache, partial
from itertools import chain, islice, takewhile
from multiprocessing import resource_tracker
from pathlib import Path
from pickle import PicklingError
from shutil import rmtree
from tempfile import gettempdir
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import uuid4

from motif.runtime.cache_folder import NOTICE
from motif.runtime.errors import SettingError, WorkerError, shown
from motif.runtime.layout import wrapped
from motif.runtime.progress import COMPILATION, Span, during, end_if_cancelled, heard_by, progress
from motif.runtime.settings import is_whole

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

    from motif.runtime.cluster import Cluster


TERMINATIONS = (signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))
"""Signals that act like Ctrl-C: of a supervisor, and of a terminal that is closed."""
REQUESTS = (signal.SIGINT, *TERMINATIONS)
"""Signals that request a stop."""
_SECONDS_BETWEEN_LOOKS = 0.5
MAX_JOBS = 1024
"""Maximum number of worker processes on one machine, which all start at once."""
SECONDS_TO_FINISH = 4.0
"""Seconds within which calls in progress must finish after a stop is requested."""


class StopRequest:
    """A request to stop work."""

    def __init__(self) -> None:
        self.made = False
        self._made_at = 0.0
        self._marks: list[Path] = []

    def make(self) -> None:
        """Request the stop."""
        self.made, self._made_at = True, time.monotonic()
        for mark in self._marks:
            _touch(mark)

    @property
    def is_due(self) -> bool:
        """Whether the request is so old that calls in progress are abandoned."""
        return self.made and time.monotonic() - self._made_at >= SECONDS_TO_FINISH

    @contextmanager
    def shown_by(self, mark: Path) -> Iterator[None]:
        """Create the file `mark`, which other processes see, when the request is made."""
        self._marks.append(mark)
        if self.made:
            _touch(mark)
        try:
            yield
        finally:
            self._marks.remove(mark)


class GivenUpError(Exception):
    """Raised by `check_stop` to abandon work."""


@contextmanager
def stop_request(notice: str) -> Iterator[StopRequest]:
    """Turn the first signal in the block into a request; a second one raises `KeyboardInterrupt`.

    The first signal prints `notice` on a terminal.  Only the main thread receives signals; in others this has
    no effect.
    """
    request = StopRequest()

    def hear(number: int, frame: FrameType | None) -> None:
        if request.made:
            raise KeyboardInterrupt
        request.make()
        with suppress(OSError, ValueError):
            if sys.stderr.isatty():
                # The signal may have interrupted a print, which must not be called again then.
                os.write(sys.stderr.fileno(), f"\n{wrapped(notice, sys.stderr)}\n".encode())

    with handled(REQUESTS, hear):
        yield request


@contextmanager
def handled(numbers: tuple[int, ...], handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Install `handler` for some signals in the block, except for ignored ones (as by ``nohup``)."""
    previous = {}
    if threading.current_thread() is threading.main_thread():
        previous = {number: signal.getsignal(number) for number in numbers}
    # None stands for a handler that Python did not install and cannot restore.
    previous = {n: before for n, before in previous.items() if before not in (None, signal.SIG_IGN)}
    try:
        for number in previous:
            signal.signal(number, handler)
        yield
    finally:
        for number, before in previous.items():
            signal.signal(number, before)


@contextmanager
def starting_workers() -> Iterator[None]:
    """Block signals in processes that start in the block, until `begin_worker` ignores them.

    Otherwise a signal that arrives while they import modules would kill them with a traceback.  Processes
    inherit blocked signals; this process receives them at the end of the block.
    """
    if hasattr(signal, "pthread_sigmask"):
        # Started now, because a start in the block would unblock the signals.
        _start_tracker(resource_tracker.ensure_running)
    with _blocked(REQUESTS):
        yield


def _start_tracker(start: Callable[[], object]) -> None:
    # Trackers ignore SIGINT and SIGTERM themselves, but a closed terminal would end them.
    with _blocked(TERMINATIONS):
        start()


@contextmanager
def _blocked(numbers: Iterable[int]) -> Iterator[None]:
    """Block signals in the block, and for good in processes that start in it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


def begin_worker(parent: int) -> None:
    """Initialise a worker process: ignore signals, and end when the process `parent` has ended."""
    NOTICE.is_said = True
    for number in REQUESTS:
        signal.signal(number, signal.SIG_IGN)
    end_with(parent)


def end_with(parent: int) -> None:
    """Let this process end soon after the process `parent`, which started it."""
    threading.Thread(target=_end_without, args=(parent,), daemon=True).start()


def _end_without(parent: int) -> None:
    # Kernels release the GIL, so they do not delay this thread.
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)


_Result = TypeVar("_Result")
_cluster: ContextVar["Cluster | None"] = ContextVar("cluster", default=None)
"""The cluster that runs the calls of `run_ordered`; None means this machine."""


@contextmanager
def working_on(cluster: str | None) -> Iterator[None]:
    """Run long work in the block on a dask cluster.

    Results are identical to those of this machine.

    Parameters
    ----------
    cluster
        Address of the cluster's scheduler, ``tcp://HOST:PORT``; None means this machine.  On a
        cluster, the argument `jobs` of functions in the block has no effect.

    Raises
    ------
    ClusterError
        If dask is not installed, the scheduler does not answer, or a worker has another version of motif or
        of its libraries.

    Examples
    --------
    >>> with motif.working_on("tcp://10.0.0.2:8786"):  # doctest: +SKIP
    ...     motif.rollout("4HPwATDgc/ABMA", trials=10_000)
    """
    connection: AbstractContextManager[Cluster | None] = nullcontext()
    if cluster is not None:
        from motif.runtime.cluster import connected

        connection = connected(cluster)
    with connection as workers, during(_cluster, workers):
        yield


def worker_count(jobs: int | None) -> int:
    """Return the number of worker processes for `jobs`: None and -1 mean all cores of this machine."""
    if jobs is not None and not is_whole(jobs):
        raise SettingError(f"jobs must be a whole number, not {shown(jobs)}", "jobs")
    if jobs is None or jobs == -1:
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else os.cpu_count() or 1
    if jobs < 1:
        raise SettingError(f"jobs must be at least 1, or -1 for all cores, not {shown(jobs)}", "jobs")
    if jobs > MAX_JOBS:
        raise SettingError(f"jobs must be at most {MAX_JOBS}, not {shown(jobs)}", "jobs")
    return jobs


def run_ordered(
    function: Callable[..., _Result], calls: Iterable[tuple[object, ...]], jobs: int | None = None
) -> Generator[_Result, None, None]:
    """Yield `function(*arguments)` for each of `calls`, in order, as they become ready.

    With one worker everything runs in this process; in a block of `working_on`, on a cluster.  Bind data that
    all calls share to `function` with `functools.partial`: it is sent to each worker of a cluster once.
    Close the generator (`contextlib.closing`) if you may leave it early, for example by an exception, so that
    the remaining work is cancelled immediately.
    """
    for result in _run(function, calls, jobs, None):
        yield cast(_Result, result)


def run_batches(
    function: Callable[..., _Result],
    columns: Sequence[Any],
    size: int,
    label: str,
    jobs: int | None = None,
) -> Iterator[_Result]:
    """Yield the results of `function` on batches of at most `size` rows of `columns` (n, ...), in order.

    `label` shows the progress.  A single batch runs in this process.
    """
    starts = range(0, len(columns[0]), size)
    calls = (tuple(column[start : start + size] for column in columns) for start in starts)
    with (
        progress(label, len(columns[0])) as advance,
        closing(run_ordered(function, calls, jobs if len(starts) > 1 else 1)) as results,
    ):
        for start, result in zip(starts, results, strict=True):
            advance(min(size, len(columns[0]) - start))
            yield result


def run_until(
    stop: StopRequest,
    function: Callable[..., _Result],
    calls: Iterable[tuple[object, ...]],
    jobs: int | None = None,
) -> Generator[_Result | None, None, None]:
    """Do the same as `run_ordered` until `stop` is requested; then yield None for calls that are not done.

    No call is started after the request.  Calls in progress may finish within `SECONDS_TO_FINISH`; later
    they are abandoned where `function` calls `check_stop`.
    """
    return _run(function, takewhile(lambda _: not stop.made, calls), jobs, stop)


def check_stop() -> None:
    """Raise `GivenUpError`, which `run_until` catches, if a requested stop is due.

    Call it between the steps of a function that `run_until` runs.
    """
    if _Workplace.stop is not None and _Workplace.stop.is_due:
        raise GivenUpError
    if _Workplace.board is None:
        return
    with suppress(OSError):
        # The file has the time of the request, which another process made.
        if time.time() - (_Workplace.board / _STOPPING).stat().st_mtime >= SECONDS_TO_FINISH:
            raise GivenUpError


def _run(
    function: Callable[..., _Result],
    calls: Iterable[tuple[object, ...]],
    jobs: int | None,
    stop: StopRequest | None,
) -> Generator[_Result | None, None, None]:
    workers = worker_count(jobs)
    if (cluster := _cluster.get()) is not None:
        yield from cluster.run_ordered(function, calls, stop)
        return
    if workers > (cores := worker_count(None)):
        # All workers start at once; those beyond both the cores and the calls would have nothing to do.
        calls = iter(calls)
        first = list(islice(calls, workers))
        workers, calls = min(workers, max(2, cores, len(first))), chain(first, calls)
    if workers == 1:
        for arguments in calls:
            end_if_cancelled()
            yield _done_here(function, arguments, stop)
        return
    import joblib
    from joblib.externals.loky.backend import resource_tracker
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    # joblib replaces workers whose memory has grown.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
    runner = joblib.Parallel(
        n_jobs=workers,
        return_as="generator",
        pre_dispatch="2*n_jobs",
        initializer=begin_worker,
        initargs=(os.getpid(),),
    )
    _start_tracker(resource_tracker.ensure_running)
    with (
        _notice_board() as board,
        _hearing_of_compilation(board / _COMPILING) as is_said,
        nullcontext() if stop is None else stop.shown_by(board / _STOPPING),
    ):
        with starting_workers():
            work = partial(_work, function, board, is_said, os.getpid())
            results = runner(joblib.delayed(work)(*arguments) for arguments in calls)
        try:
            for result, spans in results:
                COMPILATION.spans += spans
                yield result
        except TerminatedWorkerError as error:
            raise WorkerError(_end_of_a_worker(str(error)), "jobs") from None
        except PicklingError as error:
            *_, last = [line for line in str(error.__cause__ or error).splitlines() if line.strip('" ')]
            raise WorkerError(
                f"the work cannot be sent to other processes: {last}; use {{jobs}}=1", "jobs"
            ) from None
        finally:
            with warnings.catch_warnings():
                # joblib warns about cancelled work, which is intended here.
                warnings.simplefilter("ignore", UserWarning)
                results.close()


_CRASHES = ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGFPE")


def _end_of_a_worker(said: str) -> str:
    """Return a message for a worker that ended; joblib's message `said` has the exit code if known."""
    if crash := next((name for name in _CRASHES if name in said), None):
        return f"a worker process crashed ({crash}): a fault in motif or in one of its libraries"
    return "a worker process was killed, probably for lack of memory; fewer {jobs} need less memory"


class _Workplace:
    """State of this process as a worker."""

    board: Path | None = None
    """The notice board shared with other workers; None in the main process."""
    stop: StopRequest | None = None
    """The request that may stop work in this process."""


def _done_here(
    function: Callable[..., _Result], arguments: tuple[object, ...], stop: StopRequest | None
) -> _Result | None:
    """Return the result of `function`; None if it was abandoned."""
    if stop is None:
        return function(*arguments)
    before, _Workplace.stop = _Workplace.stop, stop
    try:
        return function(*arguments)
    except GivenUpError:
        return None
    finally:
        _Workplace.stop = before


def threads_here() -> int:
    """Return the best number of threads for this process: its share of the cores among busy workers."""
    cores, busy = worker_count(None), 1
    if _Workplace.board is not None:
        with suppress(OSError):
            busy = sum(1 for _ in _Workplace.board.glob(f"{_BUSY}*"))
    return max(1, cores // max(1, busy))


def _work(
    function: Callable[..., _Result], board: Path, is_said: bool, caller: int, *arguments: object
) -> tuple[_Result | None, list[Span]]:
    """Run `function` in a worker; return its result and the times of compilations.

    The result is None if a requested stop kept the function from starting or finishing.

    Only the main process announces compilations, unless it has done so (`is_said`); a file on the notice
    board informs it.  The workers of a worker are threads of its process, `caller`, which records
    compilations itself.
    """
    if os.getpid() == caller:
        return function(*arguments), []
    if (board / _STOPPING).exists():
        return None, []
    # Workers are reused, so only the main process knows whether compilation was announced.
    COMPILATION.is_said = is_said
    if not is_said:
        COMPILATION.say = partial(_touch, board / _COMPILING)
    before = len(COMPILATION.spans)
    _Workplace.board, busy = board, board / f"{_BUSY}{os.getpid()}"
    _touch(busy)
    try:
        with heard_by(lambda *news: None):  # progress is shown by the main process
            return function(*arguments), COMPILATION.spans[before:]
    except GivenUpError:
        return None, COMPILATION.spans[before:]
    finally:
        with suppress(OSError):
            busy.unlink()


_COMPILING, _STOPPING, _BUSY = "compiling", "stopping", "busy-"
"""Names of files on the notice board: two shared by all workers, and a prefix of one per worker."""


@contextmanager
def _notice_board() -> Iterator[Path]:
    """Yield a folder in which workers create empty files as signals to other processes.

    If it cannot be created, work continues without these signals.
    """
    board = Path(gettempdir()) / f"motif-{uuid4()}"
    with suppress(OSError):
        board.mkdir()
    try:
        yield board
    finally:
        rmtree(board, ignore_errors=True)


def _touch(mark: Path) -> None:
    with suppress(OSError):
        mark.touch()


@contextmanager
def _hearing_of_compilation(mark: Path) -> Iterator[bool]:
    """Announce compilation once the file `mark` exists; yield whether it was announced before."""
    if COMPILATION.is_said:
        yield True
        return
    is_over = threading.Event()

    def listen() -> None:
        while not (mark.exists() or is_over.wait(_SECONDS_BETWEEN_LOOKS)):
            pass
        # Checked again, because on a busy machine the work may end before this thread looks.
        if mark.exists():
            COMPILATION.announce()

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        yield False
    finally:
        is_over.set()
        listener.join()


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit numerical libraries to one thread in the block, so that the order of sums is fixed."""
    with _libraries(len(sys.modules)).limit(limits=1):
        yield


@lru_cache(maxsize=1)
def _libraries(modules: int) -> "ThreadpoolController":
    """Return the numerical libraries in use; imported `modules` may have loaded more of them.

    Looking for them takes milliseconds, which short fits would spend for the most part.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
