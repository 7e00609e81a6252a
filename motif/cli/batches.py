"""Files of many positions, and a record printed for each of them."""

import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Annotated, Any

from motif.cli.options import option
from motif.cli.printing import json_line
from motif.runtime.errors import SettingError
from motif.runtime.progress import Advance, progress

_LINES_AT_ONCE = 1000
PositionBatch = Annotated[str | None, option("Instead of ID: a file with one a line; - is stdin.", "FILE")]
DecisionBatch = Annotated[
    str | None, option("Instead of ID D1 D2: a file with them a line; - is stdin.", "FILE")
]


def check_choice(identifier: str | None, batch: str | None, wanted: str) -> None:
    """Raise `SettingError` unless there is either what is `wanted` or a batch file."""
    if identifier is None and batch is None:
        raise SettingError(f"missing argument: {wanted}, or --batch FILE")
    if identifier is not None and batch is not None:
        raise SettingError(f"give either {wanted} or --batch FILE, not both")


def write_records(
    records: Iterator[dict[str, Any]], total: int, json: bool, describe: Callable[[dict[str, Any]], str]
) -> None:
    """Print each record as it comes; a bar shows how far that is unless the lines themselves do."""
    form = json_line if json else describe
    output = sys.stdout  # while the bar shows, rich puts something else in its place
    quiet: nullcontext[Advance] = nullcontext(lambda steps=1: None)
    with quiet if output.isatty() else progress(f"{total} lines", total) as advance:
        for number, record in enumerate(records, 1):
            output.write(form(record) + "\n")
            if number % _LINES_AT_ONCE == 0:
                advance(_LINES_AT_ONCE)
