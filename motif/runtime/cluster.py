"""Work on a dask cluster; the only module that imports dask.

joblib has a dask backend, but it never returns from a call that dask abandons because too many workers died,
and it sends shared data again with every call.  Therefore calls are submitted to dask directly.
"""

import asyncio
import hashlib
import itertools
import logging
import platform
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from concurrent.futures import Future as Fetched
from contextlib import contextmanager, suppress
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

from motif.runtime.errors import ClusterError, shown
from motif.runtime.package import VERSION, install_command

if TYPE_CHECKING:
    from distributed import Client, Future

    from motif.runtime.parallel import StopRequest

_PACKAGE = Path(__file__).resolve().parent.parent


@cache
def build_facts() -> dict[str, str]:
    """Return the facts, by name, that two processes must share to compute identical bytes.

    Kernels are compiled for the processor they run on and call the C library's tanh; numpy has a different
    tanh for each kind of processor.  The last bit of a value can decide between two plays.
    """
    from numpy import show_config

    from motif.compiler.jit import compilation_target, way

    processor, features = compilation_target()
    paths = sorted(_PACKAGE.rglob("*.py"))
    source = [
        part for path in paths for part in (str(path.relative_to(_PACKAGE)).encode(), path.read_bytes())
    ]
    extensions = show_config(mode="dicts")["SIMD Extensions"]
    return {
        "motif": VERSION,
        "source": _digest(*source),
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": f"{version('numpy')} for {' '.join(extensions.get('found', ())) or 'any processor'}",
        **{name: version(name) for name in ("numba", "llvmlite")},
        "system": f"{platform.system()} {platform.machine()}",
        "C library": " ".join(platform.libc_ver()).strip() or "unknown",
        "compiler": way(),
        "processor": f"{processor} ({_digest(features.encode())})",
    }


@cache
def build_id() -> str:
    """Return a digest of `build_facts`."""
    return _digest(repr(build_facts()).encode())


