"""What fitted weights cost in play: how much worse, by the labels, the plays are that they would choose."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motif.benchmark.losses import Rows, rows_of_classes
from motif.benchmark.recorded import recorded_decisions
from motif.board.position import pack_many
from motif.bootstrap.class_rows import LABELS, ClassRows
from motif.evaluators import WeightFile
from motif.evaluators.kernels import score_packed
from motif.evaluators.probabilities import turned_equities
from motif.evaluators.static import prepared, weights_model
from motif.fitting.terms import FloatArray
from motif.parameters.position_class import CLASS_NAMES
from motif.rollout.tally import error_over_groups

ALL = "all"
"""Stands for the decisions of every class."""
_ROWS_AT_ONCE = 1 << 16


class ChoiceError(NamedTuple):
    """What a decision costs, in points."""

    mean: float
    se: float
    """Standard error of `mean`, games taken as wholes; NaN where all decisions come from one game."""


def choice_errors(rows: Mapping[str, ClassRows], weights: WeightFile) -> dict[str, ChoiceError]:
    """By class, and for `ALL`: the mean loss in points of the choices of `weights` in validation decisions.

    In each decision that has two recorded plays or more, the loss is the label of the best play less that
    of the play that `weights` as a whole, every class and plan in force, value highest, both for the
    mover.  A decision belongs to the class that its best play leads to; without decisions there is no
    entry.  Labels have noise, and the best of several is best partly by luck: so even perfect choices
    have an error, and only differences between fits on the same data mean something.
    """
    columns = zip(*_validation(rows, weights), strict=True)
    decision, equity, code, game, score = (np.concatenate(column) for column in columns)
    recorded = recorded_decisions("validation", decision, equity, code)
    if not len(recorded):
        return {}
    found = recorded.losses(score[recorded.rows])
    game = game[recorded.rows[recorded.starts]]
    rows_of: dict[str, Rows] = {ALL: slice(None), **rows_of_classes(found.classes)}
    return {
        name: ChoiceError(float(found.losses[rows].mean()), error_over_groups(found.losses[rows], game[rows]))
        for name, rows in rows_of.items()
    }


def _validation(rows: Mapping[str, ClassRows], weights: WeightFile) -> Iterator[tuple[npt.NDArray[Any], ...]]:
    """Of the validation rows of each class: decision, label, class, game, and score for the mover."""
    for class_name, found in rows.items():
        held = slice(found.training, None)
        equity = found.labels[held, LABELS.index("equity")]
        code = np.full(len(equity), CLASS_NAMES.index(class_name), np.int8)
        yield found.decisions[held], equity, code, found.games[held], _scores(found, weights)


def _scores(rows: ClassRows, weights: WeightFile) -> FloatArray:
    """How `weights` rank the validation rows, for the mover."""
    model, space = prepared(weights_model(weights))
    scores = np.empty(len(rows) - rows.training)
    for begin in range(0, len(scores), _ROWS_AT_ONCE):
        part = scores[begin : begin + _ROWS_AT_ONCE]
        first = rows.training + begin
        score_packed(model, pack_many(rows.boards[first : first + len(part)]), space, part)
    return turned_equities(scores)
