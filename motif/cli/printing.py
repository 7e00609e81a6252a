"""Output of commands: JSON on one line, tables, boards, what is said on a terminal."""

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    """An error of a fit for a table; nothing where there is none."""
    return "" if error is None else f"{error:.4f}"


def percent(share: float, digits: int = 1) -> str:
    """A share such as 0.5 as ``50.0 %``."""
    return f"{100 * share:.{digits}f} %"


def note(line: str) -> None:
    """Say on stderr what one should know about the result that follows."""
    print(f"motif: {line}", file=sys.stderr)


def p_text(p: float, name: str = "p = ") -> str:
    """A p value for people: never 0."""
    return f"{name.replace('=', '<') or '< '}0.0001" if p < 1e-4 else f"{name}{p:.2g}"


def tell(line: str) -> None:
    """Say on a terminal what begins or has been done."""
    if sys.stderr.isatty():
        print(line, file=sys.stderr)


def print_board(position: "Position", match: "MatchState | None") -> None:
    """Draw `position` and leave a line free."""
    from motif.board.diagram import text_diagram

    print(text_diagram(position, match))
    print()


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> None:
    """Print a table; its first `left` columns are aligned to the left, numbers to the right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    console = Console()
    if not console.is_terminal:
        console.width = PIPED_WIDTH
    console.print(table)


def print_valued(valued: dict[str, Any]) -> None:
    """Say for what plays were valued, where it was not for money without a cube."""
    if valued:
        won, lost = valued["gammon_value"], valued["gammon_value_lost"]
        gammons = f"a gammon won adds {won:.2f}, one lost {lost:.2f} (money 0.50)"
        print(f"valued for {valued['valued_for']}; {gammons}")
