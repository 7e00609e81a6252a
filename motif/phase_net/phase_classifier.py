"""The network, 48-64-64-1: its training by scikit-learn, and its ONNX file, which plays as ``onnx:FILE``."""

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from motif.evaluators.nets.net import EXTRA, FEATURES, NetDescription, described, onnx_package, onnx_runtime
from motif.parameters.phase_set import PHASE_SET
from motif.runtime.errors import SettingError
from motif.runtime.package import install_command
from motif.runtime.parallel import one_thread

HIDDEN = (64, 64)
_INTERRUPTED = "Training interrupted by user"
Rows = npt.NDArray[np.float32]


class PhaseNet:
    """A network under training; the same seed and the same rows give the same weights."""

    def __init__(self, batch: int, seed: int) -> None:
        """`batch` boards make a step of Adam; `seed` draws the first weights and shuffles the boards."""
        bits = np.random.MT19937(np.random.SeedSequence(seed))
        self.regressor = MLPRegressor(
            hidden_layer_sizes=HIDDEN,
            activation="relu",
            solver="adam",
            # The source has no penalty on weights.
            alpha=0.0,
            batch_size=batch,
            shuffle=True,
            random_state=np.random.RandomState(bits),
            n_iter_no_change=np.inf,
            warm_start=True,
        )

    def train(self, inputs: Rows, targets: Rows, epochs: int, rate: float) -> Iterator[float]:
        """Train by Adam, begun anew, at the learning `rate`, and yield the loss of each epoch.

        `inputs` are float32 (n, 48), `targets` (n,).  The loss is the mean squared error of the epoch's
        batches, each before its step.
        """
        # A new optimiser comes with `fit` alone; later epochs go on with it.
        self.regressor.set_params(learning_rate_init=rate, max_iter=1)
        for epoch in range(epochs):
            with one_thread(), _interruptible():
                (self.regressor.partial_fit if epoch else self.regressor.fit)(inputs, targets)
            yield 2 * float(self.regressor.loss_)

    def scores(self, inputs: Rows) -> Rows:
        """Scores (n,) of the players who have just moved, about 0 to 1."""
        with one_thread():
            return np.asarray(self.regressor.predict(inputs))

    def rmse(self, inputs: Rows, targets: Rows) -> float:
        """Root mean square error of the scores."""
        return math.sqrt(np.mean((self.scores(inputs) - targets) ** 2, dtype=np.float64))


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C through, which scikit-learn makes a warning of, and hear nothing of its other one."""
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
# The newest that every release of onnxruntime from 1.18 on runs.
_OPERATORS = 17


def check_packages() -> None:
    """Raise `PlayerError` or `SettingError` when what writes ONNX files is not installed."""
    onnx_package()
    onnx_runtime()
    if find_spec("skl2onnx") is None:
        raise SettingError(f"the net is saved by skl2onnx: {install_command(EXTRA)}")


def onnx_bytes(net: PhaseNet, name: str) -> bytes:
    """The net as an ONNX file that says what goes in and comes out (see `NetDescription`)."""
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType

    inputs = [(INPUT, FloatTensorType([None, len(PHASE_SET)]))]
    model = convert_sklearn(net.regressor, name, inputs, target_opset=_OPERATORS)
    return described(model.SerializeToString(), NetDescription(name, FEATURES, PHASE_SET))
