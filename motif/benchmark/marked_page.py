"""Pages written by hand with a part that a program measures, between two marks."""

from collections.abc import Iterable
from pathlib import Path

from motif.runtime.errors import SettingError
from motif.runtime.files import reason, write_text


def write_between(page: Path, start: str, end: str, lines: Iterable[str]) -> None:
    """Put `lines` between the first line `start` and the next line `end` of `page`.

    All lines are there before the page is touched.  Raises `SettingError` when the page cannot be read
    or a mark is missing, `FileError` when it cannot be written.
    """
    check_marks(page, start, end)
    text = "".join(line + "\n" for line in lines)
    before, after = _around(page, start, end)
    write_text(page, before + start + text + end + after)


def check_marks(page: Path, start: str, end: str) -> None:
    """Raise `SettingError` unless `page` can be read and has both marks, in their order."""
    _around(page, start, end)


def _around(page: Path, start: str, end: str) -> tuple[str, str]:
    try:
        text = page.read_text(encoding="utf-8")
    except OSError as error:
        raise SettingError(f"{page}: cannot be read: {reason(error)}") from None
    except UnicodeDecodeError:
        raise SettingError(f"{page}: cannot be read: it is not UTF-8") from None
    before, mark, rest = text.partition(start)
    _, closing, after = rest.partition(end)
    if not (mark and closing):
        raise SettingError(f"{page}: the lines {start.strip()} and {end.strip()} are missing")
    return before, after
