"""How a weight file comes to its value of one position: by which rule, weights and raw sum."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np

from motif.analysis.explain.form import FloatArray, Form, Seen, pattern_terms
from motif.board.outcome import finished_points_many
from motif.board.packed import CHECKERS, Board, pack_many
from motif.board.position import Position
from motif.evaluators import OUTPUTS, Evaluator, StaticEvaluator, WeightFile
from motif.evaluators.bearoff import covered_boards
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
from motif.evaluators.weight_file import HeadWeights
from motif.fitting.problem import PROBABILITY
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES, NO_PLAN, PLANS, RACE, classify_many, plans_many
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
    knots = _knots(evaluator, trace.class_name)
    if trace.source != WEIGHTS:
        x = float(_raw(trace.probabilities, win_only))
    else:
        heads = weights.heads_at(trace.class_name, trace.plan)
        ranking = _ranking_heads(evaluator, heads)
        direct = ranking == (_WIN_NAME if win_only else EQUITY,)
        forms = {
            name: _form(weights, trace.class_name, name, heads)
            for name in ranking
            if direct or name in trace.raws
        }
        raws = {name: form.value(seen) for name, form in forms.items()}
        x = _ranked_by(evaluator, raws, position.own_off, position.opponent_off, knots)
    value = bound_of(evaluator) * math.tanh(x)
    return Judged(position, seen, trace.class_name, trace.plan, trace.source, x, value, forms, direct, knots)


def values_of(
    evaluator: StaticEvaluator,
    boards: Board,
    mixed: Callable[[FloatArray], FloatArray] = lambda rows: rows,
) -> FloatArray:
    """What `boards` (n, 26) are worth to the player on roll (n,): `Judged.value` of each.

    `mixed` may change the features (n, k) that weights are multiplied with; bearoff tables and finished games
    know nothing of these.  Raises `PlayerError` as `judged` does.
    """
    _, weights = explainable(evaluator)
    packed = pack_many(boards)
    values = np.empty(len(boards))
    covered = covered_boards(evaluator.model.bearoff, boards)
    by_weights = ~covered & (finished_points_many(packed.view(np.int64)) == 0)
    for row in np.flatnonzero(~by_weights):
        values[row] = judged(evaluator, Position(boards[row])).value
    rows = mixed(features(weights.parameters, boards).astype(np.float64))
    checkers = checkers_by_place(packed).astype(np.int64)
    slots = np.stack(
        [classify_many(packed), plans_many(packed) if weights.plans else np.full(len(boards), -1)]
    )
    off = CHECKERS - checkers.sum(axis=2)
    for code, plan in np.unique(slots[:, by_weights], axis=1).T.tolist():
        some = np.flatnonzero(by_weights & (slots == [[code], [plan]]).all(axis=0))
        class_name = CLASS_NAMES[code]
        heads = weights.heads_at(class_name, None if plan == NO_PLAN else PLANS[plan])
        names = _ranking_heads(evaluator, heads)
        forms = [_form(weights, class_name, name, heads) for name in names]
        raws = np.array([form.values(rows[some], checkers[some]) for form in forms])
        knots = _knots(evaluator, class_name)
        for row, own_raws in zip(some, raws.T.tolist(), strict=True):
            x = _ranked_by(
                evaluator, dict(zip(names, own_raws, strict=True)), int(off[row, 0]), int(off[row, 1]), knots
            )
            values[row] = bound_of(evaluator) * math.tanh(x)
    return values


def _form(weights: WeightFile, class_name: str, name: str, heads: Mapping[str, HeadWeights]) -> Form:
    """The raw sum of the head called `name`, of those in force in a class, with its patterns."""
    patterns = weights.patterns_by_class.get(class_name) if name == EQUITY else None
    return Form.of_head(heads[name], *([] if patterns is None else [pattern_terms(class_name, patterns)]))


def _knots(evaluator: StaticEvaluator, class_name: str) -> FloatArray:
    """The calibration of the win chance in a class (k, 2)."""
    tables = evaluator.model.knots
    return tables[CLASS_NAMES.index(class_name)] if len(tables) else np.zeros((0, 2))


def _ranking_heads(evaluator: StaticEvaluator, heads: Collection[str]) -> tuple[str, ...]:
    """Those of `heads` that x comes from; one alone where that is enough."""
    alone = _WIN_NAME if evaluator.model.win_only else EQUITY
    return (alone,) if alone in heads else tuple(name for name in OUTPUTS if name in heads)


def _ranked_by(
    evaluator: StaticEvaluator, raws: Mapping[str, float], own_off: int, opponent_off: int, knots: FloatArray
) -> float:
    """The x that the raw sums of the ranking heads make, with so many checkers borne off by either side."""
    win_only = evaluator.model.win_only
    if set(raws) == {EQUITY}:
        return raws[EQUITY]
    if win_only and set(raws) == {_WIN_NAME}:
        return float(calibrated_raw(knots, raws[_WIN_NAME]))
    return float(_raw(_chances(raws, own_off, opponent_off, knots), win_only))


def _chances(raws: Mapping[str, float], own_off: int, opponent_off: int, knots: FloatArray) -> FloatArray:
    """The five probabilities (5,) that `raws` give a position, calibrated and made to agree."""
    row = np.zeros(len(OUTPUTS))
    for head, raw in raws.items():
        row[OUTPUTS.index(head)] = PROBABILITY.predict(raw)
    _agree(row, own_off, opponent_off)
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
