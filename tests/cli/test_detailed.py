"""`evaluate --detailed`: its output for people and for programs."""

import json
import re

import pytest

START = "4HPwATDgc/ABMA"


def details(motif, *words: object) -> dict:
    ending = motif("evaluate", START, "--detailed", "--json", *words)
    assert ending.code == 0
    return json.loads(ending.out)["details"]


def test_bras_shows_features_and_scores(motif):
    found = details(motif, "--player", "bras")
    assert len(found["features"]) == 11
    assert {name: found[name] for name in ("D", "g", "S_me", "S_op")} == {
        "D": 0,
        "g": 0,
        "S_me": 50,
        "S_op": 50,
    }
    text = motif("evaluate", START, "--detailed", "--player", "bras").out
    for word in ("features", "x2", "S me", "50.0000", "equity +0.000"):
        assert word in text


def test_weight_files_show_features_and_raw_sums(motif, weight_file):
    found = details(motif, "--player", weight_file)
    assert found["features"]["pip_count"] == pytest.approx(1)
    assert set(found["raw"]) >= {"win"}


def test_words_precede_the_largest_features_and_all_shows_the_rest(motif):
    out = motif("evaluate", START, "--detailed", "--player", "motif-v1").out
    assert out.index("equity +") < out.index("contributions to the value in points") < out.index(" features ")
    assert re.search(r"the largest 15 of \d+; --all shows the others\n", out)
    assert re.search(r"^ raw sum +before tanh, no unit $", out, re.MULTILINE)
    every = motif("evaluate", START, "--detailed", "--all", "--player", "motif-v1").out
    assert "--all" not in every
    assert every.count("\n") > out.count("\n") + 30


def test_phase_names_its_phase(motif):
    assert details(motif, "--player", "phase")["phase"] == "early"


def test_what_has_no_details_says_so(motif, tmp_path):
    ending = motif("evaluate", START, "--detailed", "--player", "pubeval")
    assert (ending.code, ending.out) == (2, "")
    assert "'pubeval' has no details" in ending.err
    batch = tmp_path / "ids.txt"
    batch.write_text(START + "\n")
    ending = motif("evaluate", "--batch", batch, "--detailed")
    assert ending.code == 2
    assert "--detailed and --batch cannot be combined" in ending.err
