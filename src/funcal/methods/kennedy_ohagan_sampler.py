"""Metropolis walks for the modular Kennedy–O'Hagan posterior, compiled.

State: logit t (dt), log σ_δ², log σ², log ω_δ (dx). One sweep: t anew from its prior, which finds other modes, and
walks of all coordinates together. A move costs the surrogate's moments at t, polynomials in t whatever the number of
runs (`surrogate_moments`), and the factor of an m × m matrix.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..compiled import kernel
from ..gaussian_process.compiled_cholesky import factorise_lower, log_determinant, solve_lower
from ..ordered_sums import inner_product
from ..problem import FloatArray
from .surrogate_compiled import chebyshev_basis, logistic

__all__ = ["DiscrepancyModel", "MomentRuns", "advance_chain"]

# Walks per sweep.
NUM_WALKS = 10


class MomentRuns(NamedTuple):
    """What the surrogate's moments need run by run, for calibration vectors too rough for polynomials.

    Attributes
    ----------
    run_site, site_site
        Correlations of the controls, (n, m) and (m, m).
    inverse_factor, alpha
        L⁻¹ (n, n) and α (n,) of the surrogate; empty where polynomials serve.
    t_runs, t_rates
        (n, dt) and (dt,).
    moments
        (μ̂, ŝ²).
    """

    run_site: FloatArray
    site_site: FloatArray
    inverse_factor: FloatArray
    alpha: FloatArray
    t_runs: FloatArray
    t_rates: FloatArray
    moments: FloatArray


class DiscrepancyModel(NamedTuple):
    """Everything that the density needs and that does not move.

    Attributes
    ----------
    y, weights
        Site means and a_i with var(ȳ_i) = σ²/a_i, (m,).
    squared
        Squared differences of the sites' controls, (dx, m, m).
    coefficients, sizes
        Chebyshev coefficients (m + m², terms) of means and covariances, and terms per variable (dt,); no terms where
        `runs` is used.
    runs
        The surrogate run by run.
    priors
        Mean and sd of log σ_δ², log σ² and log ω_δ, (3, 2).
    within_ss, within_dof
        Sum of squares within sites and its degrees of freedom.
    noise_known
        Whether σ² = 1 is known.
    """

    y: FloatArray
    weights: FloatArray
    squared: FloatArray
    coefficients: FloatArray
    sizes: npt.NDArray[np.int64]
    runs: MomentRuns
    priors: FloatArray
    within_ss: float
    within_dof: float
    noise_known: bool


@kernel
def _emulate(
    model: DiscrepancyModel, state: FloatArray, mean: FloatArray, covariance: FloatArray, basis: FloatArray
) -> None:
    """Surrogate mean and lower triangle of its posterior covariance at the sites, at the state's t."""
    num_sites, num_t = len(model.y), len(model.sizes)
    t = np.empty(num_t)
    for k in range(num_t):
        t[k] = logistic(state[k])
    if model.coefficients.shape[1] > 0:
        chebyshev_basis(model.sizes, t, basis)
        for i in range(num_sites):
            mean[i] = inner_product(model.coefficients[i], basis)
            for j in range(i + 1):
                covariance[i, j] = inner_product(model.coefficients[num_sites * (i + 1) + j], basis)
        return
    runs = model.runs
    cross = np.empty(runs.run_site.shape)
    mean[:] = runs.moments[0]
    for j in range(len(runs.t_runs)):
        exponent = 0.0
        for k in range(num_t):
            exponent -= runs.t_rates[k] * (t[k] - runs.t_runs[j, k]) ** 2
        share = np.exp(exponent)
        for i in range(num_sites):
            cross[j, i] = share * runs.run_site[j, i]
            mean[i] += runs.alpha[j] * cross[j, i]
    white = runs.inverse_factor @ cross
    covariance[:] = runs.moments[1] * (runs.site_site - np.ascontiguousarray(white.T) @ white)


@kernel
def _log_posterior(
    model: DiscrepancyModel, state: FloatArray, mean: FloatArray, covariance: FloatArray, matrix: FloatArray
) -> float:
    """Log of N(y; m, V + σ_δ²R_δ + σ²/a) + replicates + priors; -inf where not positive definite."""
    num_sites, num_t = len(model.y), len(model.sizes)
    bias_variance, noise = np.exp(state[num_t]), np.exp(state[num_t + 1])
    if model.noise_known:
        noise = 1.0
    for i in range(num_sites):
        for j in range(i + 1):
            exponent = 0.0
            for k in range(model.squared.shape[0]):
                exponent -= np.exp(state[num_t + 2 + k]) * model.squared[k, i, j]
            matrix[i, j] = covariance[i, j] + bias_variance * np.exp(exponent)
        matrix[i, i] += noise / model.weights[i] + 1e-10
    if not factorise_lower(matrix):
        return -np.inf
    white = model.y - mean
    solve_lower(matrix, white, white)
    value = -0.5 * log_determinant(matrix) - 0.5 * np.sum(white**2)
    if not model.noise_known:
        value -= 0.5 * model.within_dof * np.log(noise) + 0.5 * model.within_ss / noise
    for k in range(num_t):
        # Uniform on the box, with the Jacobian of the logit.
        t = logistic(state[k])
        value += np.log(t * (1.0 - t))
    for k in range(num_t, len(state)):
        row = min(k - num_t, 2)
        value -= 0.5 * ((state[k] - model.priors[row, 0]) / model.priors[row, 1]) ** 2
    return value


@kernel
def advance_chain(
    rng: np.random.Generator,
    state: FloatArray,
    proposal: FloatArray,
    model: DiscrepancyModel,
    draws: FloatArray,
) -> float:
    """Advance `state` by len(draws) sweeps; returns the share of the walks that were accepted.

    Parameters
    ----------
    proposal
        Factor of the covariance of the walk, (p, p).
    """
    num_t, num_sites, size = len(model.sizes), len(model.y), len(state)
    mean, trial_mean = np.empty(num_sites), np.empty(num_sites)
    covariance, trial_covariance = np.empty((num_sites, num_sites)), np.empty((num_sites, num_sites))
    matrix, basis = np.empty((num_sites, num_sites)), np.empty(max(1, model.coefficients.shape[1]))
    trial = state.copy()
    _emulate(model, state, mean, covariance, basis)
    current = _log_posterior(model, state, mean, covariance, matrix)
    num_accepted = 0
    for sweep in range(draws.shape[0]):
        for move in range(NUM_WALKS + 1):
            trial[:] = state
            correction = 0.0
            if move == 0:
                for k in range(num_t):
                    t, before = rng.random(), logistic(state[k])
                    trial[k] = np.log(t / (1.0 - t))
                    correction += np.log(before * (1.0 - before)) - np.log(t * (1.0 - t))
            else:
                for b in range(size):
                    step = rng.standard_normal()
                    for a in range(b, size):
                        trial[a] += proposal[a, b] * step
            _emulate(model, trial, trial_mean, trial_covariance, basis)
            value = _log_posterior(model, trial, trial_mean, trial_covariance, matrix)
            if np.log(rng.random()) < value - current + correction:
                state[:], mean[:], covariance[:] = trial, trial_mean, trial_covariance
                current = value
                num_accepted += move > 0
        draws[sweep] = state
    share: float = num_accepted / (NUM_WALKS * draws.shape[0])
    return share
