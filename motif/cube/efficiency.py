"""Cube efficiency x: how much of a perfectly live cube's worth a cube has, 0 (dead) to 1 (live).

Janowski's model mixes the equity of a dead cube with that of a live one.  The default values are gnubg's
(`EvalEfficiency` in its eval.c), by class of position; those fitted from motif's own cubeful rollouts
stand in docs/how-to/cube.md.
"""

import math
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from motif.board.packed import Board, pack_many
from motif.board.position import Position
from motif.evaluators.stakes import NUMBERS, efficiencies, efficiency_codes
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.errors import SettingError

BEAROFF = "bearoff"
"""A race in which both sides have all their checkers at home; apart from it come `CLASS_NAMES`."""
EFFICIENCY_CLASSES = (*CLASS_NAMES, BEAROFF)


def checked_efficiency(x: float) -> float:
    """`x` if it is a cube efficiency; raises `SettingError` otherwise."""
    if not math.isfinite(x) or not 0 <= x <= 1:
        raise SettingError(f"a cube efficiency is 0 to 1, not {x:g}")
    return x


@dataclass(frozen=True)
class Efficiency:
    """x by class; in a race it grows with the pips of the player on roll, between two bounds.

    Raises `SettingError` for one that is not 0 to 1.
    """

    contact: float = 0.68
    crashed: float = 0.68
    bearoff: float = 0.60
    race_base: float = 0.55
    race_per_pip: float = 0.00125
    race_lowest: float = 0.60
    race_highest: float = 0.70

    def __post_init__(self) -> None:
        for field in fields(self):
            checked_efficiency(getattr(self, field.name))

    def of(self, position_class: str, pips: int | None = None) -> float:
        """x of a class in `EFFICIENCY_CLASSES`; a race also needs the pips of the player on roll."""
        if position_class not in EFFICIENCY_CLASSES:
            names = ", ".join(EFFICIENCY_CLASSES)
            raise SettingError(f"no class of positions is called {position_class!r}: {names}")
        if position_class == "race":
            if pips is None:
                raise SettingError("the cube efficiency of a race depends on the pips of the player on roll")
            return min(max(self.race_base + self.race_per_pip * pips, self.race_lowest), self.race_highest)
        return float(getattr(self, position_class))

    def of_boards(self, boards: Board) -> npt.NDArray[np.float64]:
        """x float64 (n,) of `boards` int8 (n, 26), each seen by the player on roll."""
        return np.asarray(efficiencies(self.numbers(), pack_many(boards)))

    def numbers(self) -> npt.NDArray[np.float64]:
        """The fields in the order in which kernels read them, `motif.evaluators.stakes.NUMBERS`."""
        return np.array([getattr(self, name) for name in NUMBERS])


def constant_efficiency(x: float) -> Efficiency:
    """The efficiency that is `x` in every position; raises `SettingError` for what is none."""
    return Efficiency(**{**dict.fromkeys(NUMBERS, float(x)), "race_per_pip": 0.0})


DEFAULT_EFFICIENCY = Efficiency()
"""gnubg's values."""


def efficiency_classes(boards: Board) -> npt.NDArray[np.int8]:
    """Index into `EFFICIENCY_CLASSES` (n,) of each of `boards` (n, 26)."""
    return np.asarray(efficiency_codes(pack_many(boards)))


def efficiency_class(position: Position) -> tuple[str, int]:
    """What the default x of `position` depends on: its class, and the pips of the player on roll."""
    return EFFICIENCY_CLASSES[int(efficiency_classes(position.board[None])[0])], position.pip_count
