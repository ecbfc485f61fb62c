"""The array types of the package, and how an array is frozen when it enters a data object."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["FloatArray", "IntArray", "frozen_floats", "frozen_integers"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def frozen_floats(values: Any, *, ndim: int) -> FloatArray:
    """Copy to a read-only, C-contiguous float64 array of `ndim` dimensions."""
    array = np.array(values, dtype=np.float64, order="C", ndmin=ndim)
    if array.ndim != ndim:
        raise ValueError(f"an array of {ndim} dimensions was expected; got shape {array.shape}")
    array.setflags(write=False)
    return array


def frozen_integers(values: Any) -> IntArray:
    """Copy to a read-only one-dimensional int64 array."""
    array = np.array(values, dtype=np.int64, ndmin=1)
    array.setflags(write=False)
    return array
