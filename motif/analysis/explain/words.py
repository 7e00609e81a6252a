"""The difference of two values in words: groups under the names that players use, facts and amounts.

The contributions of a split add up to groups, which are told one by one, largest first, and in one line;
amounts are points of equity, or per cent of winning chances.  Facts are what is measured in two positions:
of parameters, bearoffs and endings.

The registry's sentences, which speak of the player on roll and the opponent, are told to one of the two
players, who becomes "you".  After a play the other player is on roll, and the one who is told about it has
just moved.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from motif.analysis.explain.judged import TABLES, Judged
from motif.analysis.explain.split import CLASS, END, LIMITS, Split
from motif.analysis.phrases import Phrases
from motif.board.outcome import outcome
from motif.board.packed import HOME, PACKED_BAR, POINTS
from motif.evaluators.bearoff import race_distribution
from motif.parameters import Parameter, ParameterSet
from motif.parameters.position_class import AIMS
from motif.parameters.registry import OF_BACK, OF_BAR, OF_REAR

_ON_ROLL, _OPPONENT = "the player on roll", "the opponent"
_MOVED_LAST = "the player who moved last"
_IRREGULAR = {"has": "have", "is": "are", "was": "were", "does": "do"}
_CLAUSE = r"\byou ([a-z]+)\b((?:(?!\byou\b).)*)"
"""What "you" do, up to the next "you"."""
_ASIDE = re.compile(r" \([^)]*\)|:.*")
BACK_CHECKERS, PLACEMENT, DISTRIBUTION, RACE = "back checkers", "placement", "distribution", "race"
_OF_RACES = (RACE, "timing")
_GROUPS = {"back game": BACK_CHECKERS}
"""Groups whose name says too much of an ordinary play."""
ATTACK, HITTING, SAFETY = "attack", "hitting", "safety"
_LEAST_SHARE = 0.2
"""What a measurement brings at least that is told, of the largest of its group."""
_SAME = 1e-9
_MOST, _LEFT_UNTOLD = 5, 0.1
"""Groups are told until those left bring less than this share of all, or so many have been."""
_SUMMED_UP = 5
_WITHOUT_FACTS = {LIMITS: "Chances that have to agree with each other."}
_AGAINST, _CRASHED = " against ", "crashed "
_AIM_WORDS = dict(
    zip(
        AIMS,
        (
            "nobody back",
            "one checker back",
            "checkers back without an anchor",
            "an advanced anchor",
            "a deep anchor",
            "two anchors",
        ),
        strict=True,
    )
)
_MOST_FACTS = 3
"""Facts that are told of a group."""
_OUTCOMES = {1: "a single game", 2: "a gammon", 3: "a backgammon"}


@dataclass(frozen=True)
class View:
    """Whose eyes a position is seen with that is given by the player on roll."""

    you_are_on_roll: bool
    race: bool = False
    """Whether there is no contact: then nobody blocks or attacks, and all but the race is distribution."""
    hit: bool = False
    """Whether the opponent's checkers differ: then all that they bring is one matter, that of the hit."""

    def sentence(self, parameter: Parameter) -> str:
        """Return what the parameter measures, told to the viewer in short, beginning with a capital letter.

        What stands in brackets or behind a colon in the registry is left out.
        """
        text = _ASIDE.sub("", parameter.sentence.removeprefix("whether "))
        if self.you_are_on_roll or parameter.side == "difference":
            you, other = _ON_ROLL, _MOVED_LAST
        else:
            you, other = _OPPONENT, _ON_ROLL
        if _MOVED_LAST in text:
            you, other = (_ON_ROLL, _MOVED_LAST) if self.you_are_on_roll else (_MOVED_LAST, _ON_ROLL)
        text = text.replace(other, "\0").replace(you, "you").replace("\0", _OPPONENT)
        text = _addressed(text)
        return text[0].upper() + text[1:]

    def value(self, parameter: Parameter, feature: float) -> str:
        """Return a feature as the measured value that `sentence` speaks of."""
        amount = feature / parameter.scale
        if parameter.unit == "yes or no":
            return "yes" if amount > 0.5 else "no"
        if parameter.side == "difference" and not self.you_are_on_roll:
            amount = -amount
        short = round(amount, 1)
        return f"{short + 0.0:g}"

    def place_group(self, side: int, place: int) -> str:
        """Return the group of the checkers of side 0, the player on roll, or 1, on a place counted from 0."""
        if self.race:
            return DISTRIBUTION
        yours = (side == 0) == self.you_are_on_roll
        if self.hit and not yours:
            return HITTING
        if place < POINTS - HOME:
            return PLACEMENT
        return BACK_CHECKERS if yours else ATTACK

    def tells(self, parameter: Parameter) -> bool:
        """Whether the parameter's value says something where it is seen: in a race nobody blocks or hits."""
        return not self.race or parameter.group in _OF_RACES

    def speaks_for(self, parameter: Parameter, more: bool) -> bool | None:
        """Whether more of a parameter, or less, speaks for the viewer; None where that depends."""
        group = self.group(parameter)
        if self.race or group not in (ATTACK, SAFETY) or parameter.side not in ("own", "opponent"):
            return None
        return more == (group == ATTACK)

    def group(self, parameter: Parameter) -> str:
        """Return the viewer's group: a threat of the opponent's is a matter of the viewer's own safety."""
        if self.race:
            return parameter.group if parameter.group == RACE else DISTRIBUTION
        if parameter.side not in ("own", "opponent"):
            hit = self.hit and parameter.hint == OF_REAR
            return HITTING if hit else _GROUPS.get(parameter.group, parameter.group)
        yours = parameter.side == ("own" if self.you_are_on_roll else "opponent")
        group = self._side_group(parameter, yours)
        # Besides the attack on him and his own measurements, a hit changes how one stands towards him.
        if self.hit and (group == ATTACK or (parameter.hint == OF_REAR if yours else group != SAFETY)):
            return HITTING
        return group

    def _side_group(self, parameter: Parameter, yours: bool) -> str:
        group = parameter.group
        if parameter.hint == OF_BACK:
            return BACK_CHECKERS if yours else ATTACK
        # A checker on the bar is under attack; all else in that group attacks.
        if group == ATTACK and parameter.hint != OF_BAR:
            return ATTACK if yours else SAFETY
        if group in (ATTACK, SAFETY):
            return SAFETY if yours else ATTACK
        return _GROUPS.get(group, group)


