"""Generate the site's page of the HTTP interface from its schema."""

from motif.serve.http import Route, create_app, routes, schema_of
from motif.serve.serve_settings import ServeSettings

_BASE = "http://127.0.0.1:8080"


def pages() -> dict[str, str]:
    """Return the Markdown pages by name; the only one is ``index``."""
    schema = schema_of(create_app(ServeSettings()))
    lines = [
        "# The HTTP interface",
        "",
        "The routes of `motif serve http`, from its schema (`/openapi.json`).",
        "[Serve motif over HTTP](../../how-to/serve.md) has examples and the limits. Bad requests are",
        'answered with status 400 and one line, `{"message": "..."}`.',
        "",
    ]
    for route in routes(schema):
        lines += _section(route)
    return {"index": "\n".join(lines) + "\n"}


def _section(route: Route) -> list[str]:
    lines = [f"## `{route.method} {route.path}`", "", route.about, "", "```"]
    lines += [route.command(_BASE, body) for body in route.bodies] or [route.command(_BASE)]
    lines += ["```", ""]
    if route.answer:
        lines += ["Answer:", "", "```json", route.answer, "```", ""]
    if route.fields:
        lines += ["| field | type | meaning |", "|---|---|---|"]
        lines += [f"| `{name}` | {_cell(kind)} | {_cell(about)} |" for name, kind, about in route.fields]
        lines.append("")
    return lines


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("[", "\\[").replace("*", "\\*")
