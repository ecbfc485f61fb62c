"""The static surrogate: a Gaussian process conditioned on the computer runs, frozen thereafter.

All four rivals stand on it: its mean m(z) = μ̂ + r(z)ᵀα replaces the computer model, and its posterior covariance
ŝ²(R(z, z') - r(z)ᵀK⁻¹r(z')) says how far to trust it.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg

from .kernels import squared_exponential

__all__ = ["StaticSurrogate"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class StaticSurrogate:
    """A conditioned process over inputs z = (x, t).

    Attributes
    ----------
    inputs
        The runs' inputs, (n, d).
    rates
        ω, (d,).
    mean, variance, nugget
        μ̂, ŝ² and g; the nugget is relative to the variance.
    factor
        Lower Cholesky factor of R + gI, (n, n).
    weights
        α = (R + gI)⁻¹(y - μ̂), (n,).
    log_likelihood
        The maximised profile log likelihood.
    """

    inputs: FloatArray
    rates: FloatArray
    mean: float
    variance: float
    nugget: float
    factor: FloatArray
    weights: FloatArray
    log_likelihood: float

    def __post_init__(self) -> None:
        for array in (self.inputs, self.rates, self.factor, self.weights):
            array.setflags(write=False)

    def predict_mean(self, z: FloatArray) -> FloatArray:
        """The surrogate mean m at (q, d) inputs."""
        return np.asarray(self.mean + squared_exponential(z, self.inputs, self.rates) @ self.weights)

    def predict_gradient(self, z: FloatArray) -> FloatArray:
        """∂m/∂z at (q, d) inputs, (q, d)."""
        weighted = squared_exponential(z, self.inputs, self.rates) * self.weights
        # ∂R(z, z_j)/∂z_k = -2 ω_k (z_k - z_jk) R(z, z_j)
        return np.asarray(-2.0 * self.rates * (z * weighted.sum(axis=1)[:, None] - weighted @ self.inputs))

    def predict_variance(self, z: FloatArray) -> FloatArray:
        """The surrogate variance v at (q, d) inputs."""
        cross = squared_exponential(self.inputs, z, self.rates)
        whitened = linalg.solve_triangular(self.factor, cross, lower=True, check_finite=False)
        return np.asarray(self.variance * np.maximum(1.0 - (whitened**2).sum(axis=0), 0.0))

    def posterior_covariance(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Posterior covariance between (p, d) and (q, d) inputs, (p, q)."""

        def whitened(points: FloatArray) -> FloatArray:
            cross = squared_exponential(self.inputs, points, self.rates)
            return np.asarray(linalg.solve_triangular(self.factor, cross, lower=True, check_finite=False))

        left = whitened(a)
        right = left if b is a else whitened(b)
        return np.asarray(self.variance * (squared_exponential(a, b, self.rates) - left.T @ right))
