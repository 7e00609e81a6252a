"""The command play: games in the terminal."""

import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from motif.analysis.judge import JUDGE, evaluator_of
from motif.cli.interrupts import Interrupted, interruptible
from motif.cli.options import (
    DEFAULT_PLAYER,
    PLAYERS,
    JsonOption,
    Settings,
    argument,
    checked_seed,
    command,
    complete_player,
    option,
    optional_value,
    player_option,
)
from motif.cli.printing import accept_any_text, json_line
from motif.runtime.errors import SettingError, shown
from motif.runtime.frames import Row

if TYPE_CHECKING:
    from motif.evaluators import Evaluator
    from motif.session.prompter import Screen
    from motif.session.session import GameSession, Seat, SessionRules
    from motif.session.terminal_view import TerminalView
    from motif.session.tutor import Tutor

HUMAN = "human"


class _Dice(StrEnum):
    """Source of the rolls."""

    SEED = "seed"
    MANUAL = "manual"


@dataclass(frozen=True)
class RulesChoice:
    """Match length and rules."""

    length: Annotated[int, option("Match length in points; 0 for money games.")] = 0
    cube: Annotated[bool, option("Play with a doubling cube.")] = True
    jacoby: Annotated[
        bool | None, option("Jacoby rule in money games.", show_default="jacoby with a cube")
    ] = None
    beavers: Annotated[bool, option("Beavers in money games.")] = False
    raccoons: Annotated[bool, option("Beavers and raccoons in money games.")] = False

    def check(self, games: int | None) -> None:
        """Raise `SettingError` for a number of games that does not fit the rules."""
        if games is not None and games < 1:
            raise SettingError(f"--games must be at least 1, not {games}")
        if games is not None and self.length:
            raise SettingError("--games requires money play, not --length")

    @property
    def session_rules(self) -> "SessionRules":
        """The rules of the session; by default with the Jacoby rule in money games with a cube."""
        from motif.session.session import SessionRules

        jacoby = not self.length and self.cube if self.jacoby is None else self.jacoby
        return SessionRules(self.length, self.cube, jacoby, self.beavers, self.raccoons)


@dataclass(frozen=True)
class HelpChoice:
    """The player that gives hints, and the tutor that warns before errors."""

    tutor: Annotated[
        str | None,
        option(f"Player that warns before errors, with reasons; without a value, {JUDGE}.", "[PLAYER]"),
    ] = None
    tutor_limit: Annotated[
        float | None,
        option("With --tutor: largest error without a warning, in points of equity.", show_default="0.05"),
    ] = None
    hint_player: Annotated[str, player_option("Player that gives hints.")] = JUDGE

    def loaded_tutor(self) -> "tuple[Evaluator | None, float]":
        """Return the tutor and its limit; raises `SettingError` for a bad limit."""
        from motif.session.terminal_view import TUTOR_LIMIT

        limit = TUTOR_LIMIT if self.tutor_limit is None else self.tutor_limit
        if not limit >= 0:  # also refuses NaN
            raise SettingError(f"--tutor-limit must be at least 0, not {limit}")
        if self.tutor is None and self.tutor_limit is not None:
            raise SettingError("--tutor-limit requires --tutor")
        return None if self.tutor is None else evaluator_of(self.tutor), limit


DiceSeed = Annotated[
    int | None,
    option(
        "Dice seed; with --dice manual, it affects only the plays of random.",
        callback=checked_seed,
        show_default="random",
    ),
]


