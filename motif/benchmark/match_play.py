"""Whole matches between two players: scores, the Crawford rule, and the doubling cube.

Every sequence of dice is played twice, with the seats swapped, and the standard error is taken over pairs of
matches.  Plays are chosen for the score and with the cube where it lies.  Whoever is on roll doubles, and the
other one takes or passes, by Janowski's model with his own evaluator's chances (`motif.cube.decision`);
for a player whose chances are not worth the name an adviser does.

Matches are played side by side, a roll of each at a time.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.board.match_state import LARGEST_CUBE, CubeOwner, MatchState
from motif.board.outcome import finished_points_many
from motif.board.packed import Board, pack_many
from motif.board.position import Position
from motif.cube.decision import CubeDecision, cube_decision_at
from motif.cube.equities import cube_is_useful, stakes_of
from motif.evaluators import Evaluator, Probabilities
from motif.evaluators.stakes import without_cube
from motif.players.match import blocks_of_pairs
from motif.players.player import Player, cube_evaluator
from motif.rollout.games import SeededDice, rolls_of_games
from motif.rollout.playout import MAX_PLIES
from motif.rollout.rollout_settings import check_count
from motif.rollout.tally import p_value
from motif.runtime.errors import SettingError, check_seed
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import progress

LONGEST = 64
"""Points of the longest match."""
_MOST_GAMES = 2 * LONGEST
"""Games of a match: fewer, since each brings a point."""


@dataclass(frozen=True)
class MatchPlayResult:
    """How the first player did against the second in matches."""

    matches: int
    length: int
    cube: bool
    wins: int
    losses: int
    mwc: float
    """Share of the matches that the first player won."""
    se: float
    """Standard error of `mwc`, over pairs of matches with the same dice."""
    p_value: float
    """Chance of a difference at least this large between two players who are equally good."""
    games: int
    """Of all matches together."""

    def as_dict(self) -> dict[str, Any]:
        """All fields by name, as JSON has them."""
        return asdict(self)


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
) -> MatchPlayResult:
    """Play `matches` matches (rounded up to an even number) to `length` points, with the `cube` or without.

    The `adviser` turns the cube for a player without chances of his own.  The same `seed` gives the same
    matches for any number of `jobs`.  Raises `SettingError` for fewer than 2 matches, for a length that is
    not 1 to `LONGEST`, and for a seed that is none.
    """
    check_seed(seed)
    check_count("games", matches, 2)
    if not 1 <= length <= LONGEST:
        raise SettingError(f"a match is to 1 to {LONGEST} points, not {length}", "length")
    pairs = (matches + 1) // 2
    sides = [_Side(player, cube_evaluator(player) or adviser) for player in (first, second)]
    play = partial(_played_pairs, (sides[0], sides[1]), length, cube, seed)
    won, games = [], 0
    with (
        progress(f"{first.name} against {second.name}", 2 * pairs) as advance,
        closing(run_ordered(play, blocks_of_pairs(pairs), jobs)) as blocks,
    ):
        for block, count in blocks:
            won.append(block)
            games += count
            advance(block.size)
    wins = np.concatenate(won)
    shares = wins.mean(axis=1)
    mwc = float(shares.mean())
    se = float(shares.std(ddof=1) / math.sqrt(pairs)) if pairs > 1 else math.nan
    chance = 1.0 if math.isnan(se) else p_value(mwc - 0.5, se)
    total = int(wins.sum())
    return MatchPlayResult(wins.size, length, cube, total, wins.size - total, mwc, se, chance, games)


@dataclass(frozen=True)
class _Side:
    player: Player
    judge: Evaluator
    """Turns his cube."""


@dataclass
class _Match:
    """A match that goes on: seats 0 and 1 change places between the two matches of a pair."""

    number: int
    """Of the pair, which its dice depend on."""
    seats: tuple[int, int]
    """Which of the two players sits where."""
    length: int
    score: list[int] = field(default_factory=lambda: [0, 0])
    crawford: bool = False
    crawford_is_over: bool = False
    games: int = 0
    on_roll: int = 0
    ply: int = 0
    cube: int = 1
    owner: int | None = None
    """The seat that has the cube."""
    board: Board = field(default_factory=lambda: Position.start().board)
    """Seen by the player on roll."""

    @property
    def dice_number(self) -> int:
        """The number of the dice of its present game."""
        return self.number * _MOST_GAMES + self.games

    @property
    def player(self) -> int:
        """Who is on roll."""
        return self.seats[self.on_roll]

    @property
    def winner(self) -> int | None:
        """The player who has won; None while it goes on."""
        best = max(self.score)
        return self.seats[self.score.index(best)] if best >= self.length else None

    def state(self) -> MatchState:
        """Score and cube, seen by the player on roll."""
        owner: CubeOwner = "me" if self.owner == self.on_roll else "opponent"
        return MatchState(
            self.length,
            self.score[self.on_roll],
            self.score[1 - self.on_roll],
            self.cube,
            "centre" if self.owner is None else owner,
            crawford=self.crawford,
        )

    def end_game(self, winner: int, points: int) -> None:
        """Seat `winner` has won `points`; begin the next game.

        No points are those of a game that was broken off.
        """
        if points:
            self.score[winner] += points
            self.crawford_is_over |= self.crawford
            at_match_point = max(self.score) == self.length - 1 > 0
            self.crawford = at_match_point and not self.crawford_is_over
        self.games += 1
        self.ply, self.cube, self.owner = 0, 1, None
        self.board = Position.start().board


def _played_pairs(
    players: tuple[_Side, _Side], length: int, cube: bool, seed: int, start: int, count: int
) -> tuple[npt.NDArray[np.bool_], int]:
    """Which matches of the pairs from `start` on the first player won (count, 2), and how many games were
    played; he sits first in column 0."""
    matches = [
        _Match(number, seats, length) for number in range(start, start + count) for seats in ((0, 1), (1, 0))
    ]
    dice = SeededDice(seed)
    going = matches
    while going:
        # A game that does not end is nobody's, and is played anew with other dice.
        for match in going:
            if match.ply == MAX_PLIES:
                match.end_game(0, 0)
        if cube:
            _turn_cubes(players, going)
            going = [match for match in going if match.winner is None]
        _play_rolls(players, going, dice, cube)
        going = [match for match in going if match.winner is None]
    wins = np.array([match.winner == 0 for match in matches]).reshape(count, 2)
    return wins, sum(match.games for match in matches)


def _grouped(matches: Iterable[_Match]) -> Iterator[tuple[int, MatchState, list[_Match]]]:
    """Matches with the same player on roll in the same state."""
    groups: dict[tuple[int, MatchState], list[_Match]] = defaultdict(list)
    for match in matches:
        groups[match.player, match.state()].append(match)
    for (player, state), group in groups.items():
        yield player, state, group


def _turn_cubes(players: tuple[_Side, _Side], matches: list[_Match]) -> None:
    """Let the players on roll double, and the others answer."""
    for player, state, group in _grouped(match for match in matches if match.ply > 0):
        if not cube_is_useful(state) or 2 * state.cube > LARGEST_CUBE:
            continue
        doubled = [
            match
            for match, decision in zip(group, _decisions(players[player].judge, group, state), strict=True)
            if decision.should_double
        ]
        answers = _decisions(players[1 - player].judge, doubled, state)
        for match, decision in zip(doubled, answers, strict=True):
            if decision.should_take:
                match.cube, match.owner = 2 * match.cube, 1 - match.on_roll
            else:
                match.end_game(match.on_roll, match.cube)


def _decisions(judge: Evaluator, matches: list[_Match], state: MatchState) -> list[CubeDecision]:
    """What `judge` thinks of a double in each of `matches`, all in one state."""
    if not matches:
        return []
    rows = judge.evaluate_many(np.array([match.board for match in matches])).astype(np.float64).tolist()
    return [
        cube_decision_at(Position(match.board), Probabilities(*row), state)
        for match, row in zip(matches, rows, strict=True)
    ]


def _play_rolls(players: tuple[_Side, _Side], matches: list[_Match], dice: SeededDice, cube: bool) -> None:
    """Roll for every match, and play."""
    openings: dict[int, tuple[int, int]] = {}
    for match in matches:
        if match.ply == 0:
            thrown = dice.opening(match.dice_number)
            match.on_roll = int(thrown[1] > thrown[0])
            openings[id(match)] = max(thrown), min(thrown)
    for player, state, group in _grouped(matches):
        stakes = stakes_of(state)
        chooser = players[player].player.staked(stakes if cube else without_cube(stakes))
        boards = np.array([match.board for match in group])
        rolls, states = _dice_of(group, dice.seed, openings)
        after = chooser.choose_many(boards, rolls, states)
        points = finished_points_many(pack_many(after).view(np.int64)).tolist()
        for match, board, lost in zip(group, after, points, strict=True):
            if lost:
                match.end_game(match.on_roll, abs(lost) * match.cube)
            else:
                match.board = board
                match.ply += 1
                match.on_roll = 1 - match.on_roll


def _dice_of(
    matches: list[_Match], seed: int, openings: dict[int, tuple[int, int]]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    """Rolls (n, 2) of `matches`, and seeds (n,) of random choices."""
    rolls, states = np.empty((len(matches), 2), np.int64), np.empty(len(matches), np.uint64)
    by_ply: dict[int, list[int]] = defaultdict(list)
    for row, match in enumerate(matches):
        by_ply[match.ply].append(row)
    for ply, rows in by_ply.items():
        numbers = np.array([matches[row].dice_number for row in rows])
        rolls[rows], states[rows] = rolls_of_games(seed, numbers, ply)
    for row, match in enumerate(matches):
        if match.ply == 0:
            rolls[row] = openings[id(match)]
    return rolls, states
