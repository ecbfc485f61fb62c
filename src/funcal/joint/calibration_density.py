"""Log density of the calibration block given the emulator, and its gradient, by hand.

With B the (n, m) covariance of runs and sites, C = K⁻¹ B, S = K_pp - Bᵀ C + Δ + diag(σ²/count) and
r = y^p - Bᵀ K⁻¹ y^s, the sites contribute log N(r; 0, S). With a = S⁻¹ r and G = ½ (a aᵀ - S⁻¹) the adjoints are
∂S: G, ∂B: K⁻¹y^s aᵀ - 2 C G, and the chain rule runs on through the kernel, the probit link, the Cholesky factor
of each θ_k's correlation, and the priors. One product with K⁻¹, O(n² m), is all that touches the runs.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ..problem.arrays import FloatArray
from .emulator import LOG_TWO_PI, EmulatorState, add_calibration_inputs
from .factors import cholesky_in_place, cholesky_reverse, inverse_from_cholesky
from .model import JointModel

__all__ = [
    "SiteState",
    "allocate_sites",
    "calibration_log_density",
    "calibration_log_prior",
    "discrepancy_covariance",
    "place_sites",
]

CORRELATION_JITTER = 1e-8
"""Added to the diagonal of a correlation matrix over the sites, so that coinciding or close sites stay factorable."""


class SiteState(NamedTuple):
    """Calibration values at the sites and what produced them; overwritten in place.

    `response_mean` and `response_variance` are those of the noise-free η + δ at the sites given both tables.
    """

    latent: FloatArray
    values: FloatArray
    factors: FloatArray
    shapes: FloatArray
    noise_covariance: FloatArray
    response_mean: FloatArray
    response_variance: FloatArray


def allocate_sites(model: JointModel) -> SiteState:
    """Memory for one chain's calibration values."""
    m, num_calibration = model.y_sites.size, model.t_runs.shape[1]
    num_functional = model.layout.num_functional
    return SiteState(
        np.zeros((m, num_calibration)),
        np.zeros((m, num_calibration)),
        np.zeros((num_functional, m, m)),
        np.zeros((num_functional, m)),
        np.zeros((m, m)),
        np.zeros(m),
        np.zeros(m),
    )


@njit(cache=True, nogil=True)
def normal_cdf(value: float) -> float:
    """Φ."""
    return 0.5 * math.erfc(-value / math.sqrt(2.0))


@njit(cache=True, nogil=True)
def discrepancy_covariance(u: FloatArray, model: JointModel, covariance: FloatArray) -> None:
    """Fill the (m, m) covariance of δ + ε over the site means."""
    layout = model.layout
    m = model.y_sites.size
    covariance[:, :] = 0.0
    constant, varying, roughness = 0.0, 0.0, 0.0
    if layout.discrepancy > 0:
        constant = math.exp(2.0 * u[layout.log_discrepancy])
    if layout.discrepancy > 1:
        varying = math.exp(2.0 * u[layout.log_discrepancy + 1])
    if layout.discrepancy > 2:
        roughness = math.exp(u[layout.log_discrepancy + 2])
    for i in range(m):
        for j in range(m):
            covariance[i, j] = constant
            if layout.discrepancy > 1:
                covariance[i, j] += varying * discrepancy_shape(
                    model.x_sites[i], model.x_sites[j], layout.discrepancy, roughness
                )
        covariance[i, i] += model.known_variance[i]
        if layout.has_noise:
            covariance[i, i] += math.exp(2.0 * u[layout.log_noise]) * model.inverse_counts[i]


@njit(cache=True, nogil=True)
def discrepancy_shape(left: FloatArray, right: FloatArray, kind: int, roughness: float) -> float:
    """Covariance of the varying part of δ, of unit size: linear over [0, 1], or squared exponential."""
    total = 0.0
    for c in range(left.size):
        if kind == 2:
            total += (2.0 * left[c] - 1.0) * (2.0 * right[c] - 1.0)
        else:
            total += (left[c] - right[c]) ** 2
    return total if kind == 2 else math.exp(-roughness * total)


