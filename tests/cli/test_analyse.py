"""The command analyse: its output, its files, its errors."""

import csv
import errno
import io
import re
import sys
from dataclasses import replace
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

from motif.board.match_file import read_match, write_match
from tests.analysis.test_match_analysis import MATCH
from tests.board.test_sgf_file import BY_GNUBG


@pytest.fixture
def mat(tmp_path):
    path = tmp_path / "ann.mat"
    path.write_text(MATCH)
    return path


def test_json_has_both_players_and_the_worst(motif_json, mat, tmp_path):
    page = tmp_path / "page.html"
    found = motif_json("analyse", mat, "--player", "bras", "--worst", 2, "--html", page)
    assert (found["file"], found["analyst"], found["length"]) == (str(mat), "bras", 3)
    assert [player["name"] for player in found["players"]] == ["Ann", "Bob"]
    for player in found["players"]:
        assert player["error_rate"] == player["overall"]["error_rate"]
        assert player["overall"]["decisions"] == player["chequer"]["decisions"] + player["cube"]["decisions"]
        assert set(player["mistakes"]) == {"missed double", "wrong double", "wrong take", "wrong pass"}
        assert set(player["luck"]) == {"rolls", "total", "mwc"}
    assert len(found["worst"]) == 2
    assert {"position", "xgid", "roll", "played", "better", "loss", "summary", "sentences"} <= set(
        found["worst"][0]
    )
    assert found["html"] == str(page)
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert motif_json("analyse", mat, "--player", "bras", "--worst", 2, "--html", page) == found


@pytest.mark.slow
def test_the_evaluator_that_came_along_judges(motif_json, mat):
    from motif.cli.options import DEFAULT_PLAYER

    assert motif_json("analyse", mat, "--worst", 0)["analyst"] == f"{DEFAULT_PLAYER}@2"
    ahead = motif_json("analyse", mat, "--player", "latest@1", "--worst", 1, "--jobs", 1)
    assert ahead["analyst"] == f"{DEFAULT_PLAYER}@1"
    assert len(ahead["worst"]) == 1


def test_text_shows_players_boards_and_the_page(motif, mat, tmp_path):
    ending = motif("analyse", mat, "--player", "bras", "--worst", 1, "--html", tmp_path / "page.html")
    assert (ending.code, ending.err) == (0, "")
    assert ending.out.startswith("Ann - Bob, 3-point match: 3 games, score 2 to 2; analysed by bras.\n")
    for words in ("error rate", "missed doubles", "Played: ", "Better: ", "|BAR|", " is better than "):
        assert words in ending.out
    assert ending.out.endswith(f"{tmp_path / 'page.html'}\n")


def test_a_file_of_another_name_is_a_match_too(motif_json, mat):
    other = mat.rename(mat.with_suffix(".txt"))
    found = motif_json("analyse", other, "--player", "bras", "--worst", 0, "--no-cube")
    assert found["worst"] == []
    assert all(player["cube"]["decisions"] == 0 for player in found["players"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--out", "folder"), "no such option: --out"),
        (("--positions", "200"), "no such option: --positions"),
        (("--dataset", "folder"), "no such option: --dataset"),
        (("--class", "race"), "no such option: --class"),
        (("--head", "win"), "no such option: --head"),
        (("--player", "random"), "'random' chooses plays but cannot evaluate"),
        (("--player", "nobody"), "no player is called 'nobody'"),
        (("--worst", "-1"), "--worst"),
        (("--jobs", "0"), "--jobs must be at least 1"),
    ],
)
def test_bad_options_are_one_line(motif, mat, words, said):
    ending = motif("analyse", mat, *words)
    assert (ending.code, ending.out) == (2, "")
    assert said in ending.err
    assert ending.err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a .mat file: it must begin with a line such as '7 point match'"),
        ("Hello\n", "line 1: not a .mat file"),
        (" 5 point match\n", "the file contains no game"),
        (MATCH.replace("13/8 6/4", "13/8 4/2"), "line 8: game 1, move 4"),
        (
            MATCH.replace("Ann : 2                    Bob : 1", "Ann : 3                    Bob : 1"),
            "game 3: the match to 3 points is over at 3 to 1",
        ),
    ],
)
def test_bad_files_are_one_line(motif, tmp_path, text, said):
    path = tmp_path / "bad.mat"
    path.write_text(text)
    ending = motif("analyse", path, "--html", tmp_path / "page.html")
    assert (ending.code, ending.out) == (2, "")
    assert f"{path}: " in ending.err
    assert said in ending.err
    assert ending.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == [path]


def test_a_page_that_cannot_be_written(motif, mat, tmp_path):
    ending = motif("analyse", mat, "--player", "bras", "--html", tmp_path)
    assert (ending.code, ending.out) == (2, "")
    assert str(tmp_path) in ending.err
    assert ending.err.count("\n") == 1


def test_a_file_that_is_not_there(motif, tmp_path):
    ending = motif("analyse", tmp_path / "none.mat")
    assert (ending.code, ending.out) == (2, "")
    assert "none.mat: cannot be read" in ending.err


