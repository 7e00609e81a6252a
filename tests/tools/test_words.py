"""The word lint finds matches of its rules in prose, and its folders are clean."""

from dataclasses import replace
from pathlib import Path

import pytest

from tools.words import Rules, breaches, prose

RULES = Rules.read()


def found(text: str, name: str = "page.md") -> list[str]:
    return list(RULES.breaches(Path(name), text))


def test_watched_folders_are_clean():
    assert breaches(RULES, RULES.folders) == []


@pytest.mark.parametrize(
    "text",
    [
        "Whoever doubles",
        "the equity is told",
        "the chances of who is on roll",
        "0.3 points a\ngame",
        "above all",
        "It errs",
        "10,000 games without their luck",
    ],
)
def test_unidiomatic_words_are_found(text):
    assert len(found(text)) == 1


@pytest.mark.parametrize(
    "text",
    ["`--without-cube`", "```\nhis = 1\n```", "the whole", "Ann's", "points per game", "a game"],
)
def test_code_and_plain_words_are_left_alone(text):
    assert found(text) == []


def test_the_line_and_the_better_word_are_named():
    (line,) = found("One line.\n\nPlayers show what\nwhoever doubles loses.")
    assert line.startswith("page.md:4: 'whoever': better: ")


def test_comments_and_strings_of_programs_are_searched():
    text = 'his = {"he": 1}  # his\n"""Whoever."""\nx = f"he {his}"\n'
    assert [line.split("'")[1] for line in found(text, "a.py")] == ["he", "his", "Whoever", "he"]
    assert prose(Path("a.js"), "throw his; // his").replace("\0", " ").split() == ["//", "his"]


def test_a_file_may_keep_a_quotation():
    rules = replace(RULES, folders=[], allowed={"page.md": ["above all"]})
    assert list(rules.breaches(Path("page.md"), "Above all")) == []
