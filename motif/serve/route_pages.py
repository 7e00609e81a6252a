"""The schema of the HTTP interface, and a page that lists its routes: made from the routes themselves.

The page loads nothing from elsewhere.
"""

import json
from html import escape
from typing import Any, NamedTuple

from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse, Response

from motif.serve.motif_api import json_answer

Schema = dict[str, Any]
router = APIRouter(include_in_schema=False)
WILDBG = ("/move", "/eval")
_VALIDATION = ("HTTPValidationError", "ValidationError")
"""What the framework would answer to bad input; here that is one line, with the status 400."""
_REFERENCE = "#/components/schemas/"


class Route(NamedTuple):
    """One route, for people."""

    method: str
    path: str
    about: str
    """What it does, as its schema says."""
    query: str
    """Parameters of an example, as they stand behind the path."""
    bodies: tuple[str, ...]
    """Examples of what to send, as JSON."""
    answer: str
    """An example of an answer, as JSON; empty where there is none."""

    def command(self, base: str, body: str | None = None) -> str:
        """How curl asks."""
        sent = "" if body is None else f" -d '{body}'"
        how = f"-X {self.method} " if self.method not in ("GET", "POST") else ""
        return f"curl {how}'{base}{self.path}{self.query}'{sent}"


def schema_of(app: FastAPI) -> Schema:
    """The OpenAPI schema of `app`, made once."""
    if not app.openapi_schema:
        schema = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        for operation in _operations(schema):
            operation["responses"].pop("422", None)
        for name in _VALIDATION:
            schema["components"]["schemas"].pop(name, None)
        app.openapi_schema = schema
    return app.openapi_schema


def _operations(schema: Schema) -> list[Schema]:
    return [operation for methods in schema["paths"].values() for operation in methods.values()]


def routes(schema: Schema) -> list[Route]:
    """The routes of `schema`, in its order."""
    return [
        _route(schema, method.upper(), path, operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]


def _route(schema: Schema, method: str, path: str, operation: Schema) -> Route:
    parameters = operation.get("parameters", [])
    query = "&".join(f"{one['name']}={one['example']}" for one in parameters if "example" in one)
    answer = operation["responses"]["200"].get("content", {}).get("application/json", {}).get("example")
    return Route(
        method,
        path,
        operation["description"],
        f"?{query}" if query else "",
        tuple(json.dumps(example) for example in _body_schema(schema, operation).get("examples", [])),
        "" if answer is None else json.dumps(answer),
    )


def _body_schema(schema: Schema, operation: Schema) -> Schema:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    name = content.get("schema", {}).get("$ref", "").removeprefix(_REFERENCE)
    found: Schema = schema["components"]["schemas"].get(name, {})
    return found


def fields(schema: Schema, route: Route) -> list[tuple[str, str, str]]:
    """Name, kind and meaning of each parameter of `route`, or of each key of the body that it takes."""
    operation = schema["paths"][route.path][route.method.lower()]
    rows = [
        (one["name"], _kind(schema, one["schema"]), one.get("description", ""))
        for one in operation.get("parameters", [])
    ]
    body = _body_schema(schema, operation)
    for name, about in body.get("properties", {}).items():
        needed = " (needed)" if name in body.get("required", ()) else ""
        rows.append((name, _kind(schema, about) + needed, about.get("description", "")))
    return rows


def _kind(schema: Schema, about: Schema) -> str:
    """What a value may be, in a few words."""
    if "$ref" in about:
        return about["$ref"].removeprefix(_REFERENCE)
    if "anyOf" in about:
        return " or ".join(_kind(schema, one) for one in about["anyOf"] if one.get("type") != "null")
    if "enum" in about:
        return " or ".join(map(str, about["enum"]))
    if about.get("type") == "array":
        items = about.get("prefixItems") or [about.get("items", {})]
        return (
            f"[{', '.join(_kind(schema, one) for one in items)}{'' if 'prefixItems' in about else ', ...'}]"
        )
    low, high = about.get("minimum"), about.get("maximum")
    span = f" {low:g} to {high:g}" if low is not None and high is not None else ""
    return str(about.get("type", "anything")) + span


@router.get("/api-docs/openapi.json")
async def wildbg_schema(request: Request) -> Response:
    """The schema of wildbg's routes, where wildbg's clients look for it."""
    schema = schema_of(request.app)
    return json_answer({**schema, "paths": {path: schema["paths"][path] for path in WILDBG}})


@router.get("/docs")
@router.get("/swagger-ui")
@router.get("/swagger-ui/")
@router.get("/swagger/index.html")
async def page(request: Request) -> HTMLResponse:
    """The routes, with examples."""
    base = str(request.base_url).rstrip("/")
    schema = schema_of(request.app)
    return HTMLResponse(
        _PAGE.format(version=escape(schema["info"]["version"]), routes=_sections(schema, base))
    )


def _sections(schema: Schema, base: str) -> str:
    lines = []
    for route in routes(schema):
        lines.append(f"<h2><code>{route.method} {escape(route.path)}</code></h2><p>{escape(route.about)}</p>")
        commands = [route.command(base, body) for body in route.bodies] or [route.command(base)]
        lines += [f"<pre>{escape(command)}</pre>" for command in commands]
        if route.answer:
            lines.append(f"<pre>{escape(route.answer)}</pre>")
        rows = "".join(
            f"<tr><td><code>{escape(name)}</code></td><td>{escape(kind)}</td><td>{escape(about)}</td></tr>"
            for name, kind, about in fields(schema, route)
        )
        if rows:
            lines.append(f"<details><summary>What it takes</summary><table>{rows}</table></details>")
    return "\n".join(lines)


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>motif over HTTP</title><style>
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color-scheme: light dark }}
h2 {{ font-size: 1.1rem; margin-top: 2rem }}
pre {{ overflow-x: auto; padding: .5rem; border: 1px solid #8888 }}
td {{ padding: .1rem 1rem .1rem 0; vertical-align: top }}
</style></head><body><h1>motif {version} over HTTP</h1>
<p>The schema for programs is <a href="/openapi.json">/openapi.json</a>.</p>
{routes}
</body></html>
"""
