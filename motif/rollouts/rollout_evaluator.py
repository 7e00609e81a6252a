"""Rollouts as an evaluator: the value of a position is the mean of its trials.

``rollout:motif-v1,trials=72,cut=7,stratified`` rolls out with motif-v1. The options are the options of the
command rollout without leading hyphens, except ``se``, and ``candidates=N``, which rolls out only the N best
plays by static evaluation.
"""

import math
from collections.abc import Callable
from dataclasses import fields
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.board.identifiers import whole_number
from motif.board.moves import PlayBatch
from motif.board.packed import Board, pack_many
from motif.board.position import as_boards
from motif.evaluators import OUTPUTS, Evaluator, StaticEvaluator, load_evaluator
from motif.evaluators.cube_model import CubeModel, cubeful_values
from motif.evaluators.evaluator import ROLLOUT_SOURCE, best_few, with_closer_look
from motif.evaluators.known_players import ROLLOUT_PREFIX
from motif.evaluators.lookahead import ShortRollouts
from motif.evaluators.probabilities import HEADS, switched_equities
from motif.evaluators.static import prepared
from motif.rollouts.comparison import PlayNumbers, eliminated
from motif.rollouts.player_trials import Portion, play_trials
from motif.rollouts.playout import MAX_GAME_PLIES, ROUND, items_of, roll_out
from motif.rollouts.rollout_settings import RolloutSettings, parse_luck_plies, scored_equities, valued_for
from motif.runtime.arrays import Float32Array, FloatArray, IntArray
from motif.runtime.errors import PlayerError, SettingError, shown
from motif.runtime.progress import end_if_cancelled
from motif.runtime.settings import check_count, number_in


