"""The 48-64-64-1 network: training with scikit-learn, and its ONNX file, which plays as ``onnx:FILE``.

A file always contains the net for scaled inputs. If a net is trained on unscaled counts and pips, its weights
are divided by the scales when the file is written, and multiplied by them when training continues.
"""

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from motif.evaluators.nets.net import (
    EXTRA,
    FEATURES,
    NetDescription,
    described,
    onnx_package,
    onnx_runtime,
    read_description,
    read_net,
)
from motif.parameters.phase_set import PHASE_SET
from motif.runtime.arrays import Float32Array
from motif.runtime.errors import PlayerError, SettingError, plain_text
from motif.runtime.package import install_command
from motif.runtime.parallel import one_thread

HIDDEN = (64, 64)
_INTERRUPTED = "Training interrupted by user"
_Rows = Float32Array


class Layers(NamedTuple):
    """The weights of a net by layer, for scaled inputs."""

    weights: tuple[_Rows, ...]
    """(48, 64), (64, 64) and (64, 1): inputs x outputs."""
    biases: tuple[_Rows, ...]
    """(64,), (64,) and (1,)."""


class PhaseNet:
    """A network in training; the same seed and rows give the same weights."""

    def __init__(self, batch: int, seed: int, *, start: Layers | None = None, scaling: bool = True) -> None:
        """`batch` is the batch size of Adam; `seed` determines initial weights and shuffling.

        Training continues from the layers `start`, if given.  Without `scaling`, inputs are counts and pips
        rather than shares of their largest values.
        """
        self.scales = np.array([parameter.scale for parameter in PHASE_SET.parameters], np.float64)
        self.scaling = scaling
        self._batch = batch
        bits = np.random.MT19937(np.random.SeedSequence(seed))
        self.regressor = MLPRegressor(
            hidden_layer_sizes=HIDDEN,
            activation="relu",
            solver="adam",
            # The values are those of the source.
            alpha=0.0,
            batch_size=batch,
            shuffle=True,
            random_state=np.random.RandomState(bits),
            n_iter_no_change=np.inf,
            warm_start=True,
        )
        if start is not None:
            self._begin_from(start)

    def _begin_from(self, layers: Layers) -> None:
        """Set the weights to `layers`, which are for scaled inputs."""
        # Fitting allocates the arrays, whose contents are then replaced.
        self.regressor.set_params(max_iter=1)
        with one_thread(), _interruptible():
            self.regressor.fit(
                np.zeros((self._batch, len(PHASE_SET)), np.float32), np.zeros(self._batch, np.float32)
            )
        weights, biases = layers
        first = weights[0] if self.scaling else weights[0] * self.scales[:, None]
        self.regressor.coefs_ = [first.astype(np.float32), *(rows.astype(np.float32) for rows in weights[1:])]
        self.regressor.intercepts_ = [row.astype(np.float32) for row in biases]

    def layers(self) -> Layers:
        """Return the weights and biases for scaled inputs."""
        weights, biases = list(self.regressor.coefs_), list(self.regressor.intercepts_)
        if not self.scaling:
            weights[0] = (weights[0] / self.scales[:, None]).astype(np.float32)
        return Layers(tuple(weights), tuple(biases))

    def _shown(self, inputs: _Rows) -> _Rows:
        """Return the net's inputs for scaled `inputs`."""
        return inputs if self.scaling else (inputs / self.scales).astype(np.float32)

    def train(self, inputs: _Rows, targets: _Rows, epochs: int, rate: float) -> Iterator[float]:
        """Train by Adam, newly initialised, with learning rate `rate`; yield the loss of each epoch.

        `inputs` are float32 (n, 48), `targets` (n,). The loss is the mean squared error over the epoch's
        batches, each measured before its step.
        """
        inputs = self._shown(inputs)
        # Only `fit` resets the optimiser.
        batch = min(self._batch, len(inputs))
        self.regressor.set_params(learning_rate_init=rate, max_iter=1, batch_size=batch)
        for epoch in range(epochs):
            with one_thread(), _interruptible():
                (self.regressor.partial_fit if epoch else self.regressor.fit)(inputs, targets)
            yield 2 * float(self.regressor.loss_)

    def scores(self, inputs: _Rows) -> _Rows:
        """Return the scores (n,), approximately 0 to 1, for the players who have just moved."""
        with one_thread():
            return np.asarray(self.regressor.predict(self._shown(inputs)))

    def rmse(self, inputs: _Rows, targets: _Rows) -> float:
        """Return the root mean square error of the scores."""
        return math.sqrt(np.mean((self.scores(inputs) - targets) ** 2, dtype=np.float64))


@contextmanager
def _interruptible() -> Iterator[None]:
    """Raise Ctrl-C, which scikit-learn turns into a warning, and ignore convergence warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("error", _INTERRUPTED, UserWarning)
        try:
            yield
        except UserWarning as warning:
            if _INTERRUPTED not in str(warning):
                raise
            raise KeyboardInterrupt from None


INPUT = "features"
# The newest version that every onnxruntime since 1.18 supports.
_OPERATORS = 17


def check_packages() -> None:
    """Raise `PlayerError` or `SettingError` if a package for writing ONNX files is missing."""
    onnx_package()
    onnx_runtime()
    if find_spec("skl2onnx") is None:
        raise SettingError(f"the net is saved by skl2onnx: {install_command(EXTRA)}")


def onnx_bytes(net: PhaseNet, name: str) -> bytes:
    """Return the net as an ONNX file with a description (`NetDescription`)."""
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType

    inputs = [(INPUT, FloatTensorType([None, len(PHASE_SET)]))]
    regressor = copy(net.regressor)
    regressor.coefs_ = list(net.layers().weights)
    model = convert_sklearn(regressor, name, inputs, target_opset=_OPERATORS)
    return described(model.SerializeToString(), NetDescription(name, FEATURES, PHASE_SET))


def read_layers(path: Path) -> Layers:
    """Read the weights of a net written by `onnx_bytes`, to continue training.

    Raises `PlayerError` for a missing or invalid file, `SettingError` for a net with another shape or other
    inputs.
    """
    where = plain_text(str(path))
    net = read_net(path)
    try:
        description = read_description(net.metadata, path.parent)
    except PlayerError as error:
        raise PlayerError(f"{where}: {error}") from None
    if description is None or description.inputs != FEATURES or description.parameters != PHASE_SET:
        raise SettingError(f"{where}: not a net of the features of the set {PHASE_SET.name}")
    onnx = onnx_package()
    graph = onnx.load_model_from_string(path.read_bytes()).graph
    tensors = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}

    def added(operator: str) -> list[_Rows]:
        named = (node.input[1] for node in graph.node if node.op_type == operator)
        return [tensors[name] for name in named if name in tensors]

    weights, biases = added("MatMul"), added("Add")
    sizes = [len(PHASE_SET), *HIDDEN, 1]
    shapes = [array.shape for array in weights], [array.size for array in biases]
    if shapes != ([*pairwise(sizes)], sizes[1:]):
        raise SettingError(f"{where}: the layers must be {'-'.join(map(str, sizes))}")
    return Layers(tuple(weights), tuple(array.ravel() for array in biases))
