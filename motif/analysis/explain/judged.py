"""How a weight file comes to its value of one position: by which rule, weights and raw sum."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from motif.analysis.explain.form import FloatArray, Form, Seen
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators import OUTPUTS, Evaluator, StaticEvaluator, WeightFile
from motif.evaluators.calibration import calibrated, calibrated_chances
from motif.evaluators.kernels import SOURCES
from motif.evaluators.point_table import checkers_by_place
from motif.evaluators.probabilities import (
    EQUITY_BOUND,
    WIN,
    equity_of,
    equity_to_raw,
    make_consistent,
    probability_to_raw,
)
from motif.fitting.link import PROBABILITY
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES, RACE
from motif.runtime.errors import PlayerError
from motif.runtime.jit import kernel

FINISHED, TABLES, WEIGHTS = SOURCES[:3]
"""What a value comes from."""
EQUITY = "equity"
_WIN_NAME = OUTPUTS[WIN]


@dataclass(frozen=True, eq=False)
class Judged:
    """A position and its value, both seen by the player on roll."""

    position: Position
    seen: Seen
    class_name: str
    plan: str | None
    """The game plan, of a file that has weights of its own for any."""
    source: str
    """`WEIGHTS`, `TABLES` or `FINISHED`."""
    x: float
    """By which plays are ranked: the raw sum of the head ``equity``, or of ``win`` where the file has nothing
    else; without either the raw sum that stands for the equity of all chances, or for a table's value."""
    value: float
    """The squashed x: equity, -3 to 3; of a file that has only win chances 2 win - 1."""
    forms: Mapping[str, Form]
    """The raw sums that x is made of: that of one head, or those of all chances that are not ruled out;
    none where the value does not come from weights."""
    direct: bool
    """Whether the one form is enough: x is its raw sum, or what the calibration makes of that."""
    knots: FloatArray
    """(k, 2): the calibration of the win chance here (`motif.evaluators.calibration`); none where k is 0."""


def explainable(evaluator: Evaluator) -> tuple[StaticEvaluator, WeightFile]:
    """The evaluator and its weights, if its values can be explained; raises `PlayerError` otherwise."""
    if isinstance(evaluator, StaticEvaluator) and evaluator.weights is not None:
        return evaluator, evaluator.weights
    raise PlayerError(
        f"the values of {evaluator.name!r} are no sums of named terms; weight files, bras and phase, "
        "without lookahead, can be explained"
    )


def bound_of(evaluator: StaticEvaluator) -> float:
    """The largest value that plays are ranked by: 3 points, or 1 for a file that has only win chances."""
    return 1.0 if evaluator.model.win_only else EQUITY_BOUND


def both_races(first: Judged, second: Judged) -> bool:
    """Whether nothing but the race is left in both."""
    return first.class_name == second.class_name == CLASS_NAMES[RACE]


def judged(evaluator: StaticEvaluator, position: Position) -> Judged:
    """How `evaluator` comes to its value of `position`; raises `PlayerError` for one without weights."""
    _, weights = explainable(evaluator)
    trace = evaluator.trace(position)
    counts = checkers_by_place(pack_many(position.board[None]))[0].astype(np.int64)
    seen = Seen(features(weights.parameters, position.board[None])[0].astype(np.float64), counts)
    win_only, direct = evaluator.model.win_only, False
    forms: dict[str, Form] = {}
    tables = evaluator.model.knots
    knots = tables[CLASS_NAMES.index(trace.class_name)] if len(tables) else np.zeros((0, 2))
    if trace.source != WEIGHTS:
        x = float(_raw(trace.probabilities, win_only))
    else:
        heads = weights.heads_at(trace.class_name, trace.plan)
        alone = _WIN_NAME if win_only else EQUITY
        direct = alone in heads
        if direct:
            forms = {alone: Form.of_head(heads[alone])}
            x = forms[alone].value(seen)
            x = float(calibrated_raw(knots, x)) if win_only else x
        else:
            forms = {name: Form.of_head(heads[name]) for name in heads if name in trace.raws}
            x = float(_raw(_chances(forms, seen, position, knots), win_only))
    value = bound_of(evaluator) * math.tanh(x)
    return Judged(position, seen, trace.class_name, trace.plan, trace.source, x, value, forms, direct, knots)


def _chances(forms: Mapping[str, Form], seen: Seen, position: Position, knots: FloatArray) -> FloatArray:
    """The five probabilities (5,) that the raw sums `forms` give a position, calibrated and made to agree."""
    row = np.zeros(len(OUTPUTS))
    for head, form in forms.items():
        row[OUTPUTS.index(head)] = PROBABILITY.predict(form.value(seen))
    _agree(row, position.own_off, position.opponent_off)
    if len(knots):
        row[:1] = calibrated_chances(knots, row[:1])
        _agree(row, 0, 0)
    return row


@kernel
def calibrated_raw(knots, raw):
    """What a calibration (k, 2) makes of the raw sum of a win chance; the same where k is 0."""
    return calibrated(knots, raw) if knots.shape[0] > 0 else raw


@kernel
def _agree(row, own_off, opponent_off):
    make_consistent(row, own_off, opponent_off)


@kernel
def _raw(row, win_only):
    return probability_to_raw(row[WIN]) if win_only else equity_to_raw(equity_of(row))
