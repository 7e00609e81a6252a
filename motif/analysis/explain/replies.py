"""The opponent's replies to two plays: the rolls that make them differ, and the hits."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from motif.analysis.explain.reasons import LOOKAHEAD_HITS, LOOKAHEAD_STEP, Reason, row
from motif.analysis.phrases import Phrases
from motif.board.movegen import ROLL_COUNTS, ROLLS
from motif.board.moves import Play
from motif.board.outcome import outcome
from motif.board.packed import BOARD_SIZE, OPPONENT_BAR, OWN_BAR, Board
from motif.evaluators import Evaluator, LookaheadEvaluator
from motif.evaluators.cube_model import CubeModel
from motif.runtime.arrays import BoolArray, FloatArray
from motif.runtime.streams import DICE_PAIRS

DICE = 6
_NAMED = 3
"""Maximum number of rolls named."""
_SHARE = 0.5
"""Minimum share of a change that is explained by hits."""
_WORTH_NAMING = 0.05
"""Minimum difference in equity after a roll that is named."""


@dataclass(frozen=True, eq=False)
class Replies:
    """The opponent's best replies to two plays by roll; values are the mover's."""

    evaluator: str
    values: FloatArray
    """(2, 21): by play and roll, after the reply."""
    hit_rolls: BoolArray = field(repr=False)
    """(2, 21): rolls whose best reply hits, by play."""
    risks: tuple[int, int]
    """How many of the mover's next 36 rolls leave a shot after each play, if the opponent does not move;
    counted while checkers come home past the opponent's."""

    @property
    def hits(self) -> tuple[int, int]:
        """Number of rolls, of 36, whose best reply hits, by play."""
        first, second = (self.hit_rolls @ ROLL_COUNTS).tolist()
        return first, second

    @property
    def differences(self) -> FloatArray:
        """(21,): value of the first play minus that of the second, by roll."""
        return np.asarray(self.values[0] - self.values[1])

    @property
    def difference(self) -> float:
        """The mean difference over all rolls."""
        return float(self.differences @ ROLL_COUNTS) / DICE_PAIRS

    @property
    def of_hits(self) -> float:
        """The part of `difference` from rolls that hit after either play."""
        either = self.hit_rolls.any(axis=0)
        return float((self.differences * either) @ ROLL_COUNTS) / DICE_PAIRS

    @property
    def grid(self) -> list[list[float]]:
        """`differences` by the opponent's two dice: 6 rows of 6."""
        table = np.zeros((DICE, DICE))
        high, low = ROLLS.T - 1
        table[high, low] = table[low, high] = self.differences
        return table.tolist()

    def is_of_hits(self, change: float) -> bool:
        """Return whether hits explain much of the `change` by lookahead."""
        more = self.hits[1] - self.hits[0]
        return change * more > 0 and change * self.of_hits > 0 and abs(self.of_hits) > _SHARE * abs(change)

    def main_reason(self, change: float, names: tuple[str, str], words: Phrases) -> Reason:
        """Return the reason that the replies give for the `change` by lookahead."""
        better = 0 if change > 0 else 1
        if self.is_of_hits(change):
            hitting, count = self._hitting(1 - better, words), self.hits[1 - better]
            text = words.say("beyond", "hits", play=names[1 - better], rolls=hitting, count=count)
            return row(LOOKAHEAD_HITS, change, text, "hits", count=count, play=1 - better)
        risk, other = self.risks[better], self.risks[1 - better]
        if self.hits == (0, 0) and risk < other:
            facts = {"count": risk, "others": other}
            text = words.say("beyond", "next_rolls", play=names[better], other=names[1 - better], **facts)
            return row(LOOKAHEAD_STEP, change, text, "next_rolls", **facts, play=better)
        return self.of_rolls(change, names, words)

    def of_rolls(self, change: float, names: tuple[str, str], words: Phrases) -> Reason:
        """Return a reason that names the rolls that contribute most to the `change`."""
        gains = (self.differences if change > 0 else -self.differences) * ROLL_COUNTS
        best = [k for k in np.argsort(-gains, kind="stable")[:_NAMED] if gains[k] > 0]
        phrase, rolls = "rolls" if best else "ahead", [_roll(k) for k in sorted(best)]
        text = words.say("beyond", phrase, play=names[change <= 0], rolls=rolls and words.listed(rolls))
        return row(LOOKAHEAD_STEP, change, text, phrase)

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
        parts = self.differences * ROLL_COUNTS / DICE_PAIRS
        for sign, name in ((1, names[0]), (-1, names[1])):
            order = np.argsort(-sign * parts)[:_NAMED]
            rolls = [k for k in order if sign * self.differences[k] > _WORTH_NAMING]
            if rolls:
                named = (f"{_roll(k)} ({words.signed(self.differences[k], 2)})" for k in sorted(rolls))
                lines.append(words.say("detail", "rolls", play=name, rolls=", ".join(named)))
        return tuple(lines)

    def to_dict(self) -> dict[str, object]:
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


class BestReplies(NamedTuple):
    """The best static replies to n plays by roll."""

    boards: Board
    """(n, 21, 26): after the reply, seen by the mover; empty after a play that ends the game."""
    hits: BoolArray
    """(n, 21): whether the reply hits."""


def best_replies(evaluator: Evaluator, plays: Sequence[Play], cube_model: CubeModel) -> BestReplies:
    """Return the best replies to `plays` of side 0 by `evaluator`."""
    after = np.array([play.position.board for play in plays])
    boards = np.zeros((len(plays), len(ROLLS), BOARD_SIZE), np.int8)
    going = [number for number, play in enumerate(plays) if not outcome(play.position)]
    if going:
        before, rolls = np.repeat(after[going], len(ROLLS), axis=0), np.tile(ROLLS, (len(going), 1))
        replied = evaluator.with_cube(cube_model, side=1).best_plays(before, rolls)
        boards[going] = replied.boards.reshape(len(going), len(ROLLS), BOARD_SIZE)
    # The board is seen by the opponent before the reply, and by the mover after it.
    return BestReplies(boards, boards[:, :, OWN_BAR] > -after[:, OPPONENT_BAR, None])


def replies(
    evaluator: LookaheadEvaluator, replied: BestReplies, cube_model: CubeModel, risks: tuple[int, int]
) -> Replies:
    """Return the values of the best replies to two plays of side 0."""
    valued = evaluator.below.with_cube(cube_model, side=0)
    values = valued.equity_many(replied.boards.reshape(-1, BOARD_SIZE)).reshape(2, len(ROLLS))
    return Replies(evaluator.name, values, replied.hits, risks)


def _roll(number: int) -> str:
    """Return the roll with an index in `ROLLS`, such as ``3-1``."""
    return f"{ROLLS[number, 0]}-{ROLLS[number, 1]}"
