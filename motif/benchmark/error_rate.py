"""Error rates: what a player's choices lose on the decisions of benchmark files."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.benchmark.choices import player_choices
from motif.benchmark.files import BenchmarkFile
from motif.benchmark.loss_distribution import LossDistribution, loss_distribution
from motif.benchmark.losses import Losses, mean_and_error, of_classes, of_files
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
class ErrorRates:
    """Mean losses of a player on several files."""

    files: Mapping[str, ErrorRate]
    """By path."""
    classes: Mapping[str, ErrorRate]
    """By class, over all files; only classes that occur.

    Of the position before the roll; where recorded plays are chosen from, of that after the best of them.
    """
    overall: ErrorRate
    distribution: LossDistribution
    """Of all losses."""

    def as_dict(self) -> dict[str, Any]:
        """All fields by name."""
        return {
            "files": {path: rate.as_dict() for path, rate in self.files.items()},
            "classes": {name: rate.as_dict() for name, rate in self.classes.items()},
            "overall": self.overall.as_dict(),
            "distribution": self.distribution.as_dict(),
        }


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
    files = of_files(choices)
    losses, listed = (np.concatenate([getattr(one, name) for one in choices]) for name in ("losses", "listed"))
    return ErrorRates(
        {path: _rate(losses[rows], listed[rows]) for path, rows in files.items()},
        {name: _rate(losses[rows], listed[rows]) for name, rows in of_classes(choices).items()},
        _rate(losses, listed),
        loss_distribution(losses, listed),
    )


def _rate(losses: npt.NDArray[np.float64], listed: npt.NDArray[np.bool_]) -> ErrorRate:
    return ErrorRate(*mean_and_error(losses), len(losses), int(len(losses) - listed.sum()))
