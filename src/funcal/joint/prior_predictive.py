"""Draws from the prior, and both tables simulated from it: prior predictive checks and simulation-based calibration."""

import math

import numpy as np

from ..problem.arrays import FloatArray
from .emulator_covariance import prior_cross
from .emulator_prior import emulator_prior, emulator_size
from .model import JointModel
from .site_functions import allocate_sites, place_sites

__all__ = ["draw_from_prior", "prior_calibration_values", "prior_site_draws", "simulate_tables"]

SIMULATION_JITTER = 1e-10
"""Far below the runs' jitter; keeps the simulation's own factorisations alive."""


def draw_from_prior(
    model: JointModel, num_draws: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Calibration blocks (T, size) and emulator blocks (T, p) from the prior, anchors left out."""
    layout, prior = model.layout, model.prior
    u = rng.standard_normal((num_draws, layout.size))
    u[:, layout.level : layout.log_variation] *= prior.level_sd

    def log_half_normal(scale: float, *shape: int) -> FloatArray:
        values: FloatArray = np.log(np.abs(scale * rng.standard_normal((num_draws, *shape))))
        return values

    part = slice(layout.log_variation, layout.log_roughness)
    u[:, part] = log_half_normal(prior.variation_scale, layout.num_functional)
    part = slice(layout.log_roughness, layout.stretch)
    u[:, part] = prior.log_roughness_mean + prior.log_roughness_sd * u[:, part]
    part = slice(layout.stretch, layout.global_latent)
    u[:, part] = prior.stretch_mean + prior.stretch_sd * u[:, part]
    if layout.has_noise:
        u[:, layout.log_noise] = np.log(rng.rayleigh(prior.noise_scale, num_draws))
    for index in range(layout.discrepancy):
        column = layout.log_discrepancy + index
        if index < 2:
            u[:, column] = log_half_normal(prior.discrepancy_scale)
        else:
            u[:, column] = (
                prior.log_discrepancy_roughness_mean + prior.log_discrepancy_roughness_sd * u[:, column]
            )
    phi = rng.standard_normal((num_draws, emulator_size(model)))
    for j in range(phi.shape[1]):
        mean, sd = emulator_prior(j, model)
        phi[:, j] = mean + sd * phi[:, j]
    return u, phi


def prior_calibration_values(model: JointModel, num_draws: int, rng: np.random.Generator) -> FloatArray:
    """Scaled calibration values at the sites under the prior, (T, m, dθ + dψ)."""
    u, _ = draw_from_prior(model, num_draws, rng)
    sites = allocate_sites(model)
    values = np.empty((num_draws, *sites.values.shape))
    for draw in range(num_draws):
        place_sites(u[draw], model, sites)
        values[draw] = sites.values
    return values


def simulate_tables(
    model: JointModel, u: FloatArray, phi: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, float]:
    """Both tables at the model's inputs for one draw (u, φ).

    Returns
    -------
    y_runs : (n,), y_sites : (m,)
    within_ss : float
        Sum of squares within sites, on the model's degrees of freedom.
    """
    sites = allocate_sites(model)
    place_sites(u, model, sites)
    x = np.vstack([model.x_runs, model.x_sites])
    t = np.vstack([model.t_runs, sites.values])
    n = model.y_runs.size
    covariance = prior_cross(phi, x, t, x, t, model)
    own_noise = math.exp(phi[-1]) if model.has_nugget else 0.0
    runs = np.arange(n)
    covariance[runs, runs] += model.prior.jitter + own_noise
    covariance[n:, n:] += sites.noise_covariance
    factor = np.linalg.cholesky(covariance + SIMULATION_JITTER * np.eye(len(x)))
    y = factor @ rng.standard_normal(len(x))
    noise = math.exp(u[model.layout.log_noise]) if model.layout.has_noise else 0.0
    within_ss = noise**2 * rng.chisquare(model.within_dof) if model.within_dof else 0.0
    return y[:n], y[n:], float(within_ss)


def prior_site_draws(
    model: JointModel, num_draws: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Prior predictive draws at the sites alone, O(m³) each, however many runs there are; scaled.

    Returns
    -------
    u : (T, size)
        Calibration blocks.
    values : (T, m, dθ + dψ)
        Calibration values.
    response : (T, m)
        Means of the measurements.
    """
    u, phi = draw_from_prior(model, num_draws, rng)
    sites, x = allocate_sites(model), model.x_sites
    values = np.empty((num_draws, *sites.values.shape))
    response = np.empty((num_draws, len(x)))
    for draw in range(num_draws):
        place_sites(u[draw], model, sites)
        values[draw] = sites.values
        covariance = prior_cross(phi[draw], x, sites.values, x, sites.values, model) + sites.noise_covariance
        factor = np.linalg.cholesky(covariance + SIMULATION_JITTER * np.eye(len(x)))
        response[draw] = factor @ rng.standard_normal(len(x))
    return u, values, response
