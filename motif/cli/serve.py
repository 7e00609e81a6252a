"""The commands serve: other programs ask motif, each by a protocol that it speaks."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from motif.cli.options import JudgeOption, Settings, command
from motif.runtime.errors import SettingError
from motif.runtime.version import install_command

if TYPE_CHECKING:
    from motif.serve.serve_settings import ServeSettings


@command("serve http", "serve http --port 0 --player motif-v6")
def serve_http(
    settings: Annotated["ServeSettings", Settings("motif.serve.serve_settings", without=("player",))],
    player: JudgeOption = None,
) -> None:
    """Answer requests over HTTP.

    wildbg's /move and /eval, bgweb-api's /api/v1/getmoves, and motif's own /api/v1, which /openapi.json tells
    all about; docs/how-to/serve.md has examples.  It says where it listens as soon as it does, and ends with
    Ctrl-C.
    """
    http_server().serve(replace(settings, player=player))


def http_server() -> Any:
    """The module `motif.serve.http`; raises `SettingError` where the packages that it needs are missing."""
    try:
        from motif.serve import http
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("motif"):
            raise
        raise SettingError(f"an HTTP server needs {error.name}: {install_command('serve')}") from None
    return http
