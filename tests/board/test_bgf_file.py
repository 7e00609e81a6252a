"""BGBlitz files: read with gammonview, and refused in advance where gammonview would hang or crash."""

from dataclasses import replace

import pytest

from motif.board.game_record import MatchRecord
from motif.board.smile import SmileError, list_lengths
from motif.board.xg_file import parse_bgf
from motif.runtime.errors import RecordError
from motif.runtime.limits import BGF_VALUES, GAME_MOVES
from tests.board.bgf_writer import HEADER, MAGIC, bgf_content, document, key, number, packed, smile

gvformat = pytest.importorskip("gvformat")

from tests.board.test_xg_file import match as random_match  # noqa: E402


def match(seed: int) -> MatchRecord:
    """Random finished games with consistent scores."""
    record = random_match(seed)
    games, score = [], (0, 0)
    for game in record.games:
        games.append(replace(game, score=score))
        assert game.result is not None
        points = [0, 0]
        points[game.result.winner] = game.result.points
        score = score[0] + points[0], score[1] + points[1]
    return MatchRecord(record.players, 0, tuple(games))


@pytest.mark.parametrize("seed", range(8))
def test_files_of_bgblitz(seed):
    record = match(seed)
    assert parse_bgf(bgf_content(record), "match.bgf") == record


def test_a_payload_that_is_not_packed():
    record = match(1)
    assert parse_bgf(HEADER + smile(document(record)), "match.bgf") == record


@pytest.mark.parametrize("seed", range(4))
def test_lists_are_counted(seed):
    record = match(seed)
    counts = [len(game.actions) for game in record.games]
    assert list_lengths(smile(document(record)), "moves", "some", RecordError) == counts


def lengths(value: object, wanted: str = "a") -> list[int]:
    return list_lengths(smile(value), wanted, "some", RecordError)


def test_lists_in_lists():
    assert lengths([]) == lengths({}) == lengths(3) == lengths("a") == []
    assert lengths({"a": []}) == [0]
    assert lengths({"b": [1, 2], "a": [[1, 2], {"a": ["x", None, True]}], "c": {"a": [1.5]}}) == [2, 3, 1]


def test_names_that_are_shared():
    shared = MAGIC[:3] + b"\x01\xfa" + key("a") + b"\xf8\xc0\xf9\x40\xf8\xc0\xc0\xf9\xfb"
    assert list_lengths(shared, "a", "some", RecordError) == [1, 2]
    assert gvformat.bgf.decode_smile(shared) == {"a": [0, 0]}
    with pytest.raises(SmileError, match="damaged at byte"):
        list_lengths(MAGIC + shared[4:], "a", "some", RecordError)


@pytest.mark.parametrize(
    "payload",
    [
        b"", b"no Smile", MAGIC, MAGIC + b"\xfa", MAGIC + b"\xf8", MAGIC + b"\x24", MAGIC + b"\xe4abc",
        MAGIC + b"\x24" + b"\1" * 12 + b"\x80", MAGIC + b"\x01", MAGIC + b"\xfa\x01",
        MAGIC + b"\xf8" * 10_000,
        MAGIC + b"\xfa" + key("points") + b"\xf8\x24" + number(31) + b"\xf9\xfb",
        MAGIC + b"\xfa" + key("from") + b"\xf8\x24" + number(6_780_581) + b"\xf9\xfb",
        MAGIC + b"\xfa" + key("to") + b"\xf8\x24" + number(-6_780_581) + b"\xf9\xfb",
        MAGIC + b"\xfa" + key("move") + b"\x4a6780581/3 1\xfb",
        MAGIC + b"\xfa" + key("points") + b"\xf8\x28\0\0\0\0\xf9\xfb",
    ],
)  # fmt: skip
def test_damaged_payloads(payload):
    with pytest.raises(SmileError):
        list_lengths(payload, "a", "some", RecordError)
    with pytest.raises(RecordError, match=r"^match\.bgf: gammonview cannot read it as a \.bgf file"):
        parse_bgf(packed(payload), "match.bgf")


def test_games_of_many_moves():
    game = {"moves": [None] * GAME_MOVES.size}
    assert lengths({"games": [game]}, "moves") == [GAME_MOVES.size]
    game["moves"].append(None)
    with pytest.raises(
        RecordError, match=r"^match\.bgf: game 1: the file holds more than 1,000 moves in a game"
    ):
        parse_bgf(packed(smile({"games": [game]})), "match.bgf")
    games = {"games": [{"moves": [None] * 900}] * 23}
    with pytest.raises(RecordError, match=r"^match\.bgf: the file holds more than 20,000 moves"):
        parse_bgf(packed(smile(games)), "match.bgf")


def test_many_values():
    payload = MAGIC + b"\xf8" + b"\x21" * (BGF_VALUES.size + 1) + b"\xf9"
    with pytest.raises(RecordError, match=r"^match\.bgf: the file holds more than 3,000,000 values"):
        parse_bgf(packed(payload), "match.bgf")
