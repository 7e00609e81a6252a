"""What the contributions of a split add up to under the names that players use."""

from dataclasses import dataclass, field

import numpy as np

from motif.parameters import Parameter, ParameterSet
from motif.reports.explain.split import PLAN, Split
from motif.reports.explain.view import BACK_CHECKERS, View

_LEAST_SHARE = 0.2
"""What a measurement brings at least that is told, of the largest of its group."""


@dataclass
class Group:
    """The part of a difference of x that players would file under one name."""

    name: str
    parameters: list[tuple[Parameter, float]] = field(default_factory=list)
    """Those that differ, with their contributions."""
    places: list[tuple[int, int, float]] = field(default_factory=list)
    """Side (0 is the player on roll) and place (24 is the bar) of point terms that differ, with theirs."""
    rest: float | None = None
    """What the change of weights brings, in the group that it belongs to."""

    @property
    def contribution(self) -> float:
        """Of all that is in it."""
        named = sum(value for _, value in self.parameters) + sum(value for *_, value in self.places)
        return named + (self.rest or 0.0)

    @property
    def telling(self) -> list[Parameter]:
        """The parameters that bring most of what the group brings, the largest first."""
        side = 1 if self.contribution >= 0 else -1
        for_it = sorted((side * value, k) for k, (_, value) in enumerate(self.parameters) if side * value > 0)
        least = _LEAST_SHARE * for_it[-1][0] if for_it else 0.0
        return [self.parameters[k][0] for value, k in reversed(for_it) if value >= least]

    @property
    def telling_places(self) -> list[tuple[int, int]]:
        """The same of its places."""
        side = 1 if self.contribution >= 0 else -1
        for_it = sorted((-side * value, owner, k) for owner, k, value in self.places if side * value > 0)
        return [(owner, place) for value, owner, place in for_it if value <= _LEAST_SHARE * for_it[0][0]]


def grouped(parameters: ParameterSet, split: Split, view: View) -> tuple[Group, ...]:
    """The groups of a split, largest first; their contributions add up to its difference."""
    found: dict[str, Group] = {}

    def group(name: str) -> Group:
        return found.setdefault(name, Group(name))

    for parameter, value in zip(parameters.parameters, split.by_parameter.tolist(), strict=True):
        if value:
            group(view.group(parameter)).parameters.append((parameter, value))
    for side, place in np.argwhere(split.places).tolist():
        group(view.place_group(side, place)).places.append((side, place, float(split.places[side, place])))
    if split.rest:
        # Plans are read off the back checkers, but for the side whose board has crashed.
        group(BACK_CHECKERS if split.cause == PLAN else split.cause).rest = split.rest
    return tuple(sorted(found.values(), key=lambda each: -abs(each.contribution)))
