"""Metropolis within Gibbs for NBC, compiled.

State vector of p = dθ·m + dψ + 2dθ + 1 numbers: η_k at the sites (dθ blocks of m), logits of ψ, log(-log ρ_k),
log λ_θk, log λ_y. One sweep: for each θ_k a walk on ν = log(-log ρ), Neal's moves η' = η + c L z with LLᵀ = R_ρ, a walk
on each η_k(x_i) in turn, a conjugate draw of λ_θ, and a walk on (ν, λ_θ) with whitened η; walks on ψ; a conjugate draw
of λ_y. Neal's moves alone, as published, need some 30 000 sweeps on the spot-weld data; a single site costs one m-th of
a joint move and moves much farther.
"""

import numpy as np

from ..compiled import kernel
from ..gaussian_process.compiled_cholesky import factorise_lower, log_determinant, solve_lower
from ..problem import FloatArray
from .surrogate_compiled import surrogate_mean_at_site

__all__ = ["advance_chain", "correlation_factor"]

# Neal's moves per sweep and per functional variable.
NUM_MOVES = 3
# Keeps R_ρ positive definite in float64.
JITTER = 1e-8


@kernel
def correlation_factor(squared: FloatArray, nu: float, factor: FloatArray) -> bool:
    """Factor of R_ρ = ρ^{d²} + jitter, with ρ = exp(-e^ν) and d² the squared distances of the sites."""
    rate = np.exp(nu)
    for i in range(squared.shape[0]):
        for j in range(i + 1):
            factor[i, j] = np.exp(-rate * squared[i, j])
        factor[i, i] += JITTER
    return factorise_lower(factor)


@kernel
def _invert(factor: FloatArray, inverse: FloatArray) -> None:
    """Write (LLᵀ)⁻¹ to `inverse`."""
    size = factor.shape[0]
    lower = np.zeros((size, size))
    unit, column = np.zeros(size), np.empty(size)
    for j in range(size):
        unit[:] = 0.0
        unit[j] = 1.0
        solve_lower(factor, unit, column)
        lower[:, j] = column
    for i in range(size):
        for j in range(size):
            total = 0.0
            for k in range(max(i, j), size):
                total += lower[k, i] * lower[k, j]
            inverse[i, j] = total


@kernel
def _logistic(value: float) -> float:
    result: float = 1.0 / (1.0 + np.exp(-min(max(value, -30.0), 30.0)))
    return result


@kernel
def _means(
    state: FloatArray,
    num_functional: int,
    weighted: FloatArray,
    t_runs: FloatArray,
    t_rates: FloatArray,
    mean: float,
    out: FloatArray,
) -> None:
    num_sites, num_t = weighted.shape[0], t_runs.shape[1]
    t = np.empty(num_t)
    for site in range(num_sites):
        for k in range(num_functional):
            t[k] = _logistic(state[k * num_sites + site])
        for h in range(num_t - num_functional):
            t[num_functional + h] = _logistic(state[num_functional * num_sites + h])
        out[site] = surrogate_mean_at_site(weighted, t_runs, t_rates, mean, site, t)


@kernel
def _weighted_ss(y: FloatArray, mean: FloatArray, weights: FloatArray) -> float:
    total = 0.0
    for i in range(len(y)):
        total += weights[i] * (y[i] - mean[i]) ** 2
    return total


@kernel
def _log_rate_prior(nu: float, beta_b: float) -> float:
    """Log density of ν = log(-log ρ) for ρ ~ Beta(1, b): ν - e^ν + (b - 1) log(1 - exp(-e^ν))."""
    rate = np.exp(nu)
    density: float = nu - rate
    if beta_b != 1.0:
        density += (beta_b - 1.0) * np.log(-np.expm1(-rate))
    return density


