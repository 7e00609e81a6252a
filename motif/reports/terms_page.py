"""The page of `motif report`: the most important terms of a head, in words, as one HTML file."""

import math
from collections.abc import Sequence
from html import escape

from motif.reports.document import html_document
from motif.reports.terms import ToldTerm


def terms_page(title: str, opening: str, notes: Sequence[str], terms: Sequence[ToldTerm], head: str) -> str:
    """A page called `title` of the `terms` of the head called `head`; `opening` and `notes` are sentences."""
    known = any(math.isfinite(term.effect_se) for term in terms)
    heads = ["moves", "what it does", "weight", *(["z"] if known else [])]
    columns = "".join(f'<th scope="col">{name}</th>' for name in heads)
    rows = "\n".join(_row(term, head, known) for term in terms)
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(opening)}</p>",
        f'<table class="terms"><thead><tr>{columns}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>',
        *(f"<p>{escape(note)}</p>" for note in notes),
    ]
    return html_document(title, parts)


def moved(term: ToldTerm, head: str) -> str:
    """How far a term moves the value of `head`, with its unit."""
    return f"{term.moves:.3f}" if head == "equity" else f"{100 * term.moves:.2f} %"


def signed(value: float, digits: int) -> str:
    """A number with its sign; nothing for one that is not known."""
    return f"{value:+.{digits}f}" if math.isfinite(value) else ""


def _explained(term: ToldTerm) -> str:
    """The term's name, and in what its features are measured: the weight is the gain where all are 1."""
    return f"{term.name} (1 = {', 1 = '.join(dict.fromkeys(term.full))})" if term.full else term.name


def _row(term: ToldTerm, head: str, known: bool) -> str:
    error = f" ± {term.se:.3f}" if math.isfinite(term.se) else ""
    cells = [
        moved(term, head),
        f"{escape(term.sentence)}<br><small>{escape(_explained(term))}</small>",
        f"{signed(term.weight, 3)}{error}",
        *([signed(term.effect_z, 1)] if known else []),
    ]
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
