"""The page of `motif terms`: the most important terms of a head, in words, as one HTML file."""

import math
from collections.abc import Sequence
from html import escape

from motif.analysis.term_report import HEAD_NAMES, ToldTerm
from motif.reports.document import html_document


def terms_page(title: str, opening: str, notes: Sequence[str], terms: Sequence[ToldTerm], head: str) -> str:
    """A page called `title` of the `terms` of the head called `head`; `opening` and `notes` are sentences."""
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(opening)}</p>",
        terms_table(terms, head),
        *(f"<p>{escape(note)}</p>" for note in notes),
    ]
    return html_document(title, parts)


def terms_table(terms: Sequence[ToldTerm], head: str) -> str:
    """An HTML table of `terms` of the head called `head`."""
    columns = "".join(f'<th scope="col">{name}</th>' for name in ("moves", "what it does"))
    rows = "\n".join(_row(term, head) for term in terms)
    return f'<table class="terms"><thead><tr>{columns}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>'


def reading(terms: Sequence[ToldTerm], head: str) -> list[str]:
    """Sentences on how a list of `terms` of the head called `head` is to be read."""
    unit = ", in points" if head == "equity" else ""
    notes = [
        f"How far a term moves the {HEAD_NAMES[head]} is one standard deviation over these positions{unit}; "
        "what it does is told for an average one of them. Terms overlap (pips count in several, say): a "
        "single one tells only a part, and may take back some of what another gives."
    ]
    if errors_known(terms):
        notes.append(
            "± is one standard error, games taken as wholes; z is how many of them lie between what the term "
            "does and nothing."
        )
    return notes


def errors_known(terms: Sequence[ToldTerm]) -> bool:
    """Whether there are standard errors of any of `terms`."""
    return any(math.isfinite(term.effect_se) for term in terms)


def moved(term: ToldTerm, head: str) -> str:
    """How far a term moves the value of `head`, with its unit."""
    return f"{term.moves:.3f}" if head == "equity" else f"{100 * term.moves:.2f} %"


def signed(value: float, digits: int) -> str:
    """A number with its sign; nothing for one that is not known."""
    return f"{value:+.{digits}f}" if math.isfinite(value) else ""


def _explained(term: ToldTerm) -> str:
    """The term's name, and in what its features are measured: the weight is the gain where all are 1."""
    return f"{term.name} (1 = {', 1 = '.join(dict.fromkeys(term.full))})" if term.full else term.name


def _row(term: ToldTerm, head: str) -> str:
    """Two columns alone, which fit a phone: the numbers stand below the sentence."""
    error = f" ± {term.se:.3f}" if math.isfinite(term.se) else ""
    facts = [_explained(term), f"weight {signed(term.weight, 3)}{error}"]
    facts += [f"z {signed(term.effect_z, 1)}"] if math.isfinite(term.effect_z) else []
    told = f"{escape(term.sentence)}<br><small>{escape('; '.join(facts))}</small>"
    return f"<tr><td>{moved(term, head)}</td><td>{told}</td></tr>"
