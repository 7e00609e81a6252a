"""Pairs of money games with the doubling cube, and of matches with the Crawford rule.

Plays maximise cubeful equity at the score.  Cube decisions follow Janowski's model
(`motif.rollouts.cubeful_games`), with the probabilities of the player's own evaluator, or of an advisor if
it has none.

Matches are played in parallel, one game each: all games at the same score are played together by
`motif.rollouts.cubeful_games.games_with_cube`.
"""

from collections import defaultdict
from dataclasses import dataclass
from functools import partial

import numpy as np

from motif.board.match_state import MatchState
from motif.board.rules import MAX_MATCH_LENGTH, is_crawford_game, match_winner
from motif.contests.result import ContestRules, PlayedPairs
from motif.doubling.cube_states import cube_model_for, without_doubles
from motif.doubling.equities import scale
from motif.evaluators import Evaluator
from motif.evaluators.cube_model import CubeModel
from motif.players.player import Player
from motif.rollouts.cubeful_games import CubePlayer, chosen_in_states, decided_ahead, games_with_cube
from motif.rollouts.games import Choose, Dice, SeededDice, Streams, rolls_of_games, starts
from motif.runtime.arrays import IntArray
from motif.runtime.sized_cache import kept_within

_MAX_GAMES = 2 * MAX_MATCH_LENGTH
"""Upper bound on the number of games of a match, because each game scores at least one point."""
_model_of = kept_within(1_000_000_000, lambda cubes: cubes.exact.table.nbytes)(cube_model_for)
"""`cube_model_for`, with a cache for more scores, as all matches of a contest meet the same ones again.

The exact tables of all scores of a match to 11 points have fewer bytes.
"""


def cube_player(player: Player, evaluator: Evaluator) -> CubePlayer:
    """Return a player of games with a cube, with `evaluator` for cube decisions.

    Cube decisions use lookahead if the evaluator does, as in `cube_decision`.
    """
    decided = None if evaluator.without_lookahead is evaluator else partial(decided_ahead, evaluator)

    def choose_with(cube_model: CubeModel, side: int) -> Choose:
        return player.with_cube(cube_model, side).choose_many

    return CubePlayer(partial(chosen_in_states, choose_with), evaluator.evaluate_many, decided)


@dataclass
class _Match:
    """A match in progress; the players swap seats 0 and 1 between the two matches of a pair."""

    number: int
    """Number of the pair, which determines the dice."""
    seats: tuple[int, int]
    """The player in each seat, 0 or 1."""
    length: int
    score: tuple[int, int] = (0, 0)
    """Points of the first and the second player."""
    crawford: bool = False
    crawford_is_over: bool = False
    games: int = 0
    luck: float = 0.0
    """Match-winning probability that the first player gained by luck, estimated by a judge."""

    @property
    def dice_number(self) -> int:
        """Number of the dice of the current game."""
        return self.number * _MAX_GAMES + self.games

    @property
    def winner(self) -> int | None:
        """The player who has won; None before the end."""
        return match_winner(self.length, self.score)

    def state(self) -> MatchState:
        """Return the score before the game, from the first player's perspective."""
        return MatchState(self.length, *self.score, crawford=self.crawford)

    def end_game(self, points: int) -> None:
        """Add `points` to the score; negative for the second player, 0 for an unfinished game."""
        if points:
            self.score = self.score[0] + max(points, 0), self.score[1] + max(-points, 0)
            self.crawford_is_over |= self.crawford
            self.crawford = is_crawford_game(self.length, self.score, played=self.crawford_is_over)
        self.games += 1


def play_match_pairs(
    rules: ContestRules,
    players: tuple[CubePlayer, CubePlayer],
    seed: int,
    start: int,
    count: int,
    judge: Evaluator | None = None,
) -> PlayedPairs:
    """Play the pairs of matches `start` to `start` + `count` - 1."""
    matches = [
        _Match(number, seats, rules.length)
        for number in range(start, start + count)
        for seats in ((0, 1), (1, 0))
    ]
    dice = SeededDice(seed)
    going = matches
    while going:
        by_state: dict[MatchState, list[_Match]] = defaultdict(list)
        for match in going:
            by_state[match.state()].append(match)
        for state, group in by_state.items():
            cubes = _model_of(state) if rules.cube else without_doubles(state)
            _play_games(players, cubes, group, dice, judge)
        going = [match for match in going if match.winner is None]
    wins, luck = np.array([(match.winner == 0, match.luck) for match in matches], np.float64).T
    return PlayedPairs(wins.reshape(count, 2), luck.reshape(count, 2), sum(match.games for match in matches))


def _play_games(
    players: tuple[CubePlayer, CubePlayer],
    cubes: CubeModel,
    matches: list[_Match],
    dice: SeededDice,
    judge: Evaluator | None,
) -> None:
    """Play one game of each of `matches`, all at the same score.

    An unfinished game scores nothing and is replayed with other dice.
    """
    numbers = np.array([match.dice_number for match in matches])
    openings = np.array([dice.opening(number) for number in numbers.tolist()])
    seats = np.array([match.seats for match in matches])
    sides = np.where(openings[:, 1] > openings[:, 0], seats[:, 1], seats[:, 0])
    states = np.zeros(len(matches), np.int64)
    rolls = _dice_of(dice.seed, numbers, -np.sort(-openings, axis=1))
    games = games_with_cube(players, cubes, states, sides, starts(len(matches)), rolls, judge=judge)
    points = games.points * cubes.cube[games.states]
    # The unit of luck is half the difference between winning and losing a single game.
    luck = games.luck * scale(matches[0].state()).half
    for match, won, gained in zip(matches, points.tolist(), luck.tolist(), strict=True):
        match.luck += gained
        match.end_game(won)


def play_cube_games(
    jacoby: bool,
    players: tuple[CubePlayer, CubePlayer],
    seed: int,
    start: int,
    count: int,
    judge: Evaluator | None = None,
) -> PlayedPairs:
    """Play the pairs of money games `start` to `start` + `count` - 1; unfinished games score 0 points."""
    cubes = cube_model_for(MatchState(jacoby=jacoby))
    on_roll, states = np.repeat([0, 1], count), np.zeros(2 * count, np.int64)
    dice = SeededDice(seed).of(np.tile(np.arange(start, start + count), 2))
    games = games_with_cube(players, cubes, states, on_roll, starts(2 * count), dice, judge=judge)
    # The equity of a finished game equals its points, up to rounding.
    points, luck = np.round(games.results[:, -1]), games.luck
    return PlayedPairs(points.reshape(2, count).T, luck.reshape(2, count).T, points.size)


def _dice_of(seed: int, numbers: IntArray, openings: IntArray) -> Dice:
    """Return the dice of the games `numbers` (n,), with opening rolls `openings` (n, 2)."""

    def dice(games: IntArray, ply: int) -> tuple[IntArray, Streams]:
        rolls, states = rolls_of_games(seed, numbers[games], ply)
        return (openings[games] if ply == 0 else rolls), states

    return dice
