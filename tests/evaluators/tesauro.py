"""PubEval as Gerald Tesauro wrote it: 122 inputs times 122 weights, computed again for every play.

A board is a tuple of 26 numbers from the mover's perspective; the position after the play is scored from the
same perspective, with race or contact weights chosen by the position before it.
"""

import json
from importlib import resources

from tests.board.oracle import PlainBoard, legal_results, other_view
from tests.parameters.reference import position_class

WEIGHTS = json.loads(resources.files("motif").joinpath("data", "pubeval.json").read_text("utf-8"))


def inputs(board: PlainBoard) -> list[float]:
    values: list[float] = []
    for point in range(24, 0, -1):
        n = board[point]
        values += [n == -1, n == 1, n >= 2, n == 3, (n - 3) / 2 if n >= 4 else 0]
    checkers_off = 15 - sum(n for n in board if n > 0)
    return [*map(float, values), -board[0] / 2, checkers_off / 15]


def weights_for(before: PlainBoard) -> list[float]:
    return WEIGHTS["race" if position_class(before) == "race" else "contact"]


def score(after: PlainBoard, weights: list[float]) -> float:
    """Score of the board after a play, from the mover's perspective."""
    return sum(weight * value for weight, value in zip(weights, inputs(after), strict=True))


def scores(before: PlainBoard, roll: tuple[int, int]) -> dict[PlainBoard, float]:
    """All boards after a play of `roll`, from the next player's perspective, with their scores."""
    weights = weights_for(before)
    return {result: score(other_view(result), weights) for result in legal_results(before, roll)}
