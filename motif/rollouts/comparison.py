"""Compare plays of one roll by rollouts with the same dice, optionally dropping worse plays early.

All remaining plays have the same number of trials.  After 72, 108, 144, 216, 288, 432 (and so on) trials,
the plays are compared, and plays that are significantly worse than another play are dropped, which saves
trials for close plays.

The significance level a applies to a whole decision: the probability of dropping the best play is at most
a.  The best of n plays is compared with n - 1 rivals at every look.  Each comparison has the level a / ((n -
1) looks), so that all comparisons together stay below a (Bonferroni), however they are correlated.  A
comparison is a one-sided t test of the mean paired difference, with the variance from `Tally`, which
accounts for stratified dice.  The test does not account for rare results that have not occurred yet, such
as a disaster for a play that was slightly better in every trial.  Therefore an imaginary trial is added in
which the play that is behind wins by `IMAGINED` points.

The looks and the division of the significance level follow group sequential tests; see C. Jennison and B.
Turnbull, Group Sequential Methods with Applications to Clinical Trials (2000), chapters 1 and 2.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.board.identifiers import gnubg_id
from motif.board.movegen import ROLLS
from motif.board.moves import Play, checked_roll, legal_plays, play_batches
from motif.board.packed import Board, pack_many
from motif.board.position import Position
from motif.evaluators import OUTPUTS, Evaluator
from motif.evaluators.cube_model import NO_CUBE, CubeModel
from motif.evaluators.probabilities import HEADS
from motif.rollouts.playout import ROUND, items_of
from motif.rollouts.rollout_settings import RolloutSettings, valued_for
from motif.rollouts.tally import RollsOf, Tally, p_value, standard_errors
from motif.rollouts.trials import CubeStart, by_name, results_of_trials, tally_trials
from motif.runtime.arrays import BoolArray, FloatArray
from motif.runtime.errors import PlayError
from motif.runtime.frames import Tabular
from motif.runtime.progress import Stopwatch, progress
from motif.runtime.settings import check_count

CANDIDATES = 5
"""Number of plays compared by default."""
DOUBT = 0.05
"""Doubt below which the best play counts as settled."""

IMAGINED = 2.0
"""Points by which the play that is behind wins the imaginary trial: a win instead of a loss."""
_FIRST_LOOKS = (2, 3)
"""Rounds of trials before the first two looks; the numbers double for each later pair of looks."""
_EFFECTS = 2 * len(ROLLS) - 1
"""Degrees of freedom of the effects of the first and of the second roll."""

PlayNumbers = npt.NDArray[np.intp]
PlayTrials = Callable[[PlayNumbers, int, int], FloatArray]
"""Function from the numbers of m plays, `first` and `count` to the results (m, count, columns) of trials
`first`, ..., `first` + `count` - 1; the last column is the equity of the mover."""


@dataclass(frozen=True)
class Stage:
    """Plays with equally many trials, up to a look at which some were dropped or to the end."""

    plays: PlayNumbers
    """Numbers of the plays (m,)."""
    gone: PlayNumbers
    """Numbers of the plays (k,) dropped at the look; empty at the end."""
    means: FloatArray
    """(m, columns)"""
    errors: FloatArray
    """Standard errors of `means` (m, columns)."""
    covariance: FloatArray
    """Covariance of the mean equities (m, m)."""
    trials: int

    @property
    def best(self) -> int:
        """Number of the play with the highest equity (the first, if several are equal)."""
        return int(self.plays[np.argmax(self.means[:, -1])])

    def place(self, play: int) -> int:
        """Return the index of the play number `play` in `plays`."""
        return int(np.searchsorted(self.plays, play))

    def difference(self, play: int, other: int) -> tuple[float, float]:
        """Return the equity of one play minus another's, and its standard error, from common trials."""
        i, j = self.place(play), self.place(other)
        if i == j:
            return 0.0, 0.0 if self.trials > 1 else np.nan
        square = self.covariance[i, i] + self.covariance[j, j] - 2 * self.covariance[i, j]
        return float(self.means[i, -1] - self.means[j, -1]), float(np.sqrt(np.maximum(square, 0.0)))

    @property
    def largest_error(self) -> float:
        """The largest standard error of a difference from the best play."""
        best = self.best
        return float(np.max([self.difference(play, best)[1] for play in self.plays.tolist()]))


