"""What rollouts by several players say of the plays of one roll: a truth that belongs to none of them alone.

Each player, called a roller here, plays out trials of every play with the same dice; a play is worth the mean
of what the rollers say.  One player's trials may cost thirty times what another's do and vary a sixteenth as
much: so at each step the roller plays that lowers the uncertainty most for its cost.  A play gets no more
trials once its difference to the best one is known: to a standard error, or by so many standard errors.

Stopping at a difference of so many standard errors makes it look larger than it is, by about a tenth where
differences are a few standard errors.  Where that matters, a pilot of a few trials says how many the verdict
needs, and does not count: such a difference has no bias (two-stage sampling, after C. Stein, A two-sample
test for a linear hypothesis whose power is independent of the variance, 1945).
The best of several noisy means is too high in either way; differences between plays need no best one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from motif.board.packed import Board
from motif.evaluators.probabilities import OUTPUTS, equities
from motif.rollouts.comparison import Numbers, Stage
from motif.rollouts.tally import Tally, Values

_COLUMNS = len(OUTPUTS) + 1
_GROWTH = 0.5
"""By how much of its trials so far a roller goes on until the next look: few looks mean few false alarms."""


@dataclass(frozen=True)
class Roller:
    """A player that plays out trials."""

    name: str
    play: Callable[[Board, int, int, int], Values]
    """The mover's five probabilities (m, count, 5) in trials of packed boards (m, 64) after plays.

    Of boards, an item, the first trial and the count.  The dice belong to item and trial alone.
    """
    portion: int
    """Trials that are played at least."""
    cost: float
    """What a trial costs beside those of other rollers, in any unit."""


@dataclass(frozen=True)
class Rule:
    """When the difference between a play and the best one counts as known."""

    se: float = 0.012
    """Standard error of the difference, in points, that is enough."""
    certain: float = 3.0
    """So many standard errors of difference are enough, too."""
    most: int = 65_536
    """Trials of one roller after which what is open stays open."""
    pilot: bool = False
    """Whether the first trials only say how many more there are: each play then has as many that `certain`
    standard errors would be the pilot's difference."""


