"""The page of an explanation: both plays as boards, the groups as bars, the sentences, and all terms."""

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from motif.analysis.explain.explanation import Explanation
from motif.board.identifiers import gnubg_id
from motif.board.match_state import MatchState
from motif.board.moves import Play
from motif.board.svg import svg_diagram
from motif.reports.document import html_document
from motif.runtime.files import write_text
from motif.runtime.version import VERSION

_AMOUNT = re.compile(r"(?<=\d[.:])(?: |$)")
"""Where a sentence goes on after the name of a group and its amount."""
_HALF, _HEIGHT = 100, 16
"""Half the width and the height of a bar's drawing."""


def write_explanation(explanation: Explanation, path: Path, match: MatchState | None = None) -> None:
    """Write the page of `explanation` to `path`; `match` adds score and cube.  Raises `FileError`."""
    write_text(path, explanation_page(explanation, match))


def explanation_page(explanation: Explanation, match: MatchState | None = None) -> str:
    """One self-contained HTML page without scripts."""
    better, worse = explanation.better.notation, explanation.worse.notation
    roll = "{}{}".format(*explanation.roll)
    title = f"{roll}: why {better}, not {worse}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p><strong>{escape(explanation.summary)}</strong></p>",
        '<div class="boards">',
        _board(explanation, explanation.better, match),
        _board(explanation, explanation.worse, match),
        "</div>",
        "<p>You have the light checkers, on roll, and move to the lower right. "
        f"{escape(explanation.values_in_words)} "
        f"These are the values of {escape(explanation.evaluator)}, without lookahead.</p>",
        "<h2>What speaks for which play</h2>",
        _bars(explanation),
        "<h2>In words</h2>",
        *_sentences(explanation),
        "<h2>Term by term</h2>",
        _terms(explanation),
        f"<pre>{escape(gnubg_id(explanation.position))}</pre>",
        f"<footer>Drawn by motif {escape(VERSION)}.</footer>",
    ]
    return html_document(title, parts)


def _board(explanation: Explanation, play: Play, match: MatchState | None) -> str:
    equity = explanation.equities[0 if play is explanation.better else 1]
    value = f"{50 + 50 * equity:.1f} %" if explanation.scale.win_only else f"{equity:+.3f}"
    caption = f"{play.notation}: {'winning chance' if explanation.scale.win_only else 'equity'} {value}"
    drawing = svg_diagram(explanation.position, match, play.moves, title=caption)
    return f"<figure>\n{drawing}<figcaption>{escape(caption)}</figcaption>\n</figure>"


def _bars(explanation: Explanation) -> str:
    scale = explanation.scale
    largest = max((abs(value) for _, value in explanation.groups), default=1.0)
    rows = []
    for name, value in explanation.shown_groups:
        bar = _bar(value / largest)
        rows.append(f'<tr><th scope="row">{escape(name)}</th><td>{bar}</td><td>{scale.told(value)}</td></tr>')
    sides = (
        f'<span style="text-align: right">&larr; {escape(explanation.worse.notation)}</span>'
        f'<span style="text-align: left">{escape(explanation.better.notation)} &rarr;</span>'
    )
    heads = (
        '<td></td><th scope="col" style="width: 60%"><div style="display: grid; '
        f'grid-template-columns: 1fr 1fr; gap: 1rem">{sides}</div></th>'
        f'<th scope="col">{escape(explanation.unit)}</th>'
    )
    body = "\n".join(rows)
    return f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def _bar(share: float) -> str:
    """A bar to the right, filled, or to the left, hollow; `share` is -1 to 1."""
    width = max(abs(share) * (_HALF - 2), 0.5)
    x, fill = (_HALF, "currentColor") if share >= 0 else (_HALF - width, "none")
    return (
        f'<svg viewBox="0 0 {2 * _HALF} {_HEIGHT}" width="100%" height="{_HEIGHT}" '
        'preserveAspectRatio="none" aria-hidden="true">'
        f'<rect x="{x:.1f}" y="3" width="{width:.1f}" height="{_HEIGHT - 6}" fill="{fill}" '
        'stroke="currentColor" vector-effect="non-scaling-stroke"/>'
        f'<path d="M{_HALF} 0V{_HEIGHT}" stroke="currentColor" vector-effect="non-scaling-stroke"/></svg>'
    )


def _sentences(explanation: Explanation) -> Iterator[str]:
    yield "<ol>"
    for sentence in explanation.sentences:
        head, facts = _AMOUNT.split(sentence, maxsplit=1)
        yield f"<li><strong>{escape(head)}</strong> {escape(facts)}</li>"
    yield "</ol>"


def _terms(explanation: Explanation) -> str:
    largest_first = sorted(explanation.terms, key=lambda term: -abs(term[1]))
    rows = "\n".join(
        f"<tr><td>{value:+.6f}</td><td>{escape(name).replace('*', '*<wbr>')}</td></tr>"
        for name, value in largest_first
    )
    count = len(largest_first)
    total = f"Their sum is the difference of x, {explanation.difference_x:+.6f}."
    heads = '<th scope="col">adds to x</th><th scope="col">term</th>'
    table = f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>"
    return (
        f"<details>\n<summary>The {count:,} terms of the weights that differ</summary>\n"
        f"<p>{total} The weight file speaks of the player on roll after the play: that is the opponent.</p>\n"
        f'<table class="terms" style="overflow-wrap: anywhere">\n{table}\n</table>\n</details>'
    )
