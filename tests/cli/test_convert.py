"""The command convert: matches and datasets, from one format to another."""

import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from motif.board.identifiers import gnubg_id
from motif.board.mat_file import mat_text, parse_mat
from motif.board.match_file import read_match
from motif.board.position import Position
from motif.sampling import label_files
from motif.sampling.dataset import read_dataset
from tests.board.test_mat_file import BY_GNUBG, played
from tests.board.xg_writer import xg_content

RECORD = parse_mat(BY_GNUBG)
CSV = "position_id,win,win_g,win_bg,lose_g,lose_bg\n4HPwATDgc/ABMA,0.52,0.15,0.01,0.13,0.005\n"


@pytest.fixture
def mat(tmp_path):
    path = tmp_path / "ann.mat"
    path.write_text(mat_text(RECORD))
    return path


def test_labels_may_follow_many_comments(motif_json, tmp_path):
    training, csv = tmp_path / "training.txt", tmp_path / "labels.csv"
    comments = "# Made for a test of the format of training lines.\n" * 200
    training.write_text(f"{comments}\nOAHDPAABDAOAHDPAABDA 0.52 0.15 0.01 0.13 0.005\n")
    motif_json("convert", training, csv)
    assert csv.read_text().splitlines()[0] == CSV.splitlines()[0]
    assert len(csv.read_text().splitlines()) == 2


def test_a_match_there_and_back(motif, motif_json, mat, tmp_path):
    sgf, again = tmp_path / "ann.sgf", tmp_path / "again.mat"
    assert motif_json("convert", mat, sgf) == {"games": 3, "files": 1, "illegal_plays": 0, "out": str(sgf)}
    assert read_match(sgf) == RECORD
    ending = motif("convert", sgf, again)
    assert (ending.code, ending.out, ending.err) == (0, f"3 games of 1 match in {again}\n", "")
    assert again.read_text() == mat.read_text()


def test_illegal_plays_are_counted_and_kept(motif, tmp_path):
    made, sgf = tmp_path / "made.mat", tmp_path / "made.sgf"
    made.write_text(" 5 point match\n\n Game 1\n Ann : 0   Bob : 0\n  1) 31: 8/5   64: 24/14\n")
    ending = motif("convert", made, sgf)
    said = "motif: 1 illegal play converted as recorded; `motif analyse` lists them\n"
    assert (ending.code, ending.err) == (0, said)
    assert read_match(sgf) == read_match(made)


def test_no_file_is_converted_to_itself(motif, mat, tmp_path):
    labels, linked = tmp_path / "labels.csv", tmp_path / "linked.mat"
    labels.write_text(CSV)
    linked.symlink_to(mat)
    before = mat.read_bytes(), labels.read_bytes()
    for words in ((mat, mat), (mat, linked), (labels, labels), (mat, tmp_path)):
        ending = motif("convert", *words)
        assert ending.code == 2
        assert ending.err.endswith("is also read; name another file\n")
    assert (mat.read_bytes(), labels.read_bytes()) == before


def test_standard_input_into_a_folder(motif_json, mat, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(mat.read_bytes())))
    motif_json("convert", "-", tmp_path / "out", "--to", "sgf")
    assert read_match(tmp_path / "out" / "match.sgf") == RECORD


def test_a_folder_of_matches(motif_json, mat, tmp_path):
    pytest.importorskip("gvformat")
    folder, out = tmp_path / "many", tmp_path / "out"
    folder.mkdir()
    finished = next(
        record
        for record in map(played, range(50))
        if all(game.result and game.actions[-1].__class__.__name__ == "Turn" for game in record.games)
        and not any(game.result.resigned for game in record.games)
    )
    (folder / "two.xg").write_bytes(xg_content(finished))
    mat.rename(folder / "one.mat")
    (folder / "notes.txt").write_text("nothing")
    facts = {"games": 6, "files": 2, "illegal_plays": 0, "out": str(out)}
    assert motif_json("convert", folder, out, "--to", "sgf") == facts
    assert sorted(path.name for path in out.iterdir()) == ["one.sgf", "two.sgf"]
    assert read_match(out / "two.sgf").games == finished.games
    motif_json("convert", out / "one.sgf", out / "two.sgf", tmp_path / "back")
    assert read_match(tmp_path / "back" / "one.mat") == RECORD


