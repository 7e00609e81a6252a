"""What requests cost, about: seconds of a core for a position, by what is asked and how deep it is seen.

They decide in which lane a request waits, and whether it is within the budget of one; how long it may really
take is measured while it goes on (`motif.serve.lanes`).  They were measured with the default player, on a
core of a server of 2024, and rounded up.
"""

from enum import Enum
from functools import lru_cache

from motif.evaluators.named import Kind, entry_of, own_name, without_plies

_STATIC, _ONE_PLY, _TWO_PLIES, _ROLLED = range(4)


class Ask(Enum):
    """What may be asked about a position; its value, seconds without lookahead, by 1 and 2 plies, deep."""

    EVALUATION = (4e-6, 5e-4, 6e-3, 0.06)
    PLAYS = (4e-4, 6e-3, 0.05, 0.4)
    CUBE = (2e-3, 5e-3, 0.03, 0.1)
    EXPLANATION = (0.03, 0.05, 0.25, 1.3)
    REVIEW = (4e-3, 0.02, 0.15, 1.0)
    """A roll of a match: the play, the cube, the luck, and rollouts of what looks like an error."""


_DEPTHS = {"narrow": 0.5, "wide": 2.0, "full": 100.0}
"""How much longer lookahead takes that is not of the usual width."""
_NET = 20.0
"""How much longer a net takes than weights do."""


@lru_cache(maxsize=1024)
def cost_of(ask: Ask, name: str) -> float:
    """Seconds that the evaluator called `name` takes for one position.

    Parameters
    ----------
    ask
        What is asked.
    name
        A player's name, with its plies: ``motif-v6@2:wide``.

    Returns
    -------
    float
        Seconds of one core.
    """
    base = without_plies(own_name(name))
    plies, _, depth = own_name(name).removeprefix(base).removeprefix("@").partition(":")
    level = _ROLLED if depth == "rollout" else min(int(plies or 0), _TWO_PLIES)
    entry = entry_of(base)
    slower = _NET if entry is not None and entry.kind is Kind.NET else 1.0
    return ask.value[level] * _DEPTHS.get(depth, 1.0) * slower
