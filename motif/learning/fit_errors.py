"""Errors of fitted weights on their dataset: errors of probabilities and of the chosen plays."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.benchmarks.choices import for_chooser, recorded_decisions
from motif.benchmarks.losses import Rows, rows_of_classes
from motif.board.packed import pack_many
from motif.evaluators.kernels import NO_ROWS, evaluate_packed
from motif.evaluators.probabilities import EQUITY_HEAD, HEADS, RANKING_HEAD, WIN
from motif.evaluators.static import from_weights, prepared, weights_model
from motif.evaluators.weight_file import HeadKey, WeightFile
from motif.fitting.objective import FitRecord
from motif.learning.fit_settings import FitSettings
from motif.learning.heads import rows_of_head
from motif.learning.label_noise import NoiseFreeError, root_mean
from motif.learning.rows import ClassRows
from motif.parameters.position_class import ALL, CLASS_NAMES
from motif.rollouts.tally import error_over_groups
from motif.runtime.arrays import slices

_ROWS_AT_ONCE = 1 << 16


class ChoiceError(NamedTuple):
    """Mean loss per decision, in points."""

    mean: float
    se: float
    """Standard error of `mean`, clustered by game; NaN if all decisions come from one game."""


class WinErrors(NamedTuple):
    """Root mean square errors of the win probability over all classes."""

    train: float
    validation: float | None
    """None if nothing is held out."""


def choice_errors(rows: Mapping[str, ClassRows], weights: WeightFile) -> dict[str, ChoiceError]:
    """Return the mean loss, in points, of the choices of `weights` in validation, by class and for `ALL`.

    In each decision with at least two recorded plays, the loss is the label of the best play minus the label
    of the play that `weights` rank first, both for the mover. A decision belongs to the class that its best
    play leads to; classes without decisions have no entry. Labels have noise, and the best of several labels
    is too high on average, so even perfect choices have an error, and only differences between fits on the
    same data are meaningful.
    """
    columns = zip(*_validation(rows, weights), strict=True)
    decision, gain, code, game, score = (np.concatenate(column) for column in columns)
    recorded = recorded_decisions("validation", decision, gain, code, game)
    if not len(recorded):
        return {}
    losses = recorded.losses(score[recorded.rows])
    rows_of: dict[str, Rows] = {ALL: slice(None), **rows_of_classes(losses.classes)}
    return {
        name: ChoiceError(
            float(losses.losses[rows].mean()), error_over_groups(losses.losses[rows], losses.games[rows])
        )
        for name, rows in rows_of.items()
    }


def win_errors_of_heads(
    rows: Mapping[str, ClassRows], fits: Mapping[HeadKey, FitRecord], settings: FitSettings
) -> WinErrors:
    """Pool the errors of the win heads of all classes."""
    squares, counts = np.zeros(2), np.zeros(2)
    for class_name, part in rows.items():
        if (fit := fits.get(HeadKey(class_name, "win"))) is None:
            continue
        errors = (fit.rmse_train, fit.rmse_validation)
        sides = np.split(rows_of_head(part.boards, "win", settings), [part.training])
        for k, (rmse, count) in enumerate(zip(errors, map(np.count_nonzero, sides), strict=True)):
            if rmse is not None:
                squares[k] += rmse**2 * count
                counts[k] += count
    train = float(np.sqrt(squares[0] / counts[0]))
    return WinErrors(train, float(np.sqrt(squares[1] / counts[1])) if counts[1] else None)


def win_errors_of_weights(
    rows: Mapping[str, ClassRows], weights: WeightFile, settings: FitSettings
) -> WinErrors:
    """Measure the errors of the win probability of `weights` on the positions to which they apply."""
    evaluator, sides = from_weights(weights), []
    for part in rows.values():
        use = rows_of_head(part.boards, "win", settings)
        errors = evaluator.evaluate_many(part.boards[use])[:, WIN] - part.labels[use, WIN]
        sides.append(np.split(errors**2, [np.count_nonzero(use[: part.training])]))
    train, rest = map(np.concatenate, zip(*sides, strict=True))
    return WinErrors(float(np.sqrt(train.mean())), float(np.sqrt(rest.mean())) if len(rest) else None)


def label_noise_of(
    rows: Mapping[str, ClassRows], classes: Iterable[str], head: str, settings: FitSettings
) -> float | None:
    """Return the label noise of a head in `classes`, in validation or, if nothing is held out, training."""
    known = [rows[class_name] for class_name in classes]
    held = any(len(part) > part.training for part in known)
    variances = []
    for part in known:
        if part.variances is None:
            return None
        side = slice(part.training, None) if held else slice(part.training)
        use = rows_of_head(part.boards[side], head, settings)
        variances.append(part.variances[side][use, HEADS.index(head)])
    return root_mean(variances)


def overall_errors(
    rows: Mapping[str, ClassRows], weights: WeightFile, win: float | None, settings: FitSettings
) -> dict[str, NoiseFreeError]:
    """Return the validation errors of the win probability (`win`) and of the equity that ranks plays."""
    errors = {"win": NoiseFreeError(win, label_noise_of(rows, rows, "win", settings))}
    ranked = [name for name in rows if RANKING_HEAD in weights.classes.get(name, {}) or settings.hidden]
    if ranked:
        evaluator, squares = from_weights(weights), []
        for part in map(rows.__getitem__, ranked):
            boards = part.boards[part.training :]
            use = rows_of_head(boards, RANKING_HEAD, settings)
            labels = part.labels[part.training :][use, EQUITY_HEAD]
            squares.append((evaluator.equity_many(boards[use]) - labels) ** 2)
        errors[RANKING_HEAD] = NoiseFreeError(
            root_mean(squares), label_noise_of(rows, ranked, RANKING_HEAD, settings)
        )
    return errors


def _validation(
    rows: Mapping[str, ClassRows], weights: WeightFile
) -> Iterator[tuple[npt.NDArray[np.number], ...]]:
    """Yield decisions, labels, classes, games and scores of each class's validation rows.

    Labels and scores are for the player who chose the play.
    """
    model, space = prepared(weights_model(weights))
    for class_name, part in rows.items():
        validation = slice(part.training, None)
        boards, chose = part.boards[validation], part.after_replies[validation]
        gains = for_chooser(part.labels[validation, EQUITY_HEAD], chose)
        code = np.full(len(gains), CLASS_NAMES.index(class_name), np.int8)
        scores = np.empty(len(boards))
        for some in slices(len(scores), _ROWS_AT_ONCE):
            evaluate_packed(model, pack_many(boards[some]), space, scores[some], NO_ROWS)
        yield part.decisions[validation], gains, code, part.games[validation], for_chooser(scores, chose)
