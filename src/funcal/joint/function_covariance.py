"""Covariance of g_k, the unit-sized shape of θ_k(x): a Matérn process and a straight line.

Between scaled controls x and x',

    k(x, x') = M(Σ_j ρ_j (x_j - x'_j)²) + τ Σ_j (x_j - ½)(x'_j - ½),   M the Matérn correlation of smoothness 5/2.

The line lets θ go on as it was beyond the sites instead of returning to its level.
"""

import math

import numpy as np

from ..compiled import kernel
from ..problem.arrays import FloatArray
from .model import JointModel

__all__ = ["COVARIANCE_JITTER", "add_roughness_gradient", "function_covariance", "roughnesses"]

COVARIANCE_JITTER = 1e-8
"""Added to the diagonal of a covariance over the sites, so that close sites stay factorable."""


@kernel
def matern(squared: float) -> float:
    """Matérn correlation at Σ_j ρ_j d_j².

    With a = √(10 Σ ρ_j d_j²) its length-scale is that of exp(-Σ ρ_j d_j²), its paths are twice differentiable only.
    """
    a = math.sqrt(10.0 * squared)
    return (1.0 + a + a * a / 3.0) * math.exp(-a)


@kernel
def matern_slope(squared: float) -> float:
    """Derivative of `matern`."""
    a = math.sqrt(10.0 * squared)
    return -5.0 / 3.0 * (1.0 + a) * math.exp(-a)


@kernel
def roughnesses(u: FloatArray, model: JointModel, k: int) -> FloatArray:
    """ρ of the k-th function, (dx,)."""
    num_controls = model.x_sites.shape[1]
    start = model.layout.log_roughness + k * num_controls
    return np.exp(u[start : start + num_controls])


@kernel
def function_covariance(
    left: FloatArray, right: FloatArray, roughness: FloatArray, line_variance: float
) -> float:
    """Covariance of g_k between two controls, each (dx,)."""
    squared, product = 0.0, 0.0
    for c in range(left.size):
        squared += roughness[c] * (left[c] - right[c]) ** 2
        product += (left[c] - 0.5) * (right[c] - 0.5)
    return matern(squared) + line_variance * product


@kernel
def add_roughness_gradient(
    u: FloatArray, model: JointModel, k: int, adjoint: FloatArray, gradient: FloatArray
) -> None:
    """Add the gradient in ln ρ of the k-th function, from the adjoint (m, m) of its covariance over the sites."""
    m, num_controls = model.x_sites.shape
    start = model.layout.log_roughness + k * num_controls
    roughness = roughnesses(u, model, k)
    for i in range(m):
        for j in range(i):
            squared = 0.0
            for c in range(num_controls):
                squared += roughness[c] * model.site_gaps[c, i, j]
            weight = 2.0 * adjoint[i, j] * matern_slope(squared)
            for c in range(num_controls):
                gradient[start + c] += weight * roughness[c] * model.site_gaps[c, i, j]
