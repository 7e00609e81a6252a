"""A calibration from a dataset: fitted on some of its games, measured on the others."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.board.packed import Board
from motif.evaluators import Evaluator, StaticEvaluator, WeightFile
from motif.evaluators.bearoff import covered_boards
from motif.evaluators.calibration import KnotRows, calibrated_chances, raw_knots
from motif.evaluators.lookahead import LookaheadEvaluator
from motif.evaluators.probabilities import OUTPUTS, WIN
from motif.evaluators.static import without_calibration
from motif.fitting.isotonic import Change, brier_scores, change, fit_knots, log_losses
from motif.learning.rows import validation_games
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.errors import DatasetError, FitError, PlayerError, SettingError
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import progress
from motif.runtime.version import VERSION
from motif.sampling import dataset_fingerprint, read_manifest_positions, read_parts

FEWEST_POSITIONS = 100
"""A class with fewer to fit on keeps its chances."""
ALL = "all"
"""The group of all positions, beside those of the classes."""

_POSITIONS_AT_ONCE = 2048

_FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StatedChances:
    """Win chances of n positions, beside what rollouts made of them."""

    before: _FloatArray
    """(n,) as the player states them."""
    plain: _FloatArray
    """(n,) as he states them without the calibration that he may have."""
    after: _FloatArray
    """(n,) with the new calibration."""
    exact: npt.NDArray[np.bool_]
    """(n,): whether bearoff tables gave the chance, which no calibration changes."""
    won: _FloatArray
    """(n,) share of the rollouts that were won."""
    trials: npt.NDArray[np.int32]
    game: npt.NDArray[np.int64]
    position_class: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.won)

    def rows(self, which: npt.NDArray[np.bool_]) -> "StatedChances":
        """The rows of a mask (n,)."""
        return StatedChances(**{name: values[which] for name, values in vars(self).items()})


@dataclass(frozen=True)
class Measured:
    """What the calibration changes on the games that it was not fitted on, in one class or in all."""

    positions: int
    games: int
    brier: Change
    log_loss: Change


@dataclass(frozen=True, eq=False)
class Calibration:
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


def calibrate(
    folder: Path | str, evaluator: Evaluator, *, share: float = 0.5, seed: int = 0, jobs: int | None = None
) -> Calibration:
    """Fit the win chances of `evaluator`, class by class, to the dataset in `folder`.

    About the `share` of its games, drawn by `seed`, is fitted on, the rest is measured on.  Raises
    `SettingError` for a share that is not between 0 and 1, `FitError` when either side has no games,
    `DatasetError` for data that cannot be read.
    """
    if not 0 < share < 1:
        raise SettingError(f"share must lie between 0 and 1, not be {share}", "share")
    folder = Path(folder)
    measured_on = validation_games([folder], 1 - share, seed)
    stated = _stated(folder, evaluator, jobs)
    on_held = np.isin(stated.game, measured_on)
    if on_held.all() or not on_held.any():
        raise FitError(f"{folder}: too few games to fit on some and measure on others")
    knots = _fitted_knots(stated.rows(~on_held))
    stated = replace(stated, after=_after(stated, knots))
    fitted, held = stated.rows(~on_held), stated.rows(on_held)
    facts = {
        "positions": len(fitted),
        "games": len(np.unique(fitted.game)),
        "dataset": dataset_fingerprint(folder),
        "share": share,
        "seed": seed,
        "motif": VERSION,
    }
    groups = {name: _measured(held.rows(rows)) for name, rows in _by_class(held)}
    return Calibration(knots, fitted, held, {**groups, ALL: _measured(held)}, facts)


def weights_behind(evaluator: Evaluator) -> WeightFile:
    """The weights of `evaluator`, as they would stand in a file of their own, where every class has its own.

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
    """A copy of the weights of `evaluator`, called `name`, that holds `calibration` in place of any other.

    Raises `PlayerError` as `weights_behind` does.
    """
    weights = weights_behind(evaluator)
    fit = {**weights.fit, "calibration": calibration.facts}
    return replace(weights, name=name, fit=fit, calibration=calibration.knots)


def fitted_to(evaluator: Evaluator, folder: Path | str) -> bool:
    """Whether the weights of `evaluator` were fitted to the dataset in `folder`, as far as they tell."""
    weights = evaluator.weights if isinstance(evaluator, StaticEvaluator) else None
    datasets = weights.fit.get("dataset", []) if weights else []
    return dataset_fingerprint(Path(folder)) in ([datasets] if isinstance(datasets, str) else datasets)


def _stated(folder: Path, evaluator: Evaluator, jobs: int | None) -> StatedChances:
    """All positions of the dataset; `after` is still `plain`."""
    # Compiled evaluation is done before other processes have begun.
    workers = jobs if isinstance(evaluator, LookaheadEvaluator) else 1
    plain = without_calibration(evaluator) if isinstance(evaluator, StaticEvaluator) else evaluator
    pieces = []
    with progress(f"{evaluator.name} on {folder}", read_manifest_positions(folder)) as advance:
        for part in read_parts(folder):
            won = part.probabilities[:, WIN].astype(np.float64)
            if not ((won >= 0) & (won <= 1)).all():
                raise DatasetError(f"{folder}: the label {OUTPUTS[WIN]} of a position is not within 0 and 1")
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


def _by_class(stated: StatedChances) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    """The classes that occur, and which rows (n,) belong to each."""
    for code in np.unique(stated.position_class):
        yield CLASS_NAMES[code], stated.position_class == code


def _fitted_knots(stated: StatedChances) -> dict[str, KnotRows]:
    usable = stated.rows(~stated.exact)
    return {
        class_name: fit_knots(usable.plain[rows], usable.won[rows], usable.trials[rows])
        for class_name, rows in _by_class(usable)
        if np.count_nonzero(rows) >= FEWEST_POSITIONS
    }


def _after(stated: StatedChances, knots: Mapping[str, KnotRows]) -> _FloatArray:
    after = stated.plain.copy()
    for class_name, rows in _by_class(stated):
        if class_name in knots:
            mask = rows & ~stated.exact
            after[mask] = calibrated_chances(raw_knots(knots[class_name]), stated.plain[mask])
    return after


def _measured(stated: StatedChances) -> Measured:
    def change_of(score: Any) -> Change:
        return change(score(stated.before, stated.won), score(stated.after, stated.won), stated.game)

    games = len(np.unique(stated.game))
    return Measured(len(stated), games, change_of(brier_scores), change_of(log_losses))
