"""How a person at the table plays a roll."""

from motif.board.illegal import why_illegal
from motif.board.moves import Play
from motif.board.notation import find_play
from motif.cli.asking import Asking
from motif.cli.counsel import Counsel
from motif.cli.resigning import offer_resignation
from motif.cli.tutor import Tutor
from motif.players.game_session import GameSession
from motif.runtime.errors import PlayError

_HINTS_SHOWN = 8
_MOST_DIGITS = 4


class Playing:
    """Asks for plays, and makes them."""

    def __init__(self, session: GameSession, asking: Asking, adviser: Counsel, tutor: Tutor | None) -> None:
        self._session = session
        self._asking = asking
        self._adviser = adviser
        """Gives hints, and judges resignations for a player without an opinion of his own."""
        self._tutor = tutor

    def play(self, play: Play) -> None:
        """Make `play`, and say so."""
        session = self._session
        assert session.roll is not None
        done = "cannot move"
        if play.moves:
            done = ("has to play " if len(session.plays) == 1 else "plays ") + play.notation
        who = session.seats[session.on_roll].name
        self._asking.say("{} rolled {}{} and {}.".format(who, *session.roll, done))
        session.play(play)

    def decide(self, roll: tuple[int, int]) -> None:
        """Ask the person on roll until he plays, resigns or takes something back."""
        session, asking = self._session, self._asking
        asking.draw_once()
        head = "{} to play {}{}".format(session.seats[session.on_roll].name, *roll)
        typed = [f"a play such as {session.plays[0].notation}", f"its number 1-{len(session.plays)}"]
        undo = ["undo"] * session.can_undo
        decided = False
        while not decided:
            line = asking.ask(head, [*typed, "plays", "hint", *undo, "resign"])
            word = line.lower()
            if word == "plays":
                asking.say(*(f"{number:4}  {play.notation}" for number, play in enumerate(session.plays, 1)))
            elif word == "hint":
                self._hint()
            elif word == "undo":
                decided = asking.undo()
            elif word == "resign":
                decided = offer_resignation(session, asking, self._adviser.evaluator)
            else:
                decided = self._typed_play(line, roll)

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
            self._asking.say(f"{why}: {error}" if why else str(error))
            return False
        if self._tutor is not None and not self._tutor.lets_pass_play(play):
            return False
        self.play(play)
        return True

    def _hint(self) -> None:
        ranked = self._adviser.ranked(self._session)
        self._asking.say(f"{self._adviser.name} likes these best:")
        for play, number, equity in ranked[:_HINTS_SHOWN]:
            self._asking.say(f"{number:4}  {play.notation:24} {equity:+.3f}")
        if len(ranked) > _HINTS_SHOWN:
            self._asking.say(f"      and {len(ranked) - _HINTS_SHOWN} more")


def _place(number: str, count: int) -> int:
    if len(number) > _MOST_DIGITS or not 1 <= int(number) <= count:
        raise PlayError(f"there is no play {number[:_MOST_DIGITS]}; the plays are numbered 1 to {count}")
    return int(number) - 1