@pytest.mark.parametrize("words", [("bras",), ("none.yaml",), ("bras", "--worst", "3")])
@pytest.mark.parametrize("name", ["bras", "none.yaml"])
def test_evaluators_are_the_subject_of_another_command(motif, name, words):
    ending = motif("analyse", name, *words)
    assert (ending.code, ending.out) == (2, "")
    assert "use `motif inspect WEIGHTS --out DIR` to analyse an evaluator" in ending.err


def test_a_file_that_is_missing_is_no_player(motif, tmp_path):
    ending = motif("analyse", tmp_path / "none")
    assert (ending.code, ending.out) == (2, "")
    assert f"{tmp_path / 'none'}: cannot be read: No such file" in ending.err
    assert ending.err.count("\n") == 1


@pytest.mark.parametrize("suffix", ["mat", "sgf"])
def test_an_annotated_record(motif, mat, tmp_path, suffix):
    out = tmp_path / f"annotated.{suffix}"
    ending = motif("analyse", mat, "--player", "bras", "--worst", 0, "--jokers", 0, "--export", out)
    assert (ending.code, ending.err) == (0, "")
    assert ending.out.endswith(f"{out}\n")
    assert read_match(out) == read_match(mat)
    text = out.read_text()
    assert "8/5 6/5" in text
    assert " loses " in text
    assert "*1. " in text
    assert suffix == "mat" or "BM[" in text


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_of_all_decisions(motif_json, mat, tmp_path, suffix):
    out = tmp_path / f"decisions.{suffix}"
    found = motif_json("analyse", mat, "--player", "bras", "--moves", "--export", out)
    table = (
        pq.read_table(out).to_pylist()
        if suffix == "parquet"
        else list(csv.DictReader(out.read_text().splitlines()))
    )
    assert len(table) == len(found["decisions"])
    assert [row["done"] for row in table] == [one["done"] for one in found["decisions"]]
    counted = [float(row["error"]) for row in table if int(row["counts"])]
    both = [player["overall"] for player in found["players"]]
    assert len(counted) == sum(one["decisions"] for one in both)
    assert sum(counted) / 1000 == pytest.approx(sum(one["total"] for one in both), abs=1e-4)
    play = next(row for row in table if row["roll"])
    assert play["candidates"].count(";") == 4
    assert (play["file"], play["match"], play["unit"]) == (str(mat), "Ann - Bob, 3-point match", "mwc")


def test_a_match_is_not_overwritten_by_its_analysis(motif, mat, tmp_path):
    link = tmp_path / "link.mat"
    link.symlink_to(mat)
    before = mat.read_bytes()
    for out in (mat, link):
        ending = motif("analyse", mat, "--player", "bras", "--export", out)
        assert (ending.code, ending.err) == (2, f"motif: error: {out}: is also read; name another file\n")
    assert mat.read_bytes() == before


def test_what_a_file_cannot_hold_is_said_before_the_analysis(motif, tmp_path):
    """Only .sgf files have automatic doubles."""
    text = BY_GNUBG.replace("length:5", "length:0").replace("RU[Crawford]", "RU[Jacoby]CV[2]", 1)
    text = (
        text.replace("[ws:0][bs:2]", "[ws:0][bs:4]")
        .replace("RE[B+2R]", "RE[B+4R]")
        .replace("RE[W+1]", "RE[B+1]")
    )
    (session := tmp_path / "session.sgf").write_text(text)
    ending = motif("analyse", session, "--player", "bras", "--export", out := tmp_path / "out.mat")
    said = f"motif: error: {out}: game 1: only .sgf files can begin with the cube at 2\n"
    assert (ending.code, ending.out, ending.err) == (2, "", said)
    assert not out.exists()


def test_exports_are_written_although_nobody_reads_the_output(motif, mat, tmp_path, monkeypatch):
    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError(errno.EPIPE, "closed")

    monkeypatch.setattr(sys, "stdout", Closed())
    out = tmp_path / "decisions.csv"
    assert motif("analyse", mat, "--player", "bras", "--fast", "--export", out).code == 1
    assert out.exists()


def test_names_are_no_formulas_in_tables(motif, mat, tmp_path):
    formula, out = tmp_path / "formula.mat", tmp_path / "decisions.csv"
    for name in ("=1+1", "+1+1", "-1+1", "@SUM(A1)"):
        formula.write_text(mat.read_text().replace("Ann", name))
        out.unlink(missing_ok=True)
        motif("analyse", formula, "--player", "bras", "--fast", "--export", out)
        rows = list(csv.reader(out.read_text().splitlines()))
        assert any(f"'{name}" in row for row in rows)
        assert not any(cell == name for row in rows for cell in row)
        assert any(float(row[rows[0].index("luck")] or 0) < 0 for row in rows[1:])


