"""Levels of opponents on the page, with the error rates that were measured of them."""

from typing import Any, NamedTuple

from motif.analysis.judge import known_error_rate
from motif.evaluators.named import own_name


class Level(NamedTuple):
    """An opponent for a person of some strength."""

    name: str
    """Of the level: ``beginner`` and so on."""
    player: str
    error_rate: float | None = None
    """Millipoints per decision, on the contact lines of `data/bench/`, as docs/reference/players.md has it;
    None for the newest weights, whose rate `known_error_rate` knows."""


LEVELS = (
    Level("beginner", "phase", 73.4),
    Level("casual", "pubeval", 35.6),
    Level("club", "motif-v0", 16.7),
    Level("strong", "latest"),
    Level("best", "latest@2"),
)


def levels() -> list[dict[str, Any]]:
    """List the levels for JSON, the weakest first."""
    return [{"level": one.name, "name": one.player, "error_rate": _rate(one)} for one in LEVELS]


def _rate(level: Level) -> float | None:
    if level.error_rate is not None:
        return level.error_rate
    known = known_error_rate(own_name(level.player))
    return None if known is None else round(known, 1)
