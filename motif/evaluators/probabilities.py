"""The five cumulative probabilities, their equity, raw sums, and switching sides.

``win, win_gammon, win_backgammon, lose_gammon, lose_backgammon`` belong to the player on roll, before the
roll; gammons include backgammons. Values after a play are those of the other player. They are converted to
the mover's only here: probabilities by `switch_sides`, `Probabilities.switch_sides` and the compiled
`switch_probabilities`, equities by `switched_equities` and the compiled `switch_value`.

A raw sum x is mapped to a value between two bounds: y = low + (high - low) (tanh x + 1) / 2. Source: Tom
Keith, "How Motif Works" (2004), with low = 0 and high = 1. Fits use the same map, the `inverse_link` of
`motif.fitting.problem.Link`; a test compares the two.
"""

import math
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from motif.board.outcome import checkers_on_board, finished_points
from motif.board.packed import CHECKERS
from motif.compiler.jit import inline_kernel, kernel, words_of
from motif.runtime.arrays import FloatArray

OUTPUTS = ("win", "win_gammon", "win_backgammon", "lose_gammon", "lose_backgammon")
WIN, WIN_GAMMON, WIN_BACKGAMMON, LOSE_GAMMON, LOSE_BACKGAMMON = range(5)
RANKING_HEAD = "equity"
"""The head that ranks plays."""
HEADS = (*OUTPUTS, RANKING_HEAD)
"""Names of the five probabilities and of the equity: heads of weights, labels, and results of rollouts."""
EQUITY_HEAD = HEADS.index(RANKING_HEAD)
_Number = TypeVar("_Number", bound=np.number)
EQUITY_WEIGHTS = np.array([2.0, 1.0, 1.0, -1.0, -1.0])
PROBABILITY_ROUNDING = 1e-3
"""Difference by which rounded probabilities of other programs may exceed their limits."""


class Probabilities(NamedTuple):
    """Probabilities of the player on roll, each 0 to 1, cumulative."""

    win: float
    win_gammon: float
    win_backgammon: float
    lose_gammon: float
    lose_backgammon: float

    def __repr__(self) -> str:
        """Return the probabilities with four decimals."""
        return f"Probabilities({', '.join(f'{name}={value:.4f}' for name, value in self._asdict().items())})"

    @property
    def equity(self) -> float:
        """Cubeless money equity in points, -3 to 3."""
        gained = self.win_gammon + self.win_backgammon
        return 2 * self.win - 1 + gained - self.lose_gammon - self.lose_backgammon

    def to_dict(self) -> dict[str, float]:
        """Return the probabilities and the equity by name."""
        return {**self._asdict(), "equity": self.equity}

    def switch_sides(self) -> "Probabilities":
        """Return the other player's probabilities in the same position."""
        return Probabilities(
            1 - self.win, self.lose_gammon, self.lose_backgammon, self.win_gammon, self.win_backgammon
        )


def equities(probabilities: npt.NDArray[np.floating]) -> FloatArray:
    """Return the cubeless money equity (...,) of each row of (..., 5)."""
    # Not a matrix product: its last bits may depend on the number of rows.
    return np.asarray((probabilities * EQUITY_WEIGHTS).sum(axis=-1) - 1)


