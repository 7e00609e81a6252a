"""What the network is shown: inputs and targets of boards from games."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.position import Board
from motif.bootstrap.phase_net.games import drawn_of_each_game, evenly, play_games
from motif.bootstrap.phase_net.settings import PhaseNetSettings
from motif.evaluators.phase import phase_scores
from motif.parameters.phase_set import PHASE_SET
from motif.parameters.sets import features
from motif.players.best_of_four import best_of_four
from motif.players.player import random_player

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
