"""What explanations say: sentences of the registry told to the mover, with values that are on the boards."""

import re
from functools import cache
from html import escape
from html.parser import HTMLParser

import numpy as np
import pytest

from motif.analysis.explain import explain_play, explain_position
from motif.analysis.explain.words import View
from motif.board.identifiers import position_from_gnubg_id
from motif.board.moves import legal_plays
from motif.board.notation import find_play
from motif.board.position import Position
from motif.evaluators import StaticEvaluator, load_static
from motif.parameters import parameter_set
from motif.parameters.named_sets import features
from motif.parameters.registry import SetBuilder
from motif.parameters.sets import PARAMETER_SETS
from motif.reports.term_pages import explanation_page
from tests.games import some_boards

START = Position.start()
MOTIF = parameter_set("motif")
SHOTS = "Rolls of 36 with which the opponent can hit"


@cache
def motif_v1() -> StaticEvaluator:
    return load_static("motif-v1")


def said(name: str, *, on_roll: bool = False, set_name: str = "motif") -> str:
    chosen = parameter_set(set_name)
    return View(on_roll).sentence(chosen.parameters[chosen.names.index(name)])


@pytest.mark.parametrize("set_name", PARAMETER_SETS)
@pytest.mark.parametrize("on_roll", [False, True])
def test_every_parameter_is_told_to_you(set_name, on_roll):
    for parameter in parameter_set(set_name).parameters:
        text = View(on_roll).sentence(parameter)
        assert text[0].isupper()
        assert not re.search(r"player|you's|of you\b|you (is|has|holds|needs|stands|leads)\b", text), text
        assert not re.search(r"[()]|:", text)


def test_the_mover_has_just_moved():
    assert said("home_points_opponent") == "Home points that you have made"
    assert said("home_points") == "Home points that the opponent has made"
    assert said("home_points", on_roll=True) == "Home points that you have made"
    assert said("hitting_rolls") == SHOTS
    assert said("hitting_rolls_opponent") == "Rolls of 36 with which you can hit"
    assert said("on_bar_opponent") == "Your checkers on the bar"
    assert said("direct_shots", set_name="keith").startswith("Pairs of a blot of yours and a distance")
    assert said("pip_lead") == "Pips by which you lead"
    assert said("spare_pips_opponent").endswith("or moving your back checkers")


def test_a_new_parameter_needs_no_words_of_its_own():
    builder = SetBuilder("new", revision=1)
    builder.side(
        "reach", "points that {side} covers with {side}'s spares", unit="points", full=6, group="new"
    )
    own, twin = builder.build().parameters
    assert View(True).sentence(own) == View(False).sentence(twin) == "Points that you cover with your spares"
    assert View(True).group(own) == "new"


def test_threats_of_the_opponent_are_a_matter_of_safety():
    def filed(name: str) -> str:
        return View(False).group(MOTIF.parameters[MOTIF.names.index(name)])

    assert filed("hitting_rolls") == filed("blots_home_opponent") == filed("on_bar_opponent") == "safety"
    assert filed("hitting_rolls_opponent") == filed("blots_home") == filed("on_bar") == "attack"
    assert filed("blots_back_opponent") == filed("deep_anchors_opponent") == "back checkers"
    assert filed("pip_lead") == "race"


def test_sentences_name_what_is_measured():
    """Every "A: a, not b." of a decision is a parameter's sentence with its two values."""
    evaluator = motif_v1()
    plays = legal_plays(START, (3, 1))
    better, worse = find_play("8/5 6/5", plays), find_play("24/23 13/10", plays)
    found = explain_play(evaluator, START, (3, 1), better, worse)
    rows = features(MOTIF, np.array([better.position.board, worse.position.board])) / MOTIF.scales
    known = {}
    for k, parameter in enumerate(MOTIF.parameters):
        sign = -1 if parameter.side == "difference" else 1
        first, second = (round(float(sign * value), 1) + 0.0 for value in rows[:, k])
        known[View(False).sentence(parameter)] = f"{first:g}, not {second:g}"
    facts = [fact for line in found.group_sentences[:-1] for fact in line.removesuffix(".").split(". ")[1:]]
    measured = [tuple(fact.split(": ")) for fact in facts if fact.split(": ")[0] in known]
    assert len(measured) >= 5
    for label, values in measured:
        assert values == known[label]
    assert ("Rolls of 36 with which the opponent can hit with one die", "0, not 27") in measured
    assert ("Home points that you have made", "2, not 1") in measured
    assert found.summary == "8/5 6/5 is better than 24/23 13/10 by 0.040 points."