def switch_sides(probabilities: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """Return each row of (..., 5) for the other player."""
    rows = probabilities[..., [0, 3, 4, 1, 2]]
    rows[..., WIN] = 1 - rows[..., WIN]
    return rows


def switched_equities(values: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
    """Return equities, scores or points of one player as those of the other."""
    return np.negative(values)


def outside_range(probabilities: npt.NDArray[np.floating], tolerance: float) -> npt.NDArray[np.bool_]:
    """Return which `probabilities` are not 0 to 1, or NaN; they may exceed these bounds by `tolerance`."""
    return ~((probabilities >= -tolerance) & (probabilities <= 1 + tolerance))


def largest_possible(rows: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """Return the largest possible probabilities (n, 5) for those of wins and gammons in `rows` (n, 5)."""
    win, win_gammon, _, lose_gammon, _ = rows.T
    return np.column_stack([np.ones_like(win), win, win_gammon, 1 - win, lose_gammon])


_LIMIT_NAMES = ("1", "win", "win_gammon", "1 - win", "lose_gammon")


def probability_fault(rows: npt.NDArray[np.floating]) -> tuple[int, str, str] | None:
    """Return the first row of `rows` (n, 5) that is impossible, the probability at fault and its rule.

    Each may exceed its limits by `PROBABILITY_ROUNDING`; clip it to 0 to 1.
    """
    outside = outside_range(rows, PROBABILITY_ROUNDING)
    wrong = outside | (rows > largest_possible(rows) + PROBABILITY_ROUNDING)
    if not wrong.any():
        return None
    row, k = map(int, np.argwhere(wrong)[0])
    return row, OUTPUTS[k], "0 to 1" if outside[row, k] else f"at most {_LIMIT_NAMES[k]}"


@inline_kernel
def switch_probabilities(row):
    """Switch sides in one row of five probabilities, in place."""
    row[WIN] = 1 - row[WIN]
    row[WIN_GAMMON], row[LOSE_GAMMON] = row[LOSE_GAMMON], row[WIN_GAMMON]
    row[WIN_BACKGAMMON], row[LOSE_BACKGAMMON] = row[LOSE_BACKGAMMON], row[WIN_BACKGAMMON]


@inline_kernel
def switch_value(value):
    """Return an equity or score of one player as that of the other."""
    return -value


@inline_kernel
def equity_of(row):
    """Return the cubeless money equity of one row of five."""
    gained = row[WIN_GAMMON] + row[WIN_BACKGAMMON]
    return 2 * row[WIN] - 1 + gained - row[LOSE_GAMMON] - row[LOSE_BACKGAMMON]


@inline_kernel
def certain(points, row):
    """Write the probabilities of a finished game: `points` won (+) or lost (-) by the player on roll."""
    row[WIN] = 1 if points > 0 else 0
    row[WIN_GAMMON] = 1 if points > 1 else 0
    row[WIN_BACKGAMMON] = 1 if points > 2 else 0
    row[LOSE_GAMMON] = 1 if points < -1 else 0
    row[LOSE_BACKGAMMON] = 1 if points < -2 else 0


@inline_kernel
def make_consistent(row, own_off, opponent_off):
    """Make five estimates consistent.

    Each becomes 0 to 1, gammons are 0 after a checker is off, and none exceeds the win or loss that
    includes it.
    """
    win = min(max(row[WIN], 0.0), 1.0)
    row[WIN] = win
    if opponent_off > 0:
        row[WIN_GAMMON] = 0.0
    if own_off > 0:
        row[LOSE_GAMMON] = 0.0
    row[WIN_GAMMON] = min(max(row[WIN_GAMMON], 0.0), win)
    row[LOSE_GAMMON] = min(max(row[LOSE_GAMMON], 0.0), 1.0 - win)
    row[WIN_BACKGAMMON] = min(max(row[WIN_BACKGAMMON], 0.0), row[WIN_GAMMON])
    row[LOSE_BACKGAMMON] = min(max(row[LOSE_BACKGAMMON], 0.0), row[LOSE_GAMMON])


@inline_kernel
def agree_with_equity(row, equity):
    """Move the win probability of five consistent estimates so that their equity approaches `equity`.

    The equity comes as close as consistency allows. The win probability is moved because it counts twice, so
    it needs half the change of a gammon probability, and because it has most of the error.
    """
    moved = row[WIN] + 0.5 * (equity - equity_of(row))
    row[WIN] = max(row[WIN_GAMMON], min(1.0 - row[LOSE_GAMMON], moved))


EQUITY_BOUND = 3.0
"""The maximum of money equity, for a backgammon."""


def bounds(head: str) -> tuple[float, float]:
    """Return the lowest and highest value of the head called `head`."""
    return (-EQUITY_BOUND, EQUITY_BOUND) if head == RANKING_HEAD else (0.0, 1.0)


@inline_kernel
def squash_probability(x):
    """Return the probability of a raw sum."""
    # (tanh x + 1) / 2, with one exponential, which is faster.
    return 1.0 / (1.0 + math.exp(-2.0 * x))


@inline_kernel
def squash_equity(x):
    """Return the equity of a raw sum."""
    return EQUITY_BOUND * math.tanh(x)


@inline_kernel
def _unsquashed(share):
    return math.atanh(min(max(share, -0.9999999999999), 0.9999999999999))


@inline_kernel
def probability_to_raw(probability):
    """Return the raw sum of a probability; about plus or minus 15 at the bounds."""
    return _unsquashed(2.0 * probability - 1.0)


@inline_kernel
def equity_to_raw(equity):
    """Return the raw sum of an equity; about plus or minus 15 at the bounds."""
    return _unsquashed(equity / EQUITY_BOUND)


@kernel
def write_finished(packed, rows):
    """Write the probabilities, all 0 or 1, of the finished games in `packed` (n, 64) to `rows` (n, 5)."""
    words = words_of(packed)
    for k in range(packed.shape[0]):
        points = finished_points(words[k])
        if points != 0:
            certain(points, rows[k])


@kernel
def write_consistent(packed, rows):
    """Make the five estimates of each row (n, 5) consistent with each other and with `packed` (n, 64)."""
    words = words_of(packed)
    half = words.shape[1] // 2
    for k in range(packed.shape[0]):
        own_off = CHECKERS - checkers_on_board(words[k], 0)
        make_consistent(rows[k], own_off, CHECKERS - checkers_on_board(words[k], half))
