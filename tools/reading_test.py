"""The reading test: compare motif's plays and reasons with those of textbooks.

``python -m tools.reading_test docs/explanation/reading-test.md`` asks motif's judge about the decisions of
tests/analysis/data/themes.yaml and theory.yaml, and writes the results by theme and every failure into the
page.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from motif.analysis.explain.explanation import explain_play
from motif.analysis.explain.reasons import REST
from motif.analysis.judge import judge_of
from motif.board.diagram import text_diagram
from motif.board.match_state import MatchState
from motif.board.moves import Play, legal_plays
from motif.board.notation import find_play
from motif.board.packed import OWN_BAR
from motif.board.position import Position
from motif.evaluators import Evaluator
from motif.players.ranking import rank_plays
from motif.runtime.documents import parse_yaml
from motif.runtime.errors import PlayerError
from motif.runtime.layout import percent
from tools.import_graph import ROOT
from tools.marked_page import reporting, write_region

DATA = ROOT / "tests" / "analysis" / "data"
FILE, SECOND = DATA / "themes.yaml", DATA / "theory.yaml"
REGION, SECOND_REGION = "reading test", "second reading test"
THEMES = (
    "openings",
    "blitz",
    "holding game",
    "prime against prime",
    "back game",
    "containing a checker",
    "clearing",
    "bearing off against contact",
    "races and bear-in",
    "gammon play",
)
MORE_THEMES = (
    "openings",
    "blitz",
    "prime against prime",
    "holding game",
    "back game",
    "saving a gammon",
    "winning a gammon",
    "clearing",
    "bearing off against contact",
    "races and bear-in",
    "match score",
)
"""Themes of the second file."""
CONCEPTS: Mapping[str, str] = {
    "hit": "hitting",
    "make_point": "making a point",
    "home_board": "home board",
    "block": "blocks",
    "prime": "primes",
    "anchor": "making an anchor",
    "keep_anchor": "keeping an anchor",
    "escape": "escaping",
    "safety": "playing safe",
    "shots": "leaving fewer shots",
    "builder": "builders",
    "distribution": "distribution",
    "stack": "unstacking",
    "timing": "timing",
    "tempo": "tempo",
    "race": "race",
    "bear_off": "bearing off",
    "clear_rear": "clearing from the rear",
    "gammon": "winning a gammon",
    "save_gammon": "saving the gammon",
    "containing": "containing checkers",
    "mobility": "mobility of back checkers",
}
"""Textbook reasons: the name in the files, and the words on the page."""
NAMED: Mapping[str, frozenset[str]] = {
    concept: frozenset(names.split())
    for concept, names in {
        "hit": "hit tempo",
        "make_point": "make_point builder",
        "home_board": "home_board make_point",
        "prime": "prime block make_point containing",
        "block": "block make_point prime",
        "anchor": "anchor make_point",
        "keep_anchor": "keep_anchor anchor",
        "escape": "escape",
        "safety": "safety shots",
        "shots": "shots safety",
        "replies": "shots safety",
        "next_rolls": "safety shots clear_rear",
        "clear_rear": "clear_rear safety",
        "builder": "builder",
        "distribution": "distribution",
        "stack": "stack distribution",
        "timing": "timing",
        "mobility": "mobility escape",
        "race": "race",
        "bear_off": "bear_off",
        "save_gammon": "save_gammon",
        "gammon": "gammon",
        "containing": "containing prime block",
        "score_gammon_go": "gammon",
        "score_gammon_save": "save_gammon",
    }.items()
}
"""Textbook reasons for each concept of an explanation, or for each phrase that is more specific than its
concept.
"""
FIRST = 2
"""The number of first reasons that are compared with the textbook reasons."""
PLAYS, REASONS = 0.85, 0.85
"""Target shares."""
SECOND_PLAYS, SECOND_REASONS = 0.9, 0.85
"""Target shares for the second file."""


@dataclass(frozen=True)
class Decision:
    """One decision of a file."""

    name: str
    theme: str
    position: Position
    roll: tuple[int, int]
    play: str
    """The textbook play."""
    reasons: frozenset[str]
    because: str
    source: str
    next_play: str
    """gnubg's second choice and its loss."""
    next_loses: float
    state: MatchState | None = None
    is_compared: bool = False
    """Whether the reasons compare the play with `next_play` instead of the judge's second choice."""


@dataclass(frozen=True)
class Reading:
    """motif's answer to a decision."""

    decision: Decision
    chosen: Play
    loses: float
    """Loss of the textbook play according to the judge; 0 if it is chosen."""
    concepts: tuple[str, ...] | None
    """Concepts of the first reasons for the play; None if the textbook play was not chosen or there are no
    reasons.
    """
    sentences: tuple[str, ...] = ()

    @property
    def is_chosen(self) -> bool:
        """Whether the textbook play was chosen."""
        return self.loses == 0

    @property
    def is_named(self) -> bool:
        """Whether one of the reasons is a textbook reason."""
        meant = frozenset[str]().union(*(NAMED.get(concept, ()) for concept in self.concepts or ()))
        return bool(meant & self.decision.reasons)


def read_decisions(path: Path = FILE) -> list[Decision]:
    """Return the decisions of a file; raises a `MotifError` for an invalid position."""
    records: Any = parse_yaml(path.read_text("utf-8"))
    return [_decision(record, path == SECOND) for record in records]


