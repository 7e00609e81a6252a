"""The strength table: every page has the table made from the stored records, and nothing is measured."""

import json
import shutil
from dataclasses import replace

import pytest

from motif.evaluators.known_players import default_player
from motif.runtime.errors import BenchmarkError, SettingError
from tools.import_graph import ROOT
from tools.marked_page import marks, region, write_region
from tools.player_table import read_records
from tools.strength_table import PAGES, RECORDS, REGION, main, records_alike, strength_lines, write_pages

ALL_PAGES = (*PAGES, RECORDS.with_suffix(".md"))


@pytest.fixture
def copies(tmp_path):
    """Copy the pages and the records into separate folders."""
    for path in (*ALL_PAGES, RECORDS):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    return tmp_path


def test_the_pages_are_up_to_date(copies):
    write_pages(copies)
    for path in ALL_PAGES:
        assert (copies / path).read_text("utf-8") == (ROOT / path).read_text("utf-8"), (
            f"{path}: make strength"
        )


def test_a_changed_figure_reaches_every_page(copies):
    records = copies / RECORDS
    document = json.loads(records.read_text("utf-8"))
    document["players"]["motif-v1"]["ppg"] = 0.1234
    records.write_text(json.dumps(document))
    write_pages(copies)
    for path in ALL_PAGES:
        assert "| +0.123 ± 0.009 |" in (copies / path).read_text("utf-8")


def test_the_contents_of_the_table():
    records = read_records(ROOT / RECORDS)
    known = {name: records[name] for name in ("gnubg", "pubeval", "best-of-four", default_player(), "simple")}
    known["wildbg"] = replace(records["wildbg"], missing="nowhere")
    rates = [f"{rate.er:.2f} ± {rate.se:.2f}" for rate in known["gnubg"].error_rates.values()]
    _, _, simple, pubeval, motif, gnubg, _, *text = strength_lines(known)
    assert simple.startswith("| `simple`, where learning starts | 47.4 ± 1.0 |")
    assert pubeval.endswith(" | 0 |")
    assert motif.startswith(f"| `{default_player()}` | ")
    assert gnubg == f"| `gnubg`, 0-ply | {' | '.join(rates)} | +0.617 ± 0.017 |"
    assert f"20,000 per player (40,000 for `{default_player()}`, 6,000 for `gnubg`)" in " ".join(text)
    assert "8,000 contact, 4,000 crashed and 4,000 race decisions" in " ".join(text)


def test_players_measured_differently_are_left_out():
    records = read_records(ROOT / RECORDS)
    other = replace(records["bras"], conditions=replace(records["bras"].conditions, seed=3))
    assert set(records) - set(records_alike({**records, "bras": other})) == {"bras"}
    del records["pubeval"]
    with pytest.raises(BenchmarkError, match="pubeval has not been measured"):
        records_alike(records)


def test_a_failure_prints_one_line(monkeypatch, capsys):
    monkeypatch.setattr("tools.strength_table.RECORDS", RECORDS.with_name("none.json"))
    assert main() == 2
    assert capsys.readouterr().err == "motif: error: pubeval has not been measured: run make players\n"


def test_only_the_region_changes(tmp_path):
    page = tmp_path / "page.md"
    start, end = marks(REGION)
    page.write_text(f"before\n{start}old\n{end}after\n")
    write_region(page, REGION, ["new", "lines"])
    assert page.read_text() == f"before\n{start}new\nlines\n{end}after\n"
    assert region(page, REGION) == "new\nlines\n"
    with pytest.raises(SettingError, match="<!-- generated: other --> and <!-- end of other --> are missing"):
        write_region(page, "other", [])
    page.write_bytes(b"\xff")
    with pytest.raises(SettingError, match="it is not UTF-8"):
        region(page, REGION)
