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
    assert len({(it.position, it.roll, it.context) for it in both}) == len(both)
    for it in both:
        plays = legal_plays(it.position, it.roll)
        best, second = (find_play(play, plays) for play in (it.play, it.next_play))
        assert best.position != second.position, it.name
        assert best.notation == it.play, it.name
        assert it.next_loses >= 0.01, it.name
        assert it.reasons, it.name
        assert it.reasons <= CONCEPTS, it.name
        assert it.because.endswith("."), it.name
        assert it.source, it.name


def test_concepts_are_matched_with_those_of_books():
    assert frozenset().union(*NAMED.values()) <= CONCEPTS


def test_the_page_shows_shares_and_failures():
    first, second = DECISIONS[:2]
    plays = [legal_plays(it.position, it.roll) for it in (first, second)]
    read = [
        Reading(first, find_play(first.play, plays[0]), 0.0, ("race",), ("Ahead in the race.",)),
        Reading(second, find_play(second.next_play, plays[1]), 0.02, None),
    ]
    text = "\n".join(page_lines("judge", read))
    assert "`judge` chooses the play of theory in 1 of 2 (50%)." in text
    assert "in 0 of 1 (0%)" in text
    assert "| openings | 1 of 2 | 0 of 1 |" in text
    assert f"motif plays **{second.next_play}**, and judges it 0.020 points better." in text
    assert "motif says: Ahead in the race." in text


@pytest.fixture(scope="module", params=[(FILE, PLAYS, REASONS), (SECOND, SECOND_PLAYS, SECOND_REASONS)])
def reading(request) -> tuple[list[Reading], float, float]:
    path, plays, reasons = request.param
    return readings(path)[1], plays, reasons


@pytest.mark.slow
def test_the_plays_of_theory_are_chosen(reading):
    read, plays, _ = reading
    others = [f"{one.decision.name}: {one.chosen.notation}" for one in read if not one.is_chosen]
    assert len(others) <= (1 - plays) * len(read), "\n".join(others)


@pytest.mark.slow
def test_the_reasons_of_books_are_named(reading):
    read, _, reasons = reading
    chosen = [one for one in read if one.is_chosen]
    told = [one for one in chosen if one.concepts is not None]
    others = [f"{one.decision.name}: {one.concepts}" for one in told if not one.is_named]
    assert len(others) <= (1 - reasons) * len(told), "\n".join(others)
