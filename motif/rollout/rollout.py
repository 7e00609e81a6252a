"""Rollouts of positions: T trials each, spread over workers."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motif.board.position import BOARD_SIZE, Board, Position, as_boards, pack_many
from motif.evaluators import Probabilities, StaticEvaluator
from motif.evaluators.model import Model
from motif.evaluators.probabilities import OUTPUTS
from motif.evaluators.static import filtered, thread_workspace
from motif.rollout.playout import COLUMNS, roll_out
from motif.rollout.statistics import mean_and_error
from motif.runtime.errors import SettingError
from motif.runtime.parallel import run_ordered, worker_count
from motif.runtime.progress import progress

_TRIALS_AT_ONCE = 1296
SEED_LIMIT = 2**63
"""Seeds are below this: compiled code takes them as 64-bit numbers."""
RESULT_NAMES = (*OUTPUTS, "equity")


@dataclass(frozen=True)
class RolloutSettings:
    """How positions are rolled out."""

    trials: int = 1296
    cut: int = 0
    """End after so many plies with the evaluator's value; 0 plays to the end."""
    stop_at_race: bool = False
    """End with the evaluator's value when contact ends."""
    every_play: bool = False
    """Evaluate every legal play, without the pre-filter of the weight file."""
    seed: int = 0

    def check(self) -> None:
        """Raise `SettingError` for a value that makes no sense."""
        for name, low in (("trials", 1), ("cut", 0), ("seed", 0)):
            if getattr(self, name) < low:
                raise SettingError(f"--{name} must be at least {low}, not {getattr(self, name)}")
        if self.seed >= SEED_LIMIT:
            raise SettingError(f"--seed must be below 2**63, not {self.seed}")


@dataclass(frozen=True)
class RolloutResult:
    """Results of n positions, for the player on roll."""

    mean: npt.NDArray[np.float64]
    """(n, 6): the five probabilities and equity."""
    se: npt.NDArray[np.float64]
    """(n, 6): their standard errors; NaN for a single trial."""
    trials: int
    seconds: float

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
    """
    settings = settings or RolloutSettings()
    settings.check()
    if isinstance(positions, Position):
        positions = [positions]
    if not isinstance(positions, np.ndarray):
        positions = np.array([position.board for position in positions], np.int8).reshape(-1, BOARD_SIZE)
    packed = pack_many(as_boards(positions))
    model = evaluator.model if settings.every_play else filtered(evaluator).model
    starts = range(0, settings.trials, _TRIALS_AT_ONCE)
    blocks = [
        (model, packed[k : k + 1], k, settings, first, min(_TRIALS_AT_ONCE, settings.trials - first))
        for k in range(len(packed))
        for first in starts
    ]
    sums, squares = np.zeros((2, len(packed), COLUMNS))
    started = time.monotonic()
    workers = worker_count(jobs)
    if len(blocks) == 1:
        workers = 1
    with progress(f"rolling out with {evaluator.name}", len(blocks)) as advance:
        for block, (part_sums, part_squares) in zip(
            blocks, run_ordered(_roll_block, blocks, workers), strict=True
        ):
            sums[block[2]] += part_sums
            squares[block[2]] += part_squares
            advance(1)
    mean, se = mean_and_error(sums, squares, settings.trials)
    return RolloutResult(mean, se, settings.trials, time.monotonic() - started)


def _roll_block(
    model: Model, packed: npt.NDArray[np.int8], item: int, settings: RolloutSettings, first: int, trials: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    sums, squares = np.zeros((2, 1, COLUMNS))
    items = np.array([item], np.int64)
    roll_out(
        model,
        packed,
        items,
        settings.seed,
        first,
        trials,
        settings.cut,
        settings.stop_at_race,
        thread_workspace(),
        sums,
        squares,
    )
    return sums[0], squares[0]