@dataclass
class Group:
    """The part of a difference of x that players would file under one name."""

    name: str
    parameters: list[tuple[Parameter, float]] = field(default_factory=list)
    """Parameters that differ, with their contributions."""
    places: list[tuple[int, int, float]] = field(default_factory=list)
    """Side (0 is the player on roll) and place (24 is the bar) of point terms that differ, with theirs."""
    rest: float | None = None
    """What the change of weights brings, in the group that it belongs to."""

    @property
    def contribution(self) -> float:
        """The sum of all that is in it."""
        terms = sum(value for _, value in self.parameters) + sum(value for *_, value in self.places)
        return terms + (self.rest or 0.0)

    @property
    def telling(self) -> list[Parameter]:
        """The parameters that bring most of what the group brings, the largest first."""
        side = 1 if self.contribution >= 0 else -1
        for_it = sorted((side * value, k) for k, (_, value) in enumerate(self.parameters) if side * value > 0)
        least = _LEAST_SHARE * for_it[-1][0] if for_it else 0.0
        return [self.parameters[k][0] for value, k in reversed(for_it) if value >= least]

    @property
    def telling_places(self) -> list[tuple[int, int]]:
        """The places that bring most of what the group brings, the largest first."""
        side = 1 if self.contribution >= 0 else -1
        for_it = sorted((-side * value, owner, k) for owner, k, value in self.places if side * value > 0)
        return [(owner, place) for value, owner, place in for_it if value <= _LEAST_SHARE * for_it[0][0]]


