"""Pairs of cubeless money games."""

import numpy as np
import numpy.typing as npt

from motif.contests.result import PlayedPairs
from motif.evaluators import Evaluator
from motif.evaluators.probabilities import switched_equities
from motif.players.player import Player
from motif.rollouts.games import Dice, SeededDice, lockstep, luck_of_rolls, starts
from motif.rollouts.playout import MAX_PLIES


def play_cubeless_games(
    first: Player, second: Player, seed: int, start: int, count: int, judge: Evaluator | None = None
) -> PlayedPairs:
    """Play the pairs `start` to `start` + `count` - 1."""
    dice = SeededDice(seed).of(np.arange(start, start + count))
    begun, answered = (_played(*seats, dice, count, judge) for seats in ((first, second), (second, first)))
    points, luck = (
        np.stack([one, switched_equities(other)], axis=1) for one, other in zip(begun, answered, strict=True)
    )
    return PlayedPairs(points, luck, points.size)


def _played(
    first: Player, second: Player, dice: Dice, count: int, judge: Evaluator | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the points and luck (count,) of `first` in games that `first` starts; 0 points if unfinished."""
    points, luck = np.zeros(count, np.int64), np.zeros(count)
    for ply in lockstep(first.choose_many, dice, starts(count), second.choose_many):
        points[ply.games] = ply.points
        going = ply.points == 0
        if judge is not None and going.any() and ply.number < MAX_PLIES:
            games = ply.games[going]
            rolls, _ = dice(games, ply.number)
            gains = luck_of_rolls(judge, ply.boards[going], rolls, opening=ply.number == 0)
            luck[games] += gains if ply.number % 2 == 0 else switched_equities(gains)
    return points, luck
