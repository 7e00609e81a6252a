"""Groups of the terms of a difference, under names that players use, with measurements.

Amounts are points of equity, or per cent of winning chances.  After a play the opponent is on roll, and the
reader has just moved.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from motif.analysis.explain.split import CLASS, END, PROBABILITY_LIMITS, Split, secant
from motif.analysis.explain.valued_position import SOURCE_TABLES, ValuedPosition
from motif.analysis.phrases import Phrases
from motif.board.outcome import outcome
from motif.board.packed import HOME, PACKED_BAR, POINTS
from motif.evaluators.bearoff import race_distribution
from motif.parameters import Parameter, ParameterSet
from motif.parameters.registry import OF_BACK, OF_BAR, OF_REAR
from motif.runtime.layout import capitalized

_BACK_CHECKERS, _PLACEMENT, _DISTRIBUTION, _RACE = "back checkers", "placement", "distribution", "race"
_ATTACK, _HITTING, _SAFETY = "attack", "hitting", "safety"
_OF_RACES = (_RACE, "timing")
_GROUPS = {"back game": _BACK_CHECKERS}
"""Groups that are shown under another name."""
_MIN_SHARE = 0.2
"""Minimum size of a measurement relative to the largest of its group."""
_MAX_GROUPS, _LEFT_OUT = 5, 0.1
"""Maximum number of groups, and the share of the total that may be left out."""
_MAX_FACTS = 3
"""Maximum number of measurements of a group."""
_CHANCES_PER_VALUE = 50
"""Per cent of winning chances per unit of 2 win - 1."""


@dataclass(frozen=True)
class Viewpoint:
    """The viewer of a position that is given from the side of the player on roll."""

    you_are_on_roll: bool
    race: bool = False
    """Whether there is no contact; everything except the race is then distribution."""
    hit: bool = False
    """Whether the opponent's checkers differ because of a hit; they then form the group of the hit."""

    def label(self, parameter: Parameter, words: Phrases) -> str:
        """Return the parameter's label, such as "your blots at home"."""
        yours = (parameter.side == "own") == self.you_are_on_roll
        whose = words.say("measured", "yours" if yours else "theirs")
        label = words.find("parameters", parameter.base_name, default=parameter.template)
        return label.replace("{side}", whose)

    def value(self, parameter: Parameter, feature: float, words: Phrases) -> str:
        """Return the measured value of a feature, as described by `label`."""
        amount = feature / parameter.scale
        if parameter.is_flag:
            return words.say("measured", "positive" if amount > 0.5 else "negative")
        if parameter.side == "difference" and not self.you_are_on_roll:
            amount = -amount
        return words.number(amount)

    def point_group(self, side: int, point: int) -> str:
        """Return the group of checkers of `side` (0 is the player on roll) on a point counted from 0."""
        if self.race:
            return _DISTRIBUTION
        yours = (side == 0) == self.you_are_on_roll
        if self.hit and not yours:
            return _HITTING
        if point < POINTS - HOME:
            return _PLACEMENT
        return _BACK_CHECKERS if yours else _ATTACK

    def is_relevant(self, parameter: Parameter) -> bool:
        """Return whether the parameter matters here; blocking and hitting do not matter in a race."""
        return not self.race or parameter.group in _OF_RACES

    def speaks_for(self, parameter: Parameter, more: bool) -> bool | None:
        """Return whether more (or less) of a parameter favours the viewer; None if that varies."""
        group = self.group(parameter)
        if self.race or group not in (_ATTACK, _SAFETY) or parameter.side not in ("own", "opponent"):
            return None
        return more == (group == _ATTACK)

    def group(self, parameter: Parameter) -> str:
        """Return the group for the viewer; the opponent's threats belong to safety."""
        if self.race:
            return parameter.group if parameter.group == _RACE else _DISTRIBUTION
        if parameter.side not in ("own", "opponent"):
            hit = self.hit and parameter.hint == OF_REAR
            return _HITTING if hit else _GROUPS.get(parameter.group, parameter.group)
        yours = parameter.side == ("own" if self.you_are_on_roll else "opponent")
        group = self._side_group(parameter, yours)
        # A hit also changes measurements relative to the opponent's rearmost checker.
        if self.hit and (group == _ATTACK or (parameter.hint == OF_REAR if yours else group != _SAFETY)):
            return _HITTING
        return group

    def _side_group(self, parameter: Parameter, yours: bool) -> str:
        group = parameter.group
        if parameter.hint == OF_BACK:
            return _BACK_CHECKERS if yours else _ATTACK
        # A checker on the bar is under attack; the group's other parameters measure the attacker.
        if group == _ATTACK and parameter.hint != OF_BAR:
            return _ATTACK if yours else _SAFETY
        if group in (_ATTACK, _SAFETY):
            return _SAFETY if yours else _ATTACK
        return _GROUPS.get(group, group)


