"""Records of matches in files of every kind that motif reads or writes.

A file is known by what it begins with, whatever it is called: eXtreme Gammon's by ``RGMH``, BGBlitz's by a
line of JSON, .sgf by a bracket; anything else is taken for a .mat file.

Records as eXtreme Gammon (.xg) and BGBlitz (.bgf) save them are read through gammonview.

gammonview (its package `gvformat`) makes of either file one document: games, and in each what was done, with
the position after it as an OGID.  Plays are looked up among the legal ones by that position.  What these
programs thought of them is left aside.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from motif.board.game_record import (
    Action,
    CubeAction,
    GameProgress,
    GameRecord,
    GameResult,
    MatchRecord,
    Notes,
    Turn,
)
from motif.board.mat_file import NoMatError, mat_name, mat_text, parse_mat
from motif.board.match_ids import position_from_ogid
from motif.board.moves import checked_roll, legal_plays
from motif.board.sgf_file import parse_sgf, sgf_text
from motif.runtime.errors import MotifError, RecordError, SettingError, plain_text
from motif.runtime.files import content_of, contents, decoded, write_text
from motif.runtime.package import install_command

STDIN = "-"
READ_SUFFIXES = (".mat", ".sgf", ".xg", ".bgf")
"""Of files in a folder, those that are taken for records of matches."""
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
_OTHER_ADVICE = "gnubg reads many kinds (`import auto FILE`), and writes .mat (`export match mat FILE.mat`)"
_POSITION_ADVICE = (
    "it holds a position, no match: copy its XGID in eXtreme Gammon and give that to `motif hint`"
)

EXTRA = "xg"
XG_MAGIC = b"RGMH"
BGF_MAGIC = b"{"
"""A .bgf file begins with a line of JSON."""

_ROLLS = range(21)
_DOUBLE, _TAKE, _DROP, _SET_POSITION = 21, 22, 23, 31
_RESIGNED = (27, 28)
"""What gammonview calls actions; all others only say that the game is over."""
_WHITE = 1
_SCORES = slice(6, 8)
"""Fields of an OGID."""


def read_match(path: Path | str) -> MatchRecord:
    """The record of a match in the file at `path`; ``-`` is standard input.

    Reads .mat, gnubg's .sgf and, where gammonview is installed (the extra ``xg``), .xg and .bgf.  Raises
    `RecordError`, which names the file and the place for what is no record of legal play, and for another
    kind of file what would write one that can be read.
    """
    if str(path) == STDIN:
        return parse_match(sys.stdin.buffer.read(), "standard input")
    return parse_match(content_of(Path(path), RecordError), str(path))


def parse_match(content: bytes, name: str) -> MatchRecord:
    """The record in the `content` of a file of any kind, which errors call `name`; see `read_match`."""
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


def write_match(path: Path | str, record: MatchRecord, notes: Notes | None = None) -> None:
    """Write `record` to `path` as the suffix says, .mat or .sgf, whole or not at all.

    `notes` are comments on its actions.  Raises `FileError`; `SettingError` for another suffix; `RecordError`
    for actions in an order that no game has.
    """
    path = Path(path)
    check_match_target(path)
    write_text(path, (sgf_text if path.suffix.lower() == ".sgf" else mat_text)(record, notes))


def check_match_target(path: Path) -> None:
    """Raise `SettingError` unless a match can be written to a file that is called so."""
    if path.suffix.lower() not in WRITTEN_SUFFIXES:
        raise SettingError(f"{path}: matches are written as {' or '.join(WRITTEN_SUFFIXES)}")


def match_paths(paths: Iterable[Path]) -> Iterator[Path]:
    """The files among `paths`, and those of `READ_SUFFIXES` in the folders among them, in order.

    Raises `RecordError` for a folder that holds none.
    """
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        files = [file for file in contents(path) if file.suffix.lower() in READ_SUFFIXES and file.is_file()]
        if not files:
            raise RecordError(f"{path}: the folder holds no {', '.join(READ_SUFFIXES)} file")
        yield from files


def parse_xg(content: bytes, name: str) -> MatchRecord:
    """The record in the `content` of an .xg file, which errors call `name`.

    Raises `RecordError` where gammonview is missing or cannot read it, and for plays that are not legal.
    """
    return _parsed("convert_xg", content, name, "an .xg file; export the match from eXtreme Gammon as .mat")


def parse_bgf(content: bytes, name: str) -> MatchRecord:
    """The record in the `content` of a .bgf file; otherwise like `parse_xg`."""
    return _parsed("convert_bgf", content, name, "a .bgf file; save the match in BGBlitz as .mat")


def _parsed(function: str, content: bytes, name: str, what: str) -> MatchRecord:
    try:
        convert: Callable[[bytes], dict[str, Any]] = getattr(import_module("gvformat"), function)
    except ImportError:
        kind, _, other = what.partition("; ")
        raise RecordError(
            f"{name}: to read {kind} takes gammonview: {install_command(EXTRA)}; or {other}"
        ) from None
    try:
        document = convert(content)
    # Whatever stumbles over a file of another or damaged form: gammonview checks little.
    except Exception as error:
        reason = plain_text(" ".join(str(error).split())) or type(error).__name__
        raise RecordError(f"{name}: gammonview cannot read it as {what} ({reason})") from None
    try:
        return _record(document, name)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise RecordError(f"{name}: gammonview reads no match in it ({plain_text(repr(error))})") from None


def _record(document: dict[str, Any], name: str) -> MatchRecord:
    players = mat_name(str(document["player_white"] or "")), mat_name(str(document["player_black"] or ""))
    length = int(document.get("match_length") or 0)
    games: list[GameRecord] = []
    for number, game in enumerate(document["games"], 1):
        before = _score_after(games[-1]) if games else (0, 0)
        games.append(_game(game, f"{name}: game {number}", before, money=not length))
    return MatchRecord(players, length, tuple(games), tuple(_tags(document, length)))


def _game(game: dict[str, Any], where: str, before: tuple[int, int], *, money: bool) -> GameRecord:
    plies = game["plies"]
    score = before
    if plies and (fields := plies[0]["ogid_before"].split(":")[_SCORES]):
        score = int(fields[0]), int(fields[1])
    progress, actions = GameProgress(), list[Action]()
    for number, ply in enumerate(plies, 1):
        try:
            for action in _actions(ply, progress):
                progress.apply(action)
                actions.append(action)
        except MotifError as error:
            raise RecordError(f"{where}, action {number}: {error}") from None
    points = int(game.get("points_won") or 0)
    result: GameResult | None = progress.result
    if points:
        try:
            result = progress.said_result(int(game["winner"]), points, money=money)
        except MotifError as error:
            raise RecordError(f"{where}: {error}") from None
    return GameRecord(score, tuple(actions), result)


def _actions(ply: dict[str, Any], progress: GameProgress) -> Iterator[Action]:
    """What a ply of gammonview's does; nothing where it only says that the game is over."""
    kind, player = ply["action_id"], 0 if ply["color"] == _WHITE else 1
    if kind in _ROLLS:
        roll = checked_roll(ply["d1"], ply["d2"])
        after, _ = position_from_ogid(ply["ogid_after"])
        same = [play for play in legal_plays(progress.position, roll) if play.position == after]
        if not same:
            raise RecordError("what was played with {}{} is not legal".format(*roll))
        yield Turn(player, roll, same[0])
    elif kind == _DOUBLE:
        yield CubeAction(player, progress.answer_to(player))
    elif kind in (_TAKE, _DROP):
        yield CubeAction(player, "take" if kind == _TAKE else "drop")
    elif kind == _SET_POSITION:
        raise RecordError("the play that was made is not legal, or a position was set up")


def _score_after(game: GameRecord) -> tuple[int, int]:
    score = list(game.score)
    if game.result is not None:
        score[game.result.winner] += game.result.points
    return score[0], score[1]


def _tags(document: dict[str, Any], length: int) -> Iterator[tuple[str, str]]:
    for tag, key in (("Event", "event"), ("Site", "site")):
        if text := " ".join(str(document.get(key) or "").replace('"', "'").split()):
            yield tag, text
    if seconds := document.get("timestamp"):
        yield "EventDate", datetime.fromtimestamp(seconds, UTC).strftime("%Y.%m.%d")
    if document.get("jacoby") and not length:
        yield "Jacoby", "On"