@dataclass(frozen=True)
class Scale:
    """Turns parts of a difference of x into parts of the difference of values that it makes."""

    per_x: float
    """Points of equity (twice the winning chance, for a file that knows no gammons) for each unit of x."""
    win_only: bool

    @classmethod
    def between(cls, first: Judged, second: Judged, bound: float) -> "Scale":
        """Return the secant of the squash between two positions, so that the parts add up there too.

        `bound` is that of the values, 3 or 1.
        """
        step = first.x - second.x
        if abs(step) > _SAME:
            slope = (first.value - second.value) / step
        else:
            slope = bound * (1 - (first.value / bound) ** 2)
        return cls(slope, bound == 1)

    @property
    def unit(self) -> str:
        """Unit of amounts."""
        return "% of winning chances" if self.win_only else "points"

    def amount(self, x: float) -> float:
        """Return a part of a difference of x in `unit`."""
        return x * self.per_x * (50 if self.win_only else 1)

    def told(self, x: float, *, sign: bool = True) -> str:
        """Return a part of a difference of x as text, in `unit`, as ``+0.042`` or ``-1.3``."""
        value = self.amount(x)
        digits = 1 if self.win_only else 3
        text = f"{value:+.{digits}f}" if sign else f"{abs(value):.{digits}f}"
        return text if float(text) else text.lstrip("+-")

    def counts(self, x: float) -> bool:
        """Whether a part is large enough to be seen in the digits that are shown."""
        return abs(self.amount(x)) >= (0.05 if self.win_only else 0.0005)


@dataclass(frozen=True)
class Fact:
    """Something that differs between two positions."""

    label: str
    first: str
    second: str

    def compared(self) -> str:
        """Return the sentence about the first of two plays."""
        return f"{self.label}: {self.first}, not {self.second}."

    def of_one(self) -> str:
        """Return the sentence about one position, compared with itself seen from the other side."""
        return f"{self.label}: {self.first}, the other side {self.second}."


def grouped(parameters: ParameterSet, division: Split, view: View) -> tuple[Group, ...]:
    """Return the groups of a split, largest first; their contributions add up to its difference."""
    groups: dict[str, Group] = {}

    def group(name: str) -> Group:
        return groups.setdefault(name, Group(name))

    for parameter, value in zip(parameters.parameters, division.by_parameter.tolist(), strict=True):
        if value:
            group(view.group(parameter)).parameters.append((parameter, value))
    for side, place in np.argwhere(division.places).tolist():
        group(view.place_group(side, place)).places.append((side, place, float(division.places[side, place])))
    if division.rest:
        group(division.cause).rest = division.rest
    return tuple(sorted(groups.values(), key=lambda each: -abs(each.contribution)))


def told_groups(
    groups: Sequence[Group], scale: Scale, facts: Callable[[Group], Sequence[str]]
) -> Iterator[str]:
    """Yield a line each for the `groups` that matter, largest first, and one for the rest.

    `facts` gives the sentences that belong to a group.
    """
    counting = [group for group in groups if scale.counts(group.contribution)]
    remainder = everything = sum(abs(group.contribution) for group in groups)
    count = 0
    for group in counting[:_MOST]:
        if count and remainder < _LEFT_UNTOLD * everything and count + 1 < len(counting):
            break
        words = list(facts(group)) or [_WITHOUT_FACTS.get(group.name, "")]
        yield " ".join(filter(None, [f"{_capital(group.name)} {scale.told(group.contribution)}.", *words]))
        remainder -= abs(group.contribution)
        count += 1
    rest = sum(group.contribution for group in groups[count:])
    names = [_with_amount(group, scale) for group in counting[count:]]
    if names:
        yield f"The rest {scale.told(rest)}: {', '.join(names)}."


def listed(groups: Sequence[Group], scale: Scale) -> str:
    """Return the largest of `groups` with their amounts, such as ``safety +0.061, race -0.012``."""
    counting = [group for group in groups if scale.counts(group.contribution)]
    return ", ".join(_with_amount(group, scale) for group in counting[:_SUMMED_UP])


def value_line(scale: Scale, x: tuple[float, float], values: tuple[float, float], words: Phrases) -> str:
    """How the raw sums `x` of the two plays become their `values`, in a sentence."""
    first, second = (words.signed(each, 4) for each in x)
    if scale.win_only:
        better, worse = (words.amount(50 + 50 * value, 1) for value in values)
    else:
        better, worse = (words.signed(value) for value in values)
    key = "value_chances" if scale.win_only else "value"
    return words.say("detail", key, first=first, second=second, better=better, worse=worse)


