"""Counts and lists in words."""

import pytest

from motif.runtime.layout import complain, counted, listed, p_text


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 games"), (1, "1 game"), (2, "2 games"), (1000, "1,000 games")]
)
def test_a_count_with_its_noun(count, words):
    assert counted(count, "game") == words


def test_a_plural_of_its_own():
    assert counted(1, "match", "matches") == "1 match"
    assert counted(3, "match", "matches") == "3 matches"


@pytest.mark.parametrize(
    ("words", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a or b"), (["a", "b", "c"], "a, b or c")]
)
def test_a_list_in_a_sentence(words, text):
    assert listed(words, "or") == text
    assert listed(words) == text.replace(" or ", " and ")


def test_p_values():
    assert [p_text(p) for p in (0.00012, 0.0001, 0.00009)] == ["p = 0.00012", "p = 0.0001", "p < 0.0001"]
    assert [p_text(p, "= ") for p in (0.034, 0.0)] == ["= 0.034", "< 0.0001"]
    assert [p_text(p, "") for p in (0.5, 1e-9)] == ["0.5", "< 0.0001"]


def test_a_line_for_a_closed_stderr_is_dropped(monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    complain("nobody reads it")
