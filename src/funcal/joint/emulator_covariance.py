"""Covariance of η, the Gaussian process over the computer model, between any two sets of inputs.

With z = (x, t) the scaled controls and calibration inputs and w̃ = w - ½,

k(z, z') = v0 + v1 (Σ_j x̃_j x̃'_j / dx + Σ_c t̃_c t̃'_c)
           + a(z) a(z') k_x(x, x') [α (1 + 4 Σ_c t̃_c t̃'_c) + γ k_t(t, t')],

k_x and k_t = exp(-Σ_j ℓ_j (z_j - z'_j)²) over their inputs: constant mean and linear trend integrated out under
their normal priors (the controls share the variance of one slope), and the paper's squared-exponential kernel
(Eq. (4)), γ k_x k_t. The term in α is a response that is linear in the calibration inputs with a level and slopes
that change with the controls, as θ g(x): without it such a model is the limit γ → ∞, ℓ_t → 0, and the emulator
knows nothing between the controls of its runs. The amplitude a(z) = exp(Σ_j c_j z̃_j) lets a response vary more at
one end of an input than at the other, as a product or a quotient does: with c = 0 the emulator is as unsure where
the response is flat as where it is steep.
"""

from typing import NamedTuple

import numpy as np

from ..compiled import kernel
from ..problem.arrays import FloatArray
from .exponential import exponentiate
from .model import JointModel

__all__ = [
    "EDGE",
    "CovarianceParts",
    "amplitudes",
    "calibration_part",
    "calibration_whole",
    "control_part",
    "growths",
    "prior_cross",
    "prior_variance",
    "runs_amplitudes",
    "runs_covariance",
]

EDGE = 4.0
"""Weight of a slope in the linear part: at the edge of its box, t̃ = ±½, it varies as much as the level."""


class CovarianceParts(NamedTuple):
    """A covariance of η, `whole`, and the parts of it that its derivatives are made of, all of one shape.

    `curved` is γ a a' k_x k_t, `level` α a a' k_x, `straight` that with its factor linear in the calibration inputs.
    """

    curved: FloatArray
    level: FloatArray
    straight: FloatArray
    whole: FloatArray


@kernel
def growths(phi: FloatArray, num_inputs: int) -> FloatArray:
    """c, the growth of the amplitude along each input, in φ."""
    return phi[num_inputs + 2 : 2 * num_inputs + 2]


@kernel
def amplitudes(points: FloatArray, growth: FloatArray) -> FloatArray:
    """exp(Σ_j c_j (z_j - ½)) of each point, over the inputs that `points` (N, d) has."""
    found = np.zeros(points.shape[0])
    for i in range(points.shape[0]):
        for c in range(points.shape[1]):
            found[i] += growth[c] * (points[i, c] - 0.5)
    exponentiate(found)
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
def _decay_row(point: FloatArray, columns: FloatArray, decay: FloatArray, row: FloatArray) -> None:
    """Fill row_j = exp(-Σ_c ℓ_c (columns_cj - point_c)²), the inner loops along memory."""
    row[:] = 0.0
    for c in range(point.size):
        here, weight = point[c], decay[c]
        for j in range(row.size):
            gap = columns[c, j] - here
            row[j] -= weight * gap * gap
    exponentiate(row)


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
        _decay_row(x[i], columns_x, decay[:num_controls], along_x[: i + 1])
        _decay_row(t[i], columns_t, decay[num_controls:num_inputs], along_t[: i + 1])
        for j in range(i + 1):
            line = prior.control_share * trend[i, j] + product[i, j]
            covariance[i, j] = prior.mean_variance + prior.slope_variance * line
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
    along_x: FloatArray,
    trend: FloatArray,
) -> None:
    """Fill k_x with the controls' part of both amplitudes, and mean and trend, between two sets of controls."""
    prior, columns = model.prior, np.ascontiguousarray(right.T)
    num_controls = left.shape[1]
    decay = np.exp(phi[:num_controls])
    growth = growths(phi, num_controls + model.t_runs.shape[1])[:num_controls]
    here, there = amplitudes(left, growth), amplitudes(right, growth)
    slope = prior.slope_variance * prior.control_share
    trend[:, :] = prior.mean_variance + slope * np.dot(left - 0.5, columns - 0.5)
    along_x[:, :] = 0.0
    for i in range(left.shape[0]):
        for c in range(num_controls):
            point, weight = left[i, c], decay[c]
            for j in range(right.shape[0]):
                gap = columns[c, j] - point
                along_x[i, j] -= weight * gap * gap
    exponentiate(along_x.reshape(-1))
    for i in range(left.shape[0]):
        for j in range(right.shape[0]):
            along_x[i, j] *= here[i] * there[j]


