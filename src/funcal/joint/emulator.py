"""The Gaussian process η over the computer model: covariances, the runs' marginal likelihood, its factor.

With z = (x, t) the scaled controls and calibration inputs and w̃ = w - ½,

k(z, z') = v0 + v1 Σ_j z̃_j z̃'_j + a(z) a(z') k_x(x, x') [α (1 + 4 Σ_c t̃_c t̃'_c) + γ k_t(t, t')],

k_x and k_t = exp(-Σ_j ℓ_j (z_j - z'_j)²) over their inputs: constant mean and linear trend integrated out under
their normal priors, and the paper's squared-exponential kernel (Eq. (4)), γ k_x k_t. The term in α is a response
that is linear in the calibration inputs with a level and slopes that change with the controls, as θ g(x): without
it such a model is the limit γ → ∞, ℓ_t → 0, and the emulator knows nothing between the controls of its runs. The
amplitude a(z) = exp(Σ_j c_j z̃_j) lets a response vary more at one end of an input than at the other, as a product or
a quotient does: with c = 0 the emulator is as unsure where the response is flat as where it is steep.
"""

from typing import NamedTuple

import numpy as np

from ..compiled import kernel
from ..problem.arrays import FloatArray
from .factors import forward_substitute, large_cholesky, lower_inverse, transposed_product
from .model import JointModel

__all__ = [
    "EmulatorState",
    "allocate_emulator",
    "amplitudes",
    "emulator_log_prior",
    "emulator_prior",
    "emulator_size",
    "fill_emulator",
    "growths",
    "in_reach",
    "log_density_of_both_tables",
    "prior_cross",
    "prior_variance",
    "runs_covariance",
    "runs_log_density",
    "set_emulator",
]

LOG_TWO_PI = 1.8378770664093453
EDGE = 4.0
"""Weight of a slope in the linear part: at the edge of its box, t̃ = ±½, it varies as much as the level."""
LARGEST_LOG_VARIANCE = 9.0
"""Of what varies at any run: with more, the jitter is too small to keep the runs' covariance positive definite."""


class EmulatorState(NamedTuple):
    """What the calibration block needs of the emulator at the present φ; overwritten in place by `fill_emulator`.

    factor (n, n) and half (n, n) are L with K = L Lᵀ, and L⁻¹; whitened_y (n,) and weights (n,) are L⁻¹ y^s and
    K⁻¹ y^s. K⁻¹ itself is never used: Bᵀ K⁻¹ B = (L⁻¹ B)ᵀ (L⁻¹ B) keeps twice the digits. `cross` (n, m) and `within`
    (m, m) hold k_x, with the controls' part of the amplitudes, between runs and sites and among the sites;
    `cross_trend`, `within_trend` mean and trend in the controls.
    """

    phi: FloatArray
    factor: FloatArray
    half: FloatArray
    whitened_y: FloatArray
    weights: FloatArray
    cross: FloatArray
    within: FloatArray
    cross_trend: FloatArray
    within_trend: FloatArray
    runs_density: FloatArray


def emulator_size(model: JointModel) -> int:
    """Length of φ."""
    return int(2 * (model.x_runs.shape[1] + model.t_runs.shape[1] + 1) + int(model.has_nugget))


def allocate_emulator(model: JointModel) -> EmulatorState:
    """Memory for one chain's emulator."""
    n, m = model.y_runs.size, model.y_sites.size
    return EmulatorState(
        np.zeros(emulator_size(model)),
        np.zeros((n, n)),
        np.zeros((n, n)),
        np.zeros(n),
        np.zeros(n),
        np.zeros((n, m)),
        np.zeros((m, m)),
        np.zeros((n, m)),
        np.zeros((m, m)),
        np.zeros(1),
    )


@kernel
def emulator_prior(j: int, model: JointModel) -> tuple[float, float]:
    """Mean and standard deviation of the normal prior of φ_j."""
    prior = model.prior
    num_inputs = model.x_runs.shape[1] + model.t_runs.shape[1]
    beyond = j - num_inputs
    if beyond < 0:
        return prior.log_decay_mean, prior.log_decay_sd
    if beyond == 0:
        return prior.log_variance_mean, prior.log_variance_sd
    if beyond == 1:
        return prior.log_linear_mean, prior.log_linear_sd
    if beyond < num_inputs + 2:
        return 0.0, prior.growth_sd
    return prior.log_nugget_mean, prior.log_nugget_sd


