"""The likelihood of a constant-mean Gaussian process with its mean and variance profiled out.

For y ~ N(μ1, s²K), K = R(ω) + gI: μ̂ = 1ᵀK⁻¹y / 1ᵀK⁻¹1, ŝ² = (y - μ̂)ᵀK⁻¹(y - μ̂)/n, and what is left to minimise is
½ n log ŝ² + ½ log|K|. By the envelope theorem its derivative treats μ̂ and ŝ² as constants.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack

from .kernels import squared_exponential

__all__ = ["ProfiledProcess", "negative_log_profile", "profile_process"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ProfiledProcess:
    """Mean, variance and factor at given rates and nugget; `factor` is the lower Cholesky factor of R + gI."""

    mean: float
    variance: float
    factor: FloatArray
    weights: FloatArray
    objective: float


def profile_process(
    inputs: FloatArray,
    response: FloatArray,
    rates: FloatArray,
    nugget: float,
    fixed_mean: float | None = None,
) -> ProfiledProcess | None:
    """Profile μ and s² at the given rates and nugget; None where R + gI is not positive definite in float64.

    Parameters
    ----------
    inputs, response
        (n, d) and (n,).
    rates, nugget
        ω and g.
    fixed_mean
        A known μ; profiled when None.
    """
    num_points = len(response)
    correlation = squared_exponential(inputs, inputs, rates)
    correlation[np.diag_indices(num_points)] = 1.0 + nugget
    factor, failed = lapack.dpotrf(correlation, lower=1, clean=1, overwrite_a=1)
    if failed:
        return None
    both, _ = lapack.dpotrs(factor, np.column_stack([response, np.ones(num_points)]), lower=1)
    mean = float(both[:, 0].sum() / both[:, 1].sum()) if fixed_mean is None else fixed_mean
    weights = both[:, 0] - mean * both[:, 1]
    variance = max(float((response - mean) @ weights) / num_points, np.finfo(np.float64).tiny)
    objective = 0.5 * num_points * np.log(variance) + float(np.log(np.diag(factor)).sum())
    return ProfiledProcess(mean, variance, factor, weights, objective)


def negative_log_profile(
    log_parameters: FloatArray,
    inputs: FloatArray,
    response: FloatArray,
    fixed_mean: float | None = None,
) -> tuple[float, FloatArray]:
    """½ n log ŝ² + ½ log|K| and its gradient at (log ω_1, …, log ω_d, log g)."""
    rates, nugget = np.exp(log_parameters[:-1]), float(np.exp(log_parameters[-1]))
    process = profile_process(inputs, response, rates, nugget, fixed_mean)
    if process is None:
        return 1e10, np.zeros_like(log_parameters)
    inverse, _ = lapack.dpotri(process.factor, lower=1)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    # W = K⁻¹ - αᵀα/ŝ², α = K⁻¹(y - μ̂): the objective's derivative along dK is ½ tr(W dK).
    sensitivity = inverse - np.outer(process.weights, process.weights) / process.variance
    nugget_slope = 0.5 * nugget * float(np.trace(sensitivity))
    sensitivity *= squared_exponential(inputs, inputs, rates)
    row_sums = sensitivity.sum(axis=1)
    # Σ_ij S_ij (z_i - z_j)² = 2 Σ_i (S1)_i z_i² - 2 zᵀSz, for each input.
    spread = 2.0 * (row_sums @ inputs**2) - 2.0 * np.einsum("ik,ik->k", inputs, sensitivity @ inputs)
    return process.objective, np.append(-0.5 * rates * spread, nugget_slope)
