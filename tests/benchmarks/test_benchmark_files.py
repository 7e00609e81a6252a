"""Reading benchmark files, and naming bad lines."""

import gzip

import numpy as np
import pytest

from motif.benchmarks import read_benchmark
from motif.board.identifiers import position_key
from motif.board.moves import legal_plays
from motif.board.position import Position
from motif.runtime.errors import BenchmarkError

START = "OAHDPAABDAOAHDPAABDA"
AFTER_31 = "LAGHPAABDAOAHDPAABDA"
OTHER = position_key(legal_plays(Position.start(), (3, 1))[-1].position)
BORNE_OFF = "OAHDPAABDAAAAAAAAAAA"
LINE = f"m {START} 3 1 {AFTER_31} 0.15 {OTHER} 0.2"


def complaint(path) -> str:
    with pytest.raises(BenchmarkError) as caught:
        read_benchmark(path)
    return str(caught.value)


def written(tmp_path, text: str):
    path = tmp_path / "some.bm"
    path.write_text(text)
    return path


def test_a_line(tmp_path):
    benchmark = read_benchmark(written(tmp_path, LINE + "\n"))
    assert len(benchmark) == 1
    assert benchmark.path == str(tmp_path / "some.bm")
    assert Position(benchmark.boards[0]) == Position.start()
    assert benchmark.rolls.tolist() == [[3, 1]]
    assert benchmark.offsets.tolist() == [0, 2]
    assert benchmark.losses.tolist() == [0.0, 0.2]
    plays = {play.position: play.notation for play in legal_plays(Position.start(), (3, 1))}
    assert plays[Position(benchmark.listed[0])] == "8/5 6/5"
    assert [position_key(Position(board)) for board in benchmark.listed] == [AFTER_31, OTHER]


def test_the_dice_may_come_in_any_order(tmp_path):
    benchmark = read_benchmark(written(tmp_path, LINE.replace("3 1", "1 3", 1)))
    assert benchmark.rolls.tolist() == [[3, 1]]


def test_a_single_listed_play(tmp_path):
    benchmark = read_benchmark(written(tmp_path, f"m {START} 3 1 {AFTER_31} -1.5"))
    assert benchmark.offsets.tolist() == [0, 1]
    assert benchmark.losses.tolist() == [0.0]


def test_other_lines_are_kept_as_they_are(tmp_path):
    text = f"# made up\n\n  e {START} \ns version 1.92\n# m\n{LINE}\nmove\n  {LINE}\n#Resumed\n"
    benchmark = read_benchmark(written(tmp_path, text))
    assert len(benchmark) == 2
    assert benchmark.offsets.tolist() == [0, 2, 4]
    assert benchmark.record.lines.tolist() == [6, 8]
    assert benchmark.record.notes == (
        (1, "# made up"),
        (3, f"e {START}"),
        (4, "s version 1.92"),
        (5, "# m"),
        (7, "move"),
        (9, "#Resumed"),
    )


def test_settings_are_known_by_name(tmp_path):
    text = f"s version 1.92 nRollOutGames 1296\n{LINE}\ns nRollOutGames 12960\ns odd\n"
    settings = read_benchmark(written(tmp_path, text)).record.settings
    assert settings == {"version": "1.92", "nRollOutGames": "12960"}


OTHER_LINES = [
    "r 1804289383",
    f"#R {OTHER} 0.5433 0.1602 0.0081 0.1295 0.0071",
    f"o {OTHER} 0.5433 0.1602 0.0081 0.1295 0.0071",
    f"c {START} 50.5 49.25 ND",
    "r",
    f"#R {OTHER[1:]} 0.5 nan 0 0.1",
    f"o {AFTER_31} 0.5 1.1 x 0.1 0 0",
    f"c {START} 50 140 take",
]
"""Lines of other kinds, as sagnubg writes them, and invalid ones."""


def test_cube_decisions_are_counted_and_other_kinds_kept_unread(tmp_path):
    benchmark = read_benchmark(written(tmp_path, "\n".join([*OTHER_LINES, LINE])))
    assert len(benchmark) == 1
    assert benchmark.record.cube_decisions == 4
    assert [note.text for note in benchmark.record.notes] == OTHER_LINES


