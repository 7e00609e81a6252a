"""The command pages contain every command, argument, option and example."""

import re
from pathlib import Path

import pytest

from tools.command_pages import commands, entry, examples, page_name, pages

DOCS = Path(__file__).resolve().parents[2] / "docs"
COMMANDS = commands()
PAGES = pages()


def words_shown(page: str) -> set[str]:
    """Return the words that a page explains, without the placeholders for their values."""
    return {
        word.split()[0]
        for line in re.findall(r"^```\{option\} (.*)$", page, re.MULTILINE)
        for word in line.split(", ")
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_contains_the_whole_help(name):
    page, command = PAGES[page_name(name)], COMMANDS[name]
    assert page.startswith(f"# motif {name}\n")
    shown = words_shown(page)
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            assert parameter.metavar in shown
        elif not parameter.hidden:
            assert {*parameter.opts, *parameter.secondary_opts} <= shown
    assert examples(command)
    assert all(f"\n{line}\n" in page for line in examples(command))


def test_the_index_leads_to_every_page():
    linked = re.findall(r"\]\(([\w-]+)\.md\)", PAGES["index"])
    listed = PAGES["index"].partition(":hidden:\n\n")[2].split("\n```")[0].splitlines()
    assert linked == listed == [page_name(name) for name in COMMANDS]
    assert {*listed, "index"} == set(PAGES)


def test_pages_that_help_texts_name_are_linked():
    links = {link for page in PAGES.values() for link in re.findall(r"\]\(\.\./\.\./([^)]*)\)", page)}
    assert links
    assert not [link for link in links if not (DOCS / link).exists()]


@pytest.mark.parametrize(
    ("left", "right", "lines"),
    [
        ("--plays N", "The N best; --json has all.  [default: 10; x>=1]",
         ["--plays N", "The N best; `--json` has all.  ", "*default: 10*  ", "*at least 1*"]),
        ("--games N", "How many.  [default: (1000; 100 matches)]",
         ["--games N", "How many.  ", "*default: 1000; 100 matches*"]),
        ("--cube / --no-cube", "Whether *there* is one <b>.  [0<=x<=9]",
         ["--cube, --no-cube", r"Whether \*there\* is one \<b\>.  ", "*0 to 9*"]),
        ("ID <str>", "See `--x`.  [required]", ["ID", "See `--x`.  ", "*required*"]),
    ],
)  # fmt: skip
def test_a_line_of_help_becomes_an_entry(left, right, lines):
    first, _, *shown, last = entry(left, right).split("\n")
    assert (first, last) == (f"```{{option}} {lines[0]}", "```")
    assert shown == lines[1:]
