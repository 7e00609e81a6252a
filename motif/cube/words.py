"""How close a cube decision is, in words."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from motif.cube.decision import CubeDecision

_DEGREES = ((0.02, "borderline"), (0.08, "close"), (0.2, "clear"))
"""Differences in equity below which a decision is called so.  What is worth less than 0.02 players do not
count as an error; from about 0.08 on they speak of a blunder."""
_BEYOND = "very clear"
_SHOWN = 5e-4
"""Less than this would be written 0.000."""


def closeness(decision: "CubeDecision") -> str:
    """A sentence about the double and one about the answer, each with its margin in equity."""
    if decision.doubled is None:
        if decision.state.crawford:
            return "Nobody doubles in the Crawford game."
        return "The opponent owns the cube: only he can double."
    double = "redouble" if decision.state.cube_owner == "me" else "double"
    return f"{_about_double(decision, double, decision.doubled)} {_about_answer(decision)}"


def _about_double(decision: "CubeDecision", double: str, doubled: float) -> str:
    if decision.action.endswith("dead cube"):
        return f"The cube is dead: a {double} wins nothing."
    margin = abs(decision.no_double - doubled)
    if margin < _SHOWN:
        return f"To {double} or to wait is the same."
    if decision.should_double:
        return f"A {_degree(margin)} {double}: waiting costs {margin:.3f}."
    if decision.action.startswith("too good"):
        return f"A {_degree(margin)} case for playing on: cashing costs {margin:.3f}."
    return f"A {_degree(margin)} no {double}: doubling costs {margin:.3f}."


def _about_answer(decision: "CubeDecision") -> str:
    right, other, wrong = "pass", "take", "taking"
    if decision.should_beaver:
        right, other, wrong = "beaver", "take", "a mere take"
    elif decision.should_take:
        right, other, wrong = "take", "pass", "passing"
    margin = decision.cost(other)
    if margin < _SHOWN:
        return "To take or to pass is the same." if right != "beaver" else "To beaver or to take is the same."
    return f"A {_degree(margin)} {right}: {wrong} costs {margin:.3f}."


def _degree(margin: float) -> str:
    return next((word for limit, word in _DEGREES if margin < limit), _BEYOND)
