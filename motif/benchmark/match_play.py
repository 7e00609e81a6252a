"""Games with the doubling cube between two players: whole matches with the Crawford rule, and money games.

Every sequence of dice is played twice, with the seats swapped, and the standard error is taken over pairs of
matches or games.  Plays are chosen for the score and with the cube where it lies.  Whoever is on roll
doubles, and the other one takes or passes, by Janowski's model with his own evaluator's chances
(`motif.cube.decision`); for a player whose chances are not worth the name an adviser does.

Matches are played side by side, a game of each at a time (`motif.rollout.games.games_with_cube`); of those at
one score all games together.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from motif.board.match_state import MatchState
from motif.board.packed import Board
from motif.board.rules import MAX_MATCH_LENGTH, check_match_length, is_crawford_game, match_winner
from motif.cube.cube_states import decided_ahead, stakes_of, without_doubles
from motif.cube.equities import scale
from motif.evaluators import Evaluator
from motif.evaluators.stakes import Stakes
from motif.players.match import (
    EVEN_SHARE,
    Played,
    WithoutLuck,
    fields_known,
    joined,
    mean_of_pairs,
    played_blocks,
    without_luck,
)
from motif.players.player import Player, cube_evaluator
from motif.players.tournament import TournamentResult, everyone_plays
from motif.rollout.games import (
    CubePlayer,
    Dice,
    Games,
    Rolls,
    SeededDice,
    States,
    games_with_cube,
    rolls_of_games,
    starts,
)
from motif.rollout.rollout_settings import check_count
from motif.runtime.errors import check_seed
from motif.runtime.frames import Tabular

_MOST_GAMES = 2 * MAX_MATCH_LENGTH
"""Games of a match: fewer, since each brings a point."""


@dataclass(frozen=True, repr=False)
class MatchPlayResult(Tabular):
    """How the first player did against the second in matches."""

    matches: int
    length: int
    cube: bool
    wins: int
    losses: int
    mwc: float
    """Share of the matches that the first player won."""
    se: float | None
    """Standard error of `mwc`, over pairs of matches with the same dice; None for too few (`TOO_FEW`)."""
    p_value: float | None
    """Chance of a difference at least this large between two players who are equally good; None as `se`."""
    games: int
    """Of all matches together."""
    without_luck: WithoutLuck | None = None
    """What is left without the luck of the dice; None where no judge told it."""

    def to_dict(self) -> dict[str, Any]:
        """All fields by name, as JSON has them."""
        return fields_known(self)


def play_match_play(
    first: Player,
    second: Player,
    length: int,
    matches: int,
    *,
    adviser: Evaluator,
    cube: bool = True,
    seed: int = 0,
    jobs: int | None = None,
    judge: Evaluator | None = None,
) -> MatchPlayResult:
    """Play `matches` matches (rounded up to an even number) to `length` points, with the `cube` or without.

    The `adviser` turns the cube for a player without chances of his own.  A `judge` tells what is left
    without the luck of the dice (see `play_match`).  The same `seed` gives the same matches for any number of
    `jobs`.  Raises `SettingError` for fewer than 2 matches, for a length that is not 1 to `MAX_MATCH_LENGTH`,
    and for a seed that is none.
    """
    check_seed(seed)
    check_count("games", matches, 2)
    check_match_length(length)
    sides = match_side(first, adviser), match_side(second, adviser)
    play = partial(play_match_pairs, length, cube, *sides, seed, judge=judge)
    played = joined(played_blocks(play, f"{first.name} against {second.name}", matches, jobs))
    return _match_result(length, cube, judge, played)


def play_match_tournament(
    players: Sequence[Player],
    length: int,
    matches: int,
    *,
    adviser: Evaluator,
    cube: bool = True,
    seed: int = 0,
    jobs: int | None = None,
    judge: Evaluator | None = None,
) -> TournamentResult:
    """Let each of `players` play `matches` matches against each other, as `play_match_play` has them.

    Raises `SettingError` as that and `play_tournament` do.
    """
    check_match_length(length)
    play = partial(_meeting, partial(play_match_pairs, length, cube, judge=judge), adviser)
    result = partial(_match_result, length, cube, judge)
    return everyone_plays(players, matches, play, result, length=length, seed=seed, jobs=jobs, judge=judge)


class MatchSide(NamedTuple):
    """Who plays one side of matches."""

    player: Player
    judge: Evaluator
    """Turns his cube."""

    def choose(
        self, cubes: Stakes, states: Games, side: int, boards: Board, rolls: Rolls, seeds: States
    ) -> Board:
        """See `CubePlayer.choose`."""
        after = np.empty_like(boards)
        for state in np.unique(states).tolist():
            rows = np.flatnonzero(states == state)
            chooser = self.player.staked(cubes._replace(state=state), side)
            after[rows] = chooser.choose_many(boards[rows], rolls[rows], seeds[rows])
        return after


def match_side(player: Player, adviser: Evaluator) -> MatchSide:
    """`player` with his own judge, or the `adviser` where he has no chances worth the name."""
    return MatchSide(player, cube_evaluator(player) or adviser)


def _meeting(
    play: Callable[[MatchSide, MatchSide, int, int, int], Played],
    adviser: Evaluator,
    first: Player,
    second: Player,
    seed: int,
    start: int,
    count: int,
) -> Played:
    """Return some pairs of two players in a tournament."""
    return play(match_side(first, adviser), match_side(second, adviser), seed, start, count)


def _match_result(length: int, cube: bool, judge: Evaluator | None, played: Played) -> MatchPlayResult:
    wins = played.values > 0
    mwc, se, chance = mean_of_pairs(wins, EVEN_SHARE)
    total = int(wins.sum())
    left = without_luck(played, judge, EVEN_SHARE)
    return MatchPlayResult(
        wins.size, length, cube, total, wins.size - total, mwc, se, chance, played.games, left
    )


def _cube_player(side: MatchSide) -> CubePlayer:
    """Where his judge looks ahead the cube does so, too, as in `cube_decision_by`."""
    judge = side.judge
    decided = None if judge.without_lookahead is judge else partial(decided_ahead, judge)
    return CubePlayer(side.choose, judge.evaluate_many, decided)


@dataclass
class _Match:
    """A match that goes on: seats 0 and 1 change places between the two matches of a pair."""

    number: int
    """Of the pair, which its dice depend on."""
    seats: tuple[int, int]
    """Which of the two players sits where."""
    length: int
    score: tuple[int, int] = (0, 0)
    """Of the first player and of the second."""
    crawford: bool = False
    crawford_is_over: bool = False
    games: int = 0
    luck: float = 0.0
    """Chances of winning the match that the rolls gained the first player, in the opinion of a judge."""

    @property
    def dice_number(self) -> int:
        """The number of the dice of its present game."""
        return self.number * _MOST_GAMES + self.games

    @property
    def winner(self) -> int | None:
        """The player who has won; None while it goes on."""
        return match_winner(self.length, self.score)

    def state(self) -> MatchState:
        """Return the score before the game, seen by the first player."""
        return MatchState(self.length, *self.score, crawford=self.crawford)

    def end_game(self, points: int) -> None:
        """Return the first player has won `points`, or lost them; none in a game that was broken off."""
        if points:
            self.score = self.score[0] + max(points, 0), self.score[1] + max(-points, 0)
            self.crawford_is_over |= self.crawford
            self.crawford = is_crawford_game(self.length, self.score, played=self.crawford_is_over)
        self.games += 1


def play_match_pairs(
    length: int,
    cube: bool,
    first: MatchSide,
    second: MatchSide,
    seed: int,
    start: int,
    count: int,
    *,
    judge: Evaluator | None = None,
) -> Played:
    """Play the pairs of matches from `start` on."""
    matches = [
        _Match(number, seats, length) for number in range(start, start + count) for seats in ((0, 1), (1, 0))
    ]
    players = _cube_player(first), _cube_player(second)
    dice = SeededDice(seed)
    going = matches
    while going:
        by_state: dict[MatchState, list[_Match]] = defaultdict(list)
        for match in going:
            by_state[match.state()].append(match)
        for state, group in by_state.items():
            _play_games(players, stakes_of(state) if cube else without_doubles(state), group, dice, judge)
        going = [match for match in going if match.winner is None]
    wins, luck = np.array([(match.winner == 0, match.luck) for match in matches], np.float64).T
    return Played(wins.reshape(count, 2), luck.reshape(count, 2), sum(match.games for match in matches))


def _play_games(
    players: tuple[CubePlayer, CubePlayer],
    cubes: Stakes,
    matches: list[_Match],
    dice: SeededDice,
    judge: Evaluator | None,
) -> None:
    """Play a game of each of `matches`, which have one score.

    A game that does not end is nobody's, and is played anew with other dice.
    """
    numbers = np.array([match.dice_number for match in matches])
    openings = np.array([dice.opening(number) for number in numbers.tolist()])
    seats = np.array([match.seats for match in matches])
    sides = np.where(openings[:, 1] > openings[:, 0], seats[:, 1], seats[:, 0])
    states = np.zeros(len(matches), np.int64)
    thrown = _dice_of(dice.seed, numbers, -np.sort(-openings, axis=1))
    games = games_with_cube(players, cubes, states, sides, starts(len(matches)), thrown, judge=judge)
    points = games.points * cubes.cube[games.states]
    # All games of one state have one unit: half of what lies between losing and winning a single game.
    luck = games.luck * scale(matches[0].state()).half
    for match, won, gained in zip(matches, points.tolist(), luck.tolist(), strict=True):
        match.luck += gained
        match.end_game(won)


@dataclass(frozen=True, repr=False)
class MoneyPlayResult(Tabular):
    """How the first player did against the second in money games with a cube."""

    games: int
    ppg: float
    """Points a game won by the first player."""
    se: float | None
    """Standard error of `ppg`, over pairs of games with the same dice; None for too few (`TOO_FEW`)."""
    wins: int
    losses: int
    stake: float
    """Points by which a game is won or lost, on average."""
    jacoby: bool
    """Whether gammons counted only after a double."""
    p_value: float | None
    """Chance of a difference at least this large between two players who are equally good; None as `se`."""
    without_luck: WithoutLuck | None = None
    """What is left without the luck of the dice; None where no judge told it."""

    def to_dict(self) -> dict[str, Any]:
        """All fields by name, as JSON has them; and that there was a cube."""
        return {**fields_known(self), "cube": True}


def play_money_play(
    first: Player,
    second: Player,
    games: int,
    *,
    adviser: Evaluator,
    jacoby: bool = True,
    seed: int = 0,
    jobs: int | None = None,
    judge: Evaluator | None = None,
) -> MoneyPlayResult:
    """Play `games` money games (rounded up to an even number) with a cube, by the `jacoby` rule or without.

    There are no beavers.  The dice are those of the cubeless games with this `seed` (`play_match`); the
    `adviser`, the `jobs` and the `judge` are as `play_match_play` has them.  Raises `SettingError` for fewer
    than 2 games and for a seed that is none.
    """
    check_seed(seed)
    check_count("games", games, 2)
    sides = match_side(first, adviser), match_side(second, adviser)
    play = partial(play_money_pairs, jacoby, *sides, seed, judge=judge)
    played = joined(played_blocks(play, f"{first.name} against {second.name}", games, jobs))
    return _money_result(jacoby, judge, played)


def play_money_tournament(
    players: Sequence[Player],
    games: int,
    *,
    adviser: Evaluator,
    jacoby: bool = True,
    seed: int = 0,
    jobs: int | None = None,
    judge: Evaluator | None = None,
) -> TournamentResult:
    """Let each of `players` play `games` money games with a cube against each other: see `play_money_play`.

    Raises `SettingError` as that and `play_tournament` do.
    """
    play = partial(_meeting, partial(play_money_pairs, jacoby, judge=judge), adviser)
    result = partial(_money_result, jacoby, judge)
    return everyone_plays(players, games, play, result, seed=seed, jobs=jobs, judge=judge)


def _money_result(jacoby: bool, judge: Evaluator | None, played: Played) -> MoneyPlayResult:
    points = played.values
    ppg, se, chance = mean_of_pairs(points)
    wins, losses = int((points > 0).sum()), int((points < 0).sum())
    stake, left = float(np.abs(points).mean()), without_luck(played, judge)
    return MoneyPlayResult(points.size, ppg, se, wins, losses, stake, jacoby, chance, left)


def play_money_pairs(
    jacoby: bool,
    first: MatchSide,
    second: MatchSide,
    seed: int,
    start: int,
    count: int,
    *,
    judge: Evaluator | None = None,
) -> Played:
    """Play the pairs of money games from `start` on.  A game that does not end brings nothing."""
    cubes = stakes_of(MatchState(jacoby=jacoby))
    sides, states = np.repeat([0, 1], count), np.zeros(2 * count, np.int64)
    dice = SeededDice(seed).of(np.tile(np.arange(start, start + count), 2))
    players = _cube_player(first), _cube_player(second)
    games = games_with_cube(players, cubes, states, sides, starts(2 * count), dice, judge=judge)
    # The equity of a game that has ended is its points, but for rounding.
    points, luck = np.round(games.results[:, -1]), games.luck
    return Played(points.reshape(2, count).T, luck.reshape(2, count).T, points.size)


def _dice_of(seed: int, numbers: Games, openings: Rolls) -> Dice:
    """Return the dice of the games with these `numbers` (n,), which begin with `openings` (n, 2)."""

    def dice(games: Games, ply: int) -> tuple[Rolls, States]:
        rolls, states = rolls_of_games(seed, numbers[games], ply)
        return (openings[games] if ply == 0 else rolls), states

    return dice
