"""Your own evaluators: an object, one in a Python file, or a scikit-learn model.

Any object with the method ``evaluate_many`` that `Evaluator` describes is accepted. Finished games are never
passed to it; the rules determine their value.
"""

import hashlib
import importlib.util
import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from motif.board.outcome import finished_points_many
from motif.board.packed import pack_many
from motif.board.position import Position, as_boards
from motif.evaluators.evaluator import Evaluator
from motif.evaluators.known_players import load_evaluator
from motif.evaluators.probabilities import (
    EQUITY_BOUND,
    OUTPUTS,
    PROBABILITY_ROUNDING,
    largest_possible,
    probability_fault,
)
from motif.evaluators.static import from_weights
from motif.evaluators.weight_file import LINE_WANTED, WeightFile, is_line
from motif.parameters import ParameterSet, ParametersLike, parameter_set
from motif.parameters.named_sets import features
from motif.runtime.arrays import ArrayLike, Float32Array, FloatArray
from motif.runtime.errors import PlayerError, PlayError, plain_text, shown
from motif.runtime.frames import frame
from motif.runtime.settings import check_flag

_NAMED = re.compile(r"(.*\.py)(?::(\w+))?", re.DOTALL)
_RETURNS = f"(n, {len(OUTPUTS)}) probabilities or (n,) equities"


@runtime_checkable
class EvaluatorLike(Protocol):
    """Protocol of an object that can be an evaluator."""

    def evaluate_many(self, boards: npt.NDArray[np.int8], /) -> ArrayLike:
        """Return five probabilities (n, 5) of `boards` (n, 26), or their equities (n,)."""


@contextmanager
def failures_of(what: str) -> Iterator[None]:
    """Turn an exception in your own code, which `what` names, or its ``sys.exit`` into a `PlayerError`."""
    try:
        yield
    except (PlayerError, PlayError):
        raise
    except (Exception, SystemExit) as error:
        raise PlayerError(f"{what} failed: {_in_one_line(error)}") from error


def _in_one_line(error: BaseException) -> str:
    return plain_text(" ".join(f"{type(error).__name__}: {error}".split()))


class OwnEvaluator(Evaluator):
    """An evaluator made from your own object; see `as_evaluator`."""

    def __init__(self, name: str, own: EvaluatorLike) -> None:
        self.name = name
        self.own = own

    def evaluate_many(self, positions: ArrayLike) -> Float32Array:
        """See `Evaluator.evaluate_many`; raises `PlayerError` for invalid values."""
        boards = as_boards(positions)
        points = finished_points_many(pack_many(boards).view(np.int64)).astype(np.float64)
        rows = np.empty((len(boards), len(OUTPUTS)), np.float32)
        rows[points != 0] = _of_equities(points[points != 0])
        asked = boards[points == 0]
        if len(asked):
            rows[points == 0] = self._values(asked)
        return rows

    def _values(self, boards: npt.NDArray[np.int8]) -> npt.NDArray[np.floating]:
        with failures_of(f"{self.name}: evaluate_many"):
            returned = np.asarray(self.own.evaluate_many(boards))
            if returned.dtype.kind == "c":
                raise PlayerError(f"{self.name}: evaluate_many must return {_RETURNS}, not complex numbers")
            values = returned.astype(np.float64)
        if values.shape == (len(boards),):
            outside = ~(np.abs(values) <= EQUITY_BOUND + PROBABILITY_ROUNDING)
            if outside.any():
                wrong = values[outside][0]
                raise PlayerError(
                    f"{self.name}: an equity must be {-EQUITY_BOUND:g} to {EQUITY_BOUND:g}, not {wrong:.9g}"
                )
            return _of_equities(values)
        if values.shape != (len(boards), len(OUTPUTS)):
            raise PlayerError(
                f"{self.name}: evaluate_many must return {_RETURNS}, not shape {values.shape} "
                f"for n = {len(boards)}"
            )
        if fault := probability_fault(values):
            row, name, rule = fault
            value = values[row, OUTPUTS.index(name)]
            raise PlayerError(f"{self.name}: {name} must be {rule}, not {value:.9g}")
        return np.clip(values, 0, 1)


def _of_equities(equities: FloatArray) -> FloatArray:
    """Return five probabilities (n, 5) with these equities: single wins up to 1 point, then gammons."""
    size = np.abs(equities)
    win = np.clip((1 + equities) / 2, 0, 1)
    gammon, backgammon = np.clip(size - 1, 0, 1), np.clip(size - 2, 0, 1)
    won = equities > 0
    return np.column_stack([win, gammon * won, backgammon * won, gammon * ~won, backgammon * ~won])


