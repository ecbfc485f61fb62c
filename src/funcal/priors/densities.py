"""Log densities of the priors of Appendix A and of their proper replacements, compiled.

The positive parameters of the covariance (ℓ_j, γ, σ²) are sampled on the logarithmic scale, so their priors
are densities of ``u = ln(parameter)``: a Jacobian is part of each of them. The paper's "log-gamma" means that
ln ℓ has a gamma distribution (its support is ℓ > 1); it is not the distribution that `scipy.stats` calls
``loggamma``.
"""

from __future__ import annotations

import math

from ..compiled import kernel

__all__ = [
    "GAMMA",
    "HALF_NORMAL_SD",
    "NORMAL",
    "UNIFORM",
    "gamma_log_density",
    "half_normal_sd_log_density",
    "inverse_gamma_log_density",
    "log_scale_density",
    "normal_log_density",
    "uniform_log_density",
]

# Kinds of prior that `log_scale_density` knows; numbers because compiled code dispatches on them.
NORMAL = 0
GAMMA = 1
UNIFORM = 2
HALF_NORMAL_SD = 3

_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)


@kernel
def normal_log_density(u: float, mean: float, sd: float) -> float:
    """Log density of N(mean, sd²) at `u`; for ``u = ln p`` the parameter p is log-normal."""
    z = (u - mean) / sd
    return -0.5 * z * z - math.log(sd) - _HALF_LOG_TWO_PI


@kernel
def gamma_log_density(u: float, shape: float, rate: float) -> float:
    """Log density of Gamma(shape, rate) at `u`; with ``u = ln ℓ`` the paper's log-gamma prior (App. A)."""
    if u <= 0.0:
        return -math.inf
    return shape * math.log(rate) - math.lgamma(shape) + (shape - 1.0) * math.log(u) - rate * u


@kernel
def uniform_log_density(u: float, lower: float, upper: float) -> float:
    """Log density of U(lower, upper) at `u`; with ``u = ln p`` the truncated log-uniform prior of p."""
    if u < lower or u > upper:
        return -math.inf
    return -math.log(upper - lower)


@kernel
def half_normal_sd_log_density(u: float, scale: float) -> float:
    """Log density of ``u = ln σ²`` when the standard deviation σ is half-normal with this scale."""
    log_sd = 0.5 * u
    z = math.exp(log_sd) / scale
    # density of σ times |dσ/du| = σ/2
    return -0.5 * z * z - math.log(scale) - _HALF_LOG_TWO_PI + log_sd


@kernel
def inverse_gamma_log_density(value: float, shape: float, scale: float) -> float:
    """Log density of the inverse gamma distribution at `value` (ν², τ²)."""
    if value <= 0.0:
        return -math.inf
    log_norm = shape * math.log(scale) - math.lgamma(shape) if shape > 0.0 and scale > 0.0 else 0.0
    return log_norm - (shape + 1.0) * math.log(value) - scale / value


@kernel
def log_scale_density(kind: float, first: float, second: float, u: float) -> float:
    """Log density of ``u = ln(parameter)`` under one of the four kinds of prior.

    Parameters
    ----------
    kind
        `NORMAL` (mean, sd), `GAMMA` (shape, rate), `UNIFORM` (lower, upper) or `HALF_NORMAL_SD` (scale, unused).
    first, second
        The two numbers of that kind.
    u
        Logarithm of the parameter.
    """
    if kind == NORMAL:
        return normal_log_density(u, first, second)
    if kind == GAMMA:
        return gamma_log_density(u, first, second)
    if kind == UNIFORM:
        return uniform_log_density(u, first, second)
    return half_normal_sd_log_density(u, first)
