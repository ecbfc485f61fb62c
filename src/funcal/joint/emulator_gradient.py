"""Derivatives in φ of the log density of the runs, or of runs and sites together.

With C the covariance of all points at hand, y their responses, a = C⁻¹ y and G = ½ (a aᵀ − C⁻¹), every derivative of
log N(y; 0, C) is a contraction of G with what C is made of; one factorisation, O((n + m)³), pays for all of them. The
matrices stand in memory that is handed over: with a few hundred points, fresh memory would cost nearly as much again.
"""

from typing import NamedTuple

import numpy as np

from ..compiled import kernel
from ..ordered_sums import sum_of
from ..problem.arrays import FloatArray
from .emulator import normal_log_density
from .emulator_covariance import EDGE, amplitudes, growths
from .emulator_prior import emulator_log_prior, emulator_prior, in_reach
from .exponential import exponentiate
from .factors import blocked_cholesky, fill_gram, fill_lower_inverse
from .model import JointModel
from .site_functions import SiteState

__all__ = [
    "GradientMemory",
    "add_emulator_gradient",
    "add_input",
    "allocate_gradient",
    "emulator_log_density",
    "inputs_of_both",
    "runs_log_density",
]


class GradientMemory(NamedTuple):
    """Matrices over all points: C and then its factor L, L⁻¹, G, and the parts of C linear in t and curved."""

    factor: FloatArray
    half: FloatArray
    adjoint: FloatArray
    straight: FloatArray
    curved: FloatArray


@kernel
def allocate_gradient(size: int) -> GradientMemory:
    """Memory for the density of so many points."""
    shape = (size, size)
    return GradientMemory(np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape))


@kernel
def inputs_of_both(model: JointModel, sites: SiteState) -> FloatArray:
    """(d, n + m) scaled inputs of the runs, then of the sites: one input after the other, as inner loops take them."""
    n, num_controls = model.x_runs.shape
    m, num_calibration = sites.values.shape
    inputs = np.empty((num_controls + num_calibration, n + m))
    inputs[:num_controls, :n] = model.x_runs.T
    inputs[num_controls:, :n] = model.t_runs.T
    inputs[:num_controls, n:] = model.x_sites.T
    inputs[num_controls:, n:] = sites.values.T
    return inputs


@kernel
def add_input(
    here: float, there: FloatArray, decay: float, exponents: FloatArray, products: FloatArray
) -> None:
    """Add one input's part to the exponents -Σ ℓ d² and the products Σ z̃ z̃' of one point with others."""
    for j in range(there.size):
        gap = here - there[j]
        exponents[j] -= decay * gap * gap
        products[j] += here * there[j]


@kernel
def _fill_row(
    i: int,
    centred: FloatArray,
    decay: FloatArray,
    amplitude: FloatArray,
    model: JointModel,
    covariance: FloatArray,
    straight: FloatArray,
    curved: FloatArray,
) -> None:
    """Fill a point's covariances with those up to itself, given inputs `centred` at ½, exp(φ) and all amplitudes.

    And its parts α a a' k_x with the linear part, and γ a a' k_x k_t.
    """
    num_inputs, num_controls = centred.shape[0], model.x_runs.shape[1]
    variance, linear = decay[num_inputs], decay[num_inputs + 1]
    along_x, along_t, trend, product = np.zeros(i + 1), np.zeros(i + 1), np.zeros(i + 1), np.zeros(i + 1)
    for c in range(num_inputs):
        if c < num_controls:
            add_input(centred[c, i], centred[c, : i + 1], decay[c], along_x, trend)
        else:
            add_input(centred[c, i], centred[c, : i + 1], decay[c], along_t, product)
    exponentiate(along_x)
    exponentiate(along_t)
    prior = model.prior
    for j in range(i + 1):
        both = amplitude[i] * amplitude[j] * along_x[j]
        straight[j] = linear * both * (1.0 + EDGE * product[j])
        curved[j] = variance * both * along_t[j]
        mean = prior.slope_variance * (prior.control_share * trend[j] + product[j])
        covariance[j] = prior.mean_variance + mean + straight[j] + curved[j]


@kernel
def _add_square_gaps(here: float, there: FloatArray, weights: FloatArray, sums: FloatArray) -> None:
    """Add w_j (there_j - here)² to each sum."""
    for j in range(weights.size):
        gap = there[j] - here
        sums[j] += weights[j] * gap * gap


