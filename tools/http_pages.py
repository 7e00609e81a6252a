"""The page of the HTTP interface, as the site has it: made from the interface's own schema."""

from motif.serve.http import Route, create_app, fields, routes, schema_of
from motif.serve.serve_settings import ServeSettings

_BASE = "http://127.0.0.1:8080"


def pages() -> dict[str, str]:
    """Return the Markdown of each page by its name: there is one, ``index``."""
    schema = schema_of(create_app(ServeSettings()))
    lines = [
        "# The HTTP interface",
        "",
        "What `motif serve http` answers, as its own schema (`/openapi.json`) has it.",
        "[How to ask it](../../how-to/serve.md) has examples and says what its limits are. What is wrong is",
        'answered with the status 400 and one line, `{"message": "..."}`.',
        "",
    ]
    for route in routes(schema):
        lines += _section(route, fields(schema, route))
    return {"index": "\n".join(lines) + "\n"}


def _section(route: Route, rows: list[tuple[str, str, str]]) -> list[str]:
    lines = [f"## `{route.method} {route.path}`", "", route.about, "", "```"]
    lines += [route.command(_BASE, body) for body in route.bodies] or [route.command(_BASE)]
    lines += ["```", ""]
    if route.answer:
        lines += ["answers", "", "```json", route.answer, "```", ""]
    if rows:
        lines += ["| takes | which is | |", "|---|---|---|"]
        lines += [f"| `{name}` | {_cell(kind)} | {_cell(about)} |" for name, kind, about in rows]
        lines.append("")
    return lines


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("[", "\\[").replace("*", "\\*")
