"""Output of commands: JSON on one line, tables, boards, what is said on a terminal."""

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motif.runtime.layout import columns, wrapped

if TYPE_CHECKING:
    from motif.board.match_state import MatchState
    from motif.board.position import Position

PIPED_WIDTH = 120
"""Columns of what is no terminal."""


def one_line(text: str) -> str:
    """`text` without line breaks and other control characters."""
    return " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())


def json_line(document: Any) -> str:
    """`document` as JSON on one line; a number that is not finite becomes null, a path its text."""
    try:
        return json.dumps(document, allow_nan=False, default=_text)
    except ValueError:
        return json.dumps(_finite(document), allow_nan=False, default=_text)


def _text(value: Any) -> str:
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"JSON has no {type(value).__name__}")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def error_text(error: float | None) -> str:
    """Return an error of a fit for a table; nothing where there is none."""
    return "" if error is None else f"{error:.4f}"


def percent(share: float, digits: int = 1) -> str:
    """Return a share such as 0.5 as ``50.0 %``."""
    return f"{100 * share:.{digits}f} %"


def counted(count: int, one: str, many: str | None = None) -> str:
    """`count` of what is called `one`, and `many` for other numbers than 1, by default with an s."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def say(*lines: object) -> None:
    """Print sentences, each on a line of its own; on a terminal they are broken between words."""
    for line in lines:
        print(wrapped(str(line), sys.stdout))


def complain(line: str) -> None:
    """Print `line` on stderr, on a terminal broken between words."""
    print(wrapped(line, sys.stderr), file=sys.stderr)


def note(line: str) -> None:
    """Say on stderr what one should know about the result that follows."""
    complain(f"motif: {line}")


def p_text(p: float, name: str = "p = ") -> str:
    """Return a p value for people: never 0."""
    return f"{name.replace('=', '<') or '< '}0.0001" if p < 1e-4 else f"{name}{p:.2g}"


def tell(line: str) -> None:
    """Say on a terminal what begins or has been done."""
    if sys.stderr.isatty():
        complain(line)


def print_board(position: "Position", match: "MatchState | None") -> None:
    """Draw `position` and leave a line free."""
    from motif.board.diagram import fit_width, text_diagram

    print(fit_width(text_diagram(position, match), columns(sys.stdout)))
    print()


def print_table(titles: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> None:
    """Print a table; its first `left` columns are aligned to the left, numbers to the right.

    Where it is too wide, cells are broken between words; where it still is, each row stands by itself.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    console.width = columns(sys.stdout) or PIPED_WIDTH
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    room = console.width - len(_EDGES) - len(_BETWEEN) * (len(titles) - 1)
    widths = _widths(list(zip(titles, *rows, strict=True)), room)
    if widths is None:
        _say_rows(titles, rows, left)
        return
    for index, (title, width) in enumerate(zip(titles, widths, strict=True)):
        table.add_column(title, justify="left" if index < left else "right", overflow="fold", width=width)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)


_EDGES, _BETWEEN = "  ", "   "
"""What stands left and right of a table, and between its columns."""


def _widths(columns: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """How wide the columns of a table are: the widest give way, but none to less than its longest word.

    None where that is too wide.
    """
    widths = [max(len(line) for text in cells for line in text.split("\n")) for cells in columns]
    slack = [
        width - max((len(word) for text in cells for word in text.split()), default=0)
        for width, cells in zip(widths, columns, strict=True)
    ]
    for _ in range(sum(widths) - room):
        places = [place for place, letters in enumerate(slack) if letters]
        if not places:
            return None
        widest = max(places, key=widths.__getitem__)
        widths[widest] -= 1
        slack[widest] -= 1
    return widths


def _say_rows(titles: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> None:
    """Say what stands in each row of a table, for a terminal that has no room for columns."""
    say("")
    for row in rows:
        cells = zip(titles[left:], row[left:], strict=True)
        say(" ".join(filter(None, row[:left])), "   " + ", ".join(f"{a} {b}".strip() for a, b in cells if b))
    say("")


def print_valued(valued: dict[str, Any]) -> None:
    """Say for what plays were valued, where it was not for money without a cube."""
    if "valued_for" in valued:
        won, lost = valued["gammon_value"], valued["gammon_value_lost"]
        gammons = f"a gammon won adds {won:.2f}, one lost {lost:.2f} (money 0.50)"
        say(f"valued for {valued['valued_for']}; {gammons}")
