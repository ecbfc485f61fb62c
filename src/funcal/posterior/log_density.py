"""The log density of Eq. (Posterior4), compiled; σ² everywhere where Appendix A prints σ (point 6).

Σ_ij = γ exp(−Σ_k ℓ_k (z_ik − z_jk)²) with z = (x, θ, ψ). Every row carries the same ψ, so ψ and its ℓ drop out of
Σ, and a common shift of all θ leaves it unchanged (points 1 and 2): the exponent is built from controls and θ alone.
"""

from __future__ import annotations

import math

from ..compiled import kernel
from ..ordered_sums import inner_product
from ..priors.densities import inverse_gamma_log_density, log_scale_density
from ..problem import FloatArray
from .parameters import ChainState, PosteriorModel

__all__ = [
    "JITTER",
    "build_exponent",
    "correlate",
    "factorise",
    "leave_one_out",
    "log_likelihood_from_correlation",
    "log_posterior",
    "noise_variance",
    "refresh",
]

#: Part of γ added to the diagonal of Σ, so that coinciding inputs stay factorisable; part of the model.
JITTER = 1e-8
_LOG_TWO_PI = math.log(2.0 * math.pi)


@kernel
def build_exponent(model: PosteriorModel, theta: FloatArray, log_length: FloatArray, out: FloatArray) -> None:
    """Fill `out` with Σ_k ℓ_k (z_ik − z_jk)² over controls and θ."""
    num_controls = model.control_distance.shape[0]
    m, num_functional = theta.shape
    out[:, :] = 0.0
    for c in range(num_controls):
        length = math.exp(log_length[c])
        for i in range(m):
            for j in range(i):
                out[i, j] += length * model.control_distance[c, i, j]
    for k in range(num_functional):
        length = math.exp(log_length[num_controls + k])
        for i in range(m):
            for j in range(i):
                d = theta[i, k] - theta[j, k]
                out[i, j] += length * d * d
    for i in range(m):
        for j in range(i):
            out[j, i] = out[i, j]


@kernel
def noise_variance(model: PosteriorModel, noise: float, i: int) -> float:
    """Noise variance of the mean at site `i`: σ²/count, or what the user knows."""
    variance: float = noise * model.noise_weight[i] + model.known_noise[i]
    return variance


@kernel
def correlate(exponent: FloatArray, out: FloatArray) -> None:
    """Fill the upper triangle of `out` with exp(−exponent)."""
    m = exponent.shape[0]
    for i in range(m):
        for j in range(i + 1, m):
            out[i, j] = math.exp(-exponent[i, j])


@kernel(error_model="numpy")
def factorise(matrix: FloatArray, rhs: FloatArray) -> float:
    """Factorise the upper triangle as UᵀU in place and solve Uᵀz = rhs in place.

    Returns
    -------
    float
        Log determinant, NaN if the matrix is not positive definite.
    """
    m = matrix.shape[0]
    log_det = 0.0
    for j in range(m):
        pivot = matrix[j, j]
        if not pivot > 0.0:
            return math.nan
        log_det += math.log(pivot)
        root = math.sqrt(pivot)
        inverse_root = 1.0 / root
        row = matrix[j, j:]
        row[0] = root
        for k in range(1, m - j):
            row[k] *= inverse_root
        z = rhs[j] * inverse_root
        rhs[j] = z
        for i in range(1, m - j):
            f = row[i]
            rhs[j + i] -= f * z
            # views from the diagonal on, so that the inner loop is vectorised
            target = matrix[j + i, j + i :]
            source = row[i:]
            for k in range(target.shape[0]):
                target[k] -= f * source[k]
    return log_det


@kernel(error_model="numpy")
def log_likelihood_from_correlation(
    model: PosteriorModel,
    correlation: FloatArray,
    log_magnitude: float,
    log_noise: float,
    factor: FloatArray,
    solved: FloatArray,
) -> float:
    """Evaluate the likelihood (Eq. likelihood), and leave the factor of Σ + σ²I behind.

    Returns
    -------
    float
        log N(y^p; 0, Σ + σ²I) plus the replicates' part; −∞ if Σ + σ²I cannot be factorised.
    """
    m = correlation.shape[0]
    magnitude = math.exp(log_magnitude)
    noise = math.exp(log_noise)
    for i in range(m):
        factor[i, i] = magnitude * (1.0 + JITTER) + noise_variance(model, noise, i)
        target = factor[i, i + 1 :]
        source = correlation[i, i + 1 :]
        for j in range(target.shape[0]):
            target[j] = magnitude * source[j]
        solved[i] = model.response[i]
    log_det: float = factorise(factor, solved)
    if math.isnan(log_det):
        return -math.inf
    quadratic = 0.0
    for i in range(m):
        quadratic += solved[i] * solved[i]
    value: float = -0.5 * (quadratic + log_det + m * _LOG_TWO_PI) + _within_sites(model, log_noise, noise)
    return value


