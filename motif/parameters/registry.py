"""Parameters and their sets; each parameter is declared once, which fixes its index in every array.

The module of a set declares its parameters with a `SetBuilder`; one compiled function measures them and
writes to the indices that the declarations returned.  A `side` parameter is measured for both players by
the same code: the declaration of ``blots`` adds ``blots`` for the player on roll and its twin
``blots_opponent``.

Sets only grow.  Weights and their fingerprint cover the parameters of the time of the fit; parameters that
were added later have no weight.
"""

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partialmethod
from typing import Literal, Self

import numpy as np

from motif.runtime.arrays import Float32Array, IntArray

OPPONENT_SUFFIX = "_opponent"
Side = Literal["own", "opponent", "both", "difference"]
"""Players that a parameter describes; a difference changes its sign when the sides are switched."""
SIDE_WORDS = {"own": "own", "opponent": "opponent's"}
"""Words for the side of a parameter."""
YES_OR_NO = "yes or no"
"""Unit of a parameter that is 1 or 0."""
GROUPS = ("race", "safety", "blocking", "attack", "timing", "mobility", "back game")
"""Groups of parameters, for reports and explanations."""
OF_BAR, OF_REAR, OF_BACK = "bar", "rear", "back"
"""Hints for explanations: checkers on the bar (they are under attack), the relation to the opponent's
rearmost checker (a hit changes it), and checkers back (split or anchored, they are one topic).
"""
Better = Literal["more", "less", ""]
MORE: Better = "more"
LESS: Better = "less"
"""The value that is better for the measured player; empty if unclear."""
_OPPOSITE: dict[Better, Better] = {MORE: LESS, LESS: MORE, "": ""}


@dataclass(frozen=True)
class Parameter:
    """One measurement of the board."""

    name: str
    sentence: str
    """What the parameter measures, in backgammon terms; a twin measures the opponent."""
    unit: str
    scale: float
    """Factor from the measured value in `unit` to the feature that weights multiply, which is about 0 to 1.
    """
    group: str
    """One of `GROUPS`."""
    side: Side
    twin: str | None
    """Name of the same parameter for the other player; None if it describes both."""
    hint: str = ""
    """Meaning beyond its group: `OF_BAR`, `OF_REAR`, `OF_BACK` or empty."""
    better: Better = ""
    """The value that is better for the player on roll, other things equal: `MORE`, `LESS`, or empty if
    unclear.
    """
    label: str = ""
    """Short name, with ``{side}`` for the side; empty for a short name made from `name`."""

    @property
    def base_name(self) -> str:
        """The name without a twin's suffix."""
        return self.name.removesuffix(OPPONENT_SUFFIX) if self.side == "opponent" else self.name

    @property
    def is_flag(self) -> bool:
        """Whether its value is only yes or no."""
        return self.unit == YES_OR_NO

    @property
    def template(self) -> str:
        """The label, or one made from the name, with ``{side}`` for the side."""
        whose = "{side} " if self.side in SIDE_WORDS else ""
        return self.label or whose + self.base_name.replace("_", " ")

    @property
    def short(self) -> str:
        """Short name, such as "opponent's spare pips"."""
        return self.template.replace("{side}", SIDE_WORDS.get(self.side, "")).strip()


