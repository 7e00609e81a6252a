"""Links and names of files in the documentation lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    path.relative_to(ROOT)
    for folder in ("", "docs", "weights", "data", "tests/data", "motif/data")
    for path in ((ROOT / folder).rglob("*.md") if folder else ROOT.glob("*.md"))
)
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_PAGE = re.compile(r"\bdocs/[\w/.-]*\w")
_SOURCE = re.compile(
    r"`((?:motif|tools|tests|docs|runs|data|weights)/[\w/.-]*\.(?:py|md|json|html|yaml|toml|gz))`"
)
_MADE_BY_RUNS = "runs/"


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_to_files(page):
    links = _LINK.findall((ROOT / page).read_text("utf-8"))
    local = [link for link in links if "://" not in link]
    assert not [link for link in local if not (ROOT / page).parent.joinpath(link).exists()]


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
