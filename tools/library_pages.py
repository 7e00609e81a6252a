"""Generate the site's library pages: one for each public name of ``motif``.

They contain autodoc directives, which read signatures, types and docstrings when the site is built.
"""

import inspect
from functools import cache
from typing import Any

import motif

_EXCEPTION, _CLASS, _FUNCTION, _DATA = "exception", "class", "function", "data"
_MEMBERS = "   :members:\n   :undoc-members:\n   :member-order: bysource\n   :inherited-members: {without}\n"
_WITHOUT = (
    "object, tuple, int, str, Exception, BaseException, ABC, Sequence, Reversible, Collection, Iterable"
)


def public_names() -> list[str]:
    """Return every public name of the library in alphabetical order."""
    return sorted(dir(motif), key=lambda name: (name.lower(), name))


@cache
def public_places() -> dict[str, str]:
    """Return the public names by their location in the source, such as ``motif.board.moves.Play``."""
    things = {name: getattr(motif, name) for name in dir(motif)}
    return {_place(thing): name for name, thing in things.items() if kind_of(thing) != _DATA}


def _place(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def page_name(name: str) -> str:
    """Return the file name of the page of `name`; no two differ only in case."""
    folder = "class" if inspect.isclass(getattr(motif, name)) else "function"
    return f"{folder}-{name.strip('_')}"


def pages() -> dict[str, str]:
    """Return the Markdown pages by name: one per public name, and ``index``, which lists them."""
    names = public_names()
    return {"index": _index(names), **{page_name(name): library_page(name) for name in names}}


def _index(names: list[str]) -> str:
    parts = [
        "# The library\n",
        "The public names of `import motif`. Everything else is internal and may change.\n",
    ]
    for heading, kinds in (
        ("Functions and the version", (_FUNCTION, _DATA)),
        ("Classes", (_CLASS, _EXCEPTION)),
    ):
        rows = [
            f"| [`{name}`]({page_name(name)}.md) | {_first_line(name)} |"
            for name in names
            if kind_of(getattr(motif, name)) in kinds
        ]
        parts += [f"## {heading}\n", "| name | |\n|---|---|", *rows, ""]
    parts += ["```{toctree}\n:hidden:\n", *map(page_name, names), "```\n"]
    return "\n".join(parts)


def kind_of(thing: object) -> str:
    """Return autodoc's directive for a public name."""
    if inspect.isclass(thing):
        return _EXCEPTION if issubclass(thing, BaseException) else _CLASS
    return _FUNCTION if callable(thing) else _DATA


def _first_line(name: str) -> str:
    thing = getattr(motif, name)
    if kind_of(thing) == _DATA:
        return f"`{thing!r}`"
    text = inspect.getdoc(thing) or ""
    return " ".join(text.partition("\n\n")[0].split()).replace("``", "`").replace("|", "\\|")


def library_page(name: str) -> str:
    """Return the page of one public name as Markdown."""
    thing = getattr(motif, name)
    kind = kind_of(thing)
    # Under the library's name, autodoc would find the package of the same name.
    target = _place(thing) if inspect.ismodule(getattr(motif, name)) else f"motif.{name}"
    options = _MEMBERS.format(without=_WITHOUT) if kind in (_CLASS, _EXCEPTION) else ""
    directive = f".. currentmodule:: motif\n\n.. auto{kind}:: {target}\n{options}"
    title = f"motif.{name}".replace("_", "\\_")
    return f"# {title}\n\n```{{eval-rst}}\n{directive}```\n"