@dataclass
class Group:
    """The part of a difference of x that belongs to one group."""

    name: str
    parameters: list[tuple[Parameter, float]] = field(default_factory=list)
    """Parameters that differ, with their contributions."""
    points: list[tuple[int, int, float]] = field(default_factory=list)
    """Side (0 is the player on roll), point (24 is the bar) and contribution where checkers differ."""
    rest: float | None = None
    """Contribution of a change of weights."""

    @property
    def contribution(self) -> float:
        """The sum of all contributions."""
        terms = sum(value for _, value in self.parameters) + sum(value for *_, value in self.points)
        return terms + (self.rest or 0.0)

    @property
    def telling(self) -> list[Parameter]:
        """The parameters with the largest contributions of the group's sign, largest first."""
        return [self.parameters[k][0] for k in self._telling([value for _, value in self.parameters])]

    @property
    def telling_points(self) -> list[tuple[int, int]]:
        """The points with the largest contributions of the group's sign, largest first."""
        return [self.points[k][:2] for k in self._telling([value for *_, value in self.points])]

    def _telling(self, values: Sequence[float]) -> list[int]:
        """Return the indices of the largest `values` of the group's sign, largest first."""
        sizes = np.array(values) if self.contribution >= 0 else -np.array(values)
        least = _MIN_SHARE * max(sizes.max(initial=0), np.finfo(float).tiny)
        return [k for k in np.argsort(-sizes, kind="stable").tolist() if sizes[k] >= least]


@dataclass(frozen=True)
class AmountScale:
    """Converts parts of a difference of x into parts of the difference of values."""

    per_x: float
    """Points of equity (or twice the winning chance, for weights with only a win head) per unit of x."""
    win_only: bool

    @classmethod
    def between(cls, first: ValuedPosition, second: ValuedPosition, bound: float) -> "AmountScale":
        """Return the secant of the inverse link function between two positions.

        Values reach `bound`, 3 or 1.
        """
        return cls(secant(lambda x: bound * math.tanh(x), first.x, second.x), bound == 1)

    @property
    def unit(self) -> str:
        """Unit of amounts."""
        return "% of winning chances" if self.win_only else "points"

    def unit_in(self, words: Phrases) -> str:
        """Return the unit of amounts in a language."""
        return words.say("units", "chances" if self.win_only else "points")

    def amount(self, x: float) -> float:
        """Return a part of a difference of x in `unit`."""
        return x * self.per_x * (_CHANCES_PER_VALUE if self.win_only else 1)

    def in_words(self, x: float, words: Phrases) -> str:
        """Return a part of a difference of x in `unit`, such as ``+0.042`` or ``-1.3``."""
        value, digits = self.amount(x), 1 if self.win_only else 3
        return words.signed(value, digits) if round(value, digits) else words.amount(0.0, digits)

    def counts(self, x: float) -> bool:
        """Return whether a part does not round to 0."""
        return abs(self.amount(x)) >= (0.05 if self.win_only else 0.0005)


@dataclass(frozen=True)
class MeasuredDifference:
    """A measurement that differs between two positions."""

    what: str
    first: str
    second: str

    def sentence(self, words: Phrases, key: str) -> str:
        """Return a sentence: ``compared`` for two plays, ``of_one`` for a position and its mirror image."""
        return words.say("measured", key, what=capitalized(self.what), first=self.first, second=self.second)


def grouped(parameters: ParameterSet, division: Split, view: Viewpoint) -> tuple[Group, ...]:
    """Return the groups of a split, largest first; they add up to its difference."""
    groups: dict[str, Group] = {}

    def group(name: str) -> Group:
        return groups.setdefault(name, Group(name))

    for parameter, value in zip(parameters.parameters, division.by_parameter.tolist(), strict=True):
        if value:
            group(view.group(parameter)).parameters.append((parameter, value))
    for side, point in np.argwhere(division.places).tolist():
        group(view.point_group(side, point)).points.append((side, point, float(division.places[side, point])))
    if division.rest:
        group(division.cause).rest = division.rest
    return tuple(sorted(groups.values(), key=lambda each: -abs(each.contribution)))


