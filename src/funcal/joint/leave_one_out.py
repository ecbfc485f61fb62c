"""Leave-one-out predictive densities of the site means, with the left-out θ(x_i) integrated out.

For every draw and site, p(y_i | y^s, y^p without i, everything but θ(x_i)): the sites' other means are conditioned
on exactly (their covariance is at hand), and θ(x_i) is integrated over its conditional given θ at the other sites by
quadrature. Used as the pointwise likelihood of PSIS-LOO this leaves importance ratios far less variable than those
that keep θ(x_i) fitted to y_i (integrated importance sampling, Vehtari et al. 2016).
"""

import math

import numpy as np
from scipy.special import roots_hermitenorm
from threadpoolctl import threadpool_limits

from ..compiled import kernel
from ..problem.arrays import FloatArray
from .calibration_density import site_system
from .discrepancy import noise_variance
from .emulator import EmulatorState, allocate_emulator, prior_cross, prior_variance, set_emulator
from .factors import cholesky_in_place, inverse_from_cholesky, lower_inverse, lower_product
from .model import JointModel
from .site_functions import SiteState, allocate_sites, clamp, place_sites

__all__ = ["leave_one_out_densities"]

NODES_PER_FUNCTION = {0: 1, 1: 9, 2: 5}
"""Gauss–Hermite nodes per functional parameter; products of them up to two, draws beyond."""
NUM_RANDOM_NODES = 40
"""Quasi-random stand-ins for a product rule with three functional parameters or more."""


def leave_one_out_densities(model: JointModel, u: FloatArray, phi: FloatArray) -> FloatArray:
    """Log densities (T, m) for T draws (u, φ)."""
    nodes, log_weights = _quadrature(model.layout.num_functional)
    densities = np.empty((len(u), model.y_sites.size))
    with threadpool_limits(limits=1):
        _fill_densities(
            np.ascontiguousarray(u),
            np.ascontiguousarray(phi),
            nodes,
            log_weights,
            model,
            allocate_emulator(model),
            allocate_sites(model),
            densities,
        )
    return densities


def _quadrature(num_functional: int) -> tuple[FloatArray, FloatArray]:
    """Nodes (J, dθ) and log weights (J,) of a standard normal."""
    if num_functional > 2:
        nodes = np.random.default_rng(0).standard_normal((NUM_RANDOM_NODES, num_functional))
        nodes = np.concatenate([nodes, -nodes])
        return nodes, np.full(len(nodes), -math.log(len(nodes)))
    points, weights = roots_hermitenorm(NODES_PER_FUNCTION[num_functional])
    log_weights = np.log(weights / weights.sum())
    if num_functional == 0:
        return np.zeros((1, 0)), np.zeros(1)
    if num_functional == 1:
        return np.ascontiguousarray(points[:, None]), log_weights
    first, second = np.meshgrid(points, points, indexing="ij")
    return (
        np.ascontiguousarray(np.column_stack([first.ravel(), second.ravel()])),
        (log_weights[:, None] + log_weights[None, :]).ravel(),
    )


@kernel
def _fill_densities(
    u: FloatArray,
    phi: FloatArray,
    nodes: FloatArray,
    log_weights: FloatArray,
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
        _, _, whitened, covariance, residual = site_system(model, emulator, sites)
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
        for i in range(m):
            noise = noise_variance(u[draw], model, i)
            largest, total = -np.inf, 0.0
            terms = np.empty(num_nodes)
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
                variance = max(variance, noise)
                gap = model.y_sites[i] - mean
                terms[node] = log_weights[node] - 0.5 * (
                    math.log(2.0 * math.pi * variance) + gap * gap / variance
                )
                largest = max(largest, terms[node])
            for node in range(num_nodes):
                total += math.exp(terms[node] - largest)
            densities[draw, i] = largest + math.log(total)
