"""The pictures of the documentation: each is drawn by a make target, and shown on a page."""

import re
from dataclasses import replace

import pytest

from tools import images
from tools.import_graph import ROOT
from tools.player_table import read_records
from tools.strength_table import RECORDS

MEASURED = {"architecture.svg", "fit-curves.png", "frontier.png"}
"""Pictures of other targets: make architecture, bench-fit, frontier."""


def test_every_picture_is_drawn_by_make():
    drawn = {f"{name}.png" for name in images.PICTURES} | MEASURED
    assert {path.name for path in images.IMAGES.iterdir()} == drawn


def test_pages_show_every_picture():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = {name for page in pages for name in re.findall(r"images/([\w.-]+)\)", page.read_text("utf-8"))}
    assert shown == {path.name for path in images.IMAGES.iterdir()}


def test_strength_has_every_version_and_the_others(tmp_path):
    records = read_records(ROOT / RECORDS)
    assert images.default_player() in images.VERSIONS
    assert {images.default_player(), *images.OTHERS} <= set(records)
    images.strength(tmp_path / "strength.png")
    assert (tmp_path / "strength.png").stat().st_size > 10_000


def test_strength_without_a_program_that_is_not_installed(tmp_path, monkeypatch):
    records = read_records(ROOT / RECORDS)
    records["gnubg"] = replace(records["gnubg"], missing="gnubg is not installed", error_rates={})
    monkeypatch.setattr(images, "read_records", lambda path: records)
    images.strength(tmp_path / "strength.png")
    assert (tmp_path / "strength.png").stat().st_size > 10_000


@pytest.mark.parametrize("name", images.PHOTOGRAPHED)
def test_screenshots_are_unchanged_without_a_browser(name, monkeypatch, capsys):
    monkeypatch.setattr(images, "can_photograph", lambda: False)
    monkeypatch.setattr("sys.argv", ["images", name])
    assert images.main() == 0
    assert f"{name}.png is unchanged" in capsys.readouterr().out


def test_an_unknown_picture_is_named(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["images", "none"])
    assert images.main() == 2
    assert "unknown picture 'none': choose from strength" in capsys.readouterr().err
