"""The conversation of `motif play`: persons are asked, players play, and dice are thrown or typed."""

import re
from pathlib import Path

import numpy as np

from motif.board.illegal import why_illegal
from motif.board.moves import Play
from motif.board.notation import find_play
from motif.board.parsing import parse_roll
from motif.cli.asking import Asking
from motif.cli.records import hints
from motif.cli.screen import Screen
from motif.evaluators import Evaluator
from motif.players.dice import SeededDice
from motif.players.game_session import RESIGNATIONS, GameSession, result_in_words
from motif.runtime.errors import PlayError, RecordError

_HINTS_SHOWN = 8
_MOST_DIGITS = 4


class Table:
    """Runs a session to its end."""

    def __init__(
        self,
        session: GameSession,
        screen: Screen,
        dice: SeededDice,
        adviser: Evaluator,
        *,
        typed_dice: bool,
        kept: Path | None,
    ) -> None:
        self.asking = Asking(session, screen, kept)
        self._session = session
        self._screen = screen
        self._dice = dice
        self._adviser = adviser
        """Gives hints, and judges resignations for a player without an opinion of his own."""
        self._typed_dice = typed_dice
        self._has_persons = any(seat.is_person for seat in session.seats)

    def run(self, games: int | None) -> None:
        """Play `games` games, or as many as a person wants; raises `Quit`, `EndOfInput` and `FileError`."""
        while True:
            self._one_game()
            self.asking.write_kept()
            if games is None:
                more = self._has_persons and self._wants_another()
            else:
                more = self._session.games < games
            if not more:
                return

    def _one_game(self) -> None:
        session = self._session
        self._begin()
        while session.result is None:
            if session.roll is None:
                self._throw()
            elif len(session.plays) == 1:
                self._play(session.plays[0])
            elif session.seats[session.on_roll].is_person:
                self._decide(session.roll)
            else:
                self._let_play(session.roll)
        self.asking.draw()
        won = result_in_words(session.result)
        how = ": the other player resigned" * session.result.resigned
        self._screen.say(f"{self._name(session.result.winner)} wins {won}{how}. {self._score()}")

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
                self._screen.say(str(error))
        thrown = f"{first} throws {dice[0]}, {second} throws {dice[1]}"
        self._screen.say(f"Game {number}. {thrown}: {self._name(session.on_roll)} begins.")

    def _typed_opening(self, number: int) -> tuple[int, int]:
        head = f"Game {number}: the die of {self._name(0)}, then that of {self._name(1)}"
        line = self.asking.ask(head, ["two dice such as 52"])
        parse_roll(line)
        first, second = re.findall("[1-6]", line)
        return int(first), int(second)

    def _throw(self) -> None:
        """Roll for the player whose turn it is, unless a person at the dice takes something back."""
        session = self._session
        roll = session.known_roll
        if roll is None and not self._typed_dice:
            roll = self._dice.roll(session.games, session.ply)
        while roll is None:
            undo = ["undo"] * session.can_undo
            line = self.asking.ask(f"Roll of {self._name(session.on_roll)}", ["two dice such as 31", *undo])
            if line.lower() == "undo":
                if self._undo():
                    return
                continue
            try:
                roll = parse_roll(line)
            except PlayError as error:
                self._screen.say(str(error))
        session.throw(roll)

    def _let_play(self, roll: tuple[int, int]) -> None:
        session = self._session
        player = session.seats[session.on_roll].player
        assert player is not None
        if not self._has_persons:
            self.asking.draw()
        chance = self._dice.choice_seed(session.games, session.ply)
        self._play(player.choose(session.position, roll, chance))

    def _play(self, play: Play) -> None:
        session = self._session
        assert session.roll is not None
        done = "cannot move"
        if play.moves:
            done = ("has to play " if len(session.plays) == 1 else "plays ") + play.notation
        self._screen.say("{} rolled {}{} and {}.".format(self._name(session.on_roll), *session.roll, done))
        session.play(play)

    def _decide(self, roll: tuple[int, int]) -> None:
        """Ask the person on roll until he plays, resigns or takes something back."""
        session = self._session
        self.asking.draw()
        head = "{} to play {}{}".format(self._name(session.on_roll), *roll)
        typed = [f"a play such as {session.plays[0].notation}", f"its number 1-{len(session.plays)}"]
        undo = ["undo"] * session.can_undo
        decided = False
        while not decided:
            line = self.asking.ask(head, [*typed, "plays", "hint", *undo, "resign"])
            word = line.lower()
            if word == "plays":
                self._list_plays()
            elif word == "hint":
                self._hint(roll)
            elif word == "undo":
                decided = self._undo()
            elif word == "resign":
                decided = self._resign()
            else:
                decided = self._typed_play(line, roll)

    def _undo(self) -> bool:
        """Take back what can be taken back; whether there was anything."""
        try:
            self._session.undo()
        except RecordError as error:
            self._screen.say(str(error))
            return False
        return True

    def _typed_play(self, line: str, roll: tuple[int, int]) -> bool:
        """Play what was typed, or say what is wrong with it; whether it was played."""
        position, plays = self._session.position, self._session.plays
        try:
            if line.isascii() and line.isdigit():
                play = plays[_place(line, len(plays))]
            else:
                play = find_play(line, plays)
        except PlayError as error:
            why = None if line.isdigit() else why_illegal(line, position, roll, plays)
            self._screen.say(f"{why}: {error}" if why else str(error))
            return False
        self._play(play)
        return True

    def _list_plays(self) -> None:
        self._screen.say(
            *(f"{number:4}  {play.notation}" for number, play in enumerate(self._session.plays, 1))
        )

    def _hint(self, roll: tuple[int, int]) -> None:
        session, name = self._session, self._adviser.name
        ranked = next(hints(session.position.board[None], np.array([roll]), self._adviser, name, 1))["plays"]
        numbers = {play.notation: number for number, play in enumerate(session.plays, 1)}
        self._screen.say(f"{name} likes these best:")
        for play in ranked[:_HINTS_SHOWN]:
            notation = play["notation"]
            self._screen.say(f"{numbers[notation]:4}  {notation:24} {play['equity']:+.3f}")
        if len(ranked) > _HINTS_SHOWN:
            self._screen.say(f"      and {len(ranked) - _HINTS_SHOWN} more")

    def _resign(self) -> bool:
        """Ask what is offered and whether the other player accepts; whether the game has ended so."""
        session, side = self._session, self._session.on_roll
        possible = session.resignations()
        offered = possible[0]
        if len(possible) > 1:
            offered = self.asking.choose("Resign what?", [*possible, "back"])
            if offered == "back":
                return False
        points = RESIGNATIONS[offered]
        other = session.seats[1 - side]
        if not self.asking.agree(f"Give {other.name} {points} point{'s' * (points > 1)} and end the game?"):
            return False
        if other.player is None:
            accepted = self.asking.agree(f"{other.name}, do you accept?")
            expects = ""
        else:
            judge = other.player.evaluator or self._adviser
            accepted = session.accepts(judge, offered)
            expects = f": to {other.name} playing on is worth {session.expected_loss(judge):.2f} points"
        if accepted:
            session.resign(offered)
        else:
            self._screen.say(f"{other.name} declines{expects}.")
        return accepted


def _place(number: str, count: int) -> int:
    if len(number) > _MOST_DIGITS or not 1 <= int(number) <= count:
        raise PlayError(f"there is no play {number[:_MOST_DIGITS]}; the plays are numbered 1 to {count}")
    return int(number) - 1
