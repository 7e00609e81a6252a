"""ONNX models, and their descriptions in the metadata of the file.

A model runs on one thread, and the outputs of a row are bit-identical for any number of rows. The packages
for nets are imported when a net is loaded.

========================  ==============================================================
``motif.format``          ``motif-net/1``
``motif.name``            the net's name
``motif.inputs``          one of `INPUTS`
``motif.outputs``         one of `OUTPUTS_OF`, to match the inputs
``motif.parameters``      name of the parameter set of the features
``motif.fingerprint``     of that set, or of an earlier stage of it; others are refused
``motif.names``           its parameters in the order of the features, joined by commas
``motif.classes``         the meaning of each number of ``position_class``, joined by commas
``motif.bearoff``         one of `BEAROFF_RANKINGS`, if the bearoff tables replace the net's values
========================  ==============================================================

The last five are present only if they apply.  Other metadata are ignored.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from motif.parameters import KNOWN_SETS, ParameterSet, fitted_set
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.arrays import Float32Array
from motif.runtime.errors import ParameterError, PlayerError, plain_text, shown
from motif.runtime.files import content_of
from motif.runtime.limits import NET_FILE, NET_NODES, NET_NUMBERS
from motif.runtime.package import install_command

EXTRA = "onnx"

NET_FORMAT = "motif-net/1"

WILDBG_CONTACT = "wildbg-contact"
"""202 numbers for any position, see `motif.evaluators.nets.net_evaluators`."""
WILDBG_RACE = "wildbg-race"
"""186 numbers for a race."""
FEATURES = "features"
"""The scaled features of a set, in order, as from `motif.parameters.sets.features`."""
EVALUATOR_INPUTS = "features, position_class, checkers_off"
"""Three inputs of a complete evaluator, see `motif.evaluators.nets.graph_inputs`."""
CHECKERS_INPUTS = EVALUATOR_INPUTS + ", checkers"
"""Four inputs of an evaluator with a hidden layer, which reads the checkers on each point."""
WHOLE_EVALUATORS = (EVALUATOR_INPUTS, CHECKERS_INPUTS)
INPUTS = (WILDBG_CONTACT, WILDBG_RACE, FEATURES, *WHOLE_EVALUATORS)

EXCLUSIVE_CHANCES = "six exclusive chances"
"""(n, 6), adding up to 1: the player on roll wins a single game, a gammon, a backgammon, or loses one of
these.
"""
MOVER_SCORE = "score of the player who has just moved"
"""(n,) or (n, 1): a score of the position for the player who is not on roll, 0 to 1."""
CHANCES_AND_EQUITY = "probabilities, equity"
"""(n, 5) cumulative probabilities and (n,) the equity that ranks plays, both of the player on roll."""

OUTPUTS_OF = {
    WILDBG_CONTACT: EXCLUSIVE_CHANCES,
    WILDBG_RACE: EXCLUSIVE_CHANCES,
    FEATURES: MOVER_SCORE,
    EVALUATOR_INPUTS: CHANCES_AND_EQUITY,
    CHECKERS_INPUTS: CHANCES_AND_EQUITY,
}
"""The outputs for each kind of inputs."""

FINISHED_NAMES = ("won or lost single", "gammon", "backgammon")
"""Numbers of ``position_class`` after those of `CLASS_NAMES`: how a finished game ended."""

BY_EQUITY, BY_WIN = BEAROFF_RANKINGS = ("equity", "win")
"""How the tables' values rank plays, like the evaluator: by all five probabilities or only the win
probability.
"""

_PREFIX = "motif."
_SEPARATOR = ","
"""Names of plans contain commas."""


def onnx_package() -> ModuleType:
    """Return the package onnx, which reads and writes model files; raises `PlayerError` if it is missing."""
    return _imported("onnx")


def onnx_runtime() -> ModuleType:
    """Return the package onnxruntime, which evaluates models; raises `PlayerError` if it is missing."""
    return _imported("onnxruntime")


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        raise PlayerError(f"a net needs {name}: {install_command(EXTRA)}") from None


_ROWS = "positions"


def freed_batch(model: bytes) -> bytes:
    """Return the ONNX file `model` with a first dimension of any size.

    The shapes of inputs, outputs and intermediate values and the constant shapes of Reshape nodes are
    changed. Raises `PlayerError` if the package onnx is missing.
    """
    onnx = onnx_package()
    proto = onnx.load_model_from_string(model)
    graph = proto.graph
    del graph.value_info[:]  # only hints, which the runtime recomputes
    for value in (*graph.input, *graph.output):
        dimensions = value.type.tensor_type.shape.dim
        if len(dimensions):
            dimensions[0].dim_param = _ROWS
    shapes = {node.input[1] for node in graph.node if node.op_type == "Reshape" and len(node.input) > 1}
    for tensor in graph.initializer:
        if tensor.name in shapes:
            tensor.CopyFrom(_freed(onnx, tensor))
    for node in graph.node:
        if node.op_type == "Constant" and node.output[0] in shapes:
            for attribute in node.attribute:
                if attribute.name == "value":
                    attribute.t.CopyFrom(_freed(onnx, attribute.t))
    return bytes(proto.SerializeToString())


def _freed(onnx: ModuleType, tensor: Any) -> Any:
    """Return the constant shape `tensor` with 0 (the size of the input) for a first size of 1."""
    shape = onnx.numpy_helper.to_array(tensor).copy()
    if shape.size and shape[0] == 1:
        shape[0] = 0
    return onnx.numpy_helper.from_array(shape, tensor.name)


_ROWS_AT_ONCE = 64
"""Number of rows in every call of the runtime; the last call is padded. With another number of rows the
runtime may sum in another order, and results would depend on how a caller divides the work.
"""
_FATAL = 4
"""Minimum severity of the messages that the runtime writes to stderr."""
_NUMPY_TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64}
_LOOPS = frozenset({"Loop", "Scan", "If", "SequenceMap"})
"""Operators that contain graphs and may never end."""
_SIZED_BY_VALUE = {"ConstantOfShape": 0, "Expand": 1, "Tile": 1}
"""Operators whose output may be far larger than their inputs, and the input with its size."""
_MAX_DIMENSIONS = 100


def check_model(model: bytes, where: str) -> None:
    """Raise `PlayerError` for a model that could fill the memory, read other files or loop.

    Such models have tensors in other files, too many numbers, or loops. Nothing is checked if
    the package onnx is missing.
    """
    try:
        onnx = onnx_package()
    except PlayerError:
        return
    try:
        graph = onnx.load_model_from_string(model).graph
    except Exception:  # the runtime reports the fault
        return
    NET_NODES.check(len(graph.node) + len(graph.initializer), where, PlayerError)
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type in _LOOPS:
            raise PlayerError(f"{where}: the net has the operator {node.op_type}, which is not allowed")
        for attribute in node.attribute:
            if attribute.HasField("t"):
                tensors[node.output[0] if node.output else ""] = attribute.t
    for tensor in (*tensors.values(), *graph.initializer):
        if tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.external_data:
            raise PlayerError(f"{where}: a tensor is stored in another file, which is not allowed")
        NET_NUMBERS.check(math.prod(tensor.dims), where, PlayerError)
    for node in graph.node:
        if (place := _SIZED_BY_VALUE.get(node.op_type)) is not None and place < len(node.input):
            shape = tensors.get(node.input[place])
            if shape is not None and math.prod(shape.dims) < _MAX_DIMENSIONS:
                sizes = onnx.numpy_helper.to_array(shape).ravel().tolist()
                NET_NUMBERS.check(math.prod(abs(size) for size in sizes if size), where, PlayerError)


class Net:
    """A model that maps rows to rows."""

    def __init__(self, model: bytes, where: str) -> None:
        """Load the ONNX file `model`, called `where` in error messages.

        A model stored for one row is converted to take many rows. Raises `PlayerError` for bytes that are not
        a model, a model that cannot take many rows, or a missing package.
        """
        self.where = where
        check_model(model, where)
        self._stored = model
        self._session = _session(model, where)
        shapes = [value.shape for value in self._session.get_inputs()]
        if any(shape and isinstance(shape[0], int) for shape in shapes):
            row_by_row = self._session
            self._session = _session(freed_batch(model), where)
            self._check_many_rows(row_by_row)
        self.metadata: Mapping[str, str] = self._session.get_modelmeta().custom_metadata_map

    def __reduce__(self) -> tuple[type["Net"], tuple[bytes, str]]:
        return Net, (self._stored, self.where)

    @property
    def fingerprint(self) -> str:
        """Hash of the file."""
        return f"sha256:{hashlib.sha256(self._stored).hexdigest()}"

    @property
    def inputs(self) -> dict[str, int | None]:
        """Row length of each input by name; None if the model does not specify it, 1 for a single number."""
        return {value.name: _width(value.shape) for value in self._session.get_inputs()}

    def run(self, rows: Mapping[str, npt.NDArray[np.number]]) -> dict[str, npt.NDArray[np.number]]:
        """Return the outputs by name, (n, ...), for `rows` (n, ...) of each input by name.

        Raises `PlayerError` if the model cannot take them or returns a non-finite value.
        """
        count = len(next(iter(rows.values())))
        parts = [self._padded(rows, start, count) for start in range(0, count, _ROWS_AT_ONCE)]
        outputs = zip(*(parts or [self._padded(rows, 0, 0)]), strict=True)
        names = (value.name for value in self._session.get_outputs())
        return {name: np.concatenate(pieces) for name, pieces in zip(names, outputs, strict=True)}

    def run_one(self, rows: Float32Array) -> npt.NDArray[np.number]:
        """Return the first output of a model with one input, for `rows` (n, width)."""
        return next(iter(self.run({next(iter(self.inputs)): rows}).values()))

    def _padded(
        self, rows: Mapping[str, npt.NDArray[np.number]], start: int, count: int
    ) -> list[npt.NDArray[np.number]]:
        """Return the outputs for the rows from `start` on, for one call."""
        here = min(_ROWS_AT_ONCE, count - start)
        feed = {}
        for name, given in rows.items():
            feed[name] = np.zeros((_ROWS_AT_ONCE, *given.shape[1:]), given.dtype)
            feed[name][:here] = given[start : start + here]
        outputs = _outputs(self._session, feed, self.where)
        if any(output.ndim == 0 or len(output) != _ROWS_AT_ONCE for output in outputs):
            raise PlayerError(f"{self.where}: the net must return one row of outputs for each row of inputs")
        outputs = [output[:here] for output in outputs]
        if not all(np.isfinite(output).all() for output in outputs):
            raise PlayerError(f"{self.where}: the net returned a value that is not finite")
        return outputs

    def _check_many_rows(self, row_by_row: Any) -> None:
        """Raise `PlayerError` unless rows have the same outputs together as one by one."""
        random, feed = np.random.default_rng(0), {}
        for value in row_by_row.get_inputs():
            if value.type not in _NUMPY_TYPES:
                return  # the check of the inputs reports it
            shape = (_ROWS_AT_ONCE, *(size if isinstance(size, int) else 1 for size in value.shape[1:]))
            feed[value.name] = random.integers(0, 2, shape).astype(_NUMPY_TYPES[value.type])
        together = self.run(feed)
        for row in range(3):
            one_row = {name: rows[row : row + 1] for name, rows in feed.items()}
            alone = _outputs(row_by_row, one_row, self.where)
            for many, one in zip(together.values(), alone, strict=True):
                if not np.allclose(many[row].ravel(), np.ravel(one), rtol=1e-4, atol=1e-5):
                    raise PlayerError(f"{self.where}: the net accepts only one position at a time")


def read_net(path: Path) -> Net:
    """Return the net in the file `path`; raises `PlayerError` for a missing or invalid file."""
    model = content_of(path, PlayerError, NET_FILE, "no such net")
    return Net(model, plain_text(str(path)))


def _session(model: bytes, where: str) -> Any:
    runtime = onnx_runtime()
    options = runtime.SessionOptions()
    # One thread, so that sums have a fixed order; work is distributed over processes.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    options.log_severity_level = _FATAL
    try:
        return runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception:  # the runtime has a separate class for each error
        raise PlayerError(f"{where}: not an ONNX net that onnxruntime can run, or cut short") from None


def _outputs(
    session: Any, feed: Mapping[str, npt.NDArray[np.number]], where: str
) -> list[npt.NDArray[np.number]]:
    try:
        return [np.asarray(output) for output in session.run(None, dict(feed))]
    except Exception as error:
        what = plain_text(" ".join(str(error).split())[:200])
        raise PlayerError(f"{where}: the net cannot be evaluated: {what}") from None


def _width(shape: list[Any]) -> int | None:
    if len(shape) == 1:
        return 1
    return shape[1] if len(shape) == 2 and isinstance(shape[1], int) else None


@dataclass(frozen=True)
class NetDescription:
    """The inputs and outputs of a net."""

    name: str
    inputs: str
    """One of `INPUTS`; it determines the outputs."""
    parameters: ParameterSet | None = None
    """The parameter set of the features, if any."""
    bearoff: str | None = None
    """How plays are ranked where the bearoff tables replace the net; None if the net evaluates bearoffs."""

    @property
    def outputs(self) -> str:
        """Kind of the outputs, one of `OUTPUTS_OF`."""
        return OUTPUTS_OF[self.inputs]

    def metadata(self) -> dict[str, str]:
        """Return the description as metadata for an ONNX file."""
        texts = {"format": NET_FORMAT, "name": self.name, "inputs": self.inputs, "outputs": self.outputs}
        if self.parameters is not None:
            texts["parameters"] = self.parameters.name
            texts["fingerprint"] = self.parameters.fingerprint
            texts["names"] = _SEPARATOR.join(self.parameters.names)
        if self.inputs in WHOLE_EVALUATORS:
            texts["classes"] = _SEPARATOR.join((*CLASS_NAMES, *FINISHED_NAMES))
        if self.bearoff is not None:
            texts["bearoff"] = self.bearoff
        return {_PREFIX + key: text for key, text in texts.items()}


def described(model: bytes, description: NetDescription) -> bytes:
    """Return the ONNX file `model` with `description` in it, replacing an earlier one.

    Raises `PlayerError` if the package onnx is missing.
    """
    onnx = onnx_package()
    proto = onnx.load_model_from_string(model)
    metadata = {entry.key: entry.value for entry in proto.metadata_props}
    kept = {key: text for key, text in metadata.items() if not key.startswith(_PREFIX)}
    onnx.helper.set_model_props(proto, {**kept, **description.metadata()})
    return bytes(proto.SerializeToString())


def read_description(metadata: Mapping[str, str], folder: Path = Path()) -> NetDescription | None:
    """Return the description among the texts of an ONNX file in `folder`; None if there is none.

    Raises `PlayerError`, without the file's name, for an unsupported one.
    """
    texts = {key.removeprefix(_PREFIX): text for key, text in metadata.items() if key.startswith(_PREFIX)}
    if not texts:
        return None
    if texts.get("format") != NET_FORMAT:
        _refuse("format", texts, f"{NET_FORMAT!r}")
    inputs = texts.get("inputs", "")
    if inputs not in INPUTS:
        _refuse("inputs", texts, "one of " + "; ".join(INPUTS))
    if texts.get("outputs") != OUTPUTS_OF[inputs]:
        _refuse("outputs", texts, f"{OUTPUTS_OF[inputs]!r}")
    parameters = None
    if inputs in (FEATURES, *WHOLE_EVALUATORS):
        try:
            names = texts.get("names", "").split(_SEPARATOR)
            parameters = fitted_set(texts.get("parameters"), texts.get("fingerprint"), folder, names)
        except ParameterError as error:
            raise PlayerError(f"the metadata {_PREFIX}parameters: {error}") from None
        if parameters is None:
            _refuse("parameters", texts, f"one of {', '.join(KNOWN_SETS)}")
        if texts.get("fingerprint") != parameters.fingerprint:
            expected = f"that of the set {parameters.name}, {parameters.fingerprint[:19]}..."
            _refuse("fingerprint", texts, expected)
    bearoff = texts.get("bearoff")
    if bearoff is not None and bearoff not in BEAROFF_RANKINGS:
        _refuse("bearoff", texts, " or ".join(BEAROFF_RANKINGS))
    return NetDescription(texts.get("name", ""), inputs, parameters, bearoff)


def _refuse(key: str, texts: Mapping[str, str], expected: str) -> NoReturn:
    given = shown(texts[key]) if key in texts else "missing"
    raise PlayerError(f"the metadata {_PREFIX}{key} must be {expected}, not {given}")
