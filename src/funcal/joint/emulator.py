"""The Gaussian process η over the computer model at one φ: its prior, the runs' marginal likelihood, its factor."""

from typing import NamedTuple

import numpy as np

from ..compiled import kernel
from ..problem.arrays import FloatArray
from .emulator_covariance import (
    EDGE,
    control_part,
    decay_row,
    prior_cross,
    runs_amplitudes,
    runs_covariance,
)
from .factors import forward_substitute, large_cholesky, lower_inverse, transposed_product
from .model import JointModel

__all__ = [
    "EmulatorState",
    "allocate_emulator",
    "emulator_log_prior",
    "emulator_prior",
    "emulator_size",
    "fill_emulator",
    "in_reach",
    "log_density_of_both_tables",
    "normal_log_density",
    "runs_log_density",
    "set_emulator",
]

LOG_TWO_PI = 1.8378770664093453
LARGEST_LOG_VARIANCE = 9.0
"""Of what varies at any run: with more, the jitter is too small to keep the runs' covariance positive definite."""


class EmulatorState(NamedTuple):
    """What the calibration block needs of the emulator at the present φ; overwritten in place by `fill_emulator`.

    factor (n, n) and half (n, n) are L with K = L Lᵀ, and L⁻¹; whitened_y (n,) and weights (n,) are L⁻¹ y^s and
    K⁻¹ y^s. K⁻¹ itself is never used: Bᵀ K⁻¹ B = (L⁻¹ B)ᵀ (L⁻¹ B) keeps twice the digits. `cross` (n, m) and `within`
    (m, m) hold k_x, with the controls' part of the amplitudes, between runs and sites and among the sites;
    `cross_trend`, `within_trend` mean and trend in the controls.
    """

    phi: FloatArray
    factor: FloatArray
    half: FloatArray
    whitened_y: FloatArray
    weights: FloatArray
    cross: FloatArray
    within: FloatArray
    cross_trend: FloatArray
    within_trend: FloatArray
    runs_density: FloatArray


def emulator_size(model: JointModel) -> int:
    """Length of φ."""
    return int(2 * (model.x_runs.shape[1] + model.t_runs.shape[1] + 1) + int(model.has_nugget))


def allocate_emulator(model: JointModel) -> EmulatorState:
    """Memory for one chain's emulator."""
    n, m = model.y_runs.size, model.y_sites.size
    return EmulatorState(
        np.zeros(emulator_size(model)),
        np.zeros((n, n)),
        np.zeros((n, n)),
        np.zeros(n),
        np.zeros(n),
        np.zeros((n, m)),
        np.zeros((m, m)),
        np.zeros((n, m)),
        np.zeros((m, m)),
        np.zeros(1),
    )


@kernel
def emulator_prior(j: int, model: JointModel) -> tuple[float, float]:
    """Mean and standard deviation of the normal prior of φ_j."""
    prior = model.prior
    num_inputs = model.x_runs.shape[1] + model.t_runs.shape[1]
    beyond = j - num_inputs
    if beyond < 0:
        return prior.log_decay_mean, prior.log_decay_sd
    if beyond == 0:
        return prior.log_variance_mean, prior.log_variance_sd
    if beyond == 1:
        return prior.log_linear_mean, prior.log_linear_sd
    if beyond < num_inputs + 2:
        return 0.0, prior.growth_sd
    return prior.log_nugget_mean, prior.log_nugget_sd


@kernel
def emulator_log_prior(phi: FloatArray, model: JointModel) -> float:
    """Log prior density of φ, normalised."""
    total = 0.0
    for j in range(phi.size):
        mean, sd = emulator_prior(j, model)
        total -= 0.5 * ((phi[j] - mean) / sd) ** 2 + np.log(sd) + 0.5 * LOG_TWO_PI
    return total


@kernel
def in_reach(phi: FloatArray, model: JointModel) -> bool:
    """False ten standard deviations beyond the prior, where exp overflows, and where a run varies too much."""
    for j in range(phi.size):
        mean, sd = emulator_prior(j, model)
        if not abs(phi[j] - mean) <= 10.0 * sd:
            return False
    num_inputs = model.x_runs.shape[1] + model.t_runs.shape[1]
    largest = 2.0 * np.log(np.max(runs_amplitudes(phi, model)))
    return bool(max(phi[num_inputs], phi[num_inputs + 1]) + largest <= LARGEST_LOG_VARIANCE)


@kernel
def normal_log_density(factor: FloatArray, whitened: FloatArray) -> float:
    """Log density of a centred normal vector from the factor L of its covariance and L⁻¹ y."""
    total = -0.5 * LOG_TWO_PI * whitened.size
    for i in range(whitened.size):
        total -= np.log(factor[i, i]) + 0.5 * whitened[i] * whitened[i]
    return total


