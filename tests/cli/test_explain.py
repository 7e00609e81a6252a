"""The command explain, and evaluate --detailed with a weight file."""

import re

import numpy as np
import pytest

from motif.evaluators import load_static
from tests.short_rollouts import shorten_rollouts

START = "4HPwATDgc/ABMA"
BLITZ = "4HPwAVDgc/ABMA"


@pytest.fixture(autouse=True)
def short(monkeypatch):
    shorten_rollouts(monkeypatch)


def test_json_has_terms_that_add_up(motif_json):
    record = motif_json("explain", START, 3, 1)
    assert sum(term["contribution"] for term in record["terms"]) == pytest.approx(
        record["difference"], abs=1e-9
    )
    for term in record["terms"]:
        words = {"words"} if " unit " in term["name"] else set()
        assert set(term) == {"name", "contribution"} | words
    assert (record["better"]["notation"], record["player"]) == ("8/5 6/5", f"{load_static('latest').name}@2")
    assert record["better"]["position"] == "sGfwATDgc/ABMA"
    assert record["equity_difference"] == pytest.approx(
        record["better"]["equity"] - record["worse"]["equity"], abs=1e-12
    )


def test_the_best_play_is_that_of_hint(motif_json, weight_file):
    hint = motif_json("hint", START, 6, 2, "--player", weight_file)["plays"]
    record = motif_json("explain", START, 6, 2, "--player", weight_file)
    plays = [record["better"], record["worse"]]
    assert [play["notation"] for play in plays] == [play["notation"] for play in hint[:2]]
    assert [play["equity"] for play in plays] == pytest.approx(
        [play["equity"] for play in hint[:2]], abs=1e-5
    )


def test_text_shows_both_boards_and_words(motif):
    ending = motif("explain", START, "31", "--versus", "24/20")
    assert (ending.code, ending.err) == (0, "")
    assert ending.out.count("+13-14-15-16-17-18------19-20-21-22-23-24-+") == 2
    assert ending.out.startswith("8/5 6/5")
    assert "8/5 6/5 is better than 24/20 by 0." in ending.out
    rows = re.findall(r"^([+-]0\.\d{3})  (.*)$", ending.out, re.MULTILINE)
    assert rows[0][1] == "Makes the 5 point: 2 home points instead of 1."
    difference = float(re.search(r"is better than 24/20 by (0\.\d{3})", ending.out)[1])
    assert sum(float(amount) for amount, _ in rows) == pytest.approx(difference, abs=0.0005 * (len(rows) + 1))
    assert "tanh" not in ending.out
    sure = r"(Clear|Likely): the gap is (far )?larger than motif-.*'s average error \(0\.\d{3} points\)\."
    assert re.fullmatch(sure, ending.out.splitlines()[-1])


def test_detailed_adds_formula_groups_and_terms(motif):
    out = motif("explain", START, "31", "--versus", "24/20", "--detailed").out
    for said in ("3 tanh x", "looks ahead: ", "Your blots outside the home board: 0, not 2.", "pip_count"):
        assert said in out
    assert len(out.splitlines()) < 75
    assert re.search(
        r"^The other [\d,]+ terms add [+-]\d\.\d{6} to x; --all lists them\.$", out, re.MULTILINE
    )
    everything = motif("explain", START, "31", "--versus", "24/20", "--detailed", "--all", "--fast").out
    assert "--all" not in everything
    assert len(everything.splitlines()) > 500


def test_reasons_are_reported_in_other_languages(motif, motif_json):
    words = "explain", START, 3, 1, "--versus", "24/23 13/10", "--fast"
    assert "Macht den 5-Punkt: 2 Heimpunkte statt 1." in motif(*words, "--language", "de").out
    english, german = motif_json(*words), motif_json(*words, "--language", "de")
    amounts = [[(reason["concept"], reason["play"], reason["amount"]) for reason in record["reasons"]]
               for record in (english, german)]  # fmt: skip
    assert amounts[0] == amounts[1]
    refused = motif(*words, "--language", "xx")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "unknown language 'xx': it must be one of de, en" in refused.err


