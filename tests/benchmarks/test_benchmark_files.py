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


def money(chances) -> float:
    """Cubeless equity of the player on roll."""
    win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = chances
    return 2 * win - 1 + win_gammon + win_backgammon - lose_gammon - lose_backgammon


ROLLED_OUT = {
    AFTER_31: (0.4497, 0.1241, 0.0054, 0.1751, 0.0105),
    OTHER: (0.5433, 0.1602, 0.0081, 0.1295, 0.0071),
}
"""Chances of the next player on roll."""


def as_sagnubg_writes() -> str:
    """A decision with its rollouts, then cube positions, in the order of sagnubg."""
    equities = {key: -money(chances) for key, chances in ROLLED_OUT.items()}
    best, second = sorted(equities, key=equities.__getitem__, reverse=True)
    lines = [
        "s version 1.92 weights 0.16 nRollOutGames 1296 cubeAway 7",
        "r 1804289383",
        *(f"#R {key} {' '.join(map(str, ROLLED_OUT[key]))}" for key in (OTHER, AFTER_31)),
        f"m {START} 3 1 {best} {equities[best]} {second} {equities[best] - equities[second]}",
        "r 846930886",
        f"o {OTHER} 0.5433 0.1602 0.0081 0.1295 0.0071",
        f"o {START} 0.5215 0.1539 0.0076 0.1298 0.0075",
        f"c {START} 50.5 49.25 ND",
        LINE,
    ]
    return "\n".join(lines) + "\n"


def test_rollouts_belong_to_the_plays_listed_next(tmp_path):
    benchmark = read_benchmark(written(tmp_path, as_sagnubg_writes()))
    record = benchmark.record
    assert record.lines.tolist() == [5, 10]
    assert record.seeds.tolist() == [1804289383, -1]
    assert record.rollouts.lines.tolist() == [3, 4]
    assert record.rollouts.seeds.tolist() == [1804289383] * 2
    assert record.rollout_of.tolist() == [1, 0, -1, -1]
    for play, loss in enumerate(benchmark.losses[:2]):
        row = record.rollout_of[play]
        assert (record.rollouts.boards[row] == benchmark.listed[play]).all()
        equity = -money(record.rollouts.probabilities[row])
        assert record.equities[0] - equity == pytest.approx(loss, abs=1e-12)
    assert record.equities[1] == 0.15


def test_positions_for_the_cube(tmp_path):
    record = read_benchmark(written(tmp_path, as_sagnubg_writes())).record
    positions = record.cube_positions
    assert [position_key(Position(board)) for board in positions.boards] == [OTHER, START]
    assert positions.probabilities.tolist() == [
        list(ROLLED_OUT[OTHER]),
        [0.5215, 0.1539, 0.0076, 0.1298, 0.0075],
    ]
    assert positions.seeds.tolist() == [846930886, -1]
    assert positions.lines.tolist() == [7, 8]
    rollouts = record.cube_rollouts
    assert Position(rollouts.boards[0]) == Position.start()
    assert (rollouts.no_double[0], rollouts.double_take[0], rollouts.actions) == (50.5, 49.25, ("ND",))
    assert record.cube_decisions == 3


def test_a_file_of_decisions_alone_has_nothing_else(tmp_path):
    record = read_benchmark(written(tmp_path, LINE)).record
    assert (len(record.rollouts), record.cube_decisions, record.notes) == (0, 0, ())
    assert record.rollouts.boards.shape == (0, 26)
    assert record.rollouts.probabilities.shape == (0, 5)


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
    (f"#R {AFTER_31}", "expected '#R KEY' and five probabilities, got 2 words"),
    (f"o {AFTER_31} 1 0 0 0 0 0", "expected 'o KEY' and five probabilities, got 8 words"),
    (f"o {AFTER_31} 0.5 0.1 x 0.1 0", "'x' is not a number"),
    (f"o {AFTER_31} 0.5 1.1 0 0.1 0", "probability outside 0 to 1"),
    (f"#R {AFTER_31} 0.5 nan 0 0.1 0", "probability outside 0 to 1"),
    (f"#R {OTHER[1:]} 0.5 0 0 0.1 0", f"invalid position '{OTHER[1:]}'"),
    (f"c {START} 50 40", "expected 'c KEY NO_DOUBLE DOUBLE_TAKE ACTION', got 4 words"),
    (f"c {START} 50 40 take", "'take' is not one of ND, D/T, D/D, TG"),
    (f"c {START} 50 140 D/T", "match-winning probability outside 0 to 100"),
    ("r", "expected 'r SEED', got r"),
    ("r -1", "expected 'r SEED', got r -1"),
    ("r 1 2", "expected 'r SEED', got r 1 2"),
    ("r 9223372036854775808", "expected 'r SEED', got r 9223372036854775808"),
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
