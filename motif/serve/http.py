"""The HTTP server: the application, its schema and page of routes, answers to errors, and the process.

Record and page are made from the routes themselves; the page loads nothing from elsewhere.
"""

import asyncio
import gc
import json
import logging
import os
import re
import signal
import socket
import traceback
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import partial
from hashlib import sha256
from threading import Timer
from types import FrameType
from typing import NamedTuple

import uvicorn
from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException
from uvicorn.supervisors import Multiprocess

from motif.reports.document import rendered
from motif.runtime.errors import TRACEBACK_VARIABLE, FileError, MotifError, SettingError, plain_text
from motif.runtime.frames import Record
from motif.runtime.layout import complain
from motif.runtime.package import VERSION
from motif.runtime.parallel import TERMINATIONS, end_with, handled
from motif.serve import bgweb_api, motif_api, wildbg_api
from motif.serve.answers import REFERENCE
from motif.serve.bodies import InvalidRequest, first_fault, json_answer, problem, service_of
from motif.serve.database import NoRoomError, NotStoredError, StorageError
from motif.serve.engine_service import EngineService
from motif.serve.game_database import GameWentOn
from motif.serve.guard import Guard
from motif.serve.lanes import CLIENT, BusyError, OverdueError
from motif.serve.motif_api import Shortcut
from motif.serve.page import add_page
from motif.serve.serve_settings import ServeSettings

_SECONDS_TO_END = 1
"""Time for answers under way when the server ends."""
_SECONDS_TO_STOP = 1.0
"""Time after which the process ends even if a thread is busy."""
_INTERRUPTED = 130
"""Exit status after Ctrl-C."""
_SECONDS_TO_BEGIN = 60
_A_MOMENT = 0.05
"""Time in which a client that is leaving has left, and a cancelled answer has ended."""
_OTHER_FILES = 200
"""Open files besides connections."""

_STYLE = """
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color-scheme: light dark }
h2 { font-size: 1.1rem; margin-top: 2rem }
pre { overflow-x: auto; padding: .5rem; border: 1px solid #8888 }
td { padding: .1rem 1rem .1rem 0; vertical-align: top }
"""
"""Style of the page of routes."""
HEADERS = {
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            f"style-src 'self' 'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'",
            "img-src 'self' blob: data:",
            "connect-src 'self'",
            "manifest-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
}
"""Headers of every answer: pages run only this server's scripts, and cannot be framed."""
router = APIRouter(include_in_schema=False)
WILDBG = ("/move", "/eval")
_FOLDERS = re.compile(r"(?:[A-Za-z]:)?[/\\](?:[^/\\:\n]+[/\\])+")
STATUSES: dict[type[Exception], int] = {
    NotStoredError: 404,
    GameWentOn: 409,
    **dict.fromkeys((BusyError, OverdueError, NoRoomError, StorageError), 503),
}
"""Statuses of errors; all others are bad requests."""
_VALIDATION = ("HTTPValidationError", "ValidationError")
"""The framework's answers to invalid input, which here is one line with the status 400."""
_NO_LOG = logging.NullHandler()
"""Takes uvicorn's log: errors in requests are answered, and logged in one line, by `_internal`."""


