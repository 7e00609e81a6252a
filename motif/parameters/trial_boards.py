"""A trial of a function that is to be compiled: in Python, where a mistake can be named."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.board.position import BOARD_SIZE, CHECKERS, HOME, POINTS, Position
from motif.runtime.errors import ParameterError

_BOARDS = 60
_BAR = BOARD_SIZE - 1


class _Watched(np.ndarray):
    """A board that refuses a place outside of it: Python would count a negative one from the end."""

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, int | np.integer) and not 0 <= place < BOARD_SIZE:
            raise IndexError(f"there is no board[{place}]; the places are 0 to {_BAR}")
        return super().__getitem__(place)


@cache
def _trial_boards() -> npt.NDArray[np.int64]:
    """The position at the start, and others: with checkers anywhere or at home alone, on bars and borne off.

    In the last two one side has none left.
    """
    rng = np.random.default_rng(0)
    boards = np.zeros((_BOARDS, BOARD_SIZE), np.int64)
    boards[0] = Position.start().board
    for number, board in enumerate(boards[1:]):
        owners = rng.choice((-1, 1), POINTS)
        if number % 3 == 0:
            owners[:HOME], owners[HOME:-HOME], owners[-HOME:] = 1, 0, -1
        for sign, bar in ((1, _BAR), (-1, 0)):
            points = 1 + np.flatnonzero(owners == sign)
            # The last share are those borne off.
            shares = np.ones(len(points) + 2) / (len(points) + 2)
            *on_points, on_bar, _ = rng.multinomial(CHECKERS, shares)
            board[points], board[bar] = sign * np.array(on_points, np.int64), sign * on_bar
    boards[-2] = boards[-2].clip(min=0)
    boards[-1] = boards[-1].clip(max=0)
    # At home alone, nobody is on the bar.
    boards[1::3, [0, _BAR]] = 0
    return boards


def try_function(function: Callable[[Any], Any]) -> None:
    """Raise `ParameterError` when `function` reads outside of a board or gives no finite number."""
    name = function.__name__
    for board in _trial_boards():
        watched = board.view(_Watched)
        try:
            with np.errstate(divide="raise", invalid="raise", over="raise"):
                value = function(watched)
        except IndexError as error:
            raise ParameterError(f"{name}: {error}") from None
        except ArithmeticError as error:
            raise ParameterError(f"{name}: {error}, on the board {board.tolist()}") from None
        except Exception:
            # What it calls may be compiled, and take no watched board: the compiler has the last word.
            return
        if not isinstance(value, int | float | np.number | np.bool_) or not math.isfinite(value):
            raise ParameterError(f"{name}: gives {value!r}, no finite number, on the board {board.tolist()}")