@dataclass(frozen=True)
class RolledPlay:
    """What the trials say of one play, for the mover."""

    number: int
    """Which of the plays it is."""
    probabilities: tuple[float, ...]
    equity: float
    se: float
    """Standard error of `equity`."""
    loss: float
    """Equity that it loses against the best play, 0 or more, from the trials that both had."""
    loss_se: float
    """Standard error of `loss`."""
    trials: tuple[int, ...]
    """Trials by each roller."""
    loss_by: tuple[float, ...]
    """`loss`, as each roller alone has it; below 0 where that one prefers the play."""

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Make one of its fields as JSON has them."""
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in record.items()
        }
        return cls(**fields)


def rolled_plays(
    rollers: Sequence[Roller], packed: Board, item: int, rule: Rule | None = None
) -> list[RolledPlay]:
    """Roll out plays until the difference of each to the best is known, or for as long as the rule allows.

    Parameters
    ----------
    rollers
        They count equally, however many trials each has played.
    packed
        Int8 (m, 64): the boards after the plays, seen by the next player on roll.
    item
        Names the decision: its dice belong to it.
    rule
        When a difference is known.

    Returns
    -------
    list of RolledPlay
        The best first.
    """
    return _Deliberation(rollers, packed, item, rule or Rule()).plays()


class _Look(NamedTuple):
    """Plays that had the same trials up to a look, and what each roller alone says of them."""

    stage: Stage
    parts: tuple[Stage, ...]

    def differences(self, play: int, other: int) -> tuple[float, float, tuple[float, ...]]:
        """Equity of one play less that of another, its standard error, and the difference by each roller."""
        return (
            *self.stage.difference(play, other),
            tuple(part.difference(play, other)[0] for part in self.parts),
        )


class _Deliberation:
    """The trials of one decision, which go on."""

    def __init__(self, rollers: Sequence[Roller], packed: Board, item: int, rule: Rule) -> None:
        self._rollers, self._packed, self._rule = rollers, packed, rule
        self._items = [item * len(rollers) + number for number in range(len(rollers))]
        self._left = np.arange(len(packed))
        self._wanted = np.full(len(packed), rule.se)
        """Standard errors that are enough."""
        self._reference: int | None = None
        """The play with which others are compared; the best so far where there is none."""
        self._before = [0] * len(rollers)
        """Trials of each roller that do not count."""
        self._begin()

    def _begin(self) -> None:
        self._tallies = [Tally(len(self._packed) * _COLUMNS) for _ in self._rollers]
        self._trials = np.zeros((len(self._packed), len(self._rollers)), np.int64)
        for number, roller in enumerate(self._rollers):
            self._play(number, roller.portion)

    def plays(self) -> list[RolledPlay]:
        """Go on until all is known."""
        if self._rule.pilot:
            self._plan()
        looks: list[_Look] = []
        while True:
            look = self._look()
            known = self._known(look.stage)
            if known.any():
                looks.append(look._replace(stage=replace(look.stage, gone=self._left[known])))
                self._keep(~known)
                look = self._look()
            step = self._next_step(look) if len(self._left) > 1 else None
            if step is None:
                return self._ranked([*looks, look])
            self._play(*step)

    def _plan(self) -> None:
        """Let the trials so far say how many there will be, and begin again; unless they are enough."""
        stage = self._look().stage
        difference, error = self._differences(stage)
        self._reference = stage.best
        if (error > self._rule.se).any():
            self._wanted = np.maximum(self._rule.se, np.abs(difference) / self._rule.certain)
            self._before = [tally.trials for tally in self._tallies]
            self._begin()

    def _play(self, number: int, count: int) -> None:
        tally, roller = self._tallies[number], self._rollers[number]
        first = self._before[number] + tally.trials
        rows = roller.play(self._packed[self._left], self._items[number], first, count)
        values = np.concatenate([rows, equities(rows)[..., None]], axis=-1)
        tally.add(values.transpose(1, 0, 2).reshape(count, -1))
        self._trials[self._left, number] = tally.trials

    def _keep(self, kept: npt.NDArray[np.bool_]) -> None:
        columns = np.flatnonzero(np.repeat(kept, _COLUMNS))
        self._tallies = [tally.of_columns(columns) for tally in self._tallies]
        self._left = self._left[kept]

    def _look(self) -> _Look:
        """Return what all rollers together, and each of them, say of the plays that are left."""
        parts = tuple(_equity_stage(tally, self._left) for tally in self._tallies)
        covariance = np.sum([part.covariance for part in parts], axis=0) / len(parts) ** 2
        means = np.mean([part.means for part in parts], axis=0)
        errors = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))[:, None]
        trials = sum(part.trials for part in parts)
        return _Look(Stage(self._left, self._left[:0], means, errors, covariance, trials), parts)

    def _compared_with(self, stage: Stage) -> int:
        return stage.best if self._reference is None else self._reference

    def _differences(self, stage: Stage) -> tuple[Values, Values]:
        """Of the plays that are left to the one they are compared with, and their standard errors: (m,)."""
        other = self._compared_with(stage)
        pairs = [stage.difference(play, other) for play in stage.plays.tolist()]
        difference, error = np.array(pairs).T
        return difference, error

    def _known(self, stage: Stage) -> npt.NDArray[np.bool_]:
        """Whose difference is known (m,); that of the play they are compared with never is."""
        difference, error = self._differences(stage)
        known = error <= self._wanted[self._left]
        if not self._rule.pilot:
            known |= np.abs(difference) >= self._rule.certain * error
        known[stage.place(self._compared_with(stage))] = False
        return known

    def _next_step(self, look: _Look) -> tuple[int, int] | None:
        """Who plays on, and how many trials; None where the rule allows no more."""
        stage, other = look.stage, self._compared_with(look.stage)
        _, errors = self._differences(stage)
        open_play = int(stage.plays[int(np.argmax(errors / self._wanted[self._left]))])
        wanted = (self._wanted[open_play] * len(self._rollers)) ** 2
        variances = [part.difference(open_play, other)[1] ** 2 for part in look.parts]
        excess = sum(variances) - wanted
        steps = []
        for number, (roller, tally) in enumerate(zip(self._rollers, self._tallies, strict=True)):
            trials, variance = tally.trials, variances[number]
            count = max(roller.portion, int(_GROWTH * trials))
            if variance > excess:
                count = min(count, max(1, int(np.ceil(trials * excess / (variance - excess)))))
            count = -(-count // roller.portion) * roller.portion
            if trials + count <= self._rule.most and variance > 0:
                gain = variance * count / (trials + count)
                steps.append((gain / (count * roller.cost), number, count))
        if not steps:
            return None
        _, number, count = max(steps)
        return number, count

    def _ranked(self, looks: list[_Look]) -> list[RolledPlay]:
        last = looks[-1].stage
        rows = [
            (which, number, look.differences(number, last.best))
            for which, look in enumerate(looks)
            for number in (look.stage.gone if look.stage is not last else last.plays).tolist()
        ]
        # A play that got no more trials may end a hair ahead of those that had them: it is the best then.
        first, best, (top_difference, _, top_by) = max(rows, key=lambda row: row[2])
        top = float(last.means[last.place(last.best), -1]) + top_difference
        plays = []
        for which, number, (difference, _, by_roller) in rows:
            stage = looks[which].stage
            place = stage.place(number)
            loss = top_difference - difference
            # Both were there at the earlier of their last looks.
            _, error = looks[min(first, which)].stage.difference(number, best)
            plays.append(
                RolledPlay(
                    number,
                    tuple(stage.means[place, :-1].tolist()),
                    top - loss,
                    float(stage.errors[place, -1]),
                    loss,
                    error,
                    tuple(self._trials[number].tolist()),
                    tuple(most - own for most, own in zip(top_by, by_roller, strict=True)),
                )
            )
        return sorted(plays, key=lambda play: (play.loss, play.number))


def _equity_stage(tally: Tally, plays: Numbers) -> Stage:
    """Return what one roller says of `plays`: the means of all columns, the covariance of the equities."""
    means = tally.mean().reshape(len(plays), _COLUMNS)
    columns = np.arange(len(plays)) * _COLUMNS + _COLUMNS - 1
    covariance = tally.covariance()[np.ix_(columns, columns)]
    errors = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))[:, None]
    return Stage(plays, plays[:0], means, errors, covariance, tally.trials)
