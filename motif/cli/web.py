"""The command web: the page, opened in the browser."""

import webbrowser
from dataclasses import replace
from threading import Thread
from typing import Annotated

from motif.cli.options import command, option
from motif.cli.serve import http_server
from motif.runtime.errors import SettingError


@command("web", "web --no-open --port 8123")
def web(
    port: Annotated[
        int | None,
        option("Port to listen at; 0: a free one.", min=0, max=65535, show_default="8080 if it is free"),
    ] = None,
    open: Annotated[bool, option("Whether to open the page in the browser.")] = True,
) -> None:
    """Play in the browser, and be told why.

    Starts the server of `motif serve http` on this machine alone and opens its page: play a game or a match,
    ask for hints and reasons, set up positions, analyse matches.  Ctrl-C ends it; games are kept.
    """
    from motif.serve.serve_settings import ServeSettings

    server = http_server()
    settings = ServeSettings()
    ready = _open if open else str
    try:
        server.serve(settings if port is None else replace(settings, port=port), ready)
    except SettingError:
        if port is not None:
            raise
        server.serve(replace(settings, port=0), ready)


def _open(address: str) -> None:
    # Some browsers are only done when they are closed.
    Thread(target=webbrowser.open, args=(address,), daemon=True).start()
