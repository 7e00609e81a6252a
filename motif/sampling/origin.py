"""Where a dataset comes from: its games, and the source of its labels.

Fits hold out whole games, and standard errors count games, so the same game must have the same number in all
datasets that contain it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.runtime.arrays import IntArray
from motif.runtime.errors import DatasetError

LABEL_SETTINGS = ("label", "cut", "stop_at_race", "stop_at_bearoff", "stratified", "replies")
"""Settings of a dataset that say what its labels are."""
OF_DATASETS, IS_WHOLE = "of_datasets", "is_whole"
"""Settings of a dataset that was read and written again: `Origin.datasets` and `Origin.is_whole`."""


@dataclass(frozen=True)
class Origin:
    """Where a dataset comes from, as far as it is known."""

    games_key: str = ""
    """Key that datasets of the same games share, or empty."""
    recorded_games: tuple[str, ...] = ()
    """Hash of the plays of each recorded game, by its number; empty for self-play."""
    labels: Mapping[str, object] = field(default_factory=dict, hash=False)
    """Those of `LABEL_SETTINGS` that are known."""
    datasets: tuple[str, ...] = ()
    """Fingerprints of the datasets in files from which the positions were read."""
    is_whole: bool = True
    """Whether it has all positions of `datasets`."""

    @property
    def after_replies(self) -> bool:
        """Whether the positions are those after replies, in which the player who chose is on roll again."""
        return bool(self.labels.get("replies"))

    @property
    def of_rows(self) -> "Origin":
        """The origin of some of the rows."""
        return replace(self, is_whole=False)

    def __add__(self, other: "Origin") -> "Origin":
        """Return the origin of two datasets, joined as datasets of different games.

        With positions that are in no known dataset, or twice, the sum is not that of whole datasets.
        """
        parts, datasets = (self, other), tuple(dict.fromkeys((*self.datasets, *other.datasets)))
        is_apart = all(part.datasets for part in parts) and set(self.datasets).isdisjoint(other.datasets)
        return Origin(
            labels=self.labels if self.labels == other.labels else {},
            datasets=datasets,
            is_whole=is_apart and all(part.is_whole for part in parts),
        )

    def settings(self) -> dict[str, object]:
        """Return the settings that a manifest records, without the recorded games."""
        known: dict[str, object] = {"games_key": self.games_key} if self.games_key else {}
        if self.datasets:
            known |= {OF_DATASETS: list(self.datasets), IS_WHOLE: self.is_whole}
        return known | dict(self.labels)


UNKNOWN = Origin()
"""The origin of a dataset of which nothing is known."""


def joint_origin(origins: Iterable[Origin]) -> Origin:
    """Return the origin of the pieces of a dataset; unknown if they come from several."""
    first, *rest = origins
    if any(replace(other, is_whole=first.is_whole) != first for other in rest):
        return UNKNOWN
    return replace(first, is_whole=all(origin.is_whole for origin in (first, *rest)))


class GameNumbers(NamedTuple):
    """Numbers of the games of a dataset in a pool of datasets."""

    first: int
    """Number of game 0; further games follow, unless there are `numbers`."""
    numbers: IntArray | None = None
    """(games,): number of each recorded game."""

    def of(self, games: npt.NDArray[np.integer]) -> IntArray:
        """Return the numbers (n,) of `games` (n,); raises `DatasetError` for one that is not recorded."""
        if self.numbers is None:
            return games.astype(np.int64) + self.first
        if len(games) and (last := int(games.max())) >= len(self.numbers):
            raise DatasetError(f"game {last} is not one of its {len(self.numbers)} recorded games")
        return self.numbers[games]


def pooled_games(origins: Sequence[Origin], counts: Sequence[int]) -> list[GameNumbers]:
    """Return numbers for the games of several datasets, the same for the same game in all of them.

    `counts` are the numbers of games of the datasets.  Recorded games are the same if their plays are; other
    games if they have the same number in datasets with the same key.
    """
    keys = [origin.games_key or f"dataset {place}" for place, origin in enumerate(origins)]
    sizes: dict[str, int] = {}
    for key, origin, count in zip(keys, origins, counts, strict=True):
        sizes[key] = max(sizes.get(key, 0), count, len(origin.recorded_games))
    firsts = dict(zip(sizes, accumulate(sizes.values(), initial=0), strict=False))
    seen: dict[str, int] = {}
    made = []
    for key, origin in zip(keys, origins, strict=True):
        first = firsts[key]
        known = [seen.setdefault(game, first + number) for number, game in enumerate(origin.recorded_games)]
        made.append(GameNumbers(first, np.array(known, np.int64) if known else None))
    return made
