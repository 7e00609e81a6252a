"""Estimated costs of requests: seconds of a core per position, by kind and lookahead.

They choose the lane of a request and check its budget; the real time is measured while it runs
(`motif.serve.lanes`).
"""

from enum import Enum
from functools import lru_cache

from motif.evaluators.named import Kind, entry_of, own_name, without_plies

_STATIC, _ONE_PLY, _TWO_PLIES, _ROLLED = range(4)


class RequestKind(Enum):
    """Kinds of requests, with the seconds at 0, 1 and 2 plies and with rollouts."""

    EVALUATION = (4e-6, 5e-4, 6e-3, 0.06)
    PLAYS = (4e-4, 6e-3, 0.05, 0.4)
    CUBE = (2e-3, 5e-3, 0.03, 0.1)
    EXPLANATION = (0.03, 0.05, 0.25, 1.3)
    REVIEW = (4e-3, 0.02, 0.15, 1.0)
    """A roll of a match: the play, the cube, the luck, and rollouts of possible errors."""


_DEPTHS = {"narrow": 0.5, "wide": 2.0, "full": 100.0}
"""Factors for other widths of lookahead."""
_NET = 20.0
"""Factor for a net."""


@lru_cache(maxsize=1024)
def cost_of(ask: RequestKind, name: str) -> float:
    """Return the seconds of a core that a player, such as ``motif-v17@2:wide``, takes per position."""
    base = without_plies(own_name(name))
    plies, _, depth = own_name(name).removeprefix(base).removeprefix("@").partition(":")
    level = _ROLLED if depth == "rollout" else min(int(plies or 0), _TWO_PLIES)
    entry = entry_of(base)
    slower = _NET if entry is not None and entry.kind is Kind.NET else 1.0
    return ask.value[level] * _DEPTHS.get(depth, 1.0) * slower
