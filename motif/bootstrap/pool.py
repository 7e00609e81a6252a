"""Datasets put together, and which of their games train and which are held out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.runtime.errors import FitError
from motif.runtime.streams import derive_states
from motif.sampling import Samples, read_dataset


def pooled(folders: Sequence[Path]) -> Samples:
    """The datasets in `folders`, one after the other; their games and decisions keep apart."""
    pools = [read_dataset(folder) for folder in folders]
    if not pools:
        raise FitError("no dataset is given")
    columns: dict[str, npt.NDArray[Any]] = {}
    for field in Samples.__dataclass_fields__:
        columns[field] = np.concatenate([getattr(pool, field) for pool in pools])
    for field in ("game", "decision"):
        largest, shifted = 0, []
        for pool in pools:
            shifted.append(getattr(pool, field).astype(np.int64) + largest)
            largest = int(shifted[-1].max()) + 1
        columns[field] = np.concatenate(shifted)
    return Samples(**columns)


def training_rows(samples: Samples, validation: float, seed: int) -> npt.NDArray[np.bool_]:
    """True for the rows of games that train; about the share `validation` of the games is held out."""
    games, row_game = np.unique(samples.game, return_inverse=True)
    if validation == 0 or len(games) < 2:
        return np.ones(len(samples), np.bool_)
    order = np.argsort(derive_states(seed, 0, len(games), 1), kind="stable")
    held = np.zeros(len(games), np.bool_)
    held[order[: max(1, round(validation * len(games)))]] = True
    training: npt.NDArray[np.bool_] = ~held[row_game]
    return training


def held_out(folders: Sequence[Path], validation: float, seed: int) -> Samples:
    """The positions that a fit to `folders` with this `validation` and `seed` keeps for validation."""
    samples = pooled(folders)
    held = ~training_rows(samples, validation, seed)
    return Samples(**{name: getattr(samples, name)[held] for name in Samples.__dataclass_fields__})
