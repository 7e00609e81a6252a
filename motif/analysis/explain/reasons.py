"""Reasons why a play is better, in players' terms, with amounts that add up to the difference.

There are reasons from the board (what a play makes, keeps, hits or moves), from score and cube, from
lookahead and from a rollout.  Small or nameless contributions make up the rest.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from motif.analysis.explain.board_facts import (
    CONCEPTS,
    FORGONE,
    UNNAMED,
    WEAK,
    BoardFact,
    EventView,
    shots_fact,
)
from motif.analysis.explain.concepts import Contribution, Counted, counted_on, whole_moves
from motif.analysis.explain.exposure import Exposure
from motif.analysis.explain.situation import Situation
from motif.analysis.phrases import Phrases
from motif.board.moves import Play
from motif.runtime.layout import sentence
from motif.runtime.streams import DICE_PAIRS

_Side = Literal["better", "worse"]
SCORE_STEP, LOOKAHEAD_STEP, ROLLOUT_STEP = "score", "lookahead", "rollout"
LOOKAHEAD_HITS, REST = "replies", "rest"
BEYOND = (SCORE_STEP, LOOKAHEAD_STEP, LOOKAHEAD_HITS, ROLLOUT_STEP, REST)
"""Concepts of the reasons that are not on the board."""
_MAX_FOR, _MAX_AGAINST = 3, 2
"""Maximum number of board reasons for the better play and for the worse one."""
_MIN_SHARE, _MIN_OF_WEAK = 0.1, 0.25
"""Minimum amount relative to the largest reason: for most reasons, and for weak ones."""
MIN_SHOWN = 0.0005
"""The smallest amount that does not round to 0."""
STEPS_PER_POINT, STEPS_OF_CHANCES = 1000, 500
"""Amounts are shown with three decimals of points, or one of percentage points, of which 50 are a point."""
_NOTHING = 1e-9
_MADE, _MADE_RATHER = "home_point", "home_point_rather"
"""Phrases for a home point made: on its own, and compared with the other play's."""
_COUNTED_AHEAD = {"hits": "shots", "next_rolls": "next_rolls"}
"""Board concepts that duplicate a reason of lookahead, by its phrase."""


@dataclass(frozen=True)
class Reason:
    """A part of the difference between two plays, in words."""

    concept: str
    play: _Side
    """The play it favours."""
    amount: float
    """Points of equity, at least 0."""
    sentence: str
    phrase: str = ""
    """Key of the phrase in `motif/data/phrases`."""
    facts: Mapping[str, int] = field(default_factory=dict, compare=False)
    """Values of the phrase's placeholders."""
    shown: float = field(default=0.0, compare=False)
    """The contribution as shown: rounded so that the reasons of an explanation add up."""

    @property
    def contribution(self) -> float:
        """The amount with its sign: negative if it favours the worse play."""
        return self.amount if self.play == "better" else -self.amount

    def to_dict(self) -> dict[str, object]:
        """Return the JSON record."""
        names = ("concept", "play", "amount", "contribution", "shown", "sentence")
        return {name: getattr(self, name) for name in names}


def row(concept: str, contribution: float, sentence: str, phrase: str = "", **facts: int) -> Reason:
    """Return a reason with a signed `contribution`."""
    side: _Side = "better" if contribution >= 0 else "worse"
    return Reason(concept, side, abs(contribution), sentence, phrase or concept, facts)


def play_names(plays: tuple[Play, Play], words: Phrases) -> tuple[str, str]:
    """Return both plays in notation."""
    first, second = (play.notation or words.say("no_move") for play in plays)
    return first, second


def reasons_of(
    parts: Iterable[Contribution],
    situation: Situation,
    exposures: tuple[Exposure, Exposure],
    risks: tuple[int, int],
    plays: tuple[Play, Play],
    words: Phrases,
) -> tuple[Reason, ...]:
    """Return the `parts` that have a phrase in words, largest first.

    `exposures` and `risks`, the number of next rolls that leave a shot, correspond to the `plays`.
    """
    names = play_names(plays, words)
    ways = [whole_moves(play.moves) for play in plays]
    after = situation.after
    seen = np.ascontiguousarray(-np.array(after)[:, ::-1])
    counted = [
        Counted(*numbers)._replace(safe_next=float(DICE_PAIRS - risky))
        for numbers, risky in zip(counted_on(seen), risks, strict=True)
    ]
    merged: dict[tuple[_Side, str, int | str], Reason] = {}
    for part in sorted(parts, key=lambda part: -abs(part.amount)):
        side: _Side = "better" if part.amount >= 0 else "worse"
        own, other = (0, 1) if side == "better" else (1, 0)
        both = exposures[own], exposures[other]
        if part.event is None:
            # In a back game, shots matter little to the side that waits for one.
            if situation.is_back_game or both[0].shots >= both[1].shots:
                continue
            fact = shots_fact(both)
        else:
            event, gain = part.event, part.gain
            if side == "worse":
                event, gain = event.reversed, gain.reversed
            numbers = counted[own], counted[other]
            view = EventView(event, situation, after[own], after[other], ways[own], both, numbers, gain)
            fact = view.fact()
        if fact.phrase == UNNAMED:
            continue
        text = _text(fact, side, (names[own], names[other]), words)
        # Merge facts of the same concept on the same point.
        concept = CONCEPTS[fact.phrase]
        key = side, concept, fact.facts.get("point", text)
        first = merged.get(key) or Reason(concept, side, 0.0, text, fact.phrase, fact.facts)
        merged[key] = replace(first, amount=first.amount + abs(part.amount))
    reasons = [reason for reason in merged.values() if reason.amount > _NOTHING]
    reasons = _with_points_compared(reasons, names, words)
    return tuple(sorted(reasons, key=lambda reason: -reason.amount))


