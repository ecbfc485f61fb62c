"""δ(x), what the computer model misses: a constant, plus a linear or a Gaussian-process part, integrated out."""

import math

import numpy as np

from ..compiled import kernel
from ..problem.arrays import FloatArray
from .model import JointModel

__all__ = ["add_noise_gradient", "discrepancy_cross", "fill_noise_covariance", "noise_variances"]


@kernel
def discrepancy_shape(left: FloatArray, right: FloatArray, kind: int, roughness: float) -> float:
    """Covariance of the varying part of δ, of unit size: linear over [0, 1], or squared exponential."""
    total = 0.0
    for c in range(left.size):
        if kind == 2:
            total += (2.0 * left[c] - 1.0) * (2.0 * right[c] - 1.0)
        else:
            total += (left[c] - right[c]) ** 2
    return total if kind == 2 else math.exp(-roughness * total)


@kernel
def discrepancy_cross(
    u: FloatArray, x_left: FloatArray, x_right: FloatArray, model: JointModel
) -> FloatArray:
    """Covariance of δ between two sets of controls."""
    layout = model.layout
    cross = np.zeros((x_left.shape[0], x_right.shape[0]))
    if layout.discrepancy == 0:
        return cross
    constant = math.exp(2.0 * u[layout.log_discrepancy])
    varying = math.exp(2.0 * u[layout.log_discrepancy + 1]) if layout.discrepancy > 1 else 0.0
    roughness = math.exp(u[layout.log_discrepancy + 2]) if layout.discrepancy > 2 else 0.0
    for i in range(x_left.shape[0]):
        for j in range(x_right.shape[0]):
            cross[i, j] = constant
            if layout.discrepancy > 1:
                cross[i, j] += varying * discrepancy_shape(
                    x_left[i], x_right[j], layout.discrepancy, roughness
                )
    return cross


@kernel
def noise_variances(u: FloatArray, model: JointModel) -> FloatArray:
    """Variance of the mean of each site's measurements around the truth, (m,)."""
    noise = math.exp(2.0 * u[model.layout.log_noise]) if model.layout.has_noise else 0.0
    variances: FloatArray = model.known_variance + noise * model.inverse_counts
    return variances


@kernel
def fill_noise_covariance(u: FloatArray, model: JointModel, covariance: FloatArray) -> None:
    """Fill the (m, m) covariance of δ + ε over the site means."""
    covariance[:, :] = 0.0
    if model.layout.discrepancy > 0:
        covariance += discrepancy_cross(u, model.x_sites, model.x_sites, model)
    variances = noise_variances(u, model)
    for i in range(variances.size):
        covariance[i, i] += variances[i]


@kernel
def add_noise_gradient(u: FloatArray, model: JointModel, adjoint: FloatArray, gradient: FloatArray) -> None:
    """Add the derivatives in ln σ and the log sizes of δ, from the adjoint of the sites' covariance."""
    layout = model.layout
    m = model.y_sites.size
    if layout.has_noise:
        noise = math.exp(2.0 * u[layout.log_noise])
        for i in range(m):
            gradient[layout.log_noise] += 2.0 * adjoint[i, i] * noise * model.inverse_counts[i]
    if layout.discrepancy > 0:
        gradient[layout.log_discrepancy] += 2.0 * math.exp(2.0 * u[layout.log_discrepancy]) * np.sum(adjoint)
    if layout.discrepancy > 1:
        size = math.exp(2.0 * u[layout.log_discrepancy + 1])
        roughness = math.exp(u[layout.log_discrepancy + 2]) if layout.discrepancy > 2 else 0.0
        for i in range(m):
            for j in range(m):
                term = adjoint[i, j] * size
                term *= discrepancy_shape(model.x_sites[i], model.x_sites[j], layout.discrepancy, roughness)
                gradient[layout.log_discrepancy + 1] += 2.0 * term
                if layout.discrepancy > 2:
                    squared = 0.0
                    for c in range(model.x_sites.shape[1]):
                        squared += model.site_gaps[c, i, j]
                    gradient[layout.log_discrepancy + 2] -= term * roughness * squared
