"""Write a record of finished games like BGBlitz, as far as gammonview 3.1 reads it."""

import gzip
import struct
from typing import Any

from motif.board.game_record import CubeAction, GameRecord, MatchRecord

HEADER = b'{"format": "BGF", "version": "1.0"}\n'
MAGIC = b":)\n\x00"
_START = [0] * 26
for _point, _count in ((6, 5), (8, 3), (13, 5), (24, 2)):
    _START[25 - _point - 1] += _count
    _START[_point - 1] -= _count


def bgf_content(record: MatchRecord) -> bytes:
    """The bytes of a .bgf file."""
    return packed(smile(document(record)))


def packed(payload: bytes) -> bytes:
    """A .bgf file that contains the Smile document."""
    return HEADER + gzip.compress(payload, 1, mtime=0)


def document(record: MatchRecord) -> dict[str, Any]:
    """The document in the file; the first player is green."""
    games = [_game(game) for game in record.games]
    last = record.games[-1]
    final = list(last.score)
    if last.result is not None:
        final[last.result.winner] += last.result.points
    return {
        "nameGreen": record.players[0],
        "nameRed": record.players[1],
        "matchlen": record.length,
        "finalGreen": final[0],
        "finalRed": final[1],
        "games": games,
    }


def _game(game: GameRecord) -> dict[str, Any]:
    result = game.result
    return {
        "scoreGreen": game.score[0],
        "scoreRed": game.score[1],
        "isCrawford": False,
        "initial": {"cube": 1, "cubeOwner": 0, "points": _START},
        "moves": [_move(game, place) for place in range(len(game.actions))],
        "wonPoints": result.points if result else 0,
        "wasResignation": bool(result and result.resigned),
    }


def _move(game: GameRecord, place: int) -> dict[str, Any]:
    action = game.actions[place]
    nowhere = [-1] * 4
    one: dict[str, Any] = {"player": -1 if action.player == 0 else 1}
    if isinstance(action, CubeAction):
        # The double already contains the answer; the answer that follows adds no information.
        if action.kind != "double":
            return {**one, "from": nowhere, "to": nowhere}
        accepted = game.actions[place + 1 : place + 2] == (CubeAction(1 - action.player, "take"),)
        decision = {"hasDoubled": True, "hasAccepted": accepted}
        return {**one, "from": nowhere, "to": nowhere, "equity": {"cubeDecision": decision}}
    moves = action.play.moves if action.play else ()
    if not moves:
        dice = ([die, *nowhere[1:]] for die in action.roll)
        return {**one, **dict(zip(("from", "to"), dice, strict=True)), "dancingEquity": 0}
    starts, ends = ([*places, *nowhere][:4] for places in zip(*moves, strict=True))
    return {**one, "red": action.roll[0], "green": action.roll[1], "from": starts, "to": ends}


def smile(value: Any) -> bytes:
    """A document in Smile, without shared names."""
    return MAGIC + _value(value)


def _value(value: Any) -> bytes:
    if value is None or isinstance(value, bool):
        return {None: b"\x21", False: b"\x22", True: b"\x23"}[value]
    if isinstance(value, int):
        return b"\x24" + number(value)
    if isinstance(value, float):
        bits = int.from_bytes(struct.pack(">d", value))
        return b"\x29" + bytes(bits >> shift & 0x7F for shift in range(57, 0, -7)) + bytes([bits << 6 & 0x7F])
    if isinstance(value, str):
        return b"\xe4" + value.encode("utf-8", "surrogatepass") + b"\xfc"
    if isinstance(value, list):
        return b"\xf8" + b"".join(map(_value, value)) + b"\xf9"
    return b"\xfa" + b"".join(key(name) + _value(one) for name, one in value.items()) + b"\xfb"


def key(name: str) -> bytes:
    """The token of a key and at most 64 bytes of the key."""
    content = (name or " ").encode("utf-8", "surrogatepass")[:64]
    return bytes([0x80 + len(content) - 1]) + content


def number(value: int) -> bytes:
    """A whole number in six bits per byte, with the sign in the last bit."""
    rest = value << 1 if value >= 0 else (-value << 1) - 1
    digits = [rest & 63 | 0x80]
    while rest := rest >> 6:
        digits.insert(0, rest & 63)
    return bytes(digits)
