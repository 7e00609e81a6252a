"""The HTTP server: its application, what it answers to errors, and how it is run."""

import logging
import os
import signal
import socket
import sys
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from uvicorn.supervisors import Multiprocess

from motif.runtime.errors import TRACEBACK_VARIABLE, MotifError, SettingError, plain_text
from motif.runtime.package import VERSION
from motif.runtime.parallel import handled
from motif.serve import bgweb_api, motif_api, route_pages, wildbg_api
from motif.serve.desk import BusyError, Desk
from motif.serve.guard import Guard
from motif.serve.motif_api import Shortcut, json_answer
from motif.serve.page import add_page
from motif.serve.serve_settings import ServeSettings

_SECONDS_TO_END = 3
"""Until answers that are under way are cut off when the server ends."""
_SECONDS_TO_BEGIN = 60
_OTHER_FILES = 200
"""Files that are open besides connections."""


def create_app(settings: ServeSettings) -> FastAPI:
    """The application that answers requests; its desk is ``app.state.desk``."""
    settings.check()
    desk = Desk(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        desk.close()

    app = FastAPI(
        title="motif",
        version=VERSION,
        description="Evaluates backgammon positions, ranks plays, decides cubes, and says why.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        strict_content_type=False,
        redirect_slashes=False,
    )
    app.state.desk = desk
    app.openapi = partial(route_pages.schema_of, app)  # type: ignore[method-assign]
    for routes in (motif_api.router, wildbg_api.router, bgweb_api.router, route_pages.router):
        app.include_router(routes)
    app.add_middleware(Shortcut, desk=desk)
    if settings.origins:
        app.add_middleware(
            CORSMiddleware, allow_origins=settings.origins, allow_methods=["*"], allow_headers=["*"]
        )
    app.add_middleware(Guard, settings=settings)
    for error, answer in _ANSWERS.items():
        app.add_exception_handler(error, answer)
    add_page(app, settings)
    return app


def _problem(status: int, message: str) -> Response:
    answer = json_answer({"message": message})
    answer.status_code = status
    return answer


async def _bad_input(_: Request, error: Any) -> Response:
    return _problem(503 if isinstance(error, BusyError) else 400, str(error))


async def _bad_question(_: Request, error: Any) -> Response:
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return _problem(400, f"no JSON: {first['ctx']['error']}")
    where = ".".join(str(part) for part in first["loc"][1:] if isinstance(part, int | str))
    return _problem(400, plain_text(f"{where}: {first['msg']}" if where else first["msg"]))


async def _refused(_: Request, error: Any) -> Response:
    answer = _problem(error.status_code, str(error.detail))
    answer.headers.update(error.headers or {})
    return answer


async def _internal(request: Request, error: Any) -> Response:
    what = f"internal error: {type(error).__name__}"
    print(f"motif: {request.url.path}: {what}: {plain_text(str(error))}", file=sys.stderr, flush=True)
    if os.environ.get(TRACEBACK_VARIABLE):
        traceback.print_exception(error)
    return _problem(500, what)


_ANSWERS: dict[Any, Callable[[Request, Any], Any]] = {
    MotifError: _bad_input,
    RequestValidationError: _bad_question,
    HTTPException: _refused,
    Exception: _internal,
}


def serve(settings: ServeSettings, ready: Callable[[str], Any] = str) -> None:
    """Answer until Ctrl-C or SIGTERM; `ready` is told the address of a server of one process.

    Raises `SettingError` for an address that cannot be listened at.  Kernels are compiled and weights loaded
    before the line that says where it listens.
    """
    settings.check()
    allow_connections(settings.connections)
    # What goes wrong in a request is answered, and said in one line, by `_internal`.
    logging.getLogger("uvicorn").addHandler(logging.NullHandler())
    with listening(settings) as listener, handled((signal.SIGTERM,), _end):
        if settings.workers == 1:
            app = _warm_app(settings)
            _Server(configuration(lambda: app, settings), ready).run([listener])
        else:
            listener.listen()
            _Workers(configuration(partial(_warm_app, settings), settings), [listener]).run()


def _warm_app(settings: ServeSettings) -> FastAPI:
    app = create_app(settings)
    app.state.desk.warm()
    return app


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)


def configuration(make_app: Callable[[], FastAPI], settings: ServeSettings) -> uvicorn.Config:
    """How uvicorn is to run the application that `make_app` makes."""
    return uvicorn.Config(
        make_app,
        factory=True,
        http="motif.serve.guard:PatientProtocol",
        ws="none",
        workers=settings.workers,
        limit_concurrency=settings.connections,
        timeout_keep_alive=settings.patience,
        timeout_graceful_shutdown=_SECONDS_TO_END,
        timeout_worker_healthcheck=_SECONDS_TO_BEGIN,
        log_config=None,
        access_log=False,
        server_header=False,
    )


class _Server(uvicorn.Server):
    """Says where it listens as soon as it does."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[str], Any]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """See `uvicorn.Server.startup`."""
        await super().startup(sockets)
        if self.started and sockets:
            self._ready(_say_where(sockets[0]))


class _Workers(Multiprocess):
    """Several processes that share a port; one that dies is replaced."""

    def init_processes(self) -> None:
        """See `Multiprocess.init_processes`."""
        super().init_processes()
        if all(process.wait_until_ready(_SECONDS_TO_BEGIN) for process in self.processes):
            _say_where(self.sockets[0])


def _say_where(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    print(f"listening on {address}", file=sys.stderr, flush=True)
    return address


def allow_connections(count: int) -> None:
    """Let this process have as many files open as so many connections need, if that is allowed."""
    try:
        import resource
    except ImportError:  # Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + _OTHER_FILES
    with suppress(ValueError, OSError):
        if soft != resource.RLIM_INFINITY and soft < wanted:
            limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def listening(settings: ServeSettings) -> socket.socket:
    """A socket bound to the address of `settings`; raises `SettingError` where that cannot be."""
    with ExitStack() as failing:
        try:
            # With its protocol named: asyncio sends small answers at once only from such a socket.
            addresses = socket.getaddrinfo(settings.host, settings.port, proto=socket.IPPROTO_TCP)
            family, kind, protocol, _, address = addresses[0]
            listener = failing.enter_context(socket.socket(family, kind, protocol))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
        except OSError as error:
            where = f"{settings.host}:{settings.port}"
            reason = error.strerror or str(error)
            raise SettingError(f"cannot listen at {where}: {reason}", "host", "port") from None
        listener.set_inheritable(True)
        failing.pop_all()
    return listener
