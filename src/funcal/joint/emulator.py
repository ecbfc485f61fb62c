"""The Gaussian process η over the computer model: covariances, the runs' marginal likelihood, its factor.

k(z, z') = v0 + v1 Σ_j (z_j - ½)(z'_j - ½) + γ exp(-Σ_j ℓ_j (z_j - z'_j)²): constant mean and linear trend
integrated out under their normal priors, and the paper's squared-exponential kernel (Eq. (4)) on scaled inputs.
"""

from typing import NamedTuple

import numpy as np

from ..compiled import kernel
from ..problem.arrays import FloatArray
from .factors import forward_substitute, inverse_from_cholesky, large_cholesky
from .model import JointModel

__all__ = [
    "EmulatorState",
    "allocate_emulator",
    "emulator_log_prior",
    "emulator_size",
    "fill_emulator",
    "in_reach",
    "log_density_of_both_tables",
    "runs_covariance",
    "runs_log_density",
    "set_emulator",
]

LOG_TWO_PI = 1.8378770664093453


class EmulatorState(NamedTuple):
    """What the calibration block needs of the emulator at the present φ; overwritten in place by `set_emulator`.

    factor (n, n), inverse (n, n) and weights (n,) are L with K = L Lᵀ, K⁻¹ and K⁻¹ y^s; `cross` (n, m) and `within`
    (m, m) hold the part of the covariances with the sites that comes from the controls alone; `cross_trend`,
    `within_trend` the same for mean and trend.
    """

    phi: FloatArray
    factor: FloatArray
    inverse: FloatArray
    weights: FloatArray
    cross: FloatArray
    within: FloatArray
    cross_trend: FloatArray
    within_trend: FloatArray
    runs_density: FloatArray


def emulator_size(model: JointModel) -> int:
    """Length of φ."""
    return int(model.x_runs.shape[1] + model.t_runs.shape[1] + 1 + int(model.has_nugget))


def allocate_emulator(model: JointModel) -> EmulatorState:
    """Memory for one chain's emulator."""
    n, m = model.y_runs.size, model.y_sites.size
    return EmulatorState(
        np.zeros(emulator_size(model)),
        np.zeros((n, n)),
        np.zeros((n, n)),
        np.zeros(n),
        np.zeros((n, m)),
        np.zeros((m, m)),
        np.zeros((n, m)),
        np.zeros((m, m)),
        np.zeros(1),
    )


@kernel
def emulator_log_prior(phi: FloatArray, model: JointModel) -> float:
    """Log prior density of φ, normalised."""
    prior = model.prior
    num_inputs = model.x_runs.shape[1] + model.t_runs.shape[1]
    total = 0.0
    for j in range(phi.size):
        if j < num_inputs:
            mean, sd = prior.log_decay_mean, prior.log_decay_sd
        elif j == num_inputs:
            mean, sd = prior.log_variance_mean, prior.log_variance_sd
        else:
            mean, sd = prior.log_nugget_mean, prior.log_nugget_sd
        total -= 0.5 * ((phi[j] - mean) / sd) ** 2 + np.log(sd) + 0.5 * LOG_TWO_PI
    return total


@kernel
def in_reach(phi: FloatArray, model: JointModel) -> bool:
    """False far beyond the prior: ten standard deviations, where exp overflows before the density is lost.

    Six for ln γ: a larger γ would leave the jitter too small to keep the runs' covariance positive definite.
    """
    prior = model.prior
    num_inputs = model.x_runs.shape[1] + model.t_runs.shape[1]
    for j in range(phi.size):
        if not np.isfinite(phi[j]):
            return False
        if j < num_inputs and abs(phi[j] - prior.log_decay_mean) > 10 * prior.log_decay_sd:
            return False
        if j == num_inputs and abs(phi[j] - prior.log_variance_mean) > 6 * prior.log_variance_sd:
            return False
        if j > num_inputs and abs(phi[j] - prior.log_nugget_mean) > 10 * prior.log_nugget_sd:
            return False
    return True


