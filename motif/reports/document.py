"""What every HTML page of motif is made of: one file that needs nothing else, no scripts.

The style sheet of HTML reports: phone and desk, light and dark, nothing told by colour alone.
"""

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

PAGE_STYLE = """\
:root {
  color-scheme: light dark;
  --ink: #222; --page: #fff; --faint: #666; --line: #d5d5d5; --soft: #f3f3f3;
}
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --page: #16181a; --faint: #a3a3a3; --line: #3a3d40; --soft: #212427; }
}
body {
  margin: 0; color: var(--ink); background: var(--page);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  -webkit-text-size-adjust: 100%;
}
main { max-width: 46rem; margin: 0 auto; padding: 0.75rem; overflow-wrap: break-word; }
h1 { font-size: 1.7rem; margin: 0.5rem 0; }
h2 {
  font-size: 1.25rem; margin: 2.5rem 0 0.75rem; padding-bottom: 0.2rem;
  border-bottom: 1px solid var(--line);
}
/* Contents of a long page; what a link leads to does not stick to the window's edge. */
nav ul {
  display: flex; flex-wrap: wrap; gap: 0.4rem 1.25rem;
  margin: 1rem 0 0; padding: 0; list-style: none;
}
a { color: inherit; text-underline-offset: 0.2em; }
section { scroll-margin-top: 0.5rem; }
section > h2:first-child { margin-top: 0; padding-top: 2rem; }
h3 { font-size: 1.05rem; margin: 1.5rem 0 0.5rem; }
/* A shade at the right says that there is more to scroll to; at the end the page's colour covers it. */
.wide {
  overflow-x: auto;
  background:
    linear-gradient(var(--page), var(--page)) right / 1.5rem 100% no-repeat local,
    linear-gradient(to left, var(--line), transparent) right / 1.25rem 100% no-repeat scroll;
}
table {
  border-collapse: collapse; width: 100%;
  font-size: 0.875rem; line-height: 1.35; font-variant-numeric: tabular-nums;
}
th, td {
  padding: 0.35rem 0.3rem; border-bottom: 1px solid var(--line);
  vertical-align: top; text-align: right;
}
/* Names of rows stay in sight when many versions make the table scroll. */
th[scope=row] {
  position: sticky; left: 0; background: var(--page); color: var(--faint);
  text-align: left; font-weight: normal; min-width: 5rem; overflow-wrap: anywhere;
}
.group th { text-align: left; padding-top: 1rem; }
/* The heading of a group of rows stays in sight as well; its cell is as wide as the table. */
.group span { position: sticky; left: 0.3rem; }
.terms th, .terms td { text-align: left; }
.terms td:first-child { white-space: nowrap; text-align: right; padding-right: 0.75rem; }
small { color: var(--faint); overflow-wrap: anywhere; }
figure { margin: 0; }
img { display: block; width: 100%; max-width: 40rem; height: auto; margin: 0 auto; background: #fff; }
/* Two boards side by side where there is room for them; on a desk they are wider than the text. */
.boards { display: flex; flex-wrap: wrap; gap: 1rem; }
.boards figure { flex: 1 1 19rem; min-width: 0; }
.boards svg { display: block; width: 100%; height: auto; }
.boards + table { width: auto; margin-top: 1rem; }
@media (min-width: 66rem) { .boards { margin: 0 -9rem; } }
figcaption, footer { color: var(--faint); font-size: 0.9rem; }
figcaption { margin-top: 0.5rem; }
figure + .wide { margin-top: 1.25rem; }
footer { margin-top: 2.5rem; }
pre {
  white-space: pre-wrap; padding: 0.75rem; background: var(--soft);
  font-size: 0.85rem; line-height: 1.4;
}
@media print {
  :root { color-scheme: light; --ink: #000; --page: #fff; --faint: #444; --line: #bbb; --soft: #f3f3f3; }
  main { max-width: none; padding: 0; }
  nav { display: none; }
  .wide { overflow: visible; }
  h2, h3 { break-after: avoid; }
  figure, tr { break-inside: avoid; }
}
"""


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