def test_moves_and_jokers_are_listed(motif, mat):
    ending = motif("analyse", mat, "--player", "bras", "--worst", 0, "--moves", "--jokers", 2)
    assert ending.out.count(" gained +") == 2
    lines = ending.out.partition("Every decision\n\n")[2].splitlines()
    assert lines[0].startswith("game 1, move 1, Ann, 31: 8/5 6/5")
    assert any(line.startswith("   *") for line in lines)
    assert sum(line.startswith("game 1, move 3, Ann, double") for line in lines) == 1
    assert sum(line.startswith("game 1, move 3, Bob, take") for line in lines) == 1


def test_figures_that_players_know(motif_json, mat):
    found = motif_json("analyse", mat, "--player", "bras", "--worst", 0)
    first, second = found["players"]
    for player in (first, second):
        assert player["pr"] == pytest.approx(player["error_rate"] / 2)
        assert player["snowie_error_rate"] < player["error_rate"]
        assert player["decisions"] == player["overall"]["decisions"] > 0
        assert sum(kind["decisions"] for kind in player["kinds"].values()) == player["overall"]["decisions"]
        assert set(player["marks"]) == {"doubtful", "bad", "very bad"}
    assert first["result"] == -second["result"]
    adjusted = first["result"] - first["luck"]["mwc"] + second["luck"]["mwc"]
    assert first["luck_adjusted_result"] == pytest.approx(adjusted)
    games = found["by_game"]
    assert len(games) == 3
    for number, player in enumerate((first, second)):
        assert sum(pair[number]["total"] for pair in games) == pytest.approx(player["overall"]["total"])
        assert sum(pair[number]["luck"] for pair in games) == pytest.approx(player["luck"]["total"])


def test_matches_of_any_kind_and_folders_together(motif, motif_json, mat, tmp_path, monkeypatch):
    folder = tmp_path / "matches"
    folder.mkdir()
    record = read_match(mat)
    write_match(folder / "a.sgf", record)
    write_match(folder / "b.mat", replace(record, players=("Bob", "Cid")))
    words = ("--player", "bras", "--worst", 0)
    found = motif_json("analyse", folder, *words)
    assert [match["file"] for match in found["matches"]] == [
        str(folder / name) for name in ("a.sgf", "b.mat")
    ]
    assert [player["name"] for player in found["players"]] == ["Ann", "Bob", "Cid"]
    ann, bob = (match["players"] for match in found["matches"])
    together = found["players"][1]
    assert together["overall"]["decisions"] == ann[1]["overall"]["decisions"] + bob[0]["overall"]["decisions"]
    assert together["luck"]["total"] == pytest.approx(ann[1]["luck"]["total"] + bob[0]["luck"]["total"])
    text = motif("analyse", folder, *words).out
    assert "All 2 matches\n" in text
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO((folder / "a.sgf").read_bytes())))
    assert motif_json("analyse", "-", *words)["players"] == found["matches"][0]["players"]
    for name, said in (
        ("x.xg", "the name must end in one of"),
        ("x.sgf", "a .sgf file holds one match"),
    ):
        ending = motif("analyse", folder, *words, "--export", tmp_path / name)
        assert (ending.code, ending.out) == (2, "")
        assert said in ending.err


def test_a_match_has_no_jacoby_rule(motif, mat):
    said = f"{mat}: --jacoby is for money play, not for the record's 3-point match"
    assert said in motif("analyse", mat, "--player", "bras", "--jacoby").err
    assert "3-point match" in motif("analyse", mat, "--player", "bras", "--no-jacoby").out


def test_money_and_a_match_together(motif, motif_json, mat, tmp_path):
    record = read_match(mat)
    money = replace(record, players=("Bob", "Cid"), length=0, games=record.games[:1])
    write_match(tmp_path / "money.mat", money)
    words = ("analyse", mat, tmp_path / "money.mat", "--player", "bras", "--worst", 0)
    ann, bob, cid = motif_json(*words)["players"]
    assert [one["unit"] for one in (ann, bob, cid)] == ["mwc", None, "points"]
    for one, unit in ((ann, {"mwc"}), (bob, set()), (cid, {"points"})):
        assert set(one["luck"]) == {"rolls", "total"} | unit
        assert {"mwc", "points"} & set(one["overall"]) == unit
    assert (bob["result"], bob["luck_adjusted_result"], cid["result"]) == (None, None, -2)
    text = motif(*words).out.partition("All 2 matches\n")[2]
    rows = [line for line in text.splitlines() if line.startswith((" Ann ", " Bob ", " Cid "))]
    assert re.search(r" % MWC .* % MWC *$", rows[0])
    assert re.search(r" - +- *$", rows[1])
    assert re.search(r" -2\.000 points .* points *$", rows[2])


def test_several_matches_are_a_list(motif, motif_json, mat, tmp_path):
    other = tmp_path / "other.mat"
    other.write_text(MATCH)
    words = ("--player", "bras", "--worst", 0)
    matches = motif_json("analyse", mat, other, *words)["matches"]
    assert matches == [motif_json("analyse", path, *words) for path in (mat, other)]
    assert motif("analyse", mat, other, *words).out.count("analysed by bras.\n") == 2
    ending = motif("analyse", mat, other, "--html", tmp_path / "page.html")
    assert (ending.code, ending.err) == (2, "motif: error: --html: a page shows only one match\n")
