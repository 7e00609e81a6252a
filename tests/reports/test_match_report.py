"""The page and the text of a match analysis: complete, self-contained, and consistent with the figures."""

import re
from dataclasses import replace
from html import escape
from xml.etree import ElementTree

import pytest

from motif.analysis.match.match_analysis import analyse_match
from motif.board.marks import MIN_RATED
from motif.board.mat_file import parse_mat
from motif.evaluators import load_evaluator
from motif.reports.match_report import match_page, reading_of_figures, sections, worst_lines
from tests.analysis.test_match_analysis import MATCH

NAMES = ("Ann <b>", "Bob & Co")


@pytest.fixture(scope="module")
def analysis():
    text = MATCH.replace("Ann ", f"{NAMES[0]} ").replace("Bob ", f"{NAMES[1]} ")
    return analyse_match(parse_mat(text), load_evaluator("bras"), worst=3)


def test_the_page_needs_nothing_else(analysis):
    page = match_page(analysis)
    assert "<script" not in page
    assert not re.search(r'(?:src|href)="(?!data:)', page)
    assert "Ann &lt;b&gt; - Bob &amp; Co, 3-point match" in page
    assert NAMES[0] not in page


def test_scores_and_counts_are_not_broken_on_a_narrow_screen(analysis):
    page = match_page(analysis)
    assert "game 1 at 0\N{NON-BREAKING HYPHEN}0" in page
    assert re.search(r"\d\N{NO-BREAK SPACE}decision", page)
    assert not re.search(r"\(\d+ decision", page)


def test_every_drawing_is_svg_of_its_own(analysis):
    drawings = re.findall(r"<svg.*?</svg>", match_page(analysis), re.DOTALL)
    assert len(drawings) == 2 * len(analysis.plays) + len(analysis.cubes)
    for drawing in drawings:
        ElementTree.fromstring(drawing)


def test_page_and_text_show_the_plays_and_why(analysis):
    page, lines = match_page(analysis), list(worst_lines(analysis, 120))
    assert len(analysis.plays) == 3
    for play in analysis.plays:
        for text in (f"Played: {play.played.notation}", f"Better: {play.better.notation}"):
            assert f"<figcaption>{text}</figcaption>" in page
            assert any(text in line for line in lines)
        assert play.why.summary
        assert f" {play.why.summary}" in lines
        shown = [reason for reason in play.why.reasons if reason.sentence in play.why.sentences]
        assert [reason.sentence for reason in shown] == list(play.why.sentences)
        for reason in shown:
            marked = f"{'+' if reason.contribution > 0 else '-'} {reason.sentence}"
            assert f" {marked}" in lines
            assert f"<li>{escape(marked)}</li>" in page
    signs = {line[1] for line in lines if re.match(r" [+-] ", line)}
    assert signs == {"+", "-"}
    for cube in analysis.cubes:
        assert any(cube.heading in line for line in lines)


def test_the_loss_of_a_cube_error_is_the_difference_of_the_equities_beside_it(analysis):
    text = "\n".join(worst_lines(analysis, 120))
    assert analysis.cubes
    for cube in analysis.cubes:
        shown = [float(equity) for equity in re.findall(r" ([+-]\d\.\d{3})", equities_line(text, cube))]
        lost = int(re.search(rf"{re.escape(cube.heading)}, loses (\d+) millipoints", text)[1])
        assert lost in {round(1000 * abs(one - other)) for one in shown for other in shown}


def equities_line(text: str, cube) -> str:
    return next(line for line in text.partition(cube.heading)[2].splitlines() if "no double " in line)


def test_boards_are_side_by_side_where_they_fit(analysis):
    wide, narrow = (list(worst_lines(analysis, width)) for width in (98, 97))
    boards = sum(line.count("|BAR|") for line in wide)
    assert boards == sum(line.count("|BAR|") for line in narrow)
    assert max(line.count("|BAR|") for line in wide) == 2
    assert max(line.count("|BAR|") for line in narrow) == 1


def test_a_score_that_contradicts_the_game_before_is_reported(analysis):
    assert not any("although game" in sentence for sentence in reading_of_figures(analysis))
    first, second, *rest = analysis.record.games
    ended = "{}-{}".format(*first.score_after)
    games = (first, replace(second, score=(1, 1)), *rest)
    record = replace(analysis.record, games=games)
    jumps = [line for line in reading_of_figures(replace(analysis, record=record)) if "although game" in line]
    assert jumps[0] == (
        f"In the record, game 2 begins at 1-1, although game 1 ended at {ended}; plays are judged at the "
        "recorded score."
    )
    (jump, *_) = replace(analysis, record=record).to_dict()["score_jumps"]
    assert jump == {"game": 2, "begins": [1, 1], "ended": list(first.score_after)}
    money = replace(record, length=0)
    assert not any("although" in line for line in reading_of_figures(replace(analysis, record=money)))


def test_an_illegal_play_is_reported_but_not_judged():
    text = " 5 point match\n\n Game 1\n Ann : 0   Bob : 0\n  1) 31: 8/5   64: 24/14\n  2) 42: 8/4 6/4\n"
    analysis = analyse_match(parse_mat(text), load_evaluator("bras"))
    said = "Illegal play, recorded but not judged: game 1, move 1, Ann, 31: 8/5."
    assert said in reading_of_figures(analysis)
    assert analysis.to_dict()["illegal_plays"] == [
        {"game": 1, "move": 1, "player": "Ann", "roll": "31", "play": "8/5"}
    ]
    plays = [one for one in analysis.decisions if one.is_play]
    assert [(one.moment.player, one.done) for one in plays] == [(1, "24/14"), (0, "8/4 6/4")]
    # The position after the illegal play is that of the record.
    assert plays[0].moment.position.board[25 - 5] == -1
    assert [one.luck.count for one in analysis.players] == [2, 1]


def test_the_occasion_is_shown(analysis):
    tags = ("Event", "Open <i>"), ("Site", "?"), ("EventDate", "2026.11.20"), ("Round", "3")
    dated = replace(analysis, record=replace(analysis.record, tags=tags))
    said = "Open &lt;i&gt;, 2026-11-20; 3 games, score 2 to 2; analysed by bras."
    assert dated.opening == said.replace("&lt;", "<").replace("&gt;", ">")
    assert said in match_page(dated)
    assert said in dated._repr_html_()
    record = dated.to_dict()
    assert [record[name] for name in ("event", "site", "date")] == ["Open <i>", None, "2026-11-20"]


def test_the_figures_of_both_players_are_shown(analysis):
    assert analysis.title == "Ann <b> - Bob & Co, 3-point match"
    assert analysis.opening == "3 games, score 2 to 2; analysed by bras."
    found = dict(sections(analysis))
    assert list(found) == ["All decisions", "Checker plays", "Cube", "Luck", "By kind of decision"]
    rows = {name: figures for name, *figures in found["All decisions"]}
    few = any(player.overall.decisions < MIN_RATED for player in analysis.players)
    assert ("Fewer than 20 decisions are not rated." in reading_of_figures(analysis)) == few
    assert rows["rating"] == [player.rating or "-" for player in analysis.players]
    assert rows["decisions"] == [str(player.overall.decisions) for player in analysis.players]
    first = analysis.players[0].overall
    assert rows["error rate"][0] == f"{first.rate:.1f} ± {first.se:.1f}"
    assert rows["lost"][0] == f"{first.total:.3f} ({100 * first.cost:.2f} % MWC)"
