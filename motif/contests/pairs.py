"""Pairs of games or matches: every sequence of dice is played twice, with the seats swapped.

Luck cancels out where both players would make the same plays. Several processes play blocks of pairs; the
result does not depend on their number.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import partial
from typing import NamedTuple

import numpy as np

from motif.contests.cube_games import cube_player, play_cube_games, play_match_pairs
from motif.contests.result import ContestRules, PlayedPairs
from motif.contests.sequential import SequentialTest
from motif.evaluators import Evaluator
from motif.evaluators.known_players import default_player
from motif.evaluators.probabilities import switched_equities
from motif.players.player import Player, PlayerLike, cube_evaluator, load_player
from motif.rollouts.games import Dice, SeededDice, lockstep, luck_of_rolls, starts
from motif.rollouts.playout import MAX_GAME_PLIES
from motif.runtime.arrays import FloatArray, IntArray
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import progress

_PAIRS_AT_ONCE = 256
_BLOCKS, _MIN_AT_ONCE = 16, 4
"""Number of blocks in a short contest."""


class Contest(NamedTuple):
    """The rules of a contest, and evaluators besides the players' own."""

    rules: ContestRules
    advisor: Evaluator | None = None
    """Makes cube decisions for players without win probabilities."""
    judge: Evaluator | None = None
    """Estimates luck for luck-adjusted results; usually static, because it evaluates every roll."""


def new_contest(rules: ContestRules, luck_adjusted: bool | PlayerLike = False) -> Contest:
    """Return a contest with its judge and with the newest weights as the advisor."""
    judge = None
    if luck_adjusted is not False:
        judge = load_player(default_player() if luck_adjusted is True else luck_adjusted).require_evaluator()
    advisor = load_player(default_player()).require_evaluator() if rules.cube or rules.length else None
    return Contest(rules, advisor, judge)


def play_pairs(
    contest: Contest, first: Player, second: Player, seed: int, start: int, count: int
) -> PlayedPairs:
    """Play the pairs `start` to `start` + `count` - 1."""
    rules, advisor, judge = contest
    if advisor is None:
        return play_cubeless_games(first, second, seed, start, count, judge)
    one, other = (cube_player(player, cube_evaluator(player) or advisor) for player in (first, second))
    if rules.length:
        return play_match_pairs(rules, (one, other), seed, start, count, judge)
    return play_cube_games(rules.jacoby, (one, other), seed, start, count, judge)


def play_cubeless_games(
    first: Player, second: Player, seed: int, start: int, count: int, judge: Evaluator | None = None
) -> PlayedPairs:
    """Play the pairs of cubeless money games `start` to `start` + `count` - 1."""
    dice = SeededDice(seed).of(np.arange(start, start + count))
    begun, answered = (_played(*seats, dice, count, judge) for seats in ((first, second), (second, first)))
    points, luck = (
        np.stack([one, switched_equities(other)], axis=1) for one, other in zip(begun, answered, strict=True)
    )
    return PlayedPairs(points, luck, points.size)


def _played(
    first: Player, second: Player, dice: Dice, count: int, judge: Evaluator | None
) -> tuple[IntArray, FloatArray]:
    """Return the points and luck (count,) of `first` in games that `first` starts; 0 points if unfinished."""
    points, luck = np.zeros(count, np.int64), np.zeros(count)
    for ply in lockstep(first.choose_many, dice, starts(count), second.choose_many):
        points[ply.games] = ply.points
        going = ply.points == 0
        if judge is not None and going.any() and ply.number < MAX_GAME_PLIES:
            games = ply.games[going]
            rolls, _ = dice(games, ply.number)
            gains = luck_of_rolls(judge, ply.boards[going], rolls, opening=ply.number == 0)
            luck[games] += gains if ply.number % 2 == 0 else switched_equities(gains)
    return points, luck


def joined_pairs(blocks: Iterable[PlayedPairs]) -> PlayedPairs:
    """Concatenate blocks of pairs."""
    values, luck, games = zip(*blocks, strict=True)
    return PlayedPairs(np.concatenate(values), np.concatenate(luck), sum(games))


def play_contest(
    contest: Contest,
    first: Player,
    second: Player,
    games: int,
    seed: int,
    jobs: int | None,
    test: SequentialTest | None = None,
) -> PlayedPairs:
    """Play `games` games or matches, rounded up to an even number, or until `test` is certain."""
    pairs = (games + 1) // 2
    play = partial(play_pairs, contest, first, second, seed)
    blocks = []
    with (
        progress(f"{first.name} against {second.name}", 2 * pairs) as advance,
        closing(run_ordered(play, blocks_of_pairs(pairs), jobs)) as playing,
    ):
        for block in playing:
            blocks.append(block if test is None else block.first(test.add(block.values)))
            if test is not None and test.certain:
                break
            advance(block.values.size)
    return joined_pairs(blocks)


def blocks_of_pairs(pairs: int) -> Iterator[tuple[int, int]]:
    """Yield the first pair and the number of pairs of each block."""
    size = min(max(pairs // _BLOCKS, _MIN_AT_ONCE), _PAIRS_AT_ONCE)
    return ((start, min(size, pairs - start)) for start in range(0, pairs, size))
