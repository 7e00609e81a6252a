"""The command terms."""

import re
from pathlib import Path

import pytest

from motif.analysis.term_report import fitted_terms
from motif.board.identifiers import gnubg_ids
from motif.evaluators import read_weight_file
from motif.fitting.significance import write_terms
from motif.sampling.dataset import read_dataset
from tests.evaluators.made_weights import made_weights
from tests.games import some_boards

_COLUMNS = {
    "name",
    "sentence",
    "full",
    "moves",
    "weight",
    "se",
    "z",
    "spread",
    "effect",
    "effect_se",
    "effect_z",
}


@pytest.mark.slow
def test_the_documentation_quotes_it(motif):
    """The positions are from self-play with the default seed."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "how-to" / "terms.md").read_text("utf-8")
    quoted = " ".join(page.partition("`motif terms latest`:\n")[2].partition("\n\nIt shows")[0].split())
    shown = " ".join(re.sub(r"\d+\.\d\d %", "", motif("terms", "latest").out).split())
    sentences = re.split(r"> (?=\d)", quoted)[1:]
    assert len(sentences) == 2
    for sentence in sentences:
        assert sentence.replace("> ", "").strip() in shown


@pytest.fixture(scope="module")
def fitted(dataset, tmp_path_factory):
    """Weights of the small dataset."""
    from motif.cli.main import main

    path = tmp_path_factory.mktemp("fitted") / "fitted.yaml"
    words = ["fit", dataset, "--out", path, "--parameters", "keith", "--jobs", "1", "--json"]
    assert main(list(map(str, words))) == 0
    return path


def test_its_own_games_show_what_matters(motif_json, weight_file):
    found = motif_json("terms", weight_file, "--top", 5, "--jobs", 1)
    assert (found["weights"], found["class"], found["head"]) == ("small", "contact", "win")
    assert found["source"] == "2,000 self-play positions"
    assert found["count"] == 20
    assert found["slope"] > 0
    assert len(found["terms"]) == 5
    for term in found["terms"]:
        assert set(term) == _COLUMNS
        assert term["se"] is term["z"] is term["effect_se"] is None
        assert term["sentence"].endswith(".")
    assert motif_json("terms", weight_file, "--top", 5, "--jobs", 2) == found
    assert motif_json("terms", weight_file, "--top", 5, "--seed", 1) != found


@pytest.fixture(scope="module")
def layered(tmp_path_factory):
    """A weight file with hidden units, and positions."""
    folder = tmp_path_factory.mktemp("layered")
    made_weights("keith", pairs=9, hidden={"contact": 6}).save(folder / "made.yaml")
    positions = folder / "positions.txt"
    positions.write_text("\n".join(gnubg_ids(some_boards("pubeval", 1000, seed=2))) + "\n")
    return folder / "made.yaml", positions


def test_hidden_units_are_listed(motif, motif_json, layered, tmp_path):
    file, positions = layered
    page = tmp_path / "page.html"
    words = ("terms", file, "--positions", positions, "--top", 4, "--html", page)
    found = motif_json(*words)
    assert len(found["hidden_units"]) == 4
    for unit in found["hidden_units"]:
        assert set(unit) == {*("name", "words", "share", "amount", "on", "off", "moves", "high", "low")}
    ending = motif(*words)
    assert "hidden unit: where it is large" in ending.out
    assert " terms and 6 hidden units, from " in " ".join(ending.out.split())
    first = found["hidden_units"][0]
    assert first["name"] in page.read_text("utf-8")
    assert first["amount"] != motif_json(*words, "--head", "win_gammon")["hidden_units"][0]["amount"]
    assert motif_json(*words, "--class", "race")["hidden_units"] == []


def test_boards_of_a_unit_are_drawn(motif, motif_json, layered, monkeypatch):
    file, positions = layered
    words = ("terms", file, "--positions", positions, "--unit", "p2", "--boards", 2)
    ending = motif(*words)
    assert (ending.code, ending.err) == (0, "")
    assert ending.out.count("Position ID: ") == 4
    found = motif_json(*words)
    assert found["hidden_unit"]["name"] == "p2"
    values = [one["activation"] for one in found["largest"] + found["smallest"]]
    assert len(values) == 4
    assert min(values[:2]) > max(values[2:])
    for one in found["largest"]:
        assert one["position"] in ending.out
    monkeypatch.setattr("motif.cli.weights.columns", lambda stream: 50)
    assert max(map(len, motif(*words).out.split("Where it is largest")[1].splitlines())) <= 50


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--unit", "p9"),
            "unknown hidden unit 'p9' for contact positions: there are 6, such as p1",
        ),
        (("--unit", "p1", "--class", "race"), "have no hidden units for race positions"),
        (("--unit", "p1", "--head", "win"), "--unit and --head cannot be combined"),
        (("--unit", "p1", "--boards", "0"), "--boards"),
    ],
)
def test_units_that_cannot_be_shown(motif, layered, words, message):
    ending = motif("terms", layered[0], *words)
    assert ending.code == 2
    assert message in " ".join(ending.err.split())


def test_a_dataset_gives_standard_errors(motif, motif_json, dataset, fitted, tmp_path):
    words = ("terms", fitted, "--data", dataset, "--top", 4)
    found = motif_json(*words)
    assert found["head"] == "equity"
    assert f" positions in {dataset}" in found["source"]
    for term in found["terms"]:
        assert term["se"] > 0
        assert term["z"] == pytest.approx(term["weight"] / term["se"])
    told = motif(*words).out
    for term in found["terms"]:
        assert term["name"] in told
        assert term["sentence"].split()[0] in told
    assert "standard error (±), which is clustered by game" in told

    weights, table = read_weight_file(fitted), tmp_path / "terms.parquet"
    write_terms(table, [fitted_terms([dataset], weights, "contact", "equity")[0]])
    from_table = motif_json("terms", fitted, "--terms", table, "--top", 4, "--jobs", 1)
    # The description uses other positions: those of self-play.
    for told_of, by_table in zip(found["terms"], from_table["terms"], strict=True):
        assert told_of | {"sentence": ""} == by_table | {"sentence": ""}
    assert from_table["source"] == str(table)


def test_positions_from_a_file(motif_json, dataset, weight_file, tmp_path):
    path = tmp_path / "positions.txt"
    path.write_text("\n".join(gnubg_ids(read_dataset(dataset).boards)), encoding="utf-8")
    found = motif_json("terms", weight_file, "--positions", path, "--class", "race", "--head", "win_gammon")
    assert found["source"].endswith(f" positions in {path}")
    assert (found["class"], found["head"]) == ("race", "win_gammon")
    assert "the probability of winning a gammon" in found["terms"][0]["sentence"]


def test_other_languages(motif_json, layered):
    file, positions = layered
    words = ("terms", file, "--positions", positions, "--top", 3)
    english, german = motif_json(*words), motif_json(*words, "--language", "de")
    for kind in ("parameters", "terms"):
        for one, other in zip(english[kind], german[kind], strict=True):
            assert one["sentence"] != other["sentence"]
            assert one["moves"] == other["moves"]
    first = german["parameters"][0]["sentence"]
    assert "Punkte Equity" in first or "Prozentpunkte" in first


def test_headings_and_notes_are_in_the_language_too(motif, layered, tmp_path):
    file, positions = layered
    page = tmp_path / "page.html"
    words = ("terms", file, "--positions", positions, "--language", "de", "--html", page)
    out = " ".join(motif(*words, "--top", 1).out.split())
    assert "Der Parameter mit der größten Wirkung auf die " in out
    assert re.search(r"\b\d+,\d\d %", out)
    assert not re.search(r"\d\.\d\d %", out)
    shown = page.read_text("utf-8")
    assert '<html lang="de">' in shown
    text = re.sub(r'(?s)<style>.*?</style>|src=".*?"', "", shown)
    for english in (
        "effect",
        "moves",
        "player on roll",
        "hidden unit",
        "largest",
        "standard deviation",
        "held constant",
    ):
        assert english not in out
        assert english not in text


def test_a_page(motif_json, weight_file, tmp_path):
    path = tmp_path / "pages" / "terms.html"
    found = motif_json("terms", weight_file, "--html", path, "--jobs", 1)
    assert found["html"] == str(path)
    page = path.read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert page.count("<tr>") == 2 + len(found["terms"]) + len(found["parameters"])
    assert page.count("<img") == 1
    assert all(effect["name"] in page for effect in found["parameters"])
    assert found["terms"][0]["name"] in page
    assert "<script" not in page


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("pubeval",), "'pubeval' has no weights: name a weight file"),
        (("wildbg",), "'wildbg' has no weights: name a weight file"),
        (("random",), "'random' has no weights: name a weight file"),
        (("nobody",), "no player is called"),
        (("missing.yaml",), "missing.yaml: no such weight file"),
        (("{weights}", "--head", "equity"), "have no head 'equity' for contact positions; there are win, "),
        (("{weights}", "--class", "crashed"), "has no weights of its own for crashed positions"),
        (("{weights}", "--terms", "missing.parquet"), "missing.parquet: there is no such file"),
        (("{weights}", "--terms", "{weights}"), "small.yaml: not a table of terms"),
        (("{weights}", "--data", "nowhere"), "nowhere"),
        (("{weights}", "--positions", "nowhere.txt"), "nowhere.txt: cannot be read"),
        (("{weights}", "--data", "a", "--terms", "b"), "--terms and --data cannot be combined"),
        (("{weights}", "--top", "0"), "--top"),
        (("{weights}", "--language", "xx"), "unknown language 'xx': it must be one of de, en"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(motif, weight_file, words, line):
    ending = motif("terms", *(word.format(weights=weight_file) for word in words))
    assert ending.code == 2
    assert ending.out == ""
    assert ending.err.count("\n") == 1
    assert line in ending.err


def test_too_few_positions_are_named(motif, weight_file, tmp_path):
    path = tmp_path / "one.txt"
    path.write_text("4HPwATDgc/ABMA\n", encoding="utf-8")
    ending = motif("terms", weight_file, "--positions", path)
    assert ending.code == 2
    assert "at least 100 contact positions are needed to measure how much a term matters, not 1" in ending.err


def test_a_page_that_cannot_be_written(motif, weight_file, tmp_path):
    ending = motif("terms", weight_file, "--html", tmp_path, "--jobs", 1)
    assert ending.code == 2
    assert str(tmp_path) in ending.err
