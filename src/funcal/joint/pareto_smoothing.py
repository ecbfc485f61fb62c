"""Pareto-smoothed importance sampling (Vehtari, Simpson, Gelman, Yao & Gabry 2024), the same numbers as ArviZ's."""

import numpy as np
from scipy.special import logsumexp

from ..problem.arrays import FloatArray

__all__ = ["smooth_log_weights"]

SHORTEST_TAIL = 5
"""Weights that a generalised Pareto distribution can be fitted to."""


def smooth_log_weights(log_weights: FloatArray, efficiency: float) -> tuple[FloatArray, float]:
    """Replace the largest importance weights by quantiles of a Pareto distribution fitted to them.

    Parameters
    ----------
    log_weights : (T,)
    efficiency
        Effective over actual number of draws.

    Returns
    -------
    log_weights : (T,)
        Normalised: their exponentials sum to one.
    pareto_k
        Shape of the distribution; infinite where the tail is too short for one.
    """
    size = log_weights.size
    smoothed = log_weights - log_weights.max()
    order = np.argsort(smoothed)
    longest = int(np.ceil(min(size / 5.0, 3.0 * np.sqrt(size / efficiency))))
    cutoff = max(smoothed[order[-longest - 1]], float(np.log(np.finfo(np.float64).tiny)))
    tail = order[smoothed[order] > cutoff]
    shape = np.inf
    if tail.size >= SHORTEST_TAIL:
        shape, scale = fit_generalised_pareto(np.exp(smoothed[tail]) - np.exp(cutoff))
        upper = np.log1p(-np.arange(0.5, tail.size) / tail.size)
        excess = -scale * (upper if shape == 0.0 else -np.expm1(-shape * upper) / shape)
        smoothed[tail] = np.minimum(np.log(excess + np.exp(cutoff)), 0.0)
    return smoothed - logsumexp(smoothed), float(shape)


def fit_generalised_pareto(excess: FloatArray) -> tuple[float, float]:
    """Shape and scale of a generalised Pareto distribution (Zhang & Stephens 2009), the shape drawn a little to ½.

    Parameters
    ----------
    excess : (T,)
        Positive, in increasing order.
    """
    size = excess.size
    num_candidates = 30 + int(np.sqrt(size))
    candidates = 1.0 - np.sqrt(num_candidates / (np.arange(num_candidates) + 0.5))
    candidates = candidates / (3.0 * excess[int(size / 4.0 + 0.5) - 1]) + 1.0 / excess[-1]
    shapes = np.log1p(-candidates[:, None] * excess).mean(axis=1)
    log_likelihood = size * (np.log(-candidates / shapes) - shapes - 1.0)
    weights = np.exp(log_likelihood - logsumexp(log_likelihood))
    candidate = float(weights @ candidates)
    shape = float(np.log1p(-candidate * excess).mean())
    return (size * shape + 5.0) / (size + 10.0), -shape / candidate
