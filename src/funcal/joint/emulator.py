"""The Gaussian process η over the computer model at one φ: its factor, and the likelihood of both tables."""

from typing import NamedTuple

import numpy as np

from ..compiled import kernel
from ..problem.arrays import FloatArray
from .emulator_covariance import control_part, prior_cross, runs_covariance
from .emulator_prior import LOG_TWO_PI, emulator_log_prior, emulator_size
from .factors import forward_substitute, large_cholesky, lower_inverse
from .model import JointModel

__all__ = [
    "EmulatorState",
    "allocate_emulator",
    "fill_emulator",
    "log_density_of_both_tables",
    "normal_log_density",
    "set_emulator",
]


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
def normal_log_density(factor: FloatArray, whitened: FloatArray) -> float:
    """Log density of a centred normal vector from the factor L of its covariance and L⁻¹ y."""
    total = -0.5 * LOG_TWO_PI * whitened.size
    for i in range(whitened.size):
        total -= np.log(factor[i, i]) + 0.5 * whitened[i] * whitened[i]
    return total


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
