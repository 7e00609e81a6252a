"""The table of players: measuring, storing, measuring again, and missing players."""

import hashlib
import json
import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from motif.benchmarks import read_benchmark
from motif.contests import play_money_games
from motif.evaluators.known_players import shipped_weights
from motif.players import load
from motif.runtime.errors import BenchmarkError, PlayerError, PlayError, SettingError
from motif.runtime.package import VERSION
from tests.benchmarks.rates import error_rate
from tests.evaluators.made_weights import made_weights
from tools import player_table
from tools.marked_page import marks
from tools.player_table import (
    CLASSES,
    PLAYERS,
    PUBLISHED,
    REGION,
    SEED,
    Conditions,
    Entry,
    Record,
    main,
    page_lines,
    read_lines,
    read_records,
    weights_digest,
    write_records,
    write_table,
)

MARKS = marks(REGION)
LINES = Path(__file__).resolve().parent.parent / "data"
FEW = (Entry("random", "anything", 60), Entry("pubeval", "the reference", 60), Entry("simple", "a table", 80))


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "players.md"
    path.write_text(f"before\n{MARKS[0]}old\n{MARKS[1]}after\n")
    return path


def rows(page: Path) -> dict[str, list[str]]:
    """Return the cells of the first table, by the player's name."""
    text = page.read_text()
    assert text.startswith("before\n" + MARKS[0])
    assert text.endswith(MARKS[1] + "after\n")
    table = text.partition(MARKS[0])[2].partition("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    assert len(set(map(len, cells))) == 1
    return {row[0].strip("`"): row[1:] for row in cells[2:]}


def made(page: Path, **changes) -> dict[str, list[str]]:
    write_table(page, **{"entries": FEW, "folder": LINES, "seconds": 0.01, "jobs": 1, **changes})
    return rows(page)


def test_the_same_figures_as_the_commands(page):
    found = made(page)
    assert list(found) == ["random", "pubeval", "simple"]
    simple = load("simple")
    for cell, kind in zip(found["simple"], CLASSES, strict=False):
        rate = error_rate(simple, read_benchmark(LINES / f"{kind}.bm"), seed=SEED, jobs=1)
        assert cell == f"{rate.er:.1f} ± {rate.se:.1f}"
    result = play_money_games(simple, load("pubeval"), 80, seed=SEED, jobs=1)
    assert found["simple"][3:5] == [f"{result.ppg:+.3f} ± {result.se:.3f}", "80"]
    assert int(found["simple"][5].replace(",", "")) > 1000
    assert found["random"][5] == "-"
    assert found["pubeval"][3:5] == ["0 (itself)", "-"]


def test_published_figures_are_beside_those_measured(page):
    made(page)
    rate = error_rate(load("pubeval"), read_benchmark(LINES / "race.bm"), seed=SEED, jobs=1)
    apart = (rate.er - 7.4) / rate.se
    assert (
        f"| `pubeval` | race | 7.4 ± 0.9 | {rate.er:.2f} ± {rate.se:.2f} | {apart:+.1f} |" in page.read_text()
    )
    assert "contact 300 decisions (sha256 " in page.read_text()


def test_no_player_is_measured_twice(page, monkeypatch, capsys):
    first = made(page)
    assert capsys.readouterr().err.count("measuring") == 3
    monkeypatch.setattr(player_table, "measure", None)
    assert made(page) == first
    # The records alone determine the page.
    page.write_text("before\n" + "".join(MARKS) + "after\n")
    assert made(page) == first


def test_only_the_named_player_is_measured_again(page, capsys):
    made(page)
    capsys.readouterr()
    made(page, only=["simple"])
    assert capsys.readouterr().err.startswith("measuring simple")
    with pytest.raises(PlayerError, match="no player 'nobody' in the table; choose from random, pub"):
        made(page, only=["nobody"])


def test_other_games_are_measured_again(page, capsys):
    made(page)
    capsys.readouterr()
    assert made(page, most_games=60)["simple"][4] == "60"
    # Players with no more games than that are unchanged.
    assert capsys.readouterr().err.count("measuring") == 1
    with pytest.raises(SettingError, match="games must be at least 60, not 58"):
        made(page, most_games=58)


def test_other_lines_are_measured_again(page, tmp_path, capsys):
    made(page)
    folder = tmp_path / "lines"
    folder.mkdir()
    for kind in CLASSES:
        text = (LINES / f"{kind}.bm").read_text().splitlines(keepends=True)
        (folder / f"{kind}.bm").write_text("".join(text[:40]))
    capsys.readouterr()
    # Only players with the same lines are compared.
    assert list(made(page, folder=folder, only=["simple"])) == ["simple"]
    assert list(made(page, folder=folder)) == ["random", "pubeval", "simple"]
    assert capsys.readouterr().err.count("measuring") == 3


def test_new_weights_under_an_old_name_are_measured(page, tmp_path, capsys):
    path = tmp_path / "made.yaml"
    entries = (Entry("random", "anything", 20), Entry(str(path), "made up", 20))
    for seed, measured in ((1, 2), (1, 0), (2, 1)):
        made_weights("keith", seed=seed).save(path)
        capsys.readouterr()
        made(page, entries=entries)
        assert capsys.readouterr().err.count("measuring") == measured


@pytest.mark.parametrize("name", ["keith-v1", "keith-v1@1", "weights/keith-v1.yaml", "keith-v1+bearoff@2"])
def test_the_weights_behind_a_name(name, monkeypatch):
    monkeypatch.chdir(LINES.parent.parent)
    path = shipped_weights()["keith-v1"]
    assert weights_digest(name) == hashlib.sha256(path.read_bytes()).hexdigest()
    assert weights_digest("pubeval") == ""


def test_a_stopped_run_resumes(page, monkeypatch):
    measure = player_table.measure

    def stop_at_the_second(entry, *arguments, **options):
        if entry.name == "pubeval":
            raise KeyboardInterrupt
        return measure(entry, *arguments, **options)

    monkeypatch.setattr(player_table, "measure", stop_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        made(page)
    assert list(rows(page)) == list(read_records(page.with_suffix(".json"))) == ["random"]
    monkeypatch.undo()
    assert list(made(page)) == ["random", "pubeval", "simple"]


def test_a_player_that_cannot_be_loaded_has_a_row(page, monkeypatch):
    entries = (*FEW[:1], Entry("onnx:none.onnx", "a net that is nowhere"), Entry("gone", "a program", 20))
    found = made(page, entries=entries)
    assert found["onnx:none.onnx"][0].startswith("not measured: ")
    assert found["gone"][0].startswith("not measured: no player is called 'gone'")
    assert "`onnx:none.onnx`: a net that is nowhere." in page.read_text()
    # The player is measured as soon as it can be loaded.
    simple = load("simple")
    monkeypatch.setattr(player_table, "load", lambda name: simple if name == "gone" else load(name))
    assert made(page, entries=entries)["gone"][4] == "20"


def test_a_player_that_fails_later_has_a_row(monkeypatch):
    class Failing(type(load("simple"))):
        def choose_many(self, *arguments):
            raise PlayError("the program has ended")

    monkeypatch.setattr(player_table, "load", lambda name: Failing(name, load("simple").model))
    lines = read_lines(LINES)
    record = player_table.measure(FEW[2], lines, Conditions(VERSION, SEED, 20, lines.digests), jobs=1)
    assert record.missing == "the program has ended"
    assert record.date == date.today().isoformat()


def test_records_are_written_and_read(tmp_path, page):
    made(page)
    kept = page.with_suffix(".json")
    records = read_records(kept)
    write_records(tmp_path / "copy.json", records)
    assert (tmp_path / "copy.json").read_bytes() == kept.read_bytes()
    assert str(tmp_path) not in kept.read_text()
    assert read_records(tmp_path / "none.json") == {}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "x"}', '{"format": "motif-players/1"}', "\0"])
def test_a_damaged_file_of_records(tmp_path, text):
    path = tmp_path / "players.json"
    path.write_text(text)
    with pytest.raises(
        BenchmarkError, match=r"players\.json: not a file of measured players \(.*delete it"
    ) as said:
        read_records(path)
    assert "\n" not in str(said.value)


def test_a_record_without_a_key_is_refused(page):
    made(page, entries=FEW[1:2])
    kept = page.with_suffix(".json")
    document = json.loads(kept.read_text())
    del document["players"]["pubeval"]["conditions"]["seed"]
    kept.write_text(json.dumps(document))
    with pytest.raises(BenchmarkError, match="not a file of measured players"):
        read_records(kept)


def test_lines_are_found_packed_or_plain(tmp_path):
    import gzip

    for kind in CLASSES:
        shutil.copy(LINES / f"{kind}.bm", tmp_path)
    plain = read_lines(tmp_path)
    with gzip.open(tmp_path / "race.bm.gz", "wb") as packed:
        packed.write((LINES / "race.bm").read_bytes())
    packed = read_lines(tmp_path)
    assert len(packed.files["race"]) == len(plain.files["race"])
    assert packed.digests["race"] != plain.digests["race"]
    (tmp_path / "crashed.bm").unlink()
    with pytest.raises(BenchmarkError, match=r"no crashed\.bm\.gz or crashed\.bm$"):
        read_lines(tmp_path)


def test_a_page_without_marks_is_refused_before_anything_is_measured(tmp_path, capsys):
    page = tmp_path / "players.md"
    page.write_text("nothing\n")
    with pytest.raises(SettingError, match="are missing"):
        made(page)
    with pytest.raises(SettingError, match="cannot be read"):
        made(tmp_path / "none.md")
    assert main([str(tmp_path / "none.md")]) == 2
    assert capsys.readouterr().err.startswith(f"motif: error: {tmp_path / 'none.md'}: cannot be read")


def test_the_entries_are_in_order():
    names = [entry.name for entry in PLAYERS]
    assert len(set(names)) == len(names)
    assert set(PUBLISHED) < set(names)
    assert all(set(rates) == set(CLASSES) for rates in PUBLISHED.values())
    assert all(entry.who and "\n" not in entry.who and entry.games % 2 == 0 for entry in PLAYERS)


def test_figures_have_significant_digits_only():
    rate = error_rate(load("simple"), read_benchmark(LINES / "race.bm"), jobs=1)
    conditions = Conditions("0.0.0", 1, 2000, dict.fromkeys(CLASSES, "0" * 64))
    record = Record(conditions, "2020-01-02", {}, 0.25, 0.0125, 123_456.7)
    rates = dict.fromkeys(CLASSES, replace(rate, er=9.876, se=0.1234))
    lines = list(page_lines([Entry("a|b", "x")], {"a|b": replace(record, error_rates=rates)}))
    assert lines[2] == f"| `a/b` |{' 9.88 ± 0.12 |' * 3} +0.250 ± 0.013 | 2,000 | 123,000 |"
    assert lines[-1].endswith("seed 1. Measured 2020-01-02 by motif 0.0.0.")
    assert list(page_lines([Entry("a", "x")], {}))[2:] == ["", ""]
