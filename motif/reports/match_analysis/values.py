"""What positions are worth to a player at the score: normalised equity, points, match winning chances.

Cubeless: a game ends at the present cube.  Money play: the equity of the five probabilities; with the
Jacoby rule gammons count only when the cube has been turned.  Match play: the match winning chance (MWC)
of each of the six ends by the match equity table, weighted with their probabilities; normalised so that
losing and winning a single game are -1 and +1, as gnubg does (EMG), which makes errors at different scores
and cubes comparable.
"""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.match_state import MatchState
from motif.cube import match_equity_table
from motif.evaluators.probabilities import EQUITY_WEIGHTS, WIN, turned_equities


class Stakes(NamedTuple):
    """How five cumulative probabilities of a player become what the game is worth to him."""

    weights: npt.NDArray[np.float64]
    """(5,): normalised equity = weights . probabilities - 1."""
    unit: float
    """What 1 of normalised equity is worth: points in money play (the cube), MWC in a match."""
    plain: bool
    """Whether the equity is that of money play with gammons, by which evaluators rank plays themselves."""


def stakes_of(state: MatchState) -> Stakes:
    """What the ends of the game are worth to the player on roll in `state`."""
    if state.length:
        # Dice and rules of money play change nothing.
        return _match_stakes(replace(state, dice=None, jacoby=False, beavers=False))
    if state.jacoby and state.cube_owner == "centre":
        weights = np.zeros_like(EQUITY_WEIGHTS)
        weights[WIN] = EQUITY_WEIGHTS[WIN]
        return Stakes(weights, float(state.cube), plain=False)
    return Stakes(EQUITY_WEIGHTS, float(state.cube), plain=True)


def opponents_stakes(stakes: Stakes) -> Stakes:
    """The same ends as the other player sees them: his normalised equity is the negative one."""
    win, *gammons = stakes.weights
    own, others = gammons[:2], gammons[2:]
    turned_round = np.array([win, *turned_equities(np.array(others)), *turned_equities(np.array(own))])
    return stakes._replace(weights=turned_round)


@lru_cache(maxsize=256)
def _match_stakes(state: MatchState) -> Stakes:
    table = match_equity_table()
    won = np.array([table.after_game(state, state.cube * size) for size in (1, 2, 3)])
    lost = np.array([table.after_game(state, -state.cube * size) for size in (1, 2, 3)])
    unit = float(won[0] - lost[0]) / 2
    # Of the chances of a gammon and of a backgammon, which are cumulative, each adds to the end before it.
    weights = np.concatenate([[won[0] - lost[0]], np.diff(won), np.diff(lost)]) / unit
    return Stakes(weights, unit, plain=False)
