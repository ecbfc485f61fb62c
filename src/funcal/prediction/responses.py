"""Responses at new controls: the Gaussian process predictive of every draw (Eq. PredDistFor1Sample).

The T predictions form a mixture: its mean is the paper's, its variance is by the law of total variance, the mean of
the variances plus the variance of the means. The printed rule, (1/T²) Σ s_t², tends to 0 as draws are added
(`method.md`, point 15); `printed_variance` gives it to those who ask.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiled import kernel
from ..posterior.log_density import JITTER, factorise
from ..problem import FloatArray

__all__ = ["predict_responses", "printed_variance"]


@kernel(error_model="numpy")
def predict_responses(
    x_sites: FloatArray,
    theta_sites: FloatArray,
    response: FloatArray,
    noise: FloatArray,
    x_new: FloatArray,
    theta_new: FloatArray,
    length: FloatArray,
    gamma: FloatArray,
    mean: FloatArray,
    variance: FloatArray,
) -> None:
    """Fill `mean` and `variance` (T, q) of the noise-free response.

    Parameters
    ----------
    x_sites, x_new : (m, dx), (q, dx)
    theta_sites, theta_new : (T, m, dtheta), (T, q, dtheta)
    response : (m,)
        Centred y^p.
    noise : (T, m)
        Noise variance of the site means.
    length : (T, dx + dtheta)
        ℓ of controls and functional variables; ψ is the same everywhere and drops out (point 1).
    gamma : (T,)
    mean, variance : (T, q)
        Filled in place.
    """
    num_draws, m, num_functional = theta_sites.shape
    num_controls = x_sites.shape[1]
    factor = np.empty((m, m))
    solved = np.empty(m)
    cross = np.empty(m)
    for t in range(num_draws):
        for i in range(m):
            solved[i] = response[i]
            factor[i, i] = gamma[t] * (1.0 + JITTER) + noise[t, i]
            for j in range(i + 1, m):
                exponent = 0.0
                for c in range(num_controls):
                    exponent += length[t, c] * (x_sites[i, c] - x_sites[j, c]) ** 2
                for k in range(num_functional):
                    d = theta_sites[t, i, k] - theta_sites[t, j, k]
                    exponent += length[t, num_controls + k] * d * d
                factor[i, j] = gamma[t] * math.exp(-exponent)
        if math.isnan(factorise(factor, solved)):
            mean[t, :] = math.nan
            variance[t, :] = math.nan
            continue
        for p in range(x_new.shape[0]):
            for i in range(m):
                exponent = 0.0
                for c in range(num_controls):
                    exponent += length[t, c] * (x_sites[i, c] - x_new[p, c]) ** 2
                for k in range(num_functional):
                    d = theta_sites[t, i, k] - theta_new[t, p, k]
                    exponent += length[t, num_controls + k] * d * d
                cross[i] = gamma[t] * math.exp(-exponent)
            total = 0.0
            explained = 0.0
            for i in range(m):
                z = cross[i] / factor[i, i]
                for j in range(i + 1, m):
                    cross[j] -= factor[i, j] * z
                total += z * solved[i]
                explained += z * z
            mean[t, p] = total
            variance[t, p] = max(gamma[t] - explained, 0.0)


def printed_variance(variance: FloatArray) -> FloatArray:
    """Combine variances (T, q) by the printed rule (1/T²) Σ s_t², which tends to 0 as T grows (point 15)."""
    result: FloatArray = variance.sum(axis=0) / len(variance) ** 2
    return result
