"""The sweep of Appendix A written in the straightforward way with NumPy and SciPy.

Every Metropolis step builds Σ and factorises it, as the formulas stand. It consumes random numbers in the same
order as the compiled sweep, so that both give the same chain up to rounding: the benchmark compares their speed, the
tests their draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from funcal.posterior.log_density import JITTER
from funcal.posterior.parameters import ChainState, PosteriorModel
from funcal.priors import densities


@dataclass
class NumpyState:
    """Parameters of one chain; nothing is cached but the current log likelihood."""

    theta: np.ndarray
    psi: np.ndarray
    spread: np.ndarray
    global_spread: np.ndarray
    log_length: np.ndarray
    log_magnitude: float
    log_noise: float

    @classmethod
    def from_chain(cls, state: ChainState) -> NumpyState:
        """Copy the parameters of a compiled chain."""
        arrays = (state.theta, state.psi, state.spread, state.global_spread, state.log_length)
        return cls(*(a.copy() for a in arrays), float(state.log_magnitude[0]), float(state.log_noise[0]))

    def as_row(self) -> np.ndarray:
        """Return the parameters in the order in which a chain records them."""
        return np.concatenate(
            [
                self.theta.ravel(),
                self.psi,
                self.spread,
                self.global_spread,
                self.log_length,
                [self.log_magnitude, self.log_noise],
            ]
        )


def log_likelihood(model: PosteriorModel, state: NumpyState) -> float:
    """Evaluate log N(y^p; 0, Σ + σ²I) plus the replicates' part, by a fresh Cholesky factor."""
    num_sites, num_functional = state.theta.shape
    num_controls = model.control_distance.shape[0]
    length = np.exp(state.log_length)
    exponent = np.tensordot(length[:num_controls], model.control_distance, axes=1)
    difference = state.theta[:, None, :] - state.theta[None, :, :]
    exponent = exponent + difference**2 @ length[num_controls : num_controls + num_functional]
    magnitude, noise = math.exp(state.log_magnitude), math.exp(state.log_noise)
    covariance = magnitude * np.exp(-exponent)
    covariance += np.diag(magnitude * JITTER + noise * model.noise_weight + model.known_noise)
    factor = scipy.linalg.cho_factor(covariance, lower=True)
    quadratic = model.response @ scipy.linalg.cho_solve(factor, model.response)
    log_det = 2.0 * np.sum(np.log(np.diag(factor[0])))
    dof, sum_of_squares = model.within
    replicates = -0.5 * (dof * state.log_noise + sum_of_squares / noise) if dof else 0.0
    return float(-0.5 * (quadratic + log_det + num_sites * math.log(2.0 * math.pi)) + replicates)


def log_scale_prior(row: np.ndarray, u: float) -> float:
    """Log density of u = ln(parameter), up to a constant that cancels in ratios."""
    kind, first, second = row
    if kind == densities.NORMAL:
        return -0.5 * ((u - first) / second) ** 2
    if kind == densities.GAMMA:
        return (first - 1.0) * math.log(u) - second * u if u > 0 else -math.inf
    if kind == densities.UNIFORM:
        return 0.0 if first <= u <= second else -math.inf
    return 0.5 * u - 0.5 * math.exp(u) / first**2


def numpy_sweep(
    rng: np.random.Generator, model: PosteriorModel, state: NumpyState, steps: np.ndarray
) -> None:
    """Update every parameter once, in the order of the compiled sweep."""
    num_sites, num_functional = state.theta.shape
    num_global, num_inputs = len(state.psi), len(state.log_length)
    current = log_likelihood(model, state)
    step = iter(steps)
    for k in range(num_functional):
        for i in range(num_sites):
            old = state.theta[i, k]
            new = old + next(step) * rng.standard_normal()
            if not model.theta_bounds[k, 0] <= new <= model.theta_bounds[k, 1]:
                continue
            before = state.theta[:, k] - model.theta_mean[:, k]
            after = before.copy()
            after[i] += new - old
            quadratic = after @ model.theta_precision @ after - before @ model.theta_precision @ before
            state.theta[i, k] = new
            proposed = log_likelihood(model, state)
            log_ratio = proposed - current - 0.5 * quadratic / state.spread[k]
            if rng.random() < math.exp(min(0.0, log_ratio)):
                current = proposed
            else:
                state.theta[i, k] = old
    for k in range(num_functional):
        deviation = state.theta[:, k] - model.theta_mean[:, k]
        precision = model.theta_precision.sum()
        shift = -(model.theta_precision @ deviation).sum() / precision
        shift += math.sqrt(state.spread[k] / precision) * rng.standard_normal()
        moved = state.theta[:, k] + shift
        if np.all((moved >= model.theta_bounds[k, 0]) & (moved <= model.theta_bounds[k, 1])):
            state.theta[:, k] = moved
    for k in range(num_functional):
        deviation = state.theta[:, k] - model.theta_mean[:, k]
        shape, scale, lower, upper = model.spread_prior[k]
        scale += 0.5 * deviation @ model.theta_precision @ deviation
        while True:
            value = scale / rng.standard_gamma(shape + 0.5 * num_sites)
            if lower <= value <= upper:
                break
        state.spread[k] = value
    for h in range(num_global):
        old = state.psi[h]
        new = old + next(step) * rng.standard_normal()
        if not model.psi_bounds[h, 0] <= new <= model.psi_bounds[h, 1]:
            continue
        log_ratio = ((old - model.psi_mean[h]) ** 2 - (new - model.psi_mean[h]) ** 2) / (
            2 * state.global_spread[h]
        )
        if rng.random() < math.exp(min(0.0, log_ratio)):
            state.psi[h] = new
    for h in range(num_global):
        shape, scale = model.global_spread_prior[h]
        scale += 0.5 * (state.psi[h] - model.psi_mean[h]) ** 2
        state.global_spread[h] = scale / rng.standard_gamma(0.5 + shape)
    for j in range(num_inputs):
        old = state.log_length[j]
        new = old + next(step) * rng.standard_normal()
        log_prior = log_scale_prior(model.length_prior[j], new)
        if log_prior == -math.inf:
            continue
        state.log_length[j] = new
        proposed = log_likelihood(model, state)
        log_ratio = proposed - current + log_prior - log_scale_prior(model.length_prior[j], old)
        if rng.random() < math.exp(min(0.0, log_ratio)):
            current = proposed
        else:
            state.log_length[j] = old
    for name, prior in (("log_magnitude", model.magnitude_prior), ("log_noise", model.noise_prior)):
        if name == "log_noise" and model.noise_weight[0] == 0.0:
            continue
        old = getattr(state, name)
        new = old + next(step) * rng.standard_normal()
        log_prior = log_scale_prior(prior, new)
        if log_prior == -math.inf:
            continue
        setattr(state, name, new)
        proposed = log_likelihood(model, state)
        log_ratio = proposed - current + log_prior - log_scale_prior(prior, old)
        if rng.random() < math.exp(min(0.0, log_ratio)):
            current = proposed
        else:
            setattr(state, name, old)
