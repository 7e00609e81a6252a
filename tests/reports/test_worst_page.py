"""The page of the costliest decisions: its contents, and that it is self-contained."""

import math
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

import pytest
from matplotlib.image import imread

from motif.benchmarks import read_benchmark
from motif.benchmarks.choices import player_choices, summary, worst_decisions
from motif.board.identifiers import gnubg_id
from motif.players import load
from motif.reports.worst_page import plot_losses, write_worst_page

DATA = Path(__file__).resolve().parent.parent / "data"
VOID = {"meta", "img", "br", "wbr"}
DRAWN_EMPTY = {"rect", "circle", "path"}


class Outline(HTMLParser):
    """Counts elements, and checks that each is closed correctly."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.links: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        assert tag in DRAWN_EMPTY
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def measured():
    choices = [player_choices(load("pubeval"), read_benchmark(DATA / "contact.bm"), jobs=1)]
    return summary(choices), worst_decisions(choices, 6)


def test_the_contents_of_the_page(measured, tmp_path):
    rates, worst = measured
    write_worst_page("<pub & eval>", rates, worst, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    outline = Outline(page)
    assert "script" not in outline.seen
    assert all(link.startswith("data:image/png;base64,") for link in outline.links)
    assert outline.seen.count("svg") == 2 * len(worst)
    assert outline.seen.count("h3") == len(worst)
    assert "&lt;pub &amp; eval&gt;: benchmark" in page
    assert f"{rates.overall.er:.2f}\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{rates.overall.se:.2f}" in page
    sections = page.split("<h3>")[1:]
    for number, (section, decision) in enumerate(zip(sections, worst, strict=True), 1):
        assert section.startswith(f"{number}. Rolled {decision.roll[0]}{decision.roll[1]}: loses ")
        assert f"line {decision.line}" in section
        assert f"<strong>{decision.played.notation}</strong> (played)" in section
        assert all(f"<td>{play.loss:.1f}</td>" in section for play in decision.best)
        assert ("at least" in section) == (not decision.is_listed)
        assert f"\n<pre>{gnubg_id(decision.position)}:" in section
        boards = section.split("<svg")[1:]
        for board, play in zip(boards, (decision.played, decision.best[0]), strict=True):
            drawing = ElementTree.fromstring("<svg" + board.partition("</svg>")[0] + "</svg>")
            heads = [part for part in drawing if part.get("stroke-width") == "4.5"]
            assert len(heads) == len(play.moves)
    write_worst_page("<pub & eval>", rates, worst, tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "page.html").read_bytes()


def test_nothing_lost(measured, tmp_path):
    rates, _ = measured
    single = replace(rates.overall, se=math.nan, unlisted=1)
    write_worst_page("x", replace(rates, overall=single), [], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    Outline(page)
    assert "No decision lost anything." in page
    assert "1 play is not listed in" in page
    assert "nan" not in page.partition("<img")[0]


def test_the_picture(measured, tmp_path):
    rates, _ = measured
    plot_losses(rates.distribution, "pubeval", tmp_path / "losses.png")
    pixels = imread(BytesIO((tmp_path / "losses.png").read_bytes()))
    assert pixels.shape[:2] == (600, 1080)
    assert pixels[..., :3].std() > 0.1
