"""Load and measure parameter sets by name, including your own sets: Python files that extend a set.

    from motif.parameters import extend

    mine = extend("keith")

    @mine.side("blots of {side} in {other}'s home board", unit="blots", full=2, group="safety")
    def blots_back(board):
        return (board[19:25] == 1).sum()

A function gets a board in the layout of motif's positions, int8 (26,), from the side that is measured.
That side moves from ``board[24]`` to ``board[1]``; its checkers are positive numbers and the opponent's are
negative.  ``board[25]`` is its checkers on the bar and ``board[0]`` is the opponent's.  The function
returns a number and is compiled by numba, so it can use numbers, loops, lists and numpy, but no
dictionaries, text or generator expressions.  It is first run in Python, which gives better error messages.

A weight file finds the file of the set to which it was fitted.
"""

import ast
import hashlib
import json
import math
import os
import re
import sys
import traceback
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Self, TypeVar

import numpy as np

from motif.board.packed import BOARD_SIZE, CHECKERS, HOME, POINTS, Board, pack_many
from motif.board.position import Position
from motif.parameters.own_measures import DIFFERENCE, SHARED, SIDE, BoardFunction, Measurement, OwnFunctions
from motif.parameters.registry import GROUPS, OPPONENT_SUFFIX, ParameterSet, SetBuilder
from motif.parameters.sets import MAX_PARAMETERS, PARAMETER_SETS, code_of, measure_packed
from motif.runtime.arrays import Float32Array, IntArray
from motif.runtime.cache_folder import cache_folder
from motif.runtime.errors import FileError, MotifError, ParameterError, plain_text, shown
from motif.runtime.files import text_of, write_text
from motif.runtime.limits import PARAMETER_FILE

_BOARDS = 60
_BAR = BOARD_SIZE - 1


class _Watched(np.ndarray):
    """A board that raises an error for indices out of range, including negative indices."""

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, int | np.integer) and not 0 <= place < BOARD_SIZE:
            raise IndexError(f"board[{place}] is out of range: indices are 0 to {_BAR}")
        return super().__getitem__(place)


