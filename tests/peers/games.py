"""Decisions from games between players of very different strength, for comparisons with peers."""

from collections.abc import Callable, Iterator
from itertools import count, islice

import numpy as np

from motif.board.moves import Play, legal_plays
from motif.board.outcome import Outcome, outcome
from motif.board.packed import Board
from motif.board.position import Position

Decision = tuple[Position, tuple[int, int], list[Play]]
Scorer = Callable[[Board, np.random.Generator], np.ndarray]


def weak(boards: Board, random: np.random.Generator) -> np.ndarray:
    """Return equal scores: all plays are equally good."""
    return random.random(len(boards))


def sensible(boards: Board, random: np.random.Generator) -> np.ndarray:
    """Score running, hitting, making points and avoiding blots; the mover is negative in `boards`."""
    places = np.arange(26)
    race = (np.maximum(boards, 0) * places).sum(1) - (np.maximum(-boards, 0) * places[::-1]).sum(1)
    points = (boards <= -2)[:, 13:25].sum(1)
    blots = (boards == -1)[:, 1:25].sum(1)
    return race / 10 + 2 * points - 3 * blots + 4 * boards[:, 25] + random.random(len(boards)) / 10


PAIRINGS: list[tuple[Scorer, Scorer]] = [(weak, weak), (weak, sensible), (sensible, sensible)]


def endless_decisions(seed: int) -> Iterator[Decision]:
    """Yield the decisions of one game after another, each with its roll and motif's legal plays."""
    random = np.random.default_rng(seed)
    for game in count():
        position, players = Position.start(), PAIRINGS[game % len(PAIRINGS)]
        for turn in count():
            high, low = sorted((int(die) for die in random.integers(1, 7, 2)), reverse=True)
            plays = legal_plays(position, (high, low))
            yield position, (high, low), plays
            scores = players[turn % 2](np.array([play.position.board for play in plays]), random)
            position = plays[int(scores.argmax())].position
            if outcome(position) != Outcome.UNFINISHED:
                break


def decisions(number: int, seed: int) -> list[Decision]:
    """Return the first `number` decisions of `endless_decisions`."""
    return list(islice(endless_decisions(seed), number))
