"""The opponent's replies to two plays: the rolls that make them differ, and the hits."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motif.analysis.explain.judged import FloatArray
from motif.analysis.phrases import Phrases
from motif.board.movegen import ROLL_COUNTS, ROLLS
from motif.board.moves import Play
from motif.board.outcome import outcome
from motif.board.packed import OPPONENT_BAR, OWN_BAR, Board
from motif.evaluators import Evaluator, LookaheadEvaluator
from motif.evaluators.cube_model import CubeModel
from motif.runtime.streams import THROWS

DICE = 6
_NAMED = 3
"""Maximum number of rolls named."""
_SHARE = 0.5
"""Minimum share of a change that is explained by hits."""
_WORTH_NAMING = 0.05
"""Minimum difference in equity after a roll that is named."""


class ReplySentence(NamedTuple):
    """A sentence on a change, with its phrase and facts."""

    phrase: str
    sentence: str
    facts: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Replies:
    """The opponent's best replies to two plays by roll; values are the mover's."""

    evaluator: str
    values: FloatArray
    """(2, 21): by play and roll, after the reply."""
    hits: tuple[int, int]
    """Number of rolls, of 36, whose best reply hits, by play."""
    hit_rolls: npt.NDArray[np.bool_] = field(repr=False)
    """(2, 21): which rolls hit."""
    risks: tuple[int, int] = (0, 0)
    """How many of the mover's next 36 rolls leave a shot after each play, if the opponent does not move;
    counted while checkers come home past the opponent's."""

    @property
    def differences(self) -> FloatArray:
        """(21,): value of the first play minus that of the second, by roll."""
        return np.asarray(self.values[0] - self.values[1])

    @property
    def difference(self) -> float:
        """The mean difference over all rolls."""
        return float(self.differences @ ROLL_COUNTS) / THROWS

    @property
    def of_hits(self) -> float:
        """The part of `difference` from rolls that hit after either play."""
        either = self.hit_rolls.any(axis=0)
        return float((self.differences * either) @ ROLL_COUNTS) / THROWS

    @property
    def grid(self) -> list[list[float]]:
        """`differences` by the opponent's two dice: 6 rows of 6."""
        table = np.zeros((DICE, DICE))
        high, low = ROLLS.T - 1
        table[high, low] = table[low, high] = self.differences
        return [[float(value) for value in row] for row in table]

    def is_of_hits(self, change: float) -> bool:
        """Return whether hits explain much of the `change` by lookahead."""
        more = self.hits[1] - self.hits[0]
        return change * more > 0 and change * self.of_hits > 0 and abs(self.of_hits) > _SHARE * abs(change)

    def main_reason(self, change: float, names: tuple[str, str], words: Phrases) -> ReplySentence:
        """Return a sentence on the replies behind the `change` by lookahead."""
        better = 0 if change > 0 else 1
        if self.is_of_hits(change):
            hitting, count = self._hitting(1 - better, words), self.hits[1 - better]
            text = words.say("beyond", "hits", play=names[1 - better], rolls=hitting, count=count)
            return ReplySentence("hits", text, {"count": count, "play": 1 - better})
        risk, other = self.risks[better], self.risks[1 - better]
        if self.hits == (0, 0) and risk < other:
            facts = {"count": risk, "others": other}
            text = words.say("beyond", "next_rolls", play=names[better], other=names[1 - better], **facts)
            return ReplySentence("next_rolls", text, {**facts, "play": better})
        return self.of_rolls(change, names, words)

    def of_rolls(self, change: float, names: tuple[str, str], words: Phrases) -> ReplySentence:
        """Return a sentence on the rolls that contribute most to the `change`."""
        better = 0 if change > 0 else 1
        gains = (self.differences if change > 0 else -self.differences) * ROLL_COUNTS
        best = [k for k in np.argsort(-gains, kind="stable")[:_NAMED] if gains[k] > 0]
        if not best:
            return ReplySentence("ahead", words.say("beyond", "ahead", play=names[better]), {})
        rolls = words.listed([_roll(k) for k in sorted(best)])
        return ReplySentence("rolls", words.say("beyond", "rolls", play=names[better], rolls=rolls), {})

    def _hitting(self, play: int, words: Phrases) -> str:
        """Return the rolls that hit after a play; a die whose rolls all hit is named once."""
        hits = self.hit_rolls[play]
        dice = [die for die in range(DICE, 0, -1) if hits[np.isin(ROLLS, die).any(axis=1)].all()]
        rest = hits & ~np.isin(ROLLS, dice).any(axis=1)
        some = [words.say("beyond", "any_die", die=die) for die in dice]
        return words.listed([*some, *(_roll(k) for k in np.flatnonzero(rest).tolist())], "or")

    def sentences(self, names: tuple[str, str], words: Phrases) -> tuple[str, ...]:
        """Return sentences on the important replies; `names` are the names of the plays."""
        lines = []
        if self.hits != (0, 0):
            first, second = self.hits
            facts = {"first": first, "second": second, "amount": words.signed(self.of_hits)}
            lines.append(words.say("detail", "hits", better=names[0], worse=names[1], **facts))
        parts = self.differences * ROLL_COUNTS / THROWS
        for sign, name in ((1, names[0]), (-1, names[1])):
            order = np.argsort(-sign * parts)[:_NAMED]
            rolls = [k for k in order if sign * self.differences[k] > _WORTH_NAMING]
            if rolls:
                named = (f"{_roll(k)} ({words.signed(self.differences[k], 2)})" for k in sorted(rolls))
                lines.append(words.say("detail", "rolls", play=name, rolls=", ".join(named)))
        return tuple(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON record."""
        rolls = {
            f"{high}{low}": float(value)
            for (high, low), value in zip(ROLLS.tolist(), self.differences, strict=True)
        }
        return {
            "player": self.evaluator,
            "difference": self.difference,
            "hits": list(self.hits),
            "of_hits": self.of_hits,
            "rolls": rolls,
        }


def replies(
    evaluator: LookaheadEvaluator,
    better: Play,
    worse: Play,
    cube_model: CubeModel,
    hits: npt.NDArray[np.bool_],
    risks: tuple[int, int] = (0, 0),
) -> Replies:
    """Return the best replies to two plays of side 0; `hits` come from `hit_rolls`."""
    boards = _before_replies((better, worse))
    opponent = evaluator.without_lookahead.with_cube(cube_model, side=1)
    replied = opponent.best_plays(boards, np.tile(ROLLS, (2, 1)))
    values = evaluator.below.with_cube(cube_model, side=0).equity_many(replied.boards).reshape(2, len(ROLLS))
    first, second = (hits @ ROLL_COUNTS).tolist()
    return Replies(evaluator.name, values, (first, second), hits, risks)


def hit_rolls(evaluator: Evaluator, plays: Sequence[Play], cube_model: CubeModel) -> npt.NDArray[np.bool_]:
    """Return which rolls (n, 21) hit after each of `plays` (n,), by the best static reply."""
    hits = np.zeros((len(plays), len(ROLLS)), np.bool_)
    going = [number for number, play in enumerate(plays) if not outcome(play.position)]
    if going:
        boards = _before_replies([plays[number] for number in going])
        replied = evaluator.with_cube(cube_model, side=1).best_plays(boards, np.tile(ROLLS, (len(going), 1)))
        # The board is seen by the opponent before the reply, and by the mover after it.
        before = -boards[:, OPPONENT_BAR]
        hits[going] = (replied.boards[:, OWN_BAR] > before).reshape(len(going), len(ROLLS))
    return hits


def _before_replies(plays: Sequence[Play]) -> Board:
    """Return the boards after `plays`, once for each roll."""
    return np.repeat(np.array([play.position.board for play in plays]), len(ROLLS), axis=0)


def _roll(number: int) -> str:
    """Return the roll with an index in `ROLLS`, such as ``3-1``."""
    return f"{ROLLS[number, 0]}-{ROLLS[number, 1]}"
