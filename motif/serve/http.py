"""The HTTP server: its application, what it answers to errors, and how it is run."""

import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from motif.runtime.errors import MotifError, SettingError, plain_text
from motif.runtime.version import VERSION
from motif.serve import bgweb_api, motif_api, wildbg_api
from motif.serve.desk import BusyError, Desk
from motif.serve.guard import Guard
from motif.serve.motif_api import json_answer
from motif.serve.serve_settings import ServeSettings


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
    )
    app.state.desk = desk
    for routes in (motif_api.router, wildbg_api.router, bgweb_api.router):
        app.include_router(routes)
    if settings.origins:
        app.add_middleware(
            CORSMiddleware, allow_origins=settings.origins, allow_methods=["*"], allow_headers=["*"]
        )
    app.add_middleware(Guard, settings=settings)
    for error, answer in _ANSWERS.items():
        app.add_exception_handler(error, answer)
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


async def _internal(_: Request, error: Any) -> Response:
    return _problem(500, f"internal error: {type(error).__name__}")


_ANSWERS: dict[Any, Callable[[Request, Any], Any]] = {
    MotifError: _bad_input,
    RequestValidationError: _bad_question,
    HTTPException: _refused,
    Exception: _internal,
}


class _Server(uvicorn.Server):
    """Says where it listens when it does."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """See `uvicorn.Server.startup`."""
        await super().startup(sockets)
        if self.started and sockets:
            host, port = sockets[0].getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            print(f"listening on http://{shown}:{port}", file=sys.stderr, flush=True)


def serve(settings: ServeSettings) -> None:
    """Answer until Ctrl-C or SIGTERM; raises `SettingError` for an address that cannot be listened at."""
    settings.check()
    with _listening(settings) as listener:
        config = uvicorn.Config(
            partial(create_app, settings),
            factory=True,
            log_config=None,
            access_log=False,
            server_header=False,
        )
        _Server(config).run([listener])


def _listening(settings: ServeSettings) -> socket.socket:
    try:
        family = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family[0], socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(family[4])
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        raise SettingError(f"cannot listen at {where}: {error.strerror or error}", "host", "port") from None
    listener.set_inheritable(True)
    return listener
