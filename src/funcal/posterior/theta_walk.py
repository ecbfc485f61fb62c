"""Moves of Θ: one entry at a time, and all entries of one component together, compiled.

A step in Θ_ki changes only row and column i of Σ. With P = (Σ + σ²I)⁻¹ the likelihood changes by the conditional
density of y_i given the other responses, which needs P but no factorisation (O(m²)); P itself is then updated in O(m²).
"""

from __future__ import annotations

import math

import numpy as np

from ..compiled import kernel
from ..ordered_sums import inner_product
from ..problem import FloatArray
from .log_density import JITTER, noise_variance
from .parameters import ChainState, PosteriorModel

__all__ = ["shift_theta", "update_theta"]


@kernel(error_model="numpy")
def update_theta(
    rng: np.random.Generator,
    model: PosteriorModel,
    state: ChainState,
    steps: FloatArray,
    accepted: FloatArray,
) -> None:
    """Move every Θ_ki once, keeping exponent, inverse and weights up to date (App. A, first conditional)."""
    m, num_functional = state.theta.shape
    num_controls = model.control_distance.shape[0]
    magnitude = math.exp(state.log_magnitude[0])
    noise = math.exp(state.log_noise[0])
    inverse, weights, exponent = state.inverse, state.weights, state.exponent
    row, new_exponent, product = state.scratch[0], state.scratch[1], state.scratch[2]
    for k in range(num_functional):
        length = math.exp(state.log_length[num_controls + k])
        variance = state.spread[k]
        for i in range(m):
            s = k * m + i
            old = state.theta[i, k]
            new = old + steps[s] * rng.standard_normal()
            if new < model.theta_bounds[k, 0] or new > model.theta_bounds[k, 1]:
                accepted[s] = 0.0
                continue
            delta = new - old
            prior_pull = 0.0
            for j in range(m):
                prior_pull += model.theta_precision[i, j] * (state.theta[j, k] - model.theta_mean[j, k])
                e = exponent[i, j] + length * delta * (new + old - 2.0 * state.theta[j, k])
                new_exponent[j] = e
                row[j] = magnitude * math.exp(-e)
            row[i] = 0.0
            new_exponent[i] = 0.0
            log_prior = -0.5 * delta * (2.0 * prior_pull + delta * model.theta_precision[i, i]) / variance

            precision = inverse[i, i]
            product[:m] = 0.0
            mean = 0.0
            for q in range(
                m
            ):  # the inverse is symmetric: its rows, which lie along memory, instead of its columns
                for j in range(m):
                    product[j] += inverse[q, j] * row[q]
                mean += row[q] * weights[q]
            reduction = inner_product(row[:m], product[:m])
            scaled = product[i] / precision
            reduction -= product[i] * scaled
            mean -= weights[i] * scaled
            own_noise = noise_variance(model, noise, i) + magnitude * JITTER
            # the conditional variance cannot be smaller than the noise; rounding could say so
            conditional = max(magnitude - reduction + own_noise, own_noise)
            residual = model.response[i] - mean
            log_ratio = log_prior - 0.5 * (
                math.log(conditional * precision)
                + residual * residual / conditional
                - weights[i] * weights[i] / precision
            )
            probability = math.exp(min(0.0, log_ratio))
            accepted[s] = probability
            if rng.random() < probability:
                state.theta[i, k] = new
                state.log_likelihood[0] += log_ratio - log_prior
                _replace_row(state, i, scaled, conditional, residual)
                for j in range(m):
                    state.correlation[min(i, j), max(i, j)] = row[j] / magnitude


@kernel(error_model="numpy")
def _replace_row(state: ChainState, i: int, scaled: float, conditional: float, residual: float) -> None:
    """Update inverse and weights after row i of Σ + σ²I was replaced (bordered inverse, O(m²)).

    `scratch` holds the new exponents in row 1 and P·row in row 2; `scaled` is (P·row)_i / P_ii.
    """
    m = state.theta.shape[0]
    inverse, weights = state.inverse, state.weights
    new_exponent, product, old = state.scratch[1], state.scratch[2], state.scratch[3]
    precision = inverse[i, i]
    for j in range(m):
        old[j] = inverse[i, j]
        product[j] -= old[j] * scaled  # regression of row i on the others
    product[i] = 0.0
    new_precision = 1.0 / conditional
    new_weight = residual * new_precision
    old_ratio = weights[i] / precision
    inverse_precision = 1.0 / precision
    for j in range(m):
        f = old[j] * inverse_precision
        g = product[j] * new_precision
        for q in range(m):
            inverse[j, q] += g * product[q] - f * old[q]
        weights[j] -= old[j] * old_ratio + product[j] * new_weight
    weights[i] = new_weight
    for j in range(m):
        inverse[i, j] = -product[j] * new_precision
        inverse[j, i] = inverse[i, j]
        state.exponent[i, j] = new_exponent[j]
        state.exponent[j, i] = new_exponent[j]
    inverse[i, i] = new_precision


@kernel(error_model="numpy")
def shift_theta(rng: np.random.Generator, model: PosteriorModel, state: ChainState) -> None:
    """Shift all of Θ_k together, drawing the shift from its conditional.

    The likelihood does not change (point 2), so the shift is normal; one that leaves the support is not made.
    """
    m, num_functional = state.theta.shape
    for k in range(num_functional):
        total_precision = 0.0
        pull = 0.0
        for i in range(m):
            for j in range(m):
                total_precision += model.theta_precision[i, j]
                pull += model.theta_precision[i, j] * (state.theta[j, k] - model.theta_mean[j, k])
        shift = -pull / total_precision + math.sqrt(state.spread[k] / total_precision) * rng.standard_normal()
        inside = True
        for i in range(m):
            moved = state.theta[i, k] + shift
            if moved < model.theta_bounds[k, 0] or moved > model.theta_bounds[k, 1]:
                inside = False
        if inside:
            for i in range(m):
                state.theta[i, k] += shift