def create_app(settings: ServeSettings) -> FastAPI:
    """Return the application that answers requests; its service is ``app.state.service``."""
    settings.check()
    logging.getLogger("uvicorn").addHandler(_NO_LOG)
    service = EngineService(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.sleep(_A_MOMENT)  # unfinished answers, just cancelled, end with an error
        service.close()
        if app.state.exit_code is not None and service.is_at_work:
            # Cancelled work ends soon; what cannot be, such as compiling, must not keep the process.
            ending = Timer(_SECONDS_TO_STOP, os._exit, (app.state.exit_code,))
            ending.daemon = True
            ending.start()

    app = FastAPI(
        title="motif",
        version=VERSION,
        description="Evaluates backgammon positions, ranks plays, makes cube decisions, and explains them.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        strict_content_type=False,
        redirect_slashes=False,
    )
    app.state.service = service
    app.state.exit_code = None  # the process is not the server's to end
    app.openapi = partial(schema_of, app)  # type: ignore[method-assign]
    for routes in (motif_api.router, wildbg_api.router, bgweb_api.router, router):
        app.include_router(routes)
    app.add_middleware(Shortcut, service=service)
    if settings.origins:
        app.add_middleware(
            CORSMiddleware, allow_origins=settings.origins, allow_methods=["*"], allow_headers=["*"]
        )
    app.add_middleware(Guard, settings=settings)
    for error, answer in _ANSWERS.items():
        app.add_exception_handler(error, answer)
    add_page(app, settings)
    return app


async def _bad_input(request: Request, error: Exception) -> Response:
    assert isinstance(error, MotifError)
    return problem(STATUSES.get(type(error), 400), service_of(request).public(str(error)), error.fields)


async def _bad_file(_: Request, error: Exception) -> Response:
    """Answer for a file of the server that fails, without its folder, which clients must not see."""
    return problem(400, _FOLDERS.sub("", str(error)))


async def _bad_question(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    fault = first_fault(error, skipped=1)
    return problem(400, fault.detail, fault.fields)


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    fields = error.fields if isinstance(error, InvalidRequest) else ()
    return problem(error.status_code, str(error.detail), fields, error.headers)


async def _internal(request: Request, error: Exception) -> Response:
    what = f"internal error: {type(error).__name__}"
    client = CLIENT.get()
    await asyncio.sleep(_A_MOMENT)
    if client is not None and client.has_left:
        return problem(500, what)  # writing to a connection that is closed just now raises anything
    complain(f"motif: {request.url.path}: {what}: {plain_text(str(error))}")
    if os.environ.get(TRACEBACK_VARIABLE):
        traceback.print_exception(error)
    return problem(500, what)


_ANSWERS: dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
    MotifError: _bad_input,
    FileError: _bad_file,
    RequestValidationError: _bad_question,
    HTTPException: _refused,
    wildbg_api.QueryError: wildbg_api.bad_query,
    Exception: _internal,
}


def serve(settings: ServeSettings, ready: Callable[[str], object] = str) -> None:
    """Serve until Ctrl-C or SIGTERM; a server of one process calls `ready` with its address.

    Kernels are compiled and weights loaded before the address is printed.  Raises `SettingError` if the
    address cannot be used.
    """
    settings.check()
    allow_connections(settings.connections)
    with listening(settings) as listener, handled((signal.SIGTERM,), _end):
        if settings.workers == 1:
            app = _warm_app(settings)
            _Server(configuration(lambda: app, settings), app, ready).run([listener])
        else:
            listener.listen()
            _Workers(configuration(partial(_worker_app, settings, os.getpid()), settings), [listener]).run()


def _worker_app(settings: ServeSettings, parent: int) -> FastAPI:
    """Return the application of a worker, which ends even if its parent is killed."""
    end_with(parent)
    return _warm_app(settings)


def _warm_app(settings: ServeSettings) -> FastAPI:
    app = create_app(settings)
    app.state.service.warm()
    app.state.exit_code = 0
    schema_of(app)  # made before the first request
    # Objects that live as long as the server are never garbage, and collecting would pause all requests.
    gc.collect()
    gc.freeze()
    return app


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)


def configuration(make_app: Callable[[], FastAPI], settings: ServeSettings) -> uvicorn.Config:
    """Return the configuration with which uvicorn runs the application of `make_app`."""
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
        headers=list(HEADERS.items()),
    )


class _Server(uvicorn.Server):
    """A server that prints its address as soon as it listens."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, ready: Callable[[str], object]) -> None:
        super().__init__(config)
        self._app, self._ready = app, ready

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if sig == signal.SIGINT:
            self._app.state.exit_code = _INTERRUPTED
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and sockets:
            self._ready(_say_where(sockets[0]))


class _Workers(Multiprocess):
    """Several processes that share a port; one that dies is replaced.

    A closed terminal (SIGHUP) ends them as SIGTERM does, unless the signal is ignored, as by ``nohup``; with
    uvicorn's own handlers it would start them again.
    """

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket]) -> None:
        ignored = [number for number in TERMINATIONS if signal.getsignal(number) is signal.SIG_IGN]
        super().__init__(config, sockets)
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)

    def handle_hup(self) -> None:
        self.handle_term()

    def init_processes(self) -> None:
        super().init_processes()
        if all(process.wait_until_ready(_SECONDS_TO_BEGIN) for process in self.processes):
            _say_where(self.sockets[0])


def _say_where(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    complain(f"listening on {address}")
    return address


def allow_connections(count: int) -> None:
    """Raise this process's limit of open files for `count` connections, if possible."""
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
    """Return a socket bound to the address of `settings`; raises `SettingError` if that fails."""
    with ExitStack() as failing:
        try:
            # The protocol is named: asyncio sends small answers at once only from such a socket.
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


