"""The function spaces of NFC: the cubic smoothing spline for one control, squared exponential for more.

Each space is given by an orthonormal-like basis at the sites: unpenalised columns first, then QΛ^½ from the kernel
matrix K = QΛQᵀ, so that the penalty of a function is the squared length of its coefficients.
"""

from dataclasses import dataclass

import numpy as np

from ..gaussian_process import squared_exponential
from ..problem import FloatArray

__all__ = ["RkhsBasis", "rkhs_basis"]

# exp(-5|x - x'|²) on controls scaled to [0, 1], as in the rivals' original code.
SQUARED_EXPONENTIAL_RATE = 5.0
# Directions whose eigenvalue is this far below the largest are numerical noise.
EIGENVALUE_FLOOR = 1e-10


def _cubic_spline(a: FloatArray, b: FloatArray) -> FloatArray:
    """Φ(a, b) = k2(a)k2(b) - k4(|a - b|) on [0, 1] (Gu, Smoothing Spline ANOVA Models, Section 2.3.3)."""
    u, w = a[:, 0], b[:, 0]

    def k2(s: FloatArray) -> FloatArray:
        return np.asarray(0.5 * ((s - 0.5) ** 2 - 1.0 / 12.0))

    half = np.abs(u[:, None] - w[None, :]) - 0.5
    k4 = (half**4 - 0.5 * half**2 + 7.0 / 240.0) / 24.0
    return np.asarray(k2(u)[:, None] * k2(w)[None, :] - k4)


@dataclass(frozen=True)
class RkhsBasis:
    """A basis of functions of x, penalised by the squared length of the coefficients after the first `num_null`.

    Attributes
    ----------
    kernel
        "cubic" or "squared-exponential".
    sites
        (m, dx), scaled.
    values
        Basis at the sites, (m, p).
    num_null
        Unpenalised columns: {1, x} for the spline, {1} else.
    lift
        QΛ^-½ (m, p - num_null): kernel values at new x to penalised columns there.
    """

    kernel: str
    sites: FloatArray
    values: FloatArray
    num_null: int
    lift: FloatArray

    def evaluate(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Basis at new x (q, p), and the covariance (q, q) of what the sites say nothing about."""
        cross = _kernel_matrix(self.kernel, x, self.sites)
        penalised = cross @ self.lift
        residual = _kernel_matrix(self.kernel, x, x) - penalised @ penalised.T
        return np.hstack([_null_space(self.kernel, x), penalised]), residual

    def stacked(self, num_functional: int, num_global: int) -> tuple[tuple[FloatArray, ...], FloatArray]:
        """Designs of all components (a constant for each global one) and their penalty flags."""
        flags = np.ones(self.values.shape[1])
        flags[: self.num_null] = 0.0
        designs = (self.values,) * num_functional + (np.ones((len(self.sites), 1)),) * num_global
        return designs, np.concatenate([np.tile(flags, num_functional), np.zeros(num_global)])


def _kernel_matrix(kernel: str, a: FloatArray, b: FloatArray) -> FloatArray:
    if kernel == "cubic":
        return _cubic_spline(a, b)
    return squared_exponential(a, b, np.full(a.shape[1], SQUARED_EXPONENTIAL_RATE))


def _null_space(kernel: str, x: FloatArray) -> FloatArray:
    ones = np.ones((len(x), 1))
    return np.hstack([ones, x - 0.5]) if kernel == "cubic" else ones


def rkhs_basis(sites: FloatArray, kernel: str = "auto") -> RkhsBasis:
    """The basis for these sites; "auto" is the cubic spline for one control."""
    chosen = kernel if kernel != "auto" else ("cubic" if sites.shape[1] == 1 else "squared-exponential")
    values, vectors = np.linalg.eigh(_kernel_matrix(chosen, sites, sites))
    keep = values > EIGENVALUE_FLOOR * values.max()
    null_space = _null_space(chosen, sites)
    penalised = vectors[:, keep] * np.sqrt(values[keep])
    return RkhsBasis(
        kernel=chosen,
        sites=sites,
        values=np.hstack([null_space, penalised]),
        num_null=null_space.shape[1],
        lift=vectors[:, keep] / np.sqrt(values[keep]),
    )
