"""The gallery: its commands are valid, and make what the page shows."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from motif.cli.main import app
from tools.gallery import FOLDER, PAGE, gallery_lines

TEXT = PAGE.read_text("utf-8")


@pytest.mark.parametrize("line", gallery_lines())
def test_every_command_is_valid(line):
    program, name, *words = shlex.split(line)
    assert program == "motif"
    with typer.main.get_command(app).commands[name].make_context(name, words) as context:
        assert context.params


def test_everything_shown_is_made_by_a_command():
    figures = re.findall(r"^:::\{figure\} (.*)$", TEXT, re.MULTILINE)
    pages = re.findall(r"^:::\{page\} (.*)$", TEXT, re.MULTILINE)
    links = re.findall(r"\{made\}`[^`<]*<([^>]*)>`", TEXT)
    assert sorted(pages) == sorted(links)
    made = {word for line in gallery_lines() for word in shlex.split(line)}
    place = FOLDER.relative_to(PAGE.parent)
    for shown in (*(Path(figure).relative_to(place) for figure in figures), *map(Path, pages)):
        assert shown.parts[0] in made or shown.name in made, shown
