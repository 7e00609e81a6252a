"""Declare parameters: each is declared once, which fixes its place in every array.

A set's module declares its parameters with a `SetBuilder` and has one compiled function that measures them
and writes to the places that the declarations returned.  A `side` parameter is measured for both players by
the same code: declared as ``blots``, it yields ``blots`` for the player on roll and its twin
``blots_opponent``.

Sets only grow.  Weights and their fingerprint cover the parameters that they were fitted to; parameters
added since then have no weight.
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
"""Players that a parameter describes; a difference changes its sign with the side."""
SIDE_WORDS = {"own": "own", "opponent": "opponent's"}
"""Words for the side of a parameter."""
GROUPS = ("race", "safety", "blocking", "attack", "timing", "mobility", "back game")
"""Groups of parameters."""
OF_BAR, OF_REAR, OF_BACK = "bar", "rear", "back"
"""Hints: checkers on the bar, which are under attack; the relation to the opponent's rearmost checker, which
a hit changes; checkers back, split or anchored, which are one topic."""
Better = Literal["more", "less", ""]
MORE: Better = "more"
LESS: Better = "less"
"""What is better for the measured player; empty where that is unclear."""
_OPPOSITE: dict[Better, Better] = {MORE: LESS, LESS: MORE, "": ""}


@dataclass(frozen=True)
class Parameter:
    """One measurement of the board."""

    name: str
    sentence: str
    """What it measures, in backgammon terms; for a twin, of the opponent."""
    unit: str
    scale: float
    """Measured value in `unit` times `scale` is the feature that weights multiply, about 0 to 1."""
    group: str
    """One of `GROUPS`."""
    side: Side
    twin: str | None
    """Name of the same parameter for the other player; None if it describes both."""
    hint: str = ""
    """Meaning beyond its group: `OF_BAR`, `OF_REAR`, `OF_BACK` or empty."""
    better: Better = ""
    """What is better for the player on roll, other things equal: `MORE`, `LESS`, or empty if unclear."""
    label: str = ""
    """Short name, with ``{side}`` for the side; by default made from `name`."""

    @property
    def base_name(self) -> str:
        """The name without a twin's suffix."""
        return self.name.removesuffix(OPPONENT_SUFFIX) if self.side == "opponent" else self.name

    @property
    def template(self) -> str:
        """The label, by default made from the name, with ``{side}`` for the side."""
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
    """Raised when measured values change but names and scales do not."""
    parameters: tuple[Parameter, ...]
    side_count: int
    """Number of features of each side: the player on roll's first, then the opponent's, then shared ones."""
    full_set: Self | None = None
    """The complete set, if this is the part that older weights know."""

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
        """Hash that changes whenever fitted weights would change their meaning."""
        facts = [self.name, self.revision, [[p.name, p.scale] for p in self.parameters]]
        return "sha256:" + hashlib.sha256(json.dumps(facts).encode()).hexdigest()

    @property
    def places(self) -> IntArray:
        """Places (n,) of the parameters in the full set; (0,) for a full set."""
        names, known = () if self.full_set is None else self.full_set.names, set(self.names)
        return np.array([k for k, name in enumerate(names) if name in known], np.int64)

    @property
    def compiled_name(self) -> str | None:
        """Name of the set whose compiled function measures it or its base; None if there is none."""
        return self.name

    @property
    def functions(self) -> IntArray:
        """Functions that measure your own parameters, see `motif.parameters.own_measures`."""
        return np.zeros((0, 2), np.int64)

    def known_to(self, names: Collection[str]) -> Self:
        """Return the set limited to the parameters in `names`; itself if it has no others."""
        known = tuple(parameter for parameter in self.parameters if parameter.name in names)
        if len(known) == len(self):
            return self
        sides = sum(parameter.side == "own" for parameter in known)
        return replace(self, parameters=known, side_count=sides, full_set=self)

    def fitted(self, fingerprint: object, names: Collection[str]) -> Self:
        """Return the set limited to `names` if that part has this `fingerprint`, otherwise the set itself."""
        known = self.known_to(names)
        return known if known.fingerprint == fingerprint != self.fingerprint else self


class SetBuilder:
    """Collects the declarations of a set, after those of its `base`, if any."""

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

        In `sentence`, ``{side}`` stands for the measured player and ``{other}`` for the opponent, in `label`
        ``{side}`` for "own" or "opponent's"; `better` is what is better for the measured player.
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
        """Declare a parameter of both sides; return its place after both blocks."""
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
        """Declare the difference, own minus opponent's; return its place as `shared` does."""
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
