"""The registry: a parameter is declared once, and its declaration gives its place in every array.

A set's module declares its parameters with a `SetBuilder` and writes one compiled function that
measures them; the numbers that the declarations return are the places where it writes.  A `side`
parameter is measured for both players by the same code: declared as ``blots``, it yields ``blots``
for the player on roll and its twin ``blots_opponent``.

Sets only grow.  Weights know the parameters that they were fitted to, and their fingerprint covers these:
what a set has learned to measure since then stands between the old ones and weighs nothing with them.
"""

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
import numpy.typing as npt

OPPONENT_SUFFIX = "_opponent"
IntArray = npt.NDArray[np.int64]
Side = Literal["own", "opponent", "both", "difference"]
"""Whom a parameter speaks of; a difference of both changes its sign with the side."""
SIDE_WORDS = {"own": "own", "opponent": "opponent's"}
"""Whose a parameter is, in a few words."""
GROUPS = ("race", "safety", "blocking", "attack", "timing", "mobility", "back game")
"""What players file parameters under."""
OF_BAR, OF_REAR, OF_BACK = "bar", "rear", "back"
"""Hints: of checkers on the bar, which are under attack; of how one stands towards the other's rearmost
checker, which a hit changes; of the checkers back, split or anchored, which are one matter."""
Better = Literal["more", "less", ""]
MORE: Better = "more"
LESS: Better = "less"
"""What every player would say is better, as a side's parameter is declared; of most there is no telling."""


_OPPOSITE: dict[Better, Better] = {MORE: LESS, LESS: MORE, "": ""}


@dataclass(frozen=True)
class Parameter:
    """One measurement of the board."""

    name: str
    sentence: str
    """What it measures, in backgammon terms; for a twin, seen from the opponent."""
    unit: str
    scale: float
    """Measured value in `unit` times `scale` is the feature that weights multiply, about 0 to 1."""
    group: str
    """What players would file it under: one of `GROUPS`."""
    side: Side
    twin: str | None
    """Name of the same measurement for the other player; None when it speaks of both."""
    hint: str = ""
    """Where what it says goes beyond its group: `OF_BAR`, `OF_REAR` or `OF_BACK`."""
    better: Better = ""
    """What every player would say is better for the player on roll, everything else being equal: `MORE` of it
    or `LESS`; empty where there is no telling."""
    label: str = ""
    """What it is called in a few words, ``{side}`` standing for whose it is; by its name where this is
    empty."""

    @property
    def base_name(self) -> str:
        """The name without what tells a twin from the other."""
        return self.name.removesuffix(OPPONENT_SUFFIX) if self.side == "opponent" else self.name

    @property
    def template(self) -> str:
        """The label, or the name in words where there is none; ``{side}`` stands for whose it is."""
        whose = "{side} " if self.side in SIDE_WORDS else ""
        return self.label or whose + self.base_name.replace("_", " ")

    @property
    def short(self) -> str:
        """In a few words, such as "opponent's spare pips"."""
        return self.template.replace("{side}", SIDE_WORDS.get(self.side, "")).strip()


@dataclass(frozen=True)
class ParameterSet:
    """A named set of parameters in the order of the feature arrays."""

    name: str
    revision: int
    """Raised whenever the measured values change although names and scales do not."""
    parameters: tuple[Parameter, ...]
    side_count: int
    """Features of the player on roll come first, as many of the opponent follow, then the shared ones."""
    full_set: Self | None = None
    """The set as it is measured, where this is what older weights know of it."""

    def __len__(self) -> int:
        return len(self.parameters)

    @property
    def names(self) -> tuple[str, ...]:
        """Names in feature order."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def scales(self) -> npt.NDArray[np.float32]:
        """Scales in feature order, float32 (n,)."""
        return np.array([parameter.scale for parameter in self.parameters], np.float32)

    @property
    def fingerprint(self) -> str:
        """Changes whenever weights fitted to this set would no longer mean the same."""
        facts = [self.name, self.revision, [[p.name, p.scale] for p in self.parameters]]
        return "sha256:" + hashlib.sha256(json.dumps(facts).encode()).hexdigest()

    @property
    def places(self) -> IntArray:
        """Where the parameters (n,) stand among those that are measured; (0,) for a full set."""
        names, known = () if self.full_set is None else self.full_set.names, set(self.names)
        return np.array([k for k, name in enumerate(names) if name in known], np.int64)

    @property
    def compiled_name(self) -> str | None:
        """Name of the set whose compiled function measures it, or what it extends; None where none does."""
        return self.name

    @property
    def functions(self) -> IntArray:
        """What a kernel calls to measure your own parameters, see `motif.parameters.own_measures`."""
        return np.zeros((0, 2), np.int64)

    def known_to(self, names: Collection[str]) -> Self:
        """Return the set as it was with the parameters in `names` alone; itself where it has no other."""
        known = tuple(parameter for parameter in self.parameters if parameter.name in names)
        if len(known) == len(self):
            return self
        sides = sum(parameter.side == "own" for parameter in known)
        return replace(self, parameters=known, side_count=sides, full_set=self)

    def fitted(self, fingerprint: object, names: Collection[str]) -> Self:
        """Return what weights over `names` were fitted to: of the set, or of this when it was smaller.

        The set itself where `fingerprint` belongs to neither.
        """
        known = self.known_to(names)
        return known if known.fingerprint == fingerprint != self.fingerprint else self


class SetBuilder:
    """Collects the declarations of one set, behind those of the set `base` where one is given."""

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
        """Declare a parameter of one side whose large value is `full`; return its place in the side's block.

        In `sentence`, ``{side}`` stands for the player measured and ``{other}`` for the other one, in `label`
        ``{side}`` for "own" or "opponent's"; `better` is what is better for the player measured.
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

    def shared(self, name: str, sentence: str, unit: str, full: float, group: str, hint: str = "") -> int:
        """Declare a parameter that speaks of both sides; return its place behind both blocks."""
        self._shared.append(Parameter(name, sentence, unit, 1 / full, group, "both", None, hint))
        return len(self._shared) - 1

    def difference(
        self,
        name: str,
        sentence: str,
        unit: str,
        full: float,
        group: str,
        hint: str = "",
        better: Better = "",
    ) -> int:
        """Declare what the player on roll has more than the opponent; return its place as `shared` does."""
        scale = 1 / full
        self._shared.append(Parameter(name, sentence, unit, scale, group, "difference", None, hint, better))
        return len(self._shared) - 1

    def build(self) -> ParameterSet:
        """Return the finished set."""
        parameters = (*self._sides, *self._twins, *self._shared)
        return ParameterSet(self._name, self._revision, parameters, len(self._sides))


PIP_COUNT = ("pip_count", "pips that {side} must still travel", "pips", 167, "race", "", LESS, "{side} pips")
BORNE_OFF = (
    *("borne_off", "checkers that {side} has borne off", "checkers", 15, "race", "", MORE),
    "{side} checkers off",
)
BAR = (
    *("on_bar", "checkers of {side} on the bar", "checkers", 2, "attack", OF_BAR, LESS),
    "{side} checkers on the bar",
)
REAR = (
    *("rearmost", "point of {side}'s rearmost checker (25 is the bar)", "points", 25, "race", "", LESS),
    "pips of {side} rearmost checker",
)
LEAD = ("pip_lead", "pips by which the player on roll leads", "pips", 100, "race", OF_REAR, MORE)
"""Declarations that several sets share."""
