"""Why a play is better, as a player says it: rows with what each brings, which add up to the difference.

The rows of the board come first to mind: what a play makes, keeps, hits or brings somewhere where the other
does not.  What the score and the cube change, what lookahead sees beyond the board, and what a rollout says
beyond that, are rows of their own.  What is too small to be shown, or has no name, is the rest.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from motif.analysis.explain.board_facts import CONCEPTS, UNNAMED, WEAK, BoardFact, Sight, shots_fact
from motif.analysis.explain.concepts import Contribution, Counted, counted_on, whole_ways
from motif.analysis.explain.exposure import Exposure
from motif.analysis.explain.situation import Situation
from motif.analysis.phrases import Phrases, sentence
from motif.board.moves import Play
from motif.runtime.streams import THROWS

Side = Literal["better", "worse"]
SCORE, LOOKAHEAD, LOOKAHEAD_HITS, ROLLOUT, REST = "score", "lookahead", "replies", "rollout", "rest"
BEYOND = (SCORE, LOOKAHEAD, LOOKAHEAD_HITS, ROLLOUT, REST)
"""Concepts of the rows that the board after the plays does not show."""
_MAX_FOR, _MAX_AGAINST = 3, 2
"""Rows of the board that are shown for the better play, and for the other one."""
_MIN_SHARE, _MIN_OF_WEAK = 0.1, 0.25
"""What a row that is shown brings at least, of the largest; and one that says little."""
SHOWN = 0.0005
"""The least amount that is not nothing in the digits that are shown."""
_NOTHING = 1e-9
_MADE, _MADE_RATHER = "home_point", "home_point_rather"
"""Phrases for a home point that a play makes, alone and compared with that of the other."""
_COUNTED_AHEAD = {"hits": "shots", "next_rolls": "next_rolls"}
"""Concepts of the board that count the same as a row of lookahead does, by its phrase."""


@dataclass(frozen=True)
class Reason:
    """A part of the difference, in words."""

    concept: str
    play: Side
    """For which play it speaks."""
    amount: float
    """How much it brings, in points of equity; at least 0."""
    sentence: str
    phrase: str = ""
    """Which of the phrases it is shown by, in `motif/data/phrases`."""
    facts: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """The numbers in it, by the names of the phrase's places."""

    @property
    def is_weak(self) -> bool:
        """Whether it says no more than where a checker stands."""
        return self.phrase in WEAK

    @property
    def contribution(self) -> float:
        """The amount with its sign: below 0 where it speaks for the worse play."""
        return self.amount if self.play == "better" else -self.amount

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "concept": self.concept,
            "play": self.play,
            "amount": self.amount,
            "contribution": self.contribution,
            "sentence": self.sentence,
        }


def row(concept: str, contribution: float, sentence: str, phrase: str = "", **facts: object) -> Reason:
    """Return a row that brings `contribution`, with its sign."""
    side: Side = "better" if contribution >= 0 else "worse"
    return Reason(concept, side, abs(contribution), sentence, phrase or concept, facts)


def reasons_of(
    parts: Iterable[Contribution],
    situation: Situation,
    exposures: tuple[Exposure, Exposure],
    risks: tuple[int, int],
    plays: tuple[Play, Play],
    words: Phrases,
) -> tuple[Reason, ...]:
    """Return the `parts` in words, the largest first; what has no name is left out.

    `exposures` are those after each of the `plays`, and `risks` the next rolls that leave a shot.
    """
    names = [play.notation or words.say("no_move") for play in plays]
    ways = [whole_ways(play.moves) for play in plays]
    after = situation.after
    seen = np.ascontiguousarray(-np.array(after)[:, ::-1])
    counted = [
        Counted(*numbers)._replace(calm=float(THROWS - risky))
        for numbers, risky in zip(counted_on(seen), risks, strict=True)
    ]
    amounts: dict[tuple[Side, str, Any], float] = {}
    told: dict[tuple[Side, str, Any], Reason] = {}
    for part in sorted(parts, key=lambda part: -abs(part.amount)):
        side: Side = "better" if part.amount >= 0 else "worse"
        own, other = (0, 1) if side == "better" else (1, 0)
        both = exposures[own], exposures[other]
        if part.event is None:
            # Who waits for a shot in a back game is not afraid of one.
            if situation.is_back_game or both[0].shots >= both[1].shots:
                continue
            fact = shots_fact(both)
        else:
            event, gain = part.event, part.gain
            if side == "worse":
                event, gain = event.turned, gain.turned
            numbers = counted[own], counted[other]
            sight = Sight(event, situation, after[own], after[other], ways[own], both, numbers, gain)
            fact = next(sight.facts())
        if fact.phrase == UNNAMED:
            continue
        text = _text(fact, side, (names[own], names[other]), words)
        # Two checkers that a play has more on one point are one matter.
        key = side, CONCEPTS[fact.phrase], fact.facts.get("point", text)
        told.setdefault(key, Reason(CONCEPTS[fact.phrase], side, 0.0, text, fact.phrase, fact.facts))
        amounts[key] = amounts.get(key, 0.0) + abs(part.amount)
    reasons = [replace(told[key], amount=amount) for key, amount in amounts.items() if amount > _NOTHING]
    reasons = _with_points_compared(reasons, names, words)
    return tuple(sorted(reasons, key=lambda reason: -reason.amount))


