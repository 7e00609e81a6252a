"""What the decisions of one player come to: error rates, luck, and the kinds of mistakes with the cube.

A word says how strong a player is who makes so many millipoints of errors a decision.  Words and
thresholds are gnubg's (analysis.c, `aszRating`, `arThrsRating`), so that ratings can be
compared; they take the analysing player's word for what an error is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.analysis.match.decision_errors import KINDS
from motif.analysis.match.decisions import KINDS_OF_DECISION, MARKS, MatchDecision, RollLuck
from motif.benchmark.losses import MILLIPOINTS

THRESHOLDS: tuple[tuple[float, str], ...] = (
    (2, "supernatural"),
    (5, "world class"),
    (8, "expert"),
    (12, "advanced"),
    (18, "intermediate"),
    (26, "casual player"),
    (35, "beginner"),
)
"""Millipoints a decision below which a word holds, ascending."""
WORST = "awful"
GRADES: tuple[tuple[float, str], ...] = (
    (4.0, "grandmaster"),
    (6.0, "master"),
    (10.0, "advanced"),
    (17.5, "intermediate"),
)
"""Performance ratings up to which a grade holds: Rick Janowski's, on bgonline.org on 5 October 2014."""
LOWEST_GRADE = "beginner"
BLUNDER = 0.08
"""Normalised equity from which on an error counts as a blunder; gnubg calls such a play bad."""


@dataclass(frozen=True)
class Errors:
    """Errors of one kind, or of several together."""

    decisions: int
    total: float
    """Normalised equity lost."""
    cost: float
    """Points lost in money play, match winning chances (0 to 1) in a match."""
    blunders: int
    rate: float | None
    """Millipoints of normalised equity a decision; None where nothing was decided."""
    se: float | None
    """Standard error of `rate`, as if decisions were independent; None for fewer than two."""


@dataclass(frozen=True)
class Sum:
    """The luck of rolls, or what mistakes of one kind with the cube lost."""

    count: int
    """How many rolls or mistakes."""
    total: float
    """Normalised equity."""
    result: float
    """Points in money play, match winning chances in a match."""


@dataclass(frozen=True)
class PlayerAnalysis:
    """How one player did."""

    name: str
    chequer: Errors
    cube: Errors
    overall: Errors
    forced: int
    """Rolls that could be played in one way only; they are no decisions."""
    luck: Sum
    mistakes: dict[str, Sum]
    """By kind, in the order of `motif.analysis.match.decision_errors.KINDS`."""
    is_analyst: bool = False
    """Whether he judges himself, at whatever depth: then he is not rated."""
    kinds: dict[str, Errors] = field(default_factory=dict)
    """By `motif.analysis.match.decisions.KINDS_OF_DECISION`, those that occurred."""
    marks: dict[str, int] = field(default_factory=dict)
    """How many decisions were ``doubtful``, ``bad`` and ``very bad``."""
    rolls_of_both: int = 0
    """Rolls of both players that were played, forced ones too."""
    result: float | None = None
    """What came of it: points in money play, MWC gained (-0.5 to 0.5 from even) in a match."""
    luck_adjusted: float | None = None
    """`result` less his own luck and plus the opponent's."""

    @property
    def rating(self) -> str | None:
        """A word for the overall error rate; None where nothing was decided, and for who judges himself."""
        return None if self.overall.rate is None or self.is_analyst else rating(self.overall.rate)

    @property
    def pr(self) -> float | None:
        """Performance rating as eXtreme Gammon has it, 500 times the loss a decision: half the error rate."""
        return None if self.overall.rate is None else self.overall.rate / 2

    @property
    def grade(self) -> str | None:
        """The band of `GRADES` for `pr`; None as for `rating`."""
        if self.pr is None or self.is_analyst:
            return None
        pr = self.pr
        return next((word for limit, word in GRADES if pr <= limit), LOWEST_GRADE)

    @property
    def snowie(self) -> float | None:
        """Snowie's error rate as gnubg has it: millipoints lost a roll of either player, forced ones too."""
        return MILLIPOINTS * self.overall.total / self.rolls_of_both if self.rolls_of_both else None

    def as_dict(self, in_match: bool) -> dict[str, Any]:
        """For JSON; costs are named by their unit."""
        unit = "mwc" if in_match else "points"
        return {
            "name": self.name,
            "rating": self.rating,
            "error_rate": self.overall.rate,
            "error_rate_se": self.overall.se,
            "pr": self.pr,
            "grade": self.grade,
            "snowie_error_rate": self.snowie,
            **{kind: _errors_dict(getattr(self, kind), unit) for kind in ("chequer", "cube", "overall")},
            "forced": self.forced,
            "luck": {"rolls": self.luck.count, "total": self.luck.total, unit: self.luck.result},
            "mistakes": {
                kind: {"count": mistakes.count, "total": mistakes.total, unit: mistakes.result}
                for kind, mistakes in self.mistakes.items()
            },
            "marks": self.marks,
            "kinds": {kind: _errors_dict(errors, unit) for kind, errors in self.kinds.items()},
            "result": self.result,
            "luck_adjusted_result": self.luck_adjusted,
        }


