"""The squared exponential correlation, Eq. (3) of the paper with unit magnitude.

R(z, z') = exp(-Σ_k ω_k (z_k - z'_k)²), one rate ω_k per input. Rates, not length-scales: ω = 1 / (2 length²).
"""

import numpy as np
import numpy.typing as npt

__all__ = ["squared_exponential"]

FloatArray = npt.NDArray[np.float64]


def squared_exponential(a: FloatArray, b: FloatArray, rates: FloatArray) -> FloatArray:
    """Correlation matrix (len(a), len(b)) of two sets of points.

    Parameters
    ----------
    a, b
        Points, (p, d) and (q, d).
    rates
        ω, (d,).
    """
    # Centring keeps |a|² + |b|² - 2ab accurate when the points are far from the origin.
    root = np.sqrt(rates)
    centre = a.mean(axis=0)
    left, right = (a - centre) * root, (b - centre) * root
    squared = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)[None, :]
    squared -= 2.0 * (left @ right.T)
    np.maximum(squared, 0.0, out=squared)
    np.negative(squared, out=squared)
    return np.asarray(np.exp(squared, out=squared))
