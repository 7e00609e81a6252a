"""The command that measures error rates, for users and programs."""

import json
import re
from functools import partial
from pathlib import Path

import pytest

from motif.benchmarks import read_benchmark
from motif.benchmarks.choices import dataset_decisions, dataset_losses, summary
from motif.cli.main import main
from motif.players import load
from motif.sampling.dataset import read_dataset
from tests.benchmarks.rates import error_rates

DATA = Path(__file__).resolve().parent.parent / "data"
FILES = [DATA / f"{name}.bm" for name in ("contact", "crashed", "race")]
START, AFTER_31 = "OAHDPAABDAOAHDPAABDA", "LAGHPAABDAOAHDPAABDA"
LINE = f"m {START} 3 1 {AFTER_31} 0.15\n"
WORDS = ("--player", "pubeval", "--jobs", 1)


@pytest.fixture
def fault(fault):
    return partial(fault, "benchmark")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with short files to work in."""
    monkeypatch.chdir(tmp_path)
    for path in FILES:
        (tmp_path / path.name).write_text("".join(path.read_text().splitlines(keepends=True)[:60]))
    return tmp_path


def test_programs_learn_what_the_library_finds(motif_json):
    record = motif_json("benchmark", *FILES, *WORDS, "--seed", 2)
    rates = error_rates(load("pubeval"), [read_benchmark(path) for path in FILES], seed=2, jobs=1)
    assert {name: record[name] for name in rates.to_dict()} == json.loads(json.dumps(rates.to_dict()))
    assert list(record["files"]) == list(map(str, FILES))
    assert record["overall"]["decisions"] == 900 == sum(it["decisions"] for it in record["classes"].values())
    assert (record["player"], record["cube_decisions"]) == ("pubeval", 0)
    assert "worst" not in record


def test_people_see_all_of_it_in_80_columns(motif, here):
    ending = motif("benchmark", "contact.bm", "crashed.bm", "race.bm", *WORDS, "--worst", 4)
    assert (ending.code, ending.err) == (0, "")
    assert max(map(len, ending.out.splitlines())) <= 80
    for name in (
        "contact.bm",
        "crashed.bm",
        "race.bm",
        "contact positions",
        "race positions",
        "all decisions",
    ):
        assert re.search(
            rf"^ ?{re.escape(name)} +\d+\.\d\d +\d+\.\d\d +\d+ +\d+ *$", ending.out, re.MULTILINE
        )
    assert re.search(r"^ ?above 100 +\d+\.\d +100\.0 +\d+\.\d *$", ending.out, re.MULTILINE)
    assert "cube decision" not in ending.out
    numbers = re.findall(r"^(\d+)\. [\w/+]{14} [1-6]{2}  ", ending.out, re.MULTILINE)
    assert numbers == ["1", "2", "3", "4"]


def test_the_worst_decisions(motif, motif_json, here):
    record = motif_json("benchmark", "contact.bm", "race.bm", *WORDS, "--worst", 3)
    losses = [decision["loss"] for decision in record["worst"]]
    assert len(losses) == 3
    assert losses == sorted(losses, reverse=True)
    assert losses[0] == record["distribution"]["largest"]
    out = motif("benchmark", "contact.bm", "race.bm", *WORDS, "--worst", 3).out
    for decision in record["worst"]:
        roll = "".join(map(str, decision["roll"]))
        assert f"{decision['position']} {roll}  {decision['class']}, {decision['file']}, line" in out
        best = next(it["play"] for it in decision["listed"] if it["loss"] == 0)
        assert f"{decision['play']} loses " in out
        assert f"best is {best}" in out


def test_a_page_of_them(motif, motif_json, here):
    ending = motif("benchmark", "contact.bm", *WORDS, "--html", "worst.html")
    assert ending.out.splitlines()[-1] == "worst.html"
    page = (here / "worst.html").read_text()
    assert page.count("<h3>") == 20
    record = motif_json("benchmark", "contact.bm", *WORDS, "--worst", 2, "--html", "two.html")
    page = (here / "two.html").read_text()
    assert page.count("<h3>") == 2
    assert all(decision["xgid"] in page for decision in record["worst"])


def test_cube_decisions_are_counted(motif, motif_json, tmp_path):
    path = tmp_path / "cubes.bm"
    path.write_text(f"o {START} 0.5 0.1 0 0.1 0\n" * 12 + LINE)
    assert motif_json("benchmark", path, *WORDS)["cube_decisions"] == 12
    assert "12 cube decisions, not used\n" in motif("benchmark", path, *WORDS).out


def test_a_file_named_twice_counts_once(motif_json, tmp_path):
    path = tmp_path / "one.bm"
    path.write_text(LINE)
    for again in (path, f"{tmp_path}/./one.bm"):
        assert motif_json("benchmark", path, again, *WORDS)["overall"]["decisions"] == 1


def test_two_players_on_files(motif, motif_json, here):
    one = motif_json("benchmark", "contact.bm", "race.bm", *WORDS)
    other = motif_json("benchmark", "contact.bm", "race.bm", "--player", "motif-v1", "--jobs", 1)
    both = motif_json("benchmark", "contact.bm", "race.bm", *WORDS, "--versus", "motif-v1")
    assert {name: both[name] for name in one} == one
    assert (both["player"], both["versus"]) == ("pubeval", "motif-v1")
    for group in ("files", "classes"):
        for name, rate in both["paired"][group].items():
            assert rate["difference"] == pytest.approx(one[group][name]["er"] - other[group][name]["er"])
            assert rate["decisions"] == one[group][name]["decisions"]
    overall = both["paired"]["overall"]
    assert overall["difference"] == pytest.approx(one["overall"]["er"] - other["overall"]["er"])
    assert 0 < overall["se"] < one["overall"]["se"] + other["overall"]["se"]
    out = motif("benchmark", "contact.bm", "race.bm", *WORDS, "--versus", "motif-v1").out
    assert "error rate of pubeval minus that of motif-v1;\n" in out
    lost = f"{overall['difference']:.2f} ± {overall['se']:.2f}"
    assert f"over all decisions pubeval loses {lost} millipoints more\n" in out
    assert re.search(rf"^ ?all decisions +{overall['difference']:.2f} +\d+\.\d\d +120 *$", out, re.MULTILINE)
    out = motif("benchmark", "contact.bm", *WORDS, "--player", "motif-v1", "--versus", "pubeval").out
    assert re.search(r"over all decisions motif-v1 loses \d+\.\d\d ± \d+\.\d\d millipoints less\n", out)


def test_a_dataset(motif, motif_json, dataset):
    record = motif_json("benchmark", dataset, *WORDS, "--versus", "simple")
    choices = dataset_decisions(str(dataset), read_dataset(dataset))
    rates = summary([dataset_losses(load("pubeval").evaluator, choices, jobs=1)])
    assert {name: record[name] for name in rates.to_dict()} == json.loads(json.dumps(rates.to_dict()))
    assert record["files"] == {str(dataset): record["overall"]}
    assert record["overall"]["unlisted"] == 0
    assert record["paired"]["overall"]["decisions"] == len(choices) == record["overall"]["decisions"]
    out = motif("benchmark", dataset, *WORDS).out
    assert "labels are noisy" in out
    assert "unlisted choice" not in out


def test_datasets_that_cannot_be_measured(fault, dataset, tmp_path):
    empty, path = tmp_path / "empty", tmp_path / "one.bm"
    empty.mkdir()
    path.write_text(LINE)
    assert fault(empty, *WORDS) == f"{empty}: not a dataset (there is no _manifest.json)"
    assert "cannot be measured together" in fault(path, dataset, *WORDS)
    for name in ("random", "best-of-four"):
        assert f"'{name}' does not choose plays by values of positions" in fault(dataset, "--player", name)
        assert f"'{name}' does not choose plays by values" in fault(dataset, *WORDS, "--versus", name)
    assert "--worst and --html: a dataset" in fault(dataset, *WORDS, "--worst", 3)
    assert "--worst and --html: a dataset" in fault(dataset, *WORDS, "--html", tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_bad_input(fault, tmp_path):
    path = tmp_path / "bad.bm"
    path.write_text(f"{LINE}m {START} 0.5\n")
    assert fault(path) == (
        f"{path}: line 2: expected 'm KEY die die PLAY EQUITY [PLAY LOSS]...', got 3 words"
    )
    path.write_text(LINE)
    assert "--worst" in fault(path, "--worst", 0)
    assert "nobody" in fault(path, "--player", "nobody")
    assert "nobody" in fault(path, "--versus", "nobody")


def test_a_page_that_cannot_be_written(capsys, tmp_path):
    path = tmp_path / "one.bm"
    path.write_text(LINE)
    assert main(["benchmark", str(path), "--player", "pubeval", "--html", str(tmp_path)]) == 2
    assert f"{tmp_path}: is a folder, not a file" in capsys.readouterr().err


MAKE = ("--players", "pubeval,keith-v1", "--rollers", "pubeval", "--plays", 2, "--most", 1296, "--jobs", 1)


@pytest.fixture(scope="module")
def positions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("positions")
    words = (
        "sample",
        "--out",
        folder / "set",
        "--games",
        3,
        "--trials",
        1,
        "--player",
        "pubeval",
        "--jobs",
        1,
    )
    assert main([str(word) for word in words]) == 0
    words = ("play", "pubeval", "pubeval", "--length", 1, "--seed", 1, "--save", folder / "match.mat")
    assert main([str(word) for word in words]) == 0
    return folder


@pytest.mark.parametrize("source", ["set", "match.mat"])
def test_a_benchmark_is_made_of_positions_and_measured_on(motif, motif_json, positions, tmp_path, source):
    path = tmp_path / "own.bm.gz"
    record = motif_json("benchmark", "make", path, "--from", positions / source, "--decisions", 4, *MAKE)
    assert set(record) == {"path", "decisions", "disagree", "plays", "trials", "open"}
    assert (record["path"], record["decisions"], record["plays"]) == (str(path), 4, 8)
    measured = motif_json("benchmark", path, "--player", "pubeval", "--jobs", 1)
    assert (measured["overall"]["decisions"], measured["overall"]["unlisted"]) == (4, 0)


def test_a_benchmark_of_several_sources_and_fewer_decisions_than_wanted(motif, positions, tmp_path):
    path = tmp_path / "own.bm"
    sources = positions / "match.mat", positions / "match.mat"
    words = ("--decisions", 500, "--disagree", 0, "--position-class", "race", *MAKE)
    ending = motif("benchmark", "make", path, "--from", *sources, *words)
    assert ending.code == 0
    assert f"decisions in {path}; static and 2-ply evaluation differ in 0" in ending.out
    assert ending.err == "motif: there are too few positions for 500 decisions\n"
    assert 0 < len(read_benchmark(path)) < 500


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("own.txt", "--from", "."), "own.txt: the name of a benchmark file must end in .bm or .bm.gz"),
        (("own.txt.gz", "--from", "."), "own.txt.gz: the name of a benchmark file must end in .bm or .bm.gz"),
        (("own.bm",), "missing option '--from'"),
        (("own.bm", "--from", "nowhere.mat"), "nowhere.mat"),
        (("own.bm", "--from", ".", "--certain", 2), "--certain must be above 0.5 and below 1, not 2.0"),
        (("own.bm", "--from", ".", "--rollers", "nobody"), "no player is called 'nobody'"),
        (("own.bm", "--from", "contact.bm"), "contact.bm"),
        (("own.bm", "--resume", "--from", "MATCH"), "own.bm.partial: no interrupted run to resume"),
    ],
)
def test_a_benchmark_that_cannot_be_made(fault, here, positions, words, said):
    before = sorted(here.iterdir())
    assert said in fault("make", *(positions / "match.mat" if word == "MATCH" else word for word in words))
    assert sorted(here.iterdir()) == before