def test_a_hit_is_one_matter():
    position = position_from_gnubg_id("z92DAADNdgEwGA")
    found = explain_play(motif_v1(), position, (2, 1))
    assert (found.better.notation, found.worse.notation) == ("18/15*", "6/3")
    name, contribution = found.groups[0]
    assert name == "hitting"
    assert contribution > 0.9 * found.difference_x
    opening = f"Hitting {found.scale.told(contribution)}. The opponent's checkers on the bar: 1, not 0. "
    assert found.group_sentences[0].startswith(opening)
    # More shots against you speak against a play, and are told so.
    assert re.match(r"Safety -0\.\d+\. Pips that you lose .*: 8\.3, not 0\.", found.group_sentences[1])


def test_most_of_the_difference_is_told():
    evaluator = motif_v1()
    for roll in ((3, 1), (6, 4), (5, 5)):
        found = explain_play(evaluator, START, roll)
        assert 1 <= len(found.group_sentences) <= 6
        heads = [re.match(r"(.+?) [+-]?[\d.]+[.:]", sentence)[1] for sentence in found.group_sentences]
        biggest = [name for name, _ in found.groups][:3]
        assert [head.lower() for head in heads[: len(biggest)]] == biggest[: len(heads)]
        amounts = [float(re.search(r"[+-]\d\.\d+", line)[0]) for line in found.group_sentences]
        assert sum(amounts) == pytest.approx(found.equity_difference, abs=0.004)


@pytest.mark.parametrize("player", ["motif-v1", "keith-v1", "bras"])
def test_the_parts_of_a_position_add_up(player):
    evaluator = load_static(player)
    for board in some_boards("pubeval", 20, 4):
        position = Position(board)
        found = explain_position(evaluator, position)
        assert found.on_roll + sum(value for _, value in found.terms) == pytest.approx(found.x, abs=1e-9)
        assert found.on_roll + sum(value for _, value in found.groups) == pytest.approx(found.x, abs=1e-9)
        other = explain_position(evaluator, position.switch_sides())
        assert other.on_roll == pytest.approx(found.on_roll, abs=1e-9)
        assert sorted(-value for _, value in other.groups) == pytest.approx(
            sorted(value for _, value in found.groups), abs=1e-9
        )


def test_in_a_balanced_position_only_the_roll_counts():
    found = explain_position(motif_v1(), START)
    assert found.groups == ()
    assert re.fullmatch(r"Against an even game, (\+0\.\d+) points: being on roll \1\.", found.summary)


class _Page(HTMLParser):
    """Names of the elements, and whether each is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        if tag not in ("meta", "wbr"):
            self.open.append(tag)
        for name, value in attrs:
            assert not name.startswith("on")
            assert name != "src"
            assert "http" not in (value or "") or name == "xmlns"

    def handle_startendtag(self, tag, attrs):
        self.names.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_else():
    found = explain_play(motif_v1(), START, (6, 4))
    text = explanation_page(found)
    page = _Page(text)
    assert page.open == []
    assert "script" not in page.names
    assert "link" not in page.names
    assert page.names.count("svg") == 2 + len(found.shown_reasons) + len(found.shown_groups)
    assert page.names.count("details") == 2
    for reason in found.shown_reasons:
        sentence = escape(reason.sentence).replace("&#x27;", "&#39;")
        assert f"{sentence}</th>" in text
    assert len(re.findall(r"<tr><td>[+-]\d", text)) == len(found.terms)
    for name, value in found.shown_groups:
        assert f"{name}</th>" in text
        assert f"<td>{found.scale.told(value)}</td>" in text
    assert explanation_page(found) == text
