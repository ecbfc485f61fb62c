"""The Metropolis-within-Gibbs sweep of Appendix A, its warm-up and its recording, compiled.

Step sizes change in `warm_up` only; `record` has no way to change them, so adaptation is over when warm-up is.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiled import kernel
from ..problem import FloatArray
from .full_conditionals import (
    draw_global_spread,
    draw_spread,
    update_length,
    update_magnitude,
    update_noise,
    update_psi,
)
from .log_density import leave_one_out, log_posterior, refresh
from .parameters import ChainState, PosteriorModel
from .theta_walk import shift_theta, update_theta

__all__ = ["record", "sweep", "warm_up"]

#: Acceptance rate at which a one-dimensional random walk mixes best (Gelman, Roberts & Gilks 1996).
TARGET_ACCEPTANCE = 0.44
#: Robbins–Monro gains are t^−0.6: their sum diverges and their sum of squares does not.
GAIN_EXPONENT = 0.6


@kernel(error_model="numpy")
def sweep(
    rng: np.random.Generator,
    model: PosteriorModel,
    state: ChainState,
    steps: FloatArray,
    accepted: FloatArray,
) -> None:
    """Update every parameter once.

    Parameters
    ----------
    rng
    model
    state
        Changed in place. Its matrices must be up to date on entry and are on return.
    steps, accepted : (num_steps,)
        Step sizes of the random walks and, on return, their acceptance probabilities; order Θ (by component,
        then site), ψ, ln ℓ, ln γ, ln σ².
    """
    m, num_functional = state.theta.shape
    a = m * num_functional
    b = a + state.psi.shape[0]
    c = b + state.log_length.shape[0]
    update_theta(rng, model, state, steps[:a], accepted[:a])
    shift_theta(rng, model, state)
    draw_spread(rng, model, state)
    update_psi(rng, model, state, steps[a:b], accepted[a:b])
    draw_global_spread(rng, model, state)
    update_length(rng, model, state, steps[b:c], accepted[b:c])
    update_magnitude(rng, model, state, steps[c:], accepted[c:])
    if model.noise_weight[0] > 0.0:
        update_noise(rng, model, state, steps[c + 1 :], accepted[c + 1 :])
    refresh(model, state)


@kernel
def warm_up(
    rng: np.random.Generator,
    model: PosteriorModel,
    state: ChainState,
    steps: FloatArray,
    first: int,
    num_sweeps: int,
) -> None:
    """Run sweeps and adapt the step sizes in place.

    `first` is the number of warm-up sweeps already done: gains go on shrinking across segments.
    """
    accepted = np.full(steps.shape[0], TARGET_ACCEPTANCE)
    refresh(model, state)
    for t in range(first, first + num_sweeps):
        sweep(rng, model, state, steps, accepted)
        gain = (t + 1.0) ** -GAIN_EXPONENT
        for s in range(steps.shape[0]):
            steps[s] *= math.exp(gain * (accepted[s] - TARGET_ACCEPTANCE))


@kernel
def record(
    rng: np.random.Generator,
    model: PosteriorModel,
    state: ChainState,
    steps: FloatArray,
    thin: int,
    draws: FloatArray,
    statistics: FloatArray,
    pointwise: FloatArray,
) -> None:
    """Run `thin` sweeps per draw with fixed step sizes and record every draw.

    Parameters
    ----------
    rng, model, state, steps
    thin
    draws : (num_draws, num_recorded)
        Θ (by site, then component), ψ, ν², τ², ln ℓ, ln γ, ln σ².
    statistics : (num_draws, 2)
        Log posterior density and mean acceptance probability.
    pointwise : (num_draws, m)
        log p(y_i | y_−i, parameters).
    """
    accepted = np.full(steps.shape[0], TARGET_ACCEPTANCE)
    refresh(model, state)
    for d in range(draws.shape[0]):
        for _ in range(thin):
            sweep(rng, model, state, steps, accepted)
        place = 0
        for block in (
            state.theta.ravel(),
            state.psi,
            state.spread,
            state.global_spread,
            state.log_length,
            state.log_magnitude,
            state.log_noise,
        ):
            for value in block:
                draws[d, place] = value
                place += 1
        statistics[d, 0] = log_posterior(model, state)
        statistics[d, 1] = np.mean(accepted)
        leave_one_out(model, state, pointwise[d])
