"""Boards of a player's games against himself, and who won them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motif.board.outcome import finished_points_many
from motif.board.position import Board, Position, pack_many
from motif.evaluators.probabilities import turned_equities
from motif.players import Player
from motif.players.game_dice import rolls_of_games
from motif.rollout.playout import MAX_PLIES


@dataclass(frozen=True)
class PlayedBoards:
    """Boards after plays, game by game and in the order of play; finished ones are left out."""

    boards: Board
    """int8 (n, 26), seen by the next player on roll."""
    game: npt.NDArray[np.int64]
    """(n,): number of the game."""
    won: npt.NDArray[np.bool_]
    """(n,): whether the player who made the board won in the end."""

    def some(self, rows: npt.NDArray[np.integer]) -> "PlayedBoards":
        """Those in `rows`, in that order."""
        return PlayedBoards(self.boards[rows], self.game[rows], self.won[rows])


def play_games(player: Player, games: int, seed: int) -> PlayedBoards:
    """Every board of `games` games; those that do not end in `MAX_PLIES` plies are left out."""
    boards = np.repeat(Position.start().board[None], games, axis=0)
    going = np.arange(games)
    # 1 where the player who makes the even plies has won, -1 where the other one has.
    winners = np.zeros(games, np.int64)
    kept: list[tuple[Board, npt.NDArray[np.int64], int]] = []
    for ply in range(MAX_PLIES):
        rolls, states = rolls_of_games(seed, going, ply)
        boards = player.choose_many(boards, rolls, states)
        points = finished_points_many(pack_many(boards).view(np.int64))
        side = 1 if ply % 2 == 0 else -1
        # The points are the next player's.
        winners[going] = turned_equities(np.sign(points)) * side
        boards, going = boards[points == 0], going[points == 0]
        if not len(going):
            break
        kept.append((boards, going, side))
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
