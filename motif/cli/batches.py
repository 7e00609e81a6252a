"""Batch files of positions or decisions, and the output of one record for each."""

import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Annotated

from motif.cli.options import option
from motif.cli.printing import json_line
from motif.runtime.errors import SettingError
from motif.runtime.frames import Record
from motif.runtime.progress import Advance, progress

_LINES_AT_ONCE = 1000
PositionBatch = Annotated[
    str | None, option("File with one ID per line, instead of ID; - for standard input.", "FILE")
]
DecisionBatch = Annotated[
    str | None,
    option("File with one ID D1 D2 per line, or ID if it holds the roll; - for standard input.", "FILE"),
]


def check_choice(identifier: str | None, batch: str | None, wanted: str) -> None:
    """Raise `SettingError` unless either the `wanted` arguments or a batch file is given."""
    if identifier is None and batch is None:
        raise SettingError(f"missing argument: {wanted}, or --batch FILE")
    if identifier is not None and batch is not None:
        raise SettingError(f"{wanted} and --batch cannot be combined")


def write_records(
    records: Iterator[Record], total: int, json: bool, describe: Callable[[Record], str]
) -> None:
    """Print each record when it is ready, with a progress bar unless the output is a terminal."""
    form = json_line if json else describe
    output = sys.stdout  # rich replaces sys.stdout while it shows a bar
    quiet: nullcontext[Advance] = nullcontext(lambda steps=1: None)
    with quiet if output.isatty() else progress(f"{total} lines", total) as advance:
        for number, record in enumerate(records, 1):
            output.write(form(record) + "\n")
            if number % _LINES_AT_ONCE == 0:
                advance(_LINES_AT_ONCE)
