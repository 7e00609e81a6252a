"""The page of an explanation: both plays as boards, the groups as bars, the sentences, and all terms."""

import re

from motif.analysis.explain.explanation import Explanation
from motif.board.match_state import MatchState
from motif.reports.document import html_page

_AMOUNT = re.compile(r"(?<=\d[.:])(?: |$)")
"""Where a sentence goes on after the name of a group and its amount."""


def explanation_page(explanation: Explanation, match: MatchState | None = None) -> str:
    """One self-contained HTML page without scripts; `match` adds score and cube."""
    plays = explanation.better, explanation.worse
    largest_first = sorted(explanation.terms, key=lambda term: -abs(term[1]))
    return html_page(
        "explain_page.html",
        "{}{}: why {}, not {}".format(*explanation.roll, *(play.notation for play in plays)),
        why=explanation,
        match=match,
        boards=[
            (f"{play.notation}: {_value(explanation, equity)}", play.moves)
            for play, equity in zip(plays, explanation.equities, strict=True)
        ],
        largest=max((abs(value) for _, value in explanation.groups), default=1.0),
        sentences=[_AMOUNT.split(sentence, maxsplit=1) for sentence in explanation.sentences],
        terms=[{"number": f"{value:+.6f}", "name": name} for name, value in largest_first],
    )


def _value(explanation: Explanation, equity: float) -> str:
    if explanation.scale.win_only:
        return f"winning chance {50 + 50 * equity:.1f} %"
    return f"equity {equity:+.3f}"