def player_analysis(
    name: str,
    decisions: Sequence[MatchDecision],
    rolls: Sequence[RollLuck],
    *,
    is_analyst: bool = False,
    rolls_of_both: int = 0,
) -> PlayerAnalysis:
    """The totals of one player: of his `decisions` and his `rolls`, of a game, a match or several."""
    plays = [one for one in decisions if one.is_play]
    free = [one for one in plays if one.counts]
    cubes = [one for one in decisions if not one.is_play]
    counted = [one for one in decisions if one.counts]
    mistakes = {}
    for kind in KINDS:
        wrong = [one for one in cubes if one.mistake == kind]
        mistakes[kind] = mistakes_of([one.error for one in wrong], [one.unit for one in wrong])
    by_kind = {kind: [one for one in counted if one.kind == kind] for kind in KINDS_OF_DECISION}
    return PlayerAnalysis(
        name,
        chequer=_errors(free),
        cube=_errors([one for one in cubes if one.counts]),
        overall=_errors([*free, *(one for one in cubes if one.counts)]),
        forced=len(plays) - len(free),
        luck=luck_of(np.array([one.luck for one in rolls]), np.array([one.unit for one in rolls])),
        mistakes=mistakes,
        is_analyst=is_analyst,
        kinds={kind: _errors(some) for kind, some in by_kind.items() if some},
        marks={mark: sum(one.mark == mark for one in counted) for _, mark in reversed(MARKS)},
        rolls_of_both=rolls_of_both,
    )


def _errors(decisions: Sequence[MatchDecision]) -> Errors:
    return errors_of(
        np.array([one.error for one in decisions], np.float64),
        np.array([one.unit for one in decisions], np.float64),
    )


def with_results(
    first: PlayerAnalysis, second: PlayerAnalysis, result: float | None
) -> tuple[PlayerAnalysis, PlayerAnalysis]:
    """Both players, `result` being what came of it for the first."""
    if result is None:
        return first, second
    adjusted = result - first.luck.result + second.luck.result
    return (
        replace(first, result=result, luck_adjusted=adjusted),
        replace(second, result=-result, luck_adjusted=-adjusted),
    )


def rating(error_rate: float) -> str:
    """The word for `error_rate`, in millipoints a decision."""
    return next((word for limit, word in THRESHOLDS if error_rate < limit), WORST)


def errors_of(losses: npt.NDArray[np.float64], units: npt.NDArray[np.float64]) -> Errors:
    """Sum up decisions that cost `losses` (n,) of normalised equity, 1 of which is worth `units` (n,)."""
    count = len(losses)
    return Errors(
        decisions=count,
        total=float(losses.sum()),
        cost=float((losses * units).sum()),
        blunders=int((losses >= BLUNDER).sum()),
        rate=MILLIPOINTS * float(losses.mean()) if count else None,
        se=MILLIPOINTS * float(losses.std(ddof=1)) / math.sqrt(count) if count > 1 else None,
    )


def luck_of(luck: npt.NDArray[np.float64], units: npt.NDArray[np.float64]) -> Sum:
    """Sum up the luck (n,) of rolls, in normalised equity, 1 of which is worth `units` (n,)."""
    return Sum(len(luck), float(luck.sum()), float((luck * units).sum()))


def mistakes_of(losses: Sequence[float], units: Sequence[float]) -> Sum:
    """Sum up mistakes of one kind."""
    cost = sum(loss * unit for loss, unit in zip(losses, units, strict=True))
    return Sum(len(losses), sum(losses), cost)


def _errors_dict(errors: Errors, unit: str) -> dict[str, Any]:
    return {
        "decisions": errors.decisions,
        "error_rate": errors.rate,
        "se": errors.se,
        "total": errors.total,
        unit: errors.cost,
        "blunders": errors.blunders,
    }