def group_lines(
    groups: Sequence[Group], scale: AmountScale, words: Phrases, facts: Callable[[Group], Sequence[str]]
) -> Iterator[str]:
    """Yield one line per important group, largest first, with its `facts`, and one line for the rest."""
    counting = [group for group in groups if scale.counts(group.contribution)]
    remainder = everything = sum(abs(group.contribution) for group in groups)
    count = 0
    for group in counting[:_MAX_GROUPS]:
        if count and remainder < _LEFT_OUT * everything and count + 1 < len(counting):
            break
        said = list(facts(group)) or [words.say("measured", "limits")] * (group.name == PROBABILITY_LIMITS)
        name, amount = capitalized(words.group(group.name)), scale.in_words(group.contribution, words)
        yield " ".join([words.say("detail", "group", group=name, amount=amount), *said])
        remainder -= abs(group.contribution)
        count += 1
    if counting[count:]:
        rest = scale.in_words(sum(group.contribution for group in groups[count:]), words)
        names = ", ".join(
            groups_with_amounts(
                [(group.name, group.contribution) for group in counting[count:]], scale, words
            )
        )
        yield words.say("detail", "rest", amount=rest, groups=names)


def groups_with_amounts(groups: Sequence[tuple[str, float]], scale: AmountScale, words: Phrases) -> list[str]:
    """Return the names of groups with their contributions as amounts, such as ``safety +0.061``."""
    return [f"{words.group(name)} {scale.in_words(value, words)}" for name, value in groups]


def group_facts(
    group: Group,
    cause: str,
    parameters: ParameterSet,
    two: tuple[ValuedPosition, ValuedPosition],
    view: Viewpoint,
    words: Phrases,
) -> list[MeasuredDifference]:
    """Return the main measurements of a group; `cause` is the cause of the split's rest."""
    facts = list(_cause_facts(cause, two, view, words)) if group.rest is not None else []
    if group.name == _HITTING:
        facts.append(_point_fact(0, PACKED_BAR, two, view, words))
    telling = [each for each in group.telling if view.is_relevant(each)] or group.telling

    def is_plain(parameter: Parameter) -> bool:
        """Return whether a parameter changed in the direction of its group's contribution.

        Blots and shots overlap, so a single weight may have an unexpected sign.
        """
        column = parameters.names.index(parameter.name)
        first, second = (one.inputs.features[column] for one in two)
        good = view.speaks_for(parameter, bool(first > second))
        return good is None or good == (group.contribution > 0)

    for parameter in list(filter(is_plain, telling)) or telling:
        column = parameters.names.index(parameter.name)
        values = (view.value(parameter, float(one.inputs.features[column]), words) for one in two)
        facts.append(MeasuredDifference(view.label(parameter, words), *values))
    facts += [_point_fact(*point, two, view, words) for point in group.telling_points]
    return list(dict.fromkeys(fact for fact in facts if fact.first != fact.second))[:_MAX_FACTS]


def _point_fact(
    side: int, point: int, two: tuple[ValuedPosition, ValuedPosition], view: Viewpoint, words: Phrases
) -> MeasuredDifference:
    """Return the checkers of `side` on a point, in that side's numbering from 0."""
    yours = (side == 0) == view.you_are_on_roll
    key = "checkers_on_bar" if point == PACKED_BAR else "checkers_on_point"
    whose = words.say("measured", "yours" if yours else "theirs")
    counts = (str(int(one.inputs.checkers[side, point])) for one in two)
    return MeasuredDifference(words.say("measured", key, whose=whose, point=point + 1), *counts)


def _cause_facts(
    cause: str, two: tuple[ValuedPosition, ValuedPosition], view: Viewpoint, words: Phrases
) -> Iterator[MeasuredDifference]:
    """Yield measurements for the part of a difference outside all terms."""

    def said(key: str) -> str:
        return words.say("measured", key)

    if cause == CLASS:
        yield MeasuredDifference(said("kind"), *(words.say("classes", one.class_name) for one in two))
    if cause not in (SOURCE_TABLES, END):
        return
    yours = [one.position if view.you_are_on_roll else one.position.switch_sides() for one in two]
    results = [abs(int(outcome(position))) for position in yours]
    if any(results):
        yield MeasuredDifference(said("result"), *map(words.result, results))
    yield MeasuredDifference(said("borne_off"), *(str(position.own_off) for position in yours))
    if not any(results) and all(one.source == SOURCE_TABLES for one in two):
        means = (words.amount(race_distribution(position).mean, 2) for position in yours)
        yield MeasuredDifference(said("rolls_left"), *means)
