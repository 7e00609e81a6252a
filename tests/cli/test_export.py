"""The command export, and nets as players of other commands."""

import json
import re

import pytest

from motif.evaluators import load_static

START = "4HPwATDgc/ABMA"
CHANCES = ("win", "win_gammon", "win_backgammon", "lose_gammon", "lose_backgammon", "equity")


def test_an_exported_file_is_the_same_player(motif, motif_json, weight_file, tmp_path):
    out = tmp_path / "small.onnx"
    record = motif_json("export", weight_file, "--onnx", out)
    assert record["file"] == str(out)
    assert record["bytes"] == out.stat().st_size
    assert record["classes"] == {name: ["win", "win_gammon"] for name in ("contact", "race")}
    found = motif_json("evaluate", START, "--player", record["player"])
    expected = motif_json("evaluate", START, "--player", weight_file)
    for key in CHANCES:
        assert found[key] == pytest.approx(expected[key], abs=1e-5)
    plays = [
        [play["notation"] for play in motif_json("hint", START, 3, 1, "--player", player)["plays"]]
        for player in (record["player"], weight_file)
    ]
    assert plays[0] == plays[1]


def test_what_it_says(motif, weight_file, tmp_path):
    ending = motif("export", weight_file, "--onnx", tmp_path)
    assert (ending.code, ending.err) == (0, "")
    path = tmp_path / "evaluator.onnx"
    assert ending.out == f"{path}: small as ONNX, {path.stat().st_size:,} bytes; it plays as onnx:{path}\n"


def test_weights_by_name(motif_json, tmp_path):
    assert motif_json("export", "bras", "--onnx", tmp_path / "b.onnx")["parameters"] == "bras"
    assert motif_json("export", "keith-v1", "--onnx", tmp_path / "k.onnx")["name"] == "keith-v1"


def test_wildbg_evaluates(motif_json):
    found = motif_json("evaluate", START, "--player", "wildbg")
    assert found["win"] == pytest.approx(0.54484, abs=2e-5)
    assert found["player"] == "wildbg"


def test_bad_input(motif, weight_file, tmp_path):
    torn = tmp_path / "torn.onnx"
    torn.write_bytes(b"\x08\x07\x12")
    cases = [
        (("export", "pubeval", "--onnx", "x"), "'pubeval' has no weights: name a weight file"),
        (("export", "gnubg", "--onnx", "x"), "'gnubg' has no weights: name a weight file"),
        (("export", "motif-v1+bearoff", "--onnx", "x"), r"'motif-v1\+bearoff' has bearoff tables"),
        (("export", "nobody", "--onnx", "x"), "no player is called 'nobody'"),
        (("export", tmp_path / "none.yaml", "--onnx", "x"), "no such weight file"),
        (("export", weight_file, "--onnx", weight_file), "is also read; name another file$"),
        (("export", weight_file, "--onnx", torn / "x.onnx"), "torn.onnx is not a writable folder"),
        (("export", weight_file), "--onnx"),
        (("evaluate", START, "--player", f"onnx:{torn}"), "torn.onnx: not an ONNX net"),
        (("evaluate", START, "--player", f"onnx:{tmp_path}/no"), "no: no such net"),
        (("evaluate", START, "--player", "onnx:"), "must be followed by the path of a net"),
    ]
    before = weight_file.read_bytes()
    for words, message in cases:
        ending = motif(*words)
        assert (ending.code, ending.out) == (2, ""), words
        assert ending.err.startswith("motif: error: ")
        assert ending.err.count("\n") == 1
        assert re.search(message, ending.err.rstrip("\n")), ending.err
    assert weight_file.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["torn.onnx"]


def test_help_has_an_example(motif):
    ending = motif("export", "--help")
    assert "motif export motif-v1 --onnx motif-v1.onnx" in ending.out


def test_json_is_one_object(motif, weight_file, tmp_path):
    ending = motif("export", weight_file, "--onnx", tmp_path / "a.onnx", "--json")
    assert json.loads(ending.out)["player"] == f"onnx:{tmp_path / 'a.onnx'}"
    assert load_static(str(weight_file)).weights.name == json.loads(ending.out)["name"]