class Route(NamedTuple):
    """A route, for the page of routes."""

    method: str
    path: str
    about: str
    """Description from its schema."""
    query: str
    """Query string of an example."""
    bodies: tuple[str, ...]
    """Examples of bodies, as JSON."""
    answer: str
    """Example of an answer, as JSON, or empty."""
    fields: tuple[tuple[str, str, str], ...]
    """Name, type and description of each parameter, and of each key of the body."""

    def command(self, base: str, body: str | None = None) -> str:
        """Return the curl command."""
        sent = "" if body is None else f" -d '{body}'"
        how = f"-X {self.method} " if self.method not in ("GET", "POST") else ""
        return f"curl {how}'{base}{self.path}{self.query}'{sent}"


def schema_of(app: FastAPI) -> Record:
    """Return the OpenAPI schema of `app`, made once."""
    if not app.openapi_schema:
        schema = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        for methods in schema["paths"].values():
            for operation in methods.values():
                operation["responses"].pop("422", None)
                for content in operation["responses"]["200"]["content"].values():
                    if "$ref" in content["schema"]:
                        content["schema"].pop("type", None)  # of a stream, which the framework adds
        for name in _VALIDATION:
            schema["components"]["schemas"].pop(name, None)
        app.openapi_schema = schema
    return app.openapi_schema


def routes(schema: Record) -> list[Route]:
    """Return the routes of `schema`, in its order."""
    return [
        _route(schema, method.upper(), path, operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]


_NEEDED = " (needed)"
"""Mark of required parameters and keys."""


def _route(schema: Record, method: str, path: str, operation: Record) -> Route:
    parameters = operation.get("parameters", [])
    shown = {one["name"]: one.get("example", *one["schema"].get("examples", [])[:1]) for one in parameters}
    query = "&".join(f"{name}={example}" for name, example in shown.items() if example is not None)
    answer = _json(operation["responses"]["200"]).get("example")
    name = _json(operation.get("requestBody", {})).get("schema", {}).get("$ref", "").removeprefix(REFERENCE)
    body = schema["components"]["schemas"].get(name, {})
    fields = [
        (one["name"], _kind(one["schema"]) + _NEEDED * one["required"], one.get("description", ""))
        for one in parameters
    ]
    fields += [
        (name, _kind(about) + _NEEDED * (name in body.get("required", ())), about.get("description", ""))
        for name, about in body.get("properties", {}).items()
    ]
    return Route(
        method,
        path,
        operation["description"],
        f"?{query}" if query else "",
        tuple(json.dumps(example) for example in body.get("examples", [])),
        "" if answer is None else json.dumps(answer),
        tuple(fields),
    )


def _json(message: Record) -> Record:
    """Return the part of a request or an answer that describes its JSON."""
    described: Record = message.get("content", {}).get("application/json", {})
    return described


def _kind(about: Record) -> str:
    if "$ref" in about:
        return str(about["$ref"]).removeprefix(REFERENCE)
    if "anyOf" in about:
        return " or ".join(_kind(one) for one in about["anyOf"] if one.get("type") != "null")
    if "enum" in about:
        return " or ".join(map(str, about["enum"]))
    if "prefixItems" in about:
        return f"[{', '.join(map(_kind, about['prefixItems']))}]"
    if about.get("type") == "array":
        return f"[{_kind(about.get('items', {}))}, ...]"
    low, high = about.get("minimum"), about.get("maximum")
    span = f" {low:g} to {high:g}" if low is not None and high is not None else ""
    return str(about.get("type", "anything")) + span


@router.get("/openapi.json")
async def whole_schema(request: Request) -> Response:
    """Return the schema of all routes."""
    return await service_of(request).compute(lambda: json_answer(schema_of(request.app)))


@router.get("/api-docs/openapi.json")
async def wildbg_schema(request: Request) -> Response:
    """Return the schema of wildbg's routes, at the path that wildbg uses."""

    def answer() -> Response:
        schema = schema_of(request.app)
        return json_answer({**schema, "paths": {path: schema["paths"][path] for path in WILDBG}})

    return await service_of(request).compute(answer)


@router.get("/docs")
@router.get("/swagger-ui")
@router.get("/swagger-ui/")
@router.get("/swagger/index.html")
async def page(request: Request) -> HTMLResponse:
    """Return the routes, with examples."""

    def answer() -> HTMLResponse:
        base = str(request.base_url).rstrip("/")
        listed = routes(schema_of(request.app))
        return HTMLResponse(
            rendered("routes.html", "motif over HTTP", style=_STYLE, base=base, routes=listed)
        )

    return await service_of(request).compute(answer)
