"""Metropolis walks for the modular Kennedy–O'Hagan posterior, compiled.

State: logit t (dt), log σ_δ², log σ², log ω_δ (dx). The calibration vector is the same at every site, so the runs'
correlation with (x_i, t) is R_x(x_j, x_i) e_j(t): one exponential per run and one product with L⁻¹ per move of t; the
other moves only factorise an m × m matrix.
"""

import numpy as np

from ..compiled import kernel
from ..gaussian_process.compiled_cholesky import factorise_lower, log_determinant, solve_lower
from ..problem import FloatArray

__all__ = ["advance_chain"]


@kernel
def _logistic(value: float) -> float:
    result: float = 1.0 / (1.0 + np.exp(-min(max(value, -30.0), 30.0)))
    return result


@kernel
def _emulate(
    state: FloatArray,
    run_site: FloatArray,
    site_site: FloatArray,
    inverse_factor: FloatArray,
    alpha: FloatArray,
    t_runs: FloatArray,
    t_rates: FloatArray,
    moments: FloatArray,
    mean: FloatArray,
    covariance: FloatArray,
) -> None:
    """Surrogate mean and posterior covariance at the sites, at the state's t."""
    num_runs, num_sites = run_site.shape
    cross = np.empty((num_runs, num_sites))
    mean[:] = moments[0]
    for j in range(num_runs):
        exponent = 0.0
        for k in range(t_runs.shape[1]):
            exponent -= t_rates[k] * (_logistic(state[k]) - t_runs[j, k]) ** 2
        share = np.exp(exponent)
        for i in range(num_sites):
            cross[j, i] = share * run_site[j, i]
            mean[i] += alpha[j] * cross[j, i]
    white = inverse_factor @ cross
    covariance[:] = moments[1] * (site_site - np.ascontiguousarray(white.T) @ white)


@kernel
def _log_posterior(
    state: FloatArray,
    num_t: int,
    y: FloatArray,
    weights: FloatArray,
    squared: FloatArray,
    mean: FloatArray,
    covariance: FloatArray,
    priors: FloatArray,
    within_ss: float,
    within_dof: float,
    noise_known: bool,
    matrix: FloatArray,
    white: FloatArray,
) -> float:
    """Log of N(y; m, V + σ_δ²R_δ + σ²/a) + replicates + priors; -inf where not positive definite."""
    num_sites = len(y)
    bias_variance, noise = np.exp(state[num_t]), np.exp(state[num_t + 1])
    if noise_known:
        noise = 1.0
    for i in range(num_sites):
        for j in range(i + 1):
            exponent = 0.0
            for k in range(squared.shape[0]):
                exponent -= np.exp(state[num_t + 2 + k]) * squared[k, i, j]
            matrix[i, j] = covariance[i, j] + bias_variance * np.exp(exponent)
        matrix[i, i] += noise / weights[i] + 1e-10
    if not factorise_lower(matrix):
        return -np.inf
    solve_lower(matrix, y - mean, white)
    value = -0.5 * log_determinant(matrix) - 0.5 * np.sum(white**2)
    if not noise_known:
        value -= 0.5 * within_dof * np.log(noise) + 0.5 * within_ss / noise
    for k in range(num_t):
        # Uniform on the box, with the Jacobian of the logit.
        t = _logistic(state[k])
        value += np.log(t * (1.0 - t))
    for k in range(num_t, len(state)):
        row = min(k - num_t, 2)
        value -= 0.5 * ((state[k] - priors[row, 0]) / priors[row, 1]) ** 2
    return value


@kernel
def advance_chain(
    rng: np.random.Generator,
    state: FloatArray,
    steps: FloatArray,
    accepted: FloatArray,
    draws: FloatArray,
    y: FloatArray,
    weights: FloatArray,
    squared: FloatArray,
    run_site: FloatArray,
    site_site: FloatArray,
    inverse_factor: FloatArray,
    alpha: FloatArray,
    t_runs: FloatArray,
    t_rates: FloatArray,
    moments: FloatArray,
    priors: FloatArray,
    within_ss: float,
    within_dof: float,
    noise_known: bool,
) -> None:
    """Advance `state` by len(draws) sweeps of one walk per coordinate.

    `moments` = (μ̂, ŝ²); `priors` holds mean and sd of log σ_δ², log σ² and log ω_δ; `squared` (dx, m, m).
    """
    num_t, num_sites = t_runs.shape[1], len(y)
    mean, trial_mean = np.empty(num_sites), np.empty(num_sites)
    covariance, trial_covariance = np.empty((num_sites, num_sites)), np.empty((num_sites, num_sites))
    matrix, white = np.empty((num_sites, num_sites)), np.empty(num_sites)
    trial = state.copy()
    _emulate(state, run_site, site_site, inverse_factor, alpha, t_runs, t_rates, moments, mean, covariance)
    current = _log_posterior(
        state,
        num_t,
        y,
        weights,
        squared,
        mean,
        covariance,
        priors,
        within_ss,
        within_dof,
        noise_known,
        matrix,
        white,
    )
    for sweep in range(draws.shape[0]):
        for k in range(len(state)):
            trial[:] = state
            trial[k] += steps[k] * rng.standard_normal()
            if k < num_t:
                _emulate(
                    trial,
                    run_site,
                    site_site,
                    inverse_factor,
                    alpha,
                    t_runs,
                    t_rates,
                    moments,
                    trial_mean,
                    trial_covariance,
                )
            else:
                trial_mean[:] = mean
                trial_covariance[:] = covariance
            value = _log_posterior(
                trial,
                num_t,
                y,
                weights,
                squared,
                trial_mean,
                trial_covariance,
                priors,
                within_ss,
                within_dof,
                noise_known,
                matrix,
                white,
            )
            if np.log(rng.random()) < value - current:
                state[:] = trial
                current = value
                mean[:] = trial_mean
                covariance[:] = trial_covariance
                accepted[k] += 1.0
        draws[sweep] = state
