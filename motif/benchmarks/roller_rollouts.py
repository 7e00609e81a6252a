"""Rollouts of the plays of one roll by several players, called rollers.

Each roller plays trials of every play with the same dice; the estimate for a play is the mean over the
rollers. The trials of one roller may cost thirty times as much as those of another and have a sixteenth of
the variance, so each step chooses the roller that reduces the uncertainty most per unit of cost. The rollout
of a play stops when its difference from the best play is known: the standard error is small enough, or the
difference is a large enough multiple of it.

Stopping at a multiple of the standard error biases differences upwards, by about a tenth at a few standard
errors.  To avoid this, a pilot of a few trials, which are then discarded, determines the number of trials
(two-stage sampling, after C. Stein, A two-sample test for a linear hypothesis whose power is independent of
the variance, 1945).  In both cases the best of several noisy means is biased upwards; differences between
plays are not affected.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from motif.board.packed import Board
from motif.evaluators.probabilities import HEADS, equities
from motif.rollouts.comparison import Stage, stage_of
from motif.rollouts.tally import Tally, standard_errors
from motif.runtime.arrays import BoolArray, FloatArray

_GROWTH = 0.5
"""Trials between two looks, relative to the trials so far; fewer looks mean fewer false alarms."""


@dataclass(frozen=True)
class Roller:
    """A player that rolls out plays."""

    name: str
    play: Callable[[Board, int, int, int], FloatArray]
    """Return the mover's five probabilities (m, count, 5) in trials of packed boards (m, 64).

    The arguments are the boards after plays, an item, the first trial and the count.  Dice depend only on
    item and trial.
    """
    portion: int
    """Minimum number of trials per call."""
    cost: float
    """Cost of a trial, relative to other rollers."""


@dataclass(frozen=True)
class Rule:
    """Rule for when the difference between a play and the best one is known."""

    se: float = 0.012
    """Sufficient standard error of the difference, in points."""
    certain: float = 3.0
    """Sufficient difference, in standard errors."""
    most: int = 65_536
    """Maximum trials per roller."""
    pilot: bool = False
    """Whether the first trials are a pilot that only determines the number of trials, at which `certain`
    standard errors equal the pilot's difference.
    """


@dataclass(frozen=True)
class RolledPlay:
    """Rollout of one play, for the mover."""

    number: int
    """Row number of the play."""
    probabilities: tuple[float, ...]
    equity: float
    se: float
    """Standard error of `equity`."""
    loss: float
    """Loss against the best play, at least 0, from the trials that both plays had."""
    loss_se: float
    """Standard error of `loss`."""
    trials: tuple[int, ...]
    """Trials by roller."""
    loss_by: tuple[float, ...]
    """`loss` by roller; negative if the roller prefers the play."""

    @classmethod
    def from_dict(cls, record: Mapping[str, object]) -> Self:
        """Return a play from its JSON fields."""
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in record.items()
        }
        return cls(**fields)


def rolled_plays(
    rollers: Sequence[Roller], packed: Board, item: int, rule: Rule | None = None
) -> list[RolledPlay]:
    """Roll out plays until the difference of each from the best is known by `rule`; return them, best first.

    The rollers have equal weights whatever their numbers of trials. `packed` are the boards int8 (m, 64)
    after the plays, from the perspective of the next player on roll; `item` determines the dice.
    """
    return _DecisionRollout(rollers, packed, item, rule or Rule()).plays()


class _Look(NamedTuple):
    """Means of plays with the same trials up to a look, for all rollers together and for each one."""

    stage: Stage
    parts: tuple[Stage, ...]

    def differences(self, play: int, other: int) -> tuple[float, float, tuple[float, ...]]:
        """Return the difference of two plays' equities, its standard error, and the difference by roller."""
        return (
            *self.stage.difference(play, other),
            tuple(part.difference(play, other)[0] for part in self.parts),
        )


class _DecisionRollout:
    def __init__(self, rollers: Sequence[Roller], packed: Board, item: int, rule: Rule) -> None:
        self._rollers, self._packed, self._rule = rollers, packed, rule
        self._items = [item * len(rollers) + number for number in range(len(rollers))]
        self._left = np.arange(len(packed))
        self._wanted = np.full(len(packed), rule.se)
        """Sufficient standard errors of the differences."""
        self._reference: int | None = None
        """The play with which others are compared; by default the best play so far."""
        self._before = [0] * len(rollers)
        """Discarded trials of each roller."""
        self._begin()

    def _begin(self) -> None:
        self._tallies = [Tally(len(self._packed) * len(HEADS)) for _ in self._rollers]
        self._trials = np.zeros((len(self._packed), len(self._rollers)), np.int64)
        for number, roller in enumerate(self._rollers):
            self._play(number, roller.portion)

    def plays(self) -> list[RolledPlay]:
        """Continue until all differences are known."""
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
        """Plan the number of trials from those so far and restart, unless they suffice."""
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

    def _keep(self, kept: BoolArray) -> None:
        columns = np.flatnonzero(np.repeat(kept, len(HEADS)))
        self._tallies = [tally.of_columns(columns) for tally in self._tallies]
        self._left = self._left[kept]

    def _look(self) -> _Look:
        """Return the results for the remaining plays, of all rollers together and of each one."""
        parts = tuple(stage_of(tally, self._left) for tally in self._tallies)
        covariance = np.sum([part.covariance for part in parts], axis=0) / len(parts) ** 2
        means = np.mean([part.means for part in parts], axis=0)
        errors = standard_errors(covariance)[:, None]
        trials = sum(part.trials for part in parts)
        return _Look(Stage(self._left, self._left[:0], means, errors, covariance, trials), parts)

    def _compared_with(self, stage: Stage) -> int:
        return stage.best if self._reference is None else self._reference

    def _differences(self, stage: Stage) -> tuple[FloatArray, FloatArray]:
        """Return the differences (m,) of the remaining plays to the reference, with standard errors."""
        other = self._compared_with(stage)
        pairs = [stage.difference(play, other) for play in stage.plays.tolist()]
        difference, error = np.array(pairs).T
        return difference, error

    def _known(self, stage: Stage) -> BoolArray:
        """Return which plays have a known difference (m,); never the reference."""
        difference, error = self._differences(stage)
        known = error <= self._wanted[self._left]
        if not self._rule.pilot:
            known |= np.abs(difference) >= self._rule.certain * error
        known[stage.place(self._compared_with(stage))] = False
        return known

    def _next_step(self, look: _Look) -> tuple[int, int] | None:
        """Return the next roller and its trials, or None if the rule allows no more."""
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
            portions = min(-(-count // roller.portion), (self._rule.most - trials) // roller.portion)
            count = portions * roller.portion
            if count > 0 and variance > 0:
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
        # A play whose rollout stopped early may end slightly ahead of the others; it is then the best play.
        first, best, (top_difference, _, top_by) = max(rows, key=lambda row: row[2])
        top = float(last.means[last.place(last.best), -1]) + top_difference
        plays = []
        for which, number, (difference, _, by_roller) in rows:
            stage = looks[which].stage
            place = stage.place(number)
            loss = top_difference - difference
            # Both plays were present at the earlier of their last looks.
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