@kernel
def run_inputs(model: JointModel) -> FloatArray:
    """(d, n) inputs z = (x, t) of the runs, each input's along memory."""
    num_controls = model.x_runs.shape[1]
    inputs = np.empty((num_controls + model.t_runs.shape[1], model.y_runs.size))
    inputs[:num_controls] = model.x_runs.T
    inputs[num_controls:] = model.t_runs.T
    return inputs


@kernel
def runs_covariance(phi: FloatArray, model: JointModel) -> FloatArray:
    """(n, n) covariance of the runs, jitter or nugget included: its lower half, the upper one is left empty."""
    prior, inputs = model.prior, run_inputs(model)
    num_inputs, n = inputs.shape
    decay = np.exp(phi[:num_inputs])
    variance = np.exp(phi[num_inputs])
    own_noise = np.exp(phi[num_inputs + 1]) if model.has_nugget else 0.0
    centred = inputs - 0.5
    trend = np.dot(centred.T, centred)
    covariance = np.zeros((n, n))
    exponent = np.empty(n)
    for i in range(n):
        exponent[: i + 1] = 0.0
        for c in range(num_inputs):
            here, weight = inputs[c, i], decay[c]
            for j in range(i + 1):
                gap = inputs[c, j] - here
                exponent[j] += weight * gap * gap
        for j in range(i + 1):
            covariance[i, j] = prior.mean_variance + prior.slope_variance * trend[i, j]
            covariance[i, j] += variance * np.exp(-exponent[j])
        covariance[i, i] += prior.jitter + own_noise
    return covariance


@kernel
def squared_exponential(
    left: FloatArray, right: FloatArray, decay: FloatArray, variance: float, kernel: FloatArray
) -> None:
    """Fill γ exp(-Σ_c ℓ_c (left_ic - right_jc)²), the inner loops along memory."""
    columns = np.ascontiguousarray(right.T)
    for i in range(left.shape[0]):
        row = kernel[i]
        row[:] = 0.0
        for c in range(left.shape[1]):
            here, weight = left[i, c], decay[c]
            for j in range(row.size):
                gap = columns[c, j] - here
                row[j] += weight * gap * gap
        for j in range(row.size):
            row[j] = variance * np.exp(-row[j])


@kernel
def site_parts(
    phi: FloatArray,
    model: JointModel,
    cross: FloatArray,
    within: FloatArray,
    cross_trend: FloatArray,
    within_trend: FloatArray,
) -> None:
    """Fill the parts of the covariances with the sites that the controls alone decide."""
    num_controls = model.x_runs.shape[1]
    decay = np.exp(phi[:num_controls])
    variance = np.exp(phi[num_controls + model.t_runs.shape[1]])
    prior = model.prior
    squared_exponential(model.x_runs, model.x_sites, decay, variance, cross)
    squared_exponential(model.x_sites, model.x_sites, decay, variance, within)
    centred = model.x_sites - 0.5
    cross_trend[:, :] = prior.mean_variance + prior.slope_variance * np.dot(model.x_runs - 0.5, centred.T)
    within_trend[:, :] = prior.mean_variance + prior.slope_variance * np.dot(centred, centred.T)


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
    prior, inputs = model.prior, run_inputs(model)
    num_inputs, n = inputs.shape
    gradient = np.zeros(phi.size)
    if not in_reach(phi, model):
        return -np.inf, gradient
    factor = large_cholesky(runs_covariance(phi, model))
    inverse = inverse_from_cholesky(factor)
    weights = np.dot(inverse, model.y_runs)
    total = emulator_log_prior(phi, model) - 0.5 * LOG_TWO_PI * n - 0.5 * np.dot(weights, model.y_runs)
    decay = np.exp(phi[:num_inputs])
    variance = np.exp(phi[num_inputs])
    term = np.empty(n)
    for i in range(n):
        total -= np.log(factor[i, i])
        adjoint = 0.5 * (weights[i] * weights[i] - inverse[i, i])
        gradient[num_inputs] += adjoint * variance
        if model.has_nugget:
            gradient[num_inputs + 1] += adjoint * np.exp(phi[num_inputs + 1])
        term[:i] = 0.0
        for c in range(num_inputs):
            here, weight = inputs[c, i], decay[c]
            for j in range(i):
                gap = inputs[c, j] - here
                term[j] += weight * gap * gap
        for j in range(i):
            # both halves of the symmetric matrix
            term[j] = (weights[i] * weights[j] - inverse[i, j]) * variance * np.exp(-term[j])
            gradient[num_inputs] += term[j]
        for c in range(num_inputs):
            here, moment = inputs[c, i], 0.0
            for j in range(i):
                gap = inputs[c, j] - here
                moment += term[j] * gap * gap
            gradient[c] -= decay[c] * moment
    for j in range(phi.size):
        if j < num_inputs:
            gradient[j] -= (phi[j] - prior.log_decay_mean) / prior.log_decay_sd**2
        elif j == num_inputs:
            gradient[j] -= (phi[j] - prior.log_variance_mean) / prior.log_variance_sd**2
        else:
            gradient[j] -= (phi[j] - prior.log_nugget_mean) / prior.log_nugget_sd**2
    return total, gradient


