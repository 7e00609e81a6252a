"""What fitted weights cost in play: how much worse, by the labels, the plays are that they would choose."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.board.position import pack_many
from motif.bootstrap.class_rows import LABELS, ClassRows
from motif.evaluators import WeightFile
from motif.evaluators.kernels import score_packed
from motif.evaluators.probabilities import turned_equities
from motif.evaluators.static import prepared, weights_model
from motif.fitting.ranking import decision_starts
from motif.fitting.terms import FloatArray, IntArray
from motif.parameters.position_class import CLASS_NAMES

ALL = "all"
"""Stands for the decisions of every class."""
_ROWS_AT_ONCE = 1 << 16


def choice_errors(rows: Mapping[str, ClassRows], weights: WeightFile) -> dict[str, float]:
    """By class, and for `ALL`: the mean loss in points of the choices of `weights` in validation decisions.

    In each decision that has two recorded plays or more, the loss is the label of the best play less that
    of the play that `weights` as a whole, every class and plan in force, value highest, both for the
    mover.  A decision belongs to the class that its best play leads to; without decisions there is no
    entry.  Labels have noise, and the best of several is best partly by luck: so even perfect choices
    have an error, and only differences between fits on the same data mean something.
    """
    columns = zip(*_validation(rows, weights), strict=True)
    decision, code, gain, score = (np.concatenate(column) for column in columns)
    order = np.argsort(decision, kind="stable")
    decision, code, gain, score = decision[order], code[order], gain[order], score[order]
    starts = decision_starts(decision, len(decision))
    several = np.repeat(np.diff(starts) > 1, np.diff(starts))
    decision, code, gain, score = decision[several], code[several], gain[several], score[several]
    starts = decision_starts(decision, len(decision))[:-1]
    if not len(starts):
        return {}
    best, chosen = _first_highest(gain, starts), _first_highest(score, starts)
    losses, class_of = gain[best] - gain[chosen], code[best]
    errors = {ALL: float(losses.mean())}
    for number in np.unique(class_of):
        errors[CLASS_NAMES[number]] = float(losses[class_of == number].mean())
    return errors


def _validation(rows: Mapping[str, ClassRows], weights: WeightFile) -> Iterator[tuple[npt.NDArray[Any], ...]]:
    """Of the validation rows of each class: decision, code of the class, label and score for the mover."""
    for class_name, found in rows.items():
        held = slice(found.training, None)
        gain = turned_equities(found.labels[held, LABELS.index("equity")].astype(np.float64))
        code = np.full(len(gain), CLASS_NAMES.index(class_name))
        yield found.decisions[held], code, gain, _scores(found, weights)


def _scores(rows: ClassRows, weights: WeightFile) -> FloatArray:
    """How `weights` rank the validation rows, for the mover."""
    model, space = prepared(weights_model(weights))
    scores = np.empty(len(rows) - rows.training)
    for begin in range(0, len(scores), _ROWS_AT_ONCE):
        part = scores[begin : begin + _ROWS_AT_ONCE]
        first = rows.training + begin
        score_packed(model, pack_many(rows.boards[first : first + len(part)]), space, part)
    return turned_equities(scores)


def _first_highest(values: FloatArray, starts: IntArray) -> IntArray:
    """Row of the highest value, the first one where several are, of each run of rows from `starts` on."""
    peaks = np.repeat(np.maximum.reduceat(values, starts), np.diff(starts, append=len(values)))
    highest = np.flatnonzero(values == peaks)
    return highest[np.searchsorted(highest, starts)]
