"""Plays of one roll, rolled out with the same dice."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from motif.board.moves import Play, checked_roll, legal_plays, play_batches
from motif.board.packed import Board, pack_many
from motif.board.position import Position
from motif.evaluators import OUTPUTS, StaticEvaluator
from motif.evaluators.probabilities import turned, turned_equities
from motif.evaluators.stakes import CUBELESS, NO_CUBE, Stakes, staked_values
from motif.rollout.rollout_settings import RolloutSettings, check_count, playing_for
from motif.rollout.tally import Tally, Values, p_value
from motif.rollout.trials import RESULT_NAMES, tally_trials
from motif.runtime.errors import PlayError

CANDIDATES = 5
"""Plays that are compared when nobody says how many."""
_STEP = 1e-4
"""Of a chance, over which slopes of values are measured."""
DOUBT = 0.05
"""What remains at most where a best play counts as settled."""


@dataclass(frozen=True)
class ComparedPlay:
    """One play; all values belong to the mover."""

    play: Play
    mean: npt.NDArray[np.float64]
    """(6,): the five probabilities and equity; for stakes what they are worth, by the means of the five."""
    se: npt.NDArray[np.float64]
    """(6,): their standard errors."""
    difference: float
    """Equity less that of the best play, 0 or below."""
    difference_se: float
    """Standard error of `difference`; smaller than that of the equities, because dice are the same."""
    p_value: float
    """Chance of a difference at least this large, either way, between plays that are equally good."""


@dataclass(frozen=True)
class Comparison:
    """The plays, the best first."""

    plays: tuple[ComparedPlay, ...]
    trials: int
    """Trials of each play."""
    seconds: float
    scoring: str

    @property
    def doubt(self) -> float:
        """The rivals' chances to be as good as the best play, added up (Bonferroni), at most 1."""
        return float(min(1.0, sum(rival.p_value for rival in self.plays[1:])))

    @property
    def settled(self) -> bool:
        """Whether the best play is really best, as far as such trials can tell."""
        return self.doubt < DOUBT

    @property
    def trials_per_second(self) -> float:
        """Trials of all plays a second."""
        return self.trials * len(self.plays) / self.seconds if self.seconds > 0 else 0.0


def compare_plays(
    position: Position,
    roll: tuple[int, int],
    evaluator: StaticEvaluator,
    settings: RolloutSettings | None = None,
    *,
    plays: Sequence[Play] | None = None,
    candidates: int = CANDIDATES,
    stakes: Stakes = NO_CUBE,
    jobs: int | None = None,
) -> Comparison:
    """Roll out `plays` of a roll, or the `candidates` best by static evaluation, with the same dice.

    Trial t of every play has the same dice, so that they share their luck.  ``settings.se`` is met when
    the difference between the best play and each other one has no larger standard error.

    For `stakes`, of which the mover is side 0, plays are selected and compared by what their chances are
    worth at the score and with the cube where it lies; within the trials they are chosen as
    ``settings.scoring`` says.  Raises
    `PlayError` for a roll that is none and for no plays, `PositionError` when the game is over,
    `SettingError`.
    """
    settings = settings or RolloutSettings()
    settings.check()
    check_count("candidates", candidates, 1)
    options = _best_by_evaluation(position, roll, evaluator, settings.scoring, candidates, stakes)
    if plays is not None:
        options = list(plays)
    if not options:
        raise PlayError("no plays to compare")
    packed = pack_many(np.array([play.position.board for play in options]))
    worth = partial(_worth, stakes, packed)
    start = time.monotonic()
    (tally,) = tally_trials(
        settings.model_of(evaluator),
        settings,
        packed,
        np.zeros(len(options), np.int64),
        together=len(options),
        after_a_play=True,
        enough=(lambda tally: _errors_to_best(*worth(tally), tally.trials).max() <= settings.se)
        if settings.se > 0
        else None,
        label=f"comparing {len(options)} plays with {evaluator.name}",
        jobs=jobs,
    )
    return Comparison(
        _ranked(options, tally, *worth(tally)), tally.trials, time.monotonic() - start, settings.scoring
    )


def _best_by_evaluation(
    position: Position,
    roll: tuple[int, int],
    evaluator: StaticEvaluator,
    scoring: str,
    count: int,
    stakes: Stakes,
) -> list[Play]:
    legal = legal_plays(position, roll)
    board = position.board[None]
    batch = next(play_batches(board, np.array([checked_roll(*roll)])))
    judge = StaticEvaluator(evaluator.name, playing_for(evaluator.model, scoring), evaluator.weights).staked(
        stakes
    )
    order = np.argsort(-judge.play_equities(board, batch), kind="stable")
    return [legal[k] for k in order[:count]]


def _worth(stakes: Stakes, packed: Board, tally: Tally) -> tuple[Values, Values]:
    """What plays that lead to `packed` (n, 64) are worth to the mover (n,), and the covariance (n, n)."""
    width = len(RESULT_NAMES)
    if stakes.kind == CUBELESS:
        columns = slice(width - 1, None, width)
        return tally.mean()[columns], tally.covariance()[columns, columns]
    means, count = tally.mean().reshape(-1, width)[:, : len(OUTPUTS)], len(packed)
    slopes = np.zeros((count, count * width))
    for column in range(len(OUTPUTS)):
        step = np.zeros(len(OUTPUTS))
        step[column] = _STEP
        rise = _values_to_mover(stakes, packed, means + step) - _values_to_mover(stakes, packed, means - step)
        slopes[np.arange(count), np.arange(count) * width + column] = rise / (2 * _STEP)
    return _values_to_mover(stakes, packed, means), slopes @ tally.covariance() @ slopes.T


def _values_to_mover(stakes: Stakes, packed: Board, means: Values) -> Values:
    """The mover's values (n,) of his chances `means` (n, 5) after his plays."""
    return turned_equities(np.asarray(staked_values(stakes, 1, packed, turned(means))))


def _errors_to_best(equities: Values, covariance: Values, trials: int) -> Values:
    """Standard errors of the differences (n,) between each play and the best one."""
    best = int(np.argmax(equities))
    variances = np.diagonal(covariance)
    squares = variances + variances[best] - 2 * covariance[best]
    squares[best] = 0.0 if trials > 1 else np.nan
    return np.sqrt(np.maximum(squares, 0.0))


def _ranked(
    plays: Sequence[Play], tally: Tally, equities: Values, covariance: Values
) -> tuple[ComparedPlay, ...]:
    shape = (len(plays), len(RESULT_NAMES))
    means, errors = tally.mean().reshape(shape), tally.errors().reshape(shape)
    means[:, -1], errors[:, -1] = equities, np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    differences = means[:, -1] - means[:, -1].max()
    to_best = _errors_to_best(equities, covariance, tally.trials)
    return tuple(
        ComparedPlay(
            plays[k],
            means[k],
            errors[k],
            float(differences[k]),
            float(to_best[k]),
            p_value(float(differences[k]), float(to_best[k])),
        )
        for k in np.argsort(-means[:, -1], kind="stable").tolist()
    )