class RolloutEvaluator(Evaluator):
    """Rolls out every position with an evaluator that plays both sides.

    The dice depend on the position or, for plays, on the position before the play.  A value therefore does
    not depend on other positions, and the plays of a decision are compared with the same dice.  With
    `common_random_numbers`, all positions have the same dice.
    """

    def __init__(
        self,
        name: str,
        evaluator: Evaluator,
        settings: RolloutSettings,
        candidates: int = 0,
        *,
        common_random_numbers: bool = False,
    ) -> None:
        """Roll out the `candidates` best plays of a decision by static evaluation; 0 for all.

        Raises `SettingError` for invalid settings, including a target standard error.
        """
        settings.check()
        check_count("candidates", candidates, 0)
        if settings.se > 0:
            raise SettingError(
                "a rollout as a player has a fixed number of trials and cannot have {se}", "se"
            )
        self.name = name
        self.settings = settings
        self.candidates = candidates
        self._common_random_numbers = common_random_numbers
        self._player = settings.player_of(evaluator)
        self._rules = settings.rules()
        self._judge = valued_for(evaluator, settings.scoring)

    def evaluate_many(self, positions: npt.ArrayLike) -> Float32Array:
        """See `Evaluator.evaluate_many`."""
        packed = pack_many(as_boards(positions))
        return self._means(packed, self._items(packed)).astype(np.float32)

    def equity_many(self, boards: Board) -> FloatArray:
        """See `Evaluator.equity_many`; the equity depends on the scoring."""
        packed = pack_many(boards)
        return self._equities(packed, self._items(packed))

    def sources_of(self, boards: Board) -> IntArray:
        """See `Evaluator.sources_of`."""
        return np.full(len(boards), ROLLOUT_SOURCE)

    def play_equities(self, before: Board, plays: PlayBatch) -> FloatArray:
        """See `Evaluator.play_equities`.

        Plays other than the candidates keep their static equity, limited to the lowest equity of a
        candidate.
        """
        return self._of_plays(before, plays, self._judge.play_equities, self._decided)

    def cubeful_play_equities(
        self, before: Board, plays: PlayBatch, cube_model: CubeModel, side: int
    ) -> FloatArray:
        """See `Evaluator.cubeful_play_equities`.

        Plays within the trials are chosen for money, and no candidates are dropped.
        """

        def static(before: Board, plays: PlayBatch) -> FloatArray:
            return self._judge.cubeful_play_equities(before, plays, cube_model, side)

        def decided(packed: Board, items: IntArray, starts: IntArray) -> FloatArray:
            return switched_equities(cubeful_values(cube_model, 1 - side, packed, self._means(packed, items)))

        return self._of_plays(before, plays, static, decided)

    def _of_plays(
        self,
        before: Board,
        plays: PlayBatch,
        static: Callable[[Board, PlayBatch], FloatArray],
        decided: Callable[[Board, IntArray, IntArray], FloatArray],
    ) -> FloatArray:
        """Return the values (m,) of `plays` for their movers.

        Candidates have values `decided` by rollouts, from packed boards, the items that determine the dice,
        and the first row of each decision.  Other plays have `static` values.
        """
        rivals, decision = np.diff(plays.offsets), plays.decision
        items = self._items(pack_many(before))[decision]
        packed = pack_many(plays.boards)
        if self.candidates == 0 or rivals.max(initial=0) <= self.candidates:
            return decided(packed, items, plays.offsets)
        values = static(before, plays)
        rolled = best_few(values, plays, self.candidates)
        starts = np.append(0, np.minimum(rivals, self.candidates).cumsum())
        candidates = decided(packed[rolled], items[rolled], starts)
        return with_closer_look(values, plays, rolled, candidates)

    def _items(self, packed: Board) -> IntArray:
        """Return the items (n,) that determine the dice of packed boards (n, 64)."""
        return np.zeros(len(packed), np.int64) if self._common_random_numbers else items_of(packed)

    def _equities(self, packed: Board, items: IntArray) -> FloatArray:
        return scored_equities(self._means(packed, items), self.settings.scoring)

    def _decided(self, packed: Board, items: IntArray, starts: IntArray) -> FloatArray:
        """Return the movers' equities (n,) of plays; the rows between two `starts` are a decision."""
        if not self.settings.eliminate:
            return switched_equities(self._equities(packed, items))
        parts = (slice(*ends) for ends in pairwise(starts.tolist()))
        return np.concatenate([self._eliminated(packed[part], int(items[part][0])) for part in parts])

    def _eliminated(self, packed: Board, item: int) -> FloatArray:
        """Return the equities (n,) of the plays of one decision, with elimination.

        The equity of a dropped play is the best equity minus the difference in their common trials, but at
        most the lowest equity of the remaining plays.
        """

        def play(plays: PlayNumbers, first: int, count: int) -> FloatArray:
            results = self._trials(packed[plays], np.full(len(plays), item), first, count)
            return switched_equities(scored_equities(results, self.settings.scoring))[..., None]

        stages = eliminated(
            play,
            len(packed),
            self.settings.trials,
            self.settings.significance,
            rolls_of=self.settings.rolls_of(item),
        )
        last = stages[-1]
        equities = np.empty(len(packed))
        equities[last.plays] = last.means[:, -1]
        lowest = last.means[:, -1].min()
        for stage in stages[:-1]:
            for gone in stage.gone.tolist():
                equities[gone] = min(equities[last.best] + stage.difference(gone, last.best)[0], lowest)
        return equities

    def _means(self, packed: Board, items: IntArray) -> FloatArray:
        """Return the mean probabilities (n, 5) of packed boards (n, 64) with the dice of `items` (n,).

        Luck-adjusted means outside 0 to 1 are clipped.
        """
        sums, squares = np.zeros((2, len(packed), len(HEADS)))  # the kernel needs both
        trials = self.settings.trials
        if not isinstance(self._player, StaticEvaluator):
            return np.clip(self._trials(packed, items, 0, trials).mean(axis=1), 0, 1)
        model, space = prepared(self._player.model)
        at_once = self._rules.trials_at_once()
        count = max(1, at_once // trials)
        for k in range(0, len(packed), count):
            part = slice(k, k + count)
            for first in range(0, trials, at_once):
                end_if_cancelled()
                where = packed[part], items[part], self.settings.seed, first, min(at_once, trials - first)
                roll_out(model, self._rules, *where, space, sums[part], squares[part])
        return np.clip(sums[:, : len(OUTPUTS)] / trials, 0, 1)

    def _trials(self, packed: Board, items: IntArray, first: int, count: int) -> FloatArray:
        """Return the probabilities (n, count, 5) of some trials of packed boards (n, 64)."""
        return play_trials(
            self._player, self._rules, self.settings.seed, Portion(packed, items, first, count)
        )


ENDING = RolloutSettings(2 * ROUND, stop_at_bearoff=True, stratified=True, luck_plies=MAX_GAME_PLIES)
"""Settings for late endings; see docs/how-to/bearoff.md."""


def endings_of(evaluator: StaticEvaluator) -> RolloutEvaluator:
    """Return an evaluator that rolls out late endings with `evaluator` and common dice."""
    return RolloutEvaluator(evaluator.name, evaluator, ENDING, common_random_numbers=True)


def rolled_by(evaluator: StaticEvaluator, rolled: ShortRollouts) -> RolloutEvaluator:
    """Return an evaluator that rolls out leaves of lookahead with `evaluator` and common dice."""
    settings = RolloutSettings(rolled.trials, cut=rolled.cut, stratified=True)
    return RolloutEvaluator(evaluator.name, evaluator, settings, common_random_numbers=True)


DEFAULT_TRIALS = 36
"""Number of trials per position if the name contains none."""
_MAX_DIGITS = 20
_CANDIDATES = "candidates"


def _rate(text: str) -> float:
    number = number_in(text if len(text) <= _MAX_DIGITS else "")
    if math.isnan(number):
        raise SettingError(f"the value must be a number of at most {_MAX_DIGITS} characters")
    return number


def _whole(text: str) -> int:
    number = whole_number(text, _MAX_DIGITS)
    if number is None:
        raise SettingError("the value must be a whole number")
    return number


_READERS: dict[str, Callable[[str], Any]] = {
    **{item.name: _whole for item in fields(RolloutSettings) if item.type is int},
    "significance": _rate,
    "luck_plies": parse_luck_plies,
    "scoring": str,
    _CANDIDATES: _whole,
}
_FLAGS = [item.name for item in fields(RolloutSettings) if item.type is bool]


def load_rollout(name: str) -> RolloutEvaluator:
    """Return the rollout evaluator with this `name`, which starts with `ROLLOUT_PREFIX`.

    Raises `PlayerError` for an invalid option or a missing player, and `WeightFileError` for an invalid
    weight file.
    """
    player, *items = name.removeprefix(ROLLOUT_PREFIX).split(",")
    if not player:
        raise PlayerError(f"{shown(name)}: a player is required: {ROLLOUT_PREFIX}PLAYER")
    options: dict[str, Any] = {}
    for item in items:
        option, value = _read(name, item)
        if option in options:
            raise PlayerError(f"{shown(name)}: {shown(item)}: the option is given twice")
        options[option] = value
    candidates = options.pop(_CANDIDATES, 0)
    evaluator = load_evaluator(player)
    try:
        return RolloutEvaluator(
            name, evaluator, RolloutSettings(**{"trials": DEFAULT_TRIALS} | options), candidates
        )
    except SettingError as error:
        raise PlayerError(f"{shown(name)}: {error}") from None


def _read(name: str, item: str) -> tuple[str, Any]:
    """Return the name and the value of the option that `item` sets."""
    word, equals, text = item.partition("=")
    option = word.replace("-", "_")
    if "_" not in word:
        if option in _FLAGS and not equals:
            return option, True
        if option in _READERS and equals:
            try:
                return option, _READERS[option](text)
            except SettingError as error:
                raise PlayerError(f"{shown(name)}: {shown(item)}: {error}") from None
    raise PlayerError(f"{shown(name)}: invalid option {shown(item)}: it must be one of {_known()}")


def _known() -> str:
    words = [*(f"{option}={'NAME' if read is str else 'N'}" for option, read in _READERS.items()), *_FLAGS]
    return ", ".join(word.replace("_", "-") for word in words)