def as_evaluator(own: object) -> Evaluator:
    """Return the evaluator with this name, or an evaluator made from your own object.

    Parameters
    ----------
    own : object
        A name for `load_evaluator`, a weight file, weights, an `Evaluator`, or an object with a method
        ``evaluate_many(boards)`` as `Evaluator` describes; its ``name``, or that of its class, is the name
        in tables.

    Raises
    ------
    PlayerError
        For an object without such a method.
    """
    if isinstance(own, str | Path):
        return load_evaluator(str(own))
    if isinstance(own, WeightFile):
        return from_weights(own)
    if callable(getattr(own, "evaluate_many", None)):  # not a result, such as a calibration of an evaluator
        # The player's own fingerprint, if any.
        own = getattr(own, "evaluator", None) or own
    if isinstance(own, Evaluator):
        return own
    if inspect.isclass(own):
        raise PlayerError(f"{own.__name__} is a class: give an instance, {own.__name__}(...)")
    if not callable(getattr(own, "evaluate_many", None)):
        kind = type(own).__name__
        if callable(getattr(own, "predict", None)):
            raise PlayerError(f"{kind} is a model, not a player: wrap it with motif.from_sklearn(model)")
        raise PlayerError(
            "a player must be a name such as 'latest', weights, or an object with a method "
            "evaluate_many(boards) "
            f"that returns {_RETURNS}, not {shown(own)}: {kind} has no such method"
        )
    assert isinstance(own, EvaluatorLike)
    name = getattr(own, "name", None)
    return OwnEvaluator(name if is_line(name) else type(own).__name__, own)


class _FromFunction:
    def __init__(self, function: Callable[[npt.NDArray[np.int8]], ArrayLike]) -> None:
        self.evaluate_many = function


class _FromModel(OwnEvaluator):
    """An evaluator from a fitted estimator."""

    def __init__(self, name: str, own: EvaluatorLike, facts: tuple[object, ...]) -> None:
        """`facts` are the estimator and all that its values depend on beside it."""
        super().__init__(name, own)
        self._facts = facts

    @property
    def fingerprint(self) -> str:
        """Hash of the estimator and its parameters."""
        import joblib

        return f"joblib:{joblib.hash(self._facts)}"


class Regressor(Protocol):
    """Protocol of a fitted model of the equity, of wins or of the five probabilities."""

    def predict(self, rows: Float32Array, /) -> ArrayLike:
        """Return equities or win probabilities (n,), or probabilities (n, 5), of rows (n, parameters)."""


class Classifier(Protocol):
    """Protocol of a fitted classifier of wins."""

    def predict_proba(self, rows: Float32Array, /) -> ArrayLike:
        """Return the probabilities (n, 2) of losses and wins, for rows (n, parameters)."""


def from_sklearn(
    model: Regressor | Classifier,
    parameters: ParametersLike = "motif",
    name: str | None = None,
    *,
    scaled: bool = True,
    target: Literal["equity", "win"] = "equity",
) -> Evaluator:
    """Return an evaluator that values positions by a fitted scikit-learn estimator.

    Parameters
    ----------
    model : estimator
        A regressor of the equity (n,), of wins (n,) or of the five probabilities (n, 5), or a classifier of
        wins with two classes, the last of which is a win.
    parameters : str, Path or ParameterSet
        The parameters it was fitted to, as in ``dataset.X(parameters)``.
    name : str, optional
        Name of the evaluator, by default that of the model's class.
    scaled : bool
        Whether parameters are scaled, as in ``dataset.X``.
    target : str
        The label of a regressor with one output: ``"equity"``, or ``"win"`` as in ``dataset.y("win")``.

    Returns
    -------
    Evaluator
        The evaluator, which is accepted wherever a player is.

    Raises
    ------
    PlayerError
        For an object with neither ``predict`` nor ``predict_proba``, a model that is not fitted or has other
        columns, and a classifier without two classes or without ``predict_proba``.
    SettingError
        If `scaled` is neither True nor False.

    Notes
    -----
    A model that was fitted to a data frame is given its columns by name, in its own order; they may be only
    some of the parameters.
    """
    chosen = parameter_set(parameters)
    methods = [getattr(model, method, None) for method in ("predict_proba", "predict")]
    if inspect.isclass(model):
        raise PlayerError(f"{model.__name__} is a class: give an instance that is fitted")
    if not any(map(callable, methods)):
        raise PlayerError(f"{shown(model)} is not a fitted estimator: it has no method predict")
    if target not in ("equity", "win"):
        raise PlayerError(f"target must be equity or win, not {shown(target)}")
    check_flag("scaled", scaled)
    if name is not None and not is_line(name):
        raise PlayerError(f"name {LINE_WANTED}, not {shown(name)}")
    _check_fitted(model, chosen)
    own = _FromFunction(partial(_predicted, model, chosen, scaled, target))
    evaluator = _FromModel(name or type(model).__name__, own, (model, chosen.fingerprint, scaled, target))
    # Refuses a model that is not fitted, or has a wrong number of outputs, now and not in the first game.
    evaluator.evaluate(Position.start())
    return evaluator


