"""Commands that serve motif to other programs, and web, which opens the page in the browser."""

import sys
import webbrowser
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from threading import Thread
from types import ModuleType
from typing import Annotated, TypeVar

from motif.analysis.judge import JUDGE
from motif.cli.interrupts import resumable
from motif.cli.options import (
    DEFAULT_PLAYER,
    JudgeOption,
    SeedOption,
    Settings,
    command,
    option,
    player_option,
)
from motif.cli.printing import accept_any_text
from motif.runtime.errors import SettingError
from motif.runtime.layout import complain
from motif.runtime.package import install_command
from motif.serve.serve_settings import MAX_PORT, ServeSettings

_Result = TypeVar("_Result")


@command("serve gnubg --port 1234 --player latest@2")
def serve_gnubg(
    host: Annotated[
        str, option("Address to listen on; other machines can connect unless it is local.", "HOST")
    ] = "127.0.0.1",
    port: Annotated[int, option("Port to listen on; 0 for a free one.")] = 1234,
    player: Annotated[str, player_option("Player.")] = JUDGE,
    jacoby: Annotated[bool, option("Jacoby rule in money games.")] = True,
    beavers: Annotated[bool, option("Beavers in money games.")] = True,
    idle: Annotated[
        int, option("Seconds after which an idle connection is closed.", "SECONDS", min=1, max=31_536_000)
    ] = 3600,
    seed: SeedOption = 0,
) -> None:
    """Serve as an external player for gnubg.

    In gnubg, type: set player 0 external localhost:1234.  gnubg then asks for all decisions of that player:
    plays, doubles and responses, at any score.  It does not say whether the Jacoby rule and beavers are in
    use; the defaults of --jacoby and --beavers are gnubg's.  Ctrl-C stops the server.
    """
    from motif.serve.gnubg_server import ConnectionLimits, GnubgServer, Rules
    from motif.serve.opponent import Opponent

    if not 0 <= port <= MAX_PORT:
        raise SettingError(f"--port must be 0 to {MAX_PORT}, not {port}")
    opponent = Opponent(player, seed)
    with GnubgServer(opponent, host, port, Rules(jacoby, beavers), ConnectionLimits(idle=idle)) as server:
        opponent.warm_up()
        complain(f"listening on {server.address}")
        with resumable(f"no longer listening on {server.address}"):
            server.serve_forever()


@command("serve ubgi --player latest@2")
def serve_ubgi(
    player: Annotated[str, player_option("Player.")] = DEFAULT_PLAYER,
    seed: SeedOption = 0,
) -> None:
    """Serve as a UBGI engine (Universal Backgammon Interface) on standard input and output.

    For controllers such as bgci, which start the engine themselves.  Supports version 0.2 and the messages of
    earlier versions.  engine.ply counts from 1, the static evaluation.
    """
    from motif.serve.opponent import Opponent
    from motif.serve.ubgi import UbgiEngine, input_lines

    engine = UbgiEngine(Opponent(player, seed))
    accept_any_text(sys.stdin)
    with resumable("no longer answering"):
        for line in input_lines(sys.stdin):
            for answer in _beside(partial(engine.answers, line)):
                print(answer, flush=True)
            if engine.has_quit:
                return


def _beside(function: Callable[[], _Result]) -> _Result:
    """Call `function` in another thread and return its result.

    The main thread can then handle signals immediately, which it cannot while it runs compiled code.  The
    other thread does not delay the end of the program.
    """
    outcome: Future[_Result] = Future()

    def call() -> None:
        try:
            outcome.set_result(function())
        except BaseException as error:
            outcome.set_exception(error)

    Thread(target=call, daemon=True).start()
    return outcome.result()


@command("serve http", "serve http --port 0 --player motif-v1")
def serve_http(
    settings: Annotated["ServeSettings", Settings("motif.serve.serve_settings", without=("player",))],
    player: JudgeOption = None,
) -> None:
    """Serve an HTTP API and the web page.

    Provides wildbg's /move and /eval, bgweb-api's /api/v1/getmoves, and motif's own /api/v1, which
    /openapi.json describes; docs/how-to/serve.md in motif's source has examples.  Prints the address when
    the server listens; Ctrl-C stops it.
    """
    http_server().serve(replace(settings, player=player))


@command("web", "web --no-open --port 8123")
def web(
    port: Annotated[
        int | None,
        option(
            "Port to listen on; 0 for a free one.", min=0, max=MAX_PORT, show_default="8080 if it is free"
        ),
    ] = None,
    open: Annotated[bool, option("Open the page in the browser.")] = True,
) -> None:
    """Play in the browser, with hints and explanations.

    Starts the server of `motif serve http` for this machine only and opens its page: play games and matches,
    get hints and explanations, set up positions and analyse matches.  Games are saved.  Ctrl-C stops the
    server.
    """
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
    # In a thread, because some browsers block until they are closed.
    Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def http_server() -> ModuleType:
    """Import `motif.serve.http`; raises `SettingError` if its packages are not installed."""
    try:
        from motif.serve import http
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("motif"):
            raise
        raise SettingError(f"an HTTP server requires {error.name}: {install_command('serve')}") from None
    return http
