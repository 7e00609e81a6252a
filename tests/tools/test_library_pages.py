"""The library pages contain every public name."""

import re
from importlib import import_module

import pytest

import motif
from tools.library_pages import page_name, pages, public_names, public_places

PAGES = pages()
DIRECTIVE = re.compile(r"^\.\. auto(\w+):: motif\.([\w.]+)$", re.MULTILINE)


@pytest.mark.parametrize("name", dir(motif))
def test_a_page_has_the_location_of_its_name(name):
    ((kind, target),) = DIRECTIVE.findall(PAGES[page_name(name)])
    module, _, last = f"motif.{target}".rpartition(".")
    thing = getattr(import_module(module), last)
    assert thing is getattr(motif, name)
    assert kind == ("class" if isinstance(thing, type) else "function" if callable(thing) else "data") or (
        kind == "exception" and issubclass(thing, Exception)
    )


def test_the_index_leads_to_every_page():
    linked = re.findall(r"\]\(([\w-]+)\.md\)", PAGES["index"])
    listed = PAGES["index"].partition(":hidden:\n\n")[2].split("\n```")[0].splitlines()
    assert sorted(linked) == sorted(listed) == sorted(page_name(name) for name in dir(motif))
    assert {*listed, "index"} == set(PAGES)


def test_page_names_do_not_differ_only_in_case():
    assert len({name.lower() for name in PAGES}) == len(PAGES) == len(public_names()) + 1


def test_public_names_are_found_by_location():
    assert public_places()["motif.board.position.Position"] == "Position"
    assert public_places()["motif.library_learn.fit"] == "fit"
    assert public_places()["motif.library.cube"] == "cube"
