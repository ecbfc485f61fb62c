"""Exponentials of many numbers at once, by arithmetic that the compiler turns into vector instructions.

With k the integer nearest to v / ln 2 and r = v - k ln 2, |r| ≤ ½ ln 2, e^v = 2^k e^r. Taylor's polynomial of degree 13
in r is exact to rounding, and 2^k is k put into the exponent of a float: no branch, no table, and so several numbers
per instruction, where the library's exp takes one. Every covariance of the sampler is made of these.
"""

import numpy as np

from ..compiled import kernel
from ..problem.arrays import FloatArray

__all__ = ["exponentiate"]

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""ln 2 in two parts: k times the first is exact."""
ROUNDING = 1.5 * 2.0**52
"""Added to a number it leaves the nearest integer in the last bits of the sum."""
LOWEST, HIGHEST = -708.0, 709.0
"""Beyond these e^v is not a normal float: it stays at their exponentials, 3e-308 and 8e307."""
C2, C3, C4, C5, C6, C7 = 1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040
C8, C9, C10, C11, C12, C13 = (
    1 / 40320,
    1 / 362880,
    1 / 3628800,
    1 / 39916800,
    1 / 479001600,
    1 / 6227020800,
)


@kernel
def exponentiate(values: FloatArray) -> None:
    """Overwrite each entry v of a contiguous vector with e^v, within two units in the last place."""
    for j in range(values.size):
        v = values[j]
        v = LOWEST if v < LOWEST else v
        v = HIGHEST if v > HIGHEST else v
        shifted = np.float64(v * LOG2_E + ROUNDING)
        k = shifted - ROUNDING
        r = v - k * LN2_HIGH - k * LN2_LOW
        square = r * r
        fourth = square * square
        low = square * (C2 + r * C3) + fourth * ((C4 + r * C5) + square * (C6 + r * C7))
        high = (C8 + r * C9) + square * (C10 + r * C11) + fourth * (C12 + r * C13)
        power = np.int64((shifted.view(np.int64) + 1023) << 52).view(np.float64)
        values[j] = (1.0 + (r + (low + fourth * fourth * high))) * power
