"""Prompts in the terminal, with commands that work at every prompt."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from motif.board.diagram import fit_width, text_diagram
from motif.board.game_record import MatchRecord
from motif.board.match_file import write_match
from motif.runtime.errors import FileError, MotifError, RecordError
from motif.runtime.layout import columns, wrapped
from motif.session.event_game import EventGame

_CHECKERS = (("X", "bold cyan"), ("O", "bold yellow"))


class EndOfInput(Exception):  # noqa: N818
    """The input has ended."""


class Screen:
    """A terminal or a pair of pipes: shows lines on `output` and reads answers from `source`."""

    def __init__(self, source: TextIO, output: TextIO) -> None:
        self._source = source
        self._output = output

    def say(self, *lines: str, indent: int = 0) -> None:
        """Show `lines`, wrapped with `indent` spaces before continuation lines."""
        for line in lines:
            print(wrapped(line, self._output, indent), file=self._output)

    def ask(self, prompt: str) -> str:
        """Return the stripped line typed after `prompt`; raises `EndOfInput`."""
        try:
            print(f"{wrapped(prompt.rstrip(), self._output)} ", end="", file=self._output, flush=True)
            line = self._source.readline()
        except KeyboardInterrupt:
            print(file=self._output)
            raise
        if not self._source.isatty():
            # A terminal shows what is typed; piped input is printed here.
            print(line.strip(), file=self._output)
        elif not line:
            print(file=self._output)
        if not line:
            raise EndOfInput
        return line.strip()

    def draw(self, diagram: str) -> None:
        """Show a text diagram, with coloured checkers if the terminal supports colours."""
        from rich.console import Console
        from rich.text import Text

        diagram = fit_width(diagram, columns(self._output))
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


def please_type(words: Sequence[str]) -> str:
    """Return the request for one of `words` after another answer."""
    return f"please type one of: {', '.join(words)}"


_SAVE = "save FILE"
_ALWAYS = ("board", "pips", _SAVE, "help", "quit")
_HELP = ("help", "h", "?")
_QUIT = ("quit", "q", "exit")
_SHORT = 50
"""Maximum length of a prompt that lists the possible answers; longer prompts show ``?`` instead."""
_SUCH_AS = " such as "
_ROOM = 24
"""Width of the first column of the help."""
_MEANINGS = {
    "a play": "its moves, with points counted from your side; the star of a hit may be left out",
    "its number": "the number of a play in the last list (plays or hint); after hint, 1 is the best play",
    "two dice": "the roll",
    "roll": "rolls the dice; so does an empty line",
    "double": "doubles the cube; d and redouble do the same",
    "take": "accepts the double; the cube is then yours",
    "pass": "loses the game at the value before the double; drop does the same",
    "beaver": "accepts and immediately doubles again, keeping the cube",
    "raccoon": "doubles again after a beaver; the opponent keeps the cube",
    "plays": "lists every legal play with its number",
    "hint": "shows the best plays, or the cube actions, with equities for the player on roll",
    "undo": "takes back the last decision of a person; the dice stay the same",
    "yes": "confirms",
    "no": "declines",
    "why": "shows the reasons",
    "back": "returns without changes",
    "resign": "offers to lose the game, which the opponent may decline; or resign single, resign gammon ...",
    "single": "loses the value of the cube",
    "gammon": "loses twice the value of the cube",
    "backgammon": "loses three times the value of the cube",
    "board": "draws the board",
    "pips": "shows both pip counts",
    _SAVE: "saves the match so far as a .mat or .sgf file, which gnubg can read",
    "help": "lists the commands; ? does the same",
    "quit": "ends the session",
}
"""Help texts by the first words of a possible answer."""
_NOTATION = (
    "Type a play as its moves, such as bar/22 13/8(2); bar can be 25, off can be 0, and 13-8 means 13/8.",
)


class Quit(Exception):  # noqa: N818
    """A person has quit the game."""


class Prompter:
    """Prompts the human players of a game."""

    def __init__(self, game: EventGame, screen: Screen, kept: Path | None) -> None:
        self._game = game
        self._session = game.session
        self._screen = screen
        self._kept = kept
        """File in which the record is saved after each game and at the end."""
        self._written: set[Path] = set()
        """Files written by this session, which may be overwritten."""
        self._saved: MatchRecord | None = None
        self._drawn: object = None
        """Content of the last board drawn."""

    def say(self, *lines: str) -> None:
        """Show `lines`."""
        self._screen.say(*lines)

    def ask(self, head: str, offers: Sequence[str], *, empty: str = "") -> str:
        """Return the typed line, after carrying out any commands that work at every prompt.

        An empty line stands for `empty`, or repeats the question if that is empty.  Raises `Quit` and
        `EndOfInput`.
        """
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
                case word, "" if word in _HELP:
                    self._help([*offers, *_ALWAYS])
                case word, "" if word in _QUIT:
                    self._leave()
                case _:
                    return line

    def choose(self, head: str, words: Sequence[str]) -> str:
        """Return the word of `words` that starts with the typed line; raises `Quit` and `EndOfInput`."""
        while True:
            line = self.ask(head, words).lower()
            matches = [line] if line in words else [word for word in words if word.startswith(line)]
            if len(matches) == 1:
                return matches[0]
            self._screen.say(please_type(words))

    def agree(self, question: str) -> bool:
        """Return whether the answer is yes; raises `Quit` and `EndOfInput`."""
        return self.choose(question, ["yes", "no"]) == "yes"

    def undo(self) -> bool:
        """Take back the last decision; return whether there was one."""
        try:
            self._game.follow(["undo"])
        except RecordError as error:
            self.say(str(error))
            return False
        return True

    def draw(self) -> None:
        """Draw the board from the side of the only human player, otherwise of the player to decide."""
        session = self._session
        persons = [side for side in (0, 1) if session.seats[side].is_person]
        side = persons[0] if len(persons) == 1 else session.to_decide
        names = session.seats[side].name, session.seats[1 - side].name
        state = session.state() if session.rules.cube or session.rules.length else None
        self._screen.draw(text_diagram(session.position, state, names, from_opponent=side != session.on_roll))
        self._drawn = self._to_draw()

    def draw_once(self) -> None:
        """Draw the board unless it has not changed."""
        if self._drawn != self._to_draw():
            self.draw()

    def _to_draw(self) -> tuple[object, ...]:
        session = self._session
        return session.games, session.position, session.cube, session.to_decide, session.roll

    def save(self, path: Path) -> None:
        """Save the match to `path`, a .mat or .sgf file.

        Raises `FileError`, also for a file that this session did not write, and `SettingError` for another
        suffix.
        """
        if path not in self._written and path.exists():
            raise FileError(f"{path}: already exists; choose another name")
        record = self._session.record()
        write_match(path, record)
        self._written.add(path)
        self._saved = record

    def write_kept(self) -> None:
        """Update the file given at the start, if any; raises the errors of `save`."""
        if self._kept is not None:
            self.save(self._kept)

    def _save_as(self, name: str) -> bool:
        """Save under a typed name; return whether that worked."""
        if not name:
            self._screen.say("save needs a file name, such as save game.mat")
            return False
        try:
            self.save(Path(name).expanduser())
        except (MotifError, RuntimeError, ValueError) as error:  # no such home; a name that no file can have
            self._screen.say(f"not saved: {error}")
            return False
        self._screen.say(f"Saved to {name}")
        return True

    def _leave(self) -> None:
        """Offer to save, then raise `Quit` unless the person goes back."""
        record = self._session.record()
        is_safe = self._kept is not None or record == self._saved
        unsaved = not is_safe and any(game.actions for game in record.games)
        offers = [_SAVE, "no", "back"]
        while unsaved:
            line = self._screen.ask(_prompt("Save the match?", offers))
            word, _, name = line.partition(" ")
            match word.lower(), name.strip():
                case "save", name:
                    unsaved = not self._save_as(name)
                case word, "" if word in ("no", "n", *_QUIT):
                    unsaved = False
                case "back", "":
                    return
                case word, "" if word in _HELP:
                    self._help(offers)
                case _:
                    self._screen.say(please_type(offers))
        raise Quit

    def _count_pips(self) -> None:
        position, side = self._session.position, self._session.on_roll
        counts = {side: position.pip_count, 1 - side: position.pip_count_opponent}
        first, second = self._session.seats
        self._screen.say(f"pip counts: {first.name} {counts[0]}, {second.name} {counts[1]}")

    def _help(self, offers: Sequence[str]) -> None:
        for offer in offers:
            meaning = next(words for name, words in _MEANINGS.items() if f"{offer} ".startswith(f"{name} "))
            line = f"  {offer:{_ROOM}}  {meaning}"
            self._screen.say(line, indent=line.index(meaning) - 2)
        if "plays" in offers:
            self._screen.say(*(f"  {line}" for line in _NOTATION))


def _prompt(head: str, offers: Sequence[str]) -> str:
    """Return the question with its possible answers, if they are short."""
    words = ", ".join(offers)
    is_short = len(head) + len(words) <= _SHORT and not any(_SUCH_AS in offer for offer in offers)
    return f"{head} [{words if is_short else '?'}]: "
