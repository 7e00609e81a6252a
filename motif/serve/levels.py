"""Levels of opponents on the page, with the error rates that were measured of them."""

from typing import Any, NamedTuple


class Level(NamedTuple):
    """An opponent that a person of some strength enjoys."""

    name: str
    """Of the level: ``beginner`` and so on."""
    player: str
    error_rate: float
    """Millipoints per decision, on the contact lines of `data/bench/`.

    Source: docs/reference/players.md, and docs/explanation/frontier.md for lookahead.
    """


LEVELS = (
    Level("beginner", "phase", 73.4),
    Level("casual", "pubeval", 35.6),
    Level("club", "motif-v0", 16.7),
    Level("strong", "latest", 6.0),
    Level("best", "latest@2", 2.7),
)


def levels() -> list[dict[str, Any]]:
    """List the levels for JSON, the weakest first."""
    return [{"level": one.name, "name": one.player, "error_rate": one.error_rate} for one in LEVELS]