def stage_of(tally: Tally, plays: PlayNumbers) -> Stage:
    """Return the stage of `plays` in `tally`, whose columns are in the order of `plays`; none are dropped."""
    shape = (len(plays), -1)
    means, covariance = tally.mean().reshape(shape), tally.covariance()
    equities = slice(means.shape[1] - 1, None, means.shape[1])
    errors = standard_errors(covariance).reshape(shape)
    return Stage(plays, plays[:0], means, errors, covariance[equities, equities], tally.trials)


def looks(trials: int) -> list[int]:
    """Return the numbers of trials after which plays are compared; the last is `trials`."""
    numbers = (rounds * ROUND << pair for pair in range(trials.bit_length()) for rounds in _FIRST_LOOKS)
    return [*(number for number in numbers if number < trials), trials]


def eliminated(
    play: PlayTrials,
    plays: int,
    trials: int,
    significance: float,
    *,
    columns: int = 1,
    rolls_of: RollsOf | None = None,
    se: float = 0.0,
) -> list[Stage]:
    """Roll out a number of `plays` with `play` until one remains, or for `trials` trials.

    The best play is dropped with a probability of at most `significance`. The rollouts also end when the
    `Stage.largest_error` is at most `se`, if that is above 0.  At each stage except the last, plays are
    dropped; the last stage has the remaining plays.  `rolls_of` returns the first rolls of stratified
    trials, as for a `Tally`.
    """
    schedule = looks(trials)
    chance = significance / (len(schedule) * max(plays - 1, 1))
    # Above a half, the best play would go, too; `stdtrit` knows no chances below the normal numbers.
    chance = min(max(chance, sys.float_info.min), 0.5)
    left = np.arange(plays)
    tally = Tally(plays * columns, rolls_of)
    stages: list[Stage] = []
    for look in schedule:
        values = play(left, tally.trials, look - tally.trials)
        tally.add(values.transpose(1, 0, 2).reshape(-1, len(left) * columns))
        stage = stage_of(tally, left)
        worse = _certainly_worse(stage, chance, rolls_of is not None)
        if worse.any():
            stages.append(replace(stage, gone=left[worse]))
            left = left[~worse]
            tally = tally.of_columns(np.flatnonzero(np.repeat(~worse, columns)))
            stage = stage_of(tally, left)
        if len(left) == 1 or look == trials or 0 < se >= stage.largest_error:
            stages.append(stage)
            break
    return stages


def _certainly_worse(stage: Stage, chance: float, stratified: bool) -> BoolArray:
    """Return which of the plays (m,) are worse than another play at the significance level `chance`."""
    # Import here, because SciPy's special functions take a tenth of a second to import.
    from scipy.special import stdtrit

    n = stage.trials
    freedom = n - (_EFFECTS if stratified else 1)
    if freedom < 1:
        return np.zeros(len(stage.plays), np.bool_)
    equities, variances = stage.means[:, -1], np.diagonal(stage.covariance)
    ahead = equities - equities[:, None]  # [k, j]: of play j against play k
    squares = np.maximum(variances + variances[:, None] - 2 * stage.covariance, 0.0)
    # Mean and squares with the imaginary trial, whose result is -IMAGINED.
    mean = (n * ahead - IMAGINED) / (n + 1)
    added = (ahead + IMAGINED) ** 2 * n / (n + 1)
    error = np.sqrt(n**2 * squares + added) / (n + 1)
    return (mean > -stdtrit(freedom, chance) * error).any(axis=1)


