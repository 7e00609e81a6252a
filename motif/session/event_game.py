"""The games of a session as a list of events, for the terminal and the web page.

Events are ``["begin", 4, 1]`` with the dice of both players, ``["roll", 6, 5]``, ``["play", "24/18 13/8"]``,
``["double"]``, ``["take"]``, ``["drop"]``, ``["beaver"]``, ``["raccoon"]``, ``["resign", "single", 0]`` with
the player who resigns, and ``["undo"]``.  Dice come from a seed or are typed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from motif.analysis.confirmation import ComparedPair
from motif.analysis.match.decision_errors import CubeAct
from motif.board.moves import Play
from motif.board.notation import find_play
from motif.board.position import Position
from motif.board.rules import RESIGNATIONS
from motif.doubling import CubeDecision
from motif.doubling.decision import ANSWERS
from motif.evaluators import Evaluator
from motif.players.ranking import cube_model_of
from motif.players.resignations import is_accepted
from motif.rollouts.games import SeededDice
from motif.runtime.errors import PlayError, RecordError, SettingError, shown
from motif.session.advisor import Advisor, cube_advisor
from motif.session.session import GameSession

GameEvent = list[str | int]
Asks = Literal["roll", "play", "answer", "raccoon", "dice", "next", "nothing", "wait"]


@dataclass(frozen=True)
class GameStep:
    """An event with the data needed to show it."""

    word: str
    player: int
    """The player who acted."""
    event: GameEvent
    position: Position
    """The position after the event, as seen by the player on roll."""
    on_roll: int
    roll: tuple[int, int] | None
    """The roll before the event."""
    is_forced: bool
    """Whether the roll had a single legal play."""
    play: Play | None = None


@dataclass(frozen=True)
class Objection:
    """The tutor's objection to a decision."""

    action: str
    """``play``, or the cube action as `CubeDecision.cost` names it."""
    cost: float
    """Normalised equity."""
    better: str
    """The best play, or the right cube action of the same player."""
    choice: ComparedPair | None = None
    """The best play and the intended one; None for cube actions."""
    cube: CubeAct | None = None
    """The cube action; None for plays."""


