"""Settings of rollouts: how trials are played and scored.

The scoring is ``money`` (a gammon counts two points and a backgammon three), ``dmp`` (double match point:
the winner of the game wins the match) or ``no-gammons`` (every win counts one point, as under the Jacoby
rule before the first double). Without a cube, the last two are the same: equity = 2 win - 1, and plays are
chosen by win probability.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.identifiers import whole_number
from motif.board.movegen import ROLLS
from motif.board.packed import Board
from motif.evaluators import Evaluator, StaticEvaluator
from motif.evaluators.bearoff import BearoffTables, bearoff_tables, no_tables
from motif.evaluators.probabilities import WIN, equities
from motif.evaluators.static import filtered
from motif.parameters.position_class import RACE, classify_many
from motif.rollouts.playout import MAX_GAME_PLIES, ROUND, first_rolls
from motif.runtime.arrays import BoolArray, Float32Array, FloatArray, IntArray
from motif.runtime.errors import SettingError, shown
from motif.runtime.settings import (
    SettingFields,
    check_count,
    check_seed,
    check_significance,
    check_types,
    check_unused,
    check_word,
    documented,
    require,
    setting,
)

_MONEY, _NO_GAMMONS = "money", "no-gammons"
SCORINGS = (_MONEY, "dmp", _NO_GAMMONS)


def scored_equities(probabilities: npt.NDArray[np.floating], scoring: str) -> FloatArray:
    """Return the cubeless equities (...,) of rows (..., 5): -3 to 3 points for money, otherwise -1 to 1."""
    if scoring == _MONEY:
        return equities(probabilities)
    return np.asarray(2.0 * probabilities[..., WIN] - 1, np.float64)


class _ForWins(Evaluator):
    """An evaluator that ranks plays by win probability."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.name = evaluator.name
        self._evaluator = evaluator

    def evaluate_many(self, positions: npt.ArrayLike) -> Float32Array:
        """See `Evaluator.evaluate_many`."""
        return self._evaluator.evaluate_many(positions)

    def equity_many(self, boards: Board) -> FloatArray:
        """See `Evaluator.equity_many`; gammons do not count."""
        return scored_equities(self.evaluate_many(boards).astype(np.float64), _NO_GAMMONS)


def valued_for(evaluator: Evaluator, scoring: str) -> Evaluator:
    """Return the evaluator that ranks plays for `scoring`.

    Point tables and move filters have only one score, so they do not change.
    """
    if scoring == _MONEY:
        return evaluator
    if isinstance(evaluator, StaticEvaluator):
        model = evaluator.model._replace(win_only=True)
        return evaluator.with_model(model)
    return _ForWins(evaluator)


ALL_PLIES = "all"
_ROLLS_AT_ONCE = 40_000
"""Number of rolls for which a kernel chooses plays between checks for cancellation."""
_PLIES = 50
"""Approximate number of plies of a game."""


class PlayoutRules(NamedTuple):
    """Rules of trials for kernels."""

    cut: int
    stop_at_race: bool
    stratified: bool
    luck_plies: int
    tables: BearoffTables
    """Bearoff tables at whose positions trials are truncated; `no_tables` for none."""

    def trials_at_once(self, boards: int = 1) -> int:
        """Return the number of trials of `boards` boards that a kernel plays in some tenths of a second.

        If possible, it is a multiple of `ROUND`, because trials of one call share their first positions and
        the luck of their first rolls.
        """
        plies = min(self.cut or _PLIES, _PLIES)
        rolls = plies + len(ROLLS) * min(self.luck_plies, plies)
        trials = _ROLLS_AT_ONCE / (rolls * boards)
        return round(trials / ROUND) * ROUND or max(1, int(trials))