@dataclass(frozen=True, eq=False)
class ComparedPlay:
    """A play in a comparison; all values are for the mover."""

    play: Play
    trials: int
    dropped: bool
    """Whether the play was dropped as significantly worse."""
    mean: FloatArray
    """Five probabilities and the equity (6,), which is cubeful with a cube in play."""
    se: FloatArray
    """Standard errors of `mean` (6,)."""
    difference: float
    """Equity minus the best play's equity in their common trials; at most 0 unless dropped."""
    difference_se: float
    """Standard error of `difference`; common dice make it smaller than the errors of the equities."""

    @property
    def p_value(self) -> float:
        """Two-sided p-value of `difference`."""
        return p_value(self.difference, self.difference_se, self.trials)

    def to_dict(self) -> dict[str, object]:
        """Return all fields by name, for JSON."""
        return {
            "notation": self.play.notation,
            "position": gnubg_id(self.play.position),
            "equity": float(self.mean[-1]),
            "difference": self.difference,
            "difference_se": self.difference_se,
            "p_value": self.p_value,
            "mean": by_name(self.mean),
            "se": by_name(self.se),
            "trials": self.trials,
            "dropped": self.dropped,
        }


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Tabular):
    """A comparison of plays, the best first and the dropped plays last."""

    plays: tuple[ComparedPlay, ...]
    trials: int
    """Number of trials of each remaining play."""
    seconds: float
    scoring: str
    significance: float | None
    """Maximum probability that the best play was dropped; None without elimination."""

    @property
    def best(self) -> Play:
        """The best play."""
        return self.plays[0].play

    def to_dict(self) -> dict[str, object]:
        """Return all fields by name, for JSON."""
        return {
            "plays": [compared.to_dict() for compared in self.plays],
            "doubt": self.doubt,
            "settled": self.settled,
            "significance": self.significance,
            "trials": self.trials,
            "seconds": self.seconds,
            "trials_per_second": self.trials_per_second,
        }

    _printed = "play", "equity", "equity_se", "difference", "difference_se", "p_value", "trials", "dropped"

    def records(self) -> list[dict[str, object]]:
        """Return a dict for each play; the probabilities are those of the mover, like the equity."""
        return [
            {
                "play": of.play.notation,
                "equity": float(of.mean[-1]),
                "equity_se": float(of.se[-1]),
                "difference": of.difference,
                "difference_se": of.difference_se,
                "p_value": of.p_value,
                "trials": of.trials,
                "dropped": of.dropped,
                **{name: float(of.mean[k]) for k, name in enumerate(OUTPUTS)},
                **{f"{name}_se": float(of.se[k]) for k, name in enumerate(OUTPUTS)},
            }
            for of in self.plays
        ]

    @property
    def left(self) -> tuple[ComparedPlay, ...]:
        """Plays that were not dropped."""
        return tuple(play for play in self.plays if not play.dropped)

    @property
    def doubt(self) -> float:
        """Sum of the p-values of the best play's rivals (Bonferroni), at most 1.

        All dropped plays together add the significance level to the sum.
        """
        dropped = self.significance if self.significance and len(self.left) < len(self.plays) else 0.0
        return float(min(1.0, dropped + sum(rival.p_value for rival in self.left[1:])))

    @property
    def settled(self) -> bool:
        """Whether the best play is significantly better than all others.

        With elimination, this is the case if no other play remains.
        """
        return self.doubt < DOUBT if self.significance is None else len(self.left) == 1

    @property
    def all_trials(self) -> int:
        """Total number of trials of all plays."""
        return sum(play.trials for play in self.plays)

    @property
    def trials_per_second(self) -> float:
        """Trials of all plays per second."""
        return self.all_trials / self.seconds if self.seconds > 0 else 0.0


def cube_after_play(cube_model: CubeModel) -> CubeStart | None:
    """Return how the cube starts in games after the play of side 0; None without a cube and a match."""
    if cube_model.is_cubeless:
        return None
    return CubeStart(cube_model, (cube_model.state,), side=1, doubles_first=True)


