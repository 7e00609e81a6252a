"""Making benchmarks from positions: selection, contents, and dependence on the seed only."""

import json
from dataclasses import replace

import numpy as np
import pytest

from motif.benchmarks import benchmark_making, read_benchmark
from motif.benchmarks.benchmark_making import MakeSettings, make_benchmark, roller_of, selected
from motif.board.identifiers import position_key
from motif.board.moves import legal_plays
from motif.board.position import Position
from motif.evaluators import load_evaluator
from motif.evaluators.probabilities import equities
from motif.runtime.errors import BenchmarkError, MotifError, SettingError, WorkerError

BOARDS = np.concatenate([read_benchmark(f"tests/data/{name}.bm").boards[:80] for name in ("contact", "race")])
QUICK = MakeSettings(
    decisions=12, players="pubeval,keith-v1", rollers="pubeval", plays=3, most=1296, se=0.05, seed=4
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "own.bm"


def test_the_file_names_the_rolled_out_plays(path):
    made = make_benchmark(path, BOARDS, QUICK, jobs=1)
    benchmark = read_benchmark(path)
    record = benchmark.record
    assert (len(benchmark), len(benchmark.listed)) == (made.decisions, made.plays) == (12, 36)
    assert record.settings["players"] == "pubeval,keith-v1"
    # The lines have the probabilities of the player on roll after the play, and the equity of the best play.
    words = [line.split() for line in path.read_text().splitlines()]
    rolled = {key: np.array(chances, float) for kind, key, *chances in words if kind == "#R"}
    worth = -equities(np.array([rolled[position_key(Position(board))] for board in benchmark.listed]))
    first = np.repeat(benchmark.offsets[:-1], np.diff(benchmark.offsets))
    stated = [float(decision[5]) for decision in words if decision[0] == "m"]
    np.testing.assert_allclose(worth[benchmark.offsets[:-1]], stated, atol=1e-5)
    np.testing.assert_allclose(worth[first] - worth, benchmark.losses, atol=1e-5)
    for k, (board, roll) in enumerate(zip(benchmark.boards, benchmark.rolls, strict=True)):
        legal = {play.position for play in legal_plays(Position(board), tuple(roll.tolist()))}
        part = slice(*benchmark.offsets[k : k + 2])
        assert {Position(after) for after in benchmark.listed[part]} <= legal
    assert {board.tobytes() for board in benchmark.boards} <= {board.tobytes() for board in BOARDS}


def test_the_plays_of_all_players_are_listed(path):
    make_benchmark(path, BOARDS, QUICK, jobs=1)
    benchmark = read_benchmark(path)
    listed = {position_key(Position(board)) for board in benchmark.listed}
    for name in ("pubeval", "keith-v1"):
        chosen = load_evaluator(name).best_plays(benchmark.boards, benchmark.rolls).boards
        keys = {position_key(Position(board)) for board in chosen}
        assert keys <= listed
        said = [note.text.split() for note in benchmark.record.notes if note.text.startswith("#P")]
        assert {words[1] for words in said if name in words[2:]} == keys


def test_lookahead_changes_the_play_in_the_wanted_share():
    settings = replace(QUICK, decisions=20, disagree=0.6)
    boards, rolls, disagree = selected(BOARDS, settings, jobs=1)
    assert (len(boards), disagree) == (20, 12)
    shallow, deep = (
        load_evaluator(name).best_plays(boards, rolls).boards for name in ("pubeval", "pubeval@2")
    )
    assert (shallow != deep).any(axis=1).sum() >= 12


def test_no_decision_is_left_out():
    settings = replace(QUICK, players="simple", decisions=1000)
    everything, *_ = selected(BOARDS, replace(settings, disagree=0), jobs=1)
    differing, _, count = selected(BOARDS, replace(settings, disagree=1), jobs=1)
    assert 0 < len(differing) == count < len(everything)
    # One half at random, and of the other half those on which lookahead matters.
    found, *_ = selected(BOARDS, replace(settings, decisions=len(everything), disagree=0.5), jobs=1)
    assert len({board.tobytes() for board in found}) == len(found) > len(everything) / 2
    assert {board.tobytes() for board in differing} <= {board.tobytes() for board in found}


def test_positions_of_a_class_are_selected():
    race, *_ = selected(BOARDS, replace(QUICK, position_class="race", disagree=0), jobs=1)
    assert {board.tobytes() for board in race} <= {board.tobytes() for board in BOARDS[80:]}


def test_the_bytes_depend_on_the_seed_alone(path, tmp_path):
    files, few = [], replace(QUICK, decisions=5)
    for jobs, order in ((1, 1), (2, -1)):
        files.append(tmp_path / f"jobs-{jobs}.bm.gz")
        make_benchmark(files[-1], BOARDS[::order], few, jobs=jobs)
    assert files[0].read_bytes() == files[1].read_bytes()
    make_benchmark(path.with_suffix(".bm.gz"), BOARDS, replace(few, seed=5), jobs=1)
    assert path.with_suffix(".bm.gz").read_bytes() != files[0].read_bytes()


@pytest.fixture
def interrupted(path, monkeypatch):
    """A run interrupted at the fifth decision, with half a line written."""
    whole = benchmark_making.decided

    def decided(settings, number, *more):
        if number == 4:
            raise KeyboardInterrupt
        return whole(settings, number, *more)

    with monkeypatch.context() as patch:
        patch.setattr(benchmark_making, "decided", decided)
        with pytest.raises(KeyboardInterrupt):
            make_benchmark(path, BOARDS, QUICK, jobs=1)
    folder = path.with_name("own.bm.partial")
    lines = (folder / "decisions.jsonl").read_text("utf-8")
    assert lines.count("\n") == 4
    assert not path.exists()
    (folder / "decisions.jsonl").write_text(lines + '{"key": "OAHD', "utf-8")
    return folder


def test_an_interrupted_run_goes_on_to_the_same_bytes(path, interrupted, tmp_path):
    make_benchmark(path, BOARDS, QUICK, resume=True, jobs=1)
    make_benchmark(tmp_path / "undisturbed.bm", BOARDS, QUICK, jobs=1)
    assert path.read_bytes() == (tmp_path / "undisturbed.bm").read_bytes()
    assert not interrupted.exists()


@pytest.mark.parametrize(
    ("resume", "change", "boards", "said"),
    [
        (False, {}, BOARDS, "contains an interrupted run; continue it with --resume"),
        (True, {"se": 0.04, "seed": 9}, BOARDS, "the run was started with other settings (se, seed)"),
        (True, {}, BOARDS[:50], "the run was started with other positions or another version of motif"),
    ],
)
def test_a_run_goes_on_only_as_it_was_begun(path, interrupted, resume, change, boards, said):
    before = (interrupted / "decisions.jsonl").read_bytes()
    with pytest.raises(BenchmarkError) as fault:
        make_benchmark(path, boards, replace(QUICK, **change), resume=resume, jobs=1)
    assert str(fault.value) == f"{interrupted}: {said}"
    assert (interrupted / "decisions.jsonl").read_bytes() == before


def test_a_resumed_run_that_fails_can_be_resumed_again(path, interrupted, tmp_path, monkeypatch):
    def selected(*_):
        raise WorkerError("a worker process was killed")

    with monkeypatch.context() as patch:
        patch.setattr(benchmark_making, "selected", selected)
        with pytest.raises(WorkerError, match="a worker process was killed"):
            make_benchmark(path, BOARDS, QUICK, resume=True, jobs=1)
    assert {file.name for file in interrupted.iterdir()} == {"decisions.jsonl", "settings.json"}
    make_benchmark(path, BOARDS, QUICK, resume=True, jobs=1)
    make_benchmark(tmp_path / "undisturbed.bm", BOARDS, QUICK, jobs=1)
    assert path.read_bytes() == (tmp_path / "undisturbed.bm").read_bytes()


def test_a_new_run_takes_no_decisions_of_an_older_one(path, interrupted, tmp_path):
    (interrupted / "settings.json").unlink()
    make_benchmark(path, BOARDS, replace(QUICK, seed=5), jobs=1)
    make_benchmark(tmp_path / "undisturbed.bm", BOARDS, replace(QUICK, seed=5), jobs=1)
    assert path.read_bytes() == (tmp_path / "undisturbed.bm").read_bytes()


def test_there_must_be_something_to_go_on_with(path):
    with pytest.raises(BenchmarkError, match=r"own\.bm\.partial: no interrupted run to resume"):
        make_benchmark(path, BOARDS, QUICK, resume=True, jobs=1)


def test_positions_without_a_decision_leave_nothing_behind(path):
    with pytest.raises(BenchmarkError, match="no race decision between two plays among the 80 positions"):
        make_benchmark(path, BOARDS[:80], replace(QUICK, position_class="race"), jobs=1)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"decisions": 0}, "decisions must be at least 1, not 0"),
        ({"plays": 1}, "plays must be at least 2, not 1"),
        ({"most": 100}, "most must be at least 1296, not 100"),
        ({"disagree": 1.5}, "disagree must be 0 to 1, not 1.5"),
        ({"certain": 1.0}, "certain must be above 0.5 and below 1, not 1.0"),
        ({"se": 0.0}, "se must be above 0 and finite, not 0.0"),
        (
            {"position_class": "bearoff"},
            "position_class must be any, contact, crashed or race, not 'bearoff'",
        ),
        ({"rollers": " , "}, "rollers must name a player, not ' , '"),
        ({"players": "nobody"}, "no player is called 'nobody'"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_settings_that_make_no_sense_are_refused(change, said):
    with pytest.raises(MotifError) as fault:
        replace(QUICK, **change).check()
    assert said in str(fault.value)
    assert isinstance(fault.value, SettingError) or "nobody" in said


def test_luck_is_subtracted_where_trials_are_expensive():
    plain, adjusted = roller_of("pubeval", 1), roller_of("pubeval@1", 1)
    assert plain.portion > adjusted.portion
    assert plain.cost < adjusted.cost


def test_what_was_made_can_be_written_as_json(path):
    made = make_benchmark(path, BOARDS, replace(QUICK, decisions=2), jobs=1)
    assert json.loads(json.dumps(made.to_dict()))["path"] == str(path)
