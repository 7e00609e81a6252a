"""Process one decision of the rollout-truth set: the players' choices and their rollouts.

motif and gnubg, both at 0-ply, roll out to the end, with half of the weight each. motif's trials are plain;
gnubg's, which cost thirty times as much, are luck-adjusted with motif's values of the rolls.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.benchmarks.benchmark_files import keyed_decision
from motif.benchmarks.benchmark_making import roller_of
from motif.benchmarks.roller_rollouts import RolledPlay, Roller, Rule, rolled_plays
from motif.board.moves import legal_plays
from motif.board.packed import Board, pack_many
from motif.board.position import Position
from motif.evaluators.probabilities import equities, switch_sides
from motif.parameters.position_class import CLASS_NAMES
from motif.players import Player, load
from motif.runtime.arrays import IntArray
from motif.runtime.errors import PlayerError

SAGE = "bgsage"
"""The player of the package bgsage; ``bgsage@2`` has gnubg's 2-ply."""
RULES = {
    name: Rule(se=se, pilot=True) for name, se in (("contact", 0.012), ("crashed", 0.012), ("race", 0.003))
}
"""Rules for the precision of differences; races have small variances and small differences."""
_PORTIONS = {"contact": (1296, 36), "crashed": (1296, 36), "race": (5184, 144)}
"""Minimum numbers of trials by motif and by gnubg."""


def players_of(own: str) -> list[str]:
    """Return the players to compare; `own` is motif's static evaluator."""
    return [
        *(own + plies for plies in ("", "@1", "@2", "@3")),
        *("gnubg", "gnubg@1", "gnubg@2", "wildbg", SAGE, f"{SAGE}@2"),
    ]


class SagePlayer(Player):
    """The player of the package bgsage, cubeless money; raises `PlayerError` without the package."""

    def __init__(self, plies: int) -> None:
        try:
            from bgsage import create_analyzer
        except ImportError:
            raise PlayerError("bgsage is not installed: pip install bgsage") from None
        self.name = f"{SAGE}@{plies}" if plies else SAGE
        # bgsage counts the static evaluation as the first ply.
        self._analyzer = create_analyzer(f"{plies + 1}ply", cubeful=False, parallel_threads=1)

    def choose_many(self, boards: Board, rolls: IntArray, states: npt.NDArray[np.uint64]) -> Board:
        """See `Player.choose_many`."""
        return np.array([self._after(*both) for both in zip(boards.tolist(), rolls.tolist(), strict=True)])

    def _after(self, board: list[int], roll: list[int]) -> npt.NDArray[np.int8]:
        # In bgsage the opponent's checkers on the bar are positive, all others negative.
        moves = self._analyzer.checker_play([-board[0], *board[1:]], *roll, jacoby=False, beaver=False).moves
        after = list(moves[0].board) if moves else [-board[0], *board[1:]]
        return np.array([-count for count in (*reversed(after[1:]), -after[0])], np.int8)


@cache
def player(name: str) -> Player:
    """Load the player called `name`, once."""
    if name == SAGE or name.startswith(f"{SAGE}@"):
        return SagePlayer(int(name.partition("@")[2] or 0))
    return load(name)


@cache
def rollers(own: str, class_name: str, seed: int) -> tuple[Roller, ...]:
    """Return the rollers for a decision of that class: motif's static evaluator `own`, and gnubg."""
    portions = zip((own, "gnubg"), _PORTIONS[class_name], strict=True)
    return tuple(roller_of(name, seed, portion) for name, portion in portions)


def decided(
    own: str, seed: int, number: int, board: npt.NDArray[np.int8], roll: Sequence[int], code: int
) -> dict[str, Any]:
    """Let all players choose a play in decision `number`, and roll the choices out; runs in a worker.

    If all agree, nothing is rolled out, and the play gets its equity by lookahead.
    """
    start = time.perf_counter()
    rolls, states = np.array([roll], np.int64), np.zeros(1, np.uint64)
    choices = {name: player(name).choose_many(board[None], rolls, states)[0] for name in players_of(own)}
    legal = {play.position for play in legal_plays(Position(board), (int(roll[0]), int(roll[1])))}
    positions = {name: Position(after) for name, after in choices.items()}
    for name, position in positions.items():
        if position not in legal:
            raise PlayerError(f"{name} chose an illegal play: decision {number}, {Position(board)!r} {roll}")
    plays = list(dict.fromkeys(positions.values()))
    chosen = time.perf_counter()
    class_name, after = CLASS_NAMES[code], np.array([play.board for play in plays])
    if len(plays) == 1:
        row = switch_sides(player(f"{own}@2").evaluate_many(after).astype(np.float64))[0]
        chances, equity = tuple(row.tolist()), float(equities(row))
        rolled = [RolledPlay(0, chances, equity, 0.0, 0.0, 0.0, trials=(0, 0), loss_by=(0.0, 0.0))]
    else:
        rolled = rolled_plays(rollers(own, class_name, seed), pack_many(after), number, RULES[class_name])
    rows = {name: plays.index(position) for name, position in positions.items()}
    decision = asdict(keyed_decision(board, roll, after, rolled, rows))
    end = time.perf_counter()
    seconds = [round(chosen - start, 3), round(end - chosen, 3)]
    return {"decision": number, "class": class_name, **decision, "seconds": seconds}
