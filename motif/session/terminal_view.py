"""The terminal view of a game for `motif play`."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from motif.board.game_record import CubeKind, game_facts
from motif.board.moves import Play, parse_roll
from motif.board.notation import find_play
from motif.board.rules import RESIGNATIONS
from motif.evaluators import Evaluator
from motif.players.resignations import value_of_playing_on, value_of_resigning
from motif.runtime.errors import PlayError, RecordError
from motif.runtime.layout import counted, listed
from motif.session.advisor import Advisor
from motif.session.event_game import EventGame, GameEvent
from motif.session.illegal import why_illegal
from motif.session.prompter import Prompter, Screen, please_type
from motif.session.tutor import Tutor, decision_lines

_HINTS_SHOWN = 8
_MAX_DIGITS = 4
_ROLL = {"roll": "roll", "r": "roll"}
_DOUBLE = {"double": "double", "redouble": "double", "d": "double"}
_ANSWERS: dict[str, CubeKind] = {
    "take": "take", "t": "take", "beaver": "beaver", "b": "beaver",
    "pass": "drop", "p": "drop", "drop": "drop",
}  # fmt: skip
_RESIGNING = {"resign": None} | {f"resign {loss}": loss for loss in RESIGNATIONS}
_OFFERED = {"take": "take", "drop": "pass", "beaver": "beaver"}
TUTOR_LIMIT = 0.05
"""Largest error, in normalised equity, that the tutor accepts by default."""


class TerminalView:
    """Plays the games of a session in the terminal.

    The game's advisor gives hints and makes cube decisions for players without an evaluator.
    """

    def __init__(
        self,
        game: EventGame,
        screen: Screen,
        *,
        kept: Path | None,
        tutor: Evaluator | None,
        tutor_limit: float,
        auto_roll: bool,
    ) -> None:
        """Keep the record in the file `kept`, and let `tutor` object to errors above `tutor_limit`.

        With `auto_roll`, ask for a double only if the advisor considers it a decision.
        """
        self.prompter = Prompter(game, screen, kept)
        self.tutor = None if tutor is None else Tutor(Advisor(tutor), tutor_limit, game, self.prompter)
        self._game, self._session = game, game.session
        self._say = self.prompter.say
        self._auto_roll = auto_roll
        self._has_persons = any(seat.is_person for seat in game.session.seats)
        self._advisor = game.advisor()
        self._listed: Sequence[Play] = ()
        """The plays that typed numbers refer to."""

    def run(self, games: int | None) -> None:
        """Play the match, `games` games, or as many games as a person wants.

        Raises `Quit`, `EndOfInput` and `FileError`.
        """
        while True:
            self._play_game()
            self.prompter.write_kept()
            if self._session.rules.length:
                more = self._session.match_winner is None
            elif games is None:
                more = self._has_persons and self.prompter.agree("Another game?")
            else:
                more = self._session.games < games
            if not more:
                return

    def _play_game(self) -> None:
        self._begin()
        while self._session.result is None:
            event = self._game.next_event()
            if event is None:
                self._ask()
            else:
                self._follow(event)
        self._say_how_it_ended()

    def _begin(self) -> None:
        session = self._session
        number, first, second = session.games + 1, self._name(0), self._name(1)
        while True:
            try:
                event = self._typed_opening(number) if self._game.typed_dice else self._game.opening()
                self._game.follow(event)
                break
            except (PlayError, RecordError) as error:
                self._say(str(error))
        rolled = f"{first} rolls {event[1]}, {second} rolls {event[2]}"
        crawford = " Crawford game: no doubling." * (session.state().crawford and session.rules.cube)
        self._say(f"Game {number}. {rolled}: {self._name(session.on_roll)} starts.{crawford}")

    def _typed_opening(self, number: int) -> GameEvent:
        head = f"Game {number}: dice of {self._name(0)} and {self._name(1)}, such as 52"
        line = self.prompter.ask(head, ["two dice such as 52"])
        parse_roll(line)
        first, second = re.findall("[1-6]", line)
        return ["begin", int(first), int(second)]

    def _follow(self, event: GameEvent) -> None:
        session = self._session
        who, cube = self._name(session.to_decide), session.cube
        match event[0]:
            case "play":
                if len(session.plays) > 1 and not self._has_persons:
                    self.prompter.draw()
                act = f"{'has to play' if len(session.plays) == 1 else 'plays'} {event[1]}"
                roll = "{}{}".format(*session.roll or ())
                self._say(f"{who} rolled {roll} and {act if event[1] else 'cannot move'}.")
            case "double":
                self._say(f"{who} {'re' * (cube > 1)}doubles to {2 * cube}.")
            case "raccoon":
                self._say(f"{who} raccoons to {2 * cube}.")
            case "take" | "drop" | "beaver" as kind:
                does = {"take": "takes", "drop": "passes", "beaver": f"beavers to {4 * cube}"}[kind]
                self._say(f"{who} {does}.")
        self._game.follow(event)

    def _ask(self) -> None:
        {
            "dice": self._ask_dice,
            "answer": self._ask_answer,
            "raccoon": self._ask_raccoon,
            "roll": self._ask_roll,
            "play": self._ask_play,
        }[self._game.asks]()

    def _ask_until(
        self,
        head: str,
        offers: Sequence[str],
        act: Callable[[str], bool],
        *,
        hint: Callable[[], None] | None,
        empty: str = "",
        resigns: bool = False,
    ) -> None:
        """Ask until `act` returns True for the typed line, or an undo or resignation succeeds.

        An empty line stands for `empty`.
        """
        hints, undo = ["hint"] * (hint is not None), ["undo"] * self._session.can_undo
        resign = ["resign"] * resigns
        is_done = False
        while not is_done:
            line = self.prompter.ask(head, [*offers, *hints, *undo, *resign], empty=empty)
            word = line.lower()
            if word == "undo":
                is_done = self.prompter.undo()
            elif word == "hint" and hint is not None:
                hint()
            elif word in _RESIGNING and resigns:
                is_done = self._resigns(_RESIGNING[word])
            elif word.startswith("resign ") and resigns:
                self._say(f"type {listed([*_RESIGNING], 'or')}, not {line!r}")
            else:
                is_done = act(line)

    def _turn_cube(self, line: str, meant: Mapping[str, str], refusal: str) -> bool:
        """Carry out a typed cube action or roll; return False if it is unknown or rejected."""
        word = meant.get(line.lower())
        if word is None:
            self._say(refusal)
            return False
        if self.tutor is not None and not self.tutor.lets_pass(word):
            return False
        if word == "roll":
            self._roll()
        else:
            self._follow([word])
        return True

    def _ask_answer(self) -> None:
        session = self._session
        who, loses = self._name(session.to_decide), counted(session.cube, "point")
        beaver = f", beaver to {4 * session.cube}" * ("beaver" in session.answers)
        head = f"{who}: take at {2 * session.cube}{beaver}, or pass and lose {loses}"
        meant = {word: kind for word, kind in _ANSWERS.items() if kind in session.answers}
        self._ask_cube(head, [_OFFERED[kind] for kind in session.answers], meant)

    def _ask_raccoon(self) -> None:
        head = f"{self._name(self._session.on_roll)}: roll (Enter) or raccoon to {2 * self._session.cube}"
        self._ask_cube(head, ["roll", "raccoon"], {**_ROLL, "raccoon": "raccoon"}, empty="roll")

    def _ask_cube(self, head: str, offers: Sequence[str], meant: Mapping[str, str], empty: str = "") -> None:
        self.prompter.draw_once()
        refusal = please_type(offers)
        self._ask_until(
            head,
            offers,
            lambda line: self._turn_cube(line, meant, refusal),
            hint=self._hint_cube,
            empty=empty,
        )

    def _ask_roll(self) -> None:
        session = self._session
        if self._auto_roll and not self._advisor.sees_cube_action(session):
            self._roll()
            return
        self.prompter.draw_once()
        head = f"{self._name(session.on_roll)}: roll (Enter) or double to {2 * session.cube}"

        def act(line: str) -> bool:
            refusal = f"you have not rolled yet: type roll or double, not {line!r}"
            return self._turn_cube(line, _ROLL | _DOUBLE, refusal)

        offers = ["roll", "double"]
        self._ask_until(head, offers, act, hint=self._hint_cube, empty="roll", resigns=True)

    def _roll(self) -> None:
        event = self._game.roll()
        if event is None:
            self._ask_dice()
        else:
            self._follow(event)

    def _ask_dice(self) -> None:
        """Ask for the dice, or a double or resignation by a person on roll."""
        session = self._session
        is_person = session.seats[session.on_roll].is_person
        may_double = session.can_double and is_person
        if may_double:
            self.prompter.draw_once()

        def act(line: str) -> bool:
            if may_double and line.lower() in _DOUBLE:
                return self._turn_cube(line, _DOUBLE, "")
            try:
                self._follow(["roll", *parse_roll(line)])
            except PlayError as error:
                self._say(str(error))
                return False
            return True

        head = f"Roll of {self._name(session.on_roll)}, such as 31{', or double' * may_double}"
        offers = ["two dice such as 31", *["double"] * may_double]
        hint = self._hint_cube if may_double else None
        self._ask_until(head, offers, act, hint=hint, resigns=is_person)

    def _ask_play(self) -> None:
        session = self._session
        self.prompter.draw_once()
        self._listed = session.plays
        head = "{} to play {}{}".format(self._name(session.on_roll), *session.roll or ())
        offers = [
            f"a play such as {session.plays[0].notation}",
            f"its number 1-{len(session.plays)}",
            "plays",
        ]
        self._ask_until(head, offers, self._typed_play, hint=self._hint_plays, resigns=True)

    def _typed_play(self, line: str) -> bool:
        """Make a typed play or say why it is illegal; return whether it was made."""
        session = self._session
        if line.lower() == "plays":
            self._listed = session.plays
            self._say(*(f"{number:4}  {play.notation}" for number, play in enumerate(self._listed, 1)))
            return False
        if line.lower() in _ROLL | _DOUBLE:
            self._say("you have already rolled: type a play or its number")
            return False
        assert session.roll is not None
        try:
            if line.isascii() and line.isdigit():
                play = self._listed[_index(line, len(self._listed))]
            else:
                play = find_play(line, session.plays)
        except PlayError as error:
            is_number = line.isdigit()
            why = None if is_number else why_illegal(line, session.position, session.roll, session.plays)
            self._say(f"{why}: {error}" if why else str(error))
            return False
        if self.tutor is not None and not self.tutor.lets_pass("play", play.notation):
            return False
        self._follow(["play", play.notation])
        return True

    def _hint_plays(self) -> None:
        """Show the best plays of the roll and number all plays by rank."""
        ranked = self._advisor.ranked(self._session)
        self._say(f"The best plays according to {self._advisor.name}:")
        for number, one in enumerate(ranked[:_HINTS_SHOWN], 1):
            self._say(f"{number:4}  {one.play.notation:24} {one.equity:+z.3f}")
        if len(ranked) > _HINTS_SHOWN:
            self._say(f"      and {len(ranked) - _HINTS_SHOWN} more")
        self._listed = [row.play for row in ranked]

    def _hint_cube(self) -> None:
        who = self._name(self._session.on_roll)
        lines = decision_lines(self._advisor.cube(self._session))
        self._say(f"The cube according to {self._advisor.name}, with equities for {who}:", *lines)

    def _resigns(self, loss: str | None) -> bool:
        """Offer a resignation of `loss`, asking if None; return whether it is accepted."""
        session = self._session
        possible = session.resignations()
        if loss is not None and loss not in possible:
            self._say(f"You cannot resign a {loss}: {session.why_single}.")
            return False
        if loss is None and session.why_single:
            self._say(f"You resign a single game: {session.why_single}.")
            loss = "single"
        elif loss is None:
            loss = self.prompter.choose("Resign what?", [*possible, "back"])
            if loss == "back":
                return False
        points = RESIGNATIONS[loss] * session.cube
        other = session.seats[1 - session.on_roll]
        if not self.prompter.agree(f"Give {other.name} {counted(points, 'point')} and end the game?"):
            return False
        if other.is_person:
            is_agreed = self.prompter.agree(f"{other.name}, do you accept?")
        else:
            is_agreed = self._game.accepts(loss)
        if is_agreed:
            self._follow(["resign", loss, session.on_roll])
        else:
            self._say(f"{other.name} declines{'' if other.is_person else self._expected(loss)}.")
        return is_agreed

    def _expected(self, loss: str) -> str:
        """Return the equities by which a program declines a resignation of `loss`, in words."""
        session, state = self._session, self._session.state()
        on = value_of_playing_on(session.position, state, self._game.judge_of(1 - session.on_roll))
        now = value_of_resigning(state, loss)
        return f": playing on has an equity of {-on:+z.3f}, and accepting {-now:+z.3f}"

    def _say_how_it_ended(self) -> None:
        session = self._session
        facts = game_facts(session.record().games[-1])
        assert facts is not None
        if facts.kind is not None and not facts.result.resigned:
            self.prompter.draw()
        winner = facts.result.winner
        won = facts.in_words(self._name(1 - winner))
        first, second = (f"{self._name(side)} {session.score[side]}" for side in (0, 1))
        self._say(f"{self._name(winner)} wins {won}. Score: {first}, {second}.")
        if session.match_winner is not None:
            points = " to ".join(str(session.score[side]) for side in (winner, 1 - winner))
            self._say(f"{self._name(winner)} wins the {session.rules.length}-point match: {points}.")

    def _name(self, side: int) -> str:
        return self._session.seats[side].name


def _index(number: str, count: int) -> int:
    if len(number) > _MAX_DIGITS or not 1 <= int(number) <= count:
        raise PlayError(f"there is no play {number[:_MAX_DIGITS]}; the plays are numbered 1 to {count}")
    return int(number) - 1