def _with_points_compared(reasons: list[Reason], names: Sequence[str], words: Phrases) -> list[Reason]:
    """Return the `reasons` with the home points that the plays make, where each makes another one, as one."""
    made = [[it for it in reasons if (it.phrase, it.play) == (_MADE, side)] for side in ("better", "worse")]
    if [len(those) for those in made] != [1, 1]:
        return reasons
    net = made[0][0].amount - made[1][0].amount
    own, other = (0, 1) if net >= 0 else (1, 0)
    facts = {"point": made[own][0].facts["point"], "source": made[other][0].facts["point"]}
    side: Side = "better" if net >= 0 else "worse"
    text = _text(BoardFact(_MADE_RATHER, facts), side, (names[own], names[other]), words)
    one = Reason(CONCEPTS[_MADE_RATHER], side, abs(net), text, _MADE_RATHER, facts)
    return [one, *(reason for reason in reasons if reason not in (made[0][0], made[1][0]))]


def _text(fact: BoardFact, side: Side, names: tuple[str, str], words: Phrases) -> str:
    """Return a fact in words; `names` are those of the play that has it, and of the other."""
    phrase = words.say("phrases", fact.phrase, **fact.facts, other=names[1])
    return sentence(phrase) if side == "better" else words.say("against", play=names[0], phrase=phrase)


def rows_told(
    board: Sequence[Reason], beyond: Sequence[Reason], difference: float, names: Sequence[str], words: Phrases
) -> tuple[Reason, ...]:
    """Return the rows that are shown, the largest first; with the rest they add up to the `difference`.

    `board` are those of the board, `beyond` those of score, lookahead and rollout, in points.  What lookahead
    counts is not shown for the board as well.
    """
    counted = {_COUNTED_AHEAD.get(reason.phrase) for reason in beyond}
    board = [reason for reason in board if reason.concept not in counted]
    largest = max((reason.amount for reason in (*board, *beyond)), default=0.0)
    told = [reason for reason in beyond if reason.amount >= SHOWN]
    for side, most in _sides(difference):
        enough = [
            reason
            for reason in board
            if reason.play == side
            and reason.amount >= max(largest * (_MIN_OF_WEAK if reason.is_weak else _MIN_SHARE), SHOWN)
        ]
        told += enough[:most]
    rest = difference - sum(reason.contribution for reason in told)
    if abs(rest) > _NOTHING:
        text = words.say("beyond", "rest", play=names[rest < 0])
        told.append(row(REST, rest, text))
    return tuple(sorted(told, key=lambda reason: -reason.amount))


def counted_as_well(phrase: str, amount: float, board: Iterable[Reason]) -> bool:
    """Whether a larger reason of the `board` counts what a row of lookahead would count by a phrase."""
    concept = _COUNTED_AHEAD.get(phrase)
    return any(reason.concept == concept and reason.amount > amount for reason in board)


def _sides(difference: float) -> tuple[tuple[Side, int], ...]:
    if difference < 0:
        return ("worse", _MAX_FOR), ("better", _MAX_AGAINST)
    return ("better", _MAX_FOR), ("worse", _MAX_AGAINST)