@kernel
def emulator_log_prior(phi: FloatArray, model: JointModel) -> float:
    """Log prior density of φ, normalised."""
    total = 0.0
    for j in range(phi.size):
        mean, sd = emulator_prior(j, model)
        total -= 0.5 * ((phi[j] - mean) / sd) ** 2 + np.log(sd) + 0.5 * LOG_TWO_PI
    return total


@kernel
def growths(phi: FloatArray, num_inputs: int) -> FloatArray:
    """c, the growth of the amplitude along each input, in φ."""
    return phi[num_inputs + 2 : 2 * num_inputs + 2]


@kernel
def amplitudes(points: FloatArray, growth: FloatArray) -> FloatArray:
    """exp(Σ_j c_j (z_j - ½)) of each point, over the inputs that `points` (N, d) has."""
    found: FloatArray = np.exp(np.dot(points - 0.5, growth))
    return found


@kernel
def runs_amplitudes(phi: FloatArray, model: JointModel) -> FloatArray:
    """a(z) of the runs."""
    num_controls = model.x_runs.shape[1]
    growth = growths(phi, num_controls + model.t_runs.shape[1])
    along_x = amplitudes(model.x_runs, growth[:num_controls])
    found: FloatArray = along_x * amplitudes(model.t_runs, growth[num_controls:])
    return found


@kernel
def in_reach(phi: FloatArray, model: JointModel) -> bool:
    """False ten standard deviations beyond the prior, where exp overflows, and where a run varies too much."""
    for j in range(phi.size):
        mean, sd = emulator_prior(j, model)
        if not abs(phi[j] - mean) <= 10.0 * sd:
            return False
    num_inputs = model.x_runs.shape[1] + model.t_runs.shape[1]
    largest = 2.0 * np.log(np.max(runs_amplitudes(phi, model)))
    return bool(max(phi[num_inputs], phi[num_inputs + 1]) + largest <= LARGEST_LOG_VARIANCE)


@kernel
def decay_row(point: FloatArray, columns: FloatArray, decay: FloatArray, row: FloatArray) -> None:
    """Fill row_j = exp(-Σ_c ℓ_c (columns_cj - point_c)²), the inner loops along memory."""
    row[:] = 0.0
    for c in range(point.size):
        here, weight = point[c], decay[c]
        for j in range(row.size):
            gap = columns[c, j] - here
            row[j] += weight * gap * gap
    for j in range(row.size):
        row[j] = np.exp(-row[j])


@kernel
def runs_covariance(phi: FloatArray, model: JointModel) -> FloatArray:
    """(n, n) covariance of the runs, jitter or nugget included: its lower half, the upper one is left empty."""
    prior, x, t = model.prior, model.x_runs, model.t_runs
    n, num_controls = x.shape
    num_inputs = num_controls + t.shape[1]
    decay = np.exp(phi)
    variance, linear = decay[num_inputs], decay[num_inputs + 1]
    own_noise = prior.jitter + (decay[phi.size - 1] if model.has_nugget else 0.0)
    amplitude = runs_amplitudes(phi, model)
    columns_x, columns_t = np.ascontiguousarray(x.T), np.ascontiguousarray(t.T)
    trend = np.dot(x - 0.5, columns_x - 0.5)
    product = np.dot(t - 0.5, columns_t - 0.5)
    covariance = np.zeros((n, n))
    along_x, along_t = np.empty(n), np.empty(n)
    for i in range(n):
        decay_row(x[i], columns_x, decay[:num_controls], along_x[: i + 1])
        decay_row(t[i], columns_t, decay[num_controls:num_inputs], along_t[: i + 1])
        for j in range(i + 1):
            covariance[i, j] = prior.mean_variance + prior.slope_variance * (trend[i, j] + product[i, j])
            inner = linear * (1.0 + EDGE * product[i, j]) + variance * along_t[j]
            covariance[i, j] += amplitude[i] * amplitude[j] * along_x[j] * inner
        covariance[i, i] += own_noise
    return covariance


@kernel
def control_part(
    left: FloatArray,
    right: FloatArray,
    phi: FloatArray,
    model: JointModel,
    kernel: FloatArray,
    trend: FloatArray,
) -> None:
    """Fill k_x with the controls' part of both amplitudes, and mean and trend, between two sets of controls."""
    prior, columns = model.prior, np.ascontiguousarray(right.T)
    num_controls = left.shape[1]
    decay = np.exp(phi[:num_controls])
    growth = growths(phi, num_controls + model.t_runs.shape[1])[:num_controls]
    here, there = amplitudes(left, growth), amplitudes(right, growth)
    trend[:, :] = prior.mean_variance + prior.slope_variance * np.dot(left - 0.5, columns - 0.5)
    for i in range(left.shape[0]):
        decay_row(left[i], columns, decay, kernel[i])
        kernel[i] *= here[i] * there


