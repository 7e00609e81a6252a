"""Reports in a browser: on a phone, nothing is out of sight, however long the names are."""

import pytest

from motif.analysis.match.match_analysis import analyse_match
from motif.board.mat_file import parse_mat
from motif.evaluators import load_evaluator
from motif.reports.match_report import match_page
from tests.board.test_mat_file import BY_GNUBG

LONG = {"Ann Lee": "Bartholomaeus_Wolfeschlegelsteinhausenbergerdorff", "bob": "B" * 50}
WIDE = """() => [...document.querySelectorAll("html, .wide")]
    .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.outerHTML.slice(0, 90))"""


@pytest.fixture(name="report", scope="module")
def _report():
    text = BY_GNUBG
    for name, long in LONG.items():
        text = text.replace(name, long)
    return match_page(analyse_match(parse_mat(text), load_evaluator("motif-v1")))


@pytest.mark.parametrize("width", [360, 390, 768, 1280])
def test_tables_of_a_match_report_fit(new_page, report, width):
    page = new_page(size=(width, 844))
    page.set_content(report)
    assert page.evaluate(WIDE) == []
    rows = page.locator(".errors tbody tr")
    assert rows.count() > 2
    for cell in rows.first.locator("td").all():
        box = cell.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    total = rows.last.locator("td")
    label, amount = (total.nth(k).bounding_box() for k in (3, 4))
    assert label["y"] == pytest.approx(amount["y"], abs=1)
