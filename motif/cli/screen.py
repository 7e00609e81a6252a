"""What a conversation needs of a terminal, or of two pipes: lines are shown, and lines are asked for."""

import re
from typing import TextIO

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
