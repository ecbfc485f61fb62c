"""The surrogate's mean at the sites, compiled, for samplers that evaluate it a million times."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..compiled import kernel
from ..ordered_sums import inner_product
from ..problem import FloatArray
from .surrogate_model import SurrogateAtControls
from .surrogate_polynomials import tensor_grid

__all__ = [
    "SiteSurrogate",
    "chebyshev_basis",
    "logistic",
    "site_surrogate",
    "surrogate_mean_at_site",
]


class SiteSurrogate(NamedTuple):
    """m(x_i, t) at m sites: a polynomial in t (see `surrogate_polynomials`), or else a sum over the runs.

    Attributes
    ----------
    coefficients
        Chebyshev coefficients (m, terms); no terms where the sum is to be used.
    sizes
        Terms along each calibration variable, (dt,).
    weighted, t_runs, t_rates, mean
        Of the sum over the runs, see `SurrogateAtControls`; (m, n), (n, dt), (dt,) and μ̂.
    """

    coefficients: FloatArray
    sizes: npt.NDArray[np.int64]
    weighted: FloatArray
    t_runs: FloatArray
    t_rates: FloatArray
    mean: float


def site_surrogate(at_sites: SurrogateAtControls) -> SiteSurrogate:
    """The surrogate at the sites in the faster of its two forms."""
    num_sites, num_t = len(at_sites.x), len(at_sites.t_rates)
    grid = tensor_grid(at_sites.t_rates)
    coefficients, sizes = np.empty((num_sites, 0)), np.zeros(num_t, dtype=np.int64)
    if grid is not None:
        nodes = grid.nodes
        at_nodes = np.broadcast_to(nodes[:, None, :], (len(nodes), num_sites, num_t))
        coefficients = grid.coefficients(at_sites.mean_and_gradient(at_nodes)[0])
        sizes = np.array(grid.sizes, dtype=np.int64)
    # Fresh copies: compiled code has one signature for writable arrays and another for read-only ones.
    weighted, t_runs, t_rates = (
        np.array(array, order="C") for array in (at_sites.weighted, at_sites.t_runs, at_sites.t_rates)
    )
    return SiteSurrogate(coefficients, sizes, weighted, t_runs, t_rates, at_sites.surrogate.mean)


@kernel
def logistic(value: float) -> float:
    """1 / (1 + e^-v), cut off where float64 would reach 0 or 1."""
    result: float = 1.0 / (1.0 + np.exp(-min(max(value, -30.0), 30.0)))
    return result


@kernel
def chebyshev_basis(sizes: npt.NDArray[np.int64], t: FloatArray, basis: FloatArray) -> None:
    """Write the products of Chebyshev polynomials at t in the unit box, the last variable changing fastest."""
    basis[0] = 1.0
    filled = 1
    for k in range(len(sizes)):
        size, x = sizes[k], 2.0 * t[k] - 1.0
        # From the back, so that a product is read before its place is taken.
        for old in range(filled - 1, -1, -1):
            before, value = basis[old] * x, basis[old]
            for a in range(size):
                basis[old * size + a] = value
                before, value = value, 2.0 * x * value - before
        filled *= size


@kernel
def surrogate_mean_at_site(surrogate: SiteSurrogate, site: int, t: FloatArray, basis: FloatArray) -> float:
    """m(x_site, t) = μ̂ + Σ_j α_j R_x(x_site, x_j) exp(-Σ_k ω_k (t_k - t_jk)²); `basis` is work space."""
    num_terms = surrogate.coefficients.shape[1]
    if num_terms > 0:
        chebyshev_basis(surrogate.sizes, t, basis)
        return inner_product(surrogate.coefficients[site], basis)
    total = surrogate.mean
    for j in range(surrogate.t_runs.shape[0]):
        exponent = 0.0
        for k in range(surrogate.t_runs.shape[1]):
            difference = t[k] - surrogate.t_runs[j, k]
            exponent -= surrogate.t_rates[k] * difference * difference
        total += surrogate.weighted[site, j] * np.exp(exponent)
    return total
