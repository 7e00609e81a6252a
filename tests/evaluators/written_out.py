"""Values of a weight file, written out term by term from the description in the file."""

import math
from collections.abc import Mapping

import numpy as np

from motif.board.packed import OPPONENT_BAR, OWN_BAR, POINTS
from motif.board.position import Position
from motif.evaluators import OUTPUTS, Probabilities, WeightFile
from motif.evaluators.weight_file import HeadWeights
from motif.parameters.named_sets import features
from tests.parameters import reference


def class_used(weights: WeightFile, position: Position) -> str:
    name = reference.position_class(tuple(position.board.tolist()))
    return name if name in weights.classes else "contact"


def heads_used(weights: WeightFile, position: Position) -> Mapping[str, HeadWeights]:
    return weights.classes[class_used(weights, position)]


def point_sums(points: np.ndarray, position: Position) -> np.ndarray:
    """The sum over the checkers of both sides for tables (..., 2, 25, 4).

    Each side's places are 1 to 24 and 25, its bar; the columns are one, two and three checkers, and each
    more.
    """
    board = position.board.astype(int)
    own = [*board[1 : POINTS + 1].clip(min=0), board[OWN_BAR]]
    opponent = [*(-board[POINTS:0:-1]).clip(min=0), -board[OPPONENT_BAR]]
    counts = np.array([own, opponent])
    first = np.concatenate([np.zeros_like(points[..., :1]), points[..., :3]], axis=-1, dtype=float)
    low = np.broadcast_to(counts.clip(max=3)[..., None], (*points.shape[:-1], 1))
    values = np.take_along_axis(first, low, axis=-1)[..., 0] + points[..., 3] * (counts - 3).clip(min=0)
    return np.asarray(values.sum(axis=(-1, -2)))


def raw_sum(weights: WeightFile, head: str, position: Position) -> float:
    """bias + sum of w_i f_i + sum of w_ij f_i f_j + hidden units."""
    f = features(weights.parameters, position.board[None])[0].astype(float)
    chosen = heads_used(weights, position)[head]
    i, j = chosen.pairs.T
    products = chosen.quadratic * f[i] * f[j]
    by_units = unit_sum(weights, position, head)
    return float(chosen.bias + (chosen.linear * f).sum() + products.sum() + by_units)


def unit_sum(weights: WeightFile, position: Position, head: str) -> float:
    """The sum of the class's hidden units: output weight times activation; 0 for an equity head."""
    layer = weights.hidden_layers.get(class_used(weights, position))
    if layer is None or head == "equity":
        return 0.0
    f = features(weights.parameters, position.board[None])[0].astype(float)
    x = layer.bias + layer.inputs.astype(float) @ f + point_sums(layer.points, position)
    x = x.clip(-3, 3)
    return float(layer.outputs[OUTPUTS.index(head)] @ (x * (27 + x * x) / (27 + 9 * x * x)))


def chance(weights: WeightFile, head: str, position: Position) -> float:
    """(tanh x + 1) / 2; 0 for a missing head."""
    if head not in heads_used(weights, position):
        return 0.0
    return (math.tanh(raw_sum(weights, head, position)) + 1) / 2


def head_chances(weights: WeightFile, position: Position) -> Probabilities:
    """The probabilities of the five heads, made consistent."""
    win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = (
        chance(weights, head, position) for head in OUTPUTS
    )
    win_gammon = 0.0 if position.opponent_off else min(win_gammon, win)
    lose_gammon = 0.0 if position.own_off else min(lose_gammon, 1 - win)
    return Probabilities(
        win, win_gammon, min(win_backgammon, win_gammon), lose_gammon, min(lose_backgammon, lose_gammon)
    )


def head_equity(weights: WeightFile, position: Position) -> float:
    """The value of the equity head, otherwise the equity of the probabilities."""
    if "equity" in heads_used(weights, position):
        return 3 * math.tanh(raw_sum(weights, "equity", position))
    return head_chances(weights, position).equity


def expected(weights: WeightFile, position: Position) -> Probabilities:
    """The probabilities, with the win probability moved towards the equity head's equity where possible."""
    five = head_chances(weights, position)
    win = five.win + (head_equity(weights, position) - five.equity) / 2
    return five._replace(win=float(np.clip(win, five.win_gammon, 1 - five.lose_gammon)))


def row_sum(head: HeadWeights, row: np.ndarray) -> float:
    """The raw sum of a head for a row of features (n,)."""
    low, high = head.pairs.T
    terms = head.linear * row, head.quadratic * row[low] * row[high]
    return float(head.bias) + float(sum(part.sum(dtype=np.float64) for part in terms))
