"""The command play: a session, with its first line, and its result as JSON."""

import secrets
import signal
import sys
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motif.analysis.judge import JUDGE, evaluator_of
from motif.cli.interrupts import Interrupted
from motif.cli.options import (
    DEFAULT_PLAYER,
    PLAYERS,
    JsonOption,
    Settings,
    checked_seed,
    command,
    complete_player,
    option,
    optional_value,
    player_option,
)
from motif.cli.printing import json_line
from motif.runtime.errors import SettingError
from motif.runtime.parallel import handled

if TYPE_CHECKING:
    from motif.session.session import GameSession, Seat
    from motif.session.table import Table
    from motif.session.tutor import Tutor

HUMAN = "human"
_SEEDS = 2**31


class Dice(StrEnum):
    """Where rolls come from."""

    SEED = "seed"
    MANUAL = "manual"


@dataclass(frozen=True)
class RulesChoice:
    """What is played."""

    length: Annotated[int, option("Points that the match is to; 0: games for money.")] = 0
    cube: Annotated[bool, option("Whether there is a doubling cube.")] = True
    jacoby: Annotated[
        bool | None,
        option("Whether gammons count only after a double.", show_default="for money with the cube"),
    ] = None
    beavers: Annotated[bool, option("For money: a player who is doubled may double again at once.")] = False
    raccoons: Annotated[bool, option("Beavers, which may be doubled once more.")] = False

    @property
    def has_jacoby(self) -> bool:
        """Whether gammons count only after a double: by default in money games with a cube."""
        return not self.length and self.cube if self.jacoby is None else self.jacoby


@dataclass(frozen=True)
class HelpChoice:
    """The players that give hints and warn before errors."""

    tutor: Annotated[
        str | None,
        option(f"Warns before an error and says why; {JUDGE} by default.", "[PLAYER]"),
    ] = None
    tutor_limit: Annotated[float, option("What an error may cost without a word.")] = 0.05
    hint_player: Annotated[str, player_option("Who gives hints.")] = JUDGE


_RULES, _HELP = RulesChoice(), HelpChoice()