@kernel
def add_emulator_gradient(
    inputs: FloatArray,
    phi: FloatArray,
    straight: FloatArray,
    curved: FloatArray,
    adjoint: FloatArray,
    model: JointModel,
    gradient: FloatArray,
) -> None:
    """Add the derivatives in φ of the likelihood, from the lower halves of G and the parts of C, and of the prior."""
    num_inputs, size = inputs.shape
    n, num_controls = model.y_runs.size, model.x_runs.shape[1]
    decay = np.exp(phi)
    all_terms, curved_terms, row_sums = np.empty(size), np.empty(size), np.empty(size)
    all_sums, curved_sums, gap_sums = np.zeros(size), np.zeros(size), np.zeros((num_inputs, size))
    for i in range(size):
        if i < n and model.has_nugget:
            gradient[phi.size - 1] += adjoint[i, i] * decay[phi.size - 1]
        for j in range(i + 1):
            twice = 2.0 * adjoint[i, j] if j < i else adjoint[i, i]  # both halves, the diagonal once
            curved_terms[j] = twice * curved[i, j]
            all_terms[j] = curved_terms[j] + twice * straight[i, j]
            all_sums[j] += all_terms[j]
            curved_sums[j] += curved_terms[j]
        row_sums[i] = sum_of(all_terms[: i + 1])
        for c in range(num_inputs):
            terms = all_terms[: i + 1] if c < num_controls else curved_terms[: i + 1]
            _add_square_gaps(inputs[c, i], inputs[c, : i + 1], terms, gap_sums[c, : i + 1])
    through_curved = sum_of(curved_sums)
    gradient[num_inputs] += through_curved
    gradient[num_inputs + 1] += sum_of(all_sums) - through_curved
    for c in range(num_inputs):
        gradient[c] -= decay[c] * sum_of(gap_sums[c])
        for i in range(size):
            gradient[num_inputs + 2 + c] += (row_sums[i] + all_sums[i]) * (inputs[c, i] - 0.5)
    for j in range(phi.size):
        mean, sd = emulator_prior(j, model)
        gradient[j] -= (phi[j] - mean) / sd**2


@kernel
def _log_density(
    phi: FloatArray,
    inputs: FloatArray,
    y: FloatArray,
    noise: FloatArray,
    model: JointModel,
    memory: GradientMemory,
    gradient: FloatArray,
) -> float:
    """Log p(φ) + log N(y; 0, C) of the runs and the m sites that follow them, `noise` (m, m) theirs.

    Overwrites `gradient`; minus infinity where φ is out of reach or C cannot be factored.
    """
    gradient[:] = 0.0
    if not in_reach(phi, model):
        return -np.inf
    num_inputs, size = inputs.shape
    n, decay, centred = model.y_runs.size, np.exp(phi), inputs - 0.5
    amplitude = amplitudes(inputs.T, growths(phi, num_inputs))
    factor, half, adjoint, straight, curved = memory
    own_noise = model.prior.jitter + (decay[phi.size - 1] if model.has_nugget else 0.0)
    for i in range(size):
        stop = i + 1
        _fill_row(i, centred, decay, amplitude, model, factor[i, :stop], straight[i, :stop], curved[i, :stop])
        if i < n:
            factor[i, i] += own_noise
    factor[n:, n:] += noise
    if not blocked_cholesky(factor):
        return -np.inf
    fill_lower_inverse(factor, half)
    fill_gram(half, adjoint)
    whitened = np.dot(half, y)
    pull = np.dot(half.T, whitened)
    for i in range(size):
        for j in range(i + 1):
            adjoint[i, j] = 0.5 * (pull[i] * pull[j] - adjoint[i, j])
    add_emulator_gradient(inputs, phi, straight, curved, adjoint, model, gradient)
    return emulator_log_prior(phi, model) + normal_log_density(factor, whitened)


@kernel
def runs_log_density(phi: FloatArray, model: JointModel, memory: GradientMemory) -> tuple[float, FloatArray]:
    """Log p(y^s | φ) + log p(φ), and its gradient in φ."""
    gradient = np.empty(phi.size)
    inputs = np.vstack((model.x_runs.T, model.t_runs.T))
    density = _log_density(phi, inputs, model.y_runs, np.empty((0, 0)), model, memory, gradient)
    return density, gradient


@kernel
def emulator_log_density(
    phi: FloatArray, model: JointModel, sites: SiteState, memory: GradientMemory, gradient: FloatArray
) -> float:
    """Log p(φ) + log p(y^p, y^s | φ, u), the calibration values and the noise being those in `sites`.

    Overwrites `gradient`; minus infinity where φ is out of reach.
    """
    y = np.concatenate((model.y_runs, model.y_sites))
    return _log_density(phi, inputs_of_both(model, sites), y, sites.noise_covariance, model, memory, gradient)