@pytest.mark.parametrize("suffix", ["csv", "txt"])
def test_a_dataset_there_and_back(motif, motif_json, dataset, tmp_path, suffix):
    labels, again = tmp_path / f"labels.{suffix}", tmp_path / "again"
    samples = read_dataset(dataset)[::8]
    samples.write(tmp_path / "some")
    assert motif_json("convert", tmp_path / "some", labels)["rows"] == len(samples) > 500
    assert motif_json("convert", labels, again) == {"rows": len(samples), "doubtful": 0, "out": str(again)}
    read = read_dataset(again)
    assert (read.boards == samples.boards).all()
    assert (read.probabilities == samples.probabilities).all()
    assert np.allclose(read.equity, samples.equity, atol=1e-6)
    assert (read.position_class == samples.position_class).all()
    other = tmp_path / {"csv": "other.txt", "txt": "other.csv"}[suffix]
    back = tmp_path / f"back.{suffix}"
    motif_json("convert", labels, other)
    motif_json("convert", other, back)
    assert back.read_text() == labels.read_text()


def test_lost_checkers_are_reported(motif, tmp_path):
    lost = Position.from_points({24: 2, 13: 5, 8: 3, 6: 5}, {24: 1, 13: 5, 8: 3, 6: 5})
    late = Position.from_points({25: 1, 6: 5}, {24: 1, 6: 5, 5: 5})
    labels = tmp_path / "labels.csv"
    rows = "".join(f"{gnubg_id(position)},0.5,0.1,0,0.1,0\n" for position in (lost, late))
    labels.write_text(CSV + rows)
    ending = motif("convert", labels, tmp_path / "kept")
    assert (ending.code, ending.out) == (0, f"3 positions in {tmp_path / 'kept'}\n")
    assert ending.err.startswith("motif: checkers of the opponent are missing in 1 positions")
    ending = motif("convert", labels, tmp_path / "dropped", "--drop-doubtful")
    assert "skipped" in ending.err
    assert len(read_dataset(tmp_path / "dropped")) == 2


@pytest.mark.parametrize(
    "content",
    [
        "position_id,win,lose_g,lose_bg,win_g,win_bg\n4HPwATDgc/ABMA,0.52,0.13,0.005,0.15,0.01\n",
        '"win_g","win","position_id","lose_g","win_bg","lose_bg"\n'
        '"0.15","0.52","4HPwATDgc/ABMA","0.13","0.01","0.005"\n',
        ",position,win,win_gammon,win_backgammon,lose_gammon,lose_backgammon,game,cls\n"
        "0,4HPwATDgc/ABMA,0.52,0.15,0.01,0.13,0.005,7,contact\n",
        "\ufeffPosition_ID, " + CSV.partition(",")[2],
    ],
    ids=["reordered", "quoted", "data frame", "spaces"],
)
def test_columns_are_read_by_their_names(motif_json, tmp_path, content):
    labels, other = tmp_path / "labels.csv", tmp_path / "other.csv"
    labels.write_text(content, encoding="utf-8")
    assert motif_json("convert", labels, other)["rows"] == 1
    assert other.read_text() == CSV


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            "position_id,foo,bar,a,b,c\n4HPwATDgc/ABMA,0.52,0.15,0.01,0.13,0.005\n",
            "the header lacks the column win: it must be position_id,win,",
        ),
        (CSV.replace("lose_bg", "win"), "the header has two columns win"),
        (CSV.replace("position_id", "id"), "the header lacks the column position_id"),
        (CSV.partition("\n")[2], "the header is missing: the first line must be position_id,win,"),
    ],
)
def test_other_headers_are_refused(motif, tmp_path, content, said):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    ending = motif("convert", path, tmp_path / "out")
    assert ending.code == 2
    assert ending.err.startswith(f"motif: error: {path}: line 1: {said}")
    assert ending.err.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (CSV.replace("4HPwATDgc", "8HPwATDgc"), "line 2: invalid position '8HPwATDgc/ABMA'"),
        (CSV.replace("0.52", "1.52"), "line 2: '4HPwATDgc/ABMA,1.52,0.15,0.01,0.13,0.005': the chances must"),
        (CSV.replace("0.52", "nan"), "the chances must be numbers"),
        (CSV.replace("0.52", "half"), "the chances must be numbers"),
        (CSV.replace("0.52", "0.\u0665\u0662"), "the chances must be numbers"),
        (CSV.replace("0.52", "0.5_2"), "the chances must be numbers"),
        (CSV.replace(",0.005", ""), "is not a position with five chances"),
        ("# x\nOAHDPAABDAOAHDPAABDA 1 0 0\n", "line 2: 'OAHDPAABDAOAHDPAABDA 1 0 0' is not a position"),
    ],
)
def test_bad_labels_are_one_line(motif, tmp_path, content, said):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    ending = motif("convert", path, tmp_path / "out")
    assert (ending.code, ending.out) == (2, "")
    assert f"{path}: line 2: " in ending.err
    assert said in ending.err
    assert ending.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "no labelled positions: wildbg's CSV begins with position_id,"),
        ("\n\n", "no labelled positions: wildbg's CSV begins with position_id,"),
        (CSV.partition("\n")[0], "no labelled positions after the names of the columns"),
    ],
)
def test_a_csv_without_positions_is_refused(fault, tmp_path, content, said):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    for target in ("out", "other.csv"):
        assert fault("convert", path, tmp_path / target).startswith(f"{path}: {said}")
    assert list(tmp_path.iterdir()) == [path]


