"""What makes up the value of one position: what one side has and the other has not.

The yardstick is the same position with the sides exchanged, the same player on roll.  Half the difference
of the two values is what one's checkers stand better than the opponent's, split over terms as for plays;
half their sum, which belongs to neither, is what being on roll is worth.
"""

from dataclasses import dataclass, field
from typing import Any

from motif.board.position import Position
from motif.evaluators import Evaluator
from motif.reports.explain.facts import Fact, group_facts
from motif.reports.explain.groups import Group, grouped
from motif.reports.explain.judged import both_races, bound_of, explainable, judged
from motif.reports.explain.scale import Scale
from motif.reports.explain.sentences import listed, told_groups
from motif.reports.explain.split import Terms, split
from motif.reports.explain.view import View

ON_ROLL = "being on roll"


@dataclass(frozen=True)
class PositionExplanation:
    """The value of a position for the player on roll, in parts."""

    x: float
    """By which the position is ranked; see `motif.reports.explain.judged.Judged`."""
    on_roll: float
    """The part of x that exchanging the sides leaves as it is."""
    terms: Terms
    """Name and contribution of every term; with `on_roll` they add up to x."""
    groups: tuple[tuple[str, float], ...]
    """The same by what players would file it under, largest first."""
    sentences: tuple[str, ...]
    summary: str
    scale: Scale = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON; `amount` is a contribution in `unit`."""
        return {
            "x": self.x,
            "on_roll": self.on_roll,
            "unit": self.scale.unit,
            "summary": self.summary,
            "sentences": list(self.sentences),
            "groups": [
                {"name": name, "contribution": value, "amount": self.scale.amount(value)}
                for name, value in self.groups
            ],
            "terms": [{"name": name, "contribution": value} for name, value in self.terms],
        }


def explain_position(evaluator: Evaluator, position: Position) -> PositionExplanation:
    """What makes up the value that `evaluator` gives to `position`, without lookahead.

    Raises `PlayerError` for an evaluator that is no weight file (nor bras nor phase).
    """
    static, weights = explainable(evaluator)
    two = judged(static, position), judged(static, position.switch_sides())
    view = View(you_are_on_roll=True, race=both_races(*two))
    found = split(weights, *two, of_other_player=False)
    scale = Scale.between(*two, bound_of(static))
    halves = tuple((name, value / 2) for name, value in found.terms)
    groups = grouped(weights.parameters, found, view)
    half = Scale(scale.per_x / 2, scale.win_only)

    def facts(group: Group) -> list[str]:
        told: list[Fact] = []
        for fact in group_facts(group, found.cause, weights.parameters, two, view):
            # The same thing told of the other side says nothing new.
            if all((fact.second, fact.first) != (known.first, known.second) for known in told):
                told.append(fact)
        return [fact.of_one() for fact in told]

    def of_values(value: float) -> str:
        return Scale(1.0, scale.win_only).told(value)

    roll = of_values((two[0].value + two[1].value) / 2)
    parts = ", ".join(filter(None, [f"{ON_ROLL} {roll}", listed(groups, half)]))
    even = "50 % of the games" if scale.win_only else "an even game"
    return PositionExplanation(
        x=two[0].x,
        on_roll=(two[0].x + two[1].x) / 2,
        terms=halves,
        groups=tuple((group.name, group.contribution / 2) for group in groups),
        sentences=tuple(told_groups(groups, half, facts)),
        summary=f"Against {even}, {of_values(two[0].value)} {scale.unit}: {parts}.",
        scale=scale,
    )
