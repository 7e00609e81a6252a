"""Errors that a short rollout confirms: the best play and the play made, with the same dice.

The judge calls that play the best whose estimate is highest, and so overrates it: where his estimates are no
better than the player's, most of the errors that he sees are his own.  A rollout of the two plays knows
nothing of that choice.  What it says takes the place of his estimate.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.analysis.match.decision_errors import JudgedPlay, stakes_of
from motif.analysis.match.record_walk import PlayedRoll
from motif.board.moves import legal_plays
from motif.board.packed import BOARD_SIZE, Board, pack_many
from motif.evaluators import Evaluator, StaticEvaluator
from motif.evaluators.kernels import WEIGHTS
from motif.evaluators.model import Model
from motif.evaluators.stakes import Stakes
from motif.rollout.comparison import staked_stage
from motif.rollout.playout import ROUND
from motif.rollout.rollout_evaluator import items_of
from motif.rollout.rollout_settings import RolloutSettings
from motif.rollout.tally import Tally
from motif.rollout.trials import RESULT_NAMES, results_of_trials
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import progress

DOUBTFUL = 0.008
"""Normalised equity: what the judge calls a smaller error is believed."""
CERTAIN = 3.0
"""Standard errors by which an error must be above 0 to be confirmed."""
SHORT = RolloutSettings(36 * ROUND, cut=12, stop_at_bearoff=True, stratified=True)
"""The rollout of each play."""
LONG = RolloutSettings(144 * ROUND, cut=16, stop_at_bearoff=True, stratified=True)
_AT_ONCE = 4


def confirmed_by(fast: bool, deep: bool) -> RolloutSettings | None:
    """The rollout that confirms errors for a judge; None for one who is `fast` and believes himself."""
    return None if fast else LONG if deep else SHORT


class RolledError(NamedTuple):
    """The value of the best play less that of the play made."""

    error: float
    """Normalised equity; negative where the play made is better."""
    se: float
    """Its standard error, as that of plays compared has it (`motif.rollout.comparison`)."""

    @property
    def is_confirmed(self) -> bool:
        """Whether it is certain that something was lost."""
        return self.error > CERTAIN * self.se


def can_roll_out(evaluator: Evaluator) -> bool:
    """Whether errors can be confirmed with `evaluator`, without its lookahead, playing both sides."""
    static = evaluator.without_lookahead
    return isinstance(static, StaticEvaluator) and static.model.kind == WEIGHTS


def rolled_errors(
    rolls: Sequence[PlayedRoll],
    judgements: Sequence[JudgedPlay],
    evaluator: Evaluator,
    *,
    settings: RolloutSettings = SHORT,
    cube: bool = True,
    jobs: int | None = None,
) -> dict[int, RolledError]:
    """By their numbers among `rolls`: the plays that `judgements` doubt, rolled out.

    The same settings give the same errors for any number of `jobs`.
    """
    static = evaluator.without_lookahead
    assert isinstance(static, StaticEvaluator)
    rows = [row for row, one in enumerate(judgements) if one.error >= DOUBTFUL]
    pairs, stakes = np.empty((len(rows), 2, BOARD_SIZE), np.int8), []
    for number, row in enumerate(rows):
        roll = rolls[row]
        assert roll.play is not None
        best = legal_plays(roll.position, roll.roll)[judgements[row].best]
        pairs[number] = best.position.board, roll.play.position.board
        stakes.append(stakes_of(roll.state, cube).stakes)
    items = items_of(
        pack_many(np.array([rolls[row].position.board for row in rows], np.int8).reshape(-1, 26))
    )
    parts = [slice(k, k + _AT_ONCE) for k in range(0, len(rows), _AT_ONCE)]
    calls = ((pairs[part], items[part], stakes[part]) for part in parts)
    work = partial(_roll_out, settings.model_of(static), settings)
    errors: list[RolledError] = []
    with progress(f"{static.name} rolls out doubtful plays", len(rows)) as advance:
        for done in run_ordered(work, calls, 1 if len(parts) < 2 else jobs):
            advance(len(done))
            errors += done
    return dict(zip(rows, errors, strict=True))


def _roll_out(
    model: Model,
    settings: RolloutSettings,
    pairs: Board,
    items: npt.NDArray[np.int64],
    stakes: Sequence[Stakes],
) -> list[RolledError]:
    """The errors of some pairs (n, 2, 26) of positions after the best play and the play made."""
    both, errors = np.arange(2), []
    for pair, item, at_stake in zip(pairs, items.tolist(), stakes, strict=True):
        packed = pack_many(pair)
        results = results_of_trials(
            model, settings, packed, np.array([item, item]), 0, settings.trials, after_a_play=True, jobs=1
        )
        tally = Tally(2 * len(RESULT_NAMES), settings.rolls_of(item))
        tally.add(results.transpose(1, 0, 2).reshape(settings.trials, -1))
        best, made = both.tolist()
        errors.append(RolledError(*staked_stage(at_stake, packed, tally, both).difference(best, made)))
    return errors