def _with_points_compared(reasons: list[Reason], names: Sequence[str], words: Phrases) -> list[Reason]:
    """Merge the reasons for home points if each play makes a different one."""
    made = [[it for it in reasons if (it.phrase, it.play) == (_MADE, side)] for side in ("better", "worse")]
    if [len(those) for those in made] != [1, 1]:
        return reasons
    net = made[0][0].amount - made[1][0].amount
    own, other = (0, 1) if net >= 0 else (1, 0)
    facts = {"point": made[own][0].facts["point"], "source": made[other][0].facts["point"]}
    side: _Side = "better" if net >= 0 else "worse"
    text = _text(BoardFact(_MADE_RATHER, facts), side, (names[own], names[other]), words)
    one = Reason(CONCEPTS[_MADE_RATHER], side, abs(net), text, _MADE_RATHER, facts)
    return [one, *(reason for reason in reasons if reason not in (made[0][0], made[1][0]))]


def _text(fact: BoardFact, side: _Side, names: tuple[str, str], words: Phrases) -> str:
    """Return a fact in words; `names` are the names of its play and of the other."""
    phrase = words.say("phrases", fact.phrase, **fact.facts, other=names[1])
    if FORGONE in fact.facts:
        phrase = words.say("forgone_hit", point=fact.facts[FORGONE], phrase=phrase)
    return sentence(phrase) if side == "better" else words.say("against", play=names[0], phrase=phrase)


def shown_rows(
    board: Sequence[Reason], beyond: Sequence[Reason], difference: float, names: Sequence[str], words: Phrases
) -> tuple[Reason, ...]:
    """Return the reasons to show, largest first; with the rest they add up to the `difference`.

    `board` has the reasons from the board, `beyond` those from score, lookahead and rollout.
    """
    counted = {_COUNTED_AHEAD.get(reason.phrase) for reason in beyond}
    board = [reason for reason in board if reason.concept not in counted]
    largest = max((reason.amount for reason in (*board, *beyond)), default=0.0)
    shown = [reason for reason in beyond if reason.amount >= MIN_SHOWN]
    sides: tuple[_Side, ...] = ("worse", "better") if difference < 0 else ("better", "worse")

    def is_large(reason: Reason) -> bool:
        share = _MIN_OF_WEAK if reason.phrase in WEAK else _MIN_SHARE
        return reason.amount >= max(largest * share, MIN_SHOWN)

    for side, most in zip(sides, (_MAX_FOR, _MAX_AGAINST), strict=True):
        shown += [reason for reason in board if reason.play == side and is_large(reason)][:most]
    rest = difference - sum(reason.contribution for reason in shown)
    if abs(rest) > _NOTHING:
        text = words.say("beyond", "rest", play=names[rest < 0])
        shown.append(row(REST, rest, text))
    return tuple(sorted(shown, key=lambda reason: -reason.amount))


def with_shown(reasons: Sequence[Reason], total: float, steps: int = STEPS_PER_POINT) -> tuple[Reason, ...]:
    """Return `reasons` with the contributions to show, in `steps` per point, which add up to a `total`.

    Only reasons that do not round to 0 are shown; if there are none, the largest one that favours the same
    play as the `total`.
    """
    chosen = [k for k, reason in enumerate(reasons) if reason.amount >= 0.5 / steps]
    if not chosen:
        chosen = [k for k, reason in enumerate(reasons) if reason.contribution * total > 0][:1]
    exact = [steps * reasons[k].contribution for k in chosen]
    whole = [round(value) for value in exact]
    missing = round(steps * total) - sum(whole)
    step = 1 if missing > 0 else -1
    # The amounts that rounding has changed most in the other direction are changed.
    order = sorted(range(len(exact)), key=lambda k: step * (whole[k] - exact[k]))
    for k in range(abs(missing) if order else 0):
        whole[order[k % len(order)]] += step
    amounts = dict(zip(chosen, whole, strict=True))
    return tuple(replace(reason, shown=amounts.get(k, 0) / steps) for k, reason in enumerate(reasons))


def counted_as_well(ahead: Reason, board: Iterable[Reason]) -> bool:
    """Return whether a larger reason of the `board` duplicates a reason of lookahead."""
    concept = _COUNTED_AHEAD.get(ahead.phrase)
    return any(reason.concept == concept and reason.amount > ahead.amount for reason in board)
