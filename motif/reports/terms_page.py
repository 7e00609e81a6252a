"""The page of `motif terms`: the most important terms of a head, in words, as one HTML file."""

import math
from collections.abc import Sequence

from motif.analysis.term_report import HEAD_NAMES, ToldTerm
from motif.reports.document import html_page


def terms_page(title: str, opening: str, notes: Sequence[str], terms: Sequence[ToldTerm], head: str) -> str:
    """A page called `title` of the `terms` of the head called `head`; `opening` and `notes` are sentences."""
    return html_page("terms_page.html", title, opening=opening, notes=notes, terms=term_rows(terms, head))


def term_rows(terms: Sequence[ToldTerm], head: str) -> list[dict[str, str]]:
    """Rows of a table of `terms` of the head called `head`."""
    return [
        {"number": moved(term, head), "sentence": term.sentence, "facts": "; ".join(_facts(term))}
        for term in terms
    ]


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


def _facts(term: ToldTerm) -> list[str]:
    """The term's name, and in what its features are measured: the weight is the gain where all are 1."""
    name = f"{term.name} (1 = {', 1 = '.join(dict.fromkeys(term.full))})" if term.full else term.name
    error = f" ± {term.se:.3f}" if math.isfinite(term.se) else ""
    facts = [name, f"weight {signed(term.weight, 3)}{error}"]
    return [*facts, f"z {signed(term.effect_z, 1)}"] if math.isfinite(term.effect_z) else facts
