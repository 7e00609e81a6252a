"""Read and write match files of every supported format.

The format is recognised by the content, not by the name: eXtreme Gammon's files begin with ``RGMH``,
BGBlitz's with a line of JSON and .sgf files with a parenthesis; anything else is read as .mat.
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from motif.board.game_record import Annotations, MatchRecord
from motif.board.mat_file import NoMatError, mat_text, parse_mat
from motif.board.sgf_file import parse_sgf, sgf_text
from motif.board.xg_file import BGF_MAGIC, XG_MAGIC, parse_bgf, parse_xg
from motif.runtime.errors import RecordError, SettingError
from motif.runtime.files import content_of, contents, decoded, write_text
from motif.runtime.limits import MATCH_FILE, read_within

STDIN = "-"
READ_SUFFIXES = (".mat", ".sgf", ".xg", ".bgf")
"""Suffixes of the files in a folder that are read as matches."""
WRITTEN_SUFFIXES = (".mat", ".sgf")
_SGF_MAGIC = b"("
_POSITIONS = ".xgp"
_ADVICE = {
    ".gam": "open it in its program and export it as .mat",
    ".gammon": "open it in its program and export it as .mat",
    ".ogxm": "GammonView exports it as .mat",
    ".gva": "GammonView exports it as .mat",
    ".gvab": "GammonView exports it as .mat",
}
_OTHER_ADVICE = "gnubg converts many formats (`import auto FILE`, then `export match mat FILE.mat`)"
_POSITION_ADVICE = (
    "it holds a position, not a match: copy its XGID in eXtreme Gammon and pass it to `motif hint`"
)


def read_match(path: Path | str) -> MatchRecord:
    """Read the record of a match.

    Parameters
    ----------
    path
        A .mat file, gnubg's .sgf, or, with the extra ``xg``, .xg or .bgf; ``-`` is standard input.

    Returns
    -------
    MatchRecord
        The games with all actions.

    Raises
    ------
    RecordError
        For a file that cannot be read or is not a record of legal play; the message names the place.
    """
    if str(path) == STDIN:
        name = "standard input"
        return parse_match(read_within(sys.stdin.buffer, MATCH_FILE, name, RecordError), name)
    return parse_match(content_of(Path(path), RecordError, MATCH_FILE), str(path))


def parse_match(content: bytes, name: str) -> MatchRecord:
    """Parse the `content` of a file of any format, which errors call `name`; see `read_match`.

    Time and memory are bounded for any `content`: anything beyond `motif.runtime.limits` is refused before it
    is unpacked or parsed.
    """
    MATCH_FILE.check(len(content), name, RecordError)
    begun = content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    suffix = Path(name).suffix.lower()
    if content.startswith(XG_MAGIC):
        if suffix == _POSITIONS:
            raise RecordError(f"{name}: {_POSITION_ADVICE}")
        return parse_xg(content, name)
    if begun == BGF_MAGIC:
        return parse_bgf(content, name)
    if begun == _SGF_MAGIC:
        return parse_sgf(decoded(content), name)
    try:
        return parse_mat(decoded(content), name)
    except NoMatError as error:
        raise RecordError(f"{error}; {_ADVICE.get(suffix, _OTHER_ADVICE)}") from None


def write_match(path: Path | str, record: MatchRecord, notes: Annotations | None = None) -> None:
    """Write the record of a match atomically.

    Parameters
    ----------
    path
        A .mat or .sgf file.
    record
        The match.
    notes
        Comments on actions, by game and action, both counted from 0.

    Raises
    ------
    SettingError
        For another suffix.
    RecordError
        For actions in an impossible order.
    FileError
        If the file cannot be written.
    """
    path = Path(path)
    check_match_target(path)
    write_text(path, (sgf_text if path.suffix.lower() == ".sgf" else mat_text)(record, notes))


def check_match_target(path: Path) -> None:
    """Raise `SettingError` unless `path` has a suffix of `WRITTEN_SUFFIXES`."""
    if path.suffix.lower() not in WRITTEN_SUFFIXES:
        raise SettingError(f"{path}: matches are written as {' or '.join(WRITTEN_SUFFIXES)}")


def match_paths(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the files among `paths` and the match files in folders among them, in order.

    Raises `RecordError` for a folder without match files.
    """
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        files = [file for file in contents(path) if file.suffix.lower() in READ_SUFFIXES and file.is_file()]
        if not files:
            raise RecordError(f"{path}: the folder holds no {', '.join(READ_SUFFIXES)} file")
        yield from files
