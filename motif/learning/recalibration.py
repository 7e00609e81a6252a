"""Calibrations from results of games or rollouts: fitted to some games, measured on the others.

The knots come from estimated win probabilities and the results of rollouts or played games. Isotonic
regression (scikit-learn) finds the increasing step function with the highest likelihood, and so the lowest
log-loss, of the results. Steps of nearly equal height are merged, and each remaining step becomes a knot: its
mean estimate, as a raw sum, and its share of games won. The map between knots is that of
`motif.evaluators.calibration`.

Source of the steps: Zadrozny and Elkan, "Transforming classifier scores into accurate multiclass
probability estimates" (KDD 2002).

Probabilities are scored by the Brier score (Brier, 1950) and the log-loss (Good, "Rational decisions", 1952).
Both are proper scores: the true probability has the best expected score. Each trial of a rollout is an
outcome, 0 or 1, so the score for a label, which is the share of trials won, is the mean over the trials. A
played game is one trial.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.packed import Board
from motif.evaluators import Evaluator, StaticEvaluator, WeightFile
from motif.evaluators.bearoff import covered_boards
from motif.evaluators.calibration import KnotRows, calibrated_chances, raw_knots, raw_sums
from motif.evaluators.lookahead import LookaheadEvaluator
from motif.evaluators.probabilities import OUTPUTS, WIN
from motif.evaluators.static import weights_of, without_calibration
from motif.learning.heads import seen_datasets
from motif.parameters.position_class import ALL, CLASS_NAMES
from motif.rollouts.tally import error_over_groups
from motif.runtime.arrays import BoolArray, FloatArray, IntArray, slices
from motif.runtime.errors import DatasetError, FitError, PlayerError
from motif.runtime.frames import Tabular
from motif.runtime.package import VERSION
from motif.runtime.parallel import run_ordered, worker_count
from motif.runtime.progress import progress
from motif.runtime.settings import check_seed, require
from motif.sampling.dataset import drawn_games
from motif.sampling.game_results import PositionResults, Results, ScoreResults

MIN_POSITIONS = 100
"""Minimum number of positions for the calibration of a class."""
MAX_KNOTS = 64
TOLERANCE = 1e-4
"""Maximum increase of the log-loss per position, on the data of the fit, by merging steps."""
MIN_IN_A_STEP = 10
"""A step with fewer positions is always merged with a neighbour."""
END_SHARE = 0.98
"""The map must increase within the end steps as well, so that plays keep their order. At the lowest estimate,
the win probability is this share of that of the whole lowest step; at the highest estimate, the loss
probability is this share of that of the highest step.
"""
NEAREST_TO_CERTAIN = 1e-6
"""Minimum distance of a probability from 0 and 1 in the log-loss, which would be infinite for a certainty
that proves wrong.
"""

_POSITIONS_AT_ONCE = 2048
_NO_CLASS = -1


@dataclass(frozen=True, eq=False)
class StatedChances:
    """Estimated win probabilities of n positions, and the results of these positions."""

    before: FloatArray
    """(n,): probabilities from the player."""
    plain: FloatArray
    """(n,): probabilities from the player without a calibration."""
    after: FloatArray
    """(n,): probabilities with the new calibration."""
    exact: BoolArray
    """(n,): whether the probability is from the bearoff tables, which are not calibrated."""
    won: FloatArray
    """(n,): share of the trials that were won."""
    trials: npt.NDArray[np.int32]
    game: IntArray
    position_class: npt.NDArray[np.int8]
    """(n,): index into `CLASS_NAMES`; -1 if the positions are unknown."""

    def __len__(self) -> int:
        return len(self.won)

    def rows(self, which: BoolArray) -> "StatedChances":
        """Return the rows of a mask (n,)."""
        return StatedChances(**{name: values[which] for name, values in vars(self).items()})


@dataclass(frozen=True)
class Change:
    """A mean score before and after calibration; lower is better."""

    before: float
    after: float
    difference: float
    """`after` - `before`; negative if the score has improved."""
    se: float
    """Standard error of `difference`, clustered by game; NaN if there is only one game."""

    @property
    def clear(self) -> bool:
        """Whether the score fell by more than its standard error."""
        return self.difference < -self.se


@dataclass(frozen=True)
class Measured:
    """Changes by the calibration on held-out games, in one class or in all."""

    positions: int
    games: int
    brier: Change
    log_loss: Change


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Tabular):
    """A calibration and its quality."""

    knots: dict[str, KnotRows]
    """Class name -> knots; classes with too few positions have no entry."""
    fitted: StatedChances
    """Positions of the games of the fit."""
    held: StatedChances
    """Positions of the other games."""
    groups: dict[str, Measured]
    """Changes by class and for `ALL`."""
    facts: dict[str, object]
    """Record of the calibration for the weight file."""

    def to_dict(self) -> dict[str, object]:
        """Return scores and knots for JSON."""

        def scores(name: str) -> dict[str, Any]:
            changes = {group: asdict(getattr(of, name)) for group, of in self.groups.items()}
            return {**changes.pop(ALL), "classes": changes}

        whole = self.groups[ALL]
        return {
            "brier": scores("brier"),
            "log_loss": scores("log_loss"),
            "fitted": {"positions": self.facts["positions"], "games": self.facts["games"]},
            "measured": {
                "positions": whole.positions,
                "games": whole.games,
                "classes": {
                    name: {"positions": of.positions, "games": of.games}
                    for name, of in self.groups.items()
                    if name != ALL
                },
            },
            "knots": {name: rows.tolist() for name, rows in self.knots.items()},
        }

    def records(self) -> list[dict[str, object]]:
        """Return a row for each class and for all."""
        return [
            {
                "class": name,
                "positions": of.positions,
                "games": of.games,
                "brier": of.brier.before,
                "brier_after": of.brier.after,
                "log_loss": of.log_loss.before,
                "log_loss_after": of.log_loss.after,
            }
            for name, of in self.groups.items()
        ]


def calibrate(
    results: Results,
    evaluator: Evaluator | None,
    *,
    share: float = 0.5,
    seed: int = 0,
    jobs: int | None = None,
) -> Calibration:
    """Calibrate the win probabilities of an evaluator, class by class, to results of games or rollouts.

    `results` are those of `motif.sampling.game_results.read_results`. Without an `evaluator` they must be
    scores, which are then the probabilities, in one class, `ALL`. About a `share` of the games, drawn with
    `seed`, is for the fit; the others are for measuring. Evaluators with lookahead use `jobs` processes.
    Raises `SettingError` if `share` is not between 0 and 1, `FitError` if there are no games for the fit or
    for measuring, and `DatasetError` for data that cannot be read.
    """
    seed = check_seed(seed)
    worker_count(jobs)
    require(isinstance(share, Real) and 0 < share < 1, "share", share, "between 0 and 1")
    stated = _scored(results) if isinstance(results, ScoreResults) else _stated(results, evaluator, jobs)
    on_held = np.isin(stated.game, drawn_games(np.unique(stated.game), 1 - share, seed))
    if on_held.all() or not on_held.any():
        raise FitError(f"{results.name}: too few games for a fit and a measurement")
    knots = _fitted_knots(stated.rows(~on_held))
    stated = replace(stated, after=_after(stated, knots))
    fitted, held = stated.rows(~on_held), stated.rows(on_held)
    facts = {
        "positions": len(fitted),
        "games": len(np.unique(fitted.game)),
        "dataset": results.fingerprint,
        "share": float(share),
        "seed": seed,
        "motif": VERSION,
    }
    groups = {name: _measured(held.rows(rows)) for name, rows in by_class(held)}
    return Calibration(knots, fitted, held, {**groups, ALL: _measured(held)}, facts)


def weights_behind(evaluator: Evaluator) -> WeightFile:
    """Return a copy of the weights of `evaluator` in which every class has its own heads.

    Raises `PlayerError` for an evaluator without weights or with lookahead.
    """
    weights = weights_of(evaluator)
    assert isinstance(evaluator, StaticEvaluator)  # guaranteed by `weights_of`
    classes = {class_name: weights.heads_of(class_name) for class_name in CLASS_NAMES}
    return replace(weights, classes=classes, bearoff=len(evaluator.model.bearoff.rows) > 0)


def calibrated_weights(evaluator: Evaluator, calibration: Calibration, name: str) -> WeightFile:
    """Return a copy of the weights of `evaluator`, called `name`, with only this `calibration`.

    Raises `PlayerError` like `weights_behind`.
    """
    weights = weights_behind(evaluator)
    fit = {**weights.fit, "calibration": calibration.facts}
    knots = calibration.knots
    if ALL in knots:
        knots = dict.fromkeys(CLASS_NAMES, knots[ALL])
    return replace(weights, name=name, fit=fit, calibration=knots)


def fitted_to(evaluator: Evaluator | None, fingerprints: Iterable[str]) -> bool:
    """Return whether weights of `evaluator` were fitted to positions of datasets of these `fingerprints`."""
    static = evaluator.without_lookahead if evaluator else None
    weights = static.weights if isinstance(static, StaticEvaluator) else None
    return weights is not None and any(fingerprint in seen_datasets(weights) for fingerprint in fingerprints)


def _scored(results: ScoreResults) -> StatedChances:
    """Return the scores as stated probabilities; `after` is still `plain`."""
    chances, count = results.chances, len(results.won)
    return StatedChances(
        before=chances,
        plain=chances,
        after=chances,
        exact=np.zeros(count, np.bool_),
        won=results.won,
        trials=np.ones(count, np.int32),
        game=results.game,
        position_class=np.full(count, _NO_CLASS, np.int8),
    )


def _stated(results: PositionResults, evaluator: Evaluator | None, jobs: int | None) -> StatedChances:
    """Return the probabilities that `evaluator` states for all positions; `after` is still `plain`."""
    if evaluator is None:
        raise PlayerError(f"{results.name}: positions need a player that states their probabilities")
    # Compiled evaluation would finish before other processes had started.
    workers = jobs if isinstance(evaluator, LookaheadEvaluator) else 1
    plain = without_calibration(evaluator) if isinstance(evaluator, StaticEvaluator) else evaluator
    pieces = []
    with progress(f"{evaluator.name} on {results.name}", results.positions) as advance:
        for part in results.parts:
            won = part.probabilities[:, WIN].astype(np.float64)
            if not ((won >= 0) & (won <= 1)).all():
                raise DatasetError(f"{results.name}: the label {OUTPUTS[WIN]} of a position must be 0 to 1")
            before = _win_chances(evaluator, part.boards, workers)
            plain_chances = before if plain is evaluator else _win_chances(plain, part.boards, workers)
            exact = np.zeros(len(part), np.bool_)
            if isinstance(evaluator, StaticEvaluator):
                exact = covered_boards(evaluator.model.bearoff, part.boards)
            game = part.game.astype(np.int64)
            pieces.append(
                (before, plain_chances, plain_chances, exact, won, part.trials, game, part.position_class)
            )
            advance(len(part))
    return StatedChances(*(np.concatenate(column) for column in zip(*pieces, strict=True)))


def _win_chances(evaluator: Evaluator, boards: Board, jobs: int | None) -> FloatArray:
    calls = ((boards[part],) for part in slices(len(boards), _POSITIONS_AT_ONCE))
    with closing(run_ordered(evaluator.evaluate_many, calls, jobs)) as results:
        return np.concatenate([rows[:, WIN] for rows in results]).astype(np.float64)


def by_class(stated: StatedChances) -> Iterator[tuple[str, BoolArray]]:
    """Yield the classes that occur, or `ALL` if they are unknown, and the rows of each as a mask (n,)."""
    for code in np.unique(stated.position_class):
        yield ALL if code == _NO_CLASS else CLASS_NAMES[code], stated.position_class == code


def _fitted_knots(stated: StatedChances) -> dict[str, KnotRows]:
    usable = stated.rows(~stated.exact)
    return {
        class_name: fit_knots(usable.plain[rows], usable.won[rows], usable.trials[rows])
        for class_name, rows in by_class(usable)
        if np.count_nonzero(rows) >= MIN_POSITIONS
    }


def _after(stated: StatedChances, knots: Mapping[str, KnotRows]) -> FloatArray:
    after = stated.plain.copy()
    for class_name, rows in by_class(stated):
        if class_name in knots:
            mask = rows & ~stated.exact
            after[mask] = calibrated_chances(raw_knots(knots[class_name]), stated.plain[mask])
    return after


def _measured(stated: StatedChances) -> Measured:
    def change_of(score: Callable[[FloatArray, FloatArray], FloatArray]) -> Change:
        return change(score(stated.before, stated.won), score(stated.after, stated.won), stated.game)

    games = len(np.unique(stated.game))
    return Measured(len(stated), games, change_of(brier_scores), change_of(log_losses))


def fit_knots(stated: npt.ArrayLike, won: npt.ArrayLike, trials: npt.ArrayLike) -> KnotRows:
    """Return knots float32 (k, 2), k <= `MAX_KNOTS` + 2; scores and chances increase from row to row.

    `stated` (n,), n > 0, are the estimated win probabilities of positions, `won` (n,) the shares of their
    rollouts that were won, and `trials` the numbers of trials. All positions have the same weight. A won
    trial is added at the lowest probability and a lost trial at the highest, so that nothing counts as
    impossible or certain.
    """
    chances = np.asarray(stated, np.float64)
    steps = _merged(_steps(chances, np.asarray(won, np.float64), 1 / float(np.median(np.asarray(trials)))))
    knots, results = steps.stated, steps.won
    lowest, highest = float(chances.min()), float(chances.max())
    if lowest < knots[0]:
        knots, results = np.append(lowest, knots), np.append(END_SHARE * results[0], results)
    if highest > knots[-1]:
        knots, results = np.append(knots, highest), np.append(results, 1 - END_SHARE * (1 - results[-1]))
    return _increasing(np.column_stack([raw_sums(knots), results]))


def brier_scores(chances: npt.ArrayLike, won: npt.ArrayLike) -> FloatArray:
    """Return the mean of (chance - outcome)^2 over each position's trials (n,); `won` is the share won."""
    stated, share = np.asarray(chances, np.float64), np.asarray(won, np.float64)
    return stated**2 - 2 * stated * share + share


