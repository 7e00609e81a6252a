"""Explanations of groups: labels of parameters from the mover's side, with values from the boards."""

import re
from functools import cache
from html import escape
from html.parser import HTMLParser

import numpy as np
import pytest

from motif.analysis.explain.explanation import explain_play, explain_position
from motif.analysis.explain.groups import Viewpoint
from motif.analysis.phrases import languages, phrases
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
from motif.runtime.layout import capitalized
from tests.games import some_boards

START = Position.start()
MOTIF = parameter_set("motif")
SHOTS = "The opponent's hitting rolls"


@cache
def motif_v1() -> StaticEvaluator:
    return load_static("motif-v1")


def said(name: str, *, on_roll: bool = False, set_name: str = "motif", language: str = "en") -> str:
    chosen = parameter_set(set_name)
    return Viewpoint(on_roll).label(chosen.parameters[chosen.names.index(name)], phrases(language))


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("set_name", PARAMETER_SETS)
def test_every_parameter_has_a_label_in_every_language(set_name, language):
    words = phrases(language)
    for parameter in parameter_set(set_name).parameters:
        for on_roll in (False, True):
            text = Viewpoint(on_roll).label(parameter, words)
            assert not re.search(r"player|[{}_]", text), text
            mine = (parameter.side == "own") == on_roll
            whose = words.say("measured", "yours" if mine else "theirs")
            assert parameter.side not in ("own", "opponent") or whose in text, text
        if language != "en":
            assert words.find("parameters", parameter.base_name, default=""), parameter.base_name


def test_the_mover_has_just_moved():
    assert said("home_points_opponent") == "your home points"
    assert said("home_points") == "the opponent's home points"
    assert said("home_points", on_roll=True) == "your home points"
    assert said("hitting_rolls") == SHOTS.lower()
    assert said("hitting_rolls_opponent") == "your hitting rolls"
    assert said("on_bar_opponent") == "your checkers on the bar"
    assert said("direct_shots", set_name="keith") == "the opponent's direct shots"
    assert said("pip_lead") == "pip lead"
    assert said("spare_pips_opponent", language="de") == "freie Pips (deine Seite)"


@pytest.mark.parametrize("phase", ["early", "mid", "late"])
def test_german_labels_of_phase_name_the_owner_of_the_checkers(phase):
    for name, place in (("opponent_on_bar", "auf der Bar"), ("opponent_on_board", "auf dem Brett")):
        label = said(f"{phase}_{name}", set_name="phase", language="de")
        assert label.endswith(f"Phase: Steine des Gegners {place}")


def test_a_new_parameter_needs_no_words_of_its_own():
    builder = SetBuilder("new", revision=1)
    builder.side("reach", "points that {side} covers with its spares", unit="points", full=6, group="new")
    own, twin = builder.build().parameters
    for words in map(phrases, languages()):
        assert Viewpoint(True).label(own, words) == Viewpoint(False).label(twin, words)
    assert Viewpoint(True).label(own, phrases()) == "your reach"
    assert Viewpoint(True).group(own) == "new"


def test_threats_of_the_opponent_are_a_matter_of_safety():
    def filed(name: str) -> str:
        return Viewpoint(False).group(MOTIF.parameters[MOTIF.names.index(name)])

    assert filed("hitting_rolls") == filed("blots_home_opponent") == filed("on_bar_opponent") == "safety"
    assert filed("hitting_rolls_opponent") == filed("blots_home") == filed("on_bar") == "attack"
    assert filed("blots_back_opponent") == filed("deep_anchors_opponent") == "back checkers"
    assert filed("pip_lead") == "race"


def test_sentences_name_what_is_measured():
    """Every "A: a, not b." consists of a parameter's label and its two values."""
    evaluator = motif_v1()
    plays = legal_plays(START, (3, 1))
    better, worse = find_play("8/5 6/5", plays), find_play("24/23 13/10", plays)
    found = explain_play(evaluator, START, (3, 1), better, worse)
    rows = features(MOTIF, np.array([better.position.board, worse.position.board])) / MOTIF.scales
    known = {}
    for k, parameter in enumerate(MOTIF.parameters):
        sign = -1 if parameter.side == "difference" else 1
        first, second = (round(float(sign * value), 1) + 0.0 for value in rows[:, k])
        known[capitalized(Viewpoint(False).label(parameter, phrases()))] = f"{first:g}, not {second:g}"
    facts = [
        fact for line in found.static.parts.sentences[:-1] for fact in line.removesuffix(".").split(". ")[1:]
    ]
    measured = [tuple(fact.split(": ")) for fact in facts if fact.split(": ")[0] in known]
    assert len(measured) >= 5
    for label, values in measured:
        assert values == known[label]
    assert ("The opponent's direct shots", "0, not 27") in measured
    assert ("Your home points", "2, not 1") in measured
    assert found.summary == "8/5 6/5 is better than 24/23 13/10 by 0.040 points."