def group_facts(
    group: Group, cause: str, parameters: ParameterSet, two: tuple[Judged, Judged], view: View
) -> list[Fact]:
    """Return the few things that differ most in a group; `cause` is that of the split's rest."""
    facts = list(cause_facts(cause, two, view)) if group.rest is not None else []
    if group.name == HITTING:
        facts.append(place_fact(0, PACKED_BAR, two, view))
    telling = [each for each in group.telling if view.tells(each)] or group.telling

    def is_plain(parameter: Parameter) -> bool:
        """Whether a parameter moved the way that a player would expect from what its group brings.

        Blots and shots count together, so that one of them may have a weight that alone makes no sense.
        """
        place = parameters.names.index(parameter.name)
        first, second = (one.seen.features[place] for one in two)
        good = view.speaks_for(parameter, bool(first > second))
        return good is None or good == (group.contribution > 0)

    plain = list(filter(is_plain, telling)) or telling
    facts += [parameter_fact(parameters, parameter, two, view) for parameter in plain]
    facts += [place_fact(*place, two, view) for place in group.telling_places]
    return [fact for fact in facts if fact.first != fact.second][:_MOST_FACTS]


def parameter_fact(
    parameters: ParameterSet, parameter: Parameter, two: tuple[Judged, Judged], view: View
) -> Fact:
    """Return the measured values of a parameter in two positions."""
    place = parameters.names.index(parameter.name)
    first, second = (view.value(parameter, float(one.seen.features[place])) for one in two)
    return Fact(view.sentence(parameter), first, second)


def place_fact(side: int, place: int, two: tuple[Judged, Judged], view: View) -> Fact:
    """Return the checkers of side 0, the player on roll, or 1, on a place in that side's numbering from 0."""
    yours = (side == 0) == view.you_are_on_roll
    whose, his = ("Your", "the") if yours else ("The opponent's", "his")
    where = "the bar" if place == PACKED_BAR else f"{his} {place + 1} point"
    counts = (str(int(one.seen.checkers[side, place])) for one in two)
    return Fact(f"{whose} checkers on {where}", *counts)


def cause_facts(cause: str, two: tuple[Judged, Judged], view: View) -> Iterator[Fact]:
    """Yield what is behind the part of a difference that no terms make up."""
    if cause == CLASS:
        yield Fact("Kind of position", *(one.class_name for one in two))
    elif cause in (TABLES, END):
        yield from _ending_facts(two, view)


def _addressed(text: str) -> str:
    """`text` about "you" with verbs and pronouns that agree."""
    text = re.sub(r"\byou's\b", "your", text)
    text = re.sub(r"\bthe ([a-z]+(?: [a-z]+)?) of you\b", r"your \1", text)
    text = re.sub(r"^([a-z]+) of you\b", r"your \1", text)
    text = re.sub(r"\b(an? [a-z]+) of you\b", r"\1 of yours", text)
    return re.sub(_CLAUSE, lambda match: f"you {_plural(match[1])}{_yours(match[2])}", text)


def _plural(verb: str) -> str:
    """Return the form of a verb that goes with "you"; other words stay as they are."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if re.search(r"(s|x|z|ch|sh)es$", verb) and not verb.endswith("ses"):
        return verb.removesuffix("es")
    return verb if verb.endswith("ss") else verb.removesuffix("s")


def _yours(rest: str) -> str:
    """Return what follows a verb of "you": his things are yours, unless the opponent comes in between."""
    before, mark, behind = rest.partition(_OPPONENT)
    return re.sub(r"\bhis\b", "your", before) + mark + behind


def _with_amount(group: Group, scale: Scale) -> str:
    return f"{group.name} {scale.told(group.contribution)}"


def _capital(name: str) -> str:
    return name[0].upper() + name[1:]


def _ending_facts(two: tuple[Judged, Judged], view: View) -> Iterator[Fact]:
    yours = [one.position if view.you_are_on_roll else one.position.switch_sides() for one in two]
    results = [abs(int(outcome(position))) for position in yours]
    if any(results):
        yield Fact("You win", *(_OUTCOMES.get(result, "nothing yet") for result in results))
    yield Fact("Checkers that you have borne off", *(str(position.own_off) for position in yours))
    if not any(results) and all(one.source == TABLES for one in two):
        means = [f"{race_distribution(position).mean:.2f}" for position in yours]
        yield Fact("Rolls that you need on average to bear off the rest", *means)
