"""The command inspect: its output, its files, its errors."""

import json
from pathlib import Path

import pytest


@pytest.mark.usefixtures("undrawn")
def test_json_names_every_file(motif_json, weight_file, tmp_path):
    out = tmp_path / "analysis"
    found = motif_json(
        "inspect", weight_file, "--out", out, "--positions", 120, "--class", "race", "--player", "pubeval",
        "--head", "win_gammon", "--jobs", 1,
    )  # fmt: skip
    assert (found["out"], found["class"], found["head"]) == (str(out), "race", "win_gammon")
    assert found["source"].startswith("games of pubeval against itself")
    assert all(Path(name).is_file() for name in found["files"])
    kept = json.loads((out / "summary.json").read_text())
    assert kept["files"] == [Path(name).name for name in found["files"]]
    assert kept["most_important"] == found["most_important"]


@pytest.mark.slow
def test_text_names_the_page(motif, dataset, tmp_path):
    ending = motif(
        "inspect", "bras", "--out", tmp_path / "analysis", "--dataset", dataset, "--positions", 100
    )
    assert (ending.code, ending.err) == (0, "")
    assert "|weight| x SD" in ending.out
    assert ending.out.endswith(f"{tmp_path / 'analysis' / 'report.html'}\n")
    assert (tmp_path / "analysis" / "report.html").is_file()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("pubeval",), "'pubeval' has no weights"),
        (("nobody",), "no player is called 'nobody'"),
        (("bras@1",), "'bras@1' looks ahead"),
        (("none.yaml",), "none.yaml: no such weight file"),
        (("bras", "--head", "equity"), "bras has no head 'equity' for contact positions: it has win"),
        (("motif-v1", "--head", "equity"), "motif-v1 has no head 'equity' for race positions"),
        (("bras", "--positions", "7"), "--positions must be at least 100, not 7"),
        (("bras", "--class", "blot"), "--class"),
        (("bras", "--player", "nobody"), "no player is called 'nobody'"),
        (("bras", "--dataset", "nowhere"), "nowhere: not a dataset"),
        (("bras", "--dataset", "nowhere", "--player", "random"), "cannot be combined"),
        (("bras", "--seed", "-1"), "--seed must be 0 to"),
        (("bras", "--jobs", "0"), "--jobs must be at least 1"),
    ],
)
def test_bad_input_is_one_line(motif, tmp_path, words, said):
    ending = motif("inspect", *words, "--out", tmp_path / "analysis")
    assert (ending.code, ending.out) == (2, "")
    assert said in ending.err
    assert ending.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_use_is_refused(motif, tmp_path):
    (tmp_path / "kept").write_text("kept")
    ending = motif("inspect", "bras", "--out", tmp_path)
    assert ending.code == 2
    assert "already exists: choose a new folder" in ending.err


def test_a_folder_must_be_named(motif):
    ending = motif("inspect", "bras")
    assert (ending.code, ending.out) == (2, "")
    assert "--out" in ending.err
    assert ending.err.count("\n") == 1
