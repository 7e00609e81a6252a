"""The conversation of `motif play`: persons are asked, players play, and dice are thrown or typed."""

import re
from dataclasses import dataclass
from pathlib import Path

from motif.board.parsing import parse_roll
from motif.cli.asking import Asking
from motif.cli.counsel import Counsel, cube_counsel
from motif.cli.doubling import DOUBLE, Doubling
from motif.cli.playing import Playing
from motif.cli.screen import Screen
from motif.cli.tutor import Tutor
from motif.evaluators import Evaluator
from motif.players.game_dice import SeededDice
from motif.players.game_facts import game_facts
from motif.players.game_session import GameSession
from motif.runtime.errors import PlayError, RecordError


@dataclass(frozen=True)
class Manners:
    """How the conversation is held."""

    typed_dice: bool = False
    auto_roll: bool = False
    """Ask for a double only where it takes a thought, as the adviser sees it."""
    tutor: Evaluator | None = None
    tutor_limit: float = 0.05
    """Normalised equity that an error may cost before the tutor objects."""
    kept: Path | None = None
    """A file that holds the record."""


class Table:
    """Runs a session to its end."""

    def __init__(
        self, session: GameSession, screen: Screen, dice: SeededDice, adviser: Evaluator, manners: Manners
    ) -> None:
        """The `adviser` gives hints, and judges for a player without an opinion of his own."""
        self.asking = asking = Asking(session, screen, manners.kept)
        self.tutor: Tutor | None = None
        if manners.tutor is not None:
            self.tutor = Tutor(Counsel(manners.tutor), manners.tutor_limit, session, asking)
        self._session = session
        self._dice = dice
        self._typed_dice = manners.typed_dice
        self._has_persons = any(seat.is_person for seat in session.seats)
        counsel = Counsel(adviser)
        self._playing = Playing(session, asking, counsel, self.tutor)
        first, second = (cube_counsel(seat.player, counsel) for seat in session.seats)
        self._doubling = Doubling(
            session, asking, (first, second), counsel, self.tutor, auto_roll=manners.auto_roll
        )

    def run(self, games: int | None) -> None:
        """Play the match, or `games` games, or as many as a person wants.

        Raises `Quit`, `EndOfInput` and `FileError`.
        """
        while True:
            self._one_game()
            self.asking.write_kept()
            if self._session.rules.length:
                more = self._session.match_winner is None
            elif games is None:
                more = self._has_persons and self._wants_another()
            else:
                more = self._session.games < games
            if not more:
                return

    def _one_game(self) -> None:
        session = self._session
        self._begin()
        while session.result is None:
            if session.doubled:
                self._doubling.answer()
            elif session.roll is None:
                if self._may_roll():
                    self._throw()
            elif len(session.plays) == 1:
                self._playing.play(session.plays[0])
            elif session.seats[session.on_roll].is_person:
                self._playing.decide(session.roll)
            else:
                self._let_play(session.roll)
        self._say_how_it_ended()

    def _say_how_it_ended(self) -> None:
        session = self._session
        facts = game_facts(session.record().games[-1])
        assert facts is not None
        if facts.kind is not None and not facts.result.resigned:
            self.asking.draw()
        winner = facts.result.winner
        won = facts.in_words(self._name(1 - winner))
        self.asking.say(f"{self._name(winner)} wins {won}. {self._score()}")
        if session.match_winner is not None:
            points = " to ".join(str(session.score[side]) for side in (winner, 1 - winner))
            self.asking.say(f"{self._name(winner)} wins the match to {session.rules.length}: {points}.")

    def _score(self) -> str:
        first, second = (f"{self._name(side)} {self._session.score[side]}" for side in (0, 1))
        return f"Score: {first}, {second}."

    def _wants_another(self) -> bool:
        return self.asking.choose("Another game?", ["yes", "no"], may_save=True) == "yes"

    def _name(self, side: int) -> str:
        return self._session.seats[side].name

    def _begin(self) -> None:
        session = self._session
        number, first, second = session.games + 1, self._name(0), self._name(1)
        while True:
            try:
                dice = self._typed_opening(number) if self._typed_dice else self._dice.opening(session.games)
                session.begin(dice)
                break
            except (PlayError, RecordError) as error:
                self.asking.say(str(error))
        thrown = f"{first} throws {dice[0]}, {second} throws {dice[1]}"
        crawford = " The Crawford game: nobody doubles." * (session.state().crawford and session.rules.cube)
        self.asking.say(f"Game {number}. {thrown}: {self._name(session.on_roll)} begins.{crawford}")

    def _typed_opening(self, number: int) -> tuple[int, int]:
        head = f"Game {number}: the die of {self._name(0)}, then that of {self._name(1)}"
        line = self.asking.ask(head, ["two dice such as 52"])
        parse_roll(line)
        first, second = re.findall("[1-6]", line)
        return int(first), int(second)

    def _may_roll(self) -> bool:
        """Whether the dice are thrown now, and the cube has not been turned."""
        session = self._session
        if not session.can_double:
            return True
        if not session.seats[session.on_roll].is_person:
            return not self._doubling.player_doubles()
        # Who types the dice is asked for them, and may double instead.
        return self._asks_for_dice() or self._doubling.person_rolls()

    def _asks_for_dice(self) -> bool:
        return self._typed_dice and self._session.known_roll is None

    def _throw(self) -> None:
        """Roll for the player whose turn it is, unless a person at the dice does something else."""
        session = self._session
        roll = session.known_roll
        if roll is None and not self._typed_dice:
            roll = self._dice.roll(session.games, session.ply)
        may_double = session.can_double and session.seats[session.on_roll].is_person
        cube, undo = ["double", "hint"] * may_double, ["undo"] * session.can_undo
        offers = ["two dice such as 31", *cube, *undo]
        while roll is None:
            line = self.asking.ask(f"Roll of {self._name(session.on_roll)}", offers)
            word = line.lower()
            if word == "undo":
                if self.asking.undo():
                    return
            elif may_double and word in DOUBLE:
                if self._doubling.person_doubles():
                    return
            elif may_double and word == "hint":
                self._doubling.hint()
            else:
                roll = self._typed_roll(line)
        session.throw(roll)

    def _typed_roll(self, line: str) -> tuple[int, int] | None:
        try:
            return parse_roll(line)
        except PlayError as error:
            self.asking.say(str(error))
            return None

    def _let_play(self, roll: tuple[int, int]) -> None:
        session = self._session
        player = session.seats[session.on_roll].player
        assert player is not None
        if not self._has_persons:
            self.asking.draw()
        chance = self._dice.choice_seed(session.games, session.ply)
        self._playing.play(player.choose(session.position, roll, chance))
