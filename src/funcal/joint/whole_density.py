"""Log density of both blocks at once, (u, φ), and its gradient: for problems with few runs.

Where the runs are few they leave the emulator loose, θ(x) and the emulator's length scales lean on each other, and
moving one block given the other is slow. With the covariance C of runs and sites together, (n + m) × (n + m), a = C⁻¹ y
and G = ½ (a aᵀ − C⁻¹), every derivative is a contraction of G; one factorisation, O((n + m)³), pays for all of them.
"""

import math

import numpy as np

from ..compiled import kernel
from ..problem.arrays import FloatArray
from .calibration_density import hyper_log_prior, within_bounds
from .discrepancy import add_noise_gradient
from .emulator import emulator_log_prior, emulator_prior, in_reach, normal_log_density
from .emulator_covariance import EDGE, amplitudes, growths
from .exponential import exponentiate
from .factors import cholesky_in_place, inverse_from_half, lower_inverse
from .model import JointModel
from .site_functions import SiteState, add_function_gradient, clamp_slope, normal_pdf, place_sites

__all__ = ["whole_log_density"]


@kernel
def _inputs(model: JointModel, sites: SiteState) -> FloatArray:
    """(n + m, d) scaled inputs of the runs, then of the sites."""
    n, num_controls = model.x_runs.shape
    m, num_calibration = sites.values.shape
    z = np.empty((n + m, num_controls + num_calibration))
    z[:n, :num_controls] = model.x_runs
    z[:n, num_controls:] = model.t_runs
    z[n:, :num_controls] = model.x_sites
    z[n:, num_controls:] = sites.values
    return z


