"""The network as an ONNX file, which plays as ``onnx:FILE``."""

from importlib.util import find_spec

from motif.bootstrap.phase_net.net import PhaseNet
from motif.evaluators.nets.description import FEATURES, NetDescription, described
from motif.evaluators.nets.net import EXTRA, onnx_package, onnx_runtime
from motif.parameters.phase_set import PHASE_SET
from motif.runtime.errors import SettingError

INPUT = "features"
# The newest that every release of onnxruntime from 1.18 on runs.
_OPERATORS = 17


def check_packages() -> None:
    """Raise `PlayerError` or `SettingError` when what writes ONNX files is not installed."""
    onnx_package()
    onnx_runtime()
    if find_spec("skl2onnx") is None:
        raise SettingError(f"the net is saved by skl2onnx: pip install 'motif[{EXTRA}]'")


def onnx_bytes(net: PhaseNet, name: str) -> bytes:
    """The net as an ONNX file that says what goes in and comes out (see `NetDescription`)."""
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType

    inputs = [(INPUT, FloatTensorType([None, len(PHASE_SET)]))]
    model = convert_sklearn(net.regressor, name, inputs, target_opset=_OPERATORS)
    return described(model.SerializeToString(), NetDescription(name, FEATURES, PHASE_SET))