@documented
@dataclass(frozen=True)
class RolloutSettings(SettingFields):
    """Settings of rollouts; docs/how-to/rollouts.md describes their costs and benefits."""

    trials: int = setting(1296, "Number of trials; with `se` the maximum.")
    cut: int = setting(0, "Truncate trials after this many plies; 0 for never.")
    stop_at_race: bool = setting(False, "Truncate trials when contact ends.")
    stop_at_bearoff: bool = setting(False, "Truncate trials at positions in the bearoff tables.")
    stratified: bool = setting(False, "Stratify the first two rolls of the trials.")
    luck_plies: int = setting(
        0, 'Number of first rolls with variance reduction by the evaluator; 0 for none, "all" for all rolls.'
    )
    every_play: bool = setting(False, "Evaluate every legal play, without the move filter of the weights.")
    static_cube: bool = setting(False, "Double and take in the trials without lookahead.")
    se: float = setting(0.0, "Stop at this standard error of the equity; 0 for never.")
    eliminate: bool = setting(False, "Drop compared plays as soon as they are significantly worse.")
    significance: float = setting(0.05, "Accepted probability that `eliminate` drops the best play.")
    scoring: str = setting("money", "Scoring: money, dmp or no-gammons.")
    seed: int = setting(0, "Random seed.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.luck_plies, str):
            object.__setattr__(self, "luck_plies", parse_luck_plies(self.luck_plies))

    def check(self, with_cube: bool | None = False) -> None:
        """Raise `SettingError` for an invalid value, or one that does not apply with or without a cube.

        If `with_cube` is None, it is not known yet.
        """
        check_types(self, SettingError)
        for name, low in (("trials", 1), ("cut", 0), ("luck_plies", 0)):
            check_count(name, getattr(self, name), low)
        require(0 <= self.se < float("inf"), "se", self.se, "at least 0 and finite")
        check_significance(self.significance)
        check_word("scoring", self.scoring, SCORINGS)
        if with_cube and self.scoring != _MONEY:
            message = f"with a cube the match determines the scoring, not {{scoring}}={self.scoring}"
            raise SettingError(message, "scoring")
        if with_cube is False:
            check_unused(self, ("static_cube",), SettingError, "without a cube")
        check_seed(self.seed)

    def check_question(self, cubeful: bool, compare: bool) -> None:
        """Check a question before its ID, which may put a cube in play where plays are compared, is read."""
        self.check(with_cube=None if compare and not cubeful else cubeful)

    def check_effects(self, compared: bool = False) -> None:
        """Raise `SettingError` for elimination, or its significance level, where it has no effect.

        Only in a rollout of `compared` plays can plays be dropped.
        """
        if not compared:
            check_unused(self, ("eliminate", "significance"), SettingError, "without compared plays")
        elif not self.eliminate and self.significance != RolloutSettings.significance:
            raise SettingError("significance: has no effect without {eliminate}", "significance", "eliminate")

    def rules(self) -> PlayoutRules:
        """Return the rules of trials, and build the bearoff tables if necessary."""
        tables = bearoff_tables() if self.stop_at_bearoff else no_tables()
        return PlayoutRules(self.cut, self.stop_at_race, self.stratified, self.luck_plies, tables)

    def rolls_of(self, item: int) -> Callable[[int, int], IntArray] | None:
        """Return the `first_rolls` function of `item`; None for random dice."""
        return partial(first_rolls, self.seed, item) if self.stratified else None

    def player_of(self, evaluator: Evaluator) -> Evaluator:
        """Return `evaluator` as it plays the trials: for the scoring, and with its move filter if wanted.

        A static evaluator is returned without its weight file, so that it is quickly sent to workers.
        """
        player = valued_for(evaluator, self.scoring)
        if not isinstance(player, StaticEvaluator):
            return player
        return StaticEvaluator(player.name, (player if self.every_play else filtered(player)).model)


def truncated(
    packed: Board, settings: PlayoutRules | RolloutSettings, ply: int, contact: BoolArray
) -> BoolArray:
    """Return which games a rollout truncates at a ply; `contact` (n,) says which began with contact."""
    stops = np.full(len(packed), 0 < settings.cut <= ply)
    if settings.stop_at_race and ply:
        stops |= contact & (classify_many(packed) == RACE)
    return stops


def parse_luck_plies(text: str) -> int:
    """Parse a number of plies or ``all``; raise `SettingError` if `text` is neither."""
    if text == ALL_PLIES:
        return MAX_GAME_PLIES
    number = whole_number(text)
    if number is None or number < 0:
        message = f"luck_plies must be a number of plies or {ALL_PLIES}, not {shown(text)}"
        raise SettingError(message, "luck_plies")
    return number
