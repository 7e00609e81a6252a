"""What is measured in two positions, as sentences: of parameters, game plans, bearoffs and endings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from motif.board.outcome import outcome
from motif.board.position import PACKED_BAR
from motif.evaluators.bearoff import race_distribution
from motif.parameters import Parameter, ParameterSet
from motif.parameters.game_plan import AIMS
from motif.reports.explain.groups import Group
from motif.reports.explain.judged import TABLES, Judged
from motif.reports.explain.split import CLASS, CRASH, END, PLAN
from motif.reports.explain.view import HITTING, View

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
_MOST = 3
"""Facts that are told of a group."""
_OUTCOMES = {1: "a single game", 2: "a gammon", 3: "a backgammon"}


@dataclass(frozen=True)
class Fact:
    """Something that differs between two positions."""

    label: str
    first: str
    second: str

    def compared(self) -> str:
        """As a sentence about the first of two plays."""
        return f"{self.label}: {self.first}, not {self.second}."

    def of_one(self) -> str:
        """As a sentence about one position, compared with itself seen from the other side."""
        return f"{self.label}: {self.first}, the other side {self.second}."


def group_facts(
    group: Group, cause: str, chosen: ParameterSet, two: tuple[Judged, Judged], view: View
) -> list[Fact]:
    """The few things that differ most of what a group is about; `cause` is that of the split's rest."""
    found = list(cause_facts(cause, two, view)) if group.rest is not None else []
    if group.name == HITTING:
        found.append(place_fact(0, PACKED_BAR, two, view))
    telling = [each for each in group.telling if view.tells(each)] or group.telling
    plain = [each for each in telling if _is_plain(chosen, each, group.contribution, two, view)] or telling
    found += [parameter_fact(chosen, parameter, two, view) for parameter in plain]
    found += [place_fact(*place, two, view) for place in group.telling_places]
    return [fact for fact in found if fact.first != fact.second][:_MOST]


def _is_plain(
    chosen: ParameterSet, parameter: Parameter, contribution: float, two: tuple[Judged, Judged], view: View
) -> bool:
    """Whether a parameter moved the way that a player would expect from what its group brings.

    Blots and shots count together, so that one of them may have a weight that alone makes no sense.
    """
    place = chosen.names.index(parameter.name)
    first, second = (judged.seen.features[place] for judged in two)
    good = view.speaks_for(parameter, bool(first > second))
    return good is None or good == (contribution > 0)


def parameter_fact(
    chosen: ParameterSet, parameter: Parameter, two: tuple[Judged, Judged], view: View
) -> Fact:
    """The measured values of a parameter in two positions."""
    place = chosen.names.index(parameter.name)
    first, second = (view.value(parameter, float(judged.seen.features[place])) for judged in two)
    return Fact(view.sentence(parameter), first, second)


def place_fact(side: int, place: int, two: tuple[Judged, Judged], view: View) -> Fact:
    """The checkers on a place: of side 0, the player on roll, or 1, in that side's numbering from 0."""
    yours = (side == 0) == view.you_are_on_roll
    whose, his = ("Your", "the") if yours else ("The opponent's", "his")
    where = "the bar" if place == PACKED_BAR else f"{his} {place + 1} point"
    counts = (str(int(judged.seen.checkers[side, place])) for judged in two)
    return Fact(f"{whose} checkers on {where}", *counts)


def cause_facts(cause: str, two: tuple[Judged, Judged], view: View) -> Iterator[Fact]:
    """What is behind the part of a difference that no terms make up."""
    if cause in (PLAN, CRASH):
        plans = [judged.plan or "" for judged in two]
        yield from _crash_facts(plans, view) if plans[0].startswith(_CRASHED) else _aim_facts(plans, view)
    elif cause == CLASS:
        yield Fact("Kind of position", *(judged.class_name for judged in two))
    elif cause in (TABLES, END):
        yield from _ending_facts(two, view)


def _aim_facts(plans: Sequence[str], view: View) -> Iterator[Fact]:
    aims = [plan.split(_AGAINST) for plan in plans]
    yours, others = (0, 1) if view.you_are_on_roll else (1, 0)
    yield Fact("You have", *(_AIM_WORDS[both[yours]] for both in aims))
    yield Fact("The opponent has", *(_AIM_WORDS[both[others]] for both in aims))


def _crash_facts(plans: Sequence[str], view: View) -> Iterator[Fact]:
    whose, back = zip(*(_crash_words(plan, view) for plan in plans), strict=True)
    yield Fact("Crashed", *whose)
    yield Fact("Still with checkers back", *back)


def _crash_words(plan: str, view: View) -> tuple[str, str]:
    """Whose board has crashed and who has checkers back, told to the viewer."""
    whose, back = plan.removeprefix(_CRASHED).removesuffix(" back").split(", ")
    yours, others = ("your board", "the opponent's board")
    people = {"player": "you", "opponent": "the opponent"}
    if not view.you_are_on_roll:
        yours, others = others, yours
        people = {"player": "the opponent", "opponent": "you"}
    return {"own board": yours, "opponent's board": others}.get(whose, whose), people.get(back, back)


def _ending_facts(two: tuple[Judged, Judged], view: View) -> Iterator[Fact]:
    yours = [judged.position if view.you_are_on_roll else judged.position.switch_sides() for judged in two]
    results = [abs(int(outcome(position))) for position in yours]
    if any(results):
        yield Fact("You win", *(_OUTCOMES.get(result, "nothing yet") for result in results))
    yield Fact("Checkers that you have borne off", *(str(position.own_off) for position in yours))
    if not any(results) and all(judged.source == TABLES for judged in two):
        means = [f"{race_distribution(position).mean:.2f}" for position in yours]
        yield Fact("Rolls that you need on average to bear off the rest", *means)
