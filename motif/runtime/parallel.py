"""Parallel execution, and Ctrl-C and SIGTERM in it; the only module that imports joblib.

A terminal sends SIGINT to every process of the group, and a supervisor may do so with SIGTERM.  Only
the process that was started decides what comes of it; workers go on until it calls them off, and end
by themselves when it is gone.

Work that can go on another day (`run_until`) is asked to stop: what is under way is finished within some
seconds or given up, and what has only been handed out is not begun.
"""

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from functools import partial
from itertools import takewhile
from multiprocessing import resource_tracker
from pathlib import Path
from pickle import PicklingError
from shutil import rmtree
from tempfile import gettempdir
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import uuid4

from motif.runtime.cache_folder import NOTICE
from motif.runtime.errors import SettingError, WorkerError
from motif.runtime.progress import COMPILATION, Span, checkpoint

if TYPE_CHECKING:
    from motif.runtime.cluster import Cluster


REQUESTS = (signal.SIGINT, signal.SIGTERM)
"""Signals that ask for an end."""
_SECONDS_BETWEEN_LOOKS = 0.5


SECONDS_TO_FINISH = 4.0
"""What is under way when a stop is asked for may take so long to be finished."""


class StopRequest:
    """Whether an end has been asked for, and when."""

    def __init__(self) -> None:
        self.made = False
        self._made_at = 0.0
        self._marks: list[Path] = []

    def make(self) -> None:
        """Ask for an end."""
        self.made, self._made_at = True, time.monotonic()
        for mark in self._marks:
            _touch(mark)

    @property
    def is_due(self) -> bool:
        """Whether that was so long ago that what is under way is to be given up."""
        return self.made and time.monotonic() - self._made_at >= SECONDS_TO_FINISH

    @contextmanager
    def shown_by(self, mark: Path) -> Iterator[None]:
        """Let there be a file `mark` in the block as soon as the request is made, for other processes."""
        self._marks.append(mark)
        if self.made:
            _touch(mark)
        try:
            yield
        finally:
            self._marks.remove(mark)


class GivenUpError(Exception):
    """Raised by `check_stop` in work that is not to be finished."""


@contextmanager
def stop_request(notice: str) -> Iterator[StopRequest]:
    """Let the first signal in the block only make the request; a second one raises `KeyboardInterrupt`.

    `notice` is said on a terminal at the first one.  Outside of the main thread, which alone hears
    signals, nothing changes.
    """
    request = StopRequest()

    def hear(number: int, frame: FrameType | None) -> None:
        if request.made:
            raise KeyboardInterrupt
        request.make()
        with suppress(OSError, ValueError):
            if sys.stderr.isatty():
                # Not print, which may be under way in the code that the signal interrupts.
                os.write(sys.stderr.fileno(), f"\n{notice}\n".encode())

    with handled(REQUESTS, hear):
        yield request