def log_losses(chances: npt.ArrayLike, won: npt.ArrayLike) -> FloatArray:
    """Return the mean of -log(chance of the outcome), in nats, over each position's trials (n,)."""
    stated = np.clip(np.asarray(chances, np.float64), NEAREST_TO_CERTAIN, 1 - NEAREST_TO_CERTAIN)
    share = np.asarray(won, np.float64)
    return np.asarray(-(share * np.log(stated) + (1 - share) * np.log1p(-stated)))


def change(before: FloatArray, after: FloatArray, games: npt.NDArray[np.integer]) -> Change:
    """Return the change of scores (n,), n > 0, of positions from `games` (n,)."""
    differences = after - before
    return Change(
        float(before.mean()),
        float(after.mean()),
        float(differences.mean()),
        error_over_groups(differences, games),
    )


class _Steps(NamedTuple):
    """Steps in ascending order, as arrays (k,)."""

    weights: FloatArray
    """Numbers of positions."""
    stated: FloatArray
    """Mean estimated probability of each step."""
    won: FloatArray
    """Share of games won in each step."""

    def merged(self, first: int) -> "_Steps":
        """Return the steps with number `first` and the next one merged."""
        pairs = self.pairs()
        return _Steps(
            *(
                np.concatenate([mine[:first], pair[first : first + 1], mine[first + 2 :]])
                for mine, pair in zip(self, pairs, strict=True)
            )
        )

    def pairs(self) -> "_Steps":
        """Return each two neighbours merged, as arrays (k - 1,)."""
        weights = self.weights[:-1] + self.weights[1:]

        def mean(values: FloatArray) -> FloatArray:
            return (self.weights[:-1] * values[:-1] + self.weights[1:] * values[1:]) / weights

        return _Steps(weights, mean(self.stated), mean(self.won))

    def losses(self) -> FloatArray:
        """Return the log-loss of all positions of each step, at its share of wins."""
        won, rest = self.won, 1 - self.won
        return -self.weights * (won * np.log(won) + rest * np.log(rest))


