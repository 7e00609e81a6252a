"""The reading test: the plays and the reasons of textbooks; see docs/explanation/reading-test.md."""

from collections import Counter

import pytest

from motif.board.moves import legal_plays
from motif.board.notation import find_play
from tools.reading_test import (
    CONCEPTS,
    FILE,
    MORE_THEMES,
    NAMED,
    PLAYS,
    REASONS,
    SECOND,
    SECOND_PLAYS,
    SECOND_REASONS,
    THEMES,
    Reading,
    page_lines,
    read_decisions,
    readings,
)

DECISIONS = read_decisions()
MORE = read_decisions(SECOND)


def test_the_decisions_are_sound():
    assert Counter(it.theme for it in DECISIONS) == dict.fromkeys(THEMES, 12)
    assert {it.theme for it in MORE} == set(MORE_THEMES)
    assert min(Counter(it.theme for it in MORE).values()) >= 8
    both = DECISIONS + MORE
    assert len(DECISIONS) == len(MORE) == 120
    assert len({it.name for it in both}) == len(both)
    assert len({(it.position, it.roll, it.state) for it in both}) == len(both)
    for it in both:
        plays = legal_plays(it.position, it.roll)
        best, second = (find_play(play, plays) for play in (it.play, it.next_play))
        assert best.position != second.position, it.name
        assert best.notation == it.play, it.name
        assert it.next_loses >= 0.01, it.name
        assert it.reasons, it.name
        assert it.reasons <= set(CONCEPTS), it.name
        assert it.because.endswith("."), it.name
        assert it.source, it.name


def test_concepts_are_matched_with_those_of_books():
    assert frozenset().union(*NAMED.values()) <= set(CONCEPTS)


def test_the_page_shows_shares_and_failures():
    first, second = DECISIONS[:2]
    plays = [legal_plays(it.position, it.roll) for it in (first, second)]
    read = [
        Reading(first, find_play(first.play, plays[0]), 0.0, ("race",), ("Ahead in the race.",)),
        Reading(second, find_play(second.next_play, plays[1]), 0.02, None),
    ]
    text = "\n".join(page_lines("judge", read))
    assert "`judge` chooses the textbook play in 1 of 2 (50 %)." in text
    assert "in 0 of 1 (0 %)" in text
    assert "| openings | 1 of 2 | 0 of 1 |" in text
    assert "| theme | textbook play | textbook reason |" in text
    assert f"\nThe textbook play is **{second.play}**: {second.because}\n" in text
    assert "\nTextbook reasons: blocks, home board, making a point. motif says: " in text
    assert f"motif plays **{second.next_play}**, and judges it 0.020 points better." in text
    assert "motif says: Ahead in the race." in text


def test_headings_begin_at_a_level_and_scores_are_shown():
    double, crawford = (
        next(it for it in MORE if it.state and it.state.crawford == is_crawford)
        for is_crawford in (False, True)
    )
    read = [Reading(it, find_play(it.next_play, legal_plays(it.position, it.roll)), 0.02, None)
            for it in (double, crawford, MORE[0])]  # fmt: skip
    lines = list(page_lines("judge", read, MORE_THEMES, 3))
    headings = [line for line in lines if line.startswith("#")]
    assert headings == ["### Where another play is chosen", *(f"#### {one.decision.name}" for one in read)]
    situations = [lines[lines.index(heading) + 2] for heading in headings[1:]]
    first, second, third = ("{}-{}".format(*one.decision.roll) for one in read)
    state = crawford.state
    away = f"{3 - state.own_score}-away {3 - state.opponent_score}-away"
    assert situations == [
        f"match score, roll {first}, 1-away 1-away",
        f"match score, roll {second}, {away}, Crawford game",
        f"openings, roll {third}",
    ]


@pytest.fixture(scope="module", params=[(FILE, PLAYS, REASONS), (SECOND, SECOND_PLAYS, SECOND_REASONS)])
def reading(request) -> tuple[list[Reading], float, float]:
    path, plays, reasons = request.param
    return readings(path)[1], plays, reasons


@pytest.mark.slow
def test_the_textbook_plays_are_chosen(reading):
    read, plays, _ = reading
    others = [f"{one.decision.name}: {one.chosen.notation}" for one in read if not one.is_chosen]
    assert len(others) <= (1 - plays) * len(read), "\n".join(others)


@pytest.mark.slow
def test_the_textbook_reasons_are_named(reading):
    read, _, reasons = reading
    chosen = [one for one in read if one.is_chosen]
    told = [one for one in chosen if one.concepts is not None]
    others = [f"{one.decision.name}: {one.concepts}" for one in told if not one.is_named]
    assert len(others) <= (1 - reasons) * len(told), "\n".join(others)
