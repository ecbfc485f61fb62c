"""The surrogate's mean at one site, compiled, for samplers that evaluate it a hundred thousand times."""

import numpy as np

from ..compiled import kernel
from ..problem import FloatArray

__all__ = ["surrogate_mean_at_site"]


@kernel
def surrogate_mean_at_site(
    weighted: FloatArray, t_runs: FloatArray, t_rates: FloatArray, mean: float, site: int, t: FloatArray
) -> float:
    """m(x_site, t) = μ̂ + Σ_j α_j R_x(x_site, x_j) exp(-Σ_k ω_k (t_k - t_jk)²), see `SurrogateAtControls`."""
    total = mean
    for j in range(t_runs.shape[0]):
        exponent = 0.0
        for k in range(t_runs.shape[1]):
            difference = t[k] - t_runs[j, k]
            exponent -= t_rates[k] * difference * difference
        total += weighted[site, j] * np.exp(exponent)
    return total
