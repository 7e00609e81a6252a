"""Rollouts of positions: T trials each, spread over workers."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motif.board.position import BOARD_SIZE, Board, Position, as_boards, pack_many
from motif.evaluators import Probabilities, StaticEvaluator
from motif.evaluators.probabilities import OUTPUTS
from motif.rollout.settings import RolloutSettings
from motif.rollout.tally import Tally
from motif.rollout.trials import tally_trials

RESULT_NAMES = (*OUTPUTS, "equity")


@dataclass(frozen=True)
class RolloutResult:
    """Results of n positions, for the player on roll."""

    mean: npt.NDArray[np.float64]
    """(n, 6): the five probabilities and equity."""
    se: npt.NDArray[np.float64]
    """(n, 6): their standard errors; NaN for a single trial."""
    trials: npt.NDArray[np.int64]
    """(n,): trials played."""
    seconds: float
    scoring: str
    """What the game was played for, and the equity is counted in."""

    @property
    def sd(self) -> npt.NDArray[np.float64]:
        """(n, 6): standard deviation a trial, as plain trials would need it to have these errors."""
        return self.se * np.sqrt(self.trials)[:, None]

    @property
    def trials_per_second(self) -> float:
        """Trials of all positions a second."""
        return float(self.trials.sum()) / self.seconds if self.seconds > 0 else 0.0

    def probabilities(self, row: int = 0) -> Probabilities:
        """The five probabilities of one position."""
        return Probabilities(*map(float, self.mean[row, : len(OUTPUTS)]))

    def equity(self, row: int = 0) -> float:
        """The equity of one position."""
        return float(self.mean[row, -1])


def rollout(
    positions: Position | Sequence[Position] | Board,
    evaluator: StaticEvaluator,
    settings: RolloutSettings | None = None,
    *,
    jobs: int | None = None,
) -> RolloutResult:
    """Roll out one position, several, or a board array (n, 26), with `evaluator` playing both sides.

    Trial t of position k uses the random stream (seed, k, t): the result does not depend on `jobs`.
    Raises `SettingError`, and `PositionError` naming the first row that is no position.
    """
    settings = settings or RolloutSettings()
    settings.check()
    if isinstance(positions, Position):
        positions = [positions]
    if not isinstance(positions, np.ndarray):
        positions = np.array([position.board for position in positions], np.int8).reshape(-1, BOARD_SIZE)
    packed = pack_many(as_boards(positions))

    def enough(tally: Tally) -> bool:
        return bool(tally.errors()[-1] <= settings.se)

    started = time.monotonic()
    tallies = tally_trials(
        settings.model_of(evaluator),
        settings,
        packed,
        np.arange(len(packed)),
        enough=enough if settings.se > 0 else None,
        label=f"rolling out with {evaluator.name}",
        jobs=jobs,
    )
    shape = (len(packed), len(RESULT_NAMES))
    return RolloutResult(
        np.array([tally.mean() for tally in tallies]).reshape(shape),
        np.array([tally.errors() for tally in tallies]).reshape(shape),
        np.array([tally.trials for tally in tallies], np.int64),
        time.monotonic() - started,
        settings.scoring,
    )
