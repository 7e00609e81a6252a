"""Rollouts that confirm errors in plays seen by lookahead; thresholds and settings, also for the cube.

The play that lookahead ranks first tends to be overrated, because it was selected for its estimate; most of
the errors found in a good player's games would be errors of the lookahead.  An error of `ROLLOUT_THRESHOLD`
or more is therefore measured by a rollout: of both plays with the same dice, or of the cube decision
(`motif.analysis.match.decision_errors`).  Match analysis, `explain` and the tutor all use these numbers.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import NamedTuple, TypeVar

import numpy as np

from motif.board.match_state import MatchState
from motif.board.moves import Play
from motif.board.packed import Board, pack_many
from motif.board.position import Position
from motif.doubling import CubeDecision
from motif.evaluators import Evaluator, LookaheadEvaluator, StaticEvaluator
from motif.evaluators.cube_model import CubeModel
from motif.evaluators.kernels import WEIGHTS_MODEL
from motif.evaluators.probabilities import HEADS
from motif.players.ranking import (
    EXACT,
    ROLLOUT,
    RankedPlay,
    Ranking,
    cube_model_of,
    plies_of,
    rank_plays,
    source_words,
)
from motif.rollouts.comparison import cube_after_play, stage_of
from motif.rollouts.playout import MAX_GAME_PLIES, ROUND, items_of
from motif.rollouts.rollout_settings import RolloutSettings
from motif.rollouts.tally import Tally
from motif.rollouts.trials import results_of_trials
from motif.runtime.frames import finite
from motif.runtime.parallel import run_batches

ROLLOUT_THRESHOLD = 0.008
"""Normalised equity; smaller errors are taken from lookahead."""
CONFIRMED_Z = 3.0
"""Minimum z of a confirmed error: its ratio to its standard error."""
SHORT = RolloutSettings(5 * ROUND, cut=12, stop_at_bearoff=True, stratified=True, luck_plies=MAX_GAME_PLIES)
"""Settings for rollouts at the default depth; docs/explanation/lab-notes.md compares others."""
LONG = replace(SHORT, trials=4 * SHORT.trials, cut=16)
"""Settings for rollouts with ``:rollout``."""
DIGITS = 3
"""Decimals of equities that are shown."""
_AT_ONCE = 4
_Asked = TypeVar("_Asked")
_Answer = TypeVar("_Answer")


class RolledPair(NamedTuple):
    """Two plays of one roll, rolled out with the same dice."""

    equities: tuple[float, float]
    """Normalised equities for the mover."""
    equity_se: tuple[float | None, float | None]
    """None, like `se`, if it is not known."""
    difference: float
    """The first equity minus the second."""
    se: float | None
    """Standard error of `difference`; smaller than the equities' because both plays have the same dice."""
    trials: int

    @property
    def is_confirmed(self) -> bool:
        """Whether the first play is significantly better."""
        return self.se is not None and self.difference > CONFIRMED_Z * self.se

    @property
    def reversed(self) -> "RolledPair":
        """The same pair with the second play first."""
        return RolledPair(self.equities[::-1], self.equity_se[::-1], -self.difference, self.se, self.trials)


class ComparedPair(NamedTuple):
    """Two plays of one roll, each with the best available estimate."""

    better: RankedPlay
    """The play named as the better one; by default the best of the ranking."""
    worse: RankedPlay
    rolled: RolledPair | None
    """None if lookahead is trusted."""

    @property
    def difference(self) -> float:
        """The first equity minus the second."""
        return self.better.equity - self.worse.equity if self.rolled is None else self.rolled.difference

    @property
    def equities(self) -> tuple[float, float]:
        """The equities of both plays, from the same source."""
        return (self.better.equity, self.worse.equity) if self.rolled is None else self.rolled.equities

    @property
    def is_exact(self) -> bool:
        """Whether both equities are exact."""
        return self.better.source == self.worse.source == EXACT

    @property
    def shown_difference(self) -> float:
        """The difference of the equities as shown, with `DIGITS` decimals."""
        return difference_shown(*self.equities)

    @property
    def source(self) -> str:
        """Source of the equities."""
        return self.worse.source if self.rolled is None else ROLLOUT

    @property
    def known(self) -> list["KnownPlay"]:
        """Both plays as `known_pair` has them, with rounded equities."""
        errors = (None, None) if self.rolled is None else self.rolled.equity_se
        return [
            KnownPlay(one.play, round(equity, DIGITS), self.source, error, one.equity)
            for one, equity, error in zip((self.better, self.worse), self.equities, errors, strict=True)
        ]


