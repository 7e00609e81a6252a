"""Files that are either whole or not there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TEMPORARY_SUFFIX = ".tmp"


def is_temporary(path: Path) -> bool:
    """Whether `path` is a temporary file of `replacing`, as a process that was killed leaves behind."""
    return path.name.startswith(".") and TEMPORARY_SUFFIX in path.suffixes


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`; on success it is flushed to disk and renamed to `path`.

    When the block fails, the temporary file is removed and `path` stays as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # The suffix stays last, because writers (matplotlib, say) choose the format by it.
    temporary = path.with_name(f".{path.stem}{TEMPORARY_SUFFIX}{path.suffix}")
    try:
        yield temporary
        with open(temporary, "rb+") as handle:
            os.fsync(handle.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` in UTF-8, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
