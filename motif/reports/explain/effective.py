"""One form for several heads: what their terms do to the value by which plays are ranked.

Where plays are ranked by an equity made of chances, x = artanh(E / 3) with E = 2 win - 1 + gammons, and
every chance is the squash of its own raw sum, that of winning after its calibration.  Between two positions
the differences go through these curves by their secants: the difference of E is exactly the sum over the
heads of weight times secant times the difference of the raw sum, and that of x is the secant of artanh times
that.
"""

import math
from collections.abc import Callable, Mapping

import numpy as np

from motif.evaluators import OUTPUTS
from motif.evaluators.probabilities import EQUITY_BOUND, EQUITY_WEIGHTS, WIN
from motif.fitting.link import PROBABILITY
from motif.reports.explain.form import Form, Seen, combined
from motif.reports.explain.judged import EQUITY, Judged, calibrated_raw

_SAME = 1e-9
"""Raw sums nearer to each other than this are taken for the same: the secant becomes the tangent."""
_STEP = 1e-4
_INSIDE = EQUITY_BOUND * (1 - 1e-6)
"""Equities of chances that do not agree may lie beyond the bounds; they are taken back to this."""


def effective_form(judge: Judged, forms: Mapping[str, Form], first: Seen, second: Seen) -> Form:
    """The form whose value differs between two positions as x does, where no chance is at a limit.

    `forms` are those of the judge's heads that count in both.
    """
    raws = {head: (form.value(first), form.value(second)) for head, form in forms.items()}
    if judge.direct:
        ((head, form),) = forms.items()
        return form if head == EQUITY else combined([form], [secant(_calibration(judge), *raws[head])])
    factors, equities = {}, np.full(2, -1.0)
    for head, two in raws.items():
        weight = EQUITY_WEIGHTS[OUTPUTS.index(head)]
        before = _calibration(judge) if head == OUTPUTS[WIN] else float

        def chance(raw: float, before: Callable[[float], float] = before) -> float:
            return float(PROBABILITY.predict(before(raw)))

        factors[head] = weight * secant(chance, *two)
        equities += weight * np.array([chance(raw) for raw in two])
    xs = np.arctanh(np.clip(equities, -_INSIDE, _INSIDE) / EQUITY_BOUND)
    outer = secant(lambda x: EQUITY_BOUND * math.tanh(x), *xs.tolist())
    return combined(list(forms.values()), [factors[head] / outer for head in forms])


def secant(curve: Callable[[float], float], first: float, second: float) -> float:
    """How much a curve rises for each unit between two places; at one place its slope there."""
    if abs(first - second) < _SAME:
        first, second = first - _STEP, second + _STEP
    return (curve(first) - curve(second)) / (first - second)


def _calibration(judge: Judged) -> Callable[[float], float]:
    return lambda raw: float(calibrated_raw(judge.knots, raw))