def estimate_kind(source: str, lookahead: float | None) -> tuple[str, bool]:
    """Return what two estimates must share to be comparable.

    It is their `source` and whether a confirming rollout replaced an equity by `lookahead`: lookahead itself
    rolls out late endings, in fewer trials.
    """
    return source, lookahead is not None


class KnownPlay(NamedTuple):
    """A play with an estimate that is already known."""

    play: Play
    equity: float
    """Normalised equity for the mover."""
    source: str
    """Source of `equity`; see `motif.players.ranking.RankedPlay`."""
    se: float | None = None
    """Standard error of an equity from a rollout."""
    lookahead: float | None = None
    """Equity by lookahead, if `equity` is from a rollout."""

    def to_dict(self) -> dict[str, object]:
        """Return the JSON record."""
        _, *estimate = self
        return {"done": self.play.notation, **dict(zip(self._fields[1:], estimate, strict=True))}


def known_pair(better: KnownPlay, worse: KnownPlay, se: float | None) -> ComparedPair:
    """Return the comparison of two plays by known estimates; `se` is the standard error of the difference."""
    two = better, worse
    looked = [
        one.lookahead if one.source == ROLLOUT and one.lookahead is not None else one.equity for one in two
    ]
    source = worse.source if better.source == ROLLOUT else better.source
    kinds = {estimate_kind(one.source, one.lookahead) for one in two}
    first, second = (
        RankedPlay(one.play, value, value - looked[0], source) for one, value in zip(two, looked, strict=True)
    )
    if source != ROLLOUT or len(kinds) > 1:
        # Plays from two sources are compared by lookahead.
        return ComparedPair(first, second, None)
    equities, errors = (better.equity, worse.equity), (better.se, worse.se)
    rolled = RolledPair(equities, errors, better.equity - worse.equity, se, 0)
    return ComparedPair(first, second, rolled)


def cube_source(decision: CubeDecision, evaluator: Evaluator) -> str:
    """Return the source of a decision's equities, which are by `evaluator` unless they are exact."""
    return EXACT if decision.exact else source_words(plies_of(evaluator))


def difference_shown(first: float, second: float) -> float:
    """Return the difference of two equities that are shown with `DIGITS` decimals."""
    return round(round(first, DIGITS) - round(second, DIGITS), DIGITS)


def confirming_rollout(evaluator: Evaluator) -> RolloutSettings | None:
    """Return the settings of rollouts that confirm errors seen by `evaluator`; None if it is trusted.

    An evaluator is trusted if it does not look ahead, or has no weights to play both sides of a rollout.
    """
    if not (isinstance(evaluator, LookaheadEvaluator) and can_roll_out(evaluator)):
        return None
    return LONG if evaluator.depth.rollout else SHORT


def can_roll_out(evaluator: Evaluator) -> bool:
    """Return whether `evaluator`, without lookahead, can play both sides of a rollout."""
    static = evaluator.without_lookahead
    return isinstance(static, StaticEvaluator) and static.model.kind == WEIGHTS_MODEL