@kernel
def add_calibration_part(
    left: FloatArray,
    right: FloatArray,
    phi: FloatArray,
    model: JointModel,
    kernel: FloatArray,
    trend: FloatArray,
    level: FloatArray,
    straight: FloatArray,
) -> None:
    """Turn k_x in `kernel` into the curved part, γ a a' k_x k_t, and complete `trend`.

    `level` becomes α a a' k_x, and `straight` that with its factor linear in the calibration inputs.
    """
    num_controls, num_calibration = model.x_runs.shape[1], left.shape[1]
    decay = np.exp(phi[num_controls:])
    variance, linear = decay[num_calibration], decay[num_calibration + 1]
    slope = model.prior.slope_variance
    growth = growths(phi, num_controls + num_calibration)[num_controls:]
    here, there = amplitudes(left, growth), amplitudes(right, growth)
    for i in range(left.shape[0]):
        for j in range(right.shape[0]):
            exponent, product = 0.0, 0.0
            for c in range(num_calibration):
                gap = left[i, c] - right[j, c]
                exponent += decay[c] * gap * gap
                product += (left[i, c] - 0.5) * (right[j, c] - 0.5)
            amplitude = kernel[i, j] * here[i] * there[j]
            trend[i, j] += slope * product
            level[i, j] = linear * amplitude
            straight[i, j] = level[i, j] * (1.0 + EDGE * product)
            kernel[i, j] = variance * amplitude * np.exp(-exponent)


@kernel
def prior_cross(
    phi: FloatArray,
    x_left: FloatArray,
    t_left: FloatArray,
    x_right: FloatArray,
    t_right: FloatArray,
    model: JointModel,
) -> FloatArray:
    """Covariance of η between two sets of inputs."""
    shape = (len(x_left), len(x_right))
    kernel, trend, level, straight = np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape)
    control_part(x_left, x_right, phi, model, kernel, trend)
    add_calibration_part(t_left, t_right, phi, model, kernel, trend, level, straight)
    total: FloatArray = kernel + straight + trend
    return total


@kernel
def prior_variance(phi: FloatArray, x: FloatArray, t: FloatArray, model: JointModel) -> float:
    """Variance of η at one point."""
    prior, num_inputs = model.prior, x.size + t.size
    along_x, along_t = 0.0, 0.0
    for c in range(x.size):
        along_x += (x[c] - 0.5) ** 2
    for c in range(t.size):
        along_t += (t[c] - 0.5) ** 2
    growth = growths(phi, num_inputs)
    amplitude = np.exp(2.0 * (np.dot(x - 0.5, growth[: x.size]) + np.dot(t - 0.5, growth[x.size :])))
    inner = np.exp(phi[num_inputs]) + np.exp(phi[num_inputs + 1]) * (1.0 + EDGE * along_t)
    total = prior.mean_variance + prior.slope_variance * (along_x + along_t) + amplitude * inner
    return float(total)


@kernel
def normal_log_density(factor: FloatArray, whitened: FloatArray) -> float:
    """Log density of a centred normal vector from the factor L of its covariance and L⁻¹ y."""
    total = -0.5 * LOG_TWO_PI * whitened.size
    for i in range(whitened.size):
        total -= np.log(factor[i, i]) + 0.5 * whitened[i] * whitened[i]
    return total


