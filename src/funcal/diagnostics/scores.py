"""How good a prediction is: errors, coverage, interval score and CRPS."""

import numpy as np
from scipy.special import ndtr

from ..problem import FloatArray

__all__ = ["coverage", "interval_score", "mixture_crps", "root_mean_square"]

#: Components kept, evenly, for the pairwise term of the CRPS: its error is then a fraction of a per cent.
MAX_COMPONENTS = 200


def root_mean_square(error: FloatArray) -> float:
    """√ of the mean over points of the squared length of the error, (q,) or (q, d): RMSE of Section 6."""
    squared = np.asarray(error, dtype=np.float64) ** 2
    return float(np.sqrt(np.mean(squared if squared.ndim == 1 else squared.sum(axis=1))))


def coverage(lower: FloatArray, upper: FloatArray, truth: FloatArray) -> float:
    """Share of points whose truth lies in [lower, upper]."""
    return float(np.mean((np.asarray(lower) <= truth) & (truth <= np.asarray(upper))))


def interval_score(lower: FloatArray, upper: FloatArray, truth: FloatArray, level: float = 0.95) -> float:
    """Mean interval score (Gneiting and Raftery 2007, Eq. 43): width + 2/α times what falls outside; less is better."""
    alpha = 1.0 - level
    low, high = np.asarray(lower), np.asarray(upper)
    below, above = np.maximum(low - truth, 0.0), np.maximum(truth - high, 0.0)
    return float(np.mean(high - low + 2.0 / alpha * (below + above)))


def _expected_distance(mean: FloatArray, variance: FloatArray) -> FloatArray:
    """E|Z| of Z ~ N(mean, variance)."""
    sd = np.sqrt(np.maximum(variance, 0.0))
    ratio = np.divide(mean, sd, out=np.zeros_like(mean), where=sd > 0.0)
    density = np.exp(-0.5 * ratio**2) / np.sqrt(2.0 * np.pi)
    spread = mean * (2.0 * ndtr(ratio) - 1.0) + 2.0 * sd * density
    return np.where(sd > 0.0, spread, np.abs(mean))


def mixture_crps(
    mean: FloatArray, variance: FloatArray, truth: FloatArray, weight: FloatArray | None = None
) -> FloatArray:
    """CRPS at q points of mixtures of T normals, (T, q) each: E|Y - y| - ½ E|Y - Y'|, in the response's units.

    Grimit et al. 2006, doi 10.1256/qj.05.235.
    """
    if len(mean) > MAX_COMPONENTS and weight is None:
        kept = np.linspace(0, len(mean) - 1, MAX_COMPONENTS).astype(np.int64)
        mean, variance = mean[kept], variance[kept]
    share = np.full(len(mean), 1.0 / len(mean)) if weight is None else weight / weight.sum()
    result = np.empty(mean.shape[1])
    for point in range(mean.shape[1]):
        m, v = mean[:, point], variance[:, point]
        to_truth = share @ _expected_distance(m - truth[point], v)
        pairwise = _expected_distance(m[:, None] - m[None, :], v[:, None] + v[None, :])
        result[point] = to_truth - 0.5 * share @ pairwise @ share
    return result
