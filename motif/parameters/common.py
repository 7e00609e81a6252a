"""Declarations that more than one set makes: the arguments of `SetBuilder`'s methods."""

from typing import TypedDict


class Declaration(TypedDict):
    """Arguments of a declaration; see `SetBuilder`."""

    name: str
    sentence: str
    unit: str
    full: float
    group: str


PIP_COUNT = Declaration(
    name="pip_count", sentence="pips that {side} must still travel", unit="pips", full=167, group="race"
)
BORNE_OFF = Declaration(
    name="borne_off", sentence="checkers that {side} has borne off", unit="checkers", full=15, group="race"
)
BAR = Declaration(
    name="on_bar", sentence="checkers of {side} on the bar", unit="checkers", full=2, group="attack"
)
REAR = Declaration(
    name="rearmost",
    sentence="point of {side}'s rearmost checker (25 is the bar)",
    unit="points",
    full=25,
    group="race",
)
LEAD = Declaration(
    name="pip_lead", sentence="pips by which the player on roll leads", unit="pips", full=100, group="race"
)
