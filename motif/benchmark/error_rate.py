"""Error rates: what a player's choices lose on the decisions of benchmark files."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.benchmark.choices import Choices, player_choices
from motif.benchmark.files import BenchmarkFile
from motif.benchmark.loss_distribution import MILLIPOINTS, LossDistribution, loss_distribution
from motif.parameters.position_class import CLASS_NAMES
from motif.players.player import Player
from motif.runtime.errors import BenchmarkError


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
    """By the class of the position before the roll, over all files; only classes that occur."""
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


def summary(choices: Sequence[Choices]) -> ErrorRates:
    """Error rates of one player's choices on several files; raises `BenchmarkError` for no file."""
    if not choices:
        raise BenchmarkError("there is no benchmark file to measure on")
    losses, listed, classes = (
        np.concatenate([getattr(one, name) for one in choices]) for name in ("losses", "listed", "classes")
    )
    of_class = {name: classes == number for number, name in enumerate(CLASS_NAMES)}
    return ErrorRates(
        {one.benchmark.path: _rate(one.losses, one.listed) for one in choices},
        {name: _rate(losses[rows], listed[rows]) for name, rows in of_class.items() if rows.any()},
        _rate(losses, listed),
        loss_distribution(losses, listed),
    )


def _rate(losses: npt.NDArray[np.float64], listed: npt.NDArray[np.bool_]) -> ErrorRate:
    count = len(losses)
    se = float(losses.std(ddof=1) / math.sqrt(count)) if count > 1 else math.nan
    return ErrorRate(MILLIPOINTS * float(losses.mean()), MILLIPOINTS * se, count, int(count - listed.sum()))
