"""JSON bodies and query parameters of requests, and JSON answers, without blocking the event loop.

A thread reads large bodies, as far as memory allows.  A body that would take far more memory than its bytes,
such as millions of empty lists, is refused first.
"""

import asyncio
import codecs
import re
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar, get_args, get_origin

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json, to_json
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from motif.runtime.errors import did_you_mean, plain_text, shown
from motif.runtime.files import parsed_json
from motif.runtime.layout import listed
from motif.serve.engine_service import EngineService

_Model = TypeVar("_Model", bound=BaseModel)
LARGE = 1 << 15
"""Smallest body, in bytes, that a thread reads."""
_VALUES = 12
"""Approximate number of values per position of a batch."""
_OTHER_VALUES = 1000
_KEYS = 64
"""Maximum number of keys of an object."""
_PIECE = 1 << 18
_SMALL = 1_000_000
"""Bytes of an answer that is sent even if unread answers fill the memory."""


def encoded(document: object) -> bytes:
    """Encode `document` as JSON; numbers that are not finite become null."""
    return to_json(document, inf_nan_mode="null")


def json_answer(document: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return `document` as an answer in JSON; numbers that are not finite become null."""
    return Response(encoded(document), status, headers, "application/json")


def problem(
    status: int, message: str, fields: Sequence[str] = (), headers: Mapping[str, str] | None = None
) -> Response:
    """Return the answer to a refused request: a `message` of one line, and the `fields` at fault."""
    return json_answer({"message": message} | ({"fields": fields} if fields else {}), status, headers)


_INSTEAD = {
    **dict.fromkeys(("ply", "plies"), 'lookahead is part of the player\'s name: "player": "latest@2"'),
    **dict.fromkeys(("position", "xgid"), "the position must be called id"),
    "roll": "the roll must be called dice",
    "board": "the position must be called id: a GNUbg ID, an XGID, an OGID or a key",
}
"""Fields of other programs' interfaces, and what to send instead."""
_MESSAGES = {
    "missing": "is missing",
    **dict.fromkeys(
        ("dict_type", "model_type", "model_attributes_type"),
        'the body must be a JSON object, such as {"id": "4HPwATDgc/ABMA"}',
    ),
}
_TRUTH = "true or false"
_RULE = "Input should be "
"""Beginning of the messages of pydantic that state a rule."""
_FORMS: dict[object, tuple[re.Pattern[str], str]] = {
    bool: (re.compile("true|false"), _TRUTH),
    int: (re.compile("-?[0-9]+"), "a whole number"),
}
"""How a query parameter of a type must be written."""
_PAIRS = {"dice": "two numbers such as [3, 1]", "score": "two numbers such as [3, 5]"}
"""Rules of fields that pydantic calls tuples."""


class InvalidRequest(HTTPException):
    """A request with an invalid body or query, status 400."""

    def __init__(self, message: str, *fields: str) -> None:
        super().__init__(400, message)
        self.fields = fields
        """Names of the fields or parameters at fault."""


def first_fault(
    error: ValidationError | RequestValidationError, skipped: int = 0, known: Iterable[str] = ()
) -> InvalidRequest:
    """Return the refusal for the first fault of `error`, without the `skipped` first words of its location.

    For an unknown field, similar `known` ones are suggested.
    """
    first = error.errors()[0]
    places = [str(part) for part in first["loc"][skipped:] if isinstance(part, int | str)]
    where = ".".join(part for part in places if "[" not in part)
    said = _MESSAGES.get(first["type"], first["msg"])
    if said.startswith(_RULE):
        rule = said.removeprefix(_RULE).partition(", unable to ")[0]
        if first["type"] == "bool_type":
            rule = _TRUTH
        if first["type"] == "tuple_type":
            rule = _PAIRS.get(places[0], rule)
        said = f"must be {rule}, not {shown(first['input'])}"
    if not where and first["type"] == "missing":
        said = f"the body is missing; {_MESSAGES['model_type']}"
    if first["type"] == "extra_forbidden":
        name = places[-1]
        # The known fields are those of the outermost object.
        known = known if len(places) == 1 else ()
        hint = did_you_mean(name, known) or (f"; there are {', '.join(known)}" if known else "")
        said = _INSTEAD.get(name) or f"unknown field{hint}"
    return InvalidRequest(plain_text(f"{where}: {said}" if where else said), *map(plain_text, places[:1]))


def service_of(request: Request) -> EngineService:
    """Return the service of the application that received `request`."""
    service: EngineService = request.app.state.service
    return service


async def computed(
    request: Request, function: Callable[..., object], *arguments: object, cost: float = 0.0
) -> Response:
    """Return the result of `function`, which a thread runs, in JSON; see `EngineService.compute`."""
    return json_answer(await service_of(request).compute(function, *arguments, cost=cost))


class BodyRoute(APIRoute):
    """A route that refuses unknown query parameters, and reads JSON bodies itself, large ones in a thread."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[object, None, Response]]:
        """See `APIRoute.get_route_handler`."""
        handler = super().get_route_handler()
        known = {one.alias: _kinds(one.field_info.annotation) for one in self.dependant.query_params}
        body = None if self.body_field is None else self.body_field.field_info.annotation
        model = body if isinstance(body, type) and issubclass(body, BaseModel) else None

        async def handle(request: Request) -> Response:
            _check_query(request, known)
            if model is None:
                return await handler(request)
            asked = _JsonRequest({**request.scope, "headers": _without_type(request)}, request.receive)
            asked.model = model
            return await handler(asked)

        return handle


def _without_type(request: Request) -> list[tuple[bytes, bytes]]:
    """Return the headers but for the content type: bodies are JSON, whatever clients such as curl say."""
    return [line for line in request.headers.raw if line[0] != b"content-type"]


def _kinds(annotation: object) -> set[object]:
    """Return the types of a parameter, without what their items are."""
    return {get_origin(one) or one for one in (annotation, *get_args(annotation))}


def _check_query(request: Request, known: Mapping[str, set[object]]) -> None:
    """Raise `InvalidRequest` for a query parameter that is not `known`, is given twice, or has another form.

    `known` has the types of each parameter.  Lists may be given twice.  pydantic alone reads "yes" and "1_0".
    """
    for name, value in request.query_params.multi_items():
        where, there = plain_text(name), listed([*known]) if known else "none"
        if name not in known:
            raise InvalidRequest(f"{where}: unknown query parameter; this route has {there}", where)
        if list not in known[name] and len(request.query_params.getlist(name)) > 1:
            raise InvalidRequest(f"{where}: duplicate query parameter", where)
        for kind, (form, rule) in _FORMS.items():
            if kind in known[name] and not form.fullmatch(value):
                raise InvalidRequest(f"{where}: must be {rule}, not {shown(value)}", where)


class _JsonRequest(Request):
    """A request whose body is read as a `model`."""

    model: type[BaseModel]

    async def json(self) -> object:
        """Return the object; raises `HTTPException` in one line."""
        body, service = await self.body(), service_of(self)
        read = partial(read_json, self.model, body, service.settings.batch)
        if len(body) < LARGE:
            return read()
        await service.bodies.take(len(body))
        try:
            return await service.reading.do(read)
        finally:
            service.bodies.give_back(len(body))


def read_json(model: type[_Model], body: bytes, batch: int) -> _Model:
    """Return the `model` in a JSON `body`, also after a byte order mark; raises `HTTPException`.

    `batch` is the largest number of positions in a batch.
    """
    most = _VALUES * batch + _OTHER_VALUES
    if sum(body.count(mark) for mark in (b",", b"{", b"[")) > most:
        raise InvalidRequest(f"a request may hold at most {most} values")
    body = body.removeprefix(codecs.BOM_UTF8)
    try:
        from_json(body)  # refuses deep nesting, on which the next line would fail
        document = parsed_json(body)
    except ValueError as error:
        raise InvalidRequest(f"the body must be a JSON object: {plain_text(str(error))}") from None
    if any(len(one) > _KEYS for one in _objects(document)):
        raise InvalidRequest(f"an object may have at most {_KEYS} keys")
    try:
        return model.model_validate(document)
    except ValidationError as error:
        known = [field.alias or name for name, field in model.model_fields.items()]
        raise first_fault(error, known=known) from None


def _objects(document: object) -> list[dict[str, object]]:
    """Return the outermost object and the objects in its lists."""
    if not isinstance(document, dict):
        return []
    lists = [value for value in document.values() if isinstance(value, list)]
    return [document, *(item for items in lists for item in items if isinstance(item, dict))]


class LargeAnswer(Response):
    """A JSON answer that is sent in pieces, as fast as its client reads."""

    def __init__(self, content: bytes | bytearray, service: EngineService) -> None:
        super().__init__(memoryview(content), media_type="application/json")
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer, unless it is large and too much is unread already."""
        room, size = self._service.answers, len(self.body)
        if size > room.size:
            message = f"the answer has {size} bytes, more than {room.size}: ask for fewer positions"
            await problem(400, message)(scope, receive, send)
            return
        if size < _SMALL:
            size = 0
        elif not room.fits(size):
            await problem(503, "unread answers fill the memory; try again later")(scope, receive, send)
            return
        await room.take(size)
        try:
            async with asyncio.timeout(self._service.settings.patience):
                await self._send(send)
        except TimeoutError:
            return  # its client does not read, and is cut off
        finally:
            room.give_back(size)

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        body = memoryview(self.body)
        for k in range(0, len(body), _PIECE):
            piece = bytes(body[k : k + _PIECE])
            await send({"type": "http.response.body", "body": piece, "more_body": k + _PIECE < len(body)})
