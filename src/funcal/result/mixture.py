"""Quantiles of mixtures of normal distributions, exact up to bisection."""

import numpy as np
from scipy.special import ndtr

from ..problem import FloatArray

__all__ = ["mixture_moments", "mixture_quantile"]

#: Bisection halves the bracket this often: 2⁻⁵² of its width is float64's own resolution.
NUM_HALVINGS = 52


def mixture_moments(
    mean: FloatArray, variance: FloatArray, weight: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance over components (axis 0) by the law of total variance (point 15)."""
    center = np.average(mean, axis=0, weights=weight)
    total = np.average(variance + (mean - center) ** 2, axis=0, weights=weight)
    return center, total


def mixture_quantile(
    mean: FloatArray, variance: FloatArray, probability: float, weight: FloatArray | None = None
) -> FloatArray:
    """Quantile of Σ_t w_t N(mean_t, variance_t) at each of q points.

    Parameters
    ----------
    mean, variance : (T, q)
    probability : float
    weight : (T,), optional

    Returns
    -------
    (q,)
    """
    sd = np.sqrt(np.maximum(variance, 0.0))
    scale = np.maximum(sd, 1e-12 * (np.abs(mean) + np.ptp(mean, axis=0) + 1e-300))
    share = np.full(len(mean), 1.0 / len(mean)) if weight is None else weight / weight.sum()
    reach = 12.0 * scale
    low, high = (mean - reach).min(axis=0), (mean + reach).max(axis=0)
    for _ in range(NUM_HALVINGS):
        middle = 0.5 * (low + high)
        below = share @ ndtr((middle - mean) / scale)
        low = np.where(below < probability, middle, low)
        high = np.where(below < probability, high, middle)
    quantile: FloatArray = 0.5 * (low + high)
    return quantile
