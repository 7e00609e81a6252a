"""Read and write match files in all supported formats.

The content of a file decides its format, not the name: eXtreme Gammon's files begin with ``RGMH``,
BGBlitz's files with a line of JSON, and .sgf files with a parenthesis; all other files are read as .mat.
"""

import codecs
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from motif.board.game_record import Annotations, MatchRecord, check_record, check_scores
from motif.board.mat_file import NoMatError, mat_text, parse_mat
from motif.board.sgf_file import parse_sgf, sgf_text
from motif.board.xg_file import BGF_MAGIC, XG_MAGIC, parse_bgf, parse_xg
from motif.board.xgid_ogid import XGID_PREFIX
from motif.runtime.errors import RecordError, SettingError, shown
from motif.runtime.files import STDIN as STDIN
from motif.runtime.files import content_of, contents, decoded, path_of, write_text
from motif.runtime.limits import MATCH_FILE, read_within

READ_SUFFIXES = (".mat", ".sgf", ".xg", ".bgf")
"""Suffixes of the match files that are read in a folder."""
_SGF = ".sgf"
WRITTEN_SUFFIXES = (".mat", _SGF)
_SGF_MAGIC = b"("
_CHARSET, _CHARSET_WITHIN = re.compile(rb"(?<![A-Za-z])CA\s*\[\s*([\w.:-]{1,40})\s*\]"), 4096
"""The property that names the encoding of an .sgf file, and in how many bytes it is looked for."""
_ENCODINGS = re.compile(r"cp\d+|iso8859-\d+|koi8-\w|mac-\w+|shift_jis|euc_\w+|big5|gb\w+")
"""Encodings other than UTF-8."""
_POSITIONS = ".xgp"
_BEGINNINGS = {
    ".xg": "an .xg file: it must begin with RGMH",
    ".bgf": "a .bgf file: it must begin with a line of JSON",
}
"""What files of other suffixes than .mat and .sgf are, and how they begin."""
_ADVICE = {
    **dict.fromkeys((".gam", ".gammon"), "open it in the program that saved it, and export it as .mat"),
    **dict.fromkeys((".ogxm", ".gva", ".gvab"), "GammonView can export it as .mat"),
}
_OTHER_ADVICE = "gnubg can convert many formats (`import auto FILE`, then `export match mat FILE.mat`)"
_POSITION_ADVICE = (
    "it contains a position, not a match: copy its XGID in eXtreme Gammon and pass it to `motif hint`"
)
_XGID_ADVICE = "it contains positions, not a record of a match: pass an XGID to `motif hint`"


def read_match(path: Path | str) -> MatchRecord:
    """Read the record of a match.

    Parameters
    ----------
    path
        A .mat file, gnubg's .sgf, or, with the extra ``xg``, .xg or .bgf; ``-`` is standard input.

    Returns
    -------
    MatchRecord
        The record of the match; an illegal play that the board allows is kept (``Play.is_legal`` is False).

    Raises
    ------
    RecordError
        If the file cannot be read or has an impossible action; the message says where.
    """
    if not isinstance(path, str | Path):
        raise RecordError(f"invalid match file {shown(path)}: it must be a path")
    if str(path) == STDIN:
        name = "standard input"
        return parse_match(read_within(sys.stdin.buffer, MATCH_FILE, name, RecordError), name)
    return parse_match(content_of(Path(path), RecordError, MATCH_FILE), str(path))


def parse_match(content: bytes, name: str) -> MatchRecord:
    """Parse the `content` of a match file in any format; errors call the file `name`.

    Time and memory are bounded for any `content`: files beyond the limits in `motif.runtime.limits` are
    refused before they are unpacked or parsed.  Raises `RecordError` if `content` is not a record with at
    least one game, or has an impossible action.
    """
    record = _parsed(content, name)
    if not record.games:
        raise RecordError(f"{name}: the file contains no game")
    try:
        check_scores(record)
    except RecordError as error:
        raise RecordError(f"{name}: {error}") from None
    return record


def _parsed(content: bytes, name: str) -> MatchRecord:
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
        return parse_sgf(_sgf_decoded(content), name)
    try:
        return parse_mat(decoded(content), name)
    except NoMatError as error:
        if suffix == _SGF:
            return parse_sgf(decoded(content), name)
        if XGID_PREFIX.encode() in content:
            raise RecordError(f"{name}: {_XGID_ADVICE}") from None
        if suffix in _BEGINNINGS:
            rule = f"not {_BEGINNINGS[suffix]}" if content else "the file is empty"
            raise RecordError(f"{name}: {rule}") from None
        raise RecordError(f"{error}; {_ADVICE.get(suffix, _OTHER_ADVICE)}") from None


def _sgf_decoded(content: bytes) -> str:
    """Return the text of an .sgf file, in the encoding that it names if that is known and fits."""
    if match := _CHARSET.search(content[:_CHARSET_WITHIN]):
        with suppress(LookupError, UnicodeDecodeError):
            encoding = codecs.lookup(match[1].decode("ascii")).name
            if _ENCODINGS.fullmatch(encoding):
                return content.decode(encoding)
    return decoded(content)


def check_written_suffix(path: Path) -> None:
    """Raise `SettingError` unless matches can be written to files like `path`."""
    if path.suffix.lower() not in WRITTEN_SUFFIXES:
        raise SettingError(f"{path}: the suffix of a match file must be {' or '.join(WRITTEN_SUFFIXES)}")


def write_match(path: Path | str, record: MatchRecord, notes: Annotations | None = None) -> None:
    """Write the record of a match atomically.

    Parameters
    ----------
    path
        A .mat or .sgf file.
    record
        The match.
    notes
        Comments on actions, keyed by the numbers of the game and the action, from 0.

    Raises
    ------
    SettingError
        If the suffix is not supported.
    RecordError
        If `record` is something else, has no games, or has an impossible action.
    FileError
        If the file cannot be written.
    """
    path = path_of("path", path)
    write_text(path, match_text(path, record, notes))


def match_text(path: Path, record: MatchRecord, notes: Annotations | None = None) -> str:
    """Return what `write_match` writes; raises `SettingError` and `RecordError` as it does."""
    if not isinstance(record, MatchRecord):
        raise RecordError(f"record must be a MatchRecord, not {shown(record)}")
    check_written_suffix(path)
    try:
        check_record(record)
        return (sgf_text if path.suffix.lower() == _SGF else mat_text)(record, notes)
    except RecordError as error:
        raise RecordError(f"{path}: {error}") from None


def match_paths(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield `paths` in order, with each folder replaced by the match files in it.

    Raises `RecordError` for a folder without match files.
    """
    for path in paths:
        if str(path) == STDIN or not path.is_dir():
            yield path
            continue
        files = [file for file in contents(path) if file.suffix.lower() in READ_SUFFIXES and file.is_file()]
        if not files:
            raise RecordError(f"{path}: the folder contains no match files ({', '.join(READ_SUFFIXES)})")
        yield from files
