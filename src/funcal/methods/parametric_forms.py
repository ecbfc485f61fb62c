"""The parametric families of θ(x): constant, exponential, quadratic, on controls scaled to [0, 1].

Each gives t, the calibration variable scaled to its box, with its Jacobian, batched over coefficient vectors.
"""

from dataclasses import dataclass

import numpy as np

from ..problem import FloatArray

__all__ = ["FORMS", "ParametricForm"]

FORMS = ("exponential", "constant", "quadratic")


@dataclass(frozen=True)
class ParametricForm:
    """One component's family.

    Attributes
    ----------
    name
        One of `FORMS`. "constant" uses the logit link to the box; the others are unbounded.
    num_controls
        dx.
    origin
        Where the raw zero of the variable lies on the scaled axis; the exponential decays toward it.
    """

    name: str
    num_controls: int
    origin: float

    @property
    def num_coefficients(self) -> int:
        """Coefficients of the family."""
        return {"constant": 1, "exponential": 1 + self.num_controls, "quadratic": 1 + 2 * self.num_controls}[
            self.name
        ]

    def evaluate(self, gamma: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Value t (b, q) and ∂t/∂γ (b, q, p) at coefficients (b, p) and controls (q, dx)."""
        if self.name == "constant":
            t = 1.0 / (1.0 + np.exp(-np.clip(gamma, -30.0, 30.0)))
            value = np.broadcast_to(t, (len(gamma), len(x)))
            return value, np.broadcast_to((t * (1.0 - t))[:, :, None], (*value.shape, 1))
        if self.name == "quadratic":
            # θ = γ_0 + Σ γ_k x_k + Σ γ_{p+k} x_k²
            features = np.hstack([np.ones((len(x), 1)), x, x**2])
            return gamma @ features.T, np.broadcast_to(features, (len(gamma), *features.shape))
        # θ = γ_0 exp(-Σ γ_k x_k), in raw units of which `origin` is the zero.
        decay = np.exp(np.clip(-gamma[:, 1:] @ x.T, -30.0, 30.0))
        value = gamma[:, :1] * decay
        slopes = np.concatenate([decay[:, :, None], -value[:, :, None] * x[None]], axis=2)
        return self.origin + value, slopes

    def starts(self, num_starts: int, rng: np.random.Generator) -> FloatArray:
        """Random coefficients (num_starts, p): levels spread over the box, moderate shapes."""
        level = rng.permutation((np.arange(num_starts) + 0.5) / num_starts)
        gamma = rng.standard_normal((num_starts, self.num_coefficients))
        if self.name == "constant":
            gamma[:, 0] = np.log(level / (1.0 - level))
        elif self.name == "quadratic":
            gamma[:, 0], gamma[:, 1:] = level, 0.5 * gamma[:, 1:]
        else:
            gamma[:, 0] = level - self.origin
        return gamma