@kernel
def set_emulator(phi: FloatArray, model: JointModel, emulator: EmulatorState) -> None:
    """Factor the runs' covariance at φ and fill the emulator."""
    fill_emulator(phi, large_cholesky(runs_covariance(phi, model)), model, emulator)


@kernel
def fill_emulator(phi: FloatArray, factor: FloatArray, model: JointModel, emulator: EmulatorState) -> None:
    """Fill the emulator at φ from the factor of the runs' covariance there."""
    n = model.y_runs.size
    emulator.phi[:] = phi
    emulator.factor[:, :] = factor
    emulator.inverse[:, :] = inverse_from_cholesky(factor)
    emulator.weights[:] = np.dot(emulator.inverse, model.y_runs)
    site_parts(phi, model, emulator.cross, emulator.within, emulator.cross_trend, emulator.within_trend)
    total = -0.5 * LOG_TWO_PI * n - 0.5 * np.dot(emulator.weights, model.y_runs)
    for i in range(n):
        total -= np.log(factor[i, i])
    emulator.runs_density[0] = total + emulator_log_prior(phi, model)


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
    num_controls = model.x_runs.shape[1]
    solved = np.empty((n, m + 1))
    cross, cross_trend = np.empty((n, m)), np.empty((n, m))
    within, within_trend = np.empty((m, m)), np.empty((m, m))
    site_parts(phi, model, cross, within, cross_trend, within_trend)
    decay = np.exp(phi[num_controls : num_controls + model.t_runs.shape[1]])
    add_calibration_inputs(model.t_runs, sites_t, decay, model.prior.slope_variance, cross, cross_trend)
    add_calibration_inputs(sites_t, sites_t, decay, model.prior.slope_variance, within, within_trend)
    solved[:, :m] = cross + cross_trend
    solved[:, m] = model.y_runs
    forward_substitute(factor, solved)
    total = emulator_log_prior(phi, model) + normal_log_density(factor, solved[:, m])
    covariance = within + within_trend + noise_covariance
    residual = np.empty((m, 1))
    gram = np.dot(solved.T, solved)
    for i in range(m):
        residual[i, 0] = model.y_sites[i] - gram[i, m]
        for j in range(m):
            covariance[i, j] -= gram[i, j]
    site_factor = large_cholesky(covariance)
    forward_substitute(site_factor, residual)
    return total + model.temperature * normal_log_density(site_factor, residual[:, 0])


@kernel
def add_calibration_inputs(
    left: FloatArray,
    right: FloatArray,
    decay: FloatArray,
    slope_variance: float,
    kernel: FloatArray,
    trend: FloatArray,
) -> None:
    """Multiply and add, in place, what the calibration inputs contribute to kernel and trend."""
    for i in range(left.shape[0]):
        for j in range(right.shape[0]):
            exponent, product = 0.0, 0.0
            for c in range(left.shape[1]):
                gap = left[i, c] - right[j, c]
                exponent += decay[c] * gap * gap
                product += (left[i, c] - 0.5) * (right[j, c] - 0.5)
            kernel[i, j] *= np.exp(-exponent)
            trend[i, j] += slope_variance * product
