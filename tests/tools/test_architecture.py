"""The architecture page: its diagram and its list of files agree with the source."""

import re
from pathlib import Path

import pytest

from tools.architecture import (
    PAGE,
    PICTURE,
    REGION,
    draw,
    house,
    links,
    page_lines,
    paths,
    rows,
    sentence,
    shown_house,
)
from tools.import_graph import sources
from tools.marked_page import region

SOURCES = sources()


def source(words: str, *imported: str) -> str:
    return "\n".join((f'"""{words}"""', *(f"import motif.{name}" for name in imported)))


@pytest.fixture
def small():
    """Return the sources of five folders; other imports imply that the highest imports the lowest."""
    texts = {
        "runtime/__init__.py": source("What every floor may use: errors."),
        "compiler/__init__.py": source("Compiles kernels."),
        "board/__init__.py": source("The rules."),
        "board/low.py": '"""L."""\nfrom motif.compiler.jit import kernel\n@kernel\ndef low():\n    return 1',
        "parameters/__init__.py": source("What is < measured.", "board", "runtime.errors"),
        "sampling/__init__.py": source("Whether to double, or take.", "board"),
        "fitting/__init__.py": source("Who chooses plays; by name.", "parameters", "board"),
        "cli/__init__.py": source("The command\nline: options.", "sampling", "fitting.x", "board", "runtime"),
    }
    return house({Path("motif") / path: text for path, text in texts.items()})


def test_the_page_lists_every_file():
    assert region(PAGE, REGION).splitlines() == list(page_lines(SOURCES)), "make architecture"


def test_the_picture_shows_the_floors():
    assert shown_house(PICTURE.read_text("utf-8")) == house(SOURCES).text, "make architecture"


def test_contents_are_read_from_imports(small):
    assert list(small.rooms) == ["cli", "sampling", "fitting", "parameters", "board", "runtime", "compiler"]
    assert small.rooms["cli"] == "The command line"
    assert small.rooms["sampling"] == "Whether to double"
    assert small.doors == {("cli", "sampling"), ("cli", "fitting"), ("fitting", "parameters")} | {
        ("parameters", "board"),
        ("sampling", "board"),
    }
    assert small.compiled == {"board"}


def test_lines_neither_cross_nor_pass_through_rooms(small):
    assert ["sampling", "sampling>board", "board"] in paths(small)
    order, joined = rows(small), links(small)
    assert [set(row) for row in order] == [
        {"cli"},
        {"fitting", "sampling"},
        {"parameters", "sampling>board"},
        {"board"},
    ]
    assert order[1].index("sampling") == order[2].index("sampling>board")
    assert sum(map(len, joined)) == len(small.doors) + 1


def test_a_picture_describes_its_contents(small):
    picture = draw(small)
    assert shown_house(picture) == small.text
    assert picture == draw(small)
    assert picture.endswith("</svg>\n")


def test_sentences():
    assert sentence('"""One ``thing``, in\ntwo lines.  And more."""') == "One `thing`, in two lines"
    assert sentence('"""About 0.5 points.\n\nMore."""') == "About 0.5 points"
    assert sentence("import x") == ""


def test_a_recipe_names_at_most_three_files():
    recipes = re.findall(r"^## Add (.*?)\n(.*?)(?=^## )", PAGE.read_text("utf-8"), re.M | re.S)
    assert [name for name, _ in recipes] == [
        "a parameter",
        "a player",
        "a section to a report",
        "an option",
        "a command",
        "a key to weight files",
        "a file format of matches",
        "an HTTP route",
    ]
    for _, text in recipes:
        steps = re.findall(r"^\d\. (.*(?:\n   .*)*)", text, re.M)
        assert 1 <= len(steps) <= 3
        assert all(re.search(r"`(?:motif|tools)/", step) for step in steps)
