"""The programs on the pages of docs/how-to run unchanged; those of a page run in order.

The test prepares what a page needs but does not make (a match file, a server), and replaces addresses by
those of servers on this machine, and amounts of work by smaller ones.
"""

import doctest
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from io import StringIO
from pathlib import Path

import pytest

from motif.cli.main import main
from tests.short_rollouts import shorten_rollouts
from tools.excerpts import EFFECTS_PAGE, EXCERPTS, with_effects
from tools.import_graph import ROOT
from tools.tutorial import blocks

FOLDER = ROOT / "docs" / "how-to"
PROGRAMS = {
    path.stem: found
    for path in sorted(FOLDER.glob("*.md"))
    if (found := [block.text for block in blocks(path.read_text("utf-8")) if block.kind == "python"])
}
SMALLER = {"games=1000, trials=36": "games=4, trials=2", "games=60, trials=12": "games=20, trials=2"}
"""Part of a program -> its replacement in the test."""
SLOW = {"cluster"}
Prepared = dict[str, str]
"""Part of a page -> its replacement in the test."""


def a_match(folder: Path, stack: ExitStack) -> Prepared:
    """Write a match file of each kind."""
    words = ["play", "pubeval", "simple", "--length", "1", "--seed", "1", "--save"]
    assert main([*words, str(folder / "match.mat")]) == main([*words, str(folder / "match.sgf")]) == 0
    return {}


def nets(folder: Path, stack: ExitStack) -> Prepared:
    """Export the net that the page exports by a command, and write another net."""
    pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
    from tests.evaluators.nets.made_nets import score_net

    (export,) = re.findall(r"^motif (export .*)$", (FOLDER / "nets.md").read_text("utf-8"), re.MULTILINE)
    assert main(shlex.split(export)) == 0
    (folder / "mine.onnx").write_bytes(score_net())
    return {}


def a_server(folder: Path, stack: ExitStack) -> Prepared:
    """Start the HTTP server."""
    pytest.importorskip("fastapi", reason="the extra serve is not installed")
    from motif.serve.serve_settings import ServeSettings
    from tests.serve.conftest import running

    client = stack.enter_context(running(ServeSettings(port=0, games=str(folder))))
    return {"http://127.0.0.1:8080": str(client.base_url)}


def a_cluster(folder: Path, stack: ExitStack) -> Prepared:
    """Start a scheduler with a worker."""
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    from tools.local_cluster import machines

    return {"tcp://10.0.0.1:8786": stack.enter_context(machines(1)).address}


NEEDS: dict[str, Callable[[Path, ExitStack], Prepared]] = {
    "cluster": a_cluster,
    "files": a_match,
    "match-analysis": a_match,
    "nets": nets,
    "serve": a_server,
}


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as entered:
        yield entered


def test_every_preparation_is_needed():
    assert NEEDS.keys() <= PROGRAMS.keys()
    text = "".join(program for programs in PROGRAMS.values() for program in programs)
    assert [part for part in SMALLER if part not in text] == []


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.slow) if page in SLOW else page for page in PROGRAMS]
)
def test_the_programs_of_a_page_run(page, tmp_path, monkeypatch, stack):
    monkeypatch.chdir(tmp_path)
    shorten_rollouts(monkeypatch)
    monkeypatch.setattr(sys, "stdin", StringIO("4HPwATDgc/ABMA\n"))
    replaced = dict(SMALLER)
    if page in NEEDS:
        replaced |= NEEDS[page](tmp_path, stack)
    names: dict[str, object] = {"__name__": f"docs.how_to.{page}"}
    for program in PROGRAMS[page]:
        for part, instead in replaced.items():
            program = program.replace(part, instead)
        if program.startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(program, names, page, str(FOLDER / f"{page}.md"), 0)
            assert doctest.DocTestRunner().run(test, clear_globs=False).failed == 0
            names = test.globs
        else:
            exec(compile(program, f"{page}.md", "exec"), names)
    if page == "match-analysis":
        assert (tmp_path / "match.html").read_text("utf-8").startswith("<!")


@pytest.mark.slow
@pytest.mark.parametrize("excerpt", EXCERPTS, ids=lambda excerpt: excerpt.pages[-1])
def test_an_excerpt_is_what_the_commands_print(excerpt):
    printed = excerpt.printed()
    for page in excerpt.pages:
        assert excerpt.shown((ROOT / page).read_text("utf-8")) == printed


@pytest.mark.slow
def test_the_quoted_effects_are_those_of_terms():
    text = (ROOT / EFFECTS_PAGE).read_text("utf-8")
    assert text.count("\n> ") > 2
    assert with_effects(text) == text


def test_a_failing_program_is_detected(tmp_path, monkeypatch, stack):
    monkeypatch.setitem(PROGRAMS, "bearoff", [">>> 1 + 1\n3\n"])
    with pytest.raises(AssertionError):
        test_the_programs_of_a_page_run("bearoff", tmp_path, monkeypatch, stack)
