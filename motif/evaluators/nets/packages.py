"""The packages that nets need; motif runs without them until a net is asked for."""

from importlib import import_module
from typing import Any

from motif.runtime.errors import PlayerError

EXTRA = "onnx"


def onnx_package() -> Any:
    """The package onnx, which reads and writes model files; raises `PlayerError` where it is missing."""
    return _imported("onnx")


def onnx_runtime() -> Any:
    """The package onnxruntime, which evaluates them; raises `PlayerError` where it is missing."""
    return _imported("onnxruntime")


def _imported(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise PlayerError(f"a net needs {name}: pip install 'motif[{EXTRA}]'") from None
