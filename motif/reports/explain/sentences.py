"""The groups of a difference told one by one, largest first, and in one line."""

from collections.abc import Callable, Iterator, Sequence

from motif.reports.explain.groups import Group
from motif.reports.explain.scale import Scale
from motif.reports.explain.split import LIMITS

_MOST, _LEFT_UNTOLD = 5, 0.1
"""Groups are told until those left bring less than this share of all, or so many have been."""
_SUMMED_UP = 5
_WITHOUT_FACTS = {LIMITS: "Chances that have to agree with each other."}


def told_groups(
    groups: Sequence[Group], scale: Scale, facts: Callable[[Group], Sequence[str]]
) -> Iterator[str]:
    """A line each for the `groups` that matter, largest first, and one for the rest.

    `facts` gives the sentences that belong to a group.
    """
    counting = [group for group in groups if scale.counts(group.contribution)]
    left = everything = sum(abs(group.contribution) for group in groups)
    told = 0
    for group in counting[:_MOST]:
        if told and left < _LEFT_UNTOLD * everything and told + 1 < len(counting):
            break
        words = list(facts(group)) or [_WITHOUT_FACTS.get(group.name, "")]
        yield " ".join(filter(None, [f"{_capital(group.name)} {scale.told(group.contribution)}.", *words]))
        left -= abs(group.contribution)
        told += 1
    rest = sum(group.contribution for group in groups[told:])
    names = [_with_amount(group, scale) for group in counting[told:]]
    if names:
        yield f"The rest {scale.told(rest)}: {', '.join(names)}."


def listed(groups: Sequence[Group], scale: Scale) -> str:
    """The largest of `groups` with their amounts, such as ``safety +0.061, race -0.012``."""
    counting = [group for group in groups if scale.counts(group.contribution)]
    return ", ".join(_with_amount(group, scale) for group in counting[:_SUMMED_UP])


def value_line(scale: Scale, x: tuple[float, float], values: tuple[float, float]) -> str:
    """How the raw sums `x` of the two plays become their `values`, in a sentence."""
    raw = f"x is {x[0]:+.4f} against {x[1]:+.4f}"
    if scale.win_only:
        chances = " against ".join(f"{50 + 50 * value:.1f} %" for value in values)
        return f"{raw}; the winning chance (tanh x + 1) / 2 is {chances}."
    return f"{raw}; the equity 3 tanh x is {values[0]:+.3f} against {values[1]:+.3f} points."


def _with_amount(group: Group, scale: Scale) -> str:
    return f"{group.name} {scale.told(group.contribution)}"


def _capital(name: str) -> str:
    return name[0].upper() + name[1:]