def test_a_file_of_decisions_alone_has_nothing_else(tmp_path):
    record = read_benchmark(written(tmp_path, LINE)).record
    assert (record.cube_decisions, record.notes) == (0, ())


def test_a_compressed_file(tmp_path):
    text = LINE + "\n" + LINE.replace("3 1", "6 6", 1) + "\n"
    plain, packed = written(tmp_path, text), tmp_path / "some.bm.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    one, other = read_benchmark(plain), read_benchmark(packed)
    assert other.path == str(packed)
    for name in ("boards", "rolls", "offsets", "listed", "losses"):
        assert np.array_equal(getattr(one, name), getattr(other, name))


BAD_LINES: list[tuple[str, str]] = [
    ("m", "expected 'm KEY die die PLAY EQUITY [PLAY LOSS]...', got 1 words"),
    (f"m {START} 3 1 {AFTER_31}", "expected 'm KEY die die PLAY EQUITY [PLAY LOSS]...', got 5 words"),
    (LINE + " XYZ", "expected 'm KEY die die PLAY EQUITY [PLAY LOSS]...', got 9 words"),
    (LINE.replace("3 1", "7 1", 1), "invalid roll: 7 1"),
    (LINE.replace("3 1", "3 0", 1), "invalid roll: 3 0"),
    (LINE.replace("3 1", "3 12", 1), "invalid roll: 3 12"),
    (LINE.replace("3 1", "3 x", 1), "invalid roll: 3 x"),
    (LINE.replace("0.15", "much"), "'much' is not a number"),
    (LINE.replace("0.2", "little"), "'little' is not a number"),
    (LINE.replace("0.15", "inf"), "the equity is not finite"),
    (LINE.replace("0.2", "-0.2"), "negative loss: the first play is not the best"),
    (LINE.replace(START, BORNE_OFF), "the game is over"),
    (LINE.replace("0.2", "nan"), "a loss is not finite"),
    (LINE.replace("0.2", "inf"), "a loss is not finite"),
    (LINE.replace(START, START[:-1]), "invalid position 'OAHDPAABDAOAHDPAABD'"),
    (LINE.replace(START, "PPPPPPPPPPPPPPPPPPPP"), "invalid position 'PPPPPPPPPPPPPPPPPPPP'"),
    (LINE.replace(OTHER, "QQQQQQQQQQQQQQQQQQQQ"), "invalid position 'QQQQQQQQQQQQQQQQQQQQ'"),
]


@pytest.mark.parametrize(("line", "problem"), BAD_LINES, ids=[row[1][:40] for row in BAD_LINES])
@pytest.mark.parametrize("before", [0, 3])
def test_bad_lines_are_named_by_their_number(tmp_path, line, problem, before):
    path = written(tmp_path, f"# {START}\n" + f"{LINE}\n" * before + f"{line}\n{LINE}\n")
    message = complaint(path)
    assert message.startswith(f"{path}: line {before + 2}: ")
    assert problem in message
    assert "\n" not in message


def test_a_file_without_decisions(tmp_path):
    for text in ("", "\n\n", f"# {START}\n", "r 1\n"):
        path = written(tmp_path, text)
        assert complaint(path) == f"{path}: the file has no decisions (no line starts with 'm')"


def test_files_that_cannot_be_read(tmp_path):
    assert complaint(tmp_path / "none.bm") == f"{tmp_path / 'none.bm'}: no such benchmark file"
    assert complaint(tmp_path).startswith(f"{tmp_path}: cannot be read: ")
    path = tmp_path / "latin.bm"
    path.write_bytes(b"m \xff\xfe")
    assert complaint(path) == f"{path}: line 1: a benchmark file must contain only ASCII text"


def test_damaged_compressed_files(tmp_path):
    path = tmp_path / "some.bm.gz"
    whole = gzip.compress("".join(f"{LINE} {number}\n{LINE}\n" for number in range(50)).encode())
    damaged = [b"no gzip at all", whole[: len(whole) // 2], whole[:-3]]
    damaged += [whole[:k] + bytes([whole[k] ^ 0xFF]) + whole[k + 1 :] for k in range(10, len(whole), 3)]
    for content in damaged:
        path.write_bytes(content)
        message = complaint(path)
        assert message.startswith(f"{path}: ")
        assert "\n" not in message