@cache
def _trial_boards() -> IntArray:
    """Return the starting position and random positions; some of them are bearoffs.

    In each of the last two, one side has no checkers left.
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
            # The last share is borne off.
            shares = np.ones(len(points) + 2) / (len(points) + 2)
            *on_points, on_bar, _ = rng.multinomial(CHECKERS, shares)
            board[points], board[bar] = sign * np.array(on_points, np.int64), sign * on_bar
    boards[-2] = boards[-2].clip(min=0)
    boards[-1] = boards[-1].clip(max=0)
    # In bearoffs no checker is on the bar.
    boards[1::3, [0, _BAR]] = 0
    return boards


def _try_function(function: Measurement) -> None:
    """Raise `ParameterError` unless `function` reads within the board and returns finite numbers."""
    name = function.__name__
    for board in _trial_boards():
        watched = board.copy().view(_Watched)
        try:
            with np.errstate(divide="raise", invalid="raise", over="raise"):
                value = function(watched)
        except IndexError as error:
            raise ParameterError(f"{name}: {error}") from None
        except ArithmeticError as error:
            raise ParameterError(f"{name}: {error}, on the board {board.tolist()}") from None
        except Exception:
            # The function may call compiled functions, which do not accept a watched board; the compiler
            # will tell.
            return
        if isinstance(value, _Watched):
            # Reductions of a subclass are arrays without dimensions, not numbers.
            value = value.view(np.ndarray)[()]
        if not isinstance(value, int | float | np.number | np.bool_) or not math.isfinite(value):
            raise ParameterError(f"{name}: must return a finite number, not {value!r}, for {board.tolist()}")


_Measure = TypeVar("_Measure", bound=Measurement)
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, kw_only=True)
class OwnSet(ParameterSet):
    """A set from a file; it has the name of the file."""

    base: ParameterSet | None
    """The built-in set that it extends."""
    text: str
    """Text of the file, from which workers rebuild the set."""
    kinds: tuple[int, ...]
    compiled: tuple[BoardFunction, ...] = field(compare=False, repr=False)
    """Functions of the file, in the order of `kinds`."""

    def __reduce__(self) -> tuple[Callable[..., "OwnSet"], tuple[str, str, tuple[str, ...]]]:
        # Addresses are meaningless in another process, which rebuilds the set from its text.
        return _own_set_again, (self.name, self.text, self.names)

    @property
    def fingerprint(self) -> str:
        """Hash that changes with the text of the file and with the base."""
        return own_fingerprint(self.text, self.base)

    @property
    def compiled_name(self) -> str | None:
        """See `ParameterSet.compiled_name`."""
        return None if self.base is None else self.base.name

    @property
    def functions(self) -> OwnFunctions:
        """See `motif.parameters.own_measures`."""
        if self.full_set is not None:
            return self.full_set.functions
        functions = np.zeros((2 + len(self.kinds), 2), np.int64)
        if self.base is not None:
            functions[0] = self.base.side_count, len(self.base) - 2 * self.base.side_count
        functions[1] = self.kinds.count(SIDE), len(self.kinds) - self.kinds.count(SIDE)
        functions[2:, 0] = self.kinds
        functions[2:, 1] = [function.address for function in self.compiled]
        return functions

    def known_to(self, names: Collection[str]) -> Self:
        """See `ParameterSet.known_to`; only the base can have grown."""
        if self.base is None:
            return self
        known = super().known_to({*names, *(set(self.names) - set(self.base.names))})
        return known if known is self else replace(known, base=self.base.known_to(names))


def own_fingerprint(text: str, base: ParameterSet | None) -> str:
    """Return the fingerprint of a set whose file has this `text` and extends `base`; the file is not run."""
    facts = [text, base.fingerprint if base is not None else None]
    return "sha256:" + hashlib.sha256(json.dumps(facts).encode()).hexdigest()


class Extension:
    """Parameters declared in a file, after all parameters of the base."""

    def __init__(self, base: ParameterSet | None) -> None:
        self.base = base
        self._builder = SetBuilder("", 0, base)
        self._declared: list[tuple[int, Measurement]] = []
        self._names = set(base.names) if base is not None else set()

    def side(self, sentence: str, *, unit: str, full: float, group: str) -> Callable[[_Measure], _Measure]:
        """Declare the decorated function as a parameter that is measured for each side.

        In `sentence`, ``{side}`` stands for the measured player and ``{other}`` for the opponent; `full` is a
        large value in `unit`, and `group` is race, safety, blocking, attack, timing, mobility or back game.
        """
        return self._declared_by(SIDE, sentence, unit, full, group)

    def difference(
        self, sentence: str, *, unit: str, full: float, group: str
    ) -> Callable[[_Measure], _Measure]:
        """Declare one parameter: the player on roll's value minus the opponent's value."""
        return self._declared_by(DIFFERENCE, sentence, unit, full, group)

    def shared(self, sentence: str, *, unit: str, full: float, group: str) -> Callable[[_Measure], _Measure]:
        """Declare a parameter of both sides, measured on the board of the player on roll."""
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
                f"{name}: a parameter name must be lowercase letters, digits and _, without {OPPONENT_SUFFIX}"
            )
        if name in self._names:
            raise ParameterError(f"{name}: the set already has a parameter with this name")
        for key, value in (("sentence", sentence), ("unit", unit), ("group", group)):
            if not isinstance(value, str) or not value.strip() or not value.isprintable():
                raise ParameterError(f"{name}: {key} must be text on one line, not {value!r}")
        try:
            sentence.format(side="", other="")
        except (LookupError, ValueError):
            raise ParameterError(f"{name}: only {{side}} and {{other}} may be in braces") from None
        if group not in GROUPS:
            raise ParameterError(f"{name}: group must be one of {', '.join(GROUPS)}, not {shown(group)}")
        if not isinstance(full, int | float) or not 0 < full < math.inf:
            raise ParameterError(f"{name}: full must be a positive number, not {full!r}")

    def finish(self, file_name: str, text: str) -> OwnSet:
        """Compile the declared functions and return the set; raise `ParameterError` if it is invalid."""
        if not self._declared:
            raise ParameterError("declares no parameters")
        declared = self._builder.build()
        if len(declared) > MAX_PARAMETERS:
            raise ParameterError(f"a set must have at most {MAX_PARAMETERS} parameters, not {len(declared)}")
        return OwnSet(
            file_name,
            0,
            declared.parameters,
            declared.side_count,
            base=self.base,
            text=text,
            kinds=tuple(kind for kind, _ in self._declared),
            compiled=tuple(_compiled(function) for _, function in self._declared),
        )


def _compiled(function: Measurement) -> BoardFunction:
    _try_function(function)
    try:
        compiled = BoardFunction(function)
    except ValueError as error:
        raise ParameterError(f"{function.__name__}: {error}") from None
    if any(map(compiled.changes, _trial_boards())):
        raise ParameterError(f"{function.__name__}: must not change the board; change a copy, board.copy()")
    return compiled


FOLDERS_VARIABLE = "MOTIF_PARAMETERS"
"""Environment variable with folders that are searched for the sets to which weights were fitted."""
_SUFFIX = ".py"
_FILE_NAME = re.compile(r"[A-Za-z_][\w-]*\.py", re.ASCII)


def extend(base: str | None = None) -> Extension:
    """Start your own set with all parameters of the set `base`, or with no parameters.

    Raises `ParameterError` for an unknown set.
    """
    return Extension(_base(base))


def find_own_set(name: str, fingerprint: object, folder: Path, names: Collection[str]) -> OwnSet:
    """Find the set in a file `name` to which weights of the parameters `names`, in `folder`, were fitted.

    Searches `folder` and its parents, the current folder, and the folders in MOTIF_PARAMETERS. A file is
    run only if its text matches `fingerprint`. Raises `ParameterError` if there is no such file.
    """
    if not _FILE_NAME.fullmatch(name):
        raise ParameterError(f"the name of a parameter file must be NAME{_SUFFIX}, not {shown(name)}")
    others = {}
    for path in _places(name, folder):
        text = _text(path)
        base = _base(_base_in(text, str(path)))
        others[path] = own_fingerprint(text, base)
        if fingerprint in (others[path], own_fingerprint(text, base and base.known_to(names))):
            return _own_set(name, text, str(path)).fitted(fingerprint, names)
    for path, other in others.items():
        raise ParameterError(
            f"fitted to another {name} than {path}: its fingerprint is {other}, not {shown(fingerprint)}"
        )
    raise ParameterError(
        f"no {name} in {folder}, its parents, the current folder or the folders in {FOLDERS_VARIABLE}"
    )


def _places(name: str, folder: Path) -> list[Path]:
    """Return the files called `name` in the folders that are searched, without duplicates."""
    named = [Path(entry) for entry in os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep) if entry]
    folder = folder.absolute()
    folders = dict.fromkeys((folder, *folder.parents, Path.cwd(), *named))
    return [path for path in (place / name for place in folders) if path.is_file()]


def _text(path: Path) -> str:
    where = plain_text(str(path))
    if not _FILE_NAME.fullmatch(path.name):
        raise ParameterError(
            f"{where}: the name of a parameter file must be NAME{_SUFFIX}, with letters a to z or A to Z, "
            "digits, _ and -"
        )
    text = text_of(path, ParameterError, PARAMETER_FILE, "no such parameter file")
    # The hash of a file is the same on every system.
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _built_in(name: str, known: Collection[str] = tuple(PARAMETER_SETS)) -> ParameterSet:
    if name not in PARAMETER_SETS:
        raise ParameterError(f"unknown parameter set {name!r}: it must be one of {', '.join(known)}")
    return PARAMETER_SETS[name]


def _base(name: str | None) -> ParameterSet | None:
    return None if name is None else _built_in(name)


def _base_in(text: str, where: str) -> str | None:
    """Return the base that a file passes to `extend`, without running the file."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) else ""
        raise ParameterError(f"{where}{line}: {getattr(error, 'msg', error)}") from None
    calls = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) == extend.__name__
    ]
    if len(calls) != 1:
        raise ParameterError(f"{where}: must call extend once, not {len(calls)} times")
    given = [*calls[0].args, *(keyword.value for keyword in calls[0].keywords)]
    if not given:
        return None
    if len(given) > 1 or not isinstance(given[0], ast.Constant) or not isinstance(given[0].value, str | None):
        raise ParameterError(f'{where}:{calls[0].lineno}: write the name of the set, as in extend("motif")')
    return given[0].value


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


