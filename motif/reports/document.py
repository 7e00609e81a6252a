"""What every HTML page of motif is made of: one file that needs nothing else, no scripts."""

import base64
from collections.abc import Iterable
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


def html_image(png: bytes, text: str) -> str:
    """A picture inside the page; `text` is read out in its place."""
    data = base64.b64encode(png).decode("ascii")
    return f'<img src="data:image/png;base64,{data}" alt="{escape(text)}">'


def html_figure(picture: Picture) -> str:
    """A picture under its heading, with its caption."""
    return (
        f"<h2>{escape(picture.heading)}</h2>\n<figure>\n{html_image(picture.png, picture.text)}\n"
        f"<figcaption>{escape(picture.caption)}</figcaption>\n</figure>"
    )