@njit(cache=True, nogil=True)
def place_sites(u: FloatArray, model: JointModel, sites: SiteState) -> bool:
    """Fill the calibration values at the sites and the covariance of δ + ε; False if something overflowed."""
    layout = model.layout
    m, num_controls = model.x_sites.shape
    for k in range(layout.num_functional):
        correlation = sites.factors[k]
        start = layout.log_roughness + k * num_controls
        for i in range(m):
            for j in range(i + 1):
                exponent = 0.0
                for c in range(num_controls):
                    exponent += math.exp(u[start + c]) * model.site_gaps[c, i, j]
                correlation[i, j] = math.exp(-exponent)
                correlation[j, i] = correlation[i, j]
            correlation[i, i] += CORRELATION_JITTER
        if not cholesky_in_place(correlation):
            return False
        variation = math.exp(u[layout.log_variation + k])
        for i in range(m):
            shape = 0.0
            for j in range(i + 1):
                shape += correlation[i, j] * u[k * m + j]
            sites.shapes[k, i] = shape
            sites.latent[i, k] = u[layout.level + k] + variation * shape
    for h in range(layout.num_global):
        for i in range(m):
            sites.latent[i, layout.num_functional + h] = u[layout.global_latent + h]
    for i in range(m):
        for c in range(sites.latent.shape[1]):
            sites.values[i, c] = normal_cdf(sites.latent[i, c])
    discrepancy_covariance(u, model, sites.noise_covariance)
    return True


@njit(cache=True, nogil=True)
def calibration_log_prior(u: FloatArray, model: JointModel, sites: SiteState, gradient: FloatArray) -> float:
    """Log prior of u (normalised, in the log coordinates), replicate and anchor terms; adds to the gradient in u.

    The anchors' pull on the functional latents is left to the caller's chain rule; here it only counts its density.
    """
    layout, prior = model.layout, model.prior
    total = 0.0
    for a in range(layout.level):
        total -= 0.5 * u[a] * u[a] + 0.5 * LOG_TWO_PI
        gradient[a] -= u[a]
    for a in range(layout.level, layout.log_variation):
        total -= 0.5 * (u[a] / prior.level_sd) ** 2 + math.log(prior.level_sd) + 0.5 * LOG_TWO_PI
        gradient[a] -= u[a] / prior.level_sd**2
    for a in range(layout.log_variation, layout.log_roughness):
        total += half_normal_of_log(u[a], prior.variation_scale)
        gradient[a] += 1.0 - math.exp(2.0 * u[a]) / prior.variation_scale**2
    for a in range(layout.log_roughness, layout.global_latent):
        standard = (u[a] - prior.log_roughness_mean) / prior.log_roughness_sd
        total -= 0.5 * standard * standard + math.log(prior.log_roughness_sd) + 0.5 * LOG_TWO_PI
        gradient[a] -= standard / prior.log_roughness_sd
    for a in range(layout.global_latent, layout.log_noise):
        total -= 0.5 * u[a] * u[a] + 0.5 * LOG_TWO_PI
        gradient[a] -= u[a]
    if layout.has_noise:
        log_noise = u[layout.log_noise]
        within = model.within_ss * math.exp(-2.0 * log_noise)
        total += half_normal_of_log(log_noise, prior.noise_scale)
        # replicates: within_ss / σ² is chi-squared
        total -= model.within_dof * log_noise + 0.5 * within
        gradient[layout.log_noise] += 1.0 - math.exp(2.0 * log_noise) / prior.noise_scale**2
        gradient[layout.log_noise] += within - model.within_dof
    for part in range(layout.discrepancy):
        a = layout.log_discrepancy + part
        if part < 2:
            total += half_normal_of_log(u[a], prior.discrepancy_scale)
            gradient[a] += 1.0 - math.exp(2.0 * u[a]) / prior.discrepancy_scale**2
        else:
            sd = prior.log_discrepancy_roughness_sd
            standard = (u[a] - prior.log_discrepancy_roughness_mean) / sd
            total -= 0.5 * standard * standard + math.log(sd) + 0.5 * LOG_TWO_PI
            gradient[a] -= standard / sd
    for i in range(sites.latent.shape[0]):
        for c in range(sites.latent.shape[1]):
            total -= (
                0.5 * model.anchor_precision[i, c] * (sites.latent[i, c] - model.anchor_latent[i, c]) ** 2
            )
    return total


