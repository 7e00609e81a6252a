"""What the cube decisions of a match cost.

Every turn on which the player on roll may double is judged, and every answer to a double.  As gnubg does, a
double that was not made is counted as a decision only where it was close: where doubling would have cost
less than `CLOSE`, or would have been right.  Doubles, takes and passes always count; a beaver is judged as a
take, and a raccoon is not judged.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from motif.cube import CubeDecision, cube_decision_at
from motif.evaluators import Evaluator, Probabilities
from motif.reports.match_analysis.record_walk import CubeChance
from motif.reports.match_analysis.values import stakes_of

CLOSE = 0.16
"""Normalised equity that a double costs at most where leaving the cube alone is a decision (gnubg's
`isCloseCubedecision`)."""

MISSED_DOUBLE, WRONG_DOUBLE, WRONG_TAKE, WRONG_PASS = KINDS = (
    "missed double",
    "wrong double",
    "wrong take",
    "wrong pass",
)

NO_DOUBLE, DOUBLE, TAKE, PASS = "no double", "double", "take", "pass"
_MISTAKES = {NO_DOUBLE: MISSED_DOUBLE, DOUBLE: WRONG_DOUBLE, TAKE: WRONG_TAKE, PASS: WRONG_PASS}

_NEGLIGIBLE = 1e-6
"""Probabilities are float32: less than this is no mistake."""


@dataclass(frozen=True)
class CubeAct:
    """A double, one that was not made, a take or a pass, and what it cost."""

    chance: CubeChance
    decision: CubeDecision
    player: int
    """Who decided."""
    done: str
    """``no double``, ``double``, ``take`` or ``pass``."""
    error: float
    """Normalised equity that it cost, at least 0."""
    unit: float
    """What 1 of normalised equity was worth, in points or MWC."""

    @property
    def mistake(self) -> str | None:
        """Which of `KINDS` it was; None where it cost nothing."""
        return _MISTAKES[self.done] if self.error > _NEGLIGIBLE else None

    @property
    def counts(self) -> bool:
        """Whether it counts as a decision."""
        if self.done != NO_DOUBLE or self.mistake:
            return True
        return self.decision.cost(DOUBLE) < CLOSE


def judge_cube(chances: Sequence[CubeChance], evaluator: Evaluator) -> list[CubeAct]:
    """What was done at each of `chances`, and its answer, by the five probabilities of `evaluator`."""
    if not chances:
        return []
    boards = np.array([chance.position.board for chance in chances])
    rows = evaluator.evaluate_many(boards).astype(np.float64).tolist()
    acts: list[CubeAct] = []
    for chance, row in zip(chances, rows, strict=True):
        acts += _acts(chance, cube_decision_at(chance.position, Probabilities(*row), chance.state))
    return acts


def _acts(chance: CubeChance, decision: CubeDecision) -> Iterator[CubeAct]:
    unit = stakes_of(chance.state).unit
    done = [(chance.player, DOUBLE if chance.doubled else NO_DOUBLE)]
    if chance.answer is not None:
        done.append((1 - chance.player, PASS if chance.answer == "drop" else TAKE))
    for player, act in done:
        yield CubeAct(chance, decision, player, act, decision.cost(act), unit)