@kernel
def _log_rate_density(
    factor: FloatArray, white: FloatArray, precision: float, nu: float, beta_b: float
) -> float:
    """Log density of ν given η and λ_θ: -½log|R| - ½λ_θ η'R⁻¹η and the prior of ν."""
    spread = -0.5 * log_determinant(factor) - 0.5 * precision * np.sum(white**2)
    return spread + _log_rate_prior(nu, beta_b)


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
    weighted: FloatArray,
    t_runs: FloatArray,
    t_rates: FloatArray,
    mean: float,
    num_functional: int,
    priors: FloatArray,
    within_ss: float,
    within_dof: float,
    noise_known: bool,
) -> None:
    """Advance `state` by len(draws) sweeps, writing each to `draws` and counting acceptances per kind of move.

    `steps` and `accepted` are ordered ν (dθ), η jointly (dθ), ψ (dψ), η at each site (dθ·m), whitened (dθ).
    `priors` = (a_y, rate_y, a_θ, rate_θ, b_ρ).
    """
    num_sites, num_t = weighted.shape[0], t_runs.shape[1]
    num_global = num_t - num_functional
    at_psi = num_functional * num_sites
    at_nu = at_psi + num_global
    at_precision = at_nu + num_functional
    at_noise = at_precision + num_functional
    at_single = 2 * num_functional + num_global
    at_white = at_single + num_functional * num_sites
    factors = np.zeros((num_functional, num_sites, num_sites))
    inverses = np.zeros((num_functional, num_sites, num_sites))
    pull = np.empty(num_sites)
    t = np.empty(num_t)
    trial_factor = np.zeros((num_sites, num_sites))
    white, trial_white = np.empty(num_sites), np.empty(num_sites)
    current, trial_mean = np.empty(num_sites), np.empty(num_sites)
    normals = np.empty(num_sites)
    trial = state.copy()
    for k in range(num_functional):
        correlation_factor(squared, state[at_nu + k], factors[k])
        _invert(factors[k], inverses[k])
    _means(state, num_functional, weighted, t_runs, t_rates, mean, current)
    ss = _weighted_ss(y, current, weights)
    for sweep in range(draws.shape[0]):
        noise_precision = np.exp(state[at_noise])
        ss = _weighted_ss(y, current, weights)
        for k in range(num_functional):
            block = slice(k * num_sites, (k + 1) * num_sites)
            precision = np.exp(state[at_precision + k])
            solve_lower(factors[k], state[block], white)
            nu = state[at_nu + k]
            proposal = nu + steps[k] * rng.standard_normal()
            # Beyond e^±12 the correlation is 1 or 0 to float64 and the density is negligible.
            if abs(proposal) < 12.0 and correlation_factor(squared, proposal, trial_factor):
                solve_lower(trial_factor, state[block], trial_white)
                ratio = _log_rate_density(trial_factor, trial_white, precision, proposal, priors[4])
                ratio -= _log_rate_density(factors[k], white, precision, nu, priors[4])
                if np.log(rng.random()) < ratio:
                    state[at_nu + k] = proposal
                    factors[k][:] = trial_factor
                    _invert(trial_factor, inverses[k])
                    white[:] = trial_white
                    accepted[k] += 1.0
            for _ in range(NUM_MOVES):
                scale = steps[num_functional + k] / np.sqrt(precision)
                for i in range(num_sites):
                    normals[i] = scale * rng.standard_normal()
                trial[:] = state
                for i in range(num_sites):
                    shift = 0.0
                    for j in range(i + 1):
                        shift += factors[k, i, j] * normals[j]
                    trial[k * num_sites + i] += shift
                _means(trial, num_functional, weighted, t_runs, t_rates, mean, trial_mean)
                trial_ss = _weighted_ss(y, trial_mean, weights)
                ratio = -0.5 * noise_precision * (trial_ss - ss)
                # L⁻¹η' = L⁻¹η + c z
                for i in range(num_sites):
                    ratio -= 0.5 * precision * ((white[i] + normals[i]) ** 2 - white[i] ** 2)
                if np.log(rng.random()) < ratio:
                    state[block] = trial[block]
                    current[:] = trial_mean
                    for i in range(num_sites):
                        white[i] += normals[i]
                    ss = trial_ss
                    accepted[num_functional + k] += 1.0 / NUM_MOVES
            pull[:] = inverses[k] @ state[block]
            for site in range(num_sites):
                at = k * num_sites + site
                shift = steps[at_single + at] * rng.standard_normal()
                for other in range(num_functional):
                    t[other] = _logistic(state[other * num_sites + site])
                for h in range(num_global):
                    t[num_functional + h] = _logistic(state[at_psi + h])
                t[k] = _logistic(state[at] + shift)
                value = surrogate_mean_at_site(weighted, t_runs, t_rates, mean, site, t)
                change = weights[site] * ((y[site] - value) ** 2 - (y[site] - current[site]) ** 2)
                ratio = -0.5 * noise_precision * change
                ratio -= precision * shift * (pull[site] + 0.5 * shift * inverses[k, site, site])
                if np.log(rng.random()) < ratio:
                    state[at] += shift
                    current[site] = value
                    ss += change
                    for i in range(num_sites):
                        pull[i] += shift * inverses[k, i, site]
                    accepted[at_single + at] += 1.0
            solve_lower(factors[k], state[block], white)
            shape = priors[2] + 0.5 * num_sites
            rate = priors[3] + 0.5 * np.sum(white**2)
            state[at_precision + k] = np.log(rng.standard_gamma(shape) / rate)
            # Once more with the whitened √λ_θ L⁻¹η held fixed: η follows (ν, log λ_θ), and the likelihood decides.
            step = steps[at_white + k]
            nu, log_precision = state[at_nu + k], state[at_precision + k]
            proposal = nu + step * rng.standard_normal()
            log_proposal = log_precision + step * rng.standard_normal()
            if abs(proposal) < 12.0 and correlation_factor(squared, proposal, trial_factor):
                shrink = np.exp(0.5 * (log_precision - log_proposal))
                trial[:] = state
                for i in range(num_sites):
                    value = 0.0
                    for j in range(i + 1):
                        value += trial_factor[i, j] * white[j]
                    trial[k * num_sites + i] = shrink * value
                _means(trial, num_functional, weighted, t_runs, t_rates, mean, trial_mean)
                trial_ss = _weighted_ss(y, trial_mean, weights)
                ratio = -0.5 * noise_precision * (trial_ss - ss)
                ratio += _log_rate_prior(proposal, priors[4]) - _log_rate_prior(nu, priors[4])
                ratio += priors[2] * (log_proposal - log_precision)
                ratio -= priors[3] * (np.exp(log_proposal) - np.exp(log_precision))
                if np.log(rng.random()) < ratio:
                    state[block] = trial[block]
                    state[at_nu + k], state[at_precision + k] = proposal, log_proposal
                    factors[k][:] = trial_factor
                    _invert(trial_factor, inverses[k])
                    current[:] = trial_mean
                    ss = trial_ss
                    accepted[at_white + k] += 1.0
        for h in range(num_global):
            trial[:] = state
            logit = state[at_psi + h]
            trial[at_psi + h] = logit + steps[2 * num_functional + h] * rng.standard_normal()
            _means(trial, num_functional, weighted, t_runs, t_rates, mean, trial_mean)
            trial_ss = _weighted_ss(y, trial_mean, weights)
            old, new = _logistic(logit), _logistic(trial[at_psi + h])
            # Uniform on the box: the Jacobian of the logit is ψ(1 - ψ).
            ratio = -0.5 * noise_precision * (trial_ss - ss)
            ratio += np.log(new * (1.0 - new)) - np.log(old * (1.0 - old))
            if np.log(rng.random()) < ratio:
                state[at_psi + h] = trial[at_psi + h]
                current[:] = trial_mean
                ss = trial_ss
                accepted[2 * num_functional + h] += 1.0
        if not noise_known:
            shape = priors[0] + 0.5 * (num_sites + within_dof)
            state[at_noise] = np.log(rng.standard_gamma(shape) / (priors[1] + 0.5 * (ss + within_ss)))
        draws[sweep] = state