@contextmanager
def handled(numbers: tuple[int, ...], handler: Any) -> Iterator[None]:
    """Let `handler` have those signals in the block, but for those that are ignored (as by ``nohup``)."""
    previous = {}
    if threading.current_thread() is threading.main_thread():
        previous = {number: signal.getsignal(number) for number in numbers}
    # None is a handler that Python does not know, and could not put back.
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
    """Let processes that are started in the block begin life deaf to signals, as `begin_worker` makes them.

    Otherwise one that comes while they import things kills them, with a traceback.  A program inherits
    which signals are blocked where it is started; here they are heard when the block is left.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Started in the block it would let signals through again.
    resource_tracker.ensure_running()
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, REQUESTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


def begin_worker(parent: int) -> None:
    """Begin a worker process: hear no signals, and end when process `parent` has gone."""
    NOTICE.is_said = True
    for number in REQUESTS:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_without, args=(parent,), daemon=True).start()


def _end_without(parent: int) -> None:
    # Compiled work does not hold up this thread: kernels release Python's lock.
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)


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
    hands: AbstractContextManager[Cluster | None] = nullcontext()
    if cluster is not None:
        from motif.runtime.cluster import connected

        hands = connected(cluster)
    with hands as workers:
        token = _cluster.set(workers)
        try:
            yield
        finally:
            _cluster.reset(token)


def worker_count(jobs: int | None) -> int:
    """Return the number of worker processes meant by `jobs`: None or -1 is every core of this machine."""
    if jobs is None or jobs == -1:
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else os.cpu_count() or 1
    if jobs < 1:
        raise SettingError(f"jobs must be at least 1 (or -1 for every core), not {jobs}", "jobs")
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
    for result in _run(function, calls, jobs, None):
        yield cast(_Result, result)


def run_until(
    stop: StopRequest,
    function: Callable[..., _Result],
    calls: Iterable[tuple[Any, ...]],
    jobs: int | None = None,
) -> Generator[_Result | None, None, None]:
    """As `run_ordered`, until a `stop` is asked for; from then on None for a call whose work is not done.

    Nothing is begun then.  What is under way may be finished within `SECONDS_TO_FINISH`; after that it is
    given up where `function` calls `check_stop`.
    """
    return _run(function, takewhile(lambda _: not stop.made, calls), jobs, stop)


def check_stop() -> None:
    """Raise `GivenUpError` where a stop was asked for too long ago for work under way to be finished.

    For what `run_until` does, between its steps; that catches it.
    """
    if _Workplace.stop is not None and _Workplace.stop.is_due:
        raise GivenUpError
    if _Workplace.board is None:
        return
    with suppress(OSError):
        # By the clock of files: the request was made by another process.
        if time.time() - (_Workplace.board / _STOPPING).stat().st_mtime >= SECONDS_TO_FINISH:
            raise GivenUpError


def _run(
    function: Callable[..., _Result],
    calls: Iterable[tuple[Any, ...]],
    jobs: int | None,
    stop: StopRequest | None,
) -> Generator[_Result | None, None, None]:
    workers = worker_count(jobs)
    if (cluster := _cluster.get()) is not None:
        yield from cluster.run_ordered(function, calls, stop)
        return
    if workers == 1:
        for arguments in calls:
            checkpoint()
            yield _done_here(function, arguments, stop)
        return
    import joblib
    from joblib.externals.loky.backend import resource_tracker
    from joblib.externals.loky.process_executor import TerminatedWorkerError

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
                f"the work cannot be sent to other processes: {last}; take {{jobs}}=1", "jobs"
            ) from None
        finally:
            with warnings.catch_warnings():
                # joblib warns of work that it calls off; here that is what the caller wants.
                warnings.simplefilter("ignore", UserWarning)
                results.close()


_CRASHES = ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGFPE")


def _end_of_a_worker(said: str) -> str:
    """Return a message for the end of a worker; joblib has `said` the exit code, if it is known."""
    if crash := next((name for name in _CRASHES if name in said), None):
        return f"a worker process crashed ({crash}): a fault of motif or of a library that it uses"
    return "a worker process was killed, probably for lack of memory; fewer {jobs} need less of it"


class _Workplace:
    """Where this process works."""

    board: Path | None = None
    """The notice board that it shares with other workers; None for a process that is no worker."""
    stop: StopRequest | None = None
    """What may ask for an end of the work that this process does by itself."""


def _done_here(
    function: Callable[..., _Result], arguments: tuple[Any, ...], stop: StopRequest | None
) -> _Result | None:
    """Return what `function` returns; None where it was given up."""
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
    """Return the best number of threads in this process.

    That is the number of cores; in a worker, its share of them among the workers that are busy now.
    """
    cores, busy = worker_count(None), 1
    if _Workplace.board is not None:
        with suppress(OSError):
            busy = sum(1 for _ in _Workplace.board.glob(f"{_BUSY}*"))
    return max(1, cores // max(1, busy))


def _work(
    function: Callable[..., _Result], board: Path, is_said: bool, caller: int, *arguments: Any
) -> tuple[_Result | None, list[Span]]:
    """Run in a worker: what `function` returns, and when kernels were compiled for it.

    None where it is not begun, or was given up, because a stop has been asked for.

    That they are is for the main process to say, unless it `is_said`; a file on the notice board tells it.
    Workers of a worker are threads of its own process, which is `caller` then, and has heard of it.
    """
    if os.getpid() == caller:
        return function(*arguments), []
    if (board / _STOPPING).exists():
        return None, []
    # Workers live on: what was said is for the main process to know, not for this one.
    COMPILATION.is_said = is_said
    if not is_said:
        COMPILATION.say = partial(_touch, board / _COMPILING)
    before = len(COMPILATION.spans)
    _Workplace.board, busy = board, board / f"{_BUSY}{os.getpid()}"
    _touch(busy)
    try:
        return function(*arguments), COMPILATION.spans[before:]
    except GivenUpError:
        return None, COMPILATION.spans[before:]
    finally:
        _remove(busy)


_COMPILING, _STOPPING, _BUSY = "compiling", "stopping", "busy-"
"""What files on the notice board are called: two for all workers, and one for each, before its number."""


@contextmanager
def _notice_board() -> Iterator[Path]:
    """Provide a folder where workers leave empty files for other processes to see.

    Where none can be made, nobody sees anything, and work goes on without.
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


def _remove(mark: Path) -> None:
    with suppress(OSError):
        mark.unlink(missing_ok=True)


@contextmanager
def _hearing_of_compilation(mark: Path) -> Iterator[bool]:
    """Say that workers compile kernels as soon as there is a file `mark`; give whether it was said before."""
    if COMPILATION.is_said:
        yield True
        return
    is_over = threading.Event()

    def listen() -> None:
        while not (mark.exists() or is_over.wait(_SECONDS_BETWEEN_LOOKS)):
            pass
        # Also where it was over before this thread came to look again, as on a busy machine.
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
    """Let numerical libraries use one thread in the block, so that sums have one order."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield
