"""The sampler of NBC, compiled: elliptical slices for θ and ψ, walks on the hyper-parameters in pilot coordinates.

State vector of p = dθ·m + dψ + 2dθ + 1 numbers: η_k at the sites (dθ blocks of m), probits of ψ, then h: ν_k =
log(-log ρ_k), log λ_θk, log λ_y. One sweep: walks on h with w held fixed, so that η and ψ follow; two elliptical slices
of z at fixed h, one with the pilot's posterior and one with the prior as reference (the latter leaves the places where
the former is too narrow); and conjugate draws of λ_θ and λ_y. See `bayesian_gp_coordinates`.
"""

import math
from typing import NamedTuple

import numpy as np

from ..compiled import kernel
from ..gaussian_process.compiled_cholesky import log_determinant, solve_lower
from ..problem import FloatArray
from .bayesian_gp_coordinates import (
    MAX_LOG_RATE,
    Coordinates,
    Pilot,
    build_coordinates,
    correlation_factor,
    empty_coordinates,
    latent_values,
    pilot_coordinates,
    prior_coordinates,
    solve_upper,
)
from .surrogate_compiled import SiteSurrogate, logistic, surrogate_mean_at_site

__all__ = ["SiteModel", "advance_chain"]

# Walks on h per sweep.
NUM_WALKS = 4
NUM_SLICES = 3
# By then the bracket of a slice has shrunk to the present point.
MAX_SHRINKS = 60
# Width of the bracket of a slice of ν, three prior sds.
SLICE_WIDTH = 4.0


class SiteModel(NamedTuple):
    """Everything that the density needs and that does not move.

    Attributes
    ----------
    y, weights
        Site means and a_i with var(ȳ_i) = 1/(λ_y a_i), (m,).
    squared
        Squared distances of the sites, (m, m).
    surrogate
        m(x_i, t).
    num_functional
        dθ.
    priors
        (a_y, rate_y, a_θ, rate_θ, b_ρ).
    within_ss, within_dof
        Sum of squares within sites and its degrees of freedom.
    noise_known
        Whether λ_y = 1 is known.
    """

    y: FloatArray
    weights: FloatArray
    squared: FloatArray
    surrogate: SiteSurrogate
    num_functional: int
    priors: FloatArray
    within_ss: float
    within_dof: float
    noise_known: bool


@kernel
def _site_means(
    model: SiteModel, u: FloatArray, means: FloatArray, t: FloatArray, basis: FloatArray
) -> float:
    """Write m(x_i, θ_i, ψ); returns the weighted sum of squared residuals."""
    num_sites, num_functional = len(model.y), model.num_functional
    for g in range(num_functional, len(t)):
        # ψ is the normal distribution function of its coordinate.
        t[g] = 0.5 * math.erfc(-u[num_functional * (num_sites - 1) + g] / math.sqrt(2.0))
    total = 0.0
    for i in range(num_sites):
        for k in range(num_functional):
            t[k] = logistic(u[k * num_sites + i])
        means[i] = surrogate_mean_at_site(model.surrogate, i, t, basis)
        total += model.weights[i] * (model.y[i] - means[i]) ** 2
    return total


@kernel
def _log_prior_of_rate(nu: float, beta_b: float) -> float:
    """Log density of ν = log(-log ρ) for ρ ~ Beta(1, b): ν - e^ν + (b - 1) log(1 - exp(-e^ν))."""
    rate = np.exp(nu)
    density: float = nu - rate
    if beta_b != 1.0:
        density += (beta_b - 1.0) * np.log(-np.expm1(-rate))
    return density


@kernel
def _log_prior_of_hyper(model: SiteModel, hyper: FloatArray) -> float:
    """Log density of h, the precisions on their logarithms."""
    num_functional = model.num_functional
    a_noise, rate_noise, a_theta, rate_theta, beta_b = model.priors
    total = 0.0
    for k in range(num_functional):
        total += _log_prior_of_rate(hyper[k], beta_b)
        total += a_theta * hyper[num_functional + k] - rate_theta * np.exp(hyper[num_functional + k])
    if not model.noise_known:
        log_noise = hyper[2 * num_functional]
        total += a_noise * log_noise - rate_noise * np.exp(log_noise)
    return total


@kernel
def _log_likelihood(model: SiteModel, hyper: FloatArray, ss: float) -> float:
    """Log likelihood from the weighted sum of squares of the sites, with the replicates within them."""
    log_noise = hyper[2 * model.num_functional]
    value: float = -0.5 * np.exp(log_noise) * (ss + model.within_ss)
    if not model.noise_known:
        value += 0.5 * (len(model.y) + model.within_dof) * log_noise
    return value


@kernel
def _slice(
    rng: np.random.Generator,
    model: SiteModel,
    hyper: FloatArray,
    coordinates: Coordinates,
    with_pilot: bool,
    z: FloatArray,
    u: FloatArray,
    means: FloatArray,
    ss: float,
    basis: FloatArray,
) -> float:
    """One elliptical slice of z about the pilot's posterior or the prior, in place; returns the new sum of squares."""
    size = len(z)
    t = np.empty(model.surrogate.t_runs.shape[1])
    centre = coordinates.centre.copy() if with_pilot else np.zeros(size)
    white, other = z.copy(), np.empty(size)
    for a in range(size):
        other[a] = rng.standard_normal()
    direction = other.copy()
    if with_pilot:
        pilot_coordinates(coordinates, z, white)
        solve_upper(coordinates.factor, direction, direction)
    start, u_centre, u_start, u_direction = z - centre, np.empty(size), np.empty(size), np.empty(size)
    latent_values(coordinates, centre, u_centre)
    latent_values(coordinates, direction, u_direction)
    u_start[:] = u - u_centre
    level = _log_likelihood(model, hyper, ss) - 0.5 * np.sum(z**2) + 0.5 * np.sum(white**2)
    level += np.log(rng.random())
    angle = 2.0 * np.pi * rng.random()
    low, high = angle - 2.0 * np.pi, angle
    new_z, new_u, new_means = np.empty(size), np.empty(size), np.empty(len(means))
    for _ in range(MAX_SHRINKS):
        cosine, sine = np.cos(angle), np.sin(angle)
        reference = 0.0
        for a in range(size):
            new_z[a] = centre[a] + cosine * start[a] + sine * direction[a]
            new_u[a] = u_centre[a] + cosine * u_start[a] + sine * u_direction[a]
            reference += (cosine * white[a] + sine * other[a]) ** 2
        new_ss = _site_means(model, new_u, new_means, t, basis)
        value = _log_likelihood(model, hyper, new_ss) - 0.5 * np.sum(new_z**2) + 0.5 * reference
        if value > level:
            z[:], u[:], means[:] = new_z, new_u, new_means
            return new_ss
        if angle < 0.0:
            low = angle
        else:
            high = angle
        angle = low + (high - low) * rng.random()
    return ss


@kernel
def _log_density_of_rate(
    model: SiteModel, nu: float, eta: FloatArray, lower: FloatArray, white: FloatArray
) -> tuple[float, float]:
    """Log density of ν given η, λ_θ integrated out, and the rate of λ_θ's Gamma given both."""
    if abs(nu) > MAX_LOG_RATE or not correlation_factor(model.squared, nu, lower):
        return -np.inf, 0.0
    solve_lower(lower, eta, white)
    shape, rate = model.priors[2] + 0.5 * len(eta), model.priors[3] + 0.5 * np.sum(white[: len(eta)] ** 2)
    value = _log_prior_of_rate(nu, model.priors[4]) - 0.5 * log_determinant(lower) - shape * np.log(rate)
    return value, rate


@kernel
def _draw_process(
    rng: np.random.Generator,
    model: SiteModel,
    nu: float,
    eta: FloatArray,
    lower: FloatArray,
    white: FloatArray,
) -> tuple[float, float]:
    """ν by a slice given η with λ_θ integrated out, then log λ_θ from its Gamma distribution."""
    level, rate = _log_density_of_rate(model, nu, eta, lower, white)
    level += np.log(rng.random())
    low = nu - SLICE_WIDTH * rng.random()
    high = low + SLICE_WIDTH
    for _ in range(MAX_SHRINKS):
        trial = low + (high - low) * rng.random()
        value, trial_rate = _log_density_of_rate(model, trial, eta, lower, white)
        if value > level:
            nu, rate = trial, trial_rate
            break
        if trial < nu:
            low = trial
        else:
            high = trial
    return nu, np.log(rng.standard_gamma(model.priors[2] + 0.5 * len(eta)) / rate)