def test_a_hit_is_one_matter():
    position = position_from_gnubg_id("z92DAADNdgEwGA")
    found = explain_play(motif_v1(), position, (2, 1))
    assert (found.better.notation, found.worse.notation) == ("18/15*", "6/3")
    name, contribution = found.static.parts.groups[0]
    sentences = found.static.parts.sentences
    assert name == "hitting"
    assert contribution > 0.9 * found.static.difference_x
    amount = found.static.parts.scale.in_words(contribution, found.words)
    opening = f"Hitting {amount}. The opponent's checkers on the bar: 1, not 0. "
    assert sentences[0].startswith(opening)
    # More shots against you count against a play, and are shown with that sign.
    assert re.match(r"Safety -0\.\d+\. Pips lost to the opponent's hits: 8\.3, not 0\.", sentences[1])


def test_most_of_the_difference_is_reported():
    evaluator = motif_v1()
    for roll in ((3, 1), (6, 4), (5, 5)):
        found = explain_play(evaluator, START, roll)
        sentences = found.static.parts.sentences
        assert 1 <= len(sentences) <= 6
        heads = [re.match(r"(.+?) [+-]?[\d.]+[.:]", sentence)[1] for sentence in sentences]
        biggest = [name for name, _ in found.static.parts.groups][:3]
        assert [head.lower() for head in heads[: len(biggest)]] == biggest[: len(heads)]
        amounts = [float(re.search(r"[+-]\d\.\d+", line)[0]) for line in sentences]
        assert sum(amounts) == pytest.approx(found.static.equity_difference, abs=0.004)


@pytest.mark.parametrize("player", ["motif-v1", "keith-v1", "bras"])
def test_the_parts_of_a_position_add_up(player):
    evaluator = load_static(player)
    for board in some_boards("pubeval", 20, 4):
        position = Position(board)
        found = explain_position(evaluator, position)
        assert found.on_roll + sum(value for _, value in found.parts.terms) == pytest.approx(
            found.x, abs=1e-9
        )
        assert found.on_roll + sum(value for _, value in found.parts.groups) == pytest.approx(
            found.x, abs=1e-9
        )
        other = explain_position(evaluator, position.switch_sides())
        assert other.on_roll == pytest.approx(found.on_roll, abs=1e-9)
        assert sorted(-value for _, value in other.parts.groups) == pytest.approx(
            sorted(value for _, value in found.parts.groups), abs=1e-9
        )


@pytest.mark.parametrize("player", ["motif-v1", "keith-v1", "bras"])
def test_the_amounts_of_a_summary_add_up_to_its_value(player):
    evaluator = load_static(player)
    for board in some_boards("pubeval", 20, 5):
        found = explain_position(evaluator, Position(board))
        value, *parts = map(float, re.findall(r"(?<= )[+-]\d+\.\d+", found.summary))
        unit = 10 ** -len(re.search(r"\.(\d+)", found.summary)[1])
        assert sum(parts) == pytest.approx(value, abs=(len(parts) + 1) * unit / 2)


def test_in_a_balanced_position_only_the_roll_counts():
    found = explain_position(motif_v1(), START)
    assert found.parts.groups == ()
    assert re.fullmatch(r"Compared with an even game, (\+0\.\d+) points: being on roll \1\.", found.summary)


class _Page(HTMLParser):
    """Collects the names of the elements, and checks that each is closed."""

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
    assert page.names.count("svg") == 2 + len(found.shown_reasons) + len(found.static.parts.shown_groups)
    assert page.names.count("details") == 2
    for reason in found.shown_reasons:
        sentence = escape(reason.sentence).replace("&#x27;", "&#39;")
        assert f"{sentence}</th>" in text
    assert len(re.findall(r"<tr><td>[+-]\d", text)) == len(found.static.parts.terms)
    for name, value in found.static.parts.shown_groups:
        assert f"{name}</th>" in text
        assert f"<td>{found.static.parts.scale.in_words(value, found.words)}</td>" in text
    assert explanation_page(found) == text