def _check_fitted(model: Any, chosen: ParameterSet) -> None:
    """Raise `PlayerError` for a model of classes only, or of other columns than the parameters `chosen`."""
    # Classes would be taken for equities.
    if np.size(getattr(model, "classes_", ())) > 1 and not callable(getattr(model, "predict_proba", None)):
        raise PlayerError(
            f"{type(model).__name__} predicts classes without probabilities: it has no method predict_proba"
        )
    names = getattr(model, "feature_names_in_", None)
    expected = getattr(model, "n_features_in_", len(chosen))
    if names is None and expected != len(chosen):
        raise PlayerError(
            f"{type(model).__name__} was fitted to {expected} columns, but the parameters {chosen.name} are "
            f"{len(chosen)}"
        )
    if names is not None and (unknown := sorted(set(names) - set(chosen.names))):
        raise PlayerError(
            f"{type(model).__name__} was fitted to the column {shown(unknown[0])}, which is none of the "
            f"parameters {chosen.name}"
        )


def _predicted(
    model: Any, parameters: ParameterSet, scaled: bool, target: str, boards: npt.NDArray[np.int8]
) -> FloatArray:
    rows: Any = features(parameters, boards, scaled=scaled)
    if hasattr(model, "feature_names_in_"):
        columns = dict(zip(parameters.names, rows.T, strict=True))
        rows = frame({name: columns[name] for name in model.feature_names_in_})
    if callable(getattr(model, "predict_proba", None)):
        chances = np.asarray(model.predict_proba(rows), np.float64)
        if chances.ndim != 2 or chances.shape[1] != 2:
            kind = type(model).__name__
            raise PlayerError(f"{kind} must have two classes, loss and win: it returns {chances.shape[1:]}")
        return 2 * chances[:, 1] - 1
    # A regression may exceed the bounds slightly.
    values = np.asarray(model.predict(rows), np.float64)
    if values.ndim == 1:
        return (
            2 * np.clip(values, 0, 1) - 1 if target == "win" else np.clip(values, -EQUITY_BOUND, EQUITY_BOUND)
        )
    values = np.clip(values, 0, 1)
    for _ in range(2 * (values.shape[1:] == (len(OUTPUTS),))):  # gammons, then backgammons
        values = np.minimum(values, largest_possible(values))
    return values


class _FromFile(OwnEvaluator):
    """An evaluator from a Python file, loaded by each worker process."""

    @property
    def fingerprint(self) -> str:
        """Hash of the file."""
        match = _NAMED.fullmatch(self.name)
        assert match
        return f"sha256:{hashlib.sha256(Path(match[1]).read_bytes()).hexdigest()}"

    def __reduce__(self) -> tuple[Any, ...]:
        return load_own, (self.name,)


def load_own(name: str) -> Evaluator:
    """Return the evaluator in a Python file; raises `PlayerError` as `own_object` and `own_evaluator` do."""
    return own_evaluator(name, own_object(name))


def own_evaluator(name: str, own: object) -> Evaluator:
    """Return the evaluator of the `own_object` of the file `name`.

    Raises `PlayerError` for a `motif.Player` that cannot evaluate.
    """
    if callable(getattr(own, "choose_many", None)) and getattr(own, "evaluator", own) is None:
        raise PlayerError(f"the player {name!r} chooses plays but cannot evaluate positions")
    made = as_evaluator(own)
    return made if made is own else _FromFile(name, made.own) if isinstance(made, OwnEvaluator) else made


def own_object(name: str) -> object:
    """Return the object in a Python file: ``my_eval.py``, or ``my_eval.py:name`` if it has several.

    The file is executed. It must define an object with ``evaluate_many``, such as a `motif.Player`, or a
    class of such objects that can be called without arguments. A class and its only object count as one.

    Raises
    ------
    PlayerError
        If the file cannot be executed, or defines no such object or several.
    """
    match = _NAMED.fullmatch(name)
    assert match
    path, wanted = Path(match[1]), match[2]
    module = _run(path)
    if wanted is not None:
        if wanted not in module:
            raise PlayerError(f"{path}: the file does not define {wanted}")
        found = {wanted: module[wanted]}
    else:
        found = {key: value for key, value in module.items() if _is_made_here(key, value)}
        made = [type(value) for value in found.values()]
        found = {key: value for key, value in found.items() if value not in made}
    if len(found) != 1:
        which = f"; say which, {path}:NAME: {', '.join(sorted(found))}" if found else ""
        number = "several objects" if found else "no object"
        raise PlayerError(f"{path}: {number} with a method evaluate_many{which}")
    ((key, own),) = found.items()
    if inspect.isclass(own):
        with failures_of(f"{path}: {key}()"):
            return own()
    return own


def _is_made_here(key: str, value: object) -> bool:
    """Return whether the file itself defines the evaluator `key`, rather than importing it."""
    if key.startswith("_") or not callable(getattr(value, "evaluate_many", None)):
        return False
    kind = value if inspect.isclass(value) else type(value)
    return kind.__module__ == _MODULE


_MODULE = "motif_own_evaluator"


def _run(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise PlayerError(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location(_MODULE, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise PlayerError(f"{path}: the file cannot be executed: {_in_one_line(error)}") from error
    return vars(module)