def test_json_has_reasons_certainty_and_the_grid_of_rolls(motif_json):
    record = motif_json("explain", START, 6, 5, "--versus", "24/18 13/8")
    assert {tuple(reason) for reason in record["reasons"]} == {
        ("concept", "play", "amount", "contribution", "shown", "sentence")
    }
    assert all(reason["amount"] >= 0 for reason in record["reasons"])
    total = sum(reason["contribution"] for reason in record["reasons"])
    assert total == pytest.approx(record["judged_difference"], abs=1e-6)
    assert record["judged"][0] - record["judged"][1] == pytest.approx(record["judged_difference"])
    assert record["certainty"]
    grid = np.array(record["grid"])
    assert grid.shape == (6, 6)
    assert (grid == grid.T).all()
    ahead = record["ahead"]
    assert grid.mean() == pytest.approx(ahead[0] - ahead[1], abs=0.05)
    assert motif_json("explain", START, 6, 5, "--fast")["grid"] is None


def test_a_player_without_gammons_is_explained_in_probabilities(motif):
    out = motif("explain", START, 3, 1, "--player", "keith-v1").out
    assert " percentage points of win probability.\n" in out
    detailed = motif("explain", START, 3, 1, "--player", "keith-v1", "--detailed").out
    assert "(tanh x + 1) / 2" in detailed


def test_boards_on_a_page_are_in_its_language(motif, tmp_path):
    page = tmp_path / "why.html"
    words = ("explain", START, 3, 1, "--player", "bras", "--html", page)
    motif(*words, "--language", "de")
    boards = page.read_text("utf-8")
    assert boards.count("Gegner (dunkel): 167 Pips</text>") == 2
    assert "On roll" not in boards
    assert "Player on roll" not in boards
    motif(*words)
    assert page.read_text("utf-8").count("On roll (light): 167 pips</text>") == 2


def test_html_is_written(motif_json, tmp_path):
    page = tmp_path / "why.html"
    record = motif_json("explain", START, 3, 1, "--fast", "--html", page)
    assert record["html"] == str(page)
    assert "<h1>31: why 8/5 6/5, not 24/23 13/10</h1>" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((START,), "D1"),
        ((START, "3", "1", "--player", "pubeval"), "'pubeval' has no named terms to explain"),
        ((START, "3", "1", "--player", "wildbg@1"), "weight files, bras and phase can be explained"),
        ((START, "3", "1", "--fast", "--deep"), "--fast and --deep cannot be combined"),
        ((START, "3", "1", "--versus", "8/5 6/5"), "cannot be compared with itself"),
        ((START, "3", "1", "--versus", "8/2"), "'8/2' is not a legal play"),
        ((START, "3", "7"), "each die must be 1 to 6, not 7"),
        (("4HPwATDgc", "3", "1"), "has 9 characters"),
        ((START, "3", "1", "--html", "."), "is a folder, not a file"),
        ((START, "3", "1", "--all"), "--all requires --detailed"),
    ],
)
def test_bad_input_is_one_line(motif, words, said):
    ending = motif("explain", *words)
    assert (ending.code, ending.out) == (2, "")
    assert ending.err.count("\n") == 1
    assert said in ending.err


def test_the_score_and_all_differences_are_in_the_language(motif):
    out = motif(
        *("explain", START, "64", "--fast", "--language", "de"), "--length", 3, "--score", "1-2", "--crawford"
    ).out
    assert out.splitlines()[-1] == (
        "bewertet für 2-away 1-away, Crawford-Spiel; "
        "Gammonwert 1,00, eines verlorenen 0,00 (im Money Game 0,50)"
    )
    english = motif("explain", START, "64", "--fast", "--length", 3, "--score", "1-2", "--crawford").out
    assert english.splitlines()[-1] == (
        "valued for 2-away 1-away, Crawford game; gammon value 1.00, if lost 0.00 (money: 0.50)"
    )


def test_all_needs_detailed_in_evaluate(motif):
    ending = motif("evaluate", START, "--all")
    assert (ending.code, ending.out, ending.err.count("\n")) == (2, "", 1)
    assert "--all requires --detailed" in ending.err


def test_detailed_shows_the_parts_of_a_value(motif, motif_json, weight_file):
    out = motif("evaluate", BLITZ, "--detailed", "--player", weight_file).out
    assert "being on roll" in out
    assert "; from the opponent's side: " in out
    record = motif_json("evaluate", BLITZ, "--detailed", "--player", weight_file)
    found = record["explanation"]
    parts = sum(group["contribution"] for group in found["groups"])
    assert found["on_roll"] + parts == pytest.approx(found["x"], abs=1e-9)
    assert set(record["details"]) == {"features", "raw"}


def test_detailed_leaves_bras_as_it_is(motif_json):
    record = motif_json("evaluate", START, "--detailed", "--player", "bras")
    assert "explanation" not in record
