"""The commands serve, by which other programs ask motif, and web, which opens the page of your own."""

import sys
import webbrowser
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

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
from motif.cli.printing import complain
from motif.runtime.errors import SettingError
from motif.runtime.package import install_command

if TYPE_CHECKING:
    from motif.serve.serve_settings import ServeSettings

_LAST_PORT = 2**16 - 1
_Result = TypeVar("_Result")


@command("serve gnubg --port 1234 --player latest@2")
def serve_gnubg(
    host: Annotated[
        str, option("Address to listen at; others than your own let everybody in.", "HOST")
    ] = "127.0.0.1",
    port: Annotated[int, option("Port to listen at; 0: a free one.")] = 1234,
    player: Annotated[str, player_option("Who plays.")] = JUDGE,
    jacoby: Annotated[bool, option("For money: gammons count only after a double.")] = True,
    beavers: Annotated[bool, option("For money: a double may be beavered.")] = True,
    idle: Annotated[
        int,
        option(
            "Seconds after which a connection that asks nothing is closed.", "SECONDS", min=1, max=31_536_000
        ),
    ] = 3600,
    seed: SeedOption = 0,
) -> None:
    """Play for gnubg, as its external player.

    In gnubg: set player 0 external localhost:1234.  It then sends every decision of that player, plays,
    doubles and answers to doubles, at any score.  Its board lines do not tell whether the Jacoby rule and
    beavers are on: gnubg has both, unless told otherwise.  Ctrl-C ends it.
    """
    from motif.serve.gnubg_server import ConnectionLimits, GnubgServer, Rules
    from motif.serve.opponent import Opponent

    if not 0 <= port <= _LAST_PORT:
        raise SettingError(f"--port must be 0 to {_LAST_PORT}, not {port}")
    opponent = Opponent(player, seed)
    with GnubgServer(opponent, host, port, Rules(jacoby, beavers), ConnectionLimits(idle=idle)) as server:
        opponent.warm_up()
        complain(f"listening on {server.address}")
        with resumable(f"no longer listening on {server.address}"):
            server.serve_forever()


@command("serve ubgi --player latest@2")
def serve_ubgi(
    player: Annotated[str, player_option("Who plays.")] = DEFAULT_PLAYER,
    seed: SeedOption = 0,
) -> None:
    """Play by UBGI, the Universal Backgammon Interface, on standard input and output.

    For controllers such as bgci, which start the engine themselves and ask it line by line: version 0.2,
    and what clients of earlier versions send.  engine.ply counts the root: 1 is the static evaluation.
    """
    from motif.serve.opponent import Opponent
    from motif.serve.ubgi import UbgiEngine, lines_of

    engine = UbgiEngine(Opponent(player, seed))
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="backslashreplace")
    with resumable("no longer answering"):
        for line in lines_of(sys.stdin):
            for answer in _beside(partial(engine.answers, line)):
                print(answer, flush=True)
            if engine.has_quit:
                return


def _beside(function: Callable[[], _Result]) -> _Result:
    """Return what `function` returns or raises, called by another thread.

    The main thread hears signals, which it does not while it runs compiled code.  The other one is not waited
    for when the program ends.
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
    """Answer requests over HTTP.

    wildbg's /move and /eval, bgweb-api's /api/v1/getmoves, and motif's own /api/v1, which /openapi.json tells
    all about; docs/how-to/serve.md in motif's source has examples.  It says where it listens as soon as it
    does, and ends with Ctrl-C.
    """
    http_server().serve(replace(settings, player=player))


@command("web", "web --no-open --port 8123")
def web(
    port: Annotated[
        int | None,
        option("Port to listen at; 0: a free one.", min=0, max=65535, show_default="8080 if it is free"),
    ] = None,
    open: Annotated[bool, option("Whether to open the page in the browser.")] = True,
) -> None:
    """Play in the browser, and be shown why.

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


def http_server() -> Any:
    """Import `motif.serve.http`; raises `SettingError` where the packages that it needs are missing."""
    try:
        from motif.serve import http
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("motif"):
            raise
        raise SettingError(f"an HTTP server needs {error.name}: {install_command('serve')}") from None
    return http
