"""Types of arrays, for annotations, whose docstrings state the shapes; read-only arrays and slices."""

from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from numpy.typing import ArrayLike as ArrayLike
else:

    class ArrayLike:
        """``numpy.typing.ArrayLike``, which help() would show as six lines of NumPy's own types."""


BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Float32Array = npt.NDArray[np.float32]
_Array = TypeVar("_Array", bound=npt.NDArray[np.generic])


def frozen(array: _Array) -> _Array:
    """Make an array read only, and return it.

    numba compiles a kernel for each type of its arguments, and read-only arrays have a type of their own.
    Arrays that another process may map from a file are therefore read only everywhere.
    """
    array.setflags(write=False)
    return array


def slices(count: int, size: int) -> list[slice]:
    """Return the slices of at most `size` rows, in order, that make up `count` rows."""
    return [slice(start, start + size) for start in range(0, count, size)]
