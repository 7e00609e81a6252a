"""Datasets put together, a part at a time, and which of their games are held out for validation."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from motif.fitting.terms import IntArray
from motif.runtime.errors import FitError
from motif.runtime.streams import derive_states
from motif.sampling import Samples, joined, read_column, read_parts


def pooled_parts(folders: Sequence[Path]) -> Iterator[Samples]:
    """The datasets in `folders`, one after the other; their games and decisions keep apart.

    They come in pieces of a bounded number of positions, so that their size does not matter.
    """
    if not folders:
        raise FitError("no dataset is given")
    games, decisions = 0, 0
    for folder in folders:
        first_game, first_decision = games, decisions
        for part in read_parts(Path(folder)):
            game = part.game.astype(np.int64) + first_game
            decision = part.decision.astype(np.int64) + first_decision
            games, decisions = max(games, int(game.max()) + 1), max(decisions, int(decision.max()) + 1)
            yield replace(part, game=game, decision=decision)


def validation_games(folders: Sequence[Path], validation: float, seed: int) -> IntArray:
    """Games of the pool, numbered as in `pooled_parts`, that are held out: about the share `validation`."""
    every: list[IntArray] = [np.empty(0, np.int64)]
    first = 0
    for folder in folders:
        every.append(np.unique(read_column(Path(folder), "game").astype(np.int64)) + first)
        first = int(every[-1][-1]) + 1
    games = np.concatenate(every)
    if validation == 0 or len(games) < 2:
        return games[:0]
    order = np.argsort(derive_states(seed, 0, len(games), 1), kind="stable")
    return np.sort(games[order[: max(1, round(validation * len(games)))]])


def held_out(folders: Sequence[Path], validation: float, seed: int) -> Samples:
    """The positions that a fit to `folders` with this `validation` and `seed` keeps for validation."""
    games = validation_games(folders, validation, seed)
    return joined(part.rows(np.isin(part.game, games)) for part in pooled_parts(folders))
