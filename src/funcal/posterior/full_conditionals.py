"""One update of each block of parameters, from its full conditional in Appendix A, compiled.

ν² and τ² are drawn from their inverse gamma conditionals; ψ_h, ln ℓ_j, ln γ and ln σ² take one random walk Metropolis
step each (Θ has its own file, `theta_walk`). All randomness comes from the generator passed in, in a fixed order.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiled import kernel
from ..priors.densities import log_scale_density
from ..problem import FloatArray
from .log_density import correlate, log_likelihood_from_correlation
from .parameters import ChainState, PosteriorModel

__all__ = [
    "draw_global_spread",
    "draw_spread",
    "update_length",
    "update_magnitude",
    "update_noise",
    "update_psi",
]

#: Plain draws tried before a truncated inverse gamma is sampled by a slice step instead.
_PLAIN_TRIES = 8


@kernel(error_model="numpy")
def draw_spread(rng: np.random.Generator, model: PosteriorModel, state: ChainState) -> None:
    """Draw ν_k² from IG(shape + m/2, scale + ½(Θ_k − Θ^a_k)ᵀQ(Θ_k − Θ^a_k)), truncated to its bounds."""
    m, num_functional = state.theta.shape
    for k in range(num_functional):
        quadratic = 0.0
        for i in range(m):
            row = 0.0
            for j in range(m):
                row += model.theta_precision[i, j] * (state.theta[j, k] - model.theta_mean[j, k])
            quadratic += row * (state.theta[i, k] - model.theta_mean[i, k])
        prior = model.spread_prior[k]
        state.spread[k] = _truncated_inverse_gamma(
            rng, prior[0] + 0.5 * m, prior[1] + 0.5 * quadratic, prior[2], prior[3], state.spread[k]
        )


@kernel(error_model="numpy")
def _truncated_inverse_gamma(
    rng: np.random.Generator, shape: float, scale: float, lower: float, upper: float, current: float
) -> float:
    """Leave IG(shape, scale) on [lower, upper] invariant, by an exact draw nearly always.

    A few plain draws are tried; whether they all miss does not depend on `current`, so that a slice step from
    `current` may then take their place.
    """
    for _ in range(_PLAIN_TRIES):
        value = scale / rng.standard_gamma(shape)
        if lower <= value <= upper:
            return value
    # slice step on t = ln v, whose log density is −shape·t − scale·exp(−t)
    t = math.log(current)
    level = -shape * t - scale * math.exp(-t) - rng.standard_exponential()
    # 50 on the log scale stands for no bound: 22 orders of magnitude
    left = math.log(lower) if lower > 0.0 else t - 50.0
    right = math.log(upper) if upper < math.inf else t + 50.0
    while True:
        proposal = left + (right - left) * rng.random()
        if -shape * proposal - scale * math.exp(-proposal) >= level:
            return math.exp(proposal)
        if proposal < t:
            left = proposal
        else:
            right = proposal


@kernel(error_model="numpy")
def update_psi(
    rng: np.random.Generator,
    model: PosteriorModel,
    state: ChainState,
    steps: FloatArray,
    accepted: FloatArray,
) -> None:
    """Move every ψ_h once; its likelihood ratio is 1, because ψ is in no entry of Σ (point 1)."""
    for h in range(state.psi.shape[0]):
        old = state.psi[h]
        new = old + steps[h] * rng.standard_normal()
        if new < model.psi_bounds[h, 0] or new > model.psi_bounds[h, 1]:
            accepted[h] = 0.0
            continue
        before = old - model.psi_mean[h]
        after = new - model.psi_mean[h]
        probability = math.exp(min(0.0, 0.5 * (before * before - after * after) / state.global_spread[h]))
        accepted[h] = probability
        if rng.random() < probability:
            state.psi[h] = new


@kernel(error_model="numpy")
def draw_global_spread(rng: np.random.Generator, model: PosteriorModel, state: ChainState) -> None:
    """Draw τ_h² from IG(½ + α_τ, ½(ψ_h − ψ^a_h)² + β_τ)."""
    for h in range(state.psi.shape[0]):
        d = state.psi[h] - model.psi_mean[h]
        shape = 0.5 + model.global_spread_prior[h, 0]
        state.global_spread[h] = (0.5 * d * d + model.global_spread_prior[h, 1]) / rng.standard_gamma(shape)


@kernel(error_model="numpy")
def update_length(
    rng: np.random.Generator,
    model: PosteriorModel,
    state: ChainState,
    steps: FloatArray,
    accepted: FloatArray,
) -> None:
    """Move every ln ℓ_j once; the 1/ℓ_j of App. A cancels against the Jacobian (point 7).

    Only the upper triangles of exponent and correlation are kept up to date; `refresh` fills the rest.
    """
    m, num_functional = state.theta.shape
    num_controls = model.control_distance.shape[0]
    proposal = state.scratch[4 : 4 + m]
    correlation = state.scratch[4 + m :]
    for j in range(state.log_length.shape[0]):
        old = state.log_length[j]
        new = old + steps[j] * rng.standard_normal()
        prior = model.length_prior[j]
        log_ratio = log_scale_density(prior[0], prior[1], prior[2], new)
        if log_ratio == -math.inf:
            accepted[j] = 0.0
            continue
        log_ratio -= log_scale_density(prior[0], prior[1], prior[2], old)
        candidate = state.log_likelihood[0]
        in_covariance = j < num_controls + num_functional
        if in_covariance:
            change = math.exp(new) - math.exp(old)
            for a in range(m):
                for b in range(a + 1, m):
                    if j < num_controls:
                        d = model.control_distance[j, a, b]
                    else:
                        d = (state.theta[a, j - num_controls] - state.theta[b, j - num_controls]) ** 2
                    proposal[a, b] = state.exponent[a, b] + change * d
            correlate(proposal, correlation)
            candidate = log_likelihood_from_correlation(
                model, correlation, state.log_magnitude[0], state.log_noise[0], state.factor, state.scratch[0]
            )
            log_ratio += candidate - state.log_likelihood[0]
        probability = math.exp(min(0.0, log_ratio))
        accepted[j] = probability
        if rng.random() < probability:
            state.log_length[j] = new
            state.log_likelihood[0] = candidate
            if in_covariance:
                for a in range(m):
                    for b in range(a + 1, m):
                        state.exponent[a, b] = proposal[a, b]
                        state.correlation[a, b] = correlation[a, b]


@kernel(error_model="numpy")
def update_magnitude(
    rng: np.random.Generator,
    model: PosteriorModel,
    state: ChainState,
    steps: FloatArray,
    accepted: FloatArray,
) -> None:
    """Move ln γ once."""
    new = state.log_magnitude[0] + steps[0] * rng.standard_normal()
    _update_variance(
        rng, model, state, model.magnitude_prior, state.log_magnitude, new, new, state.log_noise[0], accepted
    )


@kernel(error_model="numpy")
def update_noise(
    rng: np.random.Generator,
    model: PosteriorModel,
    state: ChainState,
    steps: FloatArray,
    accepted: FloatArray,
) -> None:
    """Move ln σ² once."""
    new = state.log_noise[0] + steps[0] * rng.standard_normal()
    _update_variance(
        rng, model, state, model.noise_prior, state.log_noise, new, state.log_magnitude[0], new, accepted
    )


@kernel(error_model="numpy")
def _update_variance(
    rng: np.random.Generator,
    model: PosteriorModel,
    state: ChainState,
    prior: FloatArray,
    place: FloatArray,
    new: float,
    log_magnitude: float,
    log_noise: float,
    accepted: FloatArray,
) -> None:
    log_ratio = log_scale_density(prior[0], prior[1], prior[2], new)
    if log_ratio == -math.inf:
        accepted[0] = 0.0
        return
    log_ratio -= log_scale_density(prior[0], prior[1], prior[2], place[0])
    candidate = log_likelihood_from_correlation(
        model, state.correlation, log_magnitude, log_noise, state.factor, state.scratch[0]
    )
    log_ratio += candidate - state.log_likelihood[0]
    probability = math.exp(min(0.0, log_ratio))
    accepted[0] = probability
    if rng.random() < probability:
        place[0] = new
        state.log_likelihood[0] = candidate
