"""Covariance of g_k, the unit-sized shape of θ_k(x): a Matérn process and a straight line over stretched controls.

Each scaled control x_j has an axis of its own, w_j = (exp(c_j (x_j - ½)) - 1) / c_j, by which θ may change faster at
one end of the control than at the other, as saturations and roots do; c_j = 0 leaves it as it is. Between w and w',

    k(w, w') = M(Σ_j ρ_j (w_j - w'_j)²) + τ Σ_j w_j w'_j,   M the Matérn correlation of smoothness 5/2.

The line lets θ go on as it was beyond the sites instead of returning to its level.
"""

import math

import numpy as np

from ..compiled import kernel
from ..problem.arrays import FloatArray
from .exponential import exponentiate
from .model import JointModel

__all__ = [
    "COVARIANCE_JITTER",
    "add_shape_gradient",
    "fill_sites_covariance",
    "function_covariance",
    "roughnesses",
    "stretched_controls",
]

COVARIANCE_JITTER = 1e-8
"""Added to the diagonal of a covariance over the sites, so that close sites stay factorable."""
SMALL_STRETCH = 1e-4
"""Below this a stretched axis is its series in c, whose next term is 1e-9."""


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
def stretched(x: float, c: float) -> tuple[float, float]:
    """A scaled control on its stretched axis, and the derivative of that in c."""
    t = x - 0.5
    if abs(c) < SMALL_STRETCH:
        return t + 0.5 * c * t * t, 0.5 * t * t + c * t**3 / 3.0
    w = math.expm1(c * t) / c
    return w, (t * (1.0 + c * w) - w) / c


@kernel
def stretched_controls(x: FloatArray, u: FloatArray, model: JointModel, k: int) -> FloatArray:
    """Scaled controls (q, dx) on the stretched axes of the k-th function."""
    start = model.layout.stretch + k * x.shape[1]
    axes = np.empty(x.shape)
    for i in range(x.shape[0]):
        for c in range(x.shape[1]):
            axes[i, c] = stretched(x[i, c], u[start + c])[0]
    return axes


@kernel
def function_covariance(
    left: FloatArray, right: FloatArray, roughness: FloatArray, line_variance: float
) -> float:
    """Covariance of g_k between two stretched controls, each (dx,)."""
    squared, product = 0.0, 0.0
    for c in range(left.size):
        squared += roughness[c] * (left[c] - right[c]) ** 2
        product += left[c] * right[c]
    return matern(squared) + line_variance * product


@kernel
def fill_sites_covariance(
    axes: FloatArray, roughness: FloatArray, line_variance: float, out: FloatArray
) -> None:
    """Fill the lower half of `out` with the covariance of g_k among stretched controls (m, dx)."""
    m = axes.shape[0]
    distances, products = np.empty(m * (m + 1) // 2), np.empty(m * (m + 1) // 2)
    pair = 0
    for i in range(m):
        for j in range(i + 1):
            squared, product = 0.0, 0.0
            for c in range(axes.shape[1]):
                gap = axes[i, c] - axes[j, c]
                squared += roughness[c] * gap * gap
                product += axes[i, c] * axes[j, c]
            distances[pair], products[pair] = math.sqrt(10.0 * squared), product
            pair += 1
    decay = -distances
    exponentiate(decay)
    pair = 0
    for i in range(m):
        for j in range(i + 1):
            a = distances[pair]
            out[i, j] = (1.0 + a + a * a / 3.0) * decay[pair] + line_variance * products[pair]
            pair += 1


@kernel
def add_shape_gradient(
    u: FloatArray, model: JointModel, k: int, adjoint: FloatArray, gradient: FloatArray
) -> None:
    """Add the gradient in ln ρ and c of the k-th function, from the adjoint (m, m) of its covariance over the sites."""
    m, num_controls = model.x_sites.shape
    log_roughness = model.layout.log_roughness + k * num_controls
    stretch = model.layout.stretch + k * num_controls
    roughness = roughnesses(u, model, k)
    axes, slopes = np.empty((m, num_controls)), np.empty((m, num_controls))
    for i in range(m):
        for c in range(num_controls):
            axes[i, c], slopes[i, c] = stretched(model.x_sites[i, c], u[stretch + c])
    line = model.prior.line_variance
    for i in range(m):
        for c in range(num_controls):
            gradient[stretch + c] += 2.0 * adjoint[i, i] * line * axes[i, c] * slopes[i, c]
        for j in range(i):
            squared = 0.0
            for c in range(num_controls):
                squared += roughness[c] * (axes[i, c] - axes[j, c]) ** 2
            along = matern_slope(squared)
            for c in range(num_controls):
                gap = axes[i, c] - axes[j, c]
                curved = 2.0 * adjoint[i, j] * along * roughness[c] * gap
                straight = 2.0 * adjoint[i, j] * line
                gradient[log_roughness + c] += curved * gap
                gradient[stretch + c] += 2.0 * curved * (slopes[i, c] - slopes[j, c])
                gradient[stretch + c] += straight * (slopes[i, c] * axes[j, c] + axes[i, c] * slopes[j, c])
