"""Plays of a decision rolled out with the same dice, each dropped once it is certain to be worse.

All plays that are left have the same trials.  After 72 of them, 108, 144, 216, 288, 432 and so on the plays
are compared, and one that some other play beats for certain is dropped: later trials go where they matter.

The error rate a is that of a whole decision: the best play is dropped with chance a at most.  Of n plays
it has n - 1 rivals, and meets each at most as often as there are looks; with a / ((n - 1) looks) for each
such comparison, all of them together come to a at most (Bonferroni), however they depend on each other.
A comparison is a one-sided t test of the mean paired difference, its variance that of `Tally`, which knows
what stratified dice leave to chance.  One thing such a test cannot know is what has not happened yet: a
rare disaster, say, of the play that was a little better in every trial so far.  So one trial more is
imagined, in which the play that is behind wins `IMAGINED` points more than the other.

Source of the looks and the division of the error rate among them: group sequential tests, as in C. Jennison
and B. Turnbull, Group Sequential Methods with Applications to Clinical Trials (2000), chapters 1 and 2.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from motif.board.movegen import ROLLS
from motif.rollout.playout import ROUND
from motif.rollout.tally import RollsOf, Tally, Values

IMAGINED = 2.0
"""Points by which the play that is behind wins the imagined trial: a game won, and not lost."""
_FIRST_LOOKS = (2, 3)
"""Rounds of trials before the first two looks; each pair of looks later has twice as many."""
_EFFECTS = 2 * len(ROLLS) - 1
"""What a fit with an effect of the first roll and one of the second takes from the degrees of freedom."""

Numbers = npt.NDArray[np.intp]
Play = Callable[[Numbers, int, int], Values]
"""Results (m, count, columns) of trials `first`, ..., `first` + `count` - 1 of the m plays of those numbers.

The last column is the equity of the mover."""
StageOf = Callable[[Tally, Numbers], "Stage"]
"""What a tally says of plays, whose columns stand in it one play after the other."""


@dataclass(frozen=True)
class Stage:
    """Plays that had the same trials, up to a look at which some were dropped, or to the end."""

    plays: Numbers
    """(m,): numbers of the plays."""
    gone: Numbers
    """(k,): which of them were dropped at that look; none at the end."""
    means: Values
    """(m, columns)"""
    errors: Values
    """(m, columns): standard errors of `means`."""
    covariance: Values
    """(m, m): covariance of the mean equities."""
    trials: int

    @property
    def best(self) -> int:
        """Number of the play with the highest equity, the first of several."""
        return int(self.plays[np.argmax(self.means[:, -1])])

    def place(self, play: int) -> int:
        """Which of `plays` the play of this number is."""
        return int(np.searchsorted(self.plays, play))

    def difference(self, play: int, other: int) -> tuple[float, float]:
        """Equity of one play less that of another one, and its standard error, from their common trials."""
        i, j = self.place(play), self.place(other)
        if i == j:
            return 0.0, 0.0 if self.trials > 1 else np.nan
        square = self.covariance[i, i] + self.covariance[j, j] - 2 * self.covariance[i, j]
        return float(self.means[i, -1] - self.means[j, -1]), float(np.sqrt(np.maximum(square, 0.0)))


def stage_of(tally: Tally, plays: Numbers) -> Stage:
    """What `tally` says of `plays`, whose columns stand in it one play after the other; none is dropped."""
    shape = (len(plays), -1)
    means, covariance = tally.mean().reshape(shape), tally.covariance()
    equities = slice(means.shape[1] - 1, None, means.shape[1])
    # Rounding can leave a hair below zero where all trials agree.
    errors = np.sqrt(np.maximum(np.diagonal(covariance), 0.0)).reshape(shape)
    return Stage(plays, plays[:0], means, errors, covariance[equities, equities], tally.trials)


def looks(trials: int) -> list[int]:
    """The numbers of trials after which plays are compared, up to `trials`, the last."""
    numbers: list[int] = []
    first, second = (rounds * ROUND for rounds in _FIRST_LOOKS)
    while first < trials:
        numbers += [first, second]
        first, second = 2 * first, 2 * second
    return [*(number for number in numbers if number < trials), trials]


def eliminated(
    play: Play,
    plays: int,
    trials: int,
    error_rate: float,
    *,
    columns: int = 1,
    rolls_of: RollsOf | None = None,
    staged: StageOf = stage_of,
    enough: Callable[[Stage], bool] | None = None,
) -> list[Stage]:
    """Let `play` roll out that many plays until one is left, or for `trials` trials.

    The best play is dropped with chance `error_rate` at most.  It also ends as soon as `enough` says so of
    the plays that are left.  Each stage but the last drops plays; the last holds those that were left.
    `rolls_of` tells the first rolls of stratified trials, as for a `Tally`; `staged` gives the mover's
    equities and their errors where they are no means of the last column.
    """
    schedule = looks(trials)
    chance = error_rate / (len(schedule) * max(plays - 1, 1))
    left = np.arange(plays)
    tally = Tally(plays * columns, rolls_of)
    stages: list[Stage] = []
    for look in schedule:
        values = play(left, tally.trials, look - tally.trials)
        tally.add(values.transpose(1, 0, 2).reshape(-1, len(left) * columns))
        stage = staged(tally, left)
        worse = _certainly_worse(stage, chance, rolls_of is not None)
        if worse.any():
            stages.append(replace(stage, gone=left[worse]))
            left = left[~worse]
            tally = tally.of_columns(np.flatnonzero(np.repeat(~worse, columns)))
            stage = staged(tally, left)
        if len(left) == 1 or look == trials or (enough and enough(stage)):
            stages.append(stage)
            break
    return stages


def _certainly_worse(stage: Stage, chance: float, stratified: bool) -> npt.NDArray[np.bool_]:
    """Which of the plays (m,) another one beats with such a `chance` at most that it is not better."""
    n = stage.trials
    freedom = n - (_EFFECTS if stratified else 1)
    if freedom < 1:
        return np.zeros(len(stage.plays), np.bool_)
    equities, variances = stage.means[:, -1], np.diagonal(stage.covariance)
    ahead = equities - equities[:, None]  # [k, j]: of play j against play k
    squares = np.maximum(variances + variances[:, None] - 2 * stage.covariance, 0.0)
    # With a trial of -IMAGINED more: its mean, and the squares that it adds to those of the others.
    mean = (n * ahead - IMAGINED) / (n + 1)
    added = (ahead + IMAGINED) ** 2 * n / (n + 1)
    error = np.sqrt(n**2 * squares + added) / (n + 1)
    return (mean > -stdtrit(freedom, chance) * error).any(axis=1)
