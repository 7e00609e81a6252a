"""Levels of opponents on the page, with their measured error rates."""

from typing import NamedTuple

from motif.analysis.judge import known_error_rate
from motif.evaluators.named import own_name
from motif.runtime.frames import Record


class Level(NamedTuple):
    """An opponent of some strength."""

    name: str
    """Name of the level, such as ``beginner``."""
    player: str
    error_rate: float | None = None
    """Millipoints per decision on the contact lines of `data/bench/`; None for the newest weights, whose rate
    `known_error_rate` returns."""


LEVELS = (
    Level("beginner", "phase", 73.4),
    Level("casual", "pubeval", 35.6),
    Level("club", "motif-v0", 16.7),
    Level("strong", "latest"),
    Level("best", "latest@2"),
)


def levels() -> list[Record]:
    """List the levels for JSON, the weakest first."""
    return [{"level": one.name, "name": one.player, "error_rate": _rate(one)} for one in LEVELS]


def _rate(level: Level) -> float | None:
    if level.error_rate is not None:
        return level.error_rate
    known = known_error_rate(own_name(level.player))
    return None if known is None else round(known, 1)
