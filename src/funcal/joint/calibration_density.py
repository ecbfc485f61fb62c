"""Log density of the calibration block given the emulator, and its gradient, by hand.

With B the (n, m) covariance of runs and sites, W = L⁻¹ B, S = K_pp - Wᵀ W + Δ + diag(σ²/count) and
r = y^p - Wᵀ L⁻¹ y^s, the sites contribute log N(r; 0, S). With a = S⁻¹ r and G = ½ (a aᵀ - S⁻¹) the adjoints are
∂S: G, ∂B: K⁻¹y^s aᵀ - 2 L⁻ᵀ W G, and the chain rule runs on through the kernel, the links (clamp of θ, probit of
ψ), the functions and the priors. Two products with L⁻¹, O(n² m) together, are all that touches the runs.
"""

import math

import numpy as np

from ..compiled import kernel
from ..problem.arrays import FloatArray
from .discrepancy import add_noise_gradient, noise_variances
from .emulator import EmulatorState
from .emulator_covariance import EDGE, calibration_part, calibration_whole, growths
from .emulator_prior import LOG_TWO_PI
from .factors import cholesky_in_place, inverse_from_cholesky, lower_product, transposed_product
from .model import JointModel
from .site_functions import SiteState, add_function_gradient, clamp_slope, normal_pdf, place_sites

__all__ = ["LARGEST", "calibration_log_density", "replicates_log_likelihood", "site_system", "within_bounds"]

LARGEST, FARTHEST = 40.0, 1e8
"""No level, global latent or logarithm has mass beyond the first, and exp(2 · 40) is still finite; a function's
coordinates ξ may be far from a sharp pilot, and are only kept finite."""


@kernel
def within_bounds(u: FloatArray, model: JointModel) -> bool:
    """Whether the calibration block is where the density can be computed."""
    level = model.layout.level
    return bool(np.all(np.abs(u[:level]) < FARTHEST) and np.all(np.abs(u[level:]) < LARGEST))


@kernel
def half_normal_of_log(log_value: float, scale: float) -> float:
    """Log density of ln v when v is half-normal, Jacobian included."""
    squared = math.exp(2.0 * log_value) / scale**2
    return 0.5 * math.log(2.0 / math.pi) - math.log(scale) - 0.5 * squared + log_value


@kernel
def rayleigh_of_log(log_value: float, scale: float) -> float:
    """Log density of ln v when v has a Rayleigh distribution, the length of two normals: Jacobian included."""
    relative = log_value - math.log(scale)
    return 2.0 * relative - 0.5 * math.exp(2.0 * relative)


@kernel
def replicates_log_likelihood(u: FloatArray, model: JointModel) -> float:
    """Log density of the replicates but for a constant: within_ss / σ² is chi-squared on within_dof degrees."""
    if not model.layout.has_noise:
        return 0.0
    log_noise = u[model.layout.log_noise]
    return float(-model.within_dof * log_noise - 0.5 * model.within_ss * math.exp(-2.0 * log_noise))


@kernel
def hyper_log_prior(u: FloatArray, model: JointModel, gradient: FloatArray) -> float:
    """Log prior of u but for the whitened functions, with the replicates' term; adds to the gradient."""
    layout, prior = model.layout, model.prior
    total = 0.0
    for a in range(layout.level, layout.log_variation):
        total -= 0.5 * (u[a] / prior.level_sd) ** 2 + math.log(prior.level_sd) + 0.5 * LOG_TWO_PI
        gradient[a] -= u[a] / prior.level_sd**2
    for a in range(layout.log_variation, layout.log_roughness):
        total += half_normal_of_log(u[a], prior.variation_scale)
        gradient[a] += 1.0 - math.exp(2.0 * u[a]) / prior.variation_scale**2
    for a in range(layout.stretch, layout.global_latent):
        standard = (u[a] - prior.stretch_mean) / prior.stretch_sd
        total -= 0.5 * standard * standard + math.log(prior.stretch_sd) + 0.5 * LOG_TWO_PI
        gradient[a] -= standard / prior.stretch_sd
    for a in range(layout.log_roughness, layout.stretch):
        standard = (u[a] - prior.log_roughness_mean) / prior.log_roughness_sd
        total -= 0.5 * standard * standard + math.log(prior.log_roughness_sd) + 0.5 * LOG_TWO_PI
        gradient[a] -= standard / prior.log_roughness_sd
    for a in range(layout.global_latent, layout.log_noise):
        total -= 0.5 * u[a] * u[a] + 0.5 * LOG_TWO_PI
        gradient[a] -= u[a]
    if layout.has_noise:
        log_noise = u[layout.log_noise]
        within = model.within_ss * math.exp(-2.0 * log_noise)
        total += rayleigh_of_log(log_noise, prior.noise_scale) + replicates_log_likelihood(u, model)
        gradient[layout.log_noise] += 2.0 - math.exp(2.0 * log_noise) / prior.noise_scale**2
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
    return total


