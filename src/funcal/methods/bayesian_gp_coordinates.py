"""Coordinates in which NBC's posterior is near to a standard normal, compiled.

Latent values u = (η_1 … η_dθ at the sites, Φ⁻¹(ψ)), N numbers. With the hyper-parameters h = (ν_k, log λ_θk, log λ_y),
ν = log(-log ρ), there are two changes of coordinates:

- *prior*: u = S_h z with S_h = diag(L_k/√λ_θk, I) and L_k L_kᵀ = R_ρk, so that z ~ N(0, I) is the prior of u;
- *pilot*: z = c_h + M_h⁻ᵀ w. A pilot is a linear stand-in for the surrogate, m(x_i, u) ≈ b_i + Σ_k s_ik u_k(x_i),
  with a variance of its own misfit. Under it z given h and y is normal with mean c_h and precision
  M_h M_hᵀ = I + GᵀΩG, so that w is near to N(0, I) and near to independent of h.

The pilot changes how fast the chain moves, never its target (surrogate data in the sense of Murray and Adams 2010).
"""

from typing import NamedTuple

import numpy as np

from ..compiled import kernel
from ..gaussian_process.compiled_cholesky import factorise_lower, log_determinant, solve_lower
from ..problem import FloatArray

__all__ = [
    "Coordinates",
    "Pilot",
    "build_coordinates",
    "correlation_factor",
    "empty_coordinates",
    "latent_values",
    "pilot_coordinates",
    "prior_coordinates",
    "solve_upper",
]

# Keeps R_ρ positive definite in float64.
JITTER = 1e-8
# Beyond e^±12 the correlation is 1 or 0 to float64 and the prior density of ν is negligible.
MAX_LOG_RATE = 12.0


class Pilot(NamedTuple):
    """The linear stand-in for the surrogate at the sites.

    Attributes
    ----------
    intercept, slopes
        b (m,) and s (m, dθ + dψ).
    misfit
        Variance of its error (m,).
    """

    intercept: FloatArray
    slopes: FloatArray
    misfit: FloatArray


class Coordinates(NamedTuple):
    """What belongs to one h.

    Attributes
    ----------
    factors
        L_k/√λ_θk, (dθ, m, m).
    design
        G = s S_h, (m, N).
    centre
        c_h, (N,).
    factor
        M_h, (N, N).
    """

    factors: FloatArray
    design: FloatArray
    centre: FloatArray
    factor: FloatArray


@kernel
def correlation_factor(squared: FloatArray, nu: float, factor: FloatArray) -> bool:
    """Factor of R_ρ = ρ^{d²} + jitter, with ρ = exp(-e^ν) and d² the squared distances of the sites."""
    rate = np.exp(nu)
    for i in range(squared.shape[0]):
        for j in range(i + 1):
            factor[i, j] = np.exp(-rate * squared[i, j])
        factor[i, i] += JITTER
    return factorise_lower(factor)


@kernel
def solve_upper(factor: FloatArray, vector: FloatArray, solution: FloatArray) -> None:
    """Write L⁻ᵀv to `solution`, which may be v itself."""
    for i in range(len(vector) - 1, -1, -1):
        value = vector[i]
        for k in range(i + 1, len(vector)):
            value -= factor[k, i] * solution[k]
        solution[i] = value / factor[i, i]


@kernel
def latent_values(coordinates: Coordinates, z: FloatArray, u: FloatArray) -> None:
    """Write u = S_h z."""
    num_functional, num_sites = coordinates.factors.shape[:2]
    for k in range(num_functional):
        start = k * num_sites
        for i in range(num_sites):
            total = 0.0
            for j in range(i + 1):
                total += coordinates.factors[k, i, j] * z[start + j]
            u[start + i] = total
    u[num_functional * num_sites :] = z[num_functional * num_sites :]


@kernel
def prior_coordinates(coordinates: Coordinates, u: FloatArray, z: FloatArray) -> None:
    """Write z = S_h⁻¹u."""
    num_functional, num_sites = coordinates.factors.shape[:2]
    for k in range(num_functional):
        block = slice(k * num_sites, (k + 1) * num_sites)
        solve_lower(coordinates.factors[k], u[block], z[block])
    z[num_functional * num_sites :] = u[num_functional * num_sites :]


@kernel
def pilot_coordinates(coordinates: Coordinates, z: FloatArray, w: FloatArray) -> None:
    """Write w = M_hᵀ(z - c_h)."""
    for a in range(len(z)):
        total = 0.0
        for b in range(a, len(z)):
            total += coordinates.factor[b, a] * (z[b] - coordinates.centre[b])
        w[a] = total


@kernel
def empty_coordinates(num_functional: int, num_sites: int, size: int) -> Coordinates:
    """Room for `build_coordinates`."""
    return Coordinates(
        np.zeros((num_functional, num_sites, num_sites)),
        np.zeros((num_sites, size)),
        np.zeros(size),
        np.zeros((size, size)),
    )


@kernel
def build_coordinates(
    y: FloatArray,
    weights: FloatArray,
    squared: FloatArray,
    hyper: FloatArray,
    pilot: Pilot,
    coordinates: Coordinates,
) -> float:
    """Write the coordinates of h; returns -log|M_h|, the Jacobian of z in w, and -inf where h is out of range."""
    num_functional, num_sites = coordinates.factors.shape[:2]
    size = len(coordinates.centre)
    design, factor, centre = coordinates.design, coordinates.factor, coordinates.centre
    for k in range(num_functional):
        lower = coordinates.factors[k]
        if abs(hyper[k]) > MAX_LOG_RATE or not correlation_factor(squared, hyper[k], lower):
            return -np.inf
        scale = np.exp(-0.5 * hyper[num_functional + k])
        for i in range(num_sites):
            for j in range(i + 1):
                lower[i, j] *= scale
                design[i, k * num_sites + j] = pilot.slopes[i, k] * lower[i, j]
    for g in range(num_functional * num_sites, size):
        for i in range(num_sites):
            design[i, g] = pilot.slopes[i, num_functional + g - num_functional * num_sites]
    factor[:] = 0.0
    centre[:] = 0.0
    noise = np.exp(-hyper[2 * num_functional])
    for i in range(num_sites):
        precision = 1.0 / (noise / weights[i] + pilot.misfit[i])
        target = precision * (y[i] - pilot.intercept[i])
        for a in range(size):
            centre[a] += design[i, a] * target
            share = precision * design[i, a]
            if share != 0.0:
                for b in range(a + 1):
                    factor[a, b] += share * design[i, b]
    for a in range(size):
        factor[a, a] += 1.0
    if not factorise_lower(factor):
        return -np.inf
    solve_lower(factor, centre, centre)
    solve_upper(factor, centre, centre)
    jacobian: float = -0.5 * log_determinant(factor)
    return jacobian