def compare_ranked(
    ranking: Ranking,
    evaluator: Evaluator,
    state: MatchState | None,
    better: Play | None,
    worse: Play | None,
) -> ComparedPair:
    """Compare two plays of a `ranking`, by a confirming rollout if they differ enough.

    They do by `ROLLOUT_THRESHOLD` or more.  By default, compare the best two plays; the better one by the
    rollout comes first.
    """
    confirm = confirming_rollout(evaluator)
    first = ranking[0] if better is None else ranking.of(better)
    if worse is None:
        second = next(ranked for ranked in ranking if ranked.play.position != first.play.position)
    else:
        second = ranking.of(worse)
    is_exact = EXACT in (first.source, second.source)
    if confirm is None or is_exact or abs(first.equity - second.equity) < ROLLOUT_THRESHOLD:
        return ComparedPair(first, second, None)
    pair = np.array([[first.play.position.board, second.play.position.board]])
    before = ranking.position.board[None]
    (rolled,) = roll_out_pairs(before, pair, [cube_model_of(state)], evaluator, confirm, jobs=1)
    if better is None and worse is None and rolled.difference < 0:
        return ComparedPair(second, first, rolled.reversed)
    return ComparedPair(first, second, rolled)


def compare_with_best(
    ranking: Ranking, evaluator: Evaluator, state: MatchState | None, play: Play
) -> ComparedPair | None:
    """Compare the best play of a `ranking` with `play`; return None if they are the same."""
    if ranking[0].play.position == play.position:
        return None
    return compare_ranked(ranking, evaluator, state, None, play)


def compare_pair(
    position: Position,
    roll: tuple[int, int],
    evaluator: Evaluator,
    state: MatchState | None,
    better: Play | None = None,
    worse: Play | None = None,
) -> ComparedPair:
    """Rank the plays of a roll and compare two of them; see `compare_ranked`."""
    asked = [play for play in (better, worse) if play is not None]
    ranking = rank_plays(position, roll, evaluator, state, asked=asked)
    return compare_ranked(ranking, evaluator, state, better, worse)


def roll_out_pairs(
    before: Board,
    pairs: Board,
    cube_models: Sequence[CubeModel],
    evaluator: Evaluator,
    settings: RolloutSettings,
    *,
    jobs: int | None = None,
) -> list[RolledPair]:
    """Roll out the two positions of each of `pairs` (n, 2, 26), after plays on `before` (n, 26).

    `evaluator` plays both sides without its lookahead; the mover is side 0 of the `cube_models` (n).  Dice
    depend on the position before, so results do not depend on `jobs` or on the other pairs.
    """
    static = evaluator.without_lookahead
    assert isinstance(static, StaticEvaluator)
    items = items_of(pack_many(np.asarray(before, np.int8).reshape(-1, 26)))
    asked = list(zip(pairs, items.tolist(), cube_models, strict=True))
    work = partial(_roll_out, settings.player_of(static), settings)
    return in_batches(work, asked, f"{static.name} rolls out doubtful plays", _AT_ONCE, jobs)


def in_batches(
    work: Callable[[Sequence[_Asked]], list[_Answer]],
    asked: Sequence[_Asked],
    label: str,
    size: int,
    jobs: int | None,
) -> list[_Answer]:
    """Return the answers of `work` on batches of `size` in worker processes; `label` shows the progress."""
    return list(chain.from_iterable(run_batches(work, [asked], size, label, jobs)))


def _roll_out(
    player: Evaluator, settings: RolloutSettings, asked: Sequence[tuple[Board, int, CubeModel]]
) -> list[RolledPair]:
    both, rolled = np.arange(2), []
    for pair, item, cube_model in asked:
        packed = pack_many(pair)
        items, cube = np.array([item, item]), cube_after_play(cube_model)
        results = results_of_trials(
            player, settings, packed, items, 0, settings.trials, after_a_play=True, cube=cube, jobs=1
        )
        tally = Tally(2 * len(HEADS), settings.rolls_of(item))
        tally.add(results.transpose(1, 0, 2).reshape(settings.trials, -1))
        stage = stage_of(tally, both)
        first, second = stage.means[:, -1].tolist()
        difference, se = stage.difference(0, 1)
        # A single trial has no standard errors.
        first_se, second_se, se = finite([*stage.errors[:, -1].tolist(), se])
        rolled.append(RolledPair((first, second), (first_se, second_se), difference, se, settings.trials))
    return rolled
