"""A rollout is an evaluator: values of positions are means of trials."""

import numpy as np
import numpy.typing as npt

from motif.board.moves import PlayBatch
from motif.board.position import Board, as_boards, pack_many
from motif.evaluators import OUTPUTS, Evaluator, StaticEvaluator
from motif.evaluators.probabilities import turned_equities
from motif.evaluators.static import prepared
from motif.rollout.playout import COLUMNS, roll_out
from motif.rollout.scoring import playing_for, scored_equities
from motif.rollout.settings import RolloutSettings, check_count
from motif.runtime.errors import SettingError
from motif.runtime.jit import kernel
from motif.runtime.streams import mix


class RolloutEvaluator(Evaluator):
    """Rolls out every position, with a static evaluator playing both sides.

    The dice belong to the position, or for plays to the position before them: so a value does not
    depend on what else is evaluated, and the plays of a decision are compared with the same dice.
    """

    def __init__(
        self, name: str, evaluator: StaticEvaluator, settings: RolloutSettings, candidates: int = 0
    ) -> None:
        """`candidates` plays of a decision are rolled out, the best by static evaluation; 0: all.

        Raises `SettingError`; a wanted standard error is for single rollouts.
        """
        settings.check()
        check_count("candidates", candidates, 0)
        if settings.se > 0:
            raise SettingError("a rollout as a player has a number of trials, and no --se")
        self.name = name
        self.settings = settings
        self.candidates = candidates
        self._model = settings.model_of(evaluator)
        self._rules = settings.rules()
        self._judge = StaticEvaluator(
            evaluator.name, playing_for(evaluator.model, settings.scoring), evaluator.weights
        )

    def evaluate_many(self, positions: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """See `Evaluator.evaluate_many`; without luck a mean may leave 0 to 1, and is cut there."""
        packed = pack_many(as_boards(positions))
        return np.clip(self._means(packed, items_of(packed)), 0, 1).astype(np.float32)

    def equity_many(self, boards: Board) -> npt.NDArray[np.float64]:
        """See `Evaluator.equity_many`; the equity is that of the scoring."""
        packed = pack_many(boards)
        return scored_equities(self._means(packed, items_of(packed)), self.settings.scoring)

    def play_equities(self, before: Board, plays: PlayBatch) -> npt.NDArray[np.float64]:
        """See `Evaluator.play_equities`.

        A play that is no candidate keeps its static equity, or the lowest of a candidate if that is less.
        """
        rivals = np.diff(plays.offsets)
        items = np.repeat(items_of(pack_many(before)), rivals)
        packed = pack_many(plays.boards)
        if self.candidates == 0 or rivals.max(initial=0) <= self.candidates:
            return self._mover_equities(packed, items)
        values = self._judge.play_equities(before, plays)
        decision = np.repeat(np.arange(len(rivals)), rivals)
        ranked = np.lexsort((-values, decision))
        rolled = np.empty(len(values), np.bool_)
        rolled[ranked] = np.arange(len(values)) - plays.offsets[decision] < self.candidates
        found = self._mover_equities(packed[rolled], items[rolled])
        lowest = np.full(len(rivals), np.inf)
        np.minimum.at(lowest, decision[rolled], found)
        values = np.minimum(values, lowest[decision])
        values[rolled] = found
        return values

    def _mover_equities(
        self, packed: npt.NDArray[np.int8], items: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        return turned_equities(scored_equities(self._means(packed, items), self.settings.scoring))

    def _means(self, packed: npt.NDArray[np.int8], items: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Mean probabilities (n, 5) of packed boards (n, 64) with the dice of `items` (n,)."""
        sums, squares = np.zeros((2, len(packed), COLUMNS))
        trials = self.settings.trials
        model, space = prepared(self._model)
        roll_out(model, self._rules, packed, items, self.settings.seed, trials, space, sums, squares)
        return sums[:, : len(OUTPUTS)] / trials


def items_of(packed: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
    """A number (n,), below 2**63, for each packed board (n, 64): a hash of it."""
    items = np.empty(len(packed), np.int64)
    _hash_boards(packed.view(np.int64), items)
    return items


@kernel
def _hash_boards(words, items):
    for k in range(words.shape[0]):
        state = np.uint64(0)
        for w in range(words.shape[1]):
            state = mix(state ^ np.uint64(words[k, w])) + np.uint64(w + 1)
        items[k] = np.int64(state >> np.uint64(1))
