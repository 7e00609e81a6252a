"""Match records of eXtreme Gammon (.xg) and BGBlitz (.bgf), read with gammonview.

gammonview (package `gvformat`) converts both formats to the same kind of document: games and their actions,
each with the resulting position as an OGID. The play is the one that leads to this position.
Analyses in the files are ignored.

gammonview unpacks and converts any input, in time quadratic in the number of moves of a game.  The unpacked
size and the number of moves are therefore checked first.

Sources: the description of the .xg format (extremegammon.com/XGformat.aspx) and, for .bgf files, the
specification of Smile, their binary JSON (github.com/FasterXML/smile-format-specification).
"""

import struct
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib import import_module
from itertools import chain, repeat
from typing import Any, TypeAlias

import numpy as np

from motif.board.game_record import (
    SET_UP,
    CubeAction,
    CubeKind,
    GameRecord,
    GameRecorder,
    MatchRecord,
    Turn,
    with_crawford,
)
from motif.board.mat_file import mat_name
from motif.board.moves import checked_roll, illegal_play, legal_plays
from motif.board.notation import MAX_MOVES, OFF, Play
from motif.board.position import Position
from motif.board.smile import SmileError, list_lengths
from motif.board.xgid_ogid import position_from_ogid
from motif.runtime.errors import MotifError, RecordError, plain_text
from motif.runtime.limits import (
    CONVERTED_MOVES,
    GAME_MOVES,
    MATCH_GAMES,
    MATCH_UNPACKED,
    Compression,
    unpacked,
)
from motif.runtime.package import install_command

_EXTRA = "xg"
XG_MAGIC = b"RGMH"
BGF_MAGIC = b"{"
"""First byte of a .bgf file, which begins with a line of JSON."""

_ROLLS = range(21)
_DOUBLE, _TAKE, _DROP, _SET_POSITION = 21, 22, 23, 31
"""gammonview's action codes; all other codes mark the end of a game."""
_WHITE = 1
_SCORES = slice(6, 8)
"""Score fields of an OGID, for White and Black."""
_XG_HEADER, _THUMBNAIL_SIZE = 8232, 20
_XG_RECORD, _XG_KIND = 2560, 8
_XG_GAME, _XG_CUBE, _XG_MOVE = 1, 2, 3
"""Size of an .xg file's header and the offset of the thumbnail's size in it; size of the records after the
thumbnail, the offset of a record's kind in it, and the kinds that begin a game, and have a cube decision and
a roll.
"""
_XG_DOUBLED, _XG_ANSWER = 16, 20
"""Offsets in a cube decision: of the double and of the answers to it, to a beaver and to a raccoon."""
_DROPPED, _TAKEN, _RAISED = 0, 1, 2
"""Answers in an .xg file: the last is a beaver or raccoon."""
_Beavers: TypeAlias = list[list[CubeKind]]
"""For each double of a game that was not dropped, the beaver and what followed; empty for a take."""
_ZLIB = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_GZIP = b"\x1f\x8b"


def parse_xg(content: bytes, name: str) -> MatchRecord:
    """Parse the `content` of an .xg file; errors call the file `name`.

    Raises `RecordError` if gammonview is missing or cannot read the file, if an action is impossible, or if
    the file exceeds `motif.runtime.limits`.
    """
    file_kind = "an .xg file; export the match from eXtreme Gammon as .mat"
    return _parse("convert_xg", content, name, file_kind, _checked_xg)


def parse_bgf(content: bytes, name: str) -> MatchRecord:
    """Parse the `content` of a .bgf file; see `parse_xg`."""
    return _parse(
        "convert_bgf", content, name, "a .bgf file; save the match in BGBlitz as .mat", _checked_bgf
    )


def _checked_xg(content: bytes, name: str) -> tuple[bytes, list[_Beavers]]:
    """Return `content` with beavers as takes, and the beavers; raise `RecordError` if it is too large.

    gammonview reads a beaver as a drop that ends the game.
    """
    if len(content) < _XG_HEADER:
        return content, []
    start = _XG_HEADER + struct.unpack_from("<I", content, _THUMBNAIL_SIZE)[0]
    records = bytearray(_unpacked_records(content[start:], name))
    kinds = records[_XG_KIND::_XG_RECORD]
    _check_games([len(game) for game in kinds.split(bytes([_XG_GAME]))[1:]], name)
    CONVERTED_MOVES.check(len(kinds), name, RecordError)
    beavers = _take_beavers(records, kinds)
    return (content[:start] + zlib.compress(records, 1) if any(map(any, beavers)) else content), beavers


