"""Reading benchmark files, and saying which line is wrong."""

import gzip

import numpy as np
import pytest

from motif.benchmark import read_benchmark
from motif.board.identifiers import position_key
from motif.board.moves import legal_plays
from motif.board.position import Position
from motif.runtime.errors import BenchmarkError

START = "OAHDPAABDAOAHDPAABDA"
AFTER_31 = "LAGHPAABDAOAHDPAABDA"
OTHER = position_key(legal_plays(Position.start(), (3, 1))[-1].position)
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


def test_other_lines_are_passed_over(tmp_path):
    text = f"#R 1296 {START}\n\no {START} 1 2 whatever\ns version 1\n# m\n{LINE}\nmove\n  {LINE}\n#R\n"
    benchmark = read_benchmark(written(tmp_path, text))
    assert len(benchmark) == 2
    assert benchmark.offsets.tolist() == [0, 2, 4]


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
    (LINE.replace("3 1", "7 1", 1), "no roll: 7 1"),
    (LINE.replace("3 1", "3 0", 1), "no roll: 3 0"),
    (LINE.replace("3 1", "3 12", 1), "no roll: 3 12"),
    (LINE.replace("3 1", "3 x", 1), "no roll: 3 x"),
    (LINE.replace("0.15", "much"), "'much' is no number"),
    (LINE.replace("0.2", "little"), "'little' is no number"),
    (LINE.replace("0.2", "nan"), "a loss is not a finite number"),
    (LINE.replace("0.2", "inf"), "a loss is not a finite number"),
    (LINE.replace(START, START[:-1]), "no position in 'OAHDPAABDAOAHDPAABD'"),
    (LINE.replace(START, "PPPPPPPPPPPPPPPPPPPP"), "no position in 'PPPPPPPPPPPPPPPPPPPP'"),
    (LINE.replace(OTHER, "QQQQQQQQQQQQQQQQQQQQ"), "no position in 'QQQQQQQQQQQQQQQQQQQQ'"),
]


@pytest.mark.parametrize(("line", "problem"), BAD_LINES, ids=[row[1][:40] for row in BAD_LINES])
@pytest.mark.parametrize("before", [0, 3])
def test_bad_lines_are_named_by_their_number(tmp_path, line, problem, before):
    path = written(tmp_path, f"o {START}\n" + f"{LINE}\n" * before + f"{line}\n{LINE}\n")
    message = complaint(path)
    assert message.startswith(f"{path}: line {before + 2}: ")
    assert problem in message
    assert "\n" not in message


def test_a_file_without_decisions(tmp_path):
    for text in ("", "\n\n", f"o {START}\n"):
        path = written(tmp_path, text)
        assert complaint(path) == f"{path}: holds no decision (no line that starts with 'm')"


def test_files_that_cannot_be_read(tmp_path):
    assert complaint(tmp_path / "none.bm") == f"{tmp_path / 'none.bm'}: no such benchmark file"
    assert complaint(tmp_path).startswith(f"{tmp_path}: cannot be read: ")
    path = tmp_path / "latin.bm"
    path.write_bytes(b"m \xff\xfe")
    assert complaint(path).startswith(f"{path}: cannot be read: ")


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
