"""Values that JSON can hold: arrays as lists, NumPy's numbers as Python's, numbers that are not finite as None."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["plain_values"]


def plain_values(value: Any) -> Any:
    """`value` with everything inside it made plain."""
    if isinstance(value, Mapping):
        return {str(key): plain_values(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain_values(inner) for inner in value]
    if isinstance(value, np.ndarray):
        return plain_values(value.tolist())
    if isinstance(value, np.generic):
        return plain_values(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