@kernel
def _within_sites(model: PosteriorModel, log_noise: float, noise: float) -> float:
    """Log density of the replicates around their site means, up to a constant."""
    dof = model.within[0]
    if dof == 0.0:
        return 0.0
    value: float = -0.5 * (dof * log_noise + model.within[1] / noise)
    return value


@kernel(error_model="numpy")
def refresh(model: PosteriorModel, state: ChainState) -> None:
    """Recompute exponent, correlation, factor, inverse, weights and likelihood of a state from its parameters.

    Raises
    ------
    ValueError
        If Σ + σ²I cannot be factorised.
    """
    m = state.theta.shape[0]
    build_exponent(model, state.theta, state.log_length, state.exponent)
    correlate(state.exponent, state.correlation)
    state.log_likelihood[0] = log_likelihood_from_correlation(
        model, state.correlation, state.log_magnitude[0], state.log_noise[0], state.factor, state.weights
    )
    if state.log_likelihood[0] == -math.inf:
        raise ValueError("the covariance of the physical responses is not positive definite")
    _invert(state.factor, state.inverse, state.scratch[4 : 4 + m])
    for i in range(m):
        total = 0.0
        for j in range(m):
            total += state.inverse[i, j] * model.response[j]
        state.weights[i] = total


@kernel(error_model="numpy")
def _invert(factor: FloatArray, inverse: FloatArray, triangle: FloatArray) -> None:
    """Fill `inverse` with (UᵀU)⁻¹ = U⁻¹U⁻ᵀ."""
    m = factor.shape[0]
    for i in range(m - 1, -1, -1):
        pivot = 1.0 / factor[i, i]
        own = triangle[i, i:]
        for k in range(1, m - i):
            own[k] = 0.0
        own[0] = pivot
        for row in range(i + 1, m):
            f = -factor[i, row] * pivot
            target = triangle[i, row:]
            source = triangle[row, row:]
            for k in range(target.shape[0]):
                target[k] += f * source[k]
    for i in range(m):
        left = triangle[i, i:]
        for j in range(i + 1):
            right = triangle[j, i:]
            inverse[i, j] = inner_product(left, right)
            inverse[j, i] = inverse[i, j]


@kernel
def leave_one_out(model: PosteriorModel, state: ChainState, out: FloatArray) -> None:
    """Fill `out` with log p(y_i | y_−i, parameters), read off the inverse."""
    for i in range(model.response.shape[0]):
        precision = state.inverse[i, i]
        weight = state.weights[i]
        out[i] = 0.5 * (math.log(precision) - weight * weight / precision - _LOG_TWO_PI)


@kernel
def log_posterior(model: PosteriorModel, state: ChainState) -> float:
    """Log density of (Θ, ψ, ν², τ², ln ℓ, ln γ, ln σ²) given y^p, up to a constant (Eq. Posterior4)."""
    total: float = state.log_likelihood[0]
    m, num_functional = state.theta.shape
    for k in range(num_functional):
        quadratic = 0.0
        for i in range(m):
            row = 0.0
            for j in range(m):
                row += model.theta_precision[i, j] * (state.theta[j, k] - model.theta_mean[j, k])
            quadratic += row * (state.theta[i, k] - model.theta_mean[i, k])
            if not model.theta_bounds[k, 0] <= state.theta[i, k] <= model.theta_bounds[k, 1]:
                return -math.inf
        variance = state.spread[k]
        if not model.spread_prior[k, 2] <= variance <= model.spread_prior[k, 3]:
            return -math.inf
        total += -0.5 * m * (math.log(variance) + _LOG_TWO_PI) - 0.5 * quadratic / variance
        total += inverse_gamma_log_density(variance, model.spread_prior[k, 0], model.spread_prior[k, 1])
    for h in range(state.psi.shape[0]):
        if not model.psi_bounds[h, 0] <= state.psi[h] <= model.psi_bounds[h, 1]:
            return -math.inf
        variance = state.global_spread[h]
        d = state.psi[h] - model.psi_mean[h]
        total += -0.5 * (math.log(variance) + _LOG_TWO_PI + d * d / variance)
        total += inverse_gamma_log_density(
            variance, model.global_spread_prior[h, 0], model.global_spread_prior[h, 1]
        )
    for j in range(state.log_length.shape[0]):
        prior = model.length_prior[j]
        total += log_scale_density(prior[0], prior[1], prior[2], state.log_length[j])
    prior = model.magnitude_prior
    total += log_scale_density(prior[0], prior[1], prior[2], state.log_magnitude[0])
    if model.noise_weight[0] > 0.0:
        prior = model.noise_prior
        total += log_scale_density(prior[0], prior[1], prior[2], state.log_noise[0])
    return total
