"""Write a record of finished games like eXtreme Gammon, as far as readers need it.

The positions of the fields are from the format's page (extremegammon.com/XGformat.aspx), as gammonview 3.1
reads them.
"""

import struct
import zlib
from itertools import takewhile

from motif.board.game_record import CubeAction, GameRecord, MatchRecord, Turn

_HEADER = 8232
_RECORD = 2560
_MATCH, _GAME, _CUBE, _MOVE, _GAME_END, _MATCH_END = range(6)
_RESIGNED = 100


def xg_content(record: MatchRecord) -> bytes:
    """The bytes of an .xg file."""
    records = [_match(record)]
    for number, game in enumerate(record.games, 1):
        records += [
            _entry(_GAME, (12, "ii", game.score), (20, "B", (bool(game.crawford),)), (48, "i", (number,)))
        ]
        records += [_cube(game, place) if isinstance(action, CubeAction) else _move(action)
                    for place, action in enumerate(game.actions)
                    if isinstance(action, Turn) or action.kind == "double"]  # fmt: skip
        if game.result is not None:
            kind = _RESIGNED * game.result.resigned + 1
            facts = (1 - 2 * game.result.winner, game.result.points, kind)
            records.append(_entry(_GAME_END, (24, "iii", facts)))
    records.append(_entry(_MATCH_END))
    header = bytearray(_HEADER)
    struct.pack_into("<4sIII", header, 0, b"RGMH", 1, _HEADER, _HEADER)
    return bytes(header) + zlib.compress(b"".join(records))


def _entry(kind: int, *fields: tuple[int, str, tuple]) -> bytes:
    content = bytearray(_RECORD)
    content[8] = kind
    for place, form, values in fields:
        struct.pack_into(f"<{form}", content, place, *values)
    return bytes(content)


def _match(record: MatchRecord) -> bytes:
    first, second = (name.encode("utf-16-le") for name in record.players)
    texts = (880, f"{len(first)}s", (first,)), (1138, f"{len(second)}s", (second,))
    length = record.length or 99999
    jacoby = ("Jacoby", "On") in record.tags
    # 25 October 2026, in days since the end of 1899.
    return _entry(
        _MATCH,
        (92, "i", (length,)),
        (100, "BB", (1, jacoby)),
        (128, "d", (46320.0,)),
        (612, "i", (10,)),
        *texts,
    )


def _cube(game: GameRecord, place: int) -> bytes:
    action, *answers = takewhile(lambda one: isinstance(one, CubeAction), game.actions[place:])
    # A roll accepts a beaver or raccoon.
    codes = [{"drop": 0, "take": 1, "beaver": 2, "raccoon": 2}[answer.kind] for answer in answers]
    return _entry(_CUBE, (12, "iiiii", (1 - 2 * action.player, 1, *codes, 1, 1)[:5]))


def _move(turn: Turn) -> bytes:
    moves = turn.play.moves if turn.play else ()
    places = [place - 1 for move in sorted(moves, reverse=True) for place in move]
    places = (*places, *[-1] * 8)[:8]
    mover = 1 - 2 * turn.player
    # One candidate, the play made.
    return _entry(_MOVE, (64, "i", (mover,)), (100, "ii", turn.roll), (120, "i", (1,)), (1024, "8b", places))