@kernel
def _calibration_factors(
    left: FloatArray, right: FloatArray, phi: FloatArray, model: JointModel, along_x: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, float, float]:
    """Amplitudes with k_x, k_t and Σ_c t̃_c t̃'_c between two sets of calibration inputs; γ and α."""
    num_controls, num_calibration = model.x_runs.shape[1], left.shape[1]
    decay = np.exp(phi[num_controls:])
    growth = growths(phi, num_controls + num_calibration)[num_controls:]
    here, there = amplitudes(left, growth), amplitudes(right, growth)
    shape = (left.shape[0], right.shape[0])
    amplitude, along_t, product = np.empty(shape), np.zeros(shape), np.zeros(shape)
    for c in range(num_calibration):
        for i in range(left.shape[0]):
            value, weight = left[i, c], decay[c]
            for j in range(right.shape[0]):
                gap = value - right[j, c]
                along_t[i, j] -= weight * gap * gap
                product[i, j] += (value - 0.5) * (right[j, c] - 0.5)
    exponentiate(along_t.reshape(-1))
    for i in range(left.shape[0]):
        for j in range(right.shape[0]):
            amplitude[i, j] = along_x[i, j] * here[i] * there[j]
    variance, linear = float(decay[num_calibration]), float(decay[num_calibration + 1])
    return amplitude, along_t, product, variance, linear


@kernel
def calibration_part(
    left: FloatArray,
    right: FloatArray,
    phi: FloatArray,
    model: JointModel,
    along_x: FloatArray,
    trend: FloatArray,
) -> CovarianceParts:
    """Complete what `control_part` filled by the calibration inputs `left` and `right`."""
    amplitude, curved, product, variance, linear = _calibration_factors(left, right, phi, model, along_x)
    level, straight, whole = np.empty(along_x.shape), np.empty(along_x.shape), np.empty(along_x.shape)
    slope = model.prior.slope_variance
    for i in range(left.shape[0]):
        for j in range(right.shape[0]):
            curved[i, j] *= variance * amplitude[i, j]
            level[i, j] = linear * amplitude[i, j]
            straight[i, j] = level[i, j] * (1.0 + EDGE * product[i, j])
            whole[i, j] = curved[i, j] + straight[i, j] + (trend[i, j] + slope * product[i, j])
    return CovarianceParts(curved, level, straight, whole)


@kernel
def calibration_whole(
    left: FloatArray,
    right: FloatArray,
    phi: FloatArray,
    model: JointModel,
    along_x: FloatArray,
    trend: FloatArray,
) -> FloatArray:
    """The whole of `calibration_part`, for those who need no derivatives: half the work."""
    whole, along_t, product, variance, linear = _calibration_factors(left, right, phi, model, along_x)
    slope = model.prior.slope_variance
    for i in range(left.shape[0]):
        for j in range(right.shape[0]):
            whole[i, j] *= variance * along_t[i, j] + linear * (1.0 + EDGE * product[i, j])
            whole[i, j] += trend[i, j] + slope * product[i, j]
    return whole


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
    along_x, trend = np.empty(shape), np.empty(shape)
    control_part(x_left, x_right, phi, model, along_x, trend)
    return calibration_whole(t_left, t_right, phi, model, along_x, trend)


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
    line = prior.slope_variance * (prior.control_share * along_x + along_t)
    return float(prior.mean_variance + line + amplitude * inner)
