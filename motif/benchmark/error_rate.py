"""Error rates: what a player's choices lose on the decisions of benchmark files."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.benchmark.choices import player_choices
from motif.benchmark.files import BenchmarkFile
from motif.benchmark.loss_distribution import LossDistribution, loss_distribution
from motif.benchmark.losses import ByGroup, Losses, by_group, joined, mean_and_error
from motif.players.player import Player


@dataclass(frozen=True)
class ErrorRate:
    """Mean loss of a player on some decisions."""

    er: float
    """Mean loss a decision in millipoints."""
    se: float
    """Standard error of `er`; NaN for a single decision."""
    decisions: int
    unlisted: int
    """Choices that the file does not list; each costs the largest loss listed for its decision."""

    def as_dict(self) -> dict[str, Any]:
        """All fields by name."""
        return asdict(self)


@dataclass(frozen=True)
class ErrorRates(ByGroup[ErrorRate]):
    """Mean losses of a player on several files."""

    distribution: LossDistribution
    """Of all losses."""

    def as_dict(self) -> dict[str, Any]:
        """All fields by name."""
        return asdict(self) | {"distribution": self.distribution.as_dict()}


def error_rate(
    player: Player, benchmark: BenchmarkFile, *, seed: int = 0, jobs: int | None = None
) -> ErrorRate:
    """Let `player` choose a play for every decision of `benchmark` and compare with the listed losses.

    Raises `SettingError` for a seed that is none.
    """
    choices = player_choices(player, benchmark, seed=seed, jobs=jobs)
    return _rate(choices.losses, choices.listed)


def error_rates(
    player: Player, benchmarks: Sequence[BenchmarkFile], *, seed: int = 0, jobs: int | None = None
) -> ErrorRates:
    """Error rates of `player` on all `benchmarks` together, on each, and by class of position.

    Each file's is what `error_rate` gives.  Raises `BenchmarkError` for no file, `SettingError` for a
    seed that is none.
    """
    return summary([player_choices(player, benchmark, seed=seed, jobs=jobs) for benchmark in benchmarks])


def summary(choices: Sequence[Losses]) -> ErrorRates:
    """Error rates of one player's choices on several files; raises `BenchmarkError` for no file."""
    every = joined(choices)
    rates = by_group(choices, lambda rows: _rate(every.losses[rows], every.listed[rows]))
    distribution = loss_distribution(every.losses, every.listed)
    return ErrorRates(rates.files, rates.classes, rates.overall, distribution)


def _rate(losses: npt.NDArray[np.float64], listed: npt.NDArray[np.bool_]) -> ErrorRate:
    return ErrorRate(*mean_and_error(losses), len(losses), int(len(losses) - listed.sum()))