@kernel
def site_system(
    model: JointModel, emulator: EmulatorState, sites: SiteState
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The sites given the runs.

    Returns
    -------
    whitened : (n, m)
        W = L⁻¹ B.
    covariance : (m, m), residual : (m,)
        Of the site means given the runs.
    """
    phi, t_sites = emulator.phi, sites.values
    cross = calibration_whole(model.t_runs, t_sites, phi, model, emulator.cross, emulator.cross_trend)
    within = calibration_whole(t_sites, t_sites, phi, model, emulator.within, emulator.within_trend)
    return _given_runs(cross, within, model, emulator, sites)


@kernel
def _given_runs(
    cross: FloatArray, within: FloatArray, model: JointModel, emulator: EmulatorState, sites: SiteState
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """`site_system` from the covariances of the sites with the runs, (n, m), and with each other, (m, m)."""
    whitened = lower_product(emulator.half, cross)
    covariance = within + sites.noise_covariance - np.dot(whitened.T, whitened)
    return whitened, covariance, model.y_sites - np.dot(whitened.T, emulator.whitened_y)


@kernel
def calibration_log_density(
    u: FloatArray, model: JointModel, emulator: EmulatorState, sites: SiteState, gradient: FloatArray
) -> float:
    """The log density log p(y^p | y^s, φ, u) + log p(u); overwrites `gradient`. Minus infinity on overflow."""
    layout = model.layout
    m, num_controls = model.x_sites.shape
    num_calibration = model.t_runs.shape[1]
    gradient[:] = 0.0
    if not within_bounds(u, model) or not place_sites(u, model, sites):
        return -np.inf
    decay = np.exp(emulator.phi[num_controls : num_controls + num_calibration])
    slope = model.prior.slope_variance
    growth = growths(emulator.phi, num_controls + num_calibration)[num_controls:]
    phi, t_sites = emulator.phi, sites.values
    cross = calibration_part(model.t_runs, t_sites, phi, model, emulator.cross, emulator.cross_trend)
    within = calibration_part(t_sites, t_sites, phi, model, emulator.within, emulator.within_trend)
    whitened, factor, residual = _given_runs(cross.whole, within.whole, model, emulator, sites)
    curved, level, straight = cross.curved, cross.level, cross.straight
    if not cholesky_in_place(factor):
        return -np.inf
    inverse = inverse_from_cholesky(factor)
    pull = np.dot(inverse, residual)
    power = model.temperature
    likelihood = -0.5 * LOG_TWO_PI * m - 0.5 * np.dot(pull, residual)
    adjoint, noises = np.empty((m, m)), noise_variances(u, model)
    for i in range(m):
        likelihood -= math.log(factor[i, i])
        for j in range(m):
            adjoint[i, j] = 0.5 * power * (pull[i] * pull[j] - inverse[i, j])
        noise = noises[i]
        sites.response_mean[i] = model.y_sites[i] - noise * pull[i]
        sites.response_variance[i] = max(noise - noise * noise * inverse[i, i], 0.0)  # rounding
    sites.likelihood[0] = likelihood
    total = hyper_log_prior(u, model, gradient) + power * likelihood
    cross_adjoint = transposed_product(emulator.half, np.dot(whitened, -2.0 * adjoint))
    latent_gradient = np.empty((m, num_calibration))
    means, covariances = np.empty(m), np.empty(m)
    for c in range(num_calibration):
        values = sites.values[:, c].copy()
        means[:] = 0.0
        covariances[:] = 0.0
        for j in range(model.y_runs.size):
            run, weight = model.t_runs[j, c], emulator.weights[j]
            for i in range(m):
                change = 2.0 * decay[c] * (run - values[i]) * curved[j, i]
                change += (slope + EDGE * level[j, i]) * (run - 0.5)
                change += growth[c] * (curved[j, i] + straight[j, i])
                means[i] += weight * change
                covariances[i] += cross_adjoint[j, i] * change
        for i in range(m):
            value, through_mean, through_covariance = values[i], means[i], covariances[i]
            for j in range(m):
                change = 2.0 * decay[c] * (sites.values[j, c] - value) * within.curved[i, j]
                change += (slope + EDGE * within.level[i, j]) * (sites.values[j, c] - 0.5)
                change += growth[c] * (within.curved[i, j] + within.straight[i, j])
                through_covariance += 2.0 * adjoint[i, j] * change
            latent = sites.latent[i, c]
            link = clamp_slope(latent) if c < layout.num_functional else normal_pdf(latent)
            gap = latent - model.anchor_latent[i, c]
            total -= 0.5 * model.anchor_precision[i, c] * gap * gap
            latent_gradient[i, c] = link * (power * pull[i] * through_mean + through_covariance)
            latent_gradient[i, c] -= model.anchor_precision[i, c] * gap
            sites.score[i, c] = latent_gradient[i, c]
            sites.information[i, c] = power * (link * through_mean) ** 2 * inverse[i, i]
            sites.information[i, c] += model.anchor_precision[i, c]
    total += add_function_gradient(u, model, sites, latent_gradient, gradient)
    for h in range(layout.num_global):
        for i in range(m):
            gradient[layout.global_latent + h] += latent_gradient[i, layout.num_functional + h]
    add_noise_gradient(u, model, adjoint, gradient)
    return float(total)