@cache
def _own_set(name: str, text: str, where: str) -> OwnSet:
    base = _base_in(text, where)
    # Tracebacks show a copy, in a folder named after its hash, that does not change when the file is
    # edited.
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    kept = cache_folder("parameters") / digest / name
    if not kept.is_file():
        with suppress(FileError):
            write_text(kept, text)
    try:
        module = _run(kept, text, f"motif_parameters_{digest}")
        extensions = {id(value): value for value in vars(module).values() if isinstance(value, Extension)}
        if len(extensions) != 1:
            raise ParameterError("the result of extend must be assigned to one name")
        (extension,) = extensions.values()
        if extension.base is not _base(base):
            raise ParameterError("the set that is extended differs from the name in the call of extend")
        return extension.finish(name, text)
    except MotifError as error:
        raise ParameterError(f"{where}: {error}") from None
    except (Exception, SystemExit) as error:
        lines = [
            frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(kept)
        ]
        line = f":{lines[-1]}" if lines else ""
        raise ParameterError(f"{where}{line}: {type(error).__name__}: {error}") from None


def _run(path: Path, text: str, module_name: str) -> ModuleType:
    """Run `text`, never what is in the file, as a module; tracebacks show the lines of the file at `path`."""
    module = sys.modules[module_name] = ModuleType(module_name)
    module.__file__ = str(path)
    exec(compile(text, path, "exec", dont_inherit=True), vars(module))
    return module


