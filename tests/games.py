"""Boards and decisions from games, for tests that need many real ones."""

import numpy as np

from motif.board.outcome import finished_points_many
from motif.board.packed import Board, pack_many
from motif.board.position import Position
from motif.players import load
from motif.runtime.streams import derive_states

_MAX_PLIES = 400


def game_decisions(player: str, games: int, seed: int) -> tuple[Board, np.ndarray]:
    """Return every board before a roll, and the roll, in `games` games of a player against itself."""
    chooser, random = load(player), np.random.default_rng(seed)
    boards = np.repeat(Position.start().board[None], games, axis=0)
    seen, rolled = [], []
    for ply in range(_MAX_PLIES):
        rolls = -np.sort(-random.integers(1, 7, (len(boards), 2)), axis=1)
        seen.append(boards)
        rolled.append(rolls)
        boards = chooser.choose_many(boards, rolls, derive_states(seed, 0, len(boards), ply))
        boards = boards[finished_points_many(pack_many(boards).view(np.int64)) == 0]
        if not len(boards):
            break
    return np.concatenate(seen), np.concatenate(rolled)


def some_decisions(player: str, count: int, seed: int) -> tuple[Board, np.ndarray]:
    """Return `count` different decisions, from all stages of a player's games."""
    boards, rolls = game_decisions(player, max(2, count // 20), seed)
    kept = np.random.default_rng(seed).permutation(len(boards))[:count]
    assert len(kept) == count
    return boards[kept], rolls[kept]


def some_boards(player: str, count: int, seed: int) -> Board:
    """Return `count` boards from all stages of a player's games."""
    return some_decisions(player, count, seed)[0]