@kernel
def advance_chain(
    rng: np.random.Generator,
    state: FloatArray,
    proposal: FloatArray,
    pilot: Pilot,
    model: SiteModel,
    draws: FloatArray,
    site_means: FloatArray,
) -> float:
    """Advance `state` by len(draws) sweeps, writing states to `draws` and m(x_i, θ_i, ψ) to `site_means`.

    Parameters
    ----------
    proposal
        Factor of the covariance of the walk on h, (2dθ + 1, 2dθ + 1).

    Returns
    -------
    Share of the walks that were accepted.
    """
    num_sites, num_functional = len(model.y), model.num_functional
    size, num_hyper = len(state) - 2 * num_functional - 1, 2 * num_functional + 1
    u, hyper = state[:size], state[size:]
    z, white, means, t = (
        np.empty(size),
        np.empty(size),
        np.empty(num_sites),
        np.empty(model.surrogate.t_runs.shape[1]),
    )
    trial_z, trial_u, trial_means, trial_hyper = z.copy(), u.copy(), means.copy(), hyper.copy()
    basis = np.empty(max(1, model.surrogate.coefficients.shape[1]))
    current = empty_coordinates(num_functional, num_sites, size)
    trial = empty_coordinates(num_functional, num_sites, size)
    lower = np.zeros((num_sites, num_sites))
    ss = _site_means(model, u, means, t, basis)
    jacobian = build_coordinates(model.y, model.weights, model.squared, hyper, pilot, current)
    prior_coordinates(current, u, z)
    num_accepted = 0
    for sweep in range(draws.shape[0]):
        pilot_coordinates(current, z, white)
        for _ in range(NUM_WALKS):
            trial_hyper[:] = hyper
            for b in range(num_hyper):
                step = rng.standard_normal()
                for a in range(b, num_hyper):
                    trial_hyper[a] += proposal[a, b] * step
            trial_jacobian = build_coordinates(
                model.y, model.weights, model.squared, trial_hyper, pilot, trial
            )
            if trial_jacobian == -np.inf:
                continue
            solve_upper(trial.factor, white, trial_z)
            trial_z += trial.centre
            latent_values(trial, trial_z, trial_u)
            trial_ss = _site_means(model, trial_u, trial_means, t, basis)
            ratio = trial_jacobian - jacobian
            ratio += _log_prior_of_hyper(model, trial_hyper) - _log_prior_of_hyper(model, hyper)
            ratio -= 0.5 * (np.sum(trial_z**2) - np.sum(z**2))
            ratio += _log_likelihood(model, trial_hyper, trial_ss) - _log_likelihood(model, hyper, ss)
            if np.log(rng.random()) < ratio:
                hyper[:], z[:], u[:], means[:] = trial_hyper, trial_z, trial_u, trial_means
                ss, jacobian = trial_ss, trial_jacobian
                current, trial = trial, current
                num_accepted += 1
        for _ in range(NUM_SLICES):
            ss = _slice(rng, model, hyper, current, True, z, u, means, ss, basis)
        ss = _slice(rng, model, hyper, current, False, z, u, means, ss, basis)
        for k in range(num_functional):
            hyper[k], hyper[num_functional + k] = _draw_process(
                rng, model, hyper[k], u[k * num_sites : (k + 1) * num_sites], lower, white
            )
        if not model.noise_known:
            shape = model.priors[0] + 0.5 * (num_sites + model.within_dof)
            rate = model.priors[1] + 0.5 * (ss + model.within_ss)
            hyper[num_hyper - 1] = np.log(rng.standard_gamma(shape) / rate)
        jacobian = build_coordinates(model.y, model.weights, model.squared, hyper, pilot, current)
        prior_coordinates(current, u, z)
        draws[sweep] = state
        site_means[sweep] = means
    share: float = num_accepted / (NUM_WALKS * draws.shape[0])
    return share
