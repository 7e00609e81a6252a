"""Themes of errors: the main reason for the better play."""

from collections.abc import Iterator, Sequence

from motif.analysis.explain.explanation import explain_play
from motif.analysis.explain.reasons import BEYOND
from motif.analysis.judge import MatchOptions, for_match
from motif.board.moves import legal_plays
from motif.board.notation import find_play
from motif.board.parsing import parse_decision
from motif.evaluators import Evaluator
from motif.runtime.errors import MotifError
from motif.runtime.frames import Record
from motif.serve.analysis_store import is_error

CUBE = "cube"
"""The theme of cube errors."""
_MAX_THEMES = 40
"""Number of errors of an analysis, the largest, whose themes are found."""


def themes_of(decisions: Sequence[Record], evaluator: Evaluator) -> Iterator[dict[int, str]]:
    """Yield after each of the largest errors the themes found so far, by the numbers of their decisions."""
    themes: dict[int, str] = {}
    errors = [number for number, one in enumerate(decisions) if is_error(one)]
    for number in sorted(errors, key=lambda number: -decisions[number]["error"])[:_MAX_THEMES]:
        if theme := _theme_of(decisions[number], evaluator):
            themes[number] = theme
        yield themes


def _theme_of(decision: Record, evaluator: Evaluator) -> str | None:
    """Return the concept on the board that favours the better play most, or None."""
    if not decision["is_play"]:
        return CUBE
    position, match, roll = parse_decision(decision["id"])
    if match is None or roll is None:
        return None
    plays = legal_plays(position, roll)
    try:
        state = for_match(evaluator, MatchOptions(), match)
        explanation = explain_play(
            evaluator.without_lookahead,
            position,
            roll,
            find_play(decision["best"], plays),
            find_play(decision["done"], plays),
            state=state,
        )
    except MotifError:
        return None
    reasons = [
        reason for reason in explanation.reasons if reason.play == "better" and reason.concept not in BEYOND
    ]
    return reasons[0].concept if reasons else None