@command(
    "play",
    "play pubeval --length 5 --tutor --save match.mat",
    "play human human --names Ann,Bob --no-cube",
    cls=optional_value("--tutor", JUDGE),
)
def play(
    first: Annotated[
        str | None,
        typer.Argument(
            metavar="A",
            help=f"{HUMAN}, random or another. {PLAYERS}",
            show_default=HUMAN,
            autocompletion=complete_player,
        ),
    ] = None,
    second: Annotated[
        str | None,
        typer.Argument(
            metavar="B",
            help="Another one. A name alone is your opponent.",
            show_default=False,
            autocompletion=complete_player,
        ),
    ] = None,
    rules: Annotated[RulesChoice, Settings()] = _RULES,
    auto_roll: Annotated[
        bool, option("Ask for a double only where it takes a thought (--hint-player).")
    ] = False,
    games: Annotated[int | None, option("How many.", show_default="asked after each")] = None,
    helpers: Annotated[HelpChoice, Settings()] = _HELP,
    names: Annotated[str | None, option("What to call the two.", "ANN,BOB")] = None,
    dice: Annotated[
        Dice, option("Rolled by the program from --seed, or typed: for a real board.")
    ] = Dice.SEED,
    save: Annotated[Path | None, option("Write a .mat file after every game, and however it ends.")] = None,
    json: JsonOption = False,
    seed: Annotated[
        int | None, option("Of the dice.", callback=checked_seed, show_default="a new one, shown")
    ] = None,
) -> None:
    """Play a match or money games in the terminal.

    With the doubling cube, and a tutor if wanted.  The prompt says what can be typed.  With --json the
    conversation goes to stderr.
    """
    from motif.rollouts.games import SeededDice
    from motif.session.advisor import Advisor
    from motif.session.event_game import EventGame
    from motif.session.prompter import Screen
    from motif.session.session import GameSession, SessionRules, record_tags
    from motif.session.table import Table, TableOptions

    if games is not None and games < 1:
        raise SettingError(f"--games must be at least 1, not {games}")
    if games is not None and rules.length:
        raise SettingError("--games is for money play: a match ends by itself")
    if not helpers.tutor_limit >= 0:  # so that NaN is refused, too
        raise SettingError(f"--tutor-limit must be at least 0, not {helpers.tutor_limit}")
    beavers, raccoons = rules.beavers or rules.raccoons, rules.raccoons
    played = SessionRules(rules.length, rules.cube, rules.has_jacoby, beavers, raccoons)
    seats = _seats(*_sides(first, second), names)
    advisor = Advisor(evaluator_of(helpers.hint_player))
    thrown = SeededDice(secrets.randbelow(_SEEDS) if seed is None else seed)
    session = GameSession(seats, record_tags(played, date.today()), played)
    for stream in (sys.stdin, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    screen = Screen(sys.stdin, sys.stderr if json else sys.stdout)
    options = TableOptions(
        auto_roll=auto_roll,
        tutor=None if helpers.tutor is None else evaluator_of(helpers.tutor),
        tutor_limit=helpers.tutor_limit,
        kept=save,
    )
    game = EventGame(session, thrown, lambda: advisor, typed_dice=dice is Dice.MANUAL)
    table = Table(game, screen, options)
    table.prompter.write_kept()  # so that it does not turn out after the game that it cannot be written
    repeat = f"The dice have the seed {thrown.seed}: --seed {thrown.seed} rolls the same again."
    screen.say(f"{opening_line(session)} {'You type the dice.' if game.typed_dice else repeat}")
    if any(seat.is_person for seat in seats):
        screen.say("Type ? at any time: it lists what can be typed.")
    _run(table, games, save)
    if table.tutor is not None:
        table.tutor.sum_up()
    if save is not None:
        screen.say(f"Saved to {save}")
    if json:
        typed = {"dice": dice.value, "seed": thrown.seed, "save": save}
        print(json_line({**play_result(session, table.tutor), **typed}))


def _run(table: "Table", games: int | None, save: Path | None) -> None:
    """Play, and save what was played however that ends."""
    from motif.session.prompter import EndOfInput, Quit

    try:
        with handled((signal.SIGTERM,), signal.default_int_handler):
            table.run(games)
    except (Quit, EndOfInput):
        table.prompter.write_kept()
    except KeyboardInterrupt:
        table.prompter.write_kept()
        kept = "--save FILE keeps a record" if save is None else f"the games so far are in {save}"
        raise Interrupted(kept) from None
    except BaseException:
        table.prompter.write_kept()
        raise


def _sides(first: str | None, second: str | None) -> tuple[str, str]:
    """Return the two players: a name alone is that of a person's opponent."""
    if second is not None:
        return first or HUMAN, second
    return HUMAN, DEFAULT_PLAYER if first in (None, HUMAN) else str(first)


def _seats(first: str, second: str, names: str | None) -> "tuple[Seat, Seat]":
    from motif.players import load
    from motif.session.session import Seat

    labels = [first, second] if first != second else [f"{first} 1", f"{second} 2"]
    if names is not None:
        labels = [name.strip() for name in names.split(",")]
        if len(labels) != 2 or len({*labels, ""}) != 3 or not all(map(str.isprintable, labels)):
            raise SettingError("--names must be two different names, such as Ann,Bob")
    players = [None if name == HUMAN else load(name) for name in (first, second)]
    return Seat(labels[0], players[0]), Seat(labels[1], players[1])


def opening_line(session: "GameSession") -> str:
    """Who plays, and for what."""
    from motif.board.diagram import describe_rules

    rules = session.rules
    against = f"{session.seats[0].name} against {session.seats[1].name}"
    if rules.length:
        return f"{against}: a {describe_rules(session.state())}{', cubeless' * (not rules.cube)}."
    return f"{against}: {describe_rules(session.state()) if rules.cube else 'cubeless money games'}."


def play_result(session: "GameSession", tutor: "Tutor | None") -> dict[str, Any]:
    """Return the result of `session` as JSON has it; errors of persons where there was a `tutor`."""
    from motif.board.game_record import game_facts

    record, rules, winner = session.record(), session.rules, session.match_winner
    games = [game_facts(game) for game in record.games]
    return {
        "players": list(record.players),
        "length": rules.length,
        "cube": rules.cube,
        "jacoby": rules.jacoby,
        "beavers": rules.beavers,
        "raccoons": rules.raccoons,
        "score": list(session.score),
        "winner": None if winner is None else record.players[winner],
        "games": [facts.to_dict(record.players) for facts in games if facts is not None],
        "unfinished": None in games,
        "errors": None if tutor is None else {report.name: report.to_dict() for report in tutor.reports()},
    }
