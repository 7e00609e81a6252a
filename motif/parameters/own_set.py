"""Parameters of one's own: a Python file that extends a set by functions of the board.

    from motif.parameters import extend

    mine = extend("keith")

    @mine.side("blots of {side} in {other}'s home board", unit="blots", full=2, group="safety")
    def blots_back(board):
        return sum(board[point] == 1 for point in range(19, 25))

A function gets the board as motif's positions have it, int8 (26,), seen by the side that is measured:
``board[24]`` to ``board[1]`` are the points on its way home, positive numbers its own checkers and
negative ones the other's, ``board[25]`` its checkers on the bar and ``board[0]`` the other's.  It
returns a number, and is compiled by numba: numbers, loops and numpy, no dictionaries, no text.

A trial of a function that is to be compiled: in Python, where a mistake can be named.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from motif.board.position import BOARD_SIZE, CHECKERS, HOME, POINTS, Position
from motif.parameters.board_functions import BoardFunction
from motif.parameters.own_measures import DIFFERENCE, SHARED, SIDE, OwnFunctions, no_functions
from motif.parameters.registry import OPPONENT_SUFFIX, ParameterSet, SetBuilder
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


_Measure = TypeVar("_Measure", bound=Callable[[Any], Any])
MOST_PARAMETERS = 256
"""Parameters of a set at most, with both sides counted."""
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class OwnSet(ParameterSet):
    """A set from a file; its name is the file's."""

    base: str | None
    """The set of motif's that it extends."""
    text: str
    """The file's text, from which workers make the set anew."""
    fingerprint_of_all: str
    functions: OwnFunctions = field(compare=False, repr=False)
    compiled: tuple[BoardFunction, ...] = field(compare=False, repr=False)
    """Kept alive with the set: their addresses stand in `functions`."""

    def __reduce__(self) -> tuple[Callable[[str, str], "OwnSet"], tuple[str, str]]:
        # Addresses mean nothing to another process: it makes the set from its text.
        from motif.parameters.named_sets import own_set_again

        return own_set_again, (self.name, self.text)

    @property
    def fingerprint(self) -> str:
        """Changes with the text of the file, and with the base."""
        return self.fingerprint_of_all


def own_fingerprint(text: str, base: ParameterSet | None) -> str:
    """The fingerprint of the set in a file of this `text` that extends `base`; it runs nothing."""
    facts = [text, base.fingerprint if base is not None else None]
    return "sha256:" + hashlib.sha256(json.dumps(facts).encode()).hexdigest()


class Extension:
    """What a file declares: all parameters of a base, and some of one's own."""

    def __init__(self, base: ParameterSet | None) -> None:
        self.base = base
        self._builder = SetBuilder("", 0, base)
        self._declared: list[tuple[int, Callable[[Any], Any]]] = []
        self._names = set(base.names) if base is not None else set()

    def side(self, sentence: str, *, unit: str, full: float, group: str) -> Callable[[_Measure], _Measure]:
        """Declare the function below as a parameter of one side, measured for both.

        In `sentence`, ``{side}`` stands for the player measured and ``{other}`` for the other one;
        `full` is a large value of it in `unit`, and `group` what players would file it under, as
        race, safety, blocking, attack, timing, mobility or back game.
        """
        return self._declared_by(SIDE, sentence, unit, full, group)

    def difference(
        self, sentence: str, *, unit: str, full: float, group: str
    ) -> Callable[[_Measure], _Measure]:
        """Like `side`, for one parameter: the player on roll's value minus the opponent's."""
        return self._declared_by(DIFFERENCE, sentence, unit, full, group)

    def shared(self, sentence: str, *, unit: str, full: float, group: str) -> Callable[[_Measure], _Measure]:
        """Declare a parameter that speaks of both, measured once, on the board of the player on roll."""
        return self._declared_by(SHARED, sentence, unit, full, group)

    def _declared_by(
        self, kind: int, sentence: str, unit: str, full: float, group: str
    ) -> Callable[[_Measure], _Measure]:
        def declare(function: _Measure) -> _Measure:
            name = function.__name__
            self._check(name, sentence, unit, full, group)
            add = {SIDE: self._builder.side, SHARED: self._builder.shared}.get(kind, self._builder.difference)
            add(name, sentence, unit=unit, full=full, group=group)
            self._names |= {name, name + OPPONENT_SUFFIX} if kind == SIDE else {name}
            self._declared.append((kind, function))
            return function

        return declare

    def _check(self, name: str, sentence: str, unit: str, full: float, group: str) -> None:
        if not _NAME.fullmatch(name) or name.endswith(OPPONENT_SUFFIX):
            raise ParameterError(
                f"{name}: a parameter's name has small letters, digits and _, and no {OPPONENT_SUFFIX} behind"
            )
        if name in self._names:
            raise ParameterError(f"{name}: the set has a parameter of this name")
        texts = {"sentence": sentence, "unit": unit, "group": group}
        for key, value in texts.items():
            if not isinstance(value, str) or not value.strip() or not value.isprintable():
                raise ParameterError(f"{name}: {key} must be text on one line, not {value!r}")
        try:
            sentence.format(side="", other="")
        except (LookupError, ValueError):
            raise ParameterError(f"{name}: only {{side}} and {{other}} may stand in braces") from None
        if not isinstance(full, int | float) or not 0 < full < math.inf:
            raise ParameterError(f"{name}: full must be a number above 0, not {full!r}")

    def finish(self, file_name: str, text: str) -> OwnSet:
        """Compile what was declared; raises `ParameterError`."""
        if not self._declared:
            raise ParameterError("declares no parameter")
        declared = self._builder.build()
        if len(declared) > MOST_PARAMETERS:
            raise ParameterError(f"a set has at most {MOST_PARAMETERS} parameters, not {len(declared)}")
        compiled = tuple(_compiled(function) for _, function in self._declared)
        kinds = [kind for kind, _ in self._declared]
        functions = np.zeros((2 + len(kinds), 2), np.int64)
        if self.base is not None:
            functions[0] = self.base.side_count, len(self.base) - 2 * self.base.side_count
        functions[1] = kinds.count(SIDE), len(kinds) - kinds.count(SIDE)
        functions[2:, 0] = kinds
        functions[2:, 1] = [function.address for function in compiled]
        return OwnSet(
            file_name,
            0,
            declared.parameters,
            declared.side_count,
            None if self.base is None else self.base.name,
            text,
            own_fingerprint(text, self.base),
            functions,
            compiled,
        )


def _compiled(function: Callable[[Any], Any]) -> BoardFunction:
    try_function(function)
    try:
        return BoardFunction(function, BOARD_SIZE)
    except ValueError as error:
        raise ParameterError(f"{function.__name__}: {error}") from None


def functions_of(chosen: ParameterSet) -> OwnFunctions:
    """What a kernel calls to measure the parameters of one's own in `chosen`."""
    return chosen.functions if isinstance(chosen, OwnSet) else no_functions()
