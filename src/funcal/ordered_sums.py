"""Sums of many numbers in one given order, four running sums at a time.

A compiler may only use its vector instructions for a sum if it may change the order of the additions, and where it may,
each copy of a kernel that it makes can have an order of its own. Then a result depends on which copy was loaded, by a
rounding that chains make into other draws. Here the order is written down, and none is changed.
"""

from .compiled import kernel
from .problem.arrays import FloatArray

__all__ = ["inner_product", "sum_of"]


@kernel
def inner_product(left: FloatArray, right: FloatArray) -> float:
    """Σ_j left_j right_j."""
    first = second = third = fourth = 0.0
    j = 0
    while j + 3 < left.size:
        first += left[j] * right[j]
        second += left[j + 1] * right[j + 1]
        third += left[j + 2] * right[j + 2]
        fourth += left[j + 3] * right[j + 3]
        j += 4
    while j < left.size:
        first += left[j] * right[j]
        j += 1
    return (first + second) + (third + fourth)


@kernel
def sum_of(values: FloatArray) -> float:
    """Σ_j values_j."""
    first = second = third = fourth = 0.0
    j = 0
    while j + 3 < values.size:
        first += values[j]
        second += values[j + 1]
        third += values[j + 2]
        fourth += values[j + 3]
        j += 4
    while j < values.size:
        first += values[j]
        j += 1
    return (first + second) + (third + fourth)