@kernel
def _kernel_parts(
    z: FloatArray, phi: FloatArray, model: JointModel
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """α a a' k_x, its product with the linear part, γ a a' k_x k_t, and the lower half of the whole covariance."""
    size, num_inputs = z.shape
    prior, num_controls = model.prior, model.x_runs.shape[1]
    decay = np.exp(phi)
    variance, linear = decay[num_inputs], decay[num_inputs + 1]
    control, straight = np.empty((size, size)), np.empty((size, size))
    curved, covariance = np.empty((size, size)), np.empty((size, size))
    amplitude = amplitudes(z, growths(phi, num_inputs))
    pairs = size * (size + 1) // 2
    along_x, along_t, product = np.empty(pairs), np.empty(pairs), np.empty(pairs)
    pair = 0
    for i in range(size):
        for j in range(i + 1):
            distance, trend = 0.0, 0.0
            for c in range(num_controls):
                gap = z[i, c] - z[j, c]
                distance += decay[c] * gap * gap
                trend += (z[i, c] - 0.5) * (z[j, c] - 0.5)
            along_x[pair] = -distance
            distance, inner = 0.0, 0.0
            for c in range(num_controls, num_inputs):
                gap = z[i, c] - z[j, c]
                distance += decay[c] * gap * gap
                inner += (z[i, c] - 0.5) * (z[j, c] - 0.5)
            along_t[pair], product[pair] = -distance, inner
            covariance[i, j] = prior.mean_variance + prior.slope_variance * (trend + inner)
            pair += 1
    exponentiate(along_x)
    exponentiate(along_t)
    pair = 0
    for i in range(size):
        for j in range(i + 1):
            both = amplitude[i] * amplitude[j] * along_x[pair]
            control[i, j] = control[j, i] = linear * both
            straight[i, j] = straight[j, i] = control[i, j] * (1.0 + EDGE * product[pair])
            curved[i, j] = curved[j, i] = variance * both * along_t[pair]
            covariance[i, j] += straight[i, j] + curved[i, j]
            pair += 1
    return control, straight, curved, covariance


@kernel(fastmath={"reassoc", "contract"})
def _emulator_gradient(
    z: FloatArray,
    phi: FloatArray,
    straight: FloatArray,
    curved: FloatArray,
    adjoint: FloatArray,
    model: JointModel,
    gradient: FloatArray,
) -> None:
    """Add the derivatives in φ of the likelihood and of the prior of φ."""
    size, num_inputs = z.shape
    n, num_controls = model.y_runs.size, model.x_runs.shape[1]
    decay, inputs = np.exp(phi), np.ascontiguousarray(z.T)
    all_terms, curved_terms = np.empty(size), np.empty(size)
    for i in range(size):
        if i < n and model.has_nugget:
            gradient[phi.size - 1] += adjoint[i, i] * decay[phi.size - 1]
        through_curved, through_straight = 0.0, 0.0
        for j in range(i + 1):
            twice = 2.0 * adjoint[i, j] if j < i else adjoint[i, i]  # both halves, the diagonal once
            curved_terms[j] = twice * curved[i, j]
            all_terms[j] = curved_terms[j] + twice * straight[i, j]
            through_curved += curved_terms[j]
            through_straight += twice * straight[i, j]
        gradient[num_inputs] += through_curved
        gradient[num_inputs + 1] += through_straight
        for c in range(num_inputs):
            here, moment, grown = inputs[c, i], 0.0, 0.0
            terms = all_terms if c < num_controls else curved_terms
            for j in range(i + 1):
                gap = inputs[c, j] - here
                moment += terms[j] * gap * gap
                grown += all_terms[j] * (inputs[c, j] + here - 1.0)
            gradient[c] -= decay[c] * moment
            gradient[num_inputs + 2 + c] += grown
    for j in range(phi.size):
        mean, sd = emulator_prior(j, model)
        gradient[j] -= (phi[j] - mean) / sd**2


@kernel
def whole_log_density(point: FloatArray, model: JointModel, sites: SiteState, gradient: FloatArray) -> float:
    """The log density log p(y^p, y^s | φ, u) + log p(u) + log p(φ) at point = (u, φ); overwrites `gradient`."""
    layout = model.layout
    n, m = model.y_runs.size, model.y_sites.size
    num_controls, num_calibration = model.x_runs.shape[1], model.t_runs.shape[1]
    u, phi = point[: layout.size], point[layout.size :]
    gradient[:] = 0.0
    if not within_bounds(u, model) or not in_reach(phi, model) or not place_sites(u, model, sites):
        return -np.inf
    z = _inputs(model, sites)
    control, straight, curved, factor = _kernel_parts(z, phi, model)
    own_noise = model.prior.jitter
    if model.has_nugget:
        own_noise += math.exp(phi[phi.size - 1])
    for i in range(n):
        factor[i, i] += own_noise
    factor[n:, n:] += sites.noise_covariance
    if not cholesky_in_place(factor):
        return -np.inf
    half = lower_inverse(factor)
    adjoint = inverse_from_half(half)
    y = np.empty(n + m)
    y[:n], y[n:] = model.y_runs, model.y_sites
    whitened_y = np.dot(half, y)
    pull = np.dot(half.T, whitened_y)
    total = hyper_log_prior(u, model, gradient[: layout.size]) + emulator_log_prior(phi, model)
    total += normal_log_density(factor, whitened_y)
    for i in range(n + m):
        for j in range(n + m):
            adjoint[i, j] = 0.5 * (pull[i] * pull[j] - adjoint[i, j])
    _emulator_gradient(z, phi, straight, curved, adjoint, model, gradient[layout.size :])
    latent_gradient = np.empty((m, num_calibration))
    for c in range(num_calibration):
        column = num_controls + c
        decay = math.exp(phi[column])
        for i in range(m):
            row = n + i
            through = 0.0
            for j in range(n + m):
                change = 2.0 * decay * (z[j, column] - z[row, column]) * curved[row, j]
                slope = model.prior.slope_variance + EDGE * control[row, j]
                change += slope * (z[j, column] - 0.5)
                change += growths(phi, z.shape[1])[column] * (curved[row, j] + straight[row, j])
                through += 2.0 * adjoint[row, j] * change
            latent = sites.latent[i, c]
            link = clamp_slope(latent) if c < layout.num_functional else normal_pdf(latent)
            gap = latent - model.anchor_latent[i, c]
            total -= 0.5 * model.anchor_precision[i, c] * gap * gap
            latent_gradient[i, c] = link * through - model.anchor_precision[i, c] * gap
    total += add_function_gradient(u, model, sites, latent_gradient, gradient[: layout.size])
    for h in range(layout.num_global):
        for i in range(m):
            gradient[layout.global_latent + h] += latent_gradient[i, layout.num_functional + h]
    add_noise_gradient(u, model, np.ascontiguousarray(adjoint[n:, n:]), gradient[: layout.size])
    return float(total)
