"""What the network is shown: inputs and targets of boards from games.

Stage 1 learns the heuristic's scores of a random player's boards; stage 2 learns who won, from boards of
best-of-four's games.  Of these a replay buffer holds the last ones and some old ones: new boards push out old
ones by lot, so that a board in a full buffer is still there after k rounds of m new ones with the chance
(1 - m / size)**k.  The source trims its file of samples to a size; which of them go it does not say.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.packed import Board
from motif.evaluators.phase import phase_scores
from motif.parameters.named_sets import features
from motif.parameters.phase_set import PHASE_SET
from motif.phase_net.phase_settings import PhaseNetSettings
from motif.players import Player
from motif.players.best_of_four import best_of_four
from motif.players.player import random_player
from motif.rollout.games import SeededDice, lockstep, starts


@dataclass(frozen=True)
class PlayedBoards:
    """Boards after plays, game by game and in the order of play; finished ones are left out."""

    boards: Board
    """int8 (n, 26), seen by the next player on roll."""
    game: npt.NDArray[np.int64]
    """(n,): number of the game."""
    won: npt.NDArray[np.bool_]
    """(n,): whether the player who made the board won in the end."""


def play_games(player: Player, games: int, seed: int) -> PlayedBoards:
    """Every board of `games` games; those that do not end in `MAX_PLIES` plies are left out."""
    # 1 where the player who makes the even plies has won, -1 where the other one has.
    winners = np.zeros(games, np.int64)
    kept: list[tuple[Board, npt.NDArray[np.int64], int]] = []
    for ply in lockstep(player.choose_many, SeededDice(seed).of(np.arange(games)), starts(games)):
        winners[ply.games] = np.sign(ply.points)
        if ply.number:
            going = ply.points == 0
            kept.append((ply.boards[going], ply.games[going], 1 if ply.number % 2 else -1))
    every = np.concatenate([rows for rows, _, _ in kept])
    game = np.concatenate([numbers for _, numbers, _ in kept])
    sides = np.repeat([side for _, _, side in kept], [len(rows) for rows, _, _ in kept])
    order = np.argsort(game, kind="stable")
    order = order[winners[game[order]] != 0]
    return PlayedBoards(every[order], game[order], (winners[game] == sides)[order])


def evenly(count: int, wanted: int) -> npt.NDArray[np.int64]:
    """`wanted` of the numbers below `count`, as far apart as can be; all of them where there are fewer."""
    wanted = min(wanted, count)
    return (np.arange(wanted) * count + count // 2) // max(wanted, 1)


def drawn_of_each_game(
    played: PlayedBoards, boards_a_game: int, random: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Rows of `boards_a_game` boards of each game, drawn by lot; all of a game that has fewer."""
    lots = np.lexsort((random.random(len(played.game)), played.game))
    starts = np.searchsorted(played.game, played.game)
    return np.asarray(lots[np.arange(len(lots)) - starts < boards_a_game])


_HELD_OUT = 10
"""One board in so many teaches nothing and measures the error."""


class Samples(NamedTuple):
    """Boards as the network sees them."""

    inputs: npt.NDArray[np.float32]
    """(n, 48): the features of the set ``phase``."""
    targets: npt.NDArray[np.float32]
    """(n,), 0 to 1: how good the board is for the player who has just moved."""


def heuristic_samples(settings: PhaseNetSettings, seed: int) -> tuple[Samples, Samples]:
    """Boards of random play with the scores of the heuristic: those for training, and those held out."""
    boards = play_games(random_player(), settings.games, seed).boards
    boards = boards[evenly(len(boards), settings.boards)]
    held_out = np.arange(len(boards)) % _HELD_OUT == _HELD_OUT - 1
    return _scored(boards[~held_out]), _scored(boards[held_out])


def outcome_samples(settings: PhaseNetSettings, seed: int) -> Samples:
    """Boards of one round's games of best-of-four: 1 for those that the winner made, 0 for the loser's."""
    played = play_games(best_of_four(), settings.round_games, seed)
    rows = drawn_of_each_game(played, settings.boards_a_game, np.random.default_rng(seed))
    return Samples(features(PHASE_SET, played.boards[rows]), played.won[rows].astype(np.float32))


def _scored(boards: Board) -> Samples:
    return Samples(features(PHASE_SET, boards), phase_scores(boards).astype(np.float32))


class ReplayBuffer:
    """At most `size` boards, with what they came to."""

    def __init__(self, size: int, seed: int) -> None:
        self.size = size
        self.samples: Samples | None = None
        self._random = np.random.default_rng(seed)

    def add(self, new: Samples) -> Samples:
        """Take in `new` ones and return what the buffer holds; of more than `size`, so many by lot."""
        new = self._some(new, self.size)
        if self.samples is None:
            self.samples = new
        else:
            kept = self._some(self.samples, self.size - len(new.targets))
            self.samples = Samples(*map(np.concatenate, zip(kept, new, strict=True)))
        return self.samples

    def _some(self, samples: Samples, most: int) -> Samples:
        count = len(samples.targets)
        if count <= most:
            return samples
        rows = self._random.choice(count, most, replace=False)
        return Samples(*(column[rows] for column in samples))