def _own_set_again(name: str, text: str, names: Collection[str]) -> OwnSet:
    """Rebuild a set that another process loaded, limited to the parameters known in that process."""
    return _own_set(name, text, name).known_to(names)


KNOWN_SETS = (*PARAMETER_SETS, f"FILE{_SUFFIX}")
"""Accepted names of sets."""
ParametersLike = str | Path | ParameterSet
"""A set, its name, or a file of your own."""


def parameter_set(name: ParametersLike) -> ParameterSet:
    """Return the built-in set or the set in the file `name`; raise `ParameterError` if there is none."""
    if isinstance(name, ParameterSet):
        return name
    if not isinstance(name, str | Path):
        hint = ": name the file in which it is declared" if isinstance(name, Extension) else ""
        raise ParameterError(f"parameters must be a set, its name or a file, not {shown(name)}{hint}")
    name = str(name)
    if name.endswith(_SUFFIX):
        return _own_set(Path(name).name, _text(Path(name)), name)
    return _built_in(name, KNOWN_SETS)


def fitted_set(
    name: object, fingerprint: object, folder: Path, names: Collection[str]
) -> ParameterSet | None:
    """Return the set `name` to which weights of the parameters `names`, from a file in `folder`, were fitted.

    Returns None for an unknown name.  If the fingerprint of a built-in set differs, even when it is limited
    to `names`, the full set is returned.  Raises `ParameterError` if a file of your own is missing or does
    not match `fingerprint`.
    """
    if not isinstance(name, str):
        return None
    if name.endswith(_SUFFIX):
        return find_own_set(name, fingerprint, folder, names)
    return PARAMETER_SETS[name].fitted(fingerprint, names) if name in PARAMETER_SETS else None


def parameter_file(name: str, folder: Path) -> Path | None:
    """Return the file of your own set `name`, where weights in `folder` look for it; None without one."""
    if not name.endswith(_SUFFIX):
        return None
    paths = [*_places(Path(name).name, folder), Path(name)]
    return next((path for path in paths if path.is_file()), None)


def features(parameters: ParameterSet, boards: Board, *, scaled: bool = True) -> Float32Array:
    """Return the features of `boards` int8 (n, 26): float32 (n, len(parameters)), in the set's order.

    They are scaled for weights, or in the units of the parameters.  Raises `ParameterError` if a function
    of your own returns a value that is not finite.
    """
    full = parameters.full_set or parameters
    values = np.empty((len(boards), len(full)), np.float32)
    if measure_packed(code_of(full), full.functions, pack_many(boards), full.scales, values):
        raise ParameterError(f"{parameters.name}: the values of some positions are not finite")
    values = values if full is parameters else values.take(parameters.places, axis=1)
    return values if scaled else np.asarray(values / parameters.scales, np.float32)


def check_found(parameters: ParametersLike, folder: Path) -> None:
    """Raise `ParameterError` if weights in `folder` would not find the file of your own `parameters`."""
    chosen = parameter_set(parameters)
    if isinstance(chosen, OwnSet):
        try:
            find_own_set(chosen.name, chosen.fingerprint, folder, chosen.names)
        except ParameterError as error:
            message = f"parameters: weights in {folder} would not find them: {error}; copy the file there"
            raise ParameterError(message, "parameters") from None
