"""The command play."""

import secrets
import signal
import sys
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motif.cli.common import (
    DEFAULT_PLAYER,
    PLAYERS,
    JobsOption,
    JsonOption,
    checked_seed,
    evaluator_of,
    example,
    json_line,
)
from motif.cli.interruption import Interrupted
from motif.runtime.errors import SettingError
from motif.runtime.interruption import handled

if TYPE_CHECKING:
    from motif.cli.table import Table
    from motif.players.game_session import GameSession, Seat

HUMAN = "human"
_SEEDS = 2**31


class Dice(StrEnum):
    """Where rolls come from."""

    SEED = "seed"
    MANUAL = "manual"


def register(app: typer.Typer) -> None:
    """Add this group's commands to `app`."""
    lines = ("motif play", "motif play pubeval --save games.mat", "motif play human human --names Ann,Bob")
    app.command(epilog=example(*lines))(play)


def play(
    first: Annotated[
        str | None,
        typer.Argument(metavar="A", help=f"{HUMAN}, random or another. {PLAYERS}", show_default=HUMAN),
    ] = None,
    second: Annotated[
        str | None,
        typer.Argument(metavar="B", help="Another one. A name alone is your opponent.", show_default=False),
    ] = None,
    games: Annotated[
        int | None, typer.Option("--games", metavar="N", help="How many.", show_default="asked after each")
    ] = None,
    hint_player: Annotated[
        str, typer.Option("--hint-player", metavar="PLAYER", help="Who gives hints.")
    ] = DEFAULT_PLAYER,
    names: Annotated[
        str | None, typer.Option("--names", metavar="ANN,BOB", help="What to call the two.")
    ] = None,
    dice: Annotated[
        Dice, typer.Option("--dice", help="Thrown by the program from --seed, or typed: for a real board.")
    ] = Dice.SEED,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save", metavar="FILE", help="Write a .mat file after every game, and however it ends."
        ),
    ] = None,
    json: JsonOption = False,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", metavar="N", callback=checked_seed, help="Of the dice.", show_default="a new one, shown"
        ),
    ] = None,
    jobs: JobsOption = None,
) -> None:
    """Play cubeless money games in the terminal.

    The prompt says what can be typed.  With --json the conversation goes to stderr.
    """
    from motif.cli.screen import Screen
    from motif.cli.table import Table
    from motif.players.dice import SeededDice
    from motif.players.game_session import GameSession

    if games is not None and games < 1:
        raise SettingError(f"--games must be at least 1, not {games}")
    seats = _seats(*_sides(first, second), names)
    adviser = evaluator_of(hint_player)
    thrown = SeededDice(secrets.randbelow(_SEEDS) if seed is None else seed)
    session = GameSession(seats, [("EventDate", f"{date.today():%Y.%m.%d}")])
    for stream in (sys.stdin, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    screen = Screen(sys.stdin, sys.stderr if json else sys.stdout)
    table = Table(session, screen, thrown, adviser, typed_dice=dice is Dice.MANUAL, kept=save)
    table.asking.write_kept()  # so that it does not turn out after the game that it cannot be written
    against = f"{seats[0].name} against {seats[1].name}: cubeless money games."
    repeat = f"The dice have the seed {thrown.seed}: --seed {thrown.seed} throws the same again."
    screen.say(f"{against} {'You type the dice.' if dice is Dice.MANUAL else repeat}")
    _run(table, games, save)
    if save is not None:
        screen.say(f"Saved to {save}")
    if json:
        typed = {"dice": dice.value, "seed": thrown.seed, "save": None if save is None else str(save)}
        print(json_line({**_result(session), **typed}))


def _run(table: "Table", games: int | None, save: Path | None) -> None:
    """Play, and save what was played however that ends."""
    from motif.cli.asking import Quit
    from motif.cli.screen import EndOfInput

    try:
        with handled((signal.SIGTERM,), signal.default_int_handler):
            table.run(games)
    except (Quit, EndOfInput):
        table.asking.write_kept()
    except KeyboardInterrupt:
        table.asking.write_kept()
        kept = "--save FILE keeps a record" if save is None else f"the games so far are in {save}"
        raise Interrupted(kept) from None
    except BaseException:
        table.asking.write_kept()
        raise


def _sides(first: str | None, second: str | None) -> tuple[str, str]:
    """The two players: a name alone is that of a person's opponent."""
    if second is not None:
        return first or HUMAN, second
    return HUMAN, DEFAULT_PLAYER if first in (None, HUMAN) else str(first)


def _seats(first: str, second: str, names: str | None) -> "tuple[Seat, Seat]":
    from motif.players import load
    from motif.players.game_session import Seat

    called = [first, second] if first != second else [f"{first} 1", f"{second} 2"]
    if names is not None:
        called = [name.strip() for name in names.split(",")]
        if len(called) != 2 or len({*called, ""}) != 3 or not all(map(str.isprintable, called)):
            raise SettingError("--names must be two different names, such as Ann,Bob")
    players = [None if name == HUMAN else load(name) for name in (first, second)]
    return Seat(called[0], players[0]), Seat(called[1], players[1])


def _result(session: "GameSession") -> dict[str, Any]:
    from motif.board.game_record import Turn

    record = session.record()
    games = [
        {
            "winner": record.players[game.result.winner],
            "points": game.result.points,
            "resigned": game.result.resigned,
            "turns": sum(isinstance(action, Turn) and action.play is not None for action in game.actions),
        }
        for game in record.games
        if game.result is not None
    ]
    return {
        "players": list(record.players),
        "score": list(session.score),
        "games": games,
        "unfinished": len(games) < len(record.games),
    }
