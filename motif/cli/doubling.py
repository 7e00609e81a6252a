"""The cube at the table: persons are asked whether they double and take, players decide by themselves."""

from motif.board.game_record import CubeKind
from motif.cli.asking import Asking
from motif.cli.counsel import Counsel, decision_lines
from motif.cli.resigning import offer_resignation
from motif.cli.tutor import Tutor
from motif.players.game_session import GameSession

DOUBLE = ("double", "redouble", "d")
_ANSWERS: dict[str, CubeKind] = {
    "take": "take", "t": "take", "beaver": "beaver", "b": "beaver",
    "pass": "drop", "p": "drop", "drop": "drop",
}  # fmt: skip
_OFFERED = {"take": "take", "drop": "pass", "beaver": "beaver"}


class Doubling:
    """Doubles, and the answers to them."""

    def __init__(
        self,
        session: GameSession,
        asking: Asking,
        counsels: tuple[Counsel, Counsel],
        adviser: Counsel,
        tutor: Tutor | None,
        *,
        auto_roll: bool,
    ) -> None:
        self._session = session
        self._asking = asking
        self._counsels = counsels
        """Who decides for each seat where no person sits."""
        self._adviser = adviser
        self._tutor = tutor
        self._auto_roll = auto_roll

    def player_doubles(self) -> bool:
        """Let a player of the program, who may, decide whether to double; whether he did."""
        session = self._session
        wanted = self._counsels[session.on_roll].cube(session).should_double
        if wanted:
            self._double()
        return wanted

    def person_rolls(self) -> bool:
        """Ask the person on roll, who may double; whether he rolls, and nothing else has happened."""
        session, asking = self._session, self._asking
        if self._auto_roll and not self._adviser.sees_cube_action(session):
            return True
        asking.draw_once()
        head = f"{self._name(session.on_roll)}: roll (Enter) or double to {2 * session.cube}"
        undo = ["undo"] * session.can_undo
        while True:
            line = asking.ask(head, ["roll", "double", "hint", *undo, "resign"], empty="roll")
            word = line.lower()
            if word in ("roll", "r"):
                if self._tutor is None or self._tutor.lets_pass_cube("roll"):
                    return True
            elif word in DOUBLE:
                if self.person_doubles():
                    return False
            elif word == "hint":
                self.hint()
            elif word == "undo":
                if asking.undo():
                    return False
            elif word == "resign":
                if offer_resignation(session, asking, self._adviser.evaluator):
                    return False
            else:
                asking.say(f"before the roll nothing can be played: roll, or double; not {line!r}")

    def person_doubles(self) -> bool:
        """Let the person on roll double, unless the tutor talks him out of it; whether he did."""
        if self._tutor is not None and not self._tutor.lets_pass_cube("double"):
            return False
        self._double()
        return True

    def answer(self) -> None:
        """See to it that the double on offer is answered, or something taken back instead."""
        session = self._session
        side = session.to_decide
        is_person = session.seats[side].is_person
        kind = self._asked_answer() if is_person else self._counsels[side].answer(session)
        if kind is not None:
            does = {"take": "takes", "drop": "passes", "beaver": f"beavers to {4 * session.cube}"}[kind]
            self._asking.say(f"{self._name(side)} {does}.")
            session.answer(kind)

    def hint(self) -> None:
        """Show what the adviser thinks of the double that could be or was made."""
        who = self._name(self._session.on_roll)
        lines = decision_lines(self._adviser.cube(self._session))
        self._asking.say(f"{self._adviser.name} on the cube, equities of {who}:", *lines)

    def _double(self) -> None:
        session = self._session
        again = "re" * (session.cube > 1)
        self._asking.say(f"{self._name(session.on_roll)} {again}doubles to {2 * session.cube}.")
        session.double()

    def _asked_answer(self) -> CubeKind | None:
        """What the person who was doubled answers; None if he took something back instead."""
        session, asking = self._session, self._asking
        asking.draw_once()
        loses = f"{session.cube} point" + "s" * (session.cube > 1)
        who = self._name(session.to_decide)
        head = f"{who}: take the cube at {2 * session.cube} or pass and lose {loses}"
        offers = [_OFFERED[kind] for kind in session.answers]
        undo = ["undo"] * session.can_undo
        while True:
            line = asking.ask(head, [*offers, "hint", *undo])
            word = line.lower()
            kind = _ANSWERS.get(word)
            if kind in session.answers:
                if self._tutor is None or self._tutor.lets_pass_cube(_OFFERED[kind]):
                    return kind
            elif word == "hint":
                self.hint()
            elif word == "undo":
                if asking.undo():
                    return None
            else:
                asking.say(f"please type one of: {', '.join(offers)}")

    def _name(self, side: int) -> str:
        return self._session.seats[side].name
