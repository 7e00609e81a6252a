"""Results of games for calibration: from datasets, match files, and your own CSVs."""

import gzip

import numpy as np
import pytest

from motif.board.identifiers import gnubg_ids
from motif.runtime import limits
from motif.runtime.errors import DatasetError, RecordError, SettingError
from motif.runtime.limits import Limit
from motif.sampling import game_results as module
from motif.sampling.dataset import joined, read_dataset
from motif.sampling.dataset_files import read_manifest
from motif.sampling.game_results import PositionResults, ScoreResults, csv_results, read_results
from motif.sampling.recorded_games import finished, read_games
from motif.sampling.sample import SampleSettings, sample
from tests.games import some_boards
from tests.sampling.folders import made

START = "4HPwATDgc/ABMA"


def written(folder, text, name="results.csv"):
    path = folder / name
    content = text.encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def test_match_files_give_what_sampling_by_outcome_gives(matches, tmp_path):
    results = read_results([matches])
    settings = SampleSettings(player="motif-v1", label="outcome")
    sample(settings, tmp_path / "ds", recorded=finished(read_games([matches])), jobs=1)
    wanted, found = read_dataset(tmp_path / "ds"), joined(results.parts)
    for name in ("boards", "probabilities", "equity", "trials", "game", "ply", "chosen", "position_class"):
        assert np.array_equal(getattr(wanted, name), getattr(found, name)), name
    assert results.positions == len(found) > 100
    assert results.name == str(matches)


def test_files_and_folders_are_taken_together(matches):
    every, one = read_results([matches]), read_results([matches / "0.mat"])
    both = read_results([matches / "0.mat", matches])
    assert both.positions == every.positions + one.positions
    assert both.name == "4 match files"
    assert len({each.fingerprint for each in (every, one, both)}) == 3


def test_a_dataset(tmp_path):
    folder = made(tmp_path / "ds")
    results = read_results([folder])
    assert results.fingerprint == read_manifest(folder).fingerprint
    assert results.positions == len(joined(results.parts)) == len(read_dataset(folder))


@pytest.mark.parametrize("name", ["results.csv", "results.csv.gz", "RESULTS.CSV"])
def test_positions(tmp_path, name):
    boards = some_boards("pubeval", 40, seed=2)
    rows = "".join(f"{number // 7},{id},x,{number % 2}\n" for number, id in enumerate(gnubg_ids(boards)))
    results = read_results([written(tmp_path, f"game,Position_ID,note,outcome\n{rows}", name)])
    assert isinstance(results, PositionResults)
    samples = joined(results.parts)
    assert np.array_equal(samples.boards, boards)
    assert samples.probabilities[:, 0].tolist() == [number % 2 for number in range(40)]
    assert samples.game.tolist() == [number // 7 for number in range(40)]


@pytest.mark.parametrize(
    ("text", "chances"),
    [
        ("S_me,outcome\n47.5,1\n100,0\n", [0.475, 1.0]),
        ("\ufeffscore , outcome\r\n\r\n 0 , 0\r\n50,1.0", [0.0, 0.5]),
        ('"chance","outcome"\n"0.25","0"\n1e-1,1\n', [0.25, 0.1]),
    ],
)
def test_scores(tmp_path, text, chances):
    results = read_results([written(tmp_path, text)])
    assert isinstance(results, ScoreResults)
    assert results.chances == pytest.approx(chances)
    assert results.game.tolist() == [0, 1]


def test_many_lines_and_games_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_LINES_AT_ONCE", 7)
    rows = "".join(f"{number},{number % 2},game {number // 3}\n" for number in range(100))
    results = csv_results(written(tmp_path, f"score,outcome,game\n{rows}"))
    assert results.chances == pytest.approx(np.arange(100) / 100)
    assert results.game.tolist() == [number // 3 for number in range(100)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: '': the first line must name the columns: outcome, and one of position, score"),
        ("50,1\n", "line 1: '50,1': the first line must name the columns"),
        ("score,chance,outcome\n", "line 1: 'score,chance,outcome': the first line must name the columns"),
        ("score,S_me,outcome\n", "line 1: the column score occurs twice"),
        ("score,outcome\n", "no results follow the column names"),
        ("score,outcome\n50,1\n50\n", "line 3: there must be 2 values, not 1"),
        ("score,outcome\n50,2\n", "line 2: outcome must be 0 or 1, not '2'"),
        ("score,outcome\n50,won\n", "line 2: outcome must be 0 or 1, not 'won'"),
        ("score,outcome\n101,1\n", "line 2: score must be a number from 0 to 100, not '101'"),
        ("score,outcome\nnan,1\n", "line 2: score must be a number from 0 to 100, not 'nan'"),
        ("chance,outcome\n\n1.5,1\n", "line 3: chance must be a number from 0 to 1, not '1.5'"),
        (f"position,outcome\n{START},1\n4HPwATDgc/ABM,1\n", "line 3: "),
        ('score,outcome\n"50,1\n', "line 2: not valid CSV: "),
        ("score,outcome\n" + "5" * 20_000 + ",1\n", "line 2: the file holds more than 10,000 characters"),
    ],
)
def test_bad_lines_are_named(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(DatasetError) as error:
        read_results([path])
    assert str(error.value).startswith(f"{path}: {message}")
    assert "\n" not in str(error.value)


def test_large_and_damaged_files_are_refused(tmp_path, monkeypatch):
    path = written(tmp_path, "score,outcome\n" + "50,1\n" * 100, "results.csv.gz")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DatasetError, match="truncated"):
        read_results([path])
    for name, limit in (
        ("OUTCOMES_LINES", Limit(50, "lines")),
        ("OUTCOMES_UNPACKED", Limit(100, "bytes unpacked")),
        ("OUTCOMES_FILE", Limit(10, "bytes")),
    ):
        path = written(tmp_path, "score,outcome\n" + "50,1\n" * 100, "results.csv.gz")
        with monkeypatch.context() as patched:
            patched.setattr(module, name, limit)
            with pytest.raises(DatasetError, match=f"more than {limit.most} "):
                read_results([path])
    assert limits.OUTCOMES_LINES.most >= 1_000_000


def test_kinds_of_sources_cannot_be_mixed(matches, tmp_path):
    path, folder = written(tmp_path, "score,outcome\n50,1\n"), made(tmp_path / "ds")
    for paths in ([path, matches], [matches, folder], [path, path]):
        with pytest.raises(SettingError, match="a dataset or a CSV is read alone, not with other sources"):
            read_results(paths)


def test_missing_sources(matches, tmp_path):
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "empty", tmp_path / "missing"):
        with pytest.raises(DatasetError, match="not a dataset"):
            read_results([path])
    for name, kind in (("missing.csv", DatasetError), ("missing.mat", RecordError)):
        with pytest.raises(kind, match=f"{name}: cannot be read"):
            read_results([tmp_path / name])
    with pytest.raises(RecordError):
        read_results([matches / "0.mat", written(tmp_path, "hello", "hello.txt")])
