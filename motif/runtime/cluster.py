"""Work on a dask cluster.  The only module that imports dask.

joblib has a dask backend, but a call that dask gives up, because too many workers died over it, never
comes back from there, and what calls share goes with each of them.  So calls are handed to dask itself.
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

from motif.runtime.errors import ClusterError
from motif.runtime.package import VERSION, install_command

if TYPE_CHECKING:
    from distributed import Client, Future

    from motif.runtime.parallel import StopRequest

_PACKAGE = Path(__file__).resolve().parent.parent


@cache
def build_facts() -> dict[str, str]:
    """Return what two processes have to share for the same bytes to come of the same work, by its name.

    Kernels are compiled for the processor that they run on; tanh is the C library's there, and numpy's
    own for the processor elsewhere.  A last bit can decide a play.
    """
    from numpy import show_config

    from motif.compiler.jit import compilation_target, way

    processor, features = compilation_target()
    extensions = show_config(mode="dicts")["SIMD Extensions"]
    return {
        "motif": VERSION,
        "source": _digest(*_sources()),
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
    """One short name for all of `build_facts`."""
    return _digest(repr(build_facts()).encode())


def _sources() -> list[bytes]:
    """Name and text of every module of motif."""
    paths = sorted(_PACKAGE.rglob("*.py"))
    return [part for path in paths for part in (str(path.relative_to(_PACKAGE)).encode(), path.read_bytes())]


def _digest(*parts: bytes) -> str:
    """Return the beginning of a hash over `parts`, which are kept apart."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:12]


_Result = TypeVar("_Result")
_ATTEMPTS = 5
_ANSWER_SECONDS = 5
_FIRST_WORKER_SECONDS = 10
_WITHOUT_WORKERS_SECONDS = 60
"""How long a cluster may be without any worker before the work is given up."""
_SECONDS_BETWEEN_LOOKS = 2
_CALLS_A_THREAD = 3
"""Calls handed out at a time: enough that nobody waits while the first of them is slow."""
_MAX_TRIES = 10
"""How often dask may give a call up, because workers died over it, before the call is to blame."""


@contextmanager
def connected(address: str) -> Iterator["Cluster"]:
    """Provide the cluster whose scheduler is at `address`, ``tcp://HOST:PORT``.

    Raises `ClusterError` when dask is not installed, nobody answers, there is no worker, or a worker
    would not give the same bytes as this process.
    """
    _check_address(address)
    try:
        import distributed  # noqa: F401 - whether it is there
    except ImportError:
        raise ClusterError(f"a cluster needs dask: {install_command('cluster')}") from None
    with _quiet():
        try:
            # In a thread, because the caller may have an event loop of its own, as a notebook does.
            with ThreadPoolExecutor(1) as thread:
                thread.submit(asyncio.run, _greet(address)).result()
            client = client_of(address)
        except (OSError, ValueError, RuntimeError, ImportError, AssertionError) as error:
            reason = " ".join(str(error).split()) or "it is silent"
            raise ClusterError(f"{address}: no dask scheduler answers: {reason}") from None
        with client:
            _check_workers(client, address)
            yield Cluster(client, address)


def client_of(address: str) -> "Client":
    """Return dask's client of the scheduler at `address`.

    dask takes it for a fault (an `AssertionError`) when more comes along with the scheduler's first word, as
    it may on a busy machine; so it is asked again.
    """
    from distributed import Client

    attempt = partial(Client, address, timeout=_ANSWER_SECONDS, set_as_default=False)
    for _ in range(_ATTEMPTS - 1):
        with suppress(AssertionError):
            return attempt()
    return attempt()


async def _greet(address: str) -> None:
    """Exchange greetings with the scheduler; a `Client` would wait for a silent stranger for ever."""
    from distributed import Security
    from distributed.core import connect

    arguments = Security().get_connection_args("client")
    comm = await asyncio.wait_for(connect(address, timeout=_ANSWER_SECONDS, **arguments), _ANSWER_SECONDS)
    await comm.close()


