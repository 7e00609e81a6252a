"""The positions that an analysis looks at: from a player's own games, or from a dataset."""

from contextlib import closing
from functools import partial
from itertools import count as count_from
from pathlib import Path

import numpy as np

from motif.board.packed import Board, pack_many
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.players import Player
from motif.rollout.games import SeededDice, lockstep, starts
from motif.runtime.errors import DatasetError, PlayerError
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import progress
from motif.sampling import read_parts

EVERY = 10
"""One position in so many of a game is taken: its neighbours resemble it."""
FEWEST = 100
"""Positions below which statistics of many features mean nothing."""

_GAMES_AT_ONCE = 64
_GAMES_A_POSITION = 10
"""Games after which a player who hardly ever reaches the class is given up, for each position wanted."""


def self_play_positions(
    player: Player, wanted: int, class_name: str | None, *, seed: int, jobs: int | None = None
) -> Board:
    """`wanted` positions (n, 26) before a roll, of one class or of all, from `player`'s money games.

    The same `seed` gives the same ones for any number of `jobs`.  Raises `PlayerError` when positions
    of the class hardly occur.
    """
    most_games = _GAMES_AT_ONCE + _GAMES_A_POSITION * wanted
    calls = ((first, _GAMES_AT_ONCE) for first in count_from(0, _GAMES_AT_ONCE))
    pieces: list[Board] = []
    count = games = 0
    with (
        progress(f"positions from games of {player.name}", wanted) as advance,
        closing(run_ordered(partial(_game_positions, player, seed), calls, jobs)) as played,
    ):
        for boards in played:
            piece = _of_class(boards, class_name)[: wanted - count]
            pieces.append(piece)
            count += len(piece)
            games += _GAMES_AT_ONCE
            advance(len(piece))
            if count == wanted or games >= most_games:
                break
    if count < wanted:
        raise PlayerError(
            f"{games} games of {player.name!r} hold {count} {class_name or ''} positions, not {wanted}"
        )
    return np.concatenate(pieces)


def dataset_positions(folder: Path, most: int, class_name: str | None) -> Board:
    """At most `most` positions (n, 26) of a dataset, of one class or of all, evenly spread over it.

    Raises `DatasetError` for a dataset that cannot be read, or holds fewer than `FEWEST`.
    """
    boards = np.concatenate([_of_class(piece.boards, class_name) for piece in read_parts(folder)])
    if len(boards) < FEWEST:
        kind = f"{class_name} " if class_name else ""
        raise DatasetError(
            f"{folder}: an analysis needs at least {FEWEST} {kind}positions, not {len(boards)}"
        )
    return boards[np.linspace(0, len(boards) - 1, min(most, len(boards))).astype(np.int64)]


def _of_class(boards: Board, class_name: str | None) -> Board:
    if class_name is None or not len(boards):
        return boards
    return boards[classify_many(pack_many(boards)) == CLASS_NAMES.index(class_name)]


def _game_positions(player: Player, seed: int, first: int, games: int) -> Board:
    """One in `EVERY` of the positions of the games first .. first + games - 1, game by game."""
    taken = []
    dice = SeededDice(seed).of(np.arange(first, first + games))
    for ply in lockstep(player.choose_many, dice, starts(games)):
        # Games begin to count at different plies, so that all stages of games occur.
        due = (ply.points == 0) & ((ply.number + first + ply.games) % EVERY == 0)
        taken.append((ply.games[due], ply.boards[due]))
    numbers, boards = (np.concatenate(column) for column in zip(*taken, strict=True))
    return boards[np.argsort(numbers, kind="stable")]
