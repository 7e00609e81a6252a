"""Marks for errors and names for players are gnubg's; tests/peers asks gnubg itself."""

import re

import pytest

from motif.analysis.match.decisions import mark_of as mark_in_analysis
from motif.board.marks import BLUNDER, LOWEST_RATING, MARKS, RATINGS, SIGNS, mark_of, rating
from tools.import_graph import ROOT

PAGES = ("docs/reference/glossary.md", "docs/how-to/match-analysis.md", "docs/how-to/cube.md")


@pytest.mark.parametrize(
    ("error", "mark", "sign"),
    [
        (0, "", ""),
        (0.0299, "", ""),
        (0.03, "doubtful", "?!"),
        (0.0599, "doubtful", "?!"),
        (0.06, "bad", "?"),
        (0.1199, "bad", "?"),
        (0.12, "very bad", "??"),
        (3, "very bad", "??"),
    ],
)
def test_a_mark_applies_from_its_threshold(error, mark, sign):
    assert (mark_of(error), SIGNS[mark]) == (mark, sign)
    assert mark_in_analysis is mark_of


def test_a_blunder_is_very_bad():
    assert mark_of(BLUNDER) == "very bad"
    assert mark_of(BLUNDER - 1e-9) == "bad"


def test_every_rating_is_reached_and_thresholds_ascend():
    limits = [limit for limit, _ in RATINGS]
    assert limits == sorted(limits)
    assert [rating(limit - 0.01) for limit in limits] == [word for _, word in RATINGS]
    assert rating(limits[-1]) == rating(1000) == LOWEST_RATING


def test_docs_contain_the_same_thresholds():
    glossary, analysis, cube = ((ROOT / page).read_text("utf-8") for page in PAGES)
    words = [word for _, word in RATINGS] + [LOWEST_RATING]
    limits = [
        f"below {RATINGS[0][0]}",
        *(str(limit) for limit, _ in RATINGS[1:]),
        f"{RATINGS[-1][0]} and more",
    ]
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in analysis.splitlines()]
    assert limits in table
    assert words in table
    thousandths = [f"{1000 * limit:.0f}" for limit, _ in MARKS]
    (marks,) = re.findall(r"\*Marks\* are gnubg's.*?;", analysis, re.DOTALL)
    assert re.findall(r"\d+", marks) == thousandths[::-1]
    (blunder,) = re.findall(r"(?<=\nblunder\n).*?(?=\n\n)", glossary, re.DOTALL)
    assert re.findall(r"\d+", blunder) == thousandths
    # The table of names for cube decisions.
    hundredths = [f".{100 * limit:02.0f}" for limit, _ in reversed(MARKS)]
    rows = re.findall(r"^\| (?:borderline|close|clear|very clear) \| ([^:]*):", cube, re.MULTILINE)
    assert [re.findall(r"\.\d+", row) for row in rows] == [
        hundredths[:1],
        hundredths[:2],
        hundredths[1:],
        hundredths[2:],
    ]
