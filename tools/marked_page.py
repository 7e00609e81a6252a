"""Read and write the generated regions of hand-written pages, each between two markers."""

import sys
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import ParamSpec

from motif.runtime.errors import MotifError, SettingError
from motif.runtime.files import reason, write_text

_P = ParamSpec("_P")


def reporting(main: Callable[_P, None]) -> Callable[_P, int]:
    """Make `main` return an exit code: 0, or 2 after printing the message of a `MotifError`."""

    @wraps(main)
    def run(*words: _P.args, **options: _P.kwargs) -> int:
        try:
            main(*words, **options)
        except MotifError as error:
            print(f"motif: error: {error}", file=sys.stderr)
            return 2
        return 0

    return run


def marks(name: str) -> tuple[str, str]:
    """Return the marker lines of the region called `name`."""
    return f"<!-- generated: {name} -->\n", f"<!-- end of {name} -->\n"


def region(page: Path, name: str) -> str:
    """Return the text of the region called `name` of `page`.

    Raises `SettingError` if the page cannot be read or has no such region.
    """
    return _parts(page, name)[1]


def write_region(page: Path, name: str, lines: Iterable[str], *, is_shown: bool = False) -> None:
    """Replace the region called `name` of `page` with `lines`.

    All lines are computed before the page is written; with `is_shown`, each is also printed on stderr as soon
    as it is known. Raises `SettingError` like `region`, and `FileError` if
    the page cannot be written.
    """
    region(page, name)
    text = ""
    for line in lines:
        text += f"{line}\n"
        if is_shown:
            print(line, file=sys.stderr, flush=True)
    start, end = marks(name)
    before, _, after = _parts(page, name)
    write_text(page, before + start + text + end + after)


def _parts(page: Path, name: str) -> tuple[str, str, str]:
    try:
        text = page.read_text(encoding="utf-8")
    except OSError as error:
        raise SettingError(f"{page}: cannot be read: {reason(error)}") from None
    except UnicodeDecodeError:
        raise SettingError(f"{page}: cannot be read: it is not UTF-8") from None
    start, end = marks(name)
    before, mark, rest = text.partition(start)
    content, closing, after = rest.partition(end)
    if not (mark and closing):
        raise SettingError(f"{page}: the lines {start.strip()} and {end.strip()} are missing")
    return before, content, after
