"""Log density of both blocks at once, (u, φ), and its gradient: for problems with few runs.

Where the runs are few they leave the emulator loose, θ(x) and the emulator's length scales lean on each other, and
moving one block given the other is slow. One factorisation of runs and sites together, O((n + m)³), pays for every
derivative (`emulator_gradient`).
"""

import math

import numpy as np

from ..compiled import kernel
from ..ordered_sums import sum_of
from ..problem.arrays import FloatArray
from .calibration_density import hyper_log_prior, within_bounds
from .discrepancy import add_noise_gradient
from .emulator import normal_log_density
from .emulator_covariance import EDGE, amplitudes, growths
from .emulator_gradient import add_emulator_gradient, add_input, inputs_of_both
from .emulator_prior import emulator_log_prior, in_reach
from .exponential import exponentiate
from .factors import cholesky_in_place, inverse_from_half, lower_inverse
from .model import JointModel
from .site_functions import SiteState, add_function_gradient, clamp_slope, normal_pdf, place_sites

__all__ = ["whole_log_density"]


@kernel
def _covariance_parts(
    inputs: FloatArray, phi: FloatArray, model: JointModel
) -> tuple[tuple[FloatArray, FloatArray, FloatArray], FloatArray]:
    """The parts α a a' k_x, its product with the linear part and γ a a' k_x k_t, and the whole covariance.

    Of `inputs` (d, n + m), all pairs at once: rows of a few dozen are too short for vectors. Lower halves; of the parts
    the sites' block too, where derivatives in θ look for whole rows. The runs' jitter and nugget are on the diagonal.
    """
    num_inputs, size = inputs.shape
    prior, n, num_controls = model.prior, model.y_runs.size, model.x_runs.shape[1]
    decay, centred = np.exp(phi), inputs - 0.5
    variance, linear = decay[num_inputs], decay[num_inputs + 1]
    own_noise = prior.jitter + (decay[phi.size - 1] if model.has_nugget else 0.0)
    control, straight = np.empty((size, size)), np.empty((size, size))
    curved, covariance = np.empty((size, size)), np.empty((size, size))
    amplitude = amplitudes(inputs.T, growths(phi, num_inputs))
    pairs = size * (size + 1) // 2
    along_x, along_t = np.zeros(pairs), np.zeros(pairs)
    trend, product = np.zeros(pairs), np.zeros(pairs)
    start = 0
    for i in range(size):
        stop = start + i + 1
        for c in range(num_inputs):
            here, there = centred[c, i], centred[c, : i + 1]
            if c < num_controls:
                add_input(here, there, decay[c], along_x[start:stop], trend[start:stop])
            else:
                add_input(here, there, decay[c], along_t[start:stop], product[start:stop])
        start = stop
    exponentiate(along_x)
    exponentiate(along_t)
    start = 0
    for i in range(size):
        own = amplitude[i]
        for j in range(i + 1):
            pair = start + j
            both = own * amplitude[j] * along_x[pair]
            level = linear * both
            line, bend = level * (1.0 + EDGE * product[pair]), variance * both * along_t[pair]
            control[i, j], straight[i, j], curved[i, j] = level, line, bend
            mean = prior.slope_variance * (prior.control_share * trend[pair] + product[pair])
            covariance[i, j] = prior.mean_variance + mean + line + bend
        start += i + 1
    for i in range(n):
        covariance[i, i] += own_noise
    for i in range(n, size):
        for j in range(n, i):
            control[j, i], straight[j, i], curved[j, i] = control[i, j], straight[i, j], curved[i, j]
    return (control, straight, curved), covariance


@kernel
def _value_gradient(
    inputs: FloatArray,
    phi: FloatArray,
    parts: tuple[FloatArray, FloatArray, FloatArray],
    adjoint: FloatArray,
    model: JointModel,
) -> FloatArray:
    """Derivatives of the likelihood in the calibration values at the sites, (m, dθ + dψ)."""
    control, straight, curved = parts
    num_inputs, size = inputs.shape
    n, num_controls = model.x_runs.shape
    gradient = np.empty((size - n, num_inputs - num_controls))
    terms = np.empty(size)
    growth = growths(phi, num_inputs)
    for column in range(num_controls, num_inputs):
        twice = 2.0 * math.exp(phi[column])
        for row in range(n, size):
            here = inputs[column, row]
            for j in range(size):
                there = inputs[column, j]
                change = twice * (there - here) * curved[row, j]
                change += (model.prior.slope_variance + EDGE * control[row, j]) * (there - 0.5)
                change += growth[column] * (curved[row, j] + straight[row, j])
                terms[j] = adjoint[row, j] * change
            gradient[row - n, column - num_controls] = 2.0 * sum_of(terms)
    return gradient


@kernel
def whole_log_density(point: FloatArray, model: JointModel, sites: SiteState, gradient: FloatArray) -> float:
    """The log density log p(y^p, y^s | φ, u) + log p(u) + log p(φ) at point = (u, φ); overwrites `gradient`."""
    layout = model.layout
    n, m = model.y_runs.size, model.y_sites.size
    u, phi = point[: layout.size], point[layout.size :]
    gradient[:] = 0.0
    if not within_bounds(u, model) or not in_reach(phi, model) or not place_sites(u, model, sites):
        return -np.inf
    inputs = inputs_of_both(model, sites)
    parts, factor = _covariance_parts(inputs, phi, model)
    factor[n:, n:] += sites.noise_covariance
    if not cholesky_in_place(factor):
        return -np.inf
    half = lower_inverse(factor)
    adjoint = inverse_from_half(half)
    whitened_y = np.dot(half, np.concatenate((model.y_runs, model.y_sites)))
    pull = np.dot(half.T, whitened_y)
    for i in range(n + m):
        for j in range(n + m):
            adjoint[i, j] = 0.5 * (pull[i] * pull[j] - adjoint[i, j])
    total = hyper_log_prior(u, model, gradient[: layout.size]) + emulator_log_prior(phi, model)
    total += normal_log_density(factor, whitened_y)
    add_emulator_gradient(inputs, phi, parts[1], parts[2], adjoint, model, gradient[layout.size :])
    latent_gradient = _value_gradient(inputs, phi, parts, adjoint, model)
    for c in range(latent_gradient.shape[1]):
        for i in range(m):
            latent = sites.latent[i, c]
            link = clamp_slope(latent) if c < layout.num_functional else normal_pdf(latent)
            gap = latent - model.anchor_latent[i, c]
            total -= 0.5 * model.anchor_precision[i, c] * gap * gap
            latent_gradient[i, c] = link * latent_gradient[i, c] - model.anchor_precision[i, c] * gap
    total += add_function_gradient(u, model, sites, latent_gradient, gradient[: layout.size])
    for h in range(layout.num_global):
        for i in range(m):
            gradient[layout.global_latent + h] += latent_gradient[i, layout.num_functional + h]
    add_noise_gradient(u, model, np.ascontiguousarray(adjoint[n:, n:]), gradient[: layout.size])
    return float(total)
