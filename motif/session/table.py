"""The conversation of `motif play`: persons are asked, players play, and dice are thrown or typed.

A person plays a roll, doubles, takes or resigns as he is asked, and is told why what he typed is not legal;
players decide by themselves.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from motif.board.game_record import CubeKind, game_facts
from motif.board.moves import Play, parse_roll
from motif.board.notation import MAX_MOVES, OFF, MarkedMove, find_play, parse_moves
from motif.board.packed import HOME, OWN_BAR
from motif.board.position import Position
from motif.board.rules import RESIGNATIONS
from motif.evaluators import Evaluator
from motif.rollout.games import SeededDice
from motif.runtime.errors import PlayError, RecordError
from motif.session.asking import Asking, Screen
from motif.session.session import GameSession, expected_loss, is_accepted
from motif.session.tutor import Counsel, Tutor, cube_counsel, decision_lines


def why_illegal(text: str, position: Position, roll: tuple[int, int], plays: Sequence[Play]) -> str | None:
    """Return what is wrong with the play in `text`, which is no single one of the legal `plays` of `roll`.

    None where it cannot be read, or can mean several of them: then that is what is wrong.
    """
    try:
        moves = parse_moves(text)
    except PlayError:
        return None
    board = position.board.tolist()
    left: Counter[int] = Counter()
    entering = sum(move.start == OWN_BAR for move in moves)
    if board[OWN_BAR] > 0 and entering < min(len(moves), board[OWN_BAR]):
        return "checkers on the bar must enter first"
    dice = "{}{}".format(*roll)
    for move in sorted(moves, reverse=True):
        if fault := _fault(board, left[move.start], move):
            return fault
        if move.end != OFF and move.start - move.end not in _distances(roll):
            return f"{move.start}/{move.end} is {move.start - move.end} pips, which {dice} does not give"
        board[move.start] -= 1
        left[move.start] += 1
        if move.end != OFF:
            board[move.end] = max(board[move.end], 0) + 1
    if any(_own(board) == _own(play.position.switch_sides().board.tolist()) for play in plays):
        return None
    pips, most = sum(move.start - move.end for move in moves), sum(roll) * (1 + (roll[0] == roll[1]))
    if pips > most:
        return f"that takes {pips} pips, and {dice} gives {most}"
    if pips < max(_pips(play) for play in plays):
        return f"{dice} can be played further, and must be"
    return f"the dice {dice} cannot be played so"


def _fault(board: list[int], left: int, move: MarkedMove) -> str | None:
    """Return what is wrong with a move on `board`, whatever the dice; `left` checkers have left its start."""
    start = "the bar" if move.start == OWN_BAR else str(move.start)
    if board[move.start] <= 0:
        if left:
            return f"only {left} checker{'s' * (left > 1)} of yours {'are' if left > 1 else 'is'} on {start}"
        return f"no checker of yours is on {start}"
    if move.end == OFF:
        outside = any(count > 0 for count in board[HOME + 1 :])
        return "no checker can be borne off before all are home" if outside else None
    if board[move.end] < -1:
        return f"the opponent holds {move.end}"
    if move.hit and board[move.end] >= 0:
        return f"there is nothing to hit on {move.end}"
    return None


def _pips(play: Play) -> int:
    return sum(start - end for start, end in play.moves)


def _distances(roll: tuple[int, int]) -> set[int]:
    """How far one checker could go, were nothing in its way."""
    high, low = roll
    return {high * steps for steps in range(1, MAX_MOVES + 1)} if high == low else {high, low, high + low}


def _own(board: list[int]) -> list[int]:
    return [max(count, 0) for count in board]


def _place(number: str, count: int) -> int:
    if len(number) > _MOST_DIGITS or not 1 <= int(number) <= count:
        raise PlayError(f"there is no play {number[:_MOST_DIGITS]}; the plays are numbered 1 to {count}")
    return int(number) - 1


_HINTS_SHOWN = 8
_MOST_DIGITS = 4
_ROLL = ("roll", "r")
_DOUBLE = ("double", "redouble", "d")
_ANSWERS: dict[str, CubeKind] = {
    "take": "take", "t": "take", "beaver": "beaver", "b": "beaver",
    "pass": "drop", "p": "drop", "drop": "drop",
}  # fmt: skip
_RESIGNING = {"resign": None} | {f"resign {loss}": loss for loss in RESIGNATIONS}
_OFFERED = {"take": "take", "drop": "pass", "beaver": "beaver"}


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
        """Return the `adviser` gives hints, and judges for a player without an opinion of his own."""
        self.asking = asking = Asking(session, screen, manners.kept)
        self.tutor: Tutor | None = None
        if manners.tutor is not None:
            self.tutor = Tutor(Counsel(manners.tutor), manners.tutor_limit, session, asking)
        self._session = session
        self._dice = dice
        self._typed_dice = manners.typed_dice
        self._auto_roll = manners.auto_roll
        self._has_persons = any(seat.is_person for seat in session.seats)
        self._adviser = Counsel(adviser)
        self._counsels = [cube_counsel(seat.player, self._adviser) for seat in session.seats]
        """Who turns the cube for each seat where no person sits."""

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
                self._answer_double()
            elif session.roll is None:
                if self._may_roll():
                    self._throw()
            elif len(session.plays) == 1:
                self._make_play(session.plays[0])
            elif session.seats[session.on_roll].is_person:
                self._decide_play(session.roll)
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
        return self.asking.agree("Another game?")

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
        head = f"Game {number}: dice of {self._name(0)} and {self._name(1)}, such as 52"
        line = self.asking.ask(head, ["two dice such as 52"])
        parse_roll(line)
        first, second = re.findall("[1-6]", line)
        return int(first), int(second)

    def _may_roll(self) -> bool:
        """Whether the dice are thrown now, and the cube has not been turned."""
        session = self._session
        if session.can_raccoon:
            return self._raccoon_is_settled()
        if not session.can_double:
            return True
        if not session.seats[session.on_roll].is_person:
            return not self._player_doubles()
        # Who types the dice is asked for them, and may double instead.
        return self._asks_for_dice() or self._person_rolls()

    def _raccoon_is_settled(self) -> bool:
        """Let the player on roll, who was beavered, raccoon or not; False if something was taken back."""
        session = self._session
        side = session.on_roll
        is_person = session.seats[side].is_person
        raccoons = self._asked_raccoon() if is_person else self._counsels[side].raccoons(session)
        if raccoons:
            self.asking.say(f"{self._name(side)} raccoons to {2 * session.cube}.")
            session.raccoon()
        return raccoons is not None

    def _asked_raccoon(self) -> bool | None:
        """Whether the person on roll raccoons; None if he took something back instead."""
        session = self._session
        head = f"{self._name(session.on_roll)}: roll (Enter) or raccoon to {2 * session.cube}"
        meant = {**dict.fromkeys(_ROLL, "no raccoon"), "raccoon": "raccoon"}
        done = self._asked_cube(head, ["roll", "raccoon"], meant, empty="roll")
        return None if done is None else done == "raccoon"

    def _asked_cube(
        self, head: str, offers: Sequence[str], meant: Mapping[str, str], empty: str = ""
    ) -> str | None:
        """Which of the acts that words are `meant` for the person does, with the tutor's leave.

        None if he took something back instead.  `empty` is what an empty line stands for.
        """
        asking = self.asking
        asking.draw_once()
        undo = ["undo"] * self._session.can_undo
        while True:
            word = asking.ask(head, [*offers, "hint", *undo], empty=empty).lower()
            if word in meant:
                if self.tutor is None or self.tutor.lets_pass_cube(meant[word]):
                    return meant[word]
            elif word == "hint":
                self._hint_cube()
            elif word == "undo":
                if asking.undo():
                    return None
            else:
                asking.say(f"please type one of: {', '.join(offers)}")

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
        if roll is None and may_double:
            self.asking.draw_once()
        head = f"Roll of {self._name(session.on_roll)}, such as 31{', or double' * may_double}"
        while roll is None:
            line = self.asking.ask(head, offers)
            word = line.lower()
            if word == "undo":
                if self.asking.undo():
                    return
            elif may_double and word in _DOUBLE:
                if self._person_doubles():
                    return
            elif may_double and word == "hint":
                self._hint_cube()
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
        self._make_play(player.staked(session.context().stakes).choose(session.position, roll, chance))

    def _make_play(self, play: Play) -> None:
        """Make `play`, and say so."""
        session = self._session
        assert session.roll is not None
        act = "cannot move"
        if play.moves:
            act = ("has to play " if len(session.plays) == 1 else "plays ") + play.notation
        who = self._name(session.on_roll)
        self.asking.say("{} rolled {}{} and {}.".format(who, *session.roll, act))
        session.play(play)

    def _decide_play(self, roll: tuple[int, int]) -> None:
        """Ask the person on roll until he plays, resigns or takes something back."""
        session, asking = self._session, self.asking
        asking.draw_once()
        head = "{} to play {}{}".format(self._name(session.on_roll), *roll)
        answers = [f"a play such as {session.plays[0].notation}", f"its number 1-{len(session.plays)}"]
        listed: Sequence[Play] = session.plays
        undo = ["undo"] * session.can_undo
        is_over = False
        while not is_over:
            line = asking.ask(head, [*answers, "plays", "hint", *undo, "resign"])
            word = line.lower()
            if word == "plays":
                listed = session.plays
                asking.say(*(f"{number:4}  {play.notation}" for number, play in enumerate(listed, 1)))
            elif word == "hint":
                listed = self._hint_plays()
            elif word == "undo":
                is_over = asking.undo()
            elif word in _RESIGNING:
                is_over = self._resigns(_RESIGNING[word])
            else:
                is_over = self._typed_play(line, roll, listed)

    def _typed_play(self, line: str, roll: tuple[int, int], listed: Sequence[Play]) -> bool:
        """Play what was typed, or say what is wrong; return whether it was played.

        A number is that of a `listed` play.
        """
        position, plays = self._session.position, self._session.plays
        try:
            if line.isascii() and line.isdigit():
                play = listed[_place(line, len(listed))]
            else:
                play = find_play(line, plays)
        except PlayError as error:
            why = None if line.isdigit() else why_illegal(line, position, roll, plays)
            self.asking.say(f"{why}: {error}" if why else str(error))
            return False
        if self.tutor is not None and not self.tutor.lets_pass_play(play):
            return False
        self._make_play(play)
        return True

    def _hint_plays(self) -> list[Play]:
        """Show the best plays of the roll, the best of them number 1, and return all in this order."""
        ranked = self._adviser.ranked(self._session)
        self.asking.say(f"{self._adviser.name} likes these best:")
        for number, one in enumerate(ranked[:_HINTS_SHOWN], 1):
            self.asking.say(f"{number:4}  {one.play.notation:24} {one.equity:+.3f}")
        if len(ranked) > _HINTS_SHOWN:
            self.asking.say(f"      and {len(ranked) - _HINTS_SHOWN} more")
        return [one.play for one in ranked]

    def _player_doubles(self) -> bool:
        """Let a player of the program, who may, decide whether to double; whether he did."""
        session = self._session
        doubles = self._counsels[session.on_roll].cube(session).should_double
        if doubles:
            self._double()
        return doubles

    def _person_rolls(self) -> bool:
        """Ask the person on roll, who may double; whether he rolls, and nothing else has happened."""
        session, asking = self._session, self.asking
        if self._auto_roll and not self._adviser.sees_cube_action(session):
            return True
        asking.draw_once()
        head = f"{self._name(session.on_roll)}: roll (Enter) or double to {2 * session.cube}"
        undo = ["undo"] * session.can_undo
        while True:
            line = asking.ask(head, ["roll", "double", "hint", *undo, "resign"], empty="roll")
            word = line.lower()
            if word in _ROLL:
                if self.tutor is None or self.tutor.lets_pass_cube("roll"):
                    return True
            elif word in _DOUBLE:
                if self._person_doubles():
                    return False
            elif word == "hint":
                self._hint_cube()
            elif word == "undo":
                if asking.undo():
                    return False
            elif word in _RESIGNING:
                if self._resigns(_RESIGNING[word]):
                    return False
            else:
                asking.say(f"before the roll nothing can be played: roll, or double; not {line!r}")

    def _person_doubles(self) -> bool:
        """Let the person on roll double, unless the tutor talks him out of it; whether he did."""
        if self.tutor is not None and not self.tutor.lets_pass_cube("double"):
            return False
        self._double()
        return True

    def _answer_double(self) -> None:
        """See to it that the double on offer is answered, or something taken back instead."""
        session = self._session
        side = session.to_decide
        is_person = session.seats[side].is_person
        kind = self._asked_answer() if is_person else self._counsels[side].answer(session)
        if kind is not None:
            does = {"take": "takes", "drop": "passes", "beaver": f"beavers to {4 * session.cube}"}[kind]
            self.asking.say(f"{self._name(side)} {does}.")
            session.answer(kind)

    def _hint_cube(self) -> None:
        """Show what the adviser thinks of the double that could be or was made."""
        who = self._name(self._session.on_roll)
        lines = decision_lines(self._adviser.cube(self._session))
        self.asking.say(f"{self._adviser.name} on the cube, equities of {who}:", *lines)

    def _double(self) -> None:
        session = self._session
        again = "re" * (session.cube > 1)
        self.asking.say(f"{self._name(session.on_roll)} {again}doubles to {2 * session.cube}.")
        session.double()

    def _asked_answer(self) -> CubeKind | None:
        """Return what the person who was doubled answers; None if he took something back instead."""
        session = self._session
        loses = f"{session.cube} point" + "s" * (session.cube > 1)
        head = f"{self._name(session.to_decide)}: take at {2 * session.cube}, or pass and lose {loses}"
        meant = {word: _OFFERED[kind] for word, kind in _ANSWERS.items() if kind in session.answers}
        done = self._asked_cube(head, [_OFFERED[kind] for kind in session.answers], meant)
        return None if done is None else _ANSWERS[done]

    def _resigns(self, loss: str | None) -> bool:
        """Ask what is offered, if not that `loss`, and whether the other player accepts.

        Whether the game has ended so.
        """
        session, asking = self._session, self.asking
        possible = session.resignations()
        if loss is not None and loss not in possible:
            asking.say(f"No {loss} can be resigned: {session.why_single}.")
            return False
        if loss is None and session.why_single:
            asking.say(f"A single game is resigned: {session.why_single}.")
        if loss is None:
            loss = possible[0]
            if len(possible) > 1:
                loss = asking.choose("Resign what?", [*possible, "back"])
                if loss == "back":
                    return False
        points = RESIGNATIONS[loss] * session.cube
        other = session.seats[1 - session.on_roll]
        if not asking.agree(f"Give {other.name} {points} point{'s' * (points > 1)} and end the game?"):
            return False
        expects = ""
        if other.player is None:
            agreement = asking.agree(f"{other.name}, do you accept?")
        else:
            judge = other.player.evaluator or self._adviser.evaluator
            agreement = is_accepted(session, judge, loss)
            worth = expected_loss(session.position, session.roll, judge) * session.cube
            expects = f": to {other.name} playing on is worth {worth:.2f} points"
        if agreement:
            session.resign(loss)
        else:
            asking.say(f"{other.name} declines{expects}.")
        return agreement
