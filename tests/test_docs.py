"""The documentation: links and file names are valid, and the site has every page."""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from tools import command_pages, library_pages

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
MADE = {"reference/commands", "reference/http", "reference/library"}
"""Folders of docs/ whose pages are made when the site is built."""
PAGES = sorted(
    path.relative_to(ROOT)
    for folder in ("", "docs", "weights", "data", "tests/data", "motif/data")
    for path in ((ROOT / folder).rglob("*.md") if folder else ROOT.glob("*.md"))
    if not any(path.is_relative_to(DOCS / made) for made in MADE)
)
SITE = sorted(
    path.relative_to(DOCS).with_suffix("").as_posix()
    for path in (*(ROOT / page for page in PAGES), *DOCS.rglob("notebooks/*.ipynb"))
    if path.is_relative_to(DOCS) and path.name not in ("README.md", "index.md")
)
"""Pages of the site that are written by hand, as a table of contents names them."""
_INLINE = re.compile(r"`motif ([^`]*)`")
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_PAGE = re.compile(r"(?<![\w-])(?<!build/)\bdocs/[\w/.-]*\w")
_SOURCE = re.compile(
    r"`((?:motif|tools|tests|docs|runs|data|weights)/[\w/.-]*\.(?:py|md|json|html|yaml|toml|gz))`"
)
_MADE_BY_RUNS = "runs/"


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_to_files(page):
    links = _LINK.findall((ROOT / page).read_text("utf-8"))
    local = [link for link in links if "://" not in link]
    paths = [(ROOT / page).parent.joinpath(link) for link in local]
    assert not [path for path in paths if not path.exists() and not is_made(path)]


def is_made(path: Path) -> bool:
    """Return whether the page at `path` is generated when the site is built."""
    return any(path.resolve().is_relative_to(DOCS / made) for made in MADE)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_files_that_are_named_exist(page):
    names = _SOURCE.findall((ROOT / page).read_text("utf-8"))
    assert not [name for name in names if not name.startswith(_MADE_BY_RUNS) and not (ROOT / name).exists()]


def test_pages_that_the_source_names_exist():
    files = [path for folder in ("motif", "tools", "tests") for path in (ROOT / folder).rglob("*.py")]
    named = {
        (path.relative_to(ROOT), name)
        for path in (*files, ROOT / "Makefile", *(ROOT / "motif" / "data").rglob("*.yaml"))
        for name in _PAGE.findall(path.read_text("utf-8"))
    }
    assert len(named) > 10
    assert not [(path, name) for path, name in named if not (ROOT / name).exists()]


def test_the_site_has_every_page_once():
    contents = (DOCS / "index.md").read_text("utf-8")
    listed = [line for block in re.findall(r"```\{toctree\}\n(.*?)```", contents, re.DOTALL)
              for line in block.splitlines() if line and not line.startswith(":")]  # fmt: skip
    assert sorted(listed) == sorted([*SITE, *(f"{made}/index" for made in MADE)])


def test_the_list_of_pages_in_the_repository_has_every_page():
    linked = set(_LINK.findall((DOCS / "README.md").read_text("utf-8")))
    names = {Path(link).with_suffix("").as_posix() for link in linked}
    # The gallery's pictures exist only in the site.
    assert set(SITE) - names == {"gallery"}


def test_commands_for_users_of_other_programs_are_valid(monkeypatch):
    monkeypatch.chdir(ROOT)
    text = (DOCS / "how-to" / "coming-from.md").read_text("utf-8")
    lines = [line for line in _INLINE.findall(text) if line.split()[0] != "bootstrap"]
    assert len(lines) > 15
    commands = command_pages.commands()
    for line in lines:
        words = shlex.split(line)
        name = max((name for name in commands if words[: len(name.split())] == name.split()), key=len)
        with commands[name].make_context(name, words[len(name.split()) :]) as context:
            assert context.params


@pytest.mark.parametrize("form", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ids=str)
def test_forms_for_issues_can_be_read(form):
    fields = yaml.safe_load(form.read_text("utf-8"))
    if form.stem != "config":
        assert {"name", "description", "body"} <= set(fields)
        names = [field["id"] for field in fields["body"]]
        assert len(names) == len(set(names))
        assert all(field["attributes"]["label"] for field in fields["body"])


def test_the_citation_agrees_with_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["license"] == project["license"]


def test_notices_name_third_party_material():
    notices = (ROOT / "THIRD_PARTY.md").read_text("utf-8")
    data = ROOT / "motif" / "data"
    made_here = {data / "phrases", data / "presets", data / "frontier.json"}
    for path in data.rglob("*"):
        if path.is_file() and path.name != "README.md" and not made_here & {path, path.parent}:
            assert path.name in notices or f"`{path.parent.relative_to(ROOT)}/`" in notices, path


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path):
    pytest.importorskip("sphinx", reason="the site is built by Sphinx")
    words = ["-W", "--keep-going", "-q", "-d", tmp_path / "doctrees", "-b", "html", DOCS, tmp_path / "site"]
    ended = subprocess.run([sys.executable, "-m", "sphinx", *words], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    built = {path.relative_to(tmp_path / "site").with_suffix("").as_posix()
             for path in (tmp_path / "site").rglob("*.html")}  # fmt: skip
    assert {*SITE, "index"} <= built
    assert {f"reference/commands/{name}" for name in command_pages.pages()} <= built
    assert {f"reference/library/{name}" for name in library_pages.pages()} <= built
    # A signature shows Python code, not an object's representation.
    pages = (tmp_path / "site" / "reference" / "library").glob("*.html")
    assert not [page.name for page in pages if re.search("&lt;(factory|function|lambda)", page.read_text())]
