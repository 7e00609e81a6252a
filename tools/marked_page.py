"""Pages written by hand with regions that programs write, each between two marks with its name."""

from collections.abc import Iterable
from pathlib import Path

from motif.runtime.errors import SettingError
from motif.runtime.files import reason, write_text


def marks(name: str) -> tuple[str, str]:
    """Return the lines before and after the region called `name`."""
    return f"<!-- generated: {name} -->\n", f"<!-- end of {name} -->\n"


def region(page: Path, name: str) -> str:
    """Text of the region called `name` of `page`.

    Raises `SettingError` when the page cannot be read or has no such region.
    """
    return _parts(page, name)[1]


def write_region(page: Path, name: str, lines: Iterable[str]) -> None:
    """Put `lines` into the region called `name` of `page`.

    All lines are there before the page is touched.  Raises `SettingError` as `region` does, `FileError`
    when the page cannot be written.
    """
    region(page, name)
    text = "".join(f"{line}\n" for line in lines)
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
