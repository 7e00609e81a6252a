"""Text as wide as a terminal: lines are broken between words, and only there."""

import shutil
import textwrap
from typing import TextIO

_NARROWEST = 20
"""Columns that no terminal is taken to have fewer of."""


def columns(stream: TextIO) -> int | None:
    """How many letters a line of `stream` has room for; None where that is no terminal."""
    try:
        is_terminal = stream.isatty()
    except ValueError:  # it was closed
        return None
    return max(_NARROWEST, shutil.get_terminal_size().columns) if is_terminal else None


def wrapped(text: str, stream: TextIO, indent: int = 0) -> str:
    """`text` with its lines broken between words for `stream`, where that is a terminal; else as it is.

    What follows a break begins as far to the right as the line does, and by `indent` letters more.
    """
    width = columns(stream)
    return text if width is None else "\n".join(_lines(text, width, indent))


def _lines(text: str, width: int, indent: int) -> list[str]:
    lines = []
    for line in text.split("\n"):
        if len(line) <= width:
            lines.append(line)
            continue
        margin = " " * (len(line) - len(line.lstrip()) + indent)
        lines += textwrap.wrap(
            line, width, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False
        )
    return lines