@kernel
def runs_log_density(phi: FloatArray, model: JointModel) -> tuple[float, FloatArray]:
    """Log p(y^s | φ) + log p(φ), and its gradient in φ."""
    x, t = model.x_runs, model.t_runs
    n, num_controls = x.shape
    num_inputs = num_controls + t.shape[1]
    gradient = np.zeros(phi.size)
    if not in_reach(phi, model):
        return -np.inf, gradient
    factor = large_cholesky(runs_covariance(phi, model))
    half = lower_inverse(factor)
    inverse = transposed_product(half, half)
    whitened_y = np.dot(half, model.y_runs)
    weights = np.dot(half.T, whitened_y)
    total = emulator_log_prior(phi, model) + normal_log_density(factor, whitened_y)
    decay = np.exp(phi)
    variance, linear = decay[num_inputs], decay[num_inputs + 1]
    inputs = np.empty((num_inputs, n))
    inputs[:num_controls], inputs[num_controls:] = x.T, t.T
    product = np.dot(t - 0.5, inputs[num_controls:] - 0.5)
    amplitude = runs_amplitudes(phi, model)
    along_x, along_t = np.empty(n), np.empty(n)
    for i in range(n):
        decay_row(x[i], inputs[:num_controls], decay[:num_controls], along_x[: i + 1])
        decay_row(t[i], inputs[num_controls:], decay[num_controls:num_inputs], along_t[: i + 1])
        for j in range(i + 1):
            # both halves of the symmetric matrix, the diagonal once
            adjoint = (0.5 if i == j else 1.0) * (weights[i] * weights[j] - inverse[i, j])
            adjoint *= amplitude[i] * amplitude[j]
            curved = adjoint * variance * along_x[j] * along_t[j]
            straight = adjoint * linear * along_x[j] * (1.0 + EDGE * product[i, j])
            gradient[num_inputs] += curved
            gradient[num_inputs + 1] += straight
            along_x[j], along_t[j] = curved + straight, curved
        for c in range(num_inputs):
            here, moment, grown = inputs[c, i], 0.0, 0.0
            terms = along_x if c < num_controls else along_t
            for j in range(i + 1):
                gap = inputs[c, j] - here
                moment += terms[j] * gap * gap
                grown += along_x[j] * (inputs[c, j] + here - 1.0)
            gradient[c] -= decay[c] * moment
            gradient[num_inputs + 2 + c] += grown
        if model.has_nugget:
            own = 0.5 * (weights[i] * weights[i] - inverse[i, i])
            gradient[phi.size - 1] += own * decay[phi.size - 1]
    for j in range(phi.size):
        mean, sd = emulator_prior(j, model)
        gradient[j] -= (phi[j] - mean) / sd**2
    return total, gradient


@kernel
def set_emulator(phi: FloatArray, model: JointModel, emulator: EmulatorState) -> None:
    """Factor the runs' covariance at φ and fill the emulator."""
    fill_emulator(phi, large_cholesky(runs_covariance(phi, model)), model, emulator)


@kernel
def fill_emulator(phi: FloatArray, factor: FloatArray, model: JointModel, emulator: EmulatorState) -> None:
    """Fill the emulator at φ from the factor of the runs' covariance there."""
    emulator.phi[:] = phi
    emulator.factor[:, :] = factor
    emulator.half[:, :] = lower_inverse(factor)
    emulator.whitened_y[:] = np.dot(emulator.half, model.y_runs)
    emulator.weights[:] = np.dot(emulator.half.T, emulator.whitened_y)
    control_part(model.x_runs, model.x_sites, phi, model, emulator.cross, emulator.cross_trend)
    control_part(model.x_sites, model.x_sites, phi, model, emulator.within, emulator.within_trend)
    emulator.runs_density[0] = emulator_log_prior(phi, model) + normal_log_density(
        factor, emulator.whitened_y
    )


@kernel
def log_density_of_both_tables(
    phi: FloatArray,
    factor: FloatArray,
    sites_t: FloatArray,
    noise_covariance: FloatArray,
    model: JointModel,
) -> float:
    """Log p(φ) + log p(y^s | φ) + log p(y^p | y^s, φ, θ, ψ, δ, σ).

    Parameters
    ----------
    phi
    factor : (n, n)
        Of the runs' covariance at φ.
    sites_t : (m, dθ + dψ)
        Calibration values at the sites, scaled.
    noise_covariance : (m, m)
        Covariance of δ(x) + ε over the site means.
    model
    """
    n, m = model.y_runs.size, model.y_sites.size
    solved = np.empty((n, m + 1))
    solved[:, :m] = prior_cross(phi, model.x_runs, model.t_runs, model.x_sites, sites_t, model)
    solved[:, m] = model.y_runs
    forward_substitute(factor, solved)
    total = emulator_log_prior(phi, model) + normal_log_density(factor, solved[:, m])
    covariance = prior_cross(phi, model.x_sites, sites_t, model.x_sites, sites_t, model) + noise_covariance
    residual = np.empty((m, 1))
    gram = np.dot(solved.T, solved)
    for i in range(m):
        residual[i, 0] = model.y_sites[i] - gram[i, m]
        for j in range(m):
            covariance[i, j] -= gram[i, j]
    site_factor = large_cholesky(covariance)
    forward_substitute(site_factor, residual)
    return total + model.temperature * normal_log_density(site_factor, residual[:, 0])