@command(
    "play",
    "play pubeval --length 5 --tutor --save match.mat",
    "play human human --names Ann,Bob --no-cube",
    cls=optional_value("--tutor", JUDGE),
)
def play(
    first: Annotated[
        str | None,
        argument(
            f"{PLAYERS} Also {HUMAN} and random.", "A", show_default=HUMAN, autocompletion=complete_player
        ),
    ] = None,
    second: Annotated[
        str | None,
        argument(
            "Second player. If only one player is given, it is your opponent.",
            "B",
            show_default=False,
            autocompletion=complete_player,
        ),
    ] = None,
    *,
    rules: Annotated[RulesChoice, Settings()],
    auto_roll: Annotated[
        bool, option("Roll automatically unless doubling is close, according to --hint-player.")
    ] = False,
    games: Annotated[
        int | None, option("Number of money games.", show_default="asks after each game")
    ] = None,
    helpers: Annotated[HelpChoice, Settings()],
    names: Annotated[str | None, option("Names of the players.", "ANN,BOB")] = None,
    dice: Annotated[_Dice, option("Dice from --seed, or rolls of real dice that you type.")] = _Dice.SEED,
    save: Annotated[
        Path | None, option("Match file (.mat or .sgf) to write after each game and at the end.")
    ] = None,
    json: JsonOption = False,
    seed: DiceSeed = None,
) -> None:
    """Play a match or money games in the terminal.

    At every prompt, ? lists what you can type.  With --json the dialogue goes to stderr.
    """
    from motif.rollouts.games import SeededDice
    from motif.session.advisor import Advisor
    from motif.session.event_game import EventGame
    from motif.session.session import GameSession, record_tags
    from motif.session.terminal_view import TerminalView

    rules.check(games)
    seats, advisor = _seats(*_sides(first, second), names), Advisor(evaluator_of(helpers.hint_player))
    seeded = SeededDice(seed)
    session = GameSession(seats, record_tags(rules.session_rules, date.today()), rules.session_rules)
    screen = _screen(json)
    game = EventGame(session, seeded, lambda: advisor, typed_dice=dice is _Dice.MANUAL)
    tutor, limit = helpers.loaded_tutor()
    view = TerminalView(game, screen, kept=save, tutor=tutor, tutor_limit=limit, auto_roll=auto_roll)
    view.prompter.write_kept()  # A name or folder that does not fit should fail before the game.
    repeat = f"The dice seed is {seeded.seed}; --seed {seeded.seed} repeats the rolls."
    screen.say(f"{opening_line(session)} {'You type the dice.' if game.typed_dice else repeat}")
    if any(seat.is_person for seat in seats):
        screen.say("Type ? for a list of commands.")
    _run(view, games, save)
    if json:
        typed = {"dice": dice.value, "seed": seeded.seed, "save": save}
        print(json_line({**play_result(session, view.tutor), **typed}))


def _run(view: "TerminalView", games: int | None, save: Path | None) -> None:
    """Play, and save the record however the game ends."""
    from motif.session.prompter import EndOfInput, Quit

    try:
        with suppress(Quit, EndOfInput), interruptible(has_to_save=True):
            view.run(games)
    except KeyboardInterrupt:
        kept = "use --save FILE to keep a record" if save is None else f"the games so far are in {save}"
        raise Interrupted(kept) from None
    finally:
        view.prompter.write_kept()
    if view.tutor is not None:
        view.tutor.sum_up()
    if save is not None:
        view.prompter.say(f"Saved to {save}")


def _screen(json: bool) -> "Screen":
    from motif.session.prompter import Screen

    accept_any_text(sys.stdin, sys.stderr)
    return Screen(sys.stdin, sys.stderr if json else sys.stdout)


def _sides(first: str | None, second: str | None) -> tuple[str, str]:
    """Return the two players; a single name is the opponent of a person."""
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
            raise SettingError(f"--names must be two different names such as Ann,Bob, not {shown(names)}")
    players = [None if name == HUMAN else load(name) for name in (first, second)]
    return Seat(labels[0], players[0]), Seat(labels[1], players[1])


def opening_line(session: "GameSession") -> str:
    """Return the players and the rules in a sentence."""
    from motif.board.diagram import describe_rules

    rules = session.rules
    against = f"{session.seats[0].name} against {session.seats[1].name}"
    if rules.length:
        return f"{against}: a {describe_rules(session.state())}{', cubeless' * (not rules.cube)}."
    return f"{against}: {describe_rules(session.state()) if rules.cube else 'cubeless money games'}."


def play_result(session: "GameSession", tutor: "Tutor | None") -> Row:
    """Return the result of `session` for JSON, with the errors that a `tutor` found, if any."""
    from motif.board.game_record import game_facts

    record, winner = session.record(), session.match_winner
    games = [game_facts(game) for game in record.games]
    return {
        "players": list(record.players),
        **asdict(session.rules),
        "score": list(session.score),
        "winner": None if winner is None else record.players[winner],
        "games": [facts.to_dict(record.players) for facts in games if facts is not None],
        "unfinished": None in games,
        "errors": None if tutor is None else {report.name: report.to_dict() for report in tutor.reports()},
    }