class EventGame:
    """The games of one session: events, current state and next decision."""

    def __init__(
        self,
        session: GameSession,
        dice: SeededDice,
        advisor: Callable[[], Advisor],
        *,
        typed_dice: bool = False,
    ) -> None:
        self.session = session
        self.typed_dice = typed_dice
        """Whether rolls are typed; `dice` then serve only for the players' random choices."""
        self.events: list[GameEvent] = []
        """All events, including undone ones."""
        self.steps: list[GameStep] = []
        """The steps since the view last emptied this list."""
        self._dice = dice
        self.advisor = advisor
        """Returns the advisor for players without an evaluator."""

    def judge_of(self, side: int) -> Evaluator:
        """Return the evaluator with which player `side` judges resignations."""
        player = self.session.seats[side].player
        return (player and player.evaluator) or self.advisor().evaluator

    def accepts(self, loss: str) -> bool:
        """Return whether a program should accept a resignation of `loss` by the player on roll."""
        session = self.session
        return is_accepted(session.position, session.state(), self.judge_of(1 - session.on_roll), loss)

    @property
    def asks(self) -> Asks:
        """A person's next decision: ``roll``, ``play``, ``answer`` to a double, or ``raccoon``.

        It is ``dice`` if a roll must be typed, ``next`` before another game, ``nothing`` after the match, and
        ``wait`` if a program is to act.
        """
        session = self.session
        if session.match_winner is not None:
            return "nothing"
        if not session.is_going:
            return "next"
        is_person = session.seats[session.to_decide].is_person
        before_roll = session.roll is None and not session.doubled and not (is_person and session.can_raccoon)
        if before_roll and self.typed_dice and session.known_roll is None:
            return "dice"
        if not is_person:
            return "wait"
        if session.doubled:
            return "answer"
        if session.roll is not None:
            return "play"
        return "raccoon" if session.can_raccoon else "roll"

    def follow(self, event: GameEvent) -> None:
        """Apply an event; raises a `MotifError` if it is impossible."""
        word, session = str(event[0]), self.session
        if word != "begin" and not session.is_going:
            raise RecordError(f"{word}: no game is in progress")
        player, roll, is_forced = session.to_decide, session.roll, len(session.plays) == 1
        play = None
        match event:
            case ["begin", int(first), int(second)]:
                session.begin((first, second))
            case ["roll", int(first), int(second)]:
                session.set_dice((first, second))
                event = ["roll", *(session.known_roll or ())]
            case ["play", str(text)]:
                play = self.legal_play(text)
                event = ["play", play.notation]
                session.play(play)
            case ["undo"]:
                session.undo()
            case ["resign", str(loss), 0 | 1 as player] if loss in RESIGNATIONS:
                session.resign(loss, player)
            case ["resign", *details]:
                raise RecordError(f"invalid resignation {shown(details)}")
            case [_]:
                session.turn_cube(word)
            case _:
                raise RecordError(f"invalid event {shown(event)}")
        self.events.append(event)
        now = session.position, session.on_roll
        self.steps.append(GameStep(word, player, event, *now, roll, is_forced, play))

    def allowed(self) -> dict[str, bool]:
        """Return whether each decision of `decide` is possible now."""
        asked = self.asks
        return {
            "roll": asked in ("roll", "raccoon"),
            "double": asked == "roll",
            "raccoon": asked == "raccoon",
            "play": asked == "play",
            "next": asked == "next",
            "resign": asked in ("roll", "play"),
            "undo": asked not in ("next", "nothing", "wait") and self.session.can_undo,
            **dict.fromkeys(("take", "drop", "beaver"), asked == "answer"),
        }

    def decide(self, word: str, detail: str = "") -> bool:
        """Carry out a person's decision; return False for a declined resignation.

        The decisions are ``roll``, ``double``, ``take``, ``drop``, ``beaver``, ``raccoon``, ``undo``,
        ``play`` with the play, ``resign`` with the loss, and ``next`` for another game.  Raises a
        `MotifError` for an impossible decision.
        """
        session, allowed = self.session, self.allowed()
        if word not in allowed:
            raise SettingError(f"unknown decision {word!r}: it must be one of {', '.join(allowed)}")
        if not allowed[word]:
            raise RecordError(f"{word} is not possible now")
        match word:
            case "next":
                self.follow(self.opening())
            case "roll":
                event = self.roll()
                assert event is not None
                self.follow(event)
            case "play":
                self.follow(["play", detail])
            case "resign":
                possible = session.resignations()
                if detail not in possible:
                    raise SettingError(f"invalid resignation {detail!r}: it must be {' or '.join(possible)}")
                if not self.accepts(detail):
                    return False
                self.follow(["resign", detail, session.on_roll])
            case _:
                self.follow([word])
        return True

    def objection(self, word: str, detail: str, limit: float, advisor: Advisor) -> Objection | None:
        """Return the objection of `advisor` to a decision that costs more than `limit`, an equity."""
        session = self.session
        if word == "play" and self.asks == "play":
            choice = advisor.compared(session, self.legal_play(detail))
            if choice is None or choice.difference <= limit:
                return None
            return Objection("play", choice.shown_difference, choice.better.play.notation, choice)
        if session.can_raccoon and word in ("roll", "raccoon"):
            action = "raccoon" if word == "raccoon" else "no raccoon"
        elif (session.can_double and word in ("roll", "double")) or word in session.answers:
            action = "pass" if word == "drop" else word
        else:
            return None
        judged = advisor.judged_cube(session, action)
        if judged.error <= limit:
            return None
        return Objection(action, judged.error, _right(judged.decision, action), cube=judged)

    def go_on(self) -> None:
        """Carry out programs' decisions and forced actions until a person's turn or the end."""
        while (event := self.next_event()) is not None:
            self.follow(event)

    def next_event(self) -> GameEvent | None:
        """Return a program's decision or a forced action; None if a person must act."""
        session = self.session
        if not session.is_going:
            return None
        player = session.seats[session.to_decide].player
        if session.doubled:
            return None if player is None else [cube_advisor(player, self.advisor()).answer(session)]
        if session.roll is None:
            if session.can_raccoon or session.can_double:
                if player is None:
                    return None
                if raised := cube_advisor(player, self.advisor()).raises(session):
                    return [raised]
            return self.roll()
        if len(session.plays) == 1:
            return ["play", session.plays[0].notation]
        if player is None:
            return None
        chance = self._dice.choice_seed(session.games, session.ply)
        cubeful = player.with_cube(cube_model_of(session.valued_state()))
        return ["play", cubeful.choose(session.position, session.roll, chance).notation]

    def opening(self) -> GameEvent:
        """Return the event that starts the next game, with dice from the seed."""
        return ["begin", *self._dice.opening(self.session.games)]

    def roll(self) -> GameEvent | None:
        """Return the roll of this turn; None if it must be typed."""
        session, known = self.session, self.session.known_roll
        if known is None and self.typed_dice:
            return None
        return ["roll", *(known or self._dice.roll(session.games, session.ply))]

    def legal_play(self, text: str) -> Play:
        """Return the legal play given by `text`, empty for no move; raises `PlayError`."""
        plays = self.session.plays
        if not text and len(plays) == 1 and not plays[0].moves:
            return plays[0]
        if not plays:
            raise PlayError("there is no roll to play")
        return find_play(text, plays)


def _right(decision: CubeDecision, action: str) -> str:
    """Return the right cube action of the player whose `action` it is."""
    if action in ANSWERS:
        return decision.answer
    if action in ("raccoon", "no raccoon"):
        return "raccoon" if decision.should_raccoon else "no raccoon"
    return decision.action.partition(", ")[0]