def test_a_conversion_that_is_refused_late_leaves_nothing(motif, tmp_path, monkeypatch):
    monkeypatch.setattr(label_files, "ROWS_A_PART", 1)
    monkeypatch.setattr(label_files, "_LINES_AT_ONCE", 1)
    path = tmp_path / "bad.csv"
    path.write_text(CSV + CSV.splitlines()[1].replace("0.52", "half") + "\n")
    ending = motif("convert", path, tmp_path / "deep" / "out")
    assert ending.code == 2
    assert "line 3: " in ending.err
    assert list(tmp_path.iterdir()) == [path]


def test_bad_calls_are_one_line(motif, mat, dataset, tmp_path):
    for words, said in (
        ([], "missing argument 'IN...'"),
        ([mat], "error: OUT: missing file or folder to write\n"),
        ([mat, "--to", "sgf"], "error: OUT: missing file or folder to write\n"),
        (
            [mat, mat, out := tmp_path / "both.sgf"],
            f"error: {out}: several matches are written to a folder, not to a .sgf file",
        ),
        ([mat, dataset, tmp_path / "out"], "cannot be converted together"),
        ([mat, out := tmp_path / "ann.xg"], f"error: {out}: the suffix of a match file must be .mat or .sgf"),
        ([mat, tmp_path / "ann.sgf", "--to", "mat"], "--to mat:"),
        ([mat, tmp_path / "x" / mat.name, tmp_path / "out"], "would both be written to"),
        ([mat, tmp_path, "--to", "xg"], "--to must be mat or sgf, not xg"),
        (
            [mat, tmp_path / "a.mat", "--drop-doubtful"],
            "--drop-doubtful applies to files of labelled positions",
        ),
        ([dataset, tmp_path / "out"], "the suffix of labelled positions must be .csv or .txt"),
        ([dataset, tmp_path / "out.csv", "--to", "mat"], "--to applies only to matches"),
        ([tmp_path / "none.mat", tmp_path / "b.mat"], "none.mat: cannot be read: No such file"),
        (
            [tmp_path / "none", tmp_path / "b.csv"],
            f"error: {tmp_path / 'none'}: cannot be read: No such file",
        ),
    ):
        ending = motif("convert", *words)
        assert (ending.code, ending.out) == (2, "")
        assert said in ending.err
        assert ending.err.count("\n") == 1


def test_standard_input_is_not_written_to(motif, mat, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ending = motif("convert", mat, "-")
    assert (ending.code, ending.out) == (2, "")
    assert "-: stands for standard input; name a file or a folder to write" in ending.err
    assert not (tmp_path / "-").exists()
