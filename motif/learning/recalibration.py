"""A calibration from results of games or rollouts: fitted on some games, measured on the others.

The knots come from shown win chances and the results of rollouts, or of games that were played.  Isotonic
regression (scikit-learn) finds the rising steps that are most likely to have given the results; no rising map
has a lower log-loss on them.  Steps that say nearly the same are put together, and each that is left becomes
a knot: the mean chance shown there, as a raw sum, and the share of games won.  The map between knots is that
of `motif.evaluators.calibration`.

Source of the steps: Zadrozny and Elkan, "Transforming classifier scores into accurate multiclass
probability estimates" (KDD 2002).

Chances are scored by the Brier score (Brier, 1950) and the log-loss (Good, "Rational decisions", 1952).
Both are proper: nobody does better than by stating the true chance.  Each trial of a rollout is an
outcome, 0 or 1, so a label that is the share of trials won gives the mean over them.  A game that was
played is one trial.
"""

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.packed import Board
from motif.evaluators import Evaluator, StaticEvaluator, WeightFile
from motif.evaluators.bearoff import covered_boards
from motif.evaluators.calibration import KnotRows, calibrated_chances, raw_knots, raw_sums
from motif.evaluators.lookahead import LookaheadEvaluator
from motif.evaluators.probabilities import OUTPUTS, WIN
from motif.evaluators.static import without_calibration
from motif.parameters.position_class import CLASS_NAMES
from motif.rollouts.tally import error_over_groups
from motif.runtime.errors import DatasetError, FitError, PlayerError, SettingError
from motif.runtime.frames import Tabular
from motif.runtime.package import VERSION
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import progress
from motif.sampling.game_results import PositionResults, Results, ScoreResults, dataset_results
from motif.sampling.samples import drawn_games

MIN_POSITIONS = 100
"""A class with fewer to fit on keeps its chances."""
ALL = "all"
"""The group of all positions, beside those of the classes; the only one where the positions are not known."""
MAX_KNOTS = 64
TOLERANCE = 1e-4
"""The log-loss per position that putting steps together may cost on the data of the fit."""
MIN_IN_A_STEP = 10
"""A step with fewer is put together with a neighbour, whatever that costs."""
END_SHARE = 0.98
"""At the lowest chance shown in the data a win is this much of what it is in the whole lowest step, and a
loss likewise at the highest: the map must rise there too, so that no order of plays is lost."""
NEAREST_TO_CERTAIN = 1e-6
"""The log-loss takes a chance that is nearer to 0 or 1 for one this far from it; that of a lost
certainty would be infinite."""

_POSITIONS_AT_ONCE = 2048
_NO_CLASS = -1

_FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StatedChances:
    """Win chances of n positions, beside what rollouts made of them."""

    before: _FloatArray
    """(n,) as the player states them."""
    plain: _FloatArray
    """(n,) as the player states them without a calibration."""
    after: _FloatArray
    """(n,) with the new calibration."""
    exact: npt.NDArray[np.bool_]
    """(n,): whether bearoff tables gave the chance, which no calibration changes."""
    won: _FloatArray
    """(n,) share of the rollouts that were won."""
    trials: npt.NDArray[np.int32]
    game: npt.NDArray[np.int64]
    position_class: npt.NDArray[np.int8]
    """(n,) index into `CLASS_NAMES`; -1 where the positions are not known."""

    def __len__(self) -> int:
        return len(self.won)

    def rows(self, which: npt.NDArray[np.bool_]) -> "StatedChances":
        """Return the rows of a mask (n,)."""
        return StatedChances(**{name: values[which] for name, values in vars(self).items()})


@dataclass(frozen=True)
class Change:
    """A mean score before and after; less is better."""

    before: float
    after: float
    difference: float
    """After less before: below 0 where it has become better."""
    se: float
    """Standard error of `difference`; positions of one game count as one observation.  NaN for one game."""

    @property
    def clear(self) -> bool:
        """Whether the score fell by more than its standard error."""
        return self.difference < -self.se


@dataclass(frozen=True)
class Measured:
    """What the calibration changes on the games that it was not fitted on, in one class or in all."""

    positions: int
    games: int
    brier: Change
    log_loss: Change


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Tabular):
    """A calibration, and how good it is."""

    knots: dict[str, KnotRows]
    """By class; none for a class of too few positions."""
    fitted: StatedChances
    """Positions of the games that it was fitted on."""
    held: StatedChances
    """Positions of the other games."""
    groups: dict[str, Measured]
    """By class, and for `ALL`."""
    facts: dict[str, Any]
    """Where it comes from, for the weight file."""

    def to_dict(self) -> dict[str, Any]:
        """Return scores and knots, as JSON has them."""

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

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each class, and for all."""
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
    results: Results | Path | str,
    evaluator: Evaluator | None,
    *,
    share: float = 0.5,
    seed: int = 0,
    jobs: int | None = None,
) -> Calibration:
    """Fit the win chances of an evaluator, class by class, to results of games or rollouts.

    Parameters
    ----------
    results
        What `motif.sampling.game_results.read_results` gives, or the folder of a dataset.
    evaluator
        States a chance for each position; not asked, and may be None, where the results are scores: these are
        the chances then, in one class, `ALL`.
    share
        About this share of the games, drawn by `seed`, is fitted on; the rest is measured on.
    seed, jobs
        Seed of the draw; processes for evaluators that look ahead.

    Returns
    -------
    Calibration

    Raises
    ------
    SettingError
        For a share that is not between 0 and 1.
    FitError
        When either side has no games.
    DatasetError
        For data that cannot be read.
    """
    if not 0 < share < 1:
        raise SettingError(f"share must lie between 0 and 1, not be {share}", "share")
    results = _read(results)
    stated = _scored(results) if isinstance(results, ScoreResults) else _stated(results, evaluator, jobs)
    on_held = np.isin(stated.game, drawn_games(np.unique(stated.game), 1 - share, seed))
    if on_held.all() or not on_held.any():
        raise FitError(f"{results.name}: too few games to fit on some and measure on others")
    knots = _fitted_knots(stated.rows(~on_held))
    stated = replace(stated, after=_after(stated, knots))
    fitted, held = stated.rows(~on_held), stated.rows(on_held)
    facts = {
        "positions": len(fitted),
        "games": len(np.unique(fitted.game)),
        "dataset": results.fingerprint,
        "share": share,
        "seed": seed,
        "motif": VERSION,
    }
    groups = {name: _measured(held.rows(rows)) for name, rows in by_class(held)}
    return Calibration(knots, fitted, held, {**groups, ALL: _measured(held)}, facts)


def weights_behind(evaluator: Evaluator) -> WeightFile:
    """Return the weights of `evaluator` as a file of their own, where every class has its own.

    Raises `PlayerError` for an evaluator without weights, or one that looks ahead with them.
    """
    if not isinstance(evaluator, StaticEvaluator) or evaluator.weights is None:
        raise PlayerError(
            f"{evaluator.name!r} has no weights to put a calibration beside; a weight file, bras or phase has"
        )
    weights = evaluator.weights
    classes = {class_name: weights.heads_of(class_name) for class_name in CLASS_NAMES}
    return replace(weights, classes=classes, bearoff=len(evaluator.model.bearoff.rows) > 0)


def calibrated_weights(evaluator: Evaluator, calibration: Calibration, name: str) -> WeightFile:
    """Return a copy of the weights of `evaluator`, called `name`, with this `calibration` alone.

    Raises `PlayerError` as `weights_behind` does.
    """
    weights = weights_behind(evaluator)
    fit = {**weights.fit, "calibration": calibration.facts}
    knots = calibration.knots
    if ALL in knots:
        knots = dict.fromkeys(CLASS_NAMES, knots[ALL])
    return replace(weights, name=name, fit=fit, calibration=knots)


def fitted_to(evaluator: Evaluator | None, results: Results | Path | str) -> bool:
    """Whether the weights of `evaluator` were fitted to the dataset `results`, according to their record."""
    weights = evaluator.weights if isinstance(evaluator, StaticEvaluator) else None
    datasets = weights.fit.get("dataset", []) if weights else []
    return _read(results).fingerprint in ([datasets] if isinstance(datasets, str) else datasets)


def _read(results: Results | Path | str) -> Results:
    """`results` themselves, or those in the folder of a dataset."""
    return dataset_results(Path(results)) if isinstance(results, Path | str) else results


def _scored(results: ScoreResults) -> StatedChances:
    """Take scores for the chances that were stated; `after` is still `plain`."""
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
    """Let `evaluator` state the chances of all positions; `after` is still `plain`."""
    if evaluator is None:
        raise PlayerError(f"{results.name}: positions have no chances before a player states them")
    # Compiled evaluation is done before other processes have begun.
    workers = jobs if isinstance(evaluator, LookaheadEvaluator) else 1
    plain = without_calibration(evaluator) if isinstance(evaluator, StaticEvaluator) else evaluator
    pieces = []
    with progress(f"{evaluator.name} on {results.name}", results.positions) as advance:
        for part in results.parts:
            won = part.probabilities[:, WIN].astype(np.float64)
            if not ((won >= 0) & (won <= 1)).all():
                raise DatasetError(
                    f"{results.name}: the label {OUTPUTS[WIN]} of a position is not within 0 and 1"
                )
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


def _win_chances(evaluator: Evaluator, boards: Board, jobs: int | None) -> _FloatArray:
    starts = range(0, len(boards), _POSITIONS_AT_ONCE)
    calls = ((boards[start : start + _POSITIONS_AT_ONCE],) for start in starts)
    with closing(run_ordered(evaluator.evaluate_many, calls, jobs)) as results:
        return np.concatenate([rows[:, WIN] for rows in results]).astype(np.float64)


def by_class(stated: StatedChances) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    """Yield the classes that occur, `ALL` if they are unknown, and which rows (n,) belong to each."""
    for code in np.unique(stated.position_class):
        yield ALL if code == _NO_CLASS else CLASS_NAMES[code], stated.position_class == code


def _fitted_knots(stated: StatedChances) -> dict[str, KnotRows]:
    usable = stated.rows(~stated.exact)
    return {
        class_name: fit_knots(usable.plain[rows], usable.won[rows], usable.trials[rows])
        for class_name, rows in by_class(usable)
        if np.count_nonzero(rows) >= MIN_POSITIONS
    }


def _after(stated: StatedChances, knots: Mapping[str, KnotRows]) -> _FloatArray:
    after = stated.plain.copy()
    for class_name, rows in by_class(stated):
        if class_name in knots:
            mask = rows & ~stated.exact
            after[mask] = calibrated_chances(raw_knots(knots[class_name]), stated.plain[mask])
    return after


def _measured(stated: StatedChances) -> Measured:
    def change_of(score: Any) -> Change:
        return change(score(stated.before, stated.won), score(stated.after, stated.won), stated.game)

    games = len(np.unique(stated.game))
    return Measured(len(stated), games, change_of(brier_scores), change_of(log_losses))


def fit_knots(shown: npt.ArrayLike, won: npt.ArrayLike, trials: npt.ArrayLike) -> KnotRows:
    """Knots float32 (k, 2), k <= `MAX_KNOTS` + 2, score and chance both rising from row to row.

    `shown` chances (n,), n > 0, of positions whose rollouts, each of so many `trials`, were won to the
    share `won` (n,).  Positions count alike.  One trial is added that was won at the lowest chance, and one
    that was lost at the highest, so that nothing counts as impossible or certain.
    """
    chances = np.asarray(shown, np.float64)
    steps = _thinned(_steps(chances, np.asarray(won, np.float64), 1 / float(np.median(np.asarray(trials)))))
    knots, results = steps.shown, steps.won
    lowest, highest = float(chances.min()), float(chances.max())
    if lowest < knots[0]:
        knots, results = np.append(lowest, knots), np.append(END_SHARE * results[0], results)
    if highest > knots[-1]:
        knots, results = np.append(knots, highest), np.append(results, 1 - END_SHARE * (1 - results[-1]))
    return _rising(np.column_stack([raw_sums(knots), results]))


def brier_scores(chances: npt.ArrayLike, won: npt.ArrayLike) -> _FloatArray:
    """Return the mean of (chance - outcome)^2 over each position's trials (n,), `won` (n,) of them won."""
    stated, share = np.asarray(chances, np.float64), np.asarray(won, np.float64)
    return stated**2 - 2 * stated * share + share


def log_losses(chances: npt.ArrayLike, won: npt.ArrayLike) -> _FloatArray:
    """Return the mean of -log(chance of what happened), in nats, over each position's trials (n,)."""
    stated = np.clip(np.asarray(chances, np.float64), NEAREST_TO_CERTAIN, 1 - NEAREST_TO_CERTAIN)
    share = np.asarray(won, np.float64)
    return np.asarray(-(share * np.log(stated) + (1 - share) * np.log1p(-stated)))


def change(before: _FloatArray, after: _FloatArray, games: npt.NDArray[np.integer]) -> Change:
    """Return the change of scores (n,), n > 0, of positions from `games` (n,)."""
    differences = after - before
    return Change(
        float(before.mean()),
        float(after.mean()),
        float(differences.mean()),
        error_over_groups(differences, games),
    )


class _Steps(NamedTuple):
    """Steps in rising order, each array (k,)."""

    weights: _FloatArray
    """Positions."""
    shown: _FloatArray
    """Their mean shown chance."""
    won: _FloatArray
    """The share of the games that were won from there."""

    def together(self, first: int) -> "_Steps":
        """All steps, but the one numbered `first` and its successor put together."""
        pairs = self.pairs()
        return _Steps(
            *(
                np.concatenate([mine[:first], pair[first : first + 1], mine[first + 2 :]])
                for mine, pair in zip(self, pairs, strict=True)
            )
        )

    def pairs(self) -> "_Steps":
        """Return what each two neighbours make together, each array (k - 1,)."""
        weights = self.weights[:-1] + self.weights[1:]

        def mean(values: _FloatArray) -> _FloatArray:
            return (self.weights[:-1] * values[:-1] + self.weights[1:] * values[1:]) / weights

        return _Steps(weights, mean(self.shown), mean(self.won))

    def losses(self) -> _FloatArray:
        """Log-loss of each step's positions together, by its share of wins."""
        won, rest = self.won, 1 - self.won
        return -self.weights * (won * np.log(won) + rest * np.log(rest))


def _steps(shown: _FloatArray, won: _FloatArray, one_trial: float) -> _Steps:
    from sklearn.isotonic import isotonic_regression

    values, place = np.unique(shown, return_inverse=True)
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


def _thinned(steps: _Steps) -> _Steps:
    """Return the steps after the cheapest of their neighbours have been put together, again and again."""
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
        steps = steps.together(first)
    return steps


def _rising(knots: _FloatArray) -> KnotRows:
    """`knots` as a weight file holds them, without those that single precision does not tell apart."""
    rows = knots.astype(np.float32)
    below_one = np.nextafter(np.float32(1), np.float32(0))
    rows[:, 1] = np.clip(rows[:, 1], np.finfo(np.float32).tiny, below_one)
    rungs = [rows[0]]
    for row in rows[1:]:
        if (row > rungs[-1]).all():
            rungs.append(row)
    return np.array(rungs)