def compare_plays(
    position: Position,
    roll: tuple[int, int],
    evaluator: Evaluator,
    settings: RolloutSettings | None = None,
    *,
    plays: Sequence[Play] | None = None,
    candidates: int = CANDIDATES,
    cube_model: CubeModel = NO_CUBE,
    jobs: int | None = None,
) -> Comparison:
    """Roll out `plays` of a roll, or the `candidates` best plays by static evaluation, with the same dice.

    Plays that lead to the same position are one play.
    Trial t of every play has the same dice, which depend on the position and ``settings.seed``.  With
    ``settings.eliminate``, plays that are significantly worse than another play are dropped.
    ``settings.se`` is the standard error to reach for the differences between the best play and all
    remaining plays.

    With a `cube_model`, whose side 0 is the mover, both sides double within the trials, beginning with the
    opponent, and choose their plays with the current cube; equities are the results of the games.  Raises
    `PlayError` for an invalid roll or if there are no plays, `PositionError` if the game is over, and
    `SettingError` for invalid settings.
    """
    settings = settings or RolloutSettings()
    cube = cube_after_play(cube_model)
    settings.check(with_cube=cube is not None)
    check_count("candidates", candidates, 1)
    judge = valued_for(evaluator, settings.scoring).with_cube(cube_model)
    legal = legal_plays(position, roll)
    if plays is None:
        options = _best_by_evaluation(position, roll, legal, judge)[:candidates]
    else:
        options = list({play.position: play for play in plays}.values())
    if not options:
        raise PlayError("no plays to compare")
    stopwatch = Stopwatch()
    stages = _stages(
        pack_many(np.array([play.position.board for play in options])),
        int(items_of(pack_many(position.board[None]))[0]),
        settings.player_of(evaluator),
        settings,
        cube,
        f"comparing {len(options)} plays with {evaluator.name}",
        jobs,
    )
    return Comparison(
        _ranked(options, stages),
        stages[-1].trials,
        stopwatch.seconds,
        settings.scoring,
        settings.significance if settings.eliminate else None,
    )


def _best_by_evaluation(
    position: Position, roll: tuple[int, int], legal: Sequence[Play], judge: Evaluator
) -> list[Play]:
    """Return the `legal` plays, best first."""
    board = position.board[None]
    batch = next(play_batches(board, np.array([checked_roll(*roll)])))
    order = np.argsort(-judge.play_equities(board, batch), kind="stable")
    return [legal[k] for k in order]


def _stages(
    packed: Board,
    item: int,
    player: Evaluator,
    settings: RolloutSettings,
    cube: CubeStart | None,
    label: str,
    jobs: int | None,
) -> list[Stage]:
    """Roll out the plays that lead to the boards `packed` (n, 64) with the dice of `item`."""
    count = len(packed)
    options: dict[str, Any] = {"after_a_play": True, "cube": cube, "jobs": jobs}
    if not settings.eliminate:
        every, items = np.arange(count), np.full(count, item)
        options |= {"label": label, "error_of": lambda tally: stage_of(tally, every).largest_error}
        (tally,) = tally_trials(player, settings, packed, items, together=count, **options)
        return [stage_of(tally, every)]
    with progress(label, settings.trials) as advance:

        def play(plays: PlayNumbers, first: int, count: int) -> FloatArray:
            items = np.full(len(plays), item)
            results = results_of_trials(player, settings, packed[plays], items, first, count, **options)
            advance(count)
            return results

        return eliminated(
            play,
            count,
            settings.trials,
            settings.significance,
            columns=len(HEADS),
            rolls_of=settings.rolls_of(item),
            se=settings.se,
        )


def _ranked(options: Sequence[Play], stages: Sequence[Stage]) -> tuple[ComparedPlay, ...]:
    """Return the remaining plays by equity, followed by the dropped plays by their loss."""
    best = stages[-1].best
    ranked = []
    for stage in reversed(stages):
        dropped = stage is not stages[-1]
        for number in (stage.gone if dropped else stage.plays).tolist():
            play, place = options[number], stage.place(number)
            results = stage.means[place], stage.errors[place], *stage.difference(number, best)
            ranked.append(ComparedPlay(play, stage.trials, dropped, *results))
    return tuple(sorted(ranked, key=lambda it: (it.dropped, -it.difference)))
