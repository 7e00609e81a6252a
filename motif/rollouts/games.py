"""Play games of any players side by side, with reproducible dice.

The dice depend only on the seed, game and ply: the same seed gives the same rolls for any number of games
and workers, and undoing a play does not change the rolls.
"""

import secrets
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.movegen import OPENING_SHARES, ROLL_SHARES, ROLLS, roll_numbers
from motif.board.outcome import finished_points_many
from motif.board.packed import Board, pack_many
from motif.board.position import Position
from motif.compiler.jit import kernel
from motif.evaluators import Evaluator
from motif.evaluators.probabilities import switched_equities
from motif.rollouts.playout import FIXED_ROLLS, MAX_GAME_PLIES, first_rolls
from motif.runtime.arrays import FloatArray, IntArray
from motif.runtime.settings import check_seed
from motif.runtime.streams import derive, next_below, next_roll, next_uint64

_SIDES = 6
_RANDOM_SEEDS = 2**31

Streams = npt.NDArray[np.uint64]
"""States of random streams."""
Choose = Callable[[Board, IntArray, Streams], Board]
"""Function that chooses plays, such as `motif.players.player.Player.choose_many`."""
Dice = Callable[[IntArray, int], tuple[IntArray, Streams]]
"""Function from n games and a ply to rolls (n, 2), the higher die first, and seeds (n,) of random choices."""


@kernel
def trial_states(seed, items, first_trial, trials):
    """Return random streams, uint64 (n, trials), of trials `first_trial`, ... of `items` (n,)."""
    states = np.empty((items.shape[0], trials), np.uint64)
    for k in range(items.shape[0]):
        for t in range(trials):
            states[k, t] = derive(np.uint64(seed), np.uint64(items[k]), np.uint64(first_trial + t))
    return states


class Ply(NamedTuple):
    """All unfinished games before a roll, and the games that have just ended."""

    number: int
    """Ply, counted from 0; the player who began is on roll at even plies."""
    games: IntArray
    """Indices of the games (n,)."""
    boards: Board
    """Boards (n, 26), from the side of the player on roll."""
    points: IntArray
    """Points won by the player who began (n,); 0 in unfinished games."""


def starts(games: int) -> Board:
    """Return the starting position for each of `games` games: (games, 26)."""
    return np.repeat(Position.start().board[None], games, axis=0)


def lockstep(choose: Choose, dice: Dice, boards: Board, other: Choose | None = None) -> Iterator[Ply]:
    """Play from `boards` (n, 26) until all games are over or `MAX_GAME_PLIES` plies have been played.

    `choose` plays both sides, or only the side that begins if `other` is given.
    """
    games = np.arange(len(boards))
    for number in range(MAX_GAME_PLIES + 1):
        points = finished_points_many(pack_many(boards).view(np.int64)).astype(np.int64)
        yield Ply(number, games, boards, points if number % 2 == 0 else switched_equities(points))
        games, boards = games[points == 0], boards[points == 0]
        if not len(games) or number == MAX_GAME_PLIES:
            return
        rolls, states = dice(games, number)
        boards = (choose if other is None or number % 2 == 0 else other)(boards, rolls, states)


def luck_of_rolls(judge: Evaluator, boards: Board, rolls: IntArray, opening: bool) -> FloatArray:
    """Return the luck (n,) in equity of `rolls` (n, 2) on `boards` (n, 26), for the players on roll.

    The value of a roll is the value of its best play according to `judge`. An `opening` roll is never a
    double.
    """
    best = judge.roll_equities(boards)
    rolled = best[np.arange(len(boards)), roll_numbers(rolls)]
    shares = OPENING_SHARES if opening else ROLL_SHARES
    # Unlike a matrix product, this sum of a row does not depend on the other rows.
    return np.asarray(rolled - (best * shares).sum(axis=1))


class SeededDice:
    """Dice determined by a seed, which is random by default."""

    def __init__(self, seed: int | None = None) -> None:
        """Raise `SettingError` for an invalid seed."""
        self.seed = secrets.randbelow(_RANDOM_SEEDS) if seed is None else seed
        check_seed(self.seed)

    def of(self, numbers: IntArray) -> Dice:
        """Return the dice of the games with these `numbers`; no game begins with a double."""
        return lambda games, ply: rolls_of_games(self.seed, numbers[games], ply)

    def opening(self, game: int) -> tuple[int, int]:
        """Return the dice of the first and second player at the start of a game; the dice differ."""
        first, second = _opening(self.seed, game)
        return int(first), int(second)

    def roll(self, game: int, ply: int) -> tuple[int, int]:
        """Return the roll at a ply of a game, both counted from 0; the higher die is first."""
        high, low, _ = _ply(self.seed, game, ply)
        return int(high), int(low)

    def choice_seed(self, game: int, ply: int) -> int:
        """Return the seed for a player's random choice at a ply."""
        return int(_ply(self.seed, game, ply)[2])


_CHOICES = np.uint64(0xD1B54A32D192ED03)
"""Separates the seeds of random choices from the dice, so that a choice says nothing of later rolls."""


def stream_dice(states: Streams) -> Dice:
    """Return dice from the random streams `states` (n,), one per game; each roll advances the streams."""
    states = states.copy()

    def dice(games: IntArray, _: int) -> tuple[IntArray, Streams]:
        streams = states[games]
        rolls = next_rolls(streams)
        states[games] = streams
        return rolls, streams ^ _CHOICES

    return dice


def trial_dice(seed: int, items: IntArray, first: int, trials: int, stratified: bool) -> Dice:
    """Return the dice of trials `first`, ... of each of `items` in turn, as in `roll_trials`."""
    states = trial_states(seed, items, first, trials).reshape(-1)
    later = stream_dice(states)
    if not stratified:
        return later
    fixed = {item: first_rolls(seed, item, first, trials) for item in np.unique(items).tolist()}
    numbers = np.concatenate([fixed[item] for item in items.tolist()])

    def dice(games: IntArray, ply: int) -> tuple[IntArray, Streams]:
        if ply < FIXED_ROLLS:
            return ROLLS[numbers[games, ply]], (states[games] ^ _CHOICES) + np.uint64(ply)
        return later(games, ply)

    return dice


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
    """Return two dice, the higher first, and 62 random bits."""
    stream = np.zeros(1, np.uint64)
    stream[0] = derive(np.uint64(seed), np.uint64(game), np.uint64(ply))
    high, low = next_roll(stream)
    return high, low, np.int64(next_uint64(stream) >> np.uint64(2))


@kernel
def rolls_of_games(seed, games, ply):
    """Return the rolls (n, 2) at a ply of `games`, without opening doubles, and states for random choices."""
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


@kernel
def next_rolls(states):
    """Return the next roll (n, 2) of each of the streams `states`, and advance them."""
    rolls = np.empty((states.shape[0], 2), np.int64)
    stream = np.zeros(1, np.uint64)
    for k in range(states.shape[0]):
        stream[0] = states[k]
        rolls[k, 0], rolls[k, 1] = next_roll(stream)
        states[k] = stream[0]
    return rolls