@kernel
def runs_log_density(phi: FloatArray, model: JointModel) -> tuple[float, FloatArray]:
    """Log p(y^s | φ) + log p(φ), and its gradient in φ."""
    x, t = model.x_runs, model.t_runs
    n, num_controls = x.shape
    num_inputs = num_controls + t.shape[1]
    gradient = np.zeros(phi.size)
    if not in_reach(phi, model):
        return -np.inf, gradient
    factor = large_cholesky(runs_covariance(phi, model))
    half = lower_inverse(factor)
    inverse = transposed_product(half, half)
    whitened_y = np.dot(half, model.y_runs)
    weights = np.dot(half.T, whitened_y)
    total = emulator_log_prior(phi, model) + normal_log_density(factor, whitened_y)
    decay = np.exp(phi)
    variance, linear = decay[num_inputs], decay[num_inputs + 1]
    inputs = np.empty((num_inputs, n))
    inputs[:num_controls], inputs[num_controls:] = x.T, t.T
    product = np.dot(t - 0.5, inputs[num_controls:] - 0.5)
    amplitude = runs_amplitudes(phi, model)
    along_x, along_t = np.empty(n), np.empty(n)
    for i in range(n):
        decay_row(x[i], inputs[:num_controls], decay[:num_controls], along_x[: i + 1])
        decay_row(t[i], inputs[num_controls:], decay[num_controls:num_inputs], along_t[: i + 1])
        for j in range(i + 1):
            # both halves of the symmetric matrix, the diagonal once
            adjoint = (0.5 if i == j else 1.0) * (weights[i] * weights[j] - inverse[i, j])
            adjoint *= amplitude[i] * amplitude[j]
            curved = adjoint * variance * along_x[j] * along_t[j]
            straight = adjoint * linear * along_x[j] * (1.0 + EDGE * product[i, j])
            gradient[num_inputs] += curved
            gradient[num_inputs + 1] += straight
            along_x[j], along_t[j] = curved + straight, curved
        for c in range(num_inputs):
            here, moment, grown = inputs[c, i], 0.0, 0.0
            terms = along_x if c < num_controls else along_t
            for j in range(i + 1):
                gap = inputs[c, j] - here
                moment += terms[j] * gap * gap
                grown += along_x[j] * (inputs[c, j] + here - 1.0)
            gradient[c] -= decay[c] * moment
            gradient[num_inputs + 2 + c] += grown
        if model.has_nugget:
            own = 0.5 * (weights[i] * weights[i] - inverse[i, i])
            gradient[phi.size - 1] += own * decay[phi.size - 1]
    for j in range(phi.size):
        mean, sd = emulator_prior(j, model)
        gradient[j] -= (phi[j] - mean) / sd**2
    return total, gradient


@kernel
def set_emulator(phi: FloatArray, model: JointModel, emulator: EmulatorState) -> None:
    """Factor the runs' covariance at φ and fill the emulator."""
    fill_emulator(phi, large_cholesky(runs_covariance(phi, model)), model, emulator)


@kernel
def fill_emulator(phi: FloatArray, factor: FloatArray, model: JointModel, emulator: EmulatorState) -> None:
    """Fill the emulator at φ from the factor of the runs' covariance there."""
    emulator.phi[:] = phi
    emulator.factor[:, :] = factor
    emulator.half[:, :] = lower_inverse(factor)
    emulator.whitened_y[:] = np.dot(emulator.half, model.y_runs)
    emulator.weights[:] = np.dot(emulator.half.T, emulator.whitened_y)
    control_part(model.x_runs, model.x_sites, phi, model, emulator.cross, emulator.cross_trend)
    control_part(model.x_sites, model.x_sites, phi, model, emulator.within, emulator.within_trend)
    emulator.runs_density[0] = emulator_log_prior(phi, model) + normal_log_density(
        factor, emulator.whitened_y
    )


@kernel
def log_density_of_both_tables(
    phi: FloatArray,
    factor: FloatArray,
    sites_t: FloatArray,
    noise_covariance: FloatArray,
    model: JointModel,
) -> float:
    """Log p(φ) + log p(y^s | φ) + log p(y^p | y^s, φ, θ, ψ, δ, σ).

    Parameters
    ----------
    phi
    factor : (n, n)
        Of the runs' covariance at φ.
    sites_t : (m, dθ + dψ)
        Calibration values at the sites, scaled.
    noise_covariance : (m, m)
        Covariance of δ(x) + ε over the site means.
    model
    """
    n, m = model.y_runs.size, model.y_sites.size
    solved = np.empty((n, m + 1))
    solved[:, :m] = prior_cross(phi, model.x_runs, model.t_runs, model.x_sites, sites_t, model)
    solved[:, m] = model.y_runs
    forward_substitute(factor, solved)
    total = emulator_log_prior(phi, model) + normal_log_density(factor, solved[:, m])
    covariance = prior_cross(phi, model.x_sites, sites_t, model.x_sites, sites_t, model) + noise_covariance
    residual = np.empty((m, 1))
    gram = np.dot(solved.T, solved)
    for i in range(m):
        residual[i, 0] = model.y_sites[i] - gram[i, m]
        for j in range(m):
            covariance[i, j] -= gram[i, j]
    site_factor = large_cholesky(covariance)
    forward_substitute(site_factor, residual)
    return total + model.temperature * normal_log_density(site_factor, residual[:, 0])