def _take_beavers(records: bytearray, kinds: bytearray) -> list[_Beavers]:
    """Make the beavers in `records` takes; return the beavers and what followed, by game and take."""
    games: list[_Beavers] = []
    for number, kind in enumerate(kinds):
        if kind == _XG_GAME:
            games.append([])
        record = slice(number * _XG_RECORD, (number + 1) * _XG_RECORD)
        if kind != _XG_CUBE or not games or record.stop > len(records):
            continue
        doubled, answer, *replies = struct.unpack_from("<4i", records, record.start + _XG_DOUBLED)
        if doubled != 1 or answer not in (_TAKEN, _RAISED):
            continue
        said: list[CubeKind] = []
        if answer == _RAISED:
            struct.pack_into("<i", records, record.start + _XG_ANSWER, _TAKEN)
            said.append("beaver")
            if replies[0] == _RAISED:
                said.append("raccoon")
            is_over = kinds[number + 1 : number + 2] != bytes([_XG_MOVE])
            if is_over and replies[len(said) - 1] == _DROPPED:
                said.append("drop")
        games[-1].append(said)
    return games


def _unpacked_records(packed: bytes, name: str) -> bytes:
    """Return the records as gammonview reads them; they are `packed` itself if it cannot be unpacked."""
    decompressor = zlib.decompressobj()
    try:
        records = decompressor.decompress(packed, MATCH_UNPACKED.size + 1)
    except zlib.error:
        return packed
    MATCH_UNPACKED.check(len(records), name, RecordError)
    return records if decompressor.eof else packed


def _checked_bgf(content: bytes, name: str) -> tuple[bytes, list[_Beavers]]:
    """Return `content` with its payload unpacked, without beavers; raise `RecordError` if it is too large."""
    header, newline, payload = content.partition(b"\n")
    if not newline:
        return content, []
    if payload.startswith((_GZIP, *_ZLIB)):
        kind: Compression = "gzip" if payload.startswith(_GZIP) else "zlib"
        payload = unpacked(payload, kind, MATCH_UNPACKED, name, RecordError)
    try:
        moves = list_lengths(payload, "moves", name, RecordError)
    except SmileError as error:
        raise RecordError(f"{name}: gammonview cannot read it as a .bgf file ({error})") from None
    _check_games(moves, name)
    return header + newline + payload, []


def _check_games(moves: list[int], name: str) -> None:
    """Raise `RecordError` if there are too many games, or too many `moves` in a game."""
    MATCH_GAMES.check(len(moves), name, RecordError)
    CONVERTED_MOVES.check(sum(moves), name, RecordError)
    for number, count in enumerate(moves, 1):
        GAME_MOVES.check(count, f"{name}: game {number}", RecordError)


def _parse(
    function: str,
    content: bytes,
    name: str,
    what: str,
    checked: Callable[[bytes, str], tuple[bytes, list[_Beavers]]],
) -> MatchRecord:
    try:
        convert: Callable[[bytes], dict[str, Any]] = getattr(import_module("gvformat"), function)
    except ImportError:
        kind, _, other = what.partition("; ")
        raise RecordError(
            f"{name}: reading {kind} requires gammonview: {install_command(_EXTRA)}; or {other}"
        ) from None
    content, beavers = checked(content, name)
    try:
        document = convert(content)
    # Catch any exception, because gammonview does little checking of its input.
    except Exception as error:
        reason = plain_text(" ".join(str(error).split())) or type(error).__name__
        if isinstance(error, struct.error):
            reason = "it is cut short"
        raise RecordError(f"{name}: gammonview cannot read it as {what} ({reason})") from None
    try:
        return _record(document, name, beavers)
    # A number out of range, such as a timestamp, is an OverflowError or an OSError.
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, OSError) as error:
        raise RecordError(f"{name}: gammonview finds no match in it ({plain_text(repr(error))})") from None


