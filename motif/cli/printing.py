"""Output of commands: JSON, sentences, tables and boards."""

import io
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from motif.runtime.frames import Record, finite
from motif.runtime.layout import columns, complain, folded, justified, unbroken_words, width_of, wrapped
from motif.runtime.progress import Advance, progress

if TYPE_CHECKING:
    from motif.analysis.phrases import Phrases
    from motif.board.match_state import MatchState
    from motif.board.position import Position

_MONEY_GAMMON = 0.5
_LINES_AT_ONCE = 1000
PIPED_WIDTH = 120
"""Width of the output, in columns, if it is not a terminal."""


def json_line(document: object) -> str:
    """Return `document` as one line of JSON; non-finite numbers become null, and paths become strings."""
    try:
        return json.dumps(document, allow_nan=False, default=_text)
    except ValueError:
        return json.dumps(finite(document), allow_nan=False, default=_text)


def printed_json(json: bool, record: object) -> bool:
    """Print `record` as JSON if `json` is set; return `json`, so that the caller prints nothing else."""
    if json:
        print(json_line(record))
    return json


def write_records(
    records: Iterator[Record], total: int, json: bool, describe: Callable[[Record], str]
) -> None:
    """Print each record when it is ready, with a progress bar unless the output is a terminal."""
    form = json_line if json else describe
    output = sys.stdout  # rich replaces sys.stdout while it shows a bar
    quiet: nullcontext[Advance] = nullcontext(lambda steps=1: None)
    with quiet if output.isatty() else progress(f"{total:,} lines", total) as advance:
        for number, record in enumerate(records, 1):
            output.write(form(record) + "\n")
            if number % _LINES_AT_ONCE == 0:
                advance(_LINES_AT_ONCE)


def _text(value: object) -> str:
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def error_text(error: float | None) -> str:
    """Return the error of a fit as a table cell; an empty one for None."""
    return "" if error is None else f"{error:.4f}"


def accept_any_text(*streams: object) -> None:
    """Make text streams write or read what their encoding cannot represent, as backslash escapes."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(*lines: object) -> None:
    """Print sentences, one per line, wrapped to the width of a terminal."""
    for line in lines:
        print(wrapped(str(line), sys.stdout))


def note(line: str) -> None:
    """Print a note about the result on stderr."""
    complain(f"motif: {line}")


def tell(line: str) -> None:
    """Print a line about progress if stderr is a terminal."""
    if sys.stderr.isatty():
        complain(line)


def print_board(position: "Position", match: "MatchState | None") -> None:
    """Print the board and an empty line."""
    from motif.board.diagram import fit_width, text_diagram

    print(fit_width(text_diagram(position, match), columns(sys.stdout)))
    print()


def print_table(titles: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> None:
    """Print a table whose first `left` columns are left-aligned, the others right-aligned.

    If the table is too wide, its cells are wrapped between words; if it is still too wide, each row is
    printed as a sentence.
    """
    room = (columns(sys.stdout) or PIPED_WIDTH) - len(_EDGES) - len(_BETWEEN) * (len(titles) - 1)
    widths = _widths(list(zip(titles, *rows, strict=True)), room)
    if widths is None:
        _say_rows(titles, rows, left)
        return
    sides = ["<"] * left + [">"] * (len(widths) - left)

    def lines(cells: Sequence[str], is_title: bool = False) -> Iterator[str]:
        pieces = [_cell_lines(text, width) for text, width in zip(cells, widths, strict=True)]
        if is_title:  # aligned at the bottom
            height = max(map(len, pieces))
            pieces = [[""] * (height - len(parts)) + parts for parts in pieces]
        for parts in zip_longest(*pieces, fillvalue=""):
            filled = (justified(part, side, n) for part, side, n in zip(parts, sides, widths, strict=True))
            yield f" {_BETWEEN.join(filled)} "

    dash = "─" if (sys.stdout.encoding or "utf-8").lower().startswith("utf") else "-"
    rule = dash * (sum(widths) + len(_BETWEEN) * (len(widths) - 1))
    body = [line for row in rows for line in lines(row)]
    print("", *lines(titles, True), f" {rule} ", *body, "", sep="\n")


def _cell_lines(text: str, width: int) -> list[str]:
    """Return the lines of a cell after wrapping between words."""
    return [part for line in text.split("\n") for part in folded(line, max(1, width)) or [""]]


_EDGES, _BETWEEN = "  ", "   "
"""Margins of a table, and the gap between its columns."""


def _widths(columns: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """Return column widths that fit into `room` without breaking words; None if that is impossible."""
    widths = [max(width_of(line) for text in cells for line in text.split("\n")) for cells in columns]
    slack = [
        width - max((width_of(word) for text in cells for word in unbroken_words(text)), default=0)
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
    """Print the rows of a table as sentences, for a terminal that is too narrow for columns."""
    say("")
    for row in rows:
        cells = zip(titles[left:], row[left:], strict=True)
        say(" ".join(filter(None, row[:left])), "   " + ", ".join(f"{a} {b}".strip() for a, b in cells if b))
    say("")


def print_valued(valued: Record, words: "Phrases | None" = None, state: "MatchState | None" = None) -> None:
    """Print the match and cube for which plays were valued, if any, in English or in `words` for `state`."""
    if "valued_for" not in valued:
        return
    if words is None:
        # Imported here because the phrases need YAML.
        from motif.analysis.phrases import phrases

        words = phrases()
    match = valued["valued_for"] if state is None else words.score(state)
    amounts = valued["gammon_value"], valued["gammon_value_lost"], _MONEY_GAMMON
    won, lost, money = (words.amount(value, 2) for value in amounts)
    say(words.say("valued", match=match, won=won, lost=lost, money=money))
