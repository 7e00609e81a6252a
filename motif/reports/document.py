"""What every HTML page of motif is made of: one file that needs nothing else, no scripts."""

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from motif.reports.page_style import PAGE_STYLE


@dataclass(frozen=True)
class Picture:
    """A plot and what a reader needs to know to read it."""

    heading: str
    png: bytes
    text: str
    """Read out in place of the picture."""
    caption: str


def html_document(title: str, parts: Iterable[str]) -> str:
    """A page called `title` of `parts`, which are HTML already."""
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n"
        f"<style>\n{PAGE_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


@dataclass(frozen=True)
class Section:
    """A part of a page that the page's contents lead to."""

    anchor: str
    """Its address within the page: letters and hyphens."""
    heading: str
    parts: Sequence[str]
    """HTML."""


def html_sections(sections: Sequence[Section]) -> list[str]:
    """The contents of a page, each entry a link, and then its `sections`."""
    entries = "\n".join(f'<li><a href="#{one.anchor}">{escape(one.heading)}</a></li>' for one in sections)
    return [
        f'<nav aria-label="Contents">\n<ul>\n{entries}\n</ul>\n</nav>',
        *(
            "\n".join(
                (f'<section id="{one.anchor}">', f"<h2>{escape(one.heading)}</h2>", *one.parts, "</section>")
            )
            for one in sections
        ),
    ]


def html_image(png: bytes, text: str) -> str:
    """A picture inside the page; `text` is read out in its place."""
    data = base64.b64encode(png).decode("ascii")
    return f'<img src="data:image/png;base64,{data}" alt="{escape(text)}">'


def html_figure(picture: Picture) -> str:
    """A picture under its heading, with its caption."""
    return f"<h2>{escape(picture.heading)}</h2>\n{html_captioned(picture)}"


def html_captioned(picture: Picture) -> str:
    """A picture with its caption, for a section that has a heading already."""
    return (
        f"<figure>\n{html_image(picture.png, picture.text)}\n"
        f"<figcaption>{escape(picture.caption)}</figcaption>\n</figure>"
    )
