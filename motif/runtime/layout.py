"""Counts, lists, sentences and p-values in words, line wrapping, and tables in text and in HTML."""

import math
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from contextlib import suppress
from html import escape
from typing import TextIO

_NARROWEST = 20
"""Minimum width of a terminal in characters."""
_UNPARTED = re.compile(r"(?<=[±<=]) (?=\d)|(?<=\bp) (?=[<=] \d)|(?<=\d) (?=%)")
"""A space within an amount, where no line breaks: ``± 0.04``, ``p < 0.0001``, ``50 %``."""
_GLUE = "\2"
_FILLER = "\1"
"""What fills the second column of a wide letter while lines are folded."""


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun; the plural is `many`, or by default `one` with an s."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(words: Sequence[str], last: str = "and") -> str:
    """Return a list of words as in a sentence: ``a, b and c``, with `last` before the last word."""
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def capitalized(phrase: str) -> str:
    """Return a phrase with its first letter capitalized."""
    return phrase[0].upper() + phrase[1:]


def sentence(phrase: str) -> str:
    """Return a phrase as a sentence."""
    return f"{capitalized(phrase)}."


def p_text(p: float, name: str = "p = ") -> str:
    """Return a p-value as text; small values as ``p < 0.0001``."""
    return f"{name.replace('=', '<') or '< '}0.0001" if p < 1e-4 else f"{name}{p:.2g}"


def plus_minus(error: float | None, digits: str = ".2f") -> str:
    """Return a standard error with ±; an empty text if it is None or NaN."""
    return "" if error is None or math.isnan(error) else f" ± {error:{digits}}"


def percent(share: float, digits: int = 1) -> str:
    """Return a share in percent: 0.5 as ``50.0 %``."""
    return f"{100 * share:.{digits}f} %"


def encodable(text: str) -> str:
    """Return `text` with backslash escapes for what UTF-8 cannot represent, as in names of some files."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def columns(stream: TextIO) -> int | None:
    """Return the width of a terminal in characters; None if `stream` is not a terminal."""
    try:
        is_terminal = stream.isatty()
    except ValueError:  # closed
        return None
    return max(_NARROWEST, shutil.get_terminal_size().columns) if is_terminal else None


def width_of(text: str) -> int:
    """Return the number of columns of a terminal that `text` takes: two for a Chinese letter or an emoji."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def justified(text: str, side: str, width: int) -> str:
    """Return `text` filled with spaces to `width` columns, aligned to `side`: ``<`` or ``>``."""
    return f"{text:{side}{max(0, width - width_of(text) + len(text))}}"


def folded(line: str, width: int, margin: str = "") -> list[str]:
    """Return `line` broken between words into lines of `width` columns, after the first with a `margin`."""
    line = _UNPARTED.sub(_GLUE, line)
    if not line.isascii():
        line = "".join(letter + _FILLER * (width_of(letter) - 1) for letter in line)
    lines = textwrap.wrap(
        line, width, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False
    )
    return [part.replace(_FILLER, "").replace(_GLUE, " ") for part in lines]


def unbroken_words(text: str) -> list[str]:
    """Return the words of `text`, between which lines may break; an amount is one word."""
    return [word.replace(_GLUE, " ") for word in _UNPARTED.sub(_GLUE, text).split()]


def wrapped(text: str, stream: TextIO, indent: int = 0) -> str:
    """Return `text` wrapped to the width of `stream` if that is a terminal.

    Continuation lines are indented like their first line, plus `indent` characters.
    """
    width = columns(stream)
    return text if width is None else "\n".join(_lines(text, width, indent))


def complain(line: str) -> None:
    """Print `line` on stderr, wrapped to the width of a terminal; do nothing if stderr is closed or full."""
    if sys.stderr is None:
        return
    with suppress(OSError, ValueError):
        print(wrapped(line, sys.stderr), file=sys.stderr, flush=True)


def _lines(text: str, width: int, indent: int) -> list[str]:
    lines = []
    for line in text.split("\n"):
        if width_of(line) <= width:
            lines.append(line)
            continue
        lines += folded(line, width, " " * (len(line) - len(line.lstrip()) + indent))
    return lines


def html_table(columns: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Return an HTML table; its first column is left-aligned, the others right-aligned."""

    def row(tag: str, cells: Sequence[object]) -> str:
        filled = (
            f'<{tag} style="text-align:{"right" if index else "left"}">{escape(str(cell))}</{tag}>'
            for index, cell in enumerate(cells)
        )
        return f"<tr>{''.join(filled)}</tr>"

    body = "".join(row("td", cells) for cells in rows)
    return f"<table><thead>{row('th', columns)}</thead><tbody>{body}</tbody></table>"


def html_lines(lines: Iterable[str]) -> str:
    """Return an HTML paragraph for each line that is not empty."""
    return "".join(f"<p>{escape(line)}</p>" for line in lines if line)


def side_by_side(*parts: str) -> str:
    """Return HTML that places `parts` in a row, which wraps if it is too long."""
    cells = "".join(f"<div>{part}</div>" for part in parts)
    return f'<div style="display:flex;flex-wrap:wrap;gap:1em;align-items:start">{cells}</div>'


def text_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return the table of `html_table` as text."""
    lines = [[*columns], *([*cells] for cells in rows)]
    widths = [max(width_of(line[index]) for line in lines) for index in range(len(columns))]
    return "\n".join(
        "  ".join(
            justified(cell, ">" if index else "<", width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