@dataclass(frozen=True)
class ParameterSet:
    """A named set of parameters in the order of the feature arrays."""

    name: str
    revision: int
    """Number that is raised when measured values change but names and scales do not."""
    parameters: tuple[Parameter, ...]
    side_count: int
    """Number of features per side; the player on roll's come first, then the opponent's, then shared
    features.
    """
    full_set: Self | None = None
    """The complete set, if this set is the part known to older weights."""

    def __len__(self) -> int:
        return len(self.parameters)

    @property
    def names(self) -> tuple[str, ...]:
        """Names in feature order."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def scales(self) -> Float32Array:
        """Scales in feature order, float32 (n,)."""
        return np.array([parameter.scale for parameter in self.parameters], np.float32)

    @property
    def fingerprint(self) -> str:
        """Hash that changes whenever the meaning of fitted weights would change."""
        facts = [self.name, self.revision, [[p.name, p.scale] for p in self.parameters]]
        return "sha256:" + hashlib.sha256(json.dumps(facts).encode()).hexdigest()

    @property
    def places(self) -> IntArray:
        """Indices (n,) of the parameters in the full set; (0,) for a full set."""
        names, known = () if self.full_set is None else self.full_set.names, set(self.names)
        return np.array([k for k, name in enumerate(names) if name in known], np.int64)

    @property
    def compiled_name(self) -> str | None:
        """Name of the set whose compiled function measures this set or its base; None if there is none."""
        return self.name

    @property
    def functions(self) -> IntArray:
        """Functions that measure your own parameters; see `motif.parameters.own_measures`."""
        return np.zeros((0, 2), np.int64)

    def known_to(self, names: Collection[str]) -> Self:
        """Return the set limited to the parameters in `names`; the set itself if it has no others."""
        known = tuple(parameter for parameter in self.parameters if parameter.name in names)
        if len(known) == len(self):
            return self
        sides = sum(parameter.side == "own" for parameter in known)
        return replace(self, parameters=known, side_count=sides, full_set=self)

    def fitted(self, fingerprint: object, names: Collection[str]) -> Self:
        """Return the set limited to `names` if that set has this `fingerprint`, otherwise the set itself."""
        known = self.known_to(names)
        return known if known.fingerprint == fingerprint != self.fingerprint else self


class SetBuilder:
    """Collects the declarations of a set; the parameters of its `base`, if any, come first."""

    def __init__(self, name: str, revision: int, base: ParameterSet | None = None) -> None:
        self._name = name
        self._revision = revision
        given, sides = (base.parameters, base.side_count) if base is not None else ((), 0)
        self._sides: list[Parameter] = list(given[:sides])
        self._twins: list[Parameter] = list(given[sides : 2 * sides])
        self._shared: list[Parameter] = list(given[2 * sides :])

    def side(
        self,
        name: str,
        sentence: str,
        unit: str,
        full: float,
        group: str,
        hint: str = "",
        better: Better = "",
        label: str = "",
    ) -> int:
        """Declare a parameter of one side with the large value `full`; return its index in the side's block.

        In `sentence`, ``{side}`` stands for the measured player and ``{other}`` for the opponent; in
        `label`, ``{side}`` stands for "own" or "opponent's". `better` is the value that is better for the
        measured player.
        """
        own = sentence.format(side="the player on roll", other="the opponent")
        twin = sentence.format(side="the opponent", other="the player on roll")
        twin_name = name + OPPONENT_SUFFIX
        scale, worse = 1 / full, _OPPOSITE[better]
        self._sides.append(Parameter(name, own, unit, scale, group, "own", twin_name, hint, better, label))
        self._twins.append(
            Parameter(twin_name, twin, unit, scale, group, "opponent", name, hint, worse, label)
        )
        return len(self._sides) - 1

    def shared(
        self,
        name: str,
        sentence: str,
        unit: str,
        full: float,
        group: str,
        hint: str = "",
        better: Better = "",
        side: Side = "both",
    ) -> int:
        """Declare a parameter of both sides; return its index after both blocks."""
        self._shared.append(Parameter(name, sentence, unit, 1 / full, group, side, None, hint, better))
        return len(self._shared) - 1

    difference = partialmethod(shared, side="difference")
    """Declare a difference, own minus opponent's; return its index after both blocks."""

    def build(self) -> ParameterSet:
        """Return the finished set."""
        parameters = (*self._sides, *self._twins, *self._shared)
        return ParameterSet(self._name, self._revision, parameters, len(self._sides))


PIP_COUNT = ("pip_count", "pips that {side} must still travel", "pips", 167, "race", "", LESS, "{side} pips")
BORNE_OFF = (
    "borne_off", "checkers that {side} has borne off", "checkers", 15, "race", "", MORE,
    "{side} checkers off",
)  # fmt: skip
BAR = (
    "on_bar", "checkers of {side} on the bar", "checkers", 2, "attack", OF_BAR, LESS,
    "{side} checkers on the bar",
)  # fmt: skip
REAR = (
    "rearmost", "pips that {side}'s rearmost checker needs to bear off", "pips", 25, "race", "", LESS,
    "pips of {side} rearmost checker",
)  # fmt: skip
LEAD = ("pip_lead", "pips by which the player on roll leads", "pips", 100, "race", OF_REAR, MORE)
"""Declarations that several sets share."""