def _steps(stated: FloatArray, won: FloatArray, one_trial: float) -> _Steps:
    from sklearn.isotonic import isotonic_regression

    values, place = np.unique(stated, return_inverse=True)
    weights = np.bincount(place).astype(np.float64)
    wins = np.bincount(place, won)
    with_trials = weights.copy()
    wins[0] += one_trial
    with_trials[[0, -1]] += one_trial
    if len(values) == 1:
        with_trials[0] += one_trial
    heights = isotonic_regression(wins / with_trials, sample_weight=with_trials)
    _, step = np.unique(heights, return_inverse=True)
    total = np.bincount(step, weights).astype(np.float64)
    return _Steps(
        total,
        np.bincount(step, weights * values) / total,
        np.bincount(step, wins) / np.bincount(step, with_trials),
    )


def _merged(steps: _Steps) -> _Steps:
    """Return the steps after repeatedly merging the two neighbours that increase the log-loss least."""
    budget = TOLERANCE * float(steps.weights.sum())
    while len(steps.weights) > 1:
        losses = steps.losses()
        costs = steps.pairs().losses() - losses[:-1] - losses[1:]
        first = int(np.argmin(costs))
        smallest = int(np.argmin(steps.weights))
        if steps.weights[smallest] < MIN_IN_A_STEP:
            beside = [pair for pair in (smallest - 1, smallest) if 0 <= pair < len(costs)]
            first = min(beside, key=lambda pair: costs[pair])
        elif len(steps.weights) <= MAX_KNOTS and costs[first] > budget:
            break
        else:
            budget -= float(costs[first])
        steps = steps.merged(first)
    return steps


def _increasing(knots: FloatArray) -> KnotRows:
    """Return `knots` in single precision, without those that become equal to their predecessor."""
    rows = knots.astype(np.float32)
    below_one = np.nextafter(np.float32(1), np.float32(0))
    rows[:, 1] = np.clip(rows[:, 1], np.finfo(np.float32).tiny, below_one)
    kept = [rows[0]]
    for row in rows[1:]:
        if (row > kept[-1]).all():
            kept.append(row)
    return np.array(kept)
