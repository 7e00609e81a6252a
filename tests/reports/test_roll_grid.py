"""The grid of the opponent's rolls: every roll has its number, and the sign does not depend on colour."""

import re
from xml.etree import ElementTree

from motif.analysis.explain.explanation import explain_play
from motif.board.moves import legal_plays
from motif.board.notation import find_play
from motif.board.position import Position
from motif.evaluators import LookaheadEvaluator, load_static
from motif.reports.term_pages import explanation_page, roll_grid

GRID = [[0.01 * (row - column) for column in range(6)] for row in range(6)]


def test_every_roll_has_a_number_with_its_sign():
    svg = ElementTree.fromstring(roll_grid(GRID, "Rolls", "What & why"))
    space = "{http://www.w3.org/2000/svg}"
    texts = [text.text for text in svg.iter(f"{space}text")]
    assert [svg.find(f"{space}{name}").text for name in ("title", "desc")] == ["Rolls", "What & why"]
    assert texts[:12] == [str(die) for die in range(1, 7) for _ in range(2)]
    shown = ["0" if row == column else f"{'+' if row > column else '−'}{abs(row - column)}"
             for row in range(6) for column in range(6)]  # fmt: skip
    assert texts[12:] == shown
    framed = [rect for rect in svg.iter(f"{space}rect") if rect.get("stroke-dasharray")]
    assert len(framed) == sum(value < -0.005 for row in GRID for value in row)


def test_the_page_has_the_grid_with_lookahead():
    start = Position.start()
    plays = legal_plays(start, (6, 5))
    two = find_play("24/13", plays), find_play("24/18 13/8", plays)
    evaluator = load_static("latest")
    ahead = explain_play(LookaheadEvaluator(evaluator, 1), start, (6, 5), *two, language="de")
    page = explanation_page(ahead)
    assert "<h2>Der nächste Wurf des Gegners</h2>" in page
    assert len(re.findall(r">[+−]\d+</text>|>0</text>", page)) == 36
    assert "nächste Wurf" not in explanation_page(explain_play(evaluator, start, (6, 5), *two, language="de"))
