"""Roll out cube decisions; in the trials, both sides double, take and pass.

Each trial plays the position twice with the same dice, without a double and after double/take; the value of
a pass is exact.  A truncated trial is valued by the cube model from the probabilities of its last position,
where the player on roll may still double.
"""

from dataclasses import dataclass, replace

import numpy as np

from motif.board.match_state import MatchState
from motif.board.moves import check_goes_on
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.doubling.cube_states import cube_model_for, state_after_take
from motif.doubling.decision import best_action
from motif.doubling.equities import DOUBLE_PASS, scale
from motif.evaluators import Evaluator
from motif.evaluators.probabilities import EQUITY_HEAD, HEADS, WIN, WIN_GAMMON
from motif.rollouts.rollout_settings import RolloutSettings
from motif.rollouts.tally import standard_errors
from motif.rollouts.trials import CubeStart, by_name, tally_trials
from motif.runtime.arrays import FloatArray
from motif.runtime.frames import Tabular
from motif.runtime.progress import Stopwatch


@dataclass(frozen=True, repr=False, eq=False)
class CubeRollout(Tabular):
    """Result of a cube rollout, without a double and after double/take.

    Equities are for the player on roll, normalised as in `CubeDecision`; a pass is worth 1. Values of a
    double are None if a double is useless.
    """

    state: MatchState
    mean: FloatArray
    """Five probabilities and the equity without a double: (6,)."""
    se: FloatArray
    """Standard errors of `mean`: (6,)."""
    double_take: float | None
    double_take_se: float | None
    difference: float | None
    """Equity of a double that is answered correctly, minus the equity without a double."""
    difference_se: float | None
    trials: int
    seconds: float

    @property
    def no_double(self) -> float:
        """Equity without a double before this roll."""
        return float(self.mean[-1])

    @property
    def double_pass(self) -> float | None:
        """Equity after double/pass."""
        return None if self.double_take is None else DOUBLE_PASS

    @property
    def action(self) -> str:
        """The best cube action according to the means, in the words of `CubeDecision.action`."""
        wins, gammons = float(self.mean[WIN]), bool(self.mean[WIN_GAMMON] > 0)
        values = self.no_double, self.double_take, self.double_pass
        return best_action(self.state, *values, wins=wins, gammons=gammons).action

    def to_dict(self) -> dict[str, object]:
        """Return a dict of all fields for JSON."""
        record = {
            "action": self.action,
            "no_double": self.no_double,
            "no_double_se": float(self.se[-1]),
            "double_take": self.double_take,
            "double_take_se": self.double_take_se,
            "double_pass": self.double_pass,
            "difference": self.difference,
            "difference_se": self.difference_se,
            "mean": by_name(self.mean),
            "se": by_name(self.se),
            "trials": self.trials,
            "seconds": self.seconds,
            **self.state.cube_record(),
        }
        if not self.state.length:
            return record
        equities = {name: getattr(self, name) for name in ("no_double", "double_take", "double_pass")}
        chances = {f"mwc_{name}": None if it is None else self.mwc(it) for name, it in equities.items()}
        return record | chances

    def mwc(self, equity: float) -> float | None:
        """Return the match-winning probability of an `equity`; None for money."""
        return scale(self.state).value(equity) if self.state.length else None


def roll_out_cube(
    position: Position,
    state: MatchState,
    evaluator: Evaluator,
    settings: RolloutSettings | None = None,
    *,
    jobs: int | None = None,
) -> CubeRollout:
    """Roll out the cube decision of the player on roll in `state`, with `evaluator` playing both sides.

    There are no beavers.  The result does not depend on `jobs`. Raises `SettingError` for settings that do
    not apply with a cube and for a finished match, and `PositionError` for a finished game.
    """
    settings = settings or RolloutSettings()
    settings.check(with_cube=True)
    check_goes_on(position)
    state = replace(state, beavers=False, raccoons=False)
    cubes = cube_model_for(state)
    doubled = state_after_take(state)
    first = (0, doubled) if doubled else (0,)
    packed = pack_many(np.repeat(position.board[None], len(first), axis=0))

    stopwatch = Stopwatch()
    (tally,) = tally_trials(
        settings.player_of(evaluator),
        settings,
        packed,
        np.zeros(len(first), np.int64),
        together=len(first),
        cube=CubeStart(cubes, first),
        label=f"rolling out with {evaluator.name}",
        jobs=jobs,
    )
    means = tally.mean().reshape(-1, len(HEADS))
    errors = tally.errors().reshape(-1, len(HEADS))
    seconds = stopwatch.seconds
    if not doubled:
        return CubeRollout(state, means[0], errors[0], None, None, None, None, tally.trials, seconds)
    no_double, taken = (float(value) for value in means[:, -1])
    passes = taken >= DOUBLE_PASS
    slopes = np.zeros(means.size)
    slopes[EQUITY_HEAD], slopes[-1] = -1.0, 0.0 if passes else 1.0
    (difference_se,) = standard_errors(slopes[None] @ tally.covariance() @ slopes[:, None])
    return CubeRollout(
        state,
        means[0],
        errors[0],
        taken,
        float(errors[1, -1]),
        min(taken, DOUBLE_PASS) - no_double,
        float(difference_se),
        tally.trials,
        seconds,
    )
