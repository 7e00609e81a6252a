"""Questions at the table: each says what can be typed, and some words can be typed at all of them.

A screen, be it a terminal or two pipes, shows lines and asks for lines.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from motif.board.diagram import text_diagram
from motif.board.game_record import MatchRecord
from motif.board.mat_file import write_mat
from motif.runtime.errors import FileError, RecordError
from motif.session.session import GameSession

_CHECKERS = (("X", "bold cyan"), ("O", "bold yellow"))


class EndOfInput(Exception):  # noqa: N818
    """Nobody will type anything any more."""


class Screen:
    """Shows lines on `output` and reads answers from `source`."""

    def __init__(self, source: TextIO, output: TextIO) -> None:
        self._source = source
        self._output = output

    def say(self, *lines: str) -> None:
        """Show `lines`."""
        for line in lines:
            print(line, file=self._output)

    def ask(self, prompt: str) -> str:
        """The line that is typed after `prompt`, without spaces around it; raises `EndOfInput`."""
        try:
            print(prompt, end="", file=self._output, flush=True)
            line = self._source.readline()
        except KeyboardInterrupt:
            print(file=self._output)  # what follows begins a line of its own
            raise
        if not self._source.isatty():
            # A terminal shows what is typed; where it comes through a pipe the transcript does.
            print(line.strip(), file=self._output)
        elif not line:
            print(file=self._output)
        if not line:
            raise EndOfInput
        return line.strip()

    def draw(self, diagram: str) -> None:
        """Show a text diagram, its checkers in colour where the terminal has colours."""
        from rich.console import Console
        from rich.text import Text

        console = Console(file=self._output, highlight=False)
        if not console.is_terminal:
            self.say("", diagram, "")
            return
        drawing = Text(diagram)
        for board in re.finditer(r"^.\|.*\|", diagram, re.MULTILINE):
            for letter, style in _CHECKERS:
                for match in re.finditer(rf"(?<= ){letter}(?= )", board[0]):
                    drawing.stylize(style, board.start() + match.start(), board.start() + match.end())
        console.print("", drawing, "", sep="\n", soft_wrap=True)


_SAVE = "save FILE"
_ALWAYS = ("board", "pips", _SAVE, "help", "quit")
_MEANINGS = {
    "roll": "throws the dice; so does an empty line",
    "double": "offers the cube at twice its value; d or redouble will do",
    "take": "plays on with the cube on your side",
    "pass": "gives the game up for what the cube showed before the double; drop will do",
    "beaver": "doubles once more and keeps the cube",
    "raccoon": "doubles a beaver once more; the other player keeps the cube",
    "plays": "lists every legal play with its number",
    "hint": "ranks the best plays, or the cube actions, with their equities for the player on roll",
    "undo": "goes back to the last choice that a person made; the dice stay as they fell",
    "why": "explains it",
    "resign": "offers to lose the game; the other player may decline",
    "board": "draws the board",
    "pips": "counts the pips that each side has to go",
    _SAVE: "writes all that was played so far to FILE, as .mat, which gnubg reads",
    "help": "says what the words mean",
    "quit": "ends the session",
}
_NOTATION = (
    "A play is typed as its moves, such as bar/22 13/8(2), or as its number in the list of plays.",
    "Points count from your side, 24 to 1; bar is 25 and off is 0. The star of a hit may be left out.",
)


class Quit(Exception):  # noqa: N818
    """The person at the table leaves."""


class Asking:
    """Asks about a session on a screen."""

    def __init__(self, session: GameSession, screen: Screen, kept: Path | None) -> None:
        self._session = session
        self._screen = screen
        self._kept = kept
        """A file that holds the record whenever a game has ended, and at the end."""
        self._written: set[Path] = set()
        """Files that hold this session, and may be written again."""
        self._saved: MatchRecord | None = None
        self._drawn: object = None
        """What the last board that was drawn showed, and to whom."""

    def say(self, *lines: str) -> None:
        """Show `lines`."""
        self._screen.say(*lines)

    def ask(self, head: str, offers: Sequence[str], *, empty: str = "") -> str:
        """What is typed at a point of a game: one of `offers`, if it is no word that always has a meaning.

        `empty` is what an empty line stands for; nothing but one more question by default.  Raises `Quit`
        and `EndOfInput`.
        """
        offers = [*offers, *_ALWAYS]
        while True:
            line = self._screen.ask(_prompt(head, offers))
            word, _, rest = line.partition(" ")
            match word.lower(), rest.strip():
                case "", _:
                    if empty:
                        return empty
                case "board", "":
                    self.draw()
                case "pips", "":
                    self._count_pips()
                case "save", name:
                    self._save_as(name)
                case "help", "":
                    self._help(offers)
                case "quit", "":
                    self._leave()
                case _:
                    return line

    def choose(self, head: str, words: Sequence[str], *, may_save: bool = False) -> str:
        """One of `words`, or its beginning; with `may_save` the record can be saved before that.

        Raises `EndOfInput`.
        """
        offers = [*words, *[_SAVE] * may_save]
        while True:
            line = self._screen.ask(_prompt(head, offers))
            word, _, name = line.partition(" ")
            matches = [offer for offer in words if line and offer.startswith(line.lower())]
            if len(matches) == 1:
                return matches[0]
            if may_save and word.lower() == "save":
                self._save_as(name.strip())
            elif line:
                self._screen.say(f"please type one of: {', '.join(offers)}")

    def agree(self, question: str) -> bool:
        """Whether the answer is yes; raises `EndOfInput`."""
        return self.choose(question, ["yes", "no"]) == "yes"

    def undo(self) -> bool:
        """Take back what can be taken back; whether there was anything."""
        try:
            self._session.undo()
        except RecordError as error:
            self.say(str(error))
            return False
        return True

    def draw(self) -> None:
        """Draw the board as the only person at the table sees it; of two, or none, the one to decide."""
        session = self._session
        persons = [side for side in (0, 1) if session.seats[side].is_person]
        side = persons[0] if len(persons) == 1 else session.to_decide
        names = session.seats[side].name, session.seats[1 - side].name
        state = session.state() if session.rules.cube or session.rules.length else None
        self._screen.draw(text_diagram(session.position, state, names, turned=side != session.on_roll))
        self._drawn = self._to_draw()

    def draw_once(self) -> None:
        """Draw the board unless the last one drawn shows the same to whoever decides now."""
        if self._drawn != self._to_draw():
            self.draw()

    def _to_draw(self) -> tuple[object, ...]:
        session = self._session
        return session.games, session.position, session.cube, session.to_decide

    def save(self, path: Path) -> None:
        """Write all that was played to `path`; raises `FileError`, also where another file is."""
        if path not in self._written and path.exists():
            raise FileError(f"{path}: is there already; choose another name")
        record = self._session.record()
        write_mat(path, record)
        self._written.add(path)
        self._saved = record

    def write_kept(self) -> None:
        """Bring the file that is kept, if there is one, up to date; raises `FileError`."""
        if self._kept is not None:
            self.save(self._kept)

    def _save_as(self, name: str) -> bool:
        """Save under a typed name; whether that went well."""
        if not name:
            self._screen.say("save needs the name of a file, such as save game.mat")
            return False
        try:
            self.save(Path(name).expanduser())
        except (FileError, RuntimeError, ValueError) as error:  # no such home; a name that no file can have
            self._screen.say(f"not saved: {error}")
            return False
        self._screen.say(f"Saved to {name}")
        return True

    def _leave(self) -> None:
        """Raise `Quit`, unless the person comes back; ask about what would be lost."""
        record = self._session.record()
        is_safe = self._kept is not None or record == self._saved
        unsaved = not is_safe and any(game.actions for game in record.games)
        while unsaved:
            line = self._screen.ask(_prompt("Save what was played?", [_SAVE, "no", "back"]))
            word, _, name = line.partition(" ")
            match word.lower(), name.strip():
                case "save", name:
                    unsaved = not self._save_as(name)
                case (("no" | "quit"), ""):
                    unsaved = False
                case "back", "":
                    return
        raise Quit

    def _count_pips(self) -> None:
        position, side = self._session.position, self._session.on_roll
        counts = {side: position.pip_count, 1 - side: position.pip_count_opponent}
        first, second = self._session.seats
        self._screen.say(f"pips to go: {first.name} {counts[0]}, {second.name} {counts[1]}")

    def _help(self, offers: Sequence[str]) -> None:
        words = [offer for offer in offers if offer in _MEANINGS]
        self._screen.say(*(f"  {word:10} {_MEANINGS[word]}" for word in words))
        if "plays" in offers:
            self._screen.say(*(f"  {line}" for line in _NOTATION))


def _prompt(head: str, offers: Sequence[str]) -> str:
    return f"{head} [{', '.join(offers)}]: "
