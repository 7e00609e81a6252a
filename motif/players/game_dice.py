"""The dice of games that are played one after another: every roll depends on seed, game and ply alone.

So a play that is taken back brings no new luck.
"""

import numpy as np

from motif.runtime.jit import kernel
from motif.runtime.seeds import check_seed
from motif.runtime.streams import derive, next_below, next_roll, next_uint64

_SIDES = 6


class SeededDice:
    """Rolls that anyone can repeat who knows the seed."""

    def __init__(self, seed: int) -> None:
        """Raises `SettingError` for a seed that is none."""
        check_seed(seed)
        self.seed = seed

    def opening(self, game: int) -> tuple[int, int]:
        """The first player's die and the second's, which differ, at the start of a game."""
        first, second = _opening(self.seed, game)
        return int(first), int(second)

    def roll(self, game: int, ply: int) -> tuple[int, int]:
        """The roll of a ply, counted from 0, of a game; the higher die first."""
        high, low, _ = _ply(self.seed, game, ply)
        return int(high), int(low)

    def choice_seed(self, game: int, ply: int) -> int:
        """The seed with which a player chooses at a ply, where chance plays a part for him."""
        return int(_ply(self.seed, game, ply)[2])


@kernel
def _opening(seed, game):
    stream = np.zeros(1, np.uint64)
    stream[0] = derive(np.uint64(seed), np.uint64(game), np.uint64(0))
    first, second = 0, 0
    while first == second:
        first, second = next_below(stream, _SIDES) + 1, next_below(stream, _SIDES) + 1
    return first, second


@kernel
def _ply(seed, game, ply):
    """Two dice, the higher first, and 62 random bits."""
    stream = np.zeros(1, np.uint64)
    stream[0] = derive(np.uint64(seed), np.uint64(game), np.uint64(ply))
    high, low = next_roll(stream)
    return high, low, np.int64(next_uint64(stream) >> np.uint64(2))


@kernel
def rolls_of_games(seed, games, ply):
    """Rolls (n, 2) of a ply in each of `games`, no double at the start, and states for random choices."""
    rolls = np.empty((games.shape[0], 2), np.int64)
    states = np.empty(games.shape[0], np.uint64)
    stream = np.zeros(1, np.uint64)
    for k in range(games.shape[0]):
        stream[0] = derive(np.uint64(seed), np.uint64(games[k]), np.uint64(ply))
        high, low = next_roll(stream)
        while ply == 0 and high == low:
            high, low = next_roll(stream)
        rolls[k, 0], rolls[k, 1] = high, low
        states[k] = stream[0]
    return rolls, states