def _record(document: dict[str, Any], name: str, beavers: list[_Beavers]) -> MatchRecord:
    players = mat_name(str(document["player_white"] or "")), mat_name(str(document["player_black"] or ""))
    length = int(document.get("match_length") or 0)
    games: list[GameRecord] = []
    of_games = zip(document["games"], chain(beavers, repeat([])), strict=False)
    for number, (game, some) in enumerate(of_games, 1):
        before = games[-1].score_after if games else (0, 0)
        games.append(_game(game, f"{name}: game {number}", before, some, money=not length))
    record = MatchRecord(players, length, tuple(games), tuple(_tags(document, length)))
    return with_crawford(record, [game.get("is_crawford") for game in document["games"]])


def _game(
    game: dict[str, Any], where: str, before: tuple[int, int], beavers: _Beavers, *, money: bool
) -> GameRecord:
    plies = game["plies"]
    score = before
    if plies and (fields := plies[0]["ogid_before"].split(":")[_SCORES]):
        score = int(fields[0]), int(fields[1])
    recorder, place, replies = GameRecorder(money=money), where, iter(beavers)
    try:
        for number, ply in enumerate(plies, 1):
            place = f"{where}, action {number}"
            _record_ply(ply, recorder, replies)
        place = where
        if points := int(game.get("points_won") or 0):
            recorder.win(int(game["winner"]), points)
    except MotifError as error:
        raise RecordError(f"{place}: {error}") from None
    return recorder.record(score)


def _record_ply(ply: dict[str, Any], game: GameRecorder, beavers: Iterator[list[CubeKind]]) -> None:
    """Record one of gammonview's plies; a ply that marks the end of the game adds no action.

    A take is the next of `beavers`, if there is one.
    """
    kind, player = ply["action_id"], 0 if ply["color"] == _WHITE else 1
    # gammonview writes an illegal play as a set-up position with dice.
    if kind in _ROLLS or (kind == _SET_POSITION and ply.get("d1")):
        roll = checked_roll(ply["d1"], ply["d2"])
        after, _ = position_from_ogid(ply["ogid_after"])
        game.forfeit_before(player)
        game.add(Turn(player, roll, _play_to(after, game.position, roll)))
    elif kind == _DOUBLE:
        game.add(CubeAction(player, game.answer_to(player)))
    elif kind == _TAKE:
        answers: list[CubeKind] = next(beavers, []) or ["take"]
        for number, answer in enumerate(answers):
            game.add(CubeAction(player ^ number % 2, answer))
    elif kind == _DROP:
        game.add(CubeAction(player, "drop"))
    elif kind == _SET_POSITION:
        raise RecordError(SET_UP)


def _play_to(after: Position, before: Position, roll: tuple[int, int]) -> Play | None:
    """Return the play, legal or not, that leads from `before` to `after`; None if the roll was not played."""
    plays = legal_plays(before, roll)
    if same := [play for play in plays if play.position == after]:
        return same[0]
    if after.switch_sides() == before:
        return None
    change = np.maximum(after.switch_sides().board, 0) - np.maximum(before.board, 0)
    points = np.arange(len(change))[::-1]
    starts, ends = (np.repeat(points, np.maximum(count[::-1], 0)).tolist() for count in (-change, change))
    ends += [OFF] * (len(starts) - len(ends))
    if len(ends) <= len(starts) and 0 < len(starts) <= MAX_MOVES:
        play = illegal_play(list(zip(starts, ends, strict=True)), before, plays)
        if play is not None and play.position == after:
            return play
    raise RecordError("no play of the roll {}{} leads to the next position".format(*roll))


def _tags(document: dict[str, Any], length: int) -> Iterator[tuple[str, str]]:
    for tag, key in (("Event", "event"), ("Site", "site")):
        if text := " ".join(str(document.get(key) or "").replace('"', "'").split()):
            yield tag, text
    if seconds := document.get("timestamp"):
        yield "EventDate", datetime.fromtimestamp(seconds, UTC).strftime("%Y.%m.%d")
    if document.get("jacoby") and not length:
        yield "Jacoby", "On"