def _digest(*parts: bytes) -> str:
    """Return a short hash of `parts`, delimited by their lengths."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:12]


_Result = TypeVar("_Result")
_ATTEMPTS = 5
_ANSWER_SECONDS = 5
_FIRST_WORKER_SECONDS = 10
_WITHOUT_WORKERS_SECONDS = 60
"""Seconds to wait for a worker before giving up."""
_SECONDS_BETWEEN_LOOKS = 2
_CALLS_A_THREAD = 3
"""Calls submitted in advance per thread, so that no worker is idle while the first call is slow."""
_MAX_TRIES = 10
"""Number of times that workers may die during a call before the call counts as the cause."""


@contextmanager
def connected(address: str) -> Iterator["Cluster"]:
    """Connect to the cluster whose scheduler is at `address`, ``tcp://HOST:PORT``.

    Raises `ClusterError` if dask is not installed, the scheduler does not answer, there is no worker, or a
    worker would not compute the same bytes as this process.
    """
    _check_address(address)
    try:
        import distributed  # noqa: F401 - only to test that it is installed
    except ImportError:
        raise ClusterError(f"a cluster requires dask: {install_command('cluster')}") from None
    with _quiet():
        try:
            # In a thread, because the caller may run an event loop, as notebooks do.
            with ThreadPoolExecutor(1) as thread:
                thread.submit(asyncio.run, _greet(address)).result()
            client = client_of(address)
        except (OSError, ValueError, RuntimeError, ImportError, AssertionError) as error:
            reason = " ".join(str(error).split()) or "no reply"
            raise ClusterError(f"{address}: no dask scheduler answers: {reason}") from None
        with client:
            _check_workers(client, address)
            yield Cluster(client, address)


def client_of(address: str) -> "Client":
    """Return dask's client of the scheduler at `address`.

    On a busy machine the scheduler's first message may arrive together with a second one, for which dask
    raises an `AssertionError`; the connection is then retried.
    """
    from distributed import Client

    attempt = partial(Client, address, timeout=_ANSWER_SECONDS, set_as_default=False)
    for _ in range(_ATTEMPTS - 1):
        with suppress(AssertionError):
            return attempt()
    return attempt()


async def _greet(address: str) -> None:
    """Check that a scheduler answers, because a `Client` would wait forever."""
    from distributed import Security
    from distributed.core import connect

    arguments = Security().get_connection_args("client")
    comm = await asyncio.wait_for(connect(address, timeout=_ANSWER_SECONDS, **arguments), _ANSWER_SECONDS)
    await comm.close()


class Cluster:
    """Workers for the calls of `motif.runtime.parallel.run_ordered`."""

    def __init__(self, client: "Client", address: str) -> None:
        self.address = address
        self._client = client
        self._threads = 1
        self._looked = -float("inf")
        self._worked = time.monotonic()

    def run_ordered(
        self,
        function: Callable[..., _Result],
        calls: Iterable[tuple[object, ...]],
        stop: "StopRequest | None" = None,
    ) -> Generator[_Result | None, None, None]:
        """Do the same as `motif.runtime.parallel.run_ordered`; workers pass `function` on to each other.

        Yields None for calls that are not done soon after a `stop` is requested.
        """
        work = _Work(self._client, self.address, function)
        waiting: deque[_Call] = deque()
        try:
            for arguments in calls:
                while len(waiting) >= _CALLS_A_THREAD * self._thread_count():
                    yield self._result(work, waiting, stop)
                waiting.append(work.submit(arguments))
            while waiting:
                yield self._result(work, waiting, stop)
        finally:
            with suppress(Exception):  # the scheduler may be gone
                self._client.cancel([call.future for call in waiting], force=True)

    def _result(self, work: "_Work", waiting: "deque[_Call]", stop: "StopRequest | None") -> Any:
        """Remove the first waiting call and return its result; None if it is abandoned."""
        from distributed import KilledWorker

        tries = 1
        while True:
            try:
                is_due = stop is not None and stop.is_due
                result = waiting[0].fetched.result(timeout=0 if is_due else _SECONDS_BETWEEN_LOOKS)
            except TimeoutError:
                if waiting[0].fetched.done():  # raised by the function
                    raise
                if is_due:
                    self._client.cancel([waiting.popleft().future], force=True)
                    return None
                self._thread_count()
            except KilledWorker:
                if tries == _MAX_TRIES:
                    where = f"{self.address}: {waiting[0].future.key}"
                    raise ClusterError(
                        f"{where}: every worker died while running it, perhaps for lack of memory"
                    ) from None
                # Not dask's `retry`, which loses a result that arrives before it returns.
                tries += 1
                waiting[0] = work.submit(waiting[0].arguments)
            except CancelledError:
                raise ClusterError(f"{self.address}: the scheduler is no longer reachable") from None
            else:
                waiting.popleft()
                return result

    def _thread_count(self) -> int:
        """Return the number of threads, at least 1; raises `ClusterError` after too long without workers."""
        now = time.monotonic()
        if now - self._looked >= _SECONDS_BETWEEN_LOOKS:
            self._looked = now
            try:
                self._threads = sum(self._client.nthreads().values())
            except OSError:
                raise ClusterError(f"{self.address}: the scheduler is no longer reachable") from None
            if self._threads:
                self._worked = now
            elif now - self._worked > _WITHOUT_WORKERS_SECONDS:
                raise ClusterError(f"{self.address}: no worker for {_WITHOUT_WORKERS_SECONDS} seconds")
        return max(1, self._threads)


class _Call(NamedTuple):
    arguments: tuple[object, ...]
    future: "Future"
    fetched: "Fetched[Any]"
    """The result, fetched as soon as it is available, so that it is not lost with its worker."""


class _Work:
    """A function, which is sent once, and its calls."""

    def __init__(self, client: "Client", address: str, function: Callable[..., object]) -> None:
        from distributed.protocol.pickle import dumps

        self._address = address
        self._client = client
        self._name = f"{_name(function)}-{uuid4().hex}"
        self._packed = dumps(function)
        self._numbers = itertools.count()
        self._sent: Future | None = None

    def submit(self, arguments: tuple[object, ...]) -> _Call:
        """Submit a call."""
        if self._client.status != "running":
            raise ClusterError(f"{self._address}: the scheduler is no longer reachable")
        if self._sent is None or self._sent.status == "error":  # workers died
            # A call, not scattered data, so that dask can repeat it if the worker that holds it dies.
            self._sent = self._client.submit(_unpacked, self._packed, key=f"function-of-{self._key()}")
        future = self._client.submit(_called, self._sent, arguments, build_id(), key=self._key())
        fetching = self._client.gather(future, asynchronous=True)
        loop: Any = self._client.loop
        return _Call(arguments, future, asyncio.run_coroutine_threadsafe(fetching, loop.asyncio_loop))

    def _key(self) -> str:
        return f"{self._name}-{next(self._numbers)}"


def _check_address(address: object) -> None:
    try:
        parts = urlsplit(str(address))
        well_formed = parts.scheme in ("tcp", "tls") and parts.hostname and parts.port and not parts.path
    except ValueError:
        well_formed = False
    if not (isinstance(address, str) and well_formed):
        raise ClusterError(f"invalid cluster {shown(address)}: it must be tcp://HOST:PORT")


def _check_workers(client: "Client", address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=_FIRST_WORKER_SECONDS)
    except TimeoutError:
        raise ClusterError(f"{address}: the scheduler has no workers") from None
    for worker, facts in client.run(build_facts, on_error="return").items():
        if isinstance(facts, OSError):
            continue  # the worker has just died; workers are also checked at each call
        if isinstance(facts, BaseException):
            raise ClusterError(f"{worker}: cannot run motif: {' '.join(str(facts).split())}")
        for name, value in build_facts().items():
            if (other := facts.get(name)) != value:
                both = f"has {name} {other}, this program has {value}"
                raise ClusterError(f"{worker}: {both}; results would differ")


def _name(function: Callable[..., object]) -> str:
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__name__", type(function).__name__)


def _unpacked(packed: bytes) -> object:
    """Return the function that was sent; runs on a worker."""
    from distributed.protocol.pickle import loads

    return loads(packed)


def _called(function: Callable[..., object], arguments: tuple[object, ...], build: str) -> object:
    """Run a call on a worker; a worker of another build, which joined after the check, refuses."""
    if build != build_id():
        from distributed import get_worker

        raise ClusterError(f"{get_worker().address}: its motif or its libraries differ from this program's")
    return function(*arguments)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence dask's log messages, because failures raise errors."""
    from dask import config

    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == "distributed"]
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        # Only the function itself is large.
        with config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
