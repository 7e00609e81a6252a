"""Building an ONNX graph node by node."""

from typing import Any

import numpy as np
import numpy.typing as npt

from motif.evaluators.nets.packages import onnx_package

OPSET, IR_VERSION = 13, 7
"""Old enough for any runtime of the last years, new enough for GatherND with batches."""


class GraphBuilder:
    """Collects nodes; values are known by their names."""

    def __init__(self) -> None:
        self._onnx = onnx_package()
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}

    def constant(self, array: npt.ArrayLike) -> str:
        """The name of a value that never changes, whole numbers as int64; equal ones are kept once."""
        values = np.asarray(array)
        if values.dtype.kind == "i":
            values = values.astype(np.int64)
        key = f"{values.dtype.str}{values.shape}{values.tobytes()!r}"
        if key not in self._constants:
            name = f"constant{len(self._constants)}"
            self._constants[key] = self._onnx.numpy_helper.from_array(values, name)
        return str(self._constants[key].name)

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add one node with one output; return the output's name."""
        name = output or f"{operator.lower()}{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def cast(self, value: str, dtype: npt.DTypeLike, output: str | None = None) -> str:
        """`value` as numbers of the type `dtype`."""
        return self.add("Cast", value, output=output, to=self._element(dtype))

    def column(self, values: str, index: int) -> str:
        """One column (n, 1) of `values` (n, m)."""
        return self.add("Gather", values, self.constant([index]), axis=1)

    def model(
        self,
        name: str,
        inputs: dict[str, tuple[npt.DTypeLike, tuple[Any, ...]]],
        outputs: dict[str, tuple[npt.DTypeLike, tuple[Any, ...]]],
    ) -> bytes:
        """The checked ONNX file; `inputs` and `outputs` are type and shape by name, a text for any size."""
        helper = self._onnx.helper
        ends = [
            [helper.make_tensor_value_info(key, self._element(dtype), shape) for key, (dtype, shape) in side]
            for side in (inputs.items(), outputs.items())
        ]
        graph = helper.make_graph(self._nodes, name, *ends, initializer=list(self._constants.values()))
        model = helper.make_model(
            graph,
            producer_name="motif",
            ir_version=IR_VERSION,
            opset_imports=[helper.make_opsetid("", OPSET)],
        )
        self._onnx.checker.check_model(model)
        return bytes(model.SerializeToString())

    def _element(self, dtype: npt.DTypeLike) -> int:
        return int(self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
