"""Leave-one-out predictive densities of the site means, with the left-out θ(x_i) integrated out.

For every draw and site, p(y_i | y^s, y^p without i, everything but θ(x_i)): the sites' other means are conditioned
on exactly (their covariance is at hand), and θ(x_i) is integrated over its conditional given θ at the other sites.
Used as the pointwise likelihood of PSIS-LOO this leaves importance ratios far less variable than those that keep
θ(x_i) fitted to y_i (integrated importance sampling, Vehtari et al. 2016).

Precise measurements make the density of y_i a narrow ridge in θ(x_i), which a plain quadrature rule steps over. So the
conditional of θ(x_i), standard normal in z, is written as a mixture of narrower normals around the nodes,
N(z; 0, 1) = ∫ N(z; c, τ²) N(c; 0, 1 − τ²) dc, and within each the mean response is taken to be straight: its slope,
by differences between neighbouring nodes, turns the width τ into variance of y_i.
"""

import math

import numpy as np
from scipy.special import roots_hermitenorm
from threadpoolctl import threadpool_limits

from ..compiled import kernel
from ..problem.arrays import FloatArray
from .calibration_density import site_system
from .discrepancy import noise_variances
from .emulator import EmulatorState, allocate_emulator, set_emulator
from .emulator_covariance import prior_cross, prior_variance
from .factors import cholesky_in_place, inverse_from_cholesky, lower_inverse, lower_product
from .model import JointModel
from .site_functions import SiteState, allocate_sites, clamp, place_sites

__all__ = ["leave_one_out_densities"]

RULES = {1: (9, 0.55), 2: (5, 0.7), 3: (3, 0.8)}
"""Gauss–Hermite nodes per functional parameter and width τ around them, by their number (3: or more). A width of two
thirds of the nodes' distance leaves the mixture smooth to 1e-3."""


def leave_one_out_densities(model: JointModel, u: FloatArray, phi: FloatArray) -> FloatArray:
    """Log densities (T, m) for T draws (u, φ)."""
    nodes, log_weights, width = _mixture(model.layout.num_functional)
    densities = np.empty((len(u), model.y_sites.size))
    with threadpool_limits(limits=1):
        _fill_densities(
            np.ascontiguousarray(u),
            np.ascontiguousarray(phi),
            nodes,
            log_weights,
            width,
            model,
            allocate_emulator(model),
            allocate_sites(model),
            densities,
        )
    return densities


def _mixture(num_functional: int) -> tuple[FloatArray, FloatArray, float]:
    """Centres (J, dθ) on a grid, last axis fastest, log weights (J,) and width of normals that add up to N(0, I)."""
    if num_functional == 0:
        return np.zeros((1, 0)), np.zeros(1), 0.0
    per_axis, width = RULES[min(num_functional, 3)]
    points, weights = roots_hermitenorm(per_axis)
    points *= math.sqrt(1.0 - width**2)
    log_weights = np.log(weights / weights.sum())
    grid = np.indices((per_axis,) * num_functional).reshape(num_functional, -1).T
    return points[grid], log_weights[grid].sum(axis=1), width


@kernel
def _add_width(nodes: FloatArray, width: float, mean: FloatArray, variance: FloatArray) -> None:
    """Add to each node's variance that of a straight mean over the width around it."""
    num_nodes, num_axes = nodes.shape
    per_axis = round(num_nodes ** (1.0 / max(num_axes, 1)))
    stride = num_nodes
    for axis in range(num_axes):
        stride //= per_axis
        for node in range(num_nodes):
            place = (node // stride) % per_axis
            before = node - stride if place > 0 else node
            after = node + stride if place < per_axis - 1 else node
            slope = (mean[after] - mean[before]) / (nodes[after, axis] - nodes[before, axis])
            variance[node] += (width * slope) ** 2


@kernel
def _fill_densities(
    u: FloatArray,
    phi: FloatArray,
    nodes: FloatArray,
    log_weights: FloatArray,
    width: float,
    model: JointModel,
    emulator: EmulatorState,
    sites: SiteState,
    densities: FloatArray,
) -> None:
    layout = model.layout
    m, num_nodes, num_functional = model.y_sites.size, nodes.shape[0], layout.num_functional
    centre, spread = np.empty((m, num_functional)), np.empty((m, num_functional))
    for draw in range(u.shape[0]):
        set_emulator(phi[draw], model, emulator)
        place_sites(u[draw], model, sites)
        whitened, covariance, residual = site_system(model, emulator, sites)
        cholesky_in_place(covariance)
        inverse = inverse_from_cholesky(covariance)
        for k in range(num_functional):
            half = lower_inverse(sites.factors[k])
            precision = np.dot(half.T, half)
            pull = np.dot(half.T, sites.whitened[k])
            for i in range(m):
                centre[i, k] = sites.latent[i, k] - pull[i] / precision[i, i]
                spread[i, k] = math.sqrt(1.0 / precision[i, i])
        points = np.empty((m * num_nodes, model.x_sites.shape[1]))
        values = np.empty((m * num_nodes, model.t_runs.shape[1]))
        for i in range(m):
            for node in range(num_nodes):
                row = i * num_nodes + node
                points[row] = model.x_sites[i]
                values[row] = sites.values[i]
                for k in range(num_functional):
                    values[row, k] = clamp(centre[i, k] + spread[i, k] * nodes[node, k])
        runs_cross = lower_product(
            emulator.half, prior_cross(phi[draw], model.x_runs, model.t_runs, points, values, model)
        )
        sites_cross = prior_cross(phi[draw], points, values, model.x_sites, sites.values, model)
        sites_cross -= np.dot(runs_cross.T, whitened)
        noises = noise_variances(u[draw], model)
        for i in range(m):
            means, variances = np.empty(num_nodes), np.empty(num_nodes)
            for node in range(num_nodes):
                row = i * num_nodes + node
                # δ's covariance with the other sites, and its variance here: what is left of the total without ε
                link = sites_cross[row]
                for j in range(m):
                    link[j] += sites.noise_covariance[i, j]
                link[i] = 0.0
                variance = prior_variance(phi[draw], points[row], values[row], model)
                variance += sites.noise_covariance[i, i]
                mean = 0.0
                for j in range(runs_cross.shape[0]):
                    mean += runs_cross[j, row] * emulator.whitened_y[j]
                    variance -= runs_cross[j, row] ** 2
                weights = np.dot(inverse, link)
                # inverse of the covariance without site i: the block of the inverse, less a rank-one term
                here = weights[i] / inverse[i, i]
                for j in range(m):
                    if j != i:
                        weight = weights[j] - inverse[j, i] * here
                        mean += weight * residual[j]
                        variance -= weight * link[j]
                means[node], variances[node] = mean, max(variance, noises[i])
            _add_width(nodes, width, means, variances)
            largest, total = -np.inf, 0.0
            terms = np.empty(num_nodes)
            for node in range(num_nodes):
                gap = model.y_sites[i] - means[node]
                terms[node] = log_weights[node] - 0.5 * (
                    math.log(2.0 * math.pi * variances[node]) + gap * gap / variances[node]
                )
                largest = max(largest, terms[node])
            for node in range(num_nodes):
                total += math.exp(terms[node] - largest)
            densities[draw, i] = largest + math.log(total)