@njit(cache=True, nogil=True)
def half_normal_of_log(log_value: float, scale: float) -> float:
    """Log density of ln v when v is half-normal, Jacobian included."""
    return (
        0.5 * math.log(2.0 / math.pi)
        - math.log(scale)
        - 0.5 * math.exp(2.0 * log_value) / scale**2
        + log_value
    )


@njit(cache=True, nogil=True)
def site_system(
    model: JointModel, emulator: EmulatorState, sites: SiteState
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """The sites given the runs.

    Returns
    -------
    kernel : (n, m), within : (m, m)
        Squared-exponential parts of the covariances of the sites with the runs and with each other.
    solved : (n, m)
        K⁻¹ B.
    covariance : (m, m), residual : (m,)
        Of the site means given the runs.
    """
    num_controls, num_calibration = model.x_sites.shape[1], model.t_runs.shape[1]
    decay = np.exp(emulator.phi[num_controls : num_controls + num_calibration])
    slope = model.prior.slope_variance
    kernel, trend = emulator.cross.copy(), emulator.cross_trend.copy()
    add_calibration_inputs(model.t_runs, sites.values, decay, slope, kernel, trend)
    cross = kernel + trend
    solved = np.dot(emulator.inverse, cross)
    within, within_trend = emulator.within.copy(), emulator.within_trend.copy()
    add_calibration_inputs(sites.values, sites.values, decay, slope, within, within_trend)
    covariance = within + within_trend + sites.noise_covariance - np.dot(cross.T, solved)
    return kernel, within, solved, covariance, model.y_sites - np.dot(cross.T, emulator.weights)


@njit(cache=True, nogil=True)
def calibration_log_density(
    u: FloatArray, model: JointModel, emulator: EmulatorState, sites: SiteState, gradient: FloatArray
) -> float:
    """log p(y^p | y^s, φ, u) + log p(u); overwrites `gradient`. Minus infinity where something overflows."""
    layout = model.layout
    m, num_controls = model.x_sites.shape
    num_calibration = model.t_runs.shape[1]
    gradient[:] = 0.0
    for a in range(u.size):
        if not abs(u[a]) < 40.0:  # beyond any prior mass; exp(2·40) would still be finite
            return -np.inf
    if not place_sites(u, model, sites):
        return -np.inf
    decay = np.exp(emulator.phi[num_controls : num_controls + num_calibration])
    slope = model.prior.slope_variance
    kernel, within, solved, factor, residual = site_system(model, emulator, sites)
    if not cholesky_in_place(factor):
        return -np.inf
    inverse = inverse_from_cholesky(factor)
    pull = np.dot(inverse, residual)
    total = (
        calibration_log_prior(u, model, sites, gradient) - 0.5 * LOG_TWO_PI * m - 0.5 * np.dot(pull, residual)
    )
    adjoint = np.empty((m, m))
    for i in range(m):
        total -= math.log(factor[i, i])
        for j in range(m):
            adjoint[i, j] = 0.5 * (pull[i] * pull[j] - inverse[i, j])
        noise = model.known_variance[i]
        if layout.has_noise:
            noise += math.exp(2.0 * u[layout.log_noise]) * model.inverse_counts[i]
        sites.response_mean[i] = model.y_sites[i] - noise * pull[i]
        sites.response_variance[i] = noise - noise * noise * inverse[i, i]
    cross_adjoint = np.dot(solved, -2.0 * adjoint)
    latent_gradient = np.empty((m, num_calibration))
    for i in range(m):
        for c in range(num_calibration):
            slope_here = 0.0
            for j in range(model.y_runs.size):
                weight = cross_adjoint[j, i] + emulator.weights[j] * pull[i]
                gap = model.t_runs[j, c] - sites.values[i, c]
                slope_here += weight * (
                    2.0 * decay[c] * gap * kernel[j, i] + slope * (model.t_runs[j, c] - 0.5)
                )
            for j in range(m):
                gap = sites.values[j, c] - sites.values[i, c]
                slope_here += (
                    2.0
                    * adjoint[i, j]
                    * (2.0 * decay[c] * gap * within[i, j] + slope * (sites.values[j, c] - 0.5))
                )
            latent = sites.latent[i, c]
            latent_gradient[i, c] = slope_here * math.exp(-0.5 * latent * latent) / math.sqrt(2.0 * math.pi)
            latent_gradient[i, c] -= model.anchor_precision[i, c] * (latent - model.anchor_latent[i, c])
    _functional_gradient(u, model, sites, latent_gradient, gradient)
    for h in range(layout.num_global):
        for i in range(m):
            gradient[layout.global_latent + h] += latent_gradient[i, layout.num_functional + h]
    _noise_gradient(u, model, adjoint, gradient)
    return total


@njit(cache=True, nogil=True)
def _functional_gradient(
    u: FloatArray, model: JointModel, sites: SiteState, latent_gradient: FloatArray, gradient: FloatArray
) -> None:
    """Chain rule from f_k = β_k + s_k L(ρ_k) g_k to β, ln s, g and ln ρ."""
    layout = model.layout
    m, num_controls = model.x_sites.shape
    for k in range(layout.num_functional):
        variation = math.exp(u[layout.log_variation + k])
        factor = sites.factors[k]
        factor_adjoint = np.zeros((m, m))
        for i in range(m):
            here = latent_gradient[i, k]
            gradient[layout.level + k] += here
            gradient[layout.log_variation + k] += here * variation * sites.shapes[k, i]
            for j in range(i + 1):
                gradient[k * m + j] += here * variation * factor[i, j]
                factor_adjoint[i, j] = here * variation * u[k * m + j]
        adjoint = cholesky_reverse(factor, factor_adjoint)
        start = layout.log_roughness + k * num_controls
        for i in range(m):
            for j in range(i):
                exponent = 0.0
                for c in range(num_controls):
                    exponent += math.exp(u[start + c]) * model.site_gaps[c, i, j]
                correlation = math.exp(-exponent)
                for c in range(num_controls):
                    gradient[start + c] -= (
                        2.0 * adjoint[i, j] * correlation * math.exp(u[start + c]) * model.site_gaps[c, i, j]
                    )


@njit(cache=True, nogil=True)
def _noise_gradient(u: FloatArray, model: JointModel, adjoint: FloatArray, gradient: FloatArray) -> None:
    """Derivatives in ln σ and the log sizes of δ from the adjoint of the sites' covariance."""
    layout = model.layout
    m = model.y_sites.size
    if layout.has_noise:
        noise = math.exp(2.0 * u[layout.log_noise])
        for i in range(m):
            gradient[layout.log_noise] += 2.0 * adjoint[i, i] * noise * model.inverse_counts[i]
    if layout.discrepancy > 0:
        gradient[layout.log_discrepancy] += 2.0 * math.exp(2.0 * u[layout.log_discrepancy]) * np.sum(adjoint)
    if layout.discrepancy > 1:
        size = math.exp(2.0 * u[layout.log_discrepancy + 1])
        roughness = math.exp(u[layout.log_discrepancy + 2]) if layout.discrepancy > 2 else 0.0
        for i in range(m):
            for j in range(m):
                term = adjoint[i, j] * size
                term *= discrepancy_shape(model.x_sites[i], model.x_sites[j], layout.discrepancy, roughness)
                gradient[layout.log_discrepancy + 1] += 2.0 * term
                if layout.discrepancy > 2:
                    squared = 0.0
                    for c in range(model.x_sites.shape[1]):
                        squared += model.site_gaps[c, i, j]
                    gradient[layout.log_discrepancy + 2] -= term * roughness * squared
