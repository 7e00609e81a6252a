"""What decides which positions a dataset holds and how they are labelled."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from motif.parameters.position_class import CLASS_NAMES
from motif.rollout.settings import PlayoutRules, check_count, playout_rules
from motif.rollout.strata import ROUND
from motif.runtime.errors import SettingError, shown
from motif.runtime.seeds import check_seed


@dataclass(frozen=True)
class SamplePlan:
    """How to sample, whoever plays and whatever the seed."""

    games: int
    trials: int
    """Rollouts of each position."""
    decide: Literal["evaluator", "rollout"] = "evaluator"
    """Who chooses the plays: the evaluator, or the rollouts of every legal play."""
    candidates: int = 0
    """Plays of a decision that are recorded at most, the chosen one among them; 0 for all."""
    rate: float = 1.0
    """Share of the decisions that are recorded."""
    crashed_rate: float | None = None
    """The same for crashed positions, which are few; as `rate` when absent."""
    race_rate: float | None = None
    """The same for races; as `rate` when absent."""
    noise: float = 0.0
    """Share of the plays that are drawn by lot, so that odd positions occur too."""
    cut: int = 0
    """Rollouts end after so many plies with the evaluator's value; 0 plays to the end."""
    stop_at_race: bool = False
    """Rollouts end with the evaluator's value when contact ends."""
    stop_at_bearoff: bool = False
    """Rollouts end with the value of the bearoff tables where these cover the position."""
    stratified: bool = False
    """Let the first roll of the rollouts, and the second, run evenly through all that can come."""

    def rates(self) -> npt.NDArray[np.float64]:
        """Share of the decisions recorded, by class."""
        given = {"crashed": self.crashed_rate, "race": self.race_rate}
        chosen = (given.get(name) for name in CLASS_NAMES)
        return np.array([self.rate if value is None else value for value in chosen])

    def rules(self) -> PlayoutRules:
        """How one rollout is played."""
        return playout_rules(
            cut=self.cut,
            stop_at_race=self.stop_at_race,
            stop_at_bearoff=self.stop_at_bearoff,
            stratified=self.stratified,
        )

    def check(self) -> None:
        """Raise `SettingError` for a value that makes no sense."""
        for name, low in (("games", 1), ("trials", 1), ("candidates", 0), ("cut", 0)):
            check_count(name, getattr(self, name), low)
        if self.stratified and self.trials % ROUND:
            raise SettingError(
                f"--stratified: --trials must be a multiple of {ROUND}, not {shown(self.trials)}"
            )
        for name in ("rate", "crashed_rate", "race_rate"):
            value = getattr(self, name)
            if value is not None and not 0 < value <= 1:
                option = name.replace("_", "-")
                raise SettingError(f"--{option} must be above 0 and at most 1, not {shown(value)}")
        if not 0 <= self.noise < 1:
            raise SettingError(f"--noise must be at least 0 and below 1, not {self.noise}")
        if self.decide not in ("evaluator", "rollout"):
            raise SettingError(f"--decide must be evaluator or rollout, not {shown(self.decide)}")


@dataclass(frozen=True)
class SampleSettings(SamplePlan):
    """Everything that decides what a dataset holds."""

    player: str = field(kw_only=True)
    """Name of the static player that plays and rolls out."""
    seed: int = field(default=0, kw_only=True)

    def check(self) -> None:
        """See `SamplePlan.check`."""
        super().check()
        check_seed(self.seed)
