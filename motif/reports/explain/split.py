"""The difference of two values, split exactly over the terms of the weights.

Two positions may be judged by other weights: of another game plan, another class, or by bearoff tables.
The difference of x is then R(first) - R(second), which terms make up, and a rest that the change of weights
itself brings.  R are the weights of both positions, half and half, so that neither counts for more and
exchanging the positions changes nothing but the sign.  Where only one of the two is a race R are the
other's alone, because the weights of races know nothing of contact; where only one is judged by weights R
are those; where none is the rest is all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from motif.evaluators.point_table import TABLE_SHAPE
from motif.evaluators.probabilities import turned_equities
from motif.evaluators.weight_file import PAIR, SIDES, WeightFile
from motif.parameters.position_class import CLASS_NAMES, CONTACT, RACE
from motif.reports.explain.effective import effective_form
from motif.reports.explain.form import FloatArray, Form, combined
from motif.reports.explain.gauge import moved_to_parameters
from motif.reports.explain.judged import FINISHED, TABLES, WEIGHTS, Judged

Terms = tuple[tuple[str, float], ...]

PLAN, CRASH, CLASS = "game plan", "crashed board", "class of position"
END, LIMITS = "end of the game", "limits of the chances"
"""Causes of a rest: another plan of contact or of crashed positions, another class, a finished game, chances
that have to agree with each other; and the bearoff tables."""
_NOTHING = 1e-12


@dataclass(frozen=True, eq=False)
class Split:
    """A difference of x: `terms` add up to it, and so do `by_parameter`, `places` and `rest`."""

    terms: Terms
    """Name and contribution of every term that differs; pairs are ``blots*pip_lead``, point terms
    ``own 6``, and what the change of weights brings comes last."""
    by_parameter: FloatArray
    """(n,): the features' terms, each with the parameter whose change makes it differ."""
    places: FloatArray
    """(2, 25): what the point terms of each place bring beyond what parameters say (see `gauge`)."""
    rest: float
    cause: str
    """What the rest comes from."""

    @property
    def difference(self) -> float:
        """The sum of the terms."""
        return float(sum(value for _, value in self.terms))


def split(weights: WeightFile, first: Judged, second: Judged, *, of_other_player: bool) -> Split:
    """How x of `first` exceeds that of `second`, for the player on roll in both, or for the other one."""
    judges = _judges(first, second)
    difference = first.x - second.x
    size = len(weights.parameters)
    terms: list[tuple[str, float]] = []
    by_parameter, places, told = np.zeros(size), np.zeros(TABLE_SHAPE[:2]), 0.0
    if judges:
        form = combined([_form(judge, first, second) for judge in judges], [1 / len(judges)] * len(judges))
        change = form.change(first.seen, second.seen)
        told = change.total
        terms += _named(change.linear, change.quadratic, change.points, weights)
        moved, left = moved_to_parameters(form, weights.parameters.name, first.seen, second.seen)
        by_parameter, places = change.by_feature + moved, change.points - left
    rest, cause = difference - told, _cause(first, second)
    if abs(rest) < _NOTHING:  # what rounding leaves
        rest = 0.0
    else:
        terms += _rest_terms(judges, rest, cause)
    if of_other_player:
        values = turned_equities(np.array([value for _, value in terms]))
        terms = [(name, float(value)) for (name, _), value in zip(terms, values, strict=True)]
        by_parameter, places = turned_equities(by_parameter), turned_equities(places)
        rest = float(turned_equities(np.array([rest]))[0])
    return Split(tuple(terms), by_parameter, places, rest, cause)


def _judges(first: Judged, second: Judged) -> list[Judged]:
    """Those of the two whose weights judge both; see the module."""
    if FINISHED in (first.source, second.source):
        return []
    by_weights = [judged for judged in (first, second) if judged.source == WEIGHTS]
    if len(by_weights) < 2 or (first.class_name, first.plan) == (second.class_name, second.plan):
        return by_weights[:1]
    contact = [judged for judged in by_weights if judged.class_name != CLASS_NAMES[RACE]]
    return contact or by_weights


def _form(judge: Judged, first: Judged, second: Judged) -> Form:
    """The raw sum of a judge, as one form between the two positions."""
    other = second if judge is first else first
    # A chance that is ruled out in one of the two is no matter of terms.
    both = judge.forms if judge.direct or other.direct or not other.forms else other.forms
    shared = {head: form for head, form in judge.forms.items() if head in both}
    return effective_form(judge, shared, first.seen, second.seen)


def _named(
    linear: FloatArray, quadratic: FloatArray, points: FloatArray, weights: WeightFile
) -> Sequence[tuple[str, float]]:
    names, bar = weights.parameters.names, points.shape[1] - 1
    singles, pairs, places = (np.argwhere(part) for part in (linear, quadratic, points))
    values = chain(linear[linear != 0], quadratic[quadratic != 0], points[points != 0])
    told = chain(
        (names[k] for (k,) in singles.tolist()),
        (f"{names[i]}{PAIR}{names[j]}" for i, j in pairs.tolist()),
        (f"{SIDES[side]} {'bar' if k == bar else k + 1}" for side, k in places.tolist()),
    )
    return [(name, float(value)) for name, value in zip(told, values, strict=True)]


def _cause(first: Judged, second: Judged) -> str:
    if FINISHED in (first.source, second.source):
        return END
    if TABLES in (first.source, second.source):
        return TABLES
    if first.class_name != second.class_name:
        return CLASS
    if first.plan == second.plan:
        return LIMITS
    # Plans of crashed positions say whose board has crashed, a comma, and who still has checkers back.
    crashed = {(judged.plan or "").partition(",")[0] for judged in (first, second)}
    return PLAN if first.class_name == CLASS_NAMES[CONTACT] or len(crashed) == 1 else CRASH


def _rest_terms(judges: list[Judged], rest: float, cause: str) -> list[tuple[str, float]]:
    """The rest, where two raw sums are compared in what their biases and what their other weights bring."""
    if len(judges) == 2 and all(judge.direct for judge in judges):
        first, second = (next(iter(judge.forms.values())).bias for judge in judges)
        bias = first - second
        return [(f"{cause}: bias", bias), (f"{cause}: weights", rest - bias)]
    return [(cause, rest)]