def _decision(record: Mapping[str, Any], compared: bool) -> Decision:
    sides = (
        {OWN_BAR if place == "bar" else place: n for place, n in record[who].items()}
        for who in ("own", "other")
    )
    low, high = sorted(record["roll"])
    return Decision(
        name=record["id"],
        theme=record["theme"],
        position=Position.from_points(*sides),
        roll=(high, low),
        play=record["play"],
        reasons=frozenset(record["reasons"]),
        because=record["because"],
        source=record["source"],
        next_play=record["next"]["play"],
        next_loses=record["next"]["loses"],
        state=_state(record.get("match")),
        is_compared=compared,
    )


def _state(match: Mapping[str, Any] | None) -> MatchState | None:
    if match is None:
        return None
    scores = {"own_score": match["own"], "opponent_score": match["other"]}
    return MatchState(length=match["length"], crawford=match["crawford"], **scores)


def read_by(evaluator: Evaluator, decision: Decision) -> Reading:
    """Return the choice of `evaluator`, and its first reasons if it is the textbook play."""
    ranking = rank_plays(decision.position, decision.roll, evaluator, decision.state)
    plays = legal_plays(decision.position, decision.roll)
    wanted = find_play(decision.play, plays).position
    difference = next(play.difference for play in ranking if play.play.position == wanted)
    chosen = ranking.best
    if chosen.position != wanted:
        return Reading(decision, chosen, max(-difference, 1e-9), None)
    other = find_play(decision.next_play, plays) if decision.is_compared else None
    try:
        explanation = explain_play(
            evaluator, decision.position, decision.roll, chosen, other, state=decision.state
        )
    except PlayerError:
        return Reading(decision, chosen, 0.0, None)
    # Only the reasons for the textbook play, not those for the other play.
    first = [reason for reason in explanation.reasons if reason.play == "better" and reason.concept != REST]
    return Reading(
        decision,
        chosen,
        0.0,
        tuple(reason.phrase if reason.phrase in NAMED else reason.concept for reason in first[:FIRST]),
        tuple(reason.sentence for reason in first[:FIRST]),
    )


def readings(path: Path = FILE, tell: Callable[[str], None] = lambda line: None) -> tuple[str, list[Reading]]:
    """Return the judge's name, and its answers to the decisions of a file."""
    name, evaluator = judge_of(None, fast=False, deep=False)
    read = []
    for decision in read_decisions(path):
        read.append(read_by(evaluator, decision))
        tell(f"{decision.name}: {'textbook play' if read[-1].is_chosen else read[-1].chosen.notation}")
    return name, read


def page_lines(
    judge: str, read: Sequence[Reading], themes: Sequence[str] = THEMES, level: int = 2
) -> Iterator[str]:
    """Yield the table by theme, and every failure with its board; headings begin at `level`."""
    chosen = [one for one in read if one.is_chosen]
    told = [one for one in chosen if one.concepts is not None]
    yield f"`{judge}` chooses the textbook play in {_share(len(chosen), len(read))}."
    if told:
        named = sum(one.is_named for one in told)
        yield f"One of its first two reasons for it is a textbook reason in {_share(named, len(told))}."
    yield from ("", "| theme | textbook play | textbook reason |", "|---|---|---|")
    for theme in themes:
        own = [one for one in read if one.decision.theme == theme]
        right = [one for one in own if one.is_chosen]
        names = f"{sum(one.is_named for one in right)} of {len(right)}" if told else ""
        yield f"| {theme} | {len(right)} of {len(own)} | {names} |"
    yield from ("", f"{'#' * level} Where another play is chosen")
    for one in read:
        if not one.is_chosen:
            yield from _board(one, level + 1)
            yield f"The textbook play is **{one.decision.play}**: {one.decision.because}"
            yield f"motif plays **{one.chosen.notation}**, and judges it {one.loses:.3f} points better."
    if told:
        yield from ("", f"{'#' * level} Where the reasons differ")
        for one in told:
            if not one.is_named:
                yield from _board(one, level + 1)
                yield f"**{one.decision.play}**: {one.decision.because}"
                reasons = ", ".join(CONCEPTS[reason] for reason in sorted(one.decision.reasons))
                said = " ".join(one.sentences) or "nothing."
                yield f"Textbook reasons: {reasons}. motif says: {said}"


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({percent(part / whole, 0)})"


def _board(one: Reading, level: int) -> Iterator[str]:
    decision = one.decision
    yield from ("", f"{'#' * level} {decision.name}", "", _situation(decision))
    yield from ("", "```", *text_diagram(decision.position).rstrip().splitlines(), "```", "")


def _situation(decision: Decision) -> str:
    """Return the theme, the roll and in a match the score, the player on roll's first."""
    facts = [decision.theme, "roll {}-{}".format(*decision.roll)]
    match = decision.state
    if match is not None:
        facts.append(f"{match.length - match.own_score}-away {match.length - match.opponent_score}-away")
        if match.crawford:
            facts.append("Crawford game")
    return ", ".join(facts)


@reporting
def main() -> None:
    """Write the page."""
    for path, region, themes, level in (
        (FILE, REGION, THEMES, 2),
        (SECOND, SECOND_REGION, MORE_THEMES, 3),
    ):
        judge, read = readings(path, tell=lambda line: print(line, file=sys.stderr))
        write_region(Path(sys.argv[1]), region, page_lines(judge, read, themes, level))


if __name__ == "__main__":
    sys.exit(main())