class Cluster:
    """Workers that do the calls of `motif.runtime.parallel.run_ordered`."""

    def __init__(self, client: "Client", address: str) -> None:
        self.address = address
        self._client = client
        self._threads = 1
        self._looked = -float("inf")
        self._worked = time.monotonic()

    def run_ordered(
        self,
        function: Callable[..., _Result],
        calls: Iterable[tuple[Any, ...]],
        stop: "StopRequest | None" = None,
    ) -> Generator[_Result | None, None, None]:
        """See `motif.runtime.parallel.run_ordered`; workers pass `function` on to each other.

        None for what is not done soon after a `stop` has been asked for.
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
            with suppress(Exception):  # a scheduler that has gone need not know
                self._client.cancel([call.future for call in waiting], force=True)

    def _result(self, work: "_Work", waiting: "deque[_Call]", stop: "StopRequest | None") -> Any:
        """Return what comes of the first of the calls, which then waits no longer; None if it is given up."""
        from distributed import KilledWorker

        tries = 1
        while True:
            try:
                is_due = stop is not None and stop.is_due
                result = waiting[0].fetched.result(timeout=0 if is_due else _SECONDS_BETWEEN_LOOKS)
            except TimeoutError:
                if waiting[0].fetched.done():  # the function's own
                    raise
                if is_due:
                    self._client.cancel([waiting.popleft().future], force=True)
                    return None
                self._thread_count()
            except KilledWorker:
                if tries == _MAX_TRIES:
                    where = f"{self.address}: {waiting[0].future.key}"
                    raise ClusterError(f"{where}: every worker dies over it: too little memory?") from None
                # Not dask's own `retry`: an answer that comes before its end is forgotten.
                tries += 1
                waiting[0] = work.submit(waiting[0].arguments)
            except CancelledError:
                raise ClusterError(f"{self.address}: the scheduler has gone") from None
            else:
                waiting.popleft()
                return result

    def _thread_count(self) -> int:
        """Threads of all workers, at least 1; raises `ClusterError` when there have been none for long."""
        now = time.monotonic()
        if now - self._looked >= _SECONDS_BETWEEN_LOOKS:
            self._looked = now
            try:
                self._threads = sum(self._client.nthreads().values())
            except OSError:
                raise ClusterError(f"{self.address}: the scheduler has gone") from None
            if self._threads:
                self._worked = now
            elif now - self._worked > _WITHOUT_WORKERS_SECONDS:
                raise ClusterError(f"{self.address}: no worker for {_WITHOUT_WORKERS_SECONDS} seconds")
        return max(1, self._threads)


class _Call(NamedTuple):
    """A call that has been handed out."""

    arguments: tuple[Any, ...]
    future: "Future"
    fetched: "Fetched[Any]"
    """The result, which comes here as soon as it is there, and so is not lost with its worker."""


class _Work:
    """One function, sent once, and calls of it."""

    def __init__(self, client: "Client", address: str, function: Callable[..., Any]) -> None:
        from distributed.protocol.pickle import dumps

        self._address = address
        self._client = client
        self._name = f"{_name(function)}-{uuid4().hex}"
        self._packed = dumps(function)
        self._numbers = itertools.count()
        self._sent: Future | None = None

    def submit(self, arguments: tuple[Any, ...]) -> _Call:
        """Hand out one call."""
        if self._client.status != "running":
            raise ClusterError(f"{self._address}: the scheduler has gone")
        if self._sent is None or self._sent.status == "error":  # workers died over it
            self._sent = self._send()
        future = self._client.submit(_called, self._sent, arguments, build_id(), key=self._key())
        fetching = self._client.gather(future, asynchronous=True)
        loop: Any = self._client.loop
        return _Call(arguments, future, asyncio.run_coroutine_threadsafe(fetching, loop.asyncio_loop))

    def _send(self) -> "Future":
        # Made by a call, and not scattered, so that dask makes it again where a worker took it along.
        return self._client.submit(_unpacked, self._packed, key=f"function-of-{self._key()}")

    def _key(self) -> str:
        return f"{self._name}-{next(self._numbers)}"


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        well_formed = parts.scheme in ("tcp", "tls") and parts.hostname and parts.port and not parts.path
    except ValueError:
        well_formed = False
    if not well_formed:
        raise ClusterError(f"a cluster is named tcp://HOST:PORT, not {address!r}")


def _check_workers(client: "Client", address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=_FIRST_WORKER_SECONDS)
    except TimeoutError:
        raise ClusterError(f"{address}: the scheduler has no workers") from None
    for worker, facts in client.run(build_facts, on_error="return").items():
        if isinstance(facts, OSError):
            continue  # it has just died; the workers are checked again at each call
        if isinstance(facts, BaseException):
            raise ClusterError(f"{worker}: cannot run motif: {' '.join(str(facts).split())}")
        for name, value in build_facts().items():
            if (other := facts.get(name)) != value:
                both = f"has {name} {other}, this program {value}"
                raise ClusterError(f"{worker}: {both}: its results would not be the same")


def _name(function: Callable[..., Any]) -> str:
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__name__", type(function).__name__)


def _unpacked(packed: bytes) -> Any:
    """Run on a worker: the function that was sent."""
    from distributed.protocol.pickle import loads

    return loads(packed)


def _called(function: Callable[..., Any], arguments: tuple[Any, ...], build: str) -> Any:
    """Run on a worker: one call, refused by a worker of another build that came later than the check."""
    if build != build_id():
        from distributed import get_worker

        raise ClusterError(f"{get_worker().address}: has another motif or other libraries than this program")
    return function(*arguments)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence dask's own words: what matters of them is raised as an error."""
    from dask import config

    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == "distributed"]
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        # The one large thing that is sent is a function's data.
        with config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
