"""The largest weights of a head, in the words of the parameter registry."""

from dataclasses import dataclass

import numpy as np

from motif.evaluators import WeightFile
from motif.parameters import Parameter

CONTACT = "contact"
"""The class whose terms the report of a run shows."""
_HEADS = ("equity", "win")
"""The head that chooses plays is the first of these that was fitted."""


@dataclass(frozen=True)
class LargeTerm:
    """One weight, and what it multiplies."""

    weight: float
    """What the raw sum gains when every parameter of the term stands at its full value."""
    parameters: tuple[Parameter, ...]
    """One for a linear term; two, maybe the same twice, for a second-degree one."""


@dataclass(frozen=True)
class LargestTerms:
    """The terms of one head that weigh most, largest first."""

    class_name: str
    head: str
    linear: tuple[LargeTerm, ...]
    quadratic: tuple[LargeTerm, ...]
    """Empty for a linear head."""


def largest_terms(weights: WeightFile, count: int) -> LargestTerms:
    """The `count` largest linear and second-degree terms of the head that chooses plays in contact."""
    heads = weights.classes[CONTACT]
    head = next(name for name in _HEADS if name in heads)
    chosen = heads[head]
    known = weights.parameters.parameters
    linear = [LargeTerm(float(weight), (known[k],)) for k, weight in enumerate(chosen.linear)]
    quadratic = [
        LargeTerm(float(weight), (known[i], known[j]))
        for (i, j), weight in zip(chosen.pairs, chosen.quadratic, strict=True)
    ]
    return LargestTerms(CONTACT, head, _largest(linear, count), _largest(quadratic, count))


def full_value(parameter: Parameter) -> str:
    """The measured value that counts as 1."""
    if parameter.unit == "yes or no":
        return "yes"
    # The registry keeps 1 / full; rounding takes off what the two divisions leave behind.
    return f"{round(1 / parameter.scale, 6):g} {parameter.unit}"


def _largest(terms: list[LargeTerm], count: int) -> tuple[LargeTerm, ...]:
    order = np.argsort([-abs(term.weight) for term in terms], kind="stable")[:count]
    return tuple(terms[k] for k in order)
